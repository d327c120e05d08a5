/*
 * Error numbers in words, for messages to people. The texts are in <uapi/errno_texts.h>, which userland's strerror()
 * includes too, so that both say the same. The table is indexed by the positive error number.
 */
#include <lib/errno.h>

static const char *const texts[] = {
#include <uapi/errno_texts.h>
};

const char *errno_text(int err)
{
	if (err < 0 || (unsigned long)err >= sizeof(texts) / sizeof(*texts) || !texts[err])
		return "Unknown error";
	return texts[err];
}

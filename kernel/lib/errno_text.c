/* Errors in words, for messages to people. */
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

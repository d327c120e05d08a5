/* Texts of a trace may be any bytes; JSON and Perfetto want UTF-8. */
#include "vtrace.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* How many bytes the first character of a text has, 0 where that is not UTF-8: of the form of UTF-8, no longer than
 * it must be, no half of a pair, and no higher than Unicode goes. */
static size_t length(const unsigned char *p)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
	uint32_t code = n > 1 ? *p & (0x7f >> n) : *p;

	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	return n && code >= least[n] && code >> 11 != 27 && code < 0x110000 ? n : 0;
}

const char *utf8(const char **text, size_t *n)
{
	const char *at = *text;

	*n = length((const unsigned char *)at);
	*text += *n ? *n : 1;
	if (*n)
		return at;
	*n = sizeof(REPLACEMENT) - 1;
	return REPLACEMENT;
}

/*
 * POSIX's character classes, in the C locale: for shell patterns, regular expressions and tr.
 *
 * They work on bytes, not on characters: a byte above 127 is in no class, so a letter of UTF-8 with
 * more than one byte is no [:alpha:]. The tests are functions of <ctype.h>; newlib may implement those
 * as macros too, but their addresses are needed here.
 */
#include <vt.h>
#include <ctype.h>

static const struct {
	const char *name;
	int (*is)(int c);
} classes[] = {
	{"[:alpha:]", isalpha},	  {"[:digit:]", isdigit}, {"[:alnum:]", isalnum}, {"[:upper:]", isupper},
	{"[:lower:]", islower},	  {"[:space:]", isspace}, {"[:blank:]", isblank}, {"[:punct:]", ispunct},
	{"[:xdigit:]", isxdigit}, {"[:print:]", isprint}, {"[:graph:]", isgraph}, {"[:cntrl:]", iscntrl},
};

size_t vt_class(const char *s, int (**is)(int c))
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		size_t n = strlen(classes[i].name);

		if (strncmp(s, classes[i].name, n))
			continue;
		*is = classes[i].is;
		return n;
	}
	return 0;
}

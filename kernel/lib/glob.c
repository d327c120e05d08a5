/*
 * Shell patterns: * ? [a-z] [!a-z] and \x. The match needs no recursion and no memory. On a mismatch only the last '*'
 * has to be reconsidered, which then takes one byte more: an earlier star cannot do better, because all that stands
 * between the two stars has matched at its leftmost place already. So the time is at most the product of the two
 * lengths.
 */
#include <kernel/export.h>
#include <lib/string.h>

/*
 * Match `c` against the class that starts behind '[' at `pat`. Sets *after to what follows the closing bracket, or to
 * NULL when the bracket is missing: '[' then stands for itself. A ']' that comes first is a member, and so is a '-' at
 * the end.
 */
static bool class_match(const char *pat, u8 c, const char **after)
{
	bool inverted = *pat == '!' || *pat == '^', match = false;
	const char *p = pat + inverted;

	do {
		u8 low = *p++, high = low;

		if (!low) {
			*after = NULL;
			return false;
		}
		if (p[0] == '-' && p[1] && p[1] != ']') {
			high = p[1];
			p += 2;
		}
		match |= low <= c && c <= high;
	} while (*p != ']');
	*after = p + 1;
	return match != inverted;
}

/*
 * Match one byte of the name against one element of the pattern that is not a star. Returns the rest of the pattern, or
 * NULL when they do not match. A backslash at the end of the pattern matches nothing.
 */
static const char *element_match(const char *pat, char c)
{
	const char *after;

	switch (*pat) {
	case '\0':
		return NULL;
	case '?':
		return pat + 1;
	case '[': {
		bool match = class_match(pat + 1, c, &after);

		if (after)
			return match ? after : NULL;
		return c == '[' ? pat + 1 : NULL;
	}
	case '\\':
		pat++;
		if (!*pat)
			return NULL;
		break;
	}
	return *pat == c ? pat + 1 : NULL;
}

/*
 * `star` and `star_name` remember where to go on after a mismatch: the pattern behind the last star, and the first byte
 * of the name that this star has not taken yet.
 */
bool glob_match_len(const char *pat, const char *name, size_t max)
{
	const char *end = name + strnlen(name, max);
	const char *star = NULL, *star_name = NULL, *next;

	for (;;) {
		if (*pat == '*') {
			star = ++pat;
			star_name = name;
			continue;
		}
		if (name == end && !*pat)
			return true;
		next = name != end ? element_match(pat, *name) : NULL;
		if (next) {
			pat = next;
			name++;
		} else if (star && star_name != end) {
			pat = star;
			name = ++star_name;
		} else {
			return false;
		}
	}
}

bool glob_match(const char *pat, const char *name)
{
	return glob_match_len(pat, name, strlen(name));
}
EXPORT_SYMBOL(glob_match);

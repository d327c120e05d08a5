/* Shell patterns, without recursion: on a mismatch only the last '*' needs to take one byte more. */
#include <lib/string.h>

/*
 * Match c against the class that starts after '[' at pat. Sets *after to what follows the closing bracket, or
 * to NULL when there is none: then '[' stands for itself. A ']' that comes first is a member.
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

/* One byte of the name against one element (not '*') of the pattern: the rest of the pattern, or NULL. */
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

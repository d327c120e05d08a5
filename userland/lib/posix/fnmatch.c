/*
 * Shell patterns: * ? [..] and backslash.
 *
 * Bytes, not characters of a locale. A slash is nothing special: glob.c matches component by
 * component. A pattern that is not well formed matches itself: POSIX has no errors here.
 *
 *     *.[ch]    matches "main.c"    the star takes "main", then each byte is compared
 */
#include <vt.h>
#include <fnmatch.h>

/*
 * A [:name:] at p. Returns its end, or NULL when there is none; *hit tells whether c is in the class. A bracket with a
 * class that there is not matches nothing.
 */
static const char *match_class(const char *p, int c, bool *hit, bool *bad)
{
	int (*is)(int c);
	size_t n = vt_class(p, &is);

	if (!n) {
		n = 2 + strspn(p + 2, "abcdefghijklmnopqrstuvwxyz") + 2;
		if (strncmp(p + n - 2, ":]", 2))
			return NULL;
		*bad |= !*hit; /* a member that stands before it has been found already */
		return p + n;
	}
	*hit |= is(c) != 0;
	return p + n;
}

/* One byte, or range of bytes, of a bracket. Returns what follows it, or NULL at the end of the pattern. */
static const char *match_range(const char *p, int c, bool *hit)
{
	unsigned char low, high;

	if (*p == '\\' && p[1])
		p++;
	if (!*p)
		return NULL;
	/* Unsigned, or bytes above 127 would come before all others. */
	low = high = (unsigned char)*p++;
	if (*p == '-' && p[1] && p[1] != ']') {
		p++;
		if (*p == '\\' && p[1])
			p++;
		high = (unsigned char)*p++;
	}
	*hit |= c >= low && c <= high;
	return p;
}

/* A bracket whose '[' stands before p. Returns what follows the ']', or NULL when there is none: then '[' is
 * itself. */
static const char *match_bracket(const char *p, int c, bool *matched)
{
	bool negate = *p == '!' || *p == '^', hit = false, bad = false;
	const char *start, *end;

	if (negate)
		p++;
	/* A "]" right at the start is a member, not the end. */
	for (start = p; *p && (*p != ']' || p == start); p = end) {
		end = p[0] == '[' && p[1] == ':' ? match_class(p, c, &hit, &bad) : NULL;
		if (!end)
			end = match_range(p, c, &hit);
		if (!end)
			return NULL;
	}
	if (!*p)
		return NULL;
	*matched = !bad && hit != negate;
	return p + 1;
}

/* Match the one byte c against the pattern at *p, which is no star, and step over what was looked at. */
static bool match_one(const char **p, int c)
{
	const char *end;
	bool matched;

	switch (**p) {
	case '?':
		++*p;
		return true;
	case '[':
		end = match_bracket(*p + 1, c, &matched);
		if (end) {
			*p = end;
			return matched;
		}
		break;
	case '\\':
		if ((*p)[1])
			++*p;
		break;
	}
	return (unsigned char)*(*p)++ == c;
}

/*
 * Match from left to right and remember the last star. On a mismatch that star takes one byte more
 * and matching goes on behind it: this is enough, because an earlier star could gain nothing. So
 * the time is at most the pattern's length times the text's, without recursion.
 */
int fnmatch(const char *pattern, const char *text, int flags)
{
	const char *star = NULL, *star_text = NULL;

	if ((flags & FNM_PERIOD) && *text == '.' && *pattern != '.' && !(pattern[0] == '\\' && pattern[1] == '.'))
		return FNM_NOMATCH;
	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			star_text = text;
			continue;
		}
		if (!*text && !*pattern)
			return 0;
		/*
		 * match_one() may step over part of the pattern even on a mismatch: the way back is
		 * `star`.
		 */
		if (*text && *pattern && match_one(&pattern, (unsigned char)*text)) {
			text++;
			continue;
		}
		if (!star || !*star_text)
			return FNM_NOMATCH;
		pattern = star;
		text = ++star_text;
	}
}

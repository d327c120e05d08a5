/* Shell patterns. */
#ifndef VT_FNMATCH_H
#define VT_FNMATCH_H

#define FNM_NOMATCH 1
#define FNM_PERIOD  4 /* a dot at the start is matched by a dot only */

/* Match text against pattern (* ? [a-z] [!x] [[:alpha:]] and backslash). Returns 0, or FNM_NOMATCH. */
int fnmatch(const char *pattern, const char *text, int flags);

#endif

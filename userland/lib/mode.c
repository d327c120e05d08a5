/*
 * Types, permissions and sizes of files as text.
 *
 *     -rwsr-x--T      type, then r w x of owner, group and others; here with set-user-ID and sticky
 */
#include <vt.h>
#include <sys/stat.h>

/* The first letter of `ls -l`. A value of no known type is shown as a regular file. */
static char type_letter(unsigned int mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFCHR:
		return 'c';
	case S_IFBLK:
		return 'b';
	case S_IFIFO:
		return 'p';
	case S_IFSOCK:
		return 's';
	}
	return '-';
}

/*
 * set-user-ID, set-group-ID and sticky have no column of their own: they take the place of the x of owner,
 * group and others. A lower-case letter says that the x is there as well, an upper-case one that it is not.
 */
char *vt_mode_text(unsigned int mode, char text[11])
{
	strcpy(text, "-rwxrwxrwx");
	text[0] = type_letter(mode);
	for (int i = 0; i < 9; i++) {
		if (!(mode & (0400U >> i)))
			text[i + 1] = '-';
	}
	if (mode & S_ISUID)
		text[3] = mode & 0100 ? 's' : 'S';
	if (mode & S_ISGID)
		text[6] = mode & 010 ? 's' : 'S';
	if (mode & S_ISVTX)
		text[9] = mode & 01 ? 't' : 'T';
	return text;
}

/*
 * Tenths are counted in whole numbers, as there is no floating point. Below 10 one digit behind the
 * point is shown ("1.5K"), from 10 on none ("12M"), as GNU's ls does it.
 */
char *vt_human(unsigned long bytes, char text[24])
{
	static const char units[] = "KMGTPE";
	unsigned long tenths = bytes * 10;
	int unit = -1;

	/* Rounding up in each step gives the same as rounding up once. More than 1023 would be shown as 1024.
	 */
	while (tenths > 10230 && unit < 5) {
		tenths = (tenths + 1023) / 1024;
		unit++;
	}
	if (unit < 0)
		sprintf(text, "%lu", bytes);
	else if (tenths < 100)
		sprintf(text, "%lu.%lu%c", tenths / 10, tenths % 10, units[unit]);
	else
		sprintf(text, "%lu%c", (tenths + 9) / 10, units[unit]);
	return text;
}

/*
 * The bits of one letter of rwxXst, for owner, group and others together; 0 when it is another. `old` is
 * the mode so far, on which X depends: it is x, but only for directories and for what somebody may
 * execute already.
 */
static mode_t permission(char letter, mode_t old)
{
	switch (letter) {
	case 'r':
		return 0444;
	case 'w':
		return 0222;
	case 'X':
		/* Else a bit that is no permission: nothing changes. */
		return S_ISDIR(old) || (old & 0111) ? 0111 : 010000;
	case 'x':
		return 0111;
	case 's':
		return S_ISUID | S_ISGID;
	case 't':
		return S_ISVTX;
	}
	return 0;
}

/*
 * The classes u, g, o, a that *p begins with, as all bits that belong to them. Without any it is all
 * but what the umask takes away, so that +w does not give rights that new files would not have.
 */
static mode_t classes(const char **p, mode_t mask)
{
	mode_t who = 0;

	for (;; ++*p) {
		if (**p == 'u')
			who |= 0700 | S_ISUID;
		else if (**p == 'g')
			who |= 0070 | S_ISGID;
		else if (**p == 'o')
			who |= 0007 | S_ISVTX;
		else if (**p == 'a')
			who |= 07777;
		else
			return who ? who : 07777 & ~mask;
	}
}

/*
 * Apply one clause, [ugoa...]{+|-|=}[rwxXst...] with as many operators as there are, to *mode, and
 * step over it. Returns false if there is no mode.
 */
static bool apply_clause(const char **p, mode_t mask, mode_t *mode)
{
	const char *start = *p;
	mode_t who = classes(p, mask);
	/* What = takes away first: the umask only protects bits from being set. */
	mode_t whole = *p == start ? 07777 : who;

	if (!strchr("+-=", **p) || !**p)
		return false;
	while (**p && strchr("+-=", **p)) {
		char how = *(*p)++;
		mode_t bits = 0, one;

		while ((one = permission(**p, *mode)) != 0) {
			bits |= one & who;
			++*p;
		}
		if (how == '=')
			*mode &= ~whole;
		*mode = how == '-' ? *mode & ~bits : *mode | bits;
	}
	return **p == '\0' || **p == ',';
}

bool vt_change_mode(const char *text, mode_t mask, mode_t *mode)
{
	char *end;
	unsigned long number = strtoul(text, &end, 8);

	if (*text >= '0' && *text <= '7') {
		*mode = (mode_t)number;
		return *end == '\0' && number <= 07777;
	}
	while (apply_clause(&text, mask, mode)) {
		if (*text++ == '\0')
			return true;
	}
	return false;
}

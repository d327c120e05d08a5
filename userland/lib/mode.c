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

/*
 * stat [-L] [-c FORMAT] FILE...: what the kernel knows of a file, in words or by a format.
 *
 * The letters of a format are GNU's: %n name, %N with the link's target, %F type, %a %A mode, %s size, %b %B
 * blocks and their unit, %o best size for I/O, %i inode, %h links, %d device, %t %T device numbers in
 * hexadecimal, %u %U %g %G owner and group, %x %X %y %Y %z %Z times of access, change of contents, change of
 * the inode. Left out: -f (file systems), -t,
 * --printf, widths, and the time of birth, which the system call does not give.
 */
#include <vt.h>
#include <sys/stat.h>
#include <time.h>

/* The type in GNU's words. An empty regular file has words of its own there. */
static const char *type_name(const struct stat *st)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symbolic link";
	case S_IFCHR:
		return "character special file";
	case S_IFBLK:
		return "block special file";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	}
	return st->st_size ? "regular file" : "regular empty file";
}

/* There is no time zone but UTC. */
static void print_date(const struct timespec *t)
{
	char text[32];
	struct tm tm;

	gmtime_r(&t->tv_sec, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	printf("%s.%09ld +0000", text, t->tv_nsec); /* there is no time zone but UTC */
}

/* %N: quotes, and where a link leads to. */
static void print_quoted(const char *name, const struct stat *st)
{
	char target[1024];
	ssize_t n = S_ISLNK(st->st_mode) ? readlink(name, target, sizeof(target)) : -1;

	printf("'%s'", name);
	if (n >= 0)
		printf(" -> '%.*s'", (int)n, target);
}

/* The value of a letter that stands for a number. Returns false for any other letter. */
static bool number_of(char letter, const struct stat *st, unsigned long *value)
{
	const struct {
		char letter;
		unsigned long value;
	} numbers[] = {
		{'s', (unsigned long)st->st_size},
		{'b', (unsigned long)st->st_blocks},
		{'B', 512}, /* stat(2) counts in these whatever the file system's own unit */
		{'o', (unsigned long)st->st_blksize},
		{'i', st->st_ino},
		{'h', st->st_nlink},
		{'d', st->st_dev},
		{'u', st->st_uid},
		{'g', st->st_gid},
		{'X', (unsigned long)st->st_atim.tv_sec},
		{'Y', (unsigned long)st->st_mtim.tv_sec},
		{'Z', (unsigned long)st->st_ctim.tv_sec},
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].letter == letter) {
			*value = numbers[i].value;
			return true;
		}
	}
	return false;
}

/* One conversion of a format, without its width. An unknown one ends the program. */
static void print_letter(char letter, const char *name, const struct stat *st)
{
	char text[VT_NAME_SIZE];
	unsigned long value;

	if (number_of(letter, st, &value)) {
		printf("%lu", value);
		return;
	}
	switch (letter) {
	case 'n':
		printf("%s", name);
		break;
	case 'N':
		print_quoted(name, st);
		break;
	case 'F':
		printf("%s", type_name(st));
		break;
	case 'a':
		printf("%o", (unsigned int)st->st_mode & 07777);
		break;
	case 'A':
		printf("%s", vt_mode_text(st->st_mode, text));
		break;
	case 'U':
	case 'G':
		printf("%s", letter == 'U' ? vt_user_text(st->st_uid, text) : vt_group_text(st->st_gid, text));
		break;
	case 't':
	case 'T':
		printf("%x", letter == 't' ? major(st->st_rdev) : minor(st->st_rdev));
		break;
	case 'x':
	case 'y':
	case 'z':
		print_date(letter == 'x' ? &st->st_atim : letter == 'y' ? &st->st_mtim : &st->st_ctim);
		break;
	case '%':
		printf("%%");
		break;
	default:
		vt_die(1, "unknown conversion '%%%c'", letter);
	}
}

/*
 * Print a file by a format. A % at the very end stands for itself; a newline is added, as with GNU's
 * -c.
 */
static void print_format(const char *format, const char *name, const struct stat *st)
{
	for (; *format; format++) {
		if (format[0] == '%' && format[1])
			print_letter(*++format, name, st);
		else
			printf("%c", *format);
	}
	printf("\n");
}

/* The layout of GNU stat, so that scripts and eyes trained on it find things where they look for them. */
static void print_all(const char *name, const struct stat *st)
{
	char mode[11], user[VT_NAME_SIZE], group[VT_NAME_SIZE];

	printf("  File: ");
	print_format(S_ISLNK(st->st_mode) ? "%N" : "%n", name, st);
	printf("  Size: %-10ld\tBlocks: %-10ld IO Block: %-6d %s\n", st->st_size, st->st_blocks, (int)st->st_blksize,
	       type_name(st));
	printf("Device: %u,%u\tInode: %-11lu Links: %lu", major(st->st_dev), minor(st->st_dev), st->st_ino,
	       (unsigned long)st->st_nlink);
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		printf("     Device type: %u,%u", major(st->st_rdev), minor(st->st_rdev));
	printf("\nAccess: (%04o/%s)  Uid: (%5u/%8s)   Gid: (%5u/%8s)\n", (unsigned int)st->st_mode & 07777,
	       vt_mode_text(st->st_mode, mode), (unsigned int)st->st_uid, vt_user_text(st->st_uid, user),
	       (unsigned int)st->st_gid, vt_group_text(st->st_gid, group));
	print_format("Access: %x\nModify: %y\nChange: %z", name, st);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "stat [-L] [-c FORMAT] FILE...", .options = "Lc:", .bad_status = 1};
	const char *format = NULL;
	int (*look)(const char *path, struct stat *st) = lstat;
	struct stat st;
	int c, status = 0;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'c')
			format = o.arg;
		else
			look = stat;
	}
	if (o.index >= argc)
		vt_usage(&o);
	for (; o.index < argc; o.index++) {
		if (look(argv[o.index], &st) < 0) {
			vt_warn("cannot stat '%s': %s", argv[o.index], strerror(errno));
			status = 1;
		} else if (format) {
			print_format(format, argv[o.index], &st);
		} else {
			print_all(argv[o.index], &st);
		}
	}
	return vt_finish(status);
}

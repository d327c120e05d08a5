/*
 * mount: mount a file system, one of /etc/fstab or all of them, or show what is mounted.
 *
 *     tmpfs  /tmp  tmpfs  nosuid,size=64k      source, place, type, options: a line of /etc/fstab and /proc/mounts
 *
 * Options that the kernel takes as flags are taken out of the list; the rest is for the file
 * system, as text. `mount --make-shared PLACE` and its like change the propagation type of what is mounted there.
 * Left out: guessing the type.
 */
#include <vt.h>
#include <sys/mount.h>
#include <limits.h>

#define FSTAB  "/etc/fstab"
#define MOUNTS "/proc/mounts"

/* The columns of a line of either file. */
enum { SOURCE, PLACE, TYPE, OPTIONS, COLUMNS };

/*
 * Take the next line that has columns and is no comment, and cut it into columns, in place. *text
 * moves behind it. Returns false at the end of the text.
 */
static bool next_line(char **text, char *column[COLUMNS])
{
	while (**text) {
		char *line = *text;

		*text += strcspn(line, "\n");
		if (**text)
			*(*text)++ = '\0';
		/* A line with fewer columns gives empty ones: each step stops at the end. */
		for (int i = 0; i < COLUMNS; i++) {
			line += strspn(line, " \t");
			column[i] = line;
			line += strcspn(line, " \t");
			if (*line)
				*line++ = '\0';
		}
		if (*column[SOURCE] && *column[SOURCE] != '#')
			return true;
	}
	return false;
}

/* A whole file, or the end of the program. */
static char *read_table(const char *path)
{
	char *text = vt_read_file(path, NULL);

	if (!text)
		vt_die_errno(1, path);
	return text;
}

/* Print what is mounted, of one type or (NULL) of all, in the words of other systems' mount. */
static int show(const char *type)
{
	char *text = read_table(MOUNTS), *column[COLUMNS];

	while (next_line(&text, column))
		if (!type || !strcmp(type, column[TYPE]))
			printf("%s on %s type %s (%s)\n", column[SOURCE], column[PLACE], column[TYPE], column[OPTIONS]);
	return vt_finish(0);
}

/*
 * What the words of -o do to the flags of mount(2). Each that sets a flag has one that clears it, and
 * the later one on the line wins; "defaults" and "auto" change nothing and are only for fstab.
 */
static const struct {
	const char *name;
	unsigned long set, clear;
} words[] = {
	{"ro", MS_RDONLY, 0},	  {"rw", 0, MS_RDONLY},	      {"nosuid", MS_NOSUID, 0},
	{"suid", 0, MS_NOSUID},	  {"nodev", MS_NODEV, 0},     {"dev", 0, MS_NODEV},
	{"noexec", MS_NOEXEC, 0}, {"exec", 0, MS_NOEXEC},     {"noatime", MS_NOATIME, 0},
	{"atime", 0, MS_NOATIME}, {"remount", MS_REMOUNT, 0}, {"defaults", 0, 0},
	{"auto", 0, 0},		  {"noauto", 0, 0},
};

/*
 * Change the flags by this word of n bytes. Returns false if the table does not have it: then it is for
 * the file system.
 */
static bool take_word(const char *word, size_t n, unsigned long *flags)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].name) == n && !strncmp(word, words[i].name, n)) {
			*flags = (*flags | words[i].set) & ~words[i].clear;
			return true;
		}
	return false;
}

/*
 * Split a list of options: words that the kernel takes as flags are returned as such; the others are
 * copied to `rest`, which has room for the whole list, and are handed to the file system as text.
 */
static unsigned long flags_of(const char *list, char *rest)
{
	unsigned long flags = 0;

	*rest = '\0';
	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n && !take_word(list, n, &flags)) {
			if (*rest)
				strcat(rest, ",");
			strncat(rest, list, n);
		}
		list += n + (list[n] == ',');
	}
	return flags;
}

/*
 * The name of a directory without links and dots, as /proc/mounts has it: it is entered and its name asked for. In
 * real; returns false if it is no directory.
 */
static bool real_name(const char *place, char real[PATH_MAX])
{
	char here[PATH_MAX];
	bool found;

	if (!getcwd(here, sizeof(here)) || chdir(place) < 0)
		return false;
	found = getcwd(real, PATH_MAX);
	if (chdir(here) < 0)
		vt_die_errno(1, here);
	return found;
}

/* Whether a file system of this type is what is seen at the place. Later lines of the table cover earlier ones. */
static bool is_mounted(const char *place, const char *type)
{
	char *text = vt_read_file(MOUNTS, NULL), *at = text, *column[COLUMNS], real[PATH_MAX];
	bool found = false;

	if (text && real_name(place, real))
		while (next_line(&at, column))
			if (!strcmp(column[PLACE], real))
				found = !strcmp(column[TYPE], type);
	free(text);
	return found;
}

/*
 * Say why mount(2) failed. ENODEV and ENOENT mean the type or the directory here; with the error's
 * usual text the message would blame the device.
 */
static void warn_of(int error, const char *source, const char *place, const char *type)
{
	if (error == ENODEV && type)
		vt_warn("no file system type %s; /proc/filesystems has those there are", type);
	else if (error == ENOENT && type && !strcmp(type, "9p") && access(place, F_OK) == 0)
		vt_warn("no folder of the host has the name %s (QEMU: mount_tag=%s)", source, source);
	else if (error == ENOENT && access(place, F_OK) < 0)
		vt_warn("no directory %s to mount %s on", place, source);
	else
		vt_warn("mounting %s on %s failed: %s", source, place, strerror(error));
}

/* Returns 0, or 1 with a message. What is there already need not be mounted: that is said, and is no failure.
 */
static int mount_one(const char *source, const char *place, const char *type, const char *list)
{
	char *rest = vt_malloc((list ? strlen(list) : 0) + 1);
	unsigned long flags = flags_of(list, rest);
	int status = 0;

	if (mount(source, place, type, flags, *rest ? rest : NULL) < 0) {
		int error = errno;

		if (error == EBUSY && type && is_mounted(place, type)) {
			printf("%s: a %s is mounted on %s already\n", vt_name, type, place);
		} else {
			warn_of(error, source, place, type);
			status = 1;
		}
	}
	free(rest);
	return status;
}

/* Is this word one of the list's? */
static bool has_option(const char *list, const char *name)
{
	for (size_t n; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == strlen(name) && !strncmp(list, name, n))
			return true;
	}
	return false;
}

/* -a: mount all of fstab, of one type or (NULL) of any, but what says noauto or is mounted already. */
static int mount_all(const char *type)
{
	char *text = read_table(FSTAB), *column[COLUMNS];
	int status = 0;

	while (next_line(&text, column)) {
		if (has_option(column[OPTIONS], "noauto") || (type && strcmp(type, column[TYPE])) ||
		    is_mounted(column[PLACE], column[TYPE]))
			continue;
		status |= mount_one(column[SOURCE], column[PLACE], column[TYPE], column[OPTIONS]);
	}
	return vt_finish(status);
}

/*
 * One operand, a device or a place: look up the rest in the table. `list` is added to its options, and
 * may be NULL.
 */
static int mount_known(const char *table, const char *name, const char *list)
{
	char *text = read_table(table), *column[COLUMNS], *found[COLUMNS] = {NULL}, *options, real[PATH_MAX];
	const char *place = real_name(name, real) ? real : name;
	int status;

	while (next_line(&text, column))
		if (!strcmp(column[PLACE], place) || !strcmp(column[PLACE], name) || !strcmp(column[SOURCE], name))
			memcpy(found, column, sizeof(found));
	if (!found[PLACE])
		vt_die(1, "%s is not in %s", name, table);
	options = vt_malloc(strlen(found[OPTIONS]) + (list ? strlen(list) : 0) + 2);
	sprintf(options, "%s,%s", found[OPTIONS], list ? list : "");
	status = mount_one(found[SOURCE], found[PLACE], found[TYPE], options);
	free(options);
	return vt_finish(status);
}

/* Letters that nobody can type. A propagation type is one of the first four, with WITH_BELOW where that goes, too. */
enum { BIND = 5, RBIND, MOVE, WITH_BELOW };
static const struct vt_long_option longs[] = {
	{"make-shared", '\1'},	 {"make-slave", '\2'},	 {"make-private", '\3'},   {"make-unbindable", '\4'},
	{"make-rshared", '\11'}, {"make-rslave", '\12'}, {"make-rprivate", '\13'}, {"make-runbindable", '\14'},
	{"bind", BIND},		 {"rbind", RBIND},	 {"move", MOVE},	   {NULL, 0},
};
static const unsigned long types[] = {[1] = MS_SHARED, [2] = MS_SLAVE, [3] = MS_PRIVATE, [4] = MS_UNBINDABLE};

/* --make-shared and its like: a change of what is mounted at the place. */
static int change_type(const char *place, int option)
{
	unsigned long flags = types[option & (WITH_BELOW - 1)] | (option & WITH_BELOW ? MS_REC : 0);

	if (mount("none", place, NULL, flags, NULL) == 0)
		return 0;
	if (errno == EINVAL)
		vt_warn("%s: nothing is mounted on it", place);
	else
		vt_warn_errno(place);
	return 1;
}

/* --bind, --rbind and --move: what is seen at one place is seen at the other. The place bound may be a file. */
static int bind_one(const char *from, const char *place, int option)
{
	unsigned long flags = option == MOVE ? MS_MOVE : option == RBIND ? MS_BIND | MS_REC : MS_BIND;

	if (mount(from, place, NULL, flags, NULL) == 0)
		return 0;
	if (errno == EINVAL && option == MOVE)
		vt_warn("%s cannot be moved: it is no mount, or it is mounted in a shared one", from);
	else if (errno == EINVAL)
		vt_warn("%s cannot be bound: it is unbindable", from);
	else
		warn_of(errno, from, place, NULL);
	return 1;
}

static const char help[] =
	"  -a           all of /etc/fstab that is not mounted yet nor marked noauto; with -t: of that type\n"
	"  -o OPTIONS   ro, nosuid, nodev, noexec, noatime and their opposites, remount;\n"
	"               of ramfs and tmpfs mode=0755, permissions; of tmpfs size=64k, 10m or 25%: what its files may\n"
	"               have together (half of memory), and nr_inodes=: how many there may be;\n"
	"               of 9p, a folder of the host: trans=virtio,version=9p2000.L (so it is anyway),\n"
	"               msize= bytes of a message, aname=\n"
	"  --bind, --rbind, --move FROM DIRECTORY\n"
	"               a part of the tree is seen there, too; with all mounts in it; a mount moves there\n"
	"  --make-shared, --make-slave, --make-private, --make-unbindable DIRECTORY\n"
	"               the propagation type of a mount; --make-rshared and so on: of all mounts in it, too\n"
	"  One operand is looked up in /etc/fstab (with -o remount in what is mounted).\n"
	"  Without operands: what is mounted; with -t: of that type.\n";

/* What the command line asks for. */
struct request {
	const char *type, *list;
	bool all;
	int bind; /* BIND, RBIND, MOVE or 0 */
	int make; /* the number of a propagation type, or 0 */
};

/* The last option of a kind counts. Binding can be asked for as an option of -o, too. */
static void take_options(struct vt_options *o, int argc, char **argv, struct request *r)
{
	int c;

	while ((c = vt_option(o, argc, argv)) != -1) {
		if (c == 'a')
			r->all = true;
		else if (c == 't')
			r->type = o->arg;
		else if (c == 'o')
			r->list = o->arg;
		else
			*(c >= BIND && c <= MOVE ? &r->bind : &r->make) = c;
	}
	if (r->list && has_option(r->list, "bind"))
		r->bind = BIND;
	if (r->list && has_option(r->list, "rbind"))
		r->bind = RBIND;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "mount [-a] [-t TYPE] [-o OPTIONS] [--bind] [--make-TYPE] [DEVICE] [DIRECTORY]",
			       .options = "at:o:\1\2\3\4\5\6\7\11\12\13\14",
			       .longs = longs,
			       .help = help,
			       .bad_status = 1};
	struct request r = {NULL};
	int operands;

	take_options(&o, argc, argv, &r);
	operands = argc - o.index;
	if ((r.make || r.bind) && (r.all || r.type || operands != (r.bind ? 2 : 1)))
		vt_usage(&o);
	if (r.bind || r.make) {
		const char *place = argv[argc - 1];
		int status = r.bind ? bind_one(argv[o.index], place, r.bind) : 0;

		return vt_finish(!status && r.make ? change_type(place, r.make) : status);
	}
	if (!operands && !r.list)
		return r.all ? mount_all(r.type) : show(r.type);
	if (r.all || operands > 2 || (operands == 1 && r.type) || (operands == 2 && !r.type) || !operands)
		vt_usage(&o);
	if (operands == 1)
		return mount_known(r.list && has_option(r.list, "remount") ? MOUNTS : FSTAB, argv[o.index], r.list);
	return vt_finish(mount_one(argv[o.index], argv[o.index + 1], r.type, r.list));
}

/*
 * ls [-aAl1diRrtSFh] [--color[=WHEN]] [FILE...]: names in directories.
 *
 * Sorted by bytes. On a terminal in columns, else one a line, and with colours by type if the terminal shows
 * them
 * (--color=always|auto|never). Left out: -n, -s, -u, -c, -L, quoting of odd names: what a name holds is
 * printed.
 */
#include <vt.h>
#include <vt_term.h>
#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

static bool opt_all, opt_almost, opt_long, opt_one, opt_dir, opt_inode, opt_recurse, opt_reverse, opt_classify,
	opt_human;
static int order = 'N'; /* what is sorted by: 't' time, 'S' size, 'N' name */
static int status;
static size_t columns; /* of the terminal; 0: one name a line */
static bool colours;

/* What went wrong: 2 for what the command line has named, 1 for what is below. The worst counts. */
static void fail(int how)
{
	status = how > status ? how : status;
}

/* One name to be shown; name and path are owned by it. */
struct entry {
	char *name;
	char *path;
	struct stat st; /* of the link itself; all 0 when it cannot be looked at */
};

/* As strcmp(), to the nanosecond: a script makes several files in a second. */
static int compare_time(const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

/* For qsort(): by time or size (newest, largest first), and by name where those are equal. */
static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int found = 0;

	if (order == 't')
		found = compare_time(&y->st.st_mtim, &x->st.st_mtim);
	else if (order == 'S')
		found = x->st.st_size < y->st.st_size ? 1 : -(x->st.st_size > y->st.st_size);
	if (!found)
		found = strcmp(x->name, y->name);
	return opt_reverse ? -found : found;
}

/* A size in bytes for show, in text. Returns text. */
static char *size_text(long size, char text[24])
{
	if (opt_human)
		return vt_human((unsigned long)size, text);
	sprintf(text, "%ld", size);
	return text;
}

/* Where a link leads to. The target is shown as it is, whether it exists or not. */
static void print_link(const struct entry *e)
{
	static char target[4096]; /* no longer one can be made */
	ssize_t n = readlink(e->path, target, sizeof(target));

	if (n >= 0)
		printf(" -> %.*s", (int)n, target);
}

/* The colour of a type as "select graphic rendition" has it (ECMA-48); those of GNU ls. NULL: none. */
static const char *colour_of(mode_t mode)
{
	static const struct {
		mode_t type;
		const char *colour;
	} types[] = {
		{S_IFDIR, "01;34"},  {S_IFLNK, "01;36"}, {S_IFIFO, "33"},
		{S_IFSOCK, "01;35"}, {S_IFBLK, "01;33"}, {S_IFCHR, "01;33"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if ((mode & S_IFMT) == types[i].type)
			return types[i].colour;
	}
	return S_ISREG(mode) && mode & 0111 ? "01;32" : NULL;
}

/* What -F puts behind a name, or '\0'. */
static char mark_of(const struct entry *e)
{
	static const char types[] = "dlps", marks[] = "/@|=";
	char mode[11];
	const char *at = strchr(types, vt_mode_text(e->st.st_mode, mode)[0]);

	if (!opt_classify)
		return '\0';
	if (at)
		return marks[at - types];
	return S_ISREG(e->st.st_mode) && (e->st.st_mode & 0111) ? '*' : '\0';
}

/*
 * Print a name with its colour, and behind it the mark of -F or, in a long listing, where a link leads
 * to.
 */
static void print_name(const struct entry *e)
{
	char mark = mark_of(e);
	const char *colour = colours ? colour_of(e->st.st_mode) : NULL;

	if (colour)
		printf("\033[%sm%s\033[0m", colour, e->name);
	else
		printf("%s", e->name);
	if (opt_long && S_ISLNK(e->st.st_mode))
		print_link(e);
	else if (mark)
		printf("%c", mark);
}

/*
 * A file changed within the last six months (half of 365.2425 days) shows the time of day, any other one the
 * year: the two together say as much as fits into twelve columns. A time in the future counts as far away
 * too.
 */
static void print_date(time_t when)
{
	char text[32];
	struct timespec now = {0};
	struct tm tm;
	bool recent;

	recent = clock_gettime(CLOCK_REALTIME, &now) == 0 && when <= now.tv_sec && now.tv_sec - when < 15778476;
	gmtime_r(&when, &tm);
	if (strftime(text, sizeof(text), recent ? "%b %e %H:%M" : "%b %e  %Y", &tm) == 0)
		strcpy(text, "?");
	printf(" %s ", text);
}

/* Device files show their two numbers in the place of a size. */
static void print_long(const struct entry *e)
{
	char mode[11], user[VT_NAME_SIZE], group[VT_NAME_SIZE], text[24];

	printf("%s %4lu %-8s %-8s", vt_mode_text(e->st.st_mode, mode), (unsigned long)e->st.st_nlink,
	       vt_user_text(e->st.st_uid, user), vt_group_text(e->st.st_gid, group));
	if (S_ISCHR(e->st.st_mode) || S_ISBLK(e->st.st_mode))
		printf(" %3u, %3u", major(e->st.st_rdev), minor(e->st.st_rdev));
	else
		printf(" %8s", size_text(e->st.st_size, text));
	print_date(e->st.st_mtime);
	print_name(e);
	printf("\n");
}

/* -i */
static void print_inode(const struct entry *e)
{
	if (opt_inode)
		printf("%7lu ", e->st.st_ino);
}

/*
 * How many columns of the terminal an entry takes: characters of UTF-8 are counted by their width, and
 * colours take none.
 */
static size_t cell_width(const struct entry *e)
{
	char inode[24];

	return vt_columns(e->name, strlen(e->name)) + (mark_of(e) != '\0') +
	       (opt_inode ? (size_t)sprintf(inode, "%7lu ", e->st.st_ino) : 0);
}

/* The widest of the cells in a column of so many rows: three at least with the gap, as GNU's ls has it. */
static size_t column_width(const size_t *cells, size_t n, size_t rows, size_t column)
{
	size_t gap = (column + 1) * rows < n ? 2 : 0, width = 3;

	for (size_t i = column * rows; i < n && i < (column + 1) * rows; i++)
		width = cells[i] + gap > width ? cells[i] + gap : width;
	return width;
}

/*
 * The least number of rows with which the table fits. Names go down the columns, so fewer rows mean
 * more columns; the widths depend on which names meet in a column, so each number is tried, the widest
 * table first.
 *
 *     a  c  e        five names in two rows: column 0 is a, b
 *     b  d
 */
static size_t rows_that_fit(const size_t *cells, size_t n)
{
	for (size_t across = columns / 3; across > 1; across--) {
		size_t rows = (n + across - 1) / across, line = 0;

		for (size_t column = 0; column * rows < n && line < columns; column++)
			line += column_width(cells, n, rows, column);
		if (line < columns)
			return rows;
	}
	return n;
}

/* Down the columns, each as wide as what is in it. */
static void print_columns(const struct entry *list, size_t n)
{
	size_t *cells = vt_malloc((n + 1) * sizeof(*cells)), rows;

	for (size_t i = 0; i < n; i++)
		cells[i] = cell_width(&list[i]);
	rows = rows_that_fit(cells, n);
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = row; i < n; i += rows) {
			print_inode(&list[i]);
			print_name(&list[i]);
			if (i + rows < n)
				printf("%*s", (int)(column_width(cells, n, rows, i / rows) - cells[i]), "");
		}
		printf("\n");
	}
	free(cells);
}

/* Sort the list and print it, in the layout that the options ask for. */
static void print_entries(struct entry *list, size_t n)
{
	if (n)
		qsort(list, n, sizeof(*list), compare);
	if (columns && !opt_long && !opt_one) {
		print_columns(list, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		print_inode(&list[i]);
		if (opt_long) {
			print_long(&list[i]);
		} else {
			print_name(&list[i]);
			printf("\n");
		}
	}
}

/*
 * Add one entry, with what lstat() says of it. path is taken over, name is copied. A file that has
 * gone since its name was read is shown with nothing known, and makes the status 1.
 */
static void add(struct entry **list, size_t *n, char *path, const char *name)
{
	struct entry *e;

	*list = vt_realloc(*list, sizeof(**list) * (*n + 1));
	e = &(*list)[(*n)++];
	*e = (struct entry){.name = vt_strdup(name), .path = path};
	if (lstat(path, &e->st) < 0) {
		vt_warn_errno(path);
		fail(1);
		e->st = (struct stat){0};
	}
}

static void free_entries(struct entry *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].name);
		free(list[i].path);
	}
	free(list);
}

/* Names that begin with a dot are hidden; -a shows all of them, -A all but . and .. themselves. */
static bool is_shown(const char *name)
{
	if (name[0] != '.' || opt_all)
		return true;
	return opt_almost && strcmp(name, ".") && strcmp(name, "..");
}

/* What -l begins a directory with: what its files take, in KiB or with -h (st_blocks are 512 bytes). */
static void print_total(const struct entry *list, size_t n)
{
	long blocks = 0;
	char text[24];

	for (size_t i = 0; i < n; i++)
		blocks += (long)list[i].st.st_blocks;
	printf("total %s\n", size_text(opt_human ? blocks * 512 : (blocks + 1) / 2, text));
}

/*
 * The list is complete before it is sorted and printed; -R goes down only then, so titles stand
 * before what they name. `bad` is the status when the directory cannot be read.
 */
static void list_directory(const char *path, bool title, int bad)
{
	static bool before;
	struct entry *list = NULL;
	struct dirent *d;
	DIR *dir = opendir(path);
	size_t n = 0;

	if (!dir) {
		vt_warn_errno(path);
		fail(bad);
		return;
	}
	/* NULL is the end and an error alike: the working directory may have been removed. */
	for (errno = 0; (d = readdir(dir)); errno = 0) {
		if (is_shown(d->d_name))
			add(&list, &n, vt_join(path, d->d_name), d->d_name);
	}
	if (errno) {
		vt_warn("reading directory '%s': %s", path, strerror(errno));
		fail(bad);
	}
	closedir(dir);
	if (title)
		printf("%s%s:\n", before ? "\n" : "", path);
	before = true;
	if (opt_long)
		print_total(list, n);
	print_entries(list, n);
	for (size_t i = 0; opt_recurse && i < n; i++) {
		if (S_ISDIR(list[i].st.st_mode) && strcmp(list[i].name, ".") && strcmp(list[i].name, ".."))
			list_directory(list[i].path, true, 1);
	}
	free_entries(list, n);
}

/* Both rows are in the same order. */
static bool *ls_flag(int c)
{
	static const char letters[] = "aAl1diRrFh";
	static bool *const flags[] = {&opt_all,	  &opt_almost,	&opt_long,    &opt_one,	     &opt_dir,
				      &opt_inode, &opt_recurse, &opt_reverse, &opt_classify, &opt_human};

	return flags[strchr(letters, c) - letters];
}

/*
 * The width of the terminal; 0 if standard output is no terminal: then a line holds one name, for programs to
 * read.
 */
static size_t terminal_columns(void)
{
	struct winsize size = {0};

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 80;
	return size.ws_col;
}

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage = "ls [-aAl1diRrtSFh] [--color[=WHEN]] [FILE...]", .options = "aAl1diRrtSFh", .bad_status = 2};
	struct entry *files = NULL, *dirs = NULL;
	size_t n = 0, dir_count = 0;
	int c;

	colours = vt_colour_option(&argc, argv, 2);
	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 't' || c == 'S')
			order = c; /* the last one counts */
		else
			*ls_flag(c) = true;
	}
	columns = terminal_columns();
	/*
	 * Without operands the current directory: options have left at least argv[0]'s place free.
	 */
	if (o.index >= argc)
		argv[--o.index] = ".";
	for (int i = o.index; i < argc; i++) {
		struct stat st;

		/* A link to a directory is followed unless it is itself to be shown. */
		if ((opt_long || opt_classify ? lstat : stat)(argv[i], &st) < 0 && lstat(argv[i], &st) < 0) {
			vt_warn_errno(argv[i]);
			fail(2);
		} else if (S_ISDIR(st.st_mode) && !opt_dir) {
			add(&dirs, &dir_count, vt_strdup(argv[i]), argv[i]);
			dirs[dir_count - 1].st = st; /* not of the link to it */
		} else {
			add(&files, &n, vt_strdup(argv[i]), argv[i]);
		}
	}
	if (n)
		print_entries(files, n);
	if (n && dir_count)
		printf("\n");
	/* Directories are in order as well, whatever that of the command line. */
	if (dir_count)
		qsort(dirs, dir_count, sizeof(*dirs), compare);
	for (size_t i = 0; i < dir_count; i++)
		list_directory(dirs[i].path, argc - o.index > 1 || opt_recurse, 2);
	return vt_finish(status);
}

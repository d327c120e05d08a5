/*
 * df [-ahikT] [FILE...]: how full file systems are: those that FILEs lie in, else all that have a size.
 *
 * Blocks are of 1 KiB, rounded up. Left out: -B, -l, -t, --output and totals.
 *
 *     blocks:   | used | available to everybody | reserved for root |      free = available + reserved
 *
 * /proc/mounts says what is mounted, and statfs(2) asks each file system for its numbers. One that is mounted at
 * several places is shown once, at the place nearest to the root.
 */
#include <vt.h>
#include <vt_term.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static const char help[] =
	"  -h  sizes with units of 1024; -k  in blocks of 1 KiB, as without\n"
	"  -i  inodes in the place of blocks\n"
	"  -T  a column for the type of each file system\n"
	"  -a  all mounts, also of what is shown already or has no size (proc, tracefs and others)\n";

#define COLUMNS 7

/* One line of the table: texts that it owns, "" for a column that is not shown. */
struct row {
	char *cell[COLUMNS];
};

static struct {
	bool all, human, inodes, type;
} opt;

static struct row *rows;
static size_t nr_rows;
static int status;

/*
 * Undo in place what /proc/mounts does to blanks in names, so that its columns stay columns: \040 is a
 * blank, in octal.
 */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; to++) {
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = '\0';
}

/* A number of blocks or inodes as text, in new memory. */
static char *number(unsigned long n, unsigned long unit)
{
	char text[24];

	if (opt.human)
		vt_human(n * unit, text);
	else
		sprintf(text, "%lu", opt.inodes ? n : (n * unit + 1023) / 1024);
	return vt_strdup(text);
}

/*
 * How much of what a user may have is used, rounded up: 100% means that nothing is left, and 0% that
 * nothing is used. The division is split, as used * 100 could overflow.
 */
static char *percentage(unsigned long used, unsigned long available)
{
	unsigned long all = used + available;
	char text[24] = "-";

	if (all)
		sprintf(text, "%lu%%", used / all * 100 + (used % all * 100 + all - 1) / all);
	return vt_strdup(text);
}

/*
 * One more row of the table, which keeps the texts. Rows are gathered first, as the widths are
 * known only in the end.
 */
static void add_row(char *const cell[COLUMNS])
{
	rows = vt_realloc(rows, (nr_rows + 1) * sizeof(*rows));
	memcpy(rows[nr_rows++].cell, cell, sizeof(rows->cell));
}

/* The first row, whose words depend on the options. */
static void add_titles(void)
{
	char *cell[COLUMNS] = {"Filesystem",
			       opt.type ? "Type" : "",
			       opt.inodes  ? "Inodes"
			       : opt.human ? "Size"
					   : "1K-blocks",
			       opt.inodes ? "IUsed" : "Used",
			       opt.inodes  ? "IFree"
			       : opt.human ? "Avail"
					   : "Available",
			       opt.inodes ? "IUse%" : "Use%",
			       "Mounted on"};

	add_row(cell);
}

/*
 * Add a row for one mount. If no file was named, file systems that have nothing to count (proc,
 * tracefs) are left out; -a shows them.
 */
static void add_mount(const char *device, const char *dir, const char *type, bool named)
{
	unsigned long total, unused, available, unit;
	struct statfs st;

	if (statfs(dir, &st) < 0) {
		vt_warn_errno(dir);
		status = 1;
		return;
	}
	unit = opt.inodes ? 1 : (unsigned long)(st.f_frsize ?: st.f_bsize);
	total = opt.inodes ? st.f_files : st.f_blocks;
	unused = opt.inodes ? st.f_ffree : st.f_bfree;
	available = opt.inodes ? st.f_ffree : st.f_bavail;
	if (!st.f_blocks && !named && !opt.all)
		return;
	add_row((char *[COLUMNS]){vt_strdup(device), vt_strdup(opt.type ? type : ""), number(total, unit),
				  number(total - unused, unit), number(available, unit),
				  percentage(total - unused, available), vt_strdup(dir)});
}

/* A line of /proc/mounts. dev: the number of the device that is seen at `dir`. */
struct mount {
	char *device, *dir, *type;
	unsigned long dev;
};

/*
 * Is the same device mounted nearer to the root, or as near and before? That one stands for all of them: others
 * are parts of it, mounted by --bind, or lie below it. Of several mounts on one folder the last is seen there.
 */
static bool stands_elsewhere(const struct mount *mounts, size_t n, size_t one)
{
	for (size_t i = 0; i < n; i++) {
		size_t near = strlen(mounts[i].dir), far = strlen(mounts[one].dir);
		bool covers = !strcmp(mounts[i].dir, mounts[one].dir);

		if (mounts[i].dev == mounts[one].dev && (near < far || (near == far && (covers ? i > one : i < one))))
			return true;
	}
	return false;
}

/* Add each device of /proc/mounts, with -a each mount; with `file` only the device that the file lies on. */
static void each_mount(const char *file)
{
	char *text = vt_read_file("/proc/mounts", NULL);
	struct mount *mounts = NULL;
	struct stat st, here;
	size_t n = 0;

	if (!text)
		vt_die_errno(1, "/proc/mounts");
	if (file && stat(file, &st) < 0) {
		vt_warn_errno(file);
		status = 1;
		free(text);
		return;
	}
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		struct mount one = {.device = strsep(&line, " ")};

		one.dir = strsep(&line, " ");
		one.type = strsep(&line, " ");
		if (!one.type)
			continue;
		unescape(one.dir);
		one.dev = stat(one.dir, &here) == 0 ? here.st_dev : -1UL - n;
		mounts = vt_realloc(mounts, (n + 1) * sizeof(*mounts));
		mounts[n++] = one;
	}
	for (size_t i = 0; i < n; i++)
		if ((!file || mounts[i].dev == st.st_dev) && ((opt.all && !file) || !stands_elsewhere(mounts, n, i)))
			add_mount(mounts[i].device, mounts[i].dir, mounts[i].type, file);
	free(mounts);
	free(text);
}

/*
 * Print the table: names to the left of their columns, numbers to the right, each column as wide as
 * its widest cell.
 */
static void print_rows(void)
{
	int width[COLUMNS] = {14, opt.type ? 4 : 0, 5, 5, 5, 4, 0};

	for (size_t i = 0; i < nr_rows; i++)
		for (size_t c = 0; c < COLUMNS; c++)
			if ((int)vt_columns(rows[i].cell[c], strlen(rows[i].cell[c])) > width[c])
				width[c] = (int)vt_columns(rows[i].cell[c], strlen(rows[i].cell[c]));
	for (size_t i = 0; i < nr_rows; i++) {
		for (size_t c = 0; c + 1 < COLUMNS; c++) {
			int gap = width[c] - (int)vt_columns(rows[i].cell[c], strlen(rows[i].cell[c]));

			if (width[c])
				printf("%*s%s%*s ", c < 2 ? 0 : gap, "", rows[i].cell[c], c < 2 ? gap : 0, "");
		}
		printf("%s\n", rows[i].cell[COLUMNS - 1]);
	}
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "df [-ahikT] [FILE...]", .options = "ahikT", .help = help, .bad_status = 1};
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		switch (c) {
		case 'a':
			opt.all = true;
			break;
		case 'h':
		case 'k':
			opt.human = c == 'h';
			break;
		case 'i':
			opt.inodes = true;
			break;
		case 'T':
			opt.type = true;
		}
	}
	add_titles();
	if (o.index == argc)
		each_mount(NULL);
	for (; o.index < argc; o.index++)
		each_mount(argv[o.index]);
	if (nr_rows > 1)
		print_rows();
	return vt_finish(status);
}

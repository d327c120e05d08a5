/* mapfiles: /proc/PID/map_files, and smaps_rollup, also of a process that has no memory any more. */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#define PAGE 4096UL
#define NAME "mapfiles-file"

static char dir[64] = "/proc/self/map_files"; /* of whose areas */

/* The path of an area's link, printed by a format that has two numbers. */
static const char *link_of(const char *format, unsigned long start, unsigned long end)
{
	static char path[160];
	char name[80];

	sniprintf(name, sizeof(name), format, start, end);
	sniprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static long read_link(const char *path, char *to, unsigned long n)
{
	memset(to, 0, n);
	return CALL(readlinkat, AT_FDCWD, path, to, n - 1);
}

/* How many names there are in the directory, and whether this is one of them. */
static int listed(const char *name, bool *found)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	*found = false;
	if (!d)
		return -1;
	while ((e = readdir(d))) {
		n += e->d_name[0] != '.';
		*found |= !strcmp(e->d_name, name);
	}
	closedir(d);
	return n;
}

static char *map_at(unsigned long at, unsigned long n, int prot, int flags, int fd)
{
	char *p = mmap((void *)at, n, prot, flags | 0x10, fd, 0); /* MAP_FIXED */

	CHECK_EQ(p, at);
	return p;
}

/* The names are those of whole areas, in one spelling. */
static void names(void)
{
	unsigned long a = 0x40000000, b = a + 2 * PAGE;
	int fd = (int)CHECK_CALL(open("/dev/zero", O_RDONLY)), before, after;
	char target[256], name[64];
	struct stat st;
	bool found;

	before = listed("", &found);
	CHECK(before > 0);
	map_at(a, 2 * PAGE, PROT_NONE, 2, fd);
	sniprintf(name, sizeof(name), "%lx-%lx", a, b);
	after = listed(name, &found);
	CHECK(found);
	CHECK_EQ(after, before + 1);
	CHECK_EQ(read_link(link_of("%lx-%lx", a, b), target, sizeof(target)), 9);
	CHECK(!strcmp(target, "/dev/zero"));
	CHECK_CALL(lstat(link_of("%lx-%lx", a, b), &st));
	CHECK_EQ(st.st_mode, S_IFLNK | 0400);
	CHECK_EQ(st.st_size, 64);
	CHECK_ERRNO(read_link(link_of(" %lx-%lx", a, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("%lx -%lx", a, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("%lx-%lx ", a, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("0%lx-%lx", a, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("%lx-0%lx", a, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("0x%lx-%lx", a, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("%lx-%lx0000000000", a, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("-%lx-%lx", a, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("%lx%lx", a, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("%lX-%lX", a + 0xa000, b), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("%lx-%lx", a, b - PAGE), target, sizeof(target)), ENOENT);
	CHECK_ERRNO(read_link(link_of("%lx-%lx", a + PAGE, b), target, sizeof(target)), ENOENT);
	map_at(b, PAGE, PROT_READ, 0x22, -1); /* anonymous */
	CHECK_ERRNO(read_link(link_of("%lx-%lx", b, b + PAGE), target, sizeof(target)), ENOENT);
	CHECK_CALL(munmap((void *)a, 2 * PAGE));
	CHECK_ERRNO(read_link(link_of("%lx-%lx", a, b), target, sizeof(target)), ENOENT);
}

/* A link leads to the file that is mapped, also when its name is another file's by now. Only root may follow it. */
static void leads_to_the_file(void)
{
	unsigned long a = 0x40000000, b = a + PAGE;
	int fd = (int)CHECK_CALL(open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0600)), again;
	char target[256], text[8] = "";
	struct stat st;

	CHECK_EQ(write(fd, "mapped", 6), 6);
	map_at(a, PAGE, PROT_READ, 1, fd);
	CHECK_CALL(close(fd));
	CHECK_CALL(lstat(link_of("%lx-%lx", a, b), &st));
	CHECK_EQ(st.st_mode, S_IFLNK | 0600); /* as it was opened */
	CHECK_CALL(unlink(NAME));
	close((int)CHECK_CALL(open(NAME, O_RDWR | O_CREAT, 0600)));
	CHECK(read_link(link_of("%lx-%lx", a, b), target, sizeof(target)) > 0);
	CHECK(!strcmp(target + strlen(target) - 10, " (deleted)"));
	again = open(link_of("%lx-%lx", a, b), O_RDONLY);
	if (geteuid()) {
		CHECK_ERRNO(again, EPERM);
	} else {
		CHECK_EQ(read(again, text, sizeof(text)), 6);
		CHECK(!strcmp(text, "mapped"));
		CHECK_CALL(close(again));
	}
	CHECK_CALL(unlink(NAME));
}

/* Another process's, seen by root, and by a user that may not look into it. */
static void of_another(void)
{
	int ends[2];
	bool found;
	pid_t pid;

	CHECK_CALL(pipe(ends));
	pid = check_fork();
	if (!pid) {
		check_take(ends[0]);
		_exit(0);
	}
	sniprintf(dir, sizeof(dir), "/proc/%d/map_files", (int)pid);
	CHECK(listed("", &found) > 0);
	if (!geteuid()) {
		pid_t other = check_fork();

		if (!other) {
			become_user(1000);
			_exit(access(dir, R_OK) == -1 && errno == EACCES ? 0 : 1);
		}
		CHECK_EQ(check_wait(other), 0);
	}
	check_give(ends[1], 'x');
	CHECK_EQ(check_wait(pid), 0);
}

/* --- smaps_rollup --- */

static const char *const sums[] = {
	"Rss:",
	"Pss:",
	"Pss_Dirty:",
	"Pss_Anon:",
	"Pss_File:",
	"Pss_Shmem:",
	"Shared_Clean:",
	"Shared_Dirty:",
	"Private_Clean:",
	"Private_Dirty:",
	"Referenced:",
	"Anonymous:",
	"KSM:",
	"LazyFree:",
	"AnonHugePages:",
	"ShmemPmdMapped:",
	"FilePmdMapped:",
	"Shared_Hugetlb:",
	"Private_Hugetlb:",
	"Swap:",
	"SwapPss:",
	"Locked:",
};

static long kb_of(const char *text, const char *name)
{
	char key[40];
	const char *at;

	sniprintf(key, sizeof(key), "\n%s", name);
	at = strstr(text, key);
	return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

/* Each line is there, and the kinds of memory add up. A few kB are lost by rounding. */
static void rollup(void)
{
	char *text, *p = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, 0x22, -1, 0);
	char *shared = mmap(NULL, 32 * PAGE, PROT_READ | PROT_WRITE, 0x21, -1, 0);
	long anon, shmem;

	text = vt_read_file("/proc/self/smaps_rollup", NULL);
	CHECK(text);
	anon = kb_of(text, "Pss_Anon:");
	shmem = kb_of(text, "Pss_Shmem:");
	free(text);
	memset(p, 1, 64 * PAGE);
	memset(shared, 1, 32 * PAGE);
	text = vt_read_file("/proc/self/smaps_rollup", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		if (!CHECK(kb_of(text, sums[i]) >= 0))
			printf("  %s\n", sums[i]);
	CHECK_RANGE(kb_of(text, "Pss_Anon:") - anon, 256, 256 + 64);
	CHECK_RANGE(kb_of(text, "Pss_Shmem:") - shmem, 128, 128 + 16);
	CHECK_RANGE(kb_of(text, "Pss:") - kb_of(text, "Pss_Anon:") - kb_of(text, "Pss_File:") -
			    kb_of(text, "Pss_Shmem:"),
		    -1, 3);
	free(text);
	munmap(p, 64 * PAGE);
	munmap(shared, 32 * PAGE);
}

/* The sixth number of statm: pages of data. */
static unsigned long data_of(const char *path)
{
	char *text = vt_read_file(path, NULL), *at = text;
	unsigned long n = ~0UL;

	for (int i = 0; at && i < 6; i++)
		n = strtoul(at, &at, 10);
	free(text);
	return n;
}

/* A process takes its memory away, all of it: it dies of that, but a debugger's hold keeps it looked at. */
static void without_memory(void)
{
	static const char head[] = "00000000-00000000 ---p 00000000 00:00 0                                  [rollup]\n"
				   "Rss:                   0 kB\n"
				   "Pss:                   0 kB\n"
				   "Pss_Dirty:             0 kB\n"
				   "Pss_Anon:              0 kB\n"
				   "Pss_File:              0 kB\n"
				   "Pss_Shmem:             0 kB\n"
				   "Shared_Clean:          0 kB\n",
			  tail[] = "Shared_Hugetlb:        0 kB\n"
				   "Private_Hugetlb:       0 kB\n"
				   "Swap:                  0 kB\n"
				   "SwapPss:               0 kB\n"
				   "Locked:                0 kB\n";
	char path[64], *text;
	pid_t pid = check_fork();
	int status;

	if (!pid) {
		CALL(ptrace, 0 /* PTRACE_TRACEME */, 0, 0, 0);
		for (int bits = 52; bits > 30; bits--) /* the first that is not too much is all of it */
			if (CALL(munmap, 0, (1UL << bits) - PAGE, 0))
				CALL(munmap, 0, 1UL << (bits - 1), 0);
		_exit(9);
	}
	CHECK_EQ(CALL(wait4, pid, &status, 0, 0), pid);
	if (WIFSTOPPED(status)) {
		sniprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
		text = vt_read_file(path, NULL);
		CHECK(text && !strncmp(text, head, strlen(head)) && strlen(text) > strlen(tail) &&
		      !strcmp(text + strlen(text) - strlen(tail), tail));
		free(text);
		sniprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
		CHECK_EQ(data_of(path), 0);
		kill(pid, SIGKILL);
		CHECK_EQ(CALL(wait4, pid, &status, 0, 0), pid);
	}
	CHECK(WIFSIGNALED(status));
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"names", names},
		{"leads_to_the_file", leads_to_the_file},
		{"of_another", of_another},
		{"rollup", rollup},

		{"without_memory", without_memory},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

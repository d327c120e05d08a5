/*
 * nametest: names and folders at their edges: what a rename takes the place of, counts of links, loops,
 * entries that go while somebody lists them. All lies in a folder of the program's own, below the current
 * one.
 */
/* also on Linux */
#include <callnumbers.h>
#include <numbers.h>
#include <sys/stat.h>

#define NOREPLACE 1
#define EXCHANGE  2

static struct stat stat_of(const char *name)
{
	struct stat st = {.st_nlink = 0};

	lstat(name, &st);
	return st;
}

static long links(const char *name)
{
	return (long)stat_of(name).st_nlink;
}

static long number(const char *name)
{
	return (long)stat_of(name).st_ino;
}

static long rename2(const char *from, const char *to, unsigned flags)
{
	return CALL(renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static void make_folders(const char *const *names)
{
	for (; *names; names++)
		CHECK_CALL(mkdir(*names, 0755));
}
#define FOLDERS(...) make_folders((const char *const[]){__VA_ARGS__, NULL})

/* The name has another file from one moment to the next; who has the old one open keeps it. */
static void renamed_over(void)
{
	long moved;
	struct stat st;
	char c = 0;
	int fd;

	check_put("old", "o");
	check_put("new", "n");
	moved = number("new");
	CHECK_CALL(link("old", "old2"));
	fd = CHECK_CALL(open("old", O_RDWR));
	CHECK_CALL(rename("new", "old"));
	CHECK_EQ(number("old"), moved);
	CHECK_EQ(links("old"), 1);
	CHECK_EQ(links("old2"), 1);
	CHECK(check_holds("old", "n") && check_holds("old2", "o"));
	CHECK_CALL(unlink("old2"));
	CHECK_CALL(fstat(fd, &st));
	CHECK_EQ(st.st_nlink, 0);
	CHECK_EQ(write(fd, "O", 1), 1);
	CHECK_EQ(CALL(pread64, fd, &c, 1, 0), 1);
	CHECK_EQ(c, 'O');
	CHECK(check_holds("old", "n"));
	close(fd);
	/* Two names of one file: nothing happens. */
	CHECK_CALL(link("old", "old3"));
	CHECK_CALL(rename("old", "old3"));
	CHECK_EQ(links("old"), 2);
	CHECK_EQ(links("old3"), 2);
	CHECK_ERRNO(rename2("old", "old3", NOREPLACE), EEXIST);
	CHECK_ERRNO(rename2("old", "x", EXCHANGE), ENOENT);
	CHECK_ERRNO(rename2("old", "x", EXCHANGE | NOREPLACE), EINVAL);
	CHECK_CALL(rename2("old", "x", NOREPLACE));
	CHECK_EQ(links("old"), 0);
	CHECK_EQ(links("x"), 2);
}

/* When a file or folder was changed last, in nanoseconds. */
static long changed(const char *name)
{
	struct stat st = stat_of(name);

	return st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
}

/* An exchange is a change of the four that it is about. */
static void check_times(const char *a, const char *b, const char *a_folder, const char *b_folder)
{
	const char *const names[] = {a, b, a_folder, b_folder};
	long before = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		before = changed(names[i]) > before ? changed(names[i]) : before;
	check_sleep(20000000); /* coarser than the clock of file systems */
	CHECK_CALL(rename2(a, b, EXCHANGE));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CHECK(changed(names[i]) > before);
	CHECK_EQ(stat_of(a_folder).st_mtim.tv_nsec, stat_of(a_folder).st_ctim.tv_nsec);
	CHECK_CALL(rename2(a, b, EXCHANGE));
}

static void exchanged(void)
{
	FOLDERS("e1", "e2", "e1/d");
	check_put("e2/f", "file");
	check_put("e1/d/inside", "i");
	CHECK_CALL(rename2("e1/d", "e2/f", EXCHANGE));
	CHECK(check_holds("e1/d", "file") && check_holds("e2/f/inside", "i"));
	CHECK_EQ(number("e2/f/.."), number("e2"));
	CHECK_EQ(links("e1"), 2);
	CHECK_EQ(links("e2"), 3);
	CHECK_ERRNO(rename2("e1/d", "e2/f/inside/", EXCHANGE), ENOTDIR); /* slashes speak of what is there */
	CHECK_ERRNO(rename2("e1/d/", "e2/f", EXCHANGE), ENOTDIR);
	CHECK_ERRNO(rename2("e1/d", "e2/none/", EXCHANGE), ENOENT);
	CHECK_CALL(rename2("e1/d", "e2/f/", EXCHANGE));
	CHECK_CALL(rename2("e1/d/", "e2/f", EXCHANGE));
	check_times("e1/d", "e2/f", "e1", "e2");
	CHECK_ERRNO(rename2("e2", "e2/f", EXCHANGE), EINVAL);
	CHECK_ERRNO(rename2("e2/f", "e2", EXCHANGE), EINVAL);
}

/* A folder that moves counts in its new parent, and its ".." leads there. */
static void folders_count(void)
{
	FOLDERS("p1", "p2", "p1/c", "p1/c/g", "p2/empty");
	CHECK_EQ(links("p1"), 3);
	CHECK_EQ(links("p1/c"), 3);
	CHECK_CALL(rename("p1/c", "p2/c"));
	CHECK_EQ(links("p1"), 2);
	CHECK_EQ(links("p2"), 4);
	CHECK_EQ(number("p2/c/.."), number("p2"));
	CHECK_EQ(links("p2/c"), 3);
	CHECK_CALL(rename("p2/c", "p2/empty")); /* over another, in the same parent */
	CHECK_EQ(links("p2"), 3);
	CHECK_CALL(rename("p2/empty/g", "p1/g"));
	CHECK_EQ(links("p2/empty"), 2);
	CHECK_EQ(links("p1"), 3);
	CHECK_CALL(rename("p1/g", "p2/empty")); /* over another, from another parent */
	CHECK_EQ(links("p1"), 2);
	CHECK_EQ(links("p2"), 3);
	check_put("p2/empty/f", "");
	CHECK_ERRNO(rename("p1", "p2/empty"), ENOTEMPTY);
	CHECK_ERRNO(rmdir("p2/empty"), ENOTEMPTY);
	CHECK_EQ(links("p2/empty"), 2);
	CHECK_CALL(unlink("p2/empty/f"));
	CHECK_CALL(rmdir("p2/empty"));
	CHECK_EQ(links("p2"), 2);
	CHECK_CALL(rmdir("p2"));
	CHECK_CALL(rmdir("p1"));
}

/* No folder comes to lie in itself, nor takes the place of what it lies in. */
static void no_loops(void)
{
	FOLDERS("l", "l/m", "l/m/n");
	CHECK_ERRNO(rename("l", "l/m/n/x"), EINVAL);
	CHECK_ERRNO(rename("l", "l/x"), EINVAL);
	CHECK_ERRNO(rename("l/m", "l/m/n"), EINVAL);
	CHECK_ERRNO(rename("l/m/n", "l/m"), ENOTEMPTY);
	CHECK_ERRNO(rename("l/m/n", "l"), ENOTEMPTY);
	CHECK_ERRNO(rename("l/m/.", "l/x"), EBUSY);
	CHECK_ERRNO(rename("l/m/..", "l/x"), EBUSY);
	CHECK_ERRNO(rename("l/m", "l/m/.."), EBUSY);
	CHECK_EQ(number("l/m/n/../.."), number("l"));
	CHECK_CALL(symlink("../../m", "l/m/n/up"));
	CHECK_ERRNO(rename("l/m", "l/m/n/up/y"), EINVAL);
	CHECK_CALL(rename("l/m/n", "l/n"));
	CHECK_CALL(rename("l/m", "l/n/m"));
	CHECK_EQ(number("l/n/m/.."), number("l/n"));
	CHECK_EQ(links("l"), 3);
}

/* What a removed folder was can neither be filled nor left by "..", which stays. */
static void removed_folder(void)
{
	int fd;

	FOLDERS("r", "r/gone");
	fd = CHECK_CALL(open("r/gone", O_RDONLY | O_DIRECTORY));
	CHECK_CALL(rmdir("r/gone"));
	CHECK_ERRNO(CALL(mkdirat, fd, "x", 0755), ENOENT);
	CHECK_ERRNO(CALL(openat, fd, "x", O_CREAT | O_WRONLY, 0644), ENOENT);
	CHECK_ERRNO(CALL(openat, fd, "x", O_RDONLY, 0), ENOENT);
	check_put("r/f", "");
	CHECK_ERRNO(CALL(linkat, AT_FDCWD, "r/f", fd, "x", 0), ENOENT);
	CHECK_ERRNO(CALL(renameat2, AT_FDCWD, "r/f", fd, "x", 0), ENOENT);
	CHECK_EQ(links("r/f"), 1);
	CHECK_EQ(links("r"), 2);
	close(fd);
}

static void counted_links(void)
{
	int fd = CHECK_CALL(open("n0", O_RDWR | O_CREAT, 0644));
	struct stat st;
	char name[8];

	for (int i = 1; i < 20; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		CHECK_CALL(link("n0", name));
		CHECK_EQ(links(name), i + 1);
	}
	CHECK_ERRNO(link("n0", "n7"), EEXIST);
	CHECK_ERRNO(link("nothing", "n99"), ENOENT);
	CHECK_EQ(links("n0"), 20);
	CHECK_CALL(symlink("n0", "soft"));
	CHECK_EQ(links("n0"), 20);
	CHECK_CALL(link("soft", "soft2")); /* of the link itself */
	CHECK(S_ISLNK(stat_of("soft2").st_mode));
	CHECK_EQ(links("soft"), 2);
	CHECK_CALL(CALL(linkat, AT_FDCWD, "soft", AT_FDCWD, "n20", 0x400)); /* AT_SYMLINK_FOLLOW */
	CHECK_EQ(links("n20"), 21);
	CHECK_CALL(unlink("n20"));
	for (int i = 0; i < 20; i++) {
		CHECK_CALL(fstat(fd, &st));
		CHECK_EQ(st.st_nlink, 20 - i);
		snprintf(name, sizeof(name), "n%d", i);
		CHECK_CALL(unlink(name));
	}
	CHECK_CALL(fstat(fd, &st));
	CHECK_EQ(st.st_nlink, 0);
}

static void slashes(void)
{
	check_put("sf", "x");
	FOLDERS("sd");
	CHECK_ERRNO(open("sf/", O_RDONLY), ENOTDIR);
	CHECK_ERRNO(open("sn/", O_WRONLY | O_CREAT, 0644), EISDIR);
	CHECK_ERRNO(unlink("sf/"), ENOTDIR);
	CHECK_ERRNO(unlink("sd/"), EISDIR);
	CHECK_ERRNO(rename("sf/", "sx"), ENOTDIR);
	CHECK_ERRNO(rename("sf", "sx/"), ENOTDIR);
	CHECK_ERRNO(link("sf", "sx/"), ENOENT);
	CHECK_ERRNO(symlink("sf", "sx/"), ENOENT);
	CHECK_ERRNO(rmdir("sf/"), ENOTDIR);
	CHECK_CALL(rename("sd/", "se/"));
	CHECK_CALL(mkdir("sd//", 0755));
	CHECK_CALL(rmdir("se///"));
	CHECK_ERRNO(mkdir("sd/", 0755), EEXIST);
	CHECK_ERRNO(rmdir("sd/."), EINVAL);
	CHECK_ERRNO(rmdir("sd/.."), ENOTEMPTY);
}

/* ---- Listing by getdents64 itself, with room for a few names at a time. */
#define NAMES 300

struct record {
	unsigned long ino;
	long off;
	unsigned short len;
	unsigned char type;
	char name[];
};

static int seen[NAMES], others;

/* One call's worth is counted; 0 at the end. */
static long list_some(int fd, size_t room)
{
	static char buf[4096] __attribute__((aligned(8)));
	long n = CHECK_CALL(CALL(getdents64, fd, buf, room));

	for (long at = 0; at < n;) {
		struct record *r = (void *)(buf + at);

		if (r->name[0] == 'e')
			seen[atoi(r->name + 1) % NAMES]++;
		else
			others++;
		CHECK_EQ(r->type, r->name[0] == 'e' ? 8 : 4);
		if (!CHECK_RANGE(r->len, 24, n - at))
			return 0;
		at += r->len;
	}
	return n;
}

static char *entry(int i)
{
	static char name[16];

	snprintf(name, sizeof(name), "list/e%d", i);
	return name;
}

/* A folder of NAMES files, open; nothing is seen of it yet. */
static int fill_folder(void)
{
	mkdir("list", 0755);
	for (int i = 0; i < NAMES; i++)
		check_put(entry(i), "");
	memset(seen, 0, sizeof(seen));
	others = 0;
	return (int)CHECK_CALL(open("list", O_RDONLY | O_DIRECTORY));
}

/* Every second name goes after the first call: what stays is listed once, what goes at most once. */
static void listed_while_they_go(void)
{
	int fd = fill_folder(), bad = 0;
	char tiny[16];

	CHECK_ERRNO(CALL(getdents64, fd, tiny, sizeof(tiny)), EINVAL);
	list_some(fd, 120);
	for (int i = 0; i < NAMES; i += 2)
		CHECK_CALL(unlink(entry(i)));
	while (list_some(fd, 120))
		;
	for (int i = 0; i < NAMES; i++)
		bad += i % 2 ? seen[i] != 1 : seen[i] > 1;
	CHECK_EQ(bad, 0);
	CHECK_EQ(others, 2); /* . and .. */
	/* From the beginning again: exactly what is there. */
	memset(seen, 0, sizeof(seen));
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_SET), 0);
	while (list_some(fd, 4096))
		;
	for (int i = 0; i < NAMES; i++)
		CHECK_EQ(seen[i], i % 2);
	close(fd);
}

/* As rm -r does: each is listed once although it goes as soon as it is. */
static void listed_and_removed(void)
{
	int fd = fill_folder(), removed = 0;

	while (list_some(fd, 200))
		for (int i = 0; i < NAMES; i++)
			if (seen[i] == 1) {
				CHECK_CALL(unlink(entry(i)));
				seen[i] = 2;
				removed++;
			}
	CHECK_EQ(removed, NAMES);
	CHECK_CALL(rmdir("list"));
	CHECK_ERRNO(CALL(getdents64, fd, seen, sizeof(seen)), ENOENT);
}

/* ---- Two processes move folders into each other: one of them is refused each time, and no tree is lost. */
#define ROUNDS 300

static void move_to_and_fro(const char *name, const char *inside)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (rename(name, inside) && errno != EINVAL && errno != ENOENT)
			CHECK_CALL(-1);
		if (rename(inside, name) && errno != ENOENT && errno != EEXIST && errno != ENOTEMPTY)
			CHECK_CALL(-1);
	}
	_exit(!!check_failures);
}

static void moved_into_each_other(void)
{
	pid_t pids[2];

	FOLDERS("mutual", "mutual/a", "mutual/b");
	CHECK_CALL(chdir("mutual"));
	for (int i = 0; i < 2; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0)
			move_to_and_fro(i ? "a" : "b", i ? "b/a" : "a/b");
	}
	CHECK_EQ(check_wait(pids[0]), 0);
	CHECK_EQ(check_wait(pids[1]), 0);
	CHECK_EQ(number("a/.."), number("."));
	CHECK_EQ(number("b/.."), number("."));
	CHECK_EQ(links("."), 4);
	CHECK_EQ(links("a"), 2);
	CHECK_EQ(links("b"), 2);
	CHECK_CALL(rmdir("a"));
	CHECK_CALL(rmdir("b"));
}

static const struct check_case cases[] = {
	{"renamed-over", renamed_over},
	{"exchanged", exchanged},
	{"folders-count", folders_count},
	{"no-loops", no_loops},
	{"removed-folder", removed_folder},
	{"counted-links", counted_links},
	{"slashes", slashes},
	{"listed-while-they-go", listed_while_they_go},
	{"listed-and-removed", listed_and_removed},
	{"moved-into-each-other", moved_into_each_other},
};

int main(int argc, char **argv)
{
	char name[32];

	snprintf(name, sizeof(name), "nametest.%d", (int)getpid());
	if (mkdir(name, 0755) || chdir(name))
		vt_die_errno(2, name);
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

/* fstest: files, names and folders. */
#include <check.h>
#include <dirent.h>
#include <callnumbers.h>
#include <numbers.h>
#include <sys/stat.h>

#define DIR_HERE "/tmp/fstest"

static bool there(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0;
}

static void renames(void)
{
	check_put("a", "A");
	check_put("b", "B");
	CHECK_EQ(rename("a", "c"), 0);
	CHECK(!there("a") && check_holds("c", "A"));
	CHECK_EQ(rename("c", "b"), 0); /* over another */
	CHECK(!there("c") && check_holds("b", "A"));
	CHECK_EQ(rename("b", "b"), 0);
	CHECK(check_holds("b", "A"));
	CHECK_CALL(mkdir("d", 0755));
	CHECK_CALL(mkdir("d/e", 0755));
	CHECK_CALL(mkdir("empty", 0755));
	CHECK_ERRNO(rename("d", "d/e/f"), EINVAL);
	CHECK_ERRNO(rename("b", "d"), EISDIR);
	CHECK_ERRNO(rename("d", "b"), ENOTDIR);
	CHECK_ERRNO(rename("empty", "d"), ENOTEMPTY);
	CHECK_ERRNO(rename("nothing", "x"), ENOENT);
	CHECK_EQ(rename("d", "empty"), 0);
	CHECK(there("empty/e") && !there("d"));
	CHECK_EQ(rename("b", "empty/e/b"), 0);
	CHECK(check_holds("empty/e/b", "A"));
}

static void unlinked_but_open(void)
{
	char buf[8] = "";
	int fd;

	check_put("gone", "still");
	fd = CHECK_CALL(open("gone", O_RDWR));
	CHECK_EQ(unlink("gone"), 0);
	CHECK(!there("gone"));
	CHECK_EQ(read(fd, buf, sizeof(buf)), 5);
	CHECK_EQ(write(fd, "!", 1), 1);
	CHECK_EQ(lseek(fd, 0, SEEK_END), 6);
	check_put("gone", "another");
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	CHECK_EQ(read(fd, buf, sizeof(buf)), 6);
	CHECK(!memcmp(buf, "still!", 6));
}

static void appending(void)
{
	int a = CHECK_CALL(open("log", O_WRONLY | O_CREAT | O_APPEND, 0644));
	int b = CHECK_CALL(open("log", O_WRONLY | O_APPEND));
	int plain = CHECK_CALL(open("log", O_WRONLY));

	CHECK_EQ(write(a, "1", 1), 1);
	CHECK_EQ(write(b, "2", 1), 1);
	CHECK_EQ(lseek(a, 0, SEEK_SET), 0);
	CHECK_EQ(write(a, "3", 1), 1);
	CHECK(check_holds("log", "123"));
	CHECK_EQ(write(plain, "x", 1), 1);
	CHECK(check_holds("log", "x23"));
}

/* Two processes append at once: nothing is lost. */
static void appending_together(void)
{
	struct stat st;
	pid_t pid = check_fork();
	int fd = CHECK_CALL(open("both", O_WRONLY | O_CREAT | O_APPEND, 0644));

	for (int i = 0; i < 500; i++)
		CHECK_EQ(write(fd, pid ? "p\n" : "c\n", 2), 2);
	if (pid == 0)
		_exit(!!check_failures);
	CHECK_EQ(check_wait(pid), 0);
	CHECK_CALL(stat("both", &st));
	CHECK_EQ(st.st_size, 2000);
}

static void symbolic_links(void)
{
	char buf[64];
	struct stat st;

	check_put("target", "T");
	CHECK_CALL(symlink("target", "link"));
	CHECK_CALL(symlink("loop2", "loop1"));
	CHECK_CALL(symlink("loop1", "loop2"));
	CHECK_CALL(symlink("nowhere", "dangling"));
	CHECK_CALL(symlink(DIR_HERE, "here"));
	CHECK(check_holds("link", "T"));
	CHECK(check_holds("here/here/link", "T"));
	CHECK_EQ(readlink("link", buf, sizeof(buf)), 6);
	CHECK(!memcmp(buf, "target", 6));
	CHECK_EQ(readlink("link", buf, 3), 3);
	CHECK_CALL(lstat("link", &st));
	CHECK(S_ISLNK(st.st_mode) && st.st_size == 6);
	CHECK_CALL(stat("link", &st));
	CHECK(S_ISREG(st.st_mode));
	CHECK_ERRNO(open("loop1", O_RDONLY), ELOOP);
	CHECK_ERRNO(open("dangling", O_RDONLY), ENOENT);
	CHECK_ERRNO(open("link", O_RDONLY | O_NOFOLLOW), ELOOP);
	CHECK_ERRNO(readlink("target", buf, sizeof(buf)), EINVAL);
	CHECK_ERRNO(symlink("x", "link"), EEXIST);
	CHECK_EQ(unlink("link"), 0); /* the link, not the file */
	CHECK(check_holds("target", "T"));
}

static void hard_links(void)
{
	struct stat st;

	check_put("one", "1");
	CHECK_CALL(link("one", "two"));
	CHECK_CALL(stat("one", &st));
	CHECK_EQ(st.st_nlink, 2);
	check_put("two", "2");
	CHECK(check_holds("one", "2"));
	CHECK_EQ(unlink("one"), 0);
	CHECK_CALL(stat("two", &st));
	CHECK_EQ(st.st_nlink, 1);
	CHECK_CALL(mkdir("folder", 0755));
	CHECK_ERRNO(link("folder", "other"), EPERM);
	CHECK_ERRNO(link("two", "folder"), EEXIST);
}

/* A folder with 1,000 entries lists each once. */
static void many_entries(void)
{
	enum { N = 1000 };
	static unsigned char seen[N];
	struct dirent *entry;
	int others = 0;
	char name[32];
	DIR *dir;

	CHECK_CALL(mkdir("many", 0755));
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "many/file%d", i);
		check_put(name, "");
	}
	dir = opendir("many");
	if (!CHECK(dir))
		return;
	while ((entry = readdir(dir))) {
		if (!strncmp(entry->d_name, "file", 4))
			seen[atoi(entry->d_name + 4) % N]++;
		else
			others++;
	}
	closedir(dir);
	CHECK_EQ(others, 2); /* . and .. */
	for (int i = 0; i < N; i++) {
		if (seen[i] != 1)
			CHECK_EQ(seen[i], 1);
		snprintf(name, sizeof(name), "many/file%d", i);
		CHECK_EQ(unlink(name), 0);
	}
	CHECK_EQ(rmdir("many"), 0);
}

static void sizes(void)
{
	char buf[16];
	int fd = CHECK_CALL(open("size", O_RDWR | O_CREAT, 0644));
	struct stat st;

	CHECK_EQ(lseek(fd, 100000, SEEK_SET), 100000);
	CHECK_EQ(write(fd, "end", 3), 3);
	CHECK_EQ(lseek(fd, 50000, SEEK_SET), 50000);
	CHECK_EQ(read(fd, buf, 1), 1);
	CHECK_EQ(buf[0], 0); /* a hole reads as zeroes */
	CHECK_EQ(ftruncate(fd, 50001), 0);
	CHECK_CALL(fstat(fd, &st));
	CHECK_EQ(st.st_size, 50001);
	CHECK_EQ(ftruncate(fd, 100003), 0);
	CHECK_EQ(lseek(fd, -3, SEEK_END), 100000);
	CHECK_EQ(read(fd, buf, 16), 3);
	CHECK(!memcmp(buf, "\0\0\0", 3)); /* what was cut off does not come back */
	CHECK_EQ(read(fd, buf, 16), 0);
	CHECK_ERRNO(lseek(fd, -1, SEEK_SET), EINVAL);
	CHECK_ERRNO(ftruncate(fd, -1), EINVAL);
}

static long changed_at(int fd)
{
	struct stat st;

	CHECK_CALL(fstat(fd, &st));
	return st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* A write says when it was; one of nothing does not. */
static void time_of_a_write(void)
{
	int fd = CHECK_CALL(open("written", O_WRONLY | O_CREAT, 0644));
	long made = changed_at(fd);

	check_sleep(20000000);
	CHECK_EQ(write(fd, "", 0), 0);
	CHECK_EQ(changed_at(fd), made);
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_RANGE(changed_at(fd) - made, 20000000, 5000000000);
}

static void wrong_names(void)
{
	static char longest[300];

	check_put("file", "f");
	CHECK_CALL(mkdir("dir", 0755));
	CHECK_ERRNO(open("file/x", O_RDONLY), ENOTDIR);
	CHECK_ERRNO(open("file", O_RDONLY | O_DIRECTORY), ENOTDIR);
	CHECK_ERRNO(open("dir", O_WRONLY), EISDIR);
	CHECK_ERRNO(open("file", O_WRONLY | O_CREAT | O_EXCL, 0644), EEXIST);
	CHECK_ERRNO(open("nothing/x", O_WRONLY | O_CREAT, 0644), ENOENT);
	CHECK_ERRNO(open("", O_RDONLY), ENOENT);
	CHECK_ERRNO(open((char *)8, O_RDONLY), EFAULT);
	memset(longest, 'n', 255);
	check_put(longest, "long");
	CHECK(check_holds(longest, "long"));
	longest[255] = 'n';
	CHECK_ERRNO(open(longest, O_WRONLY | O_CREAT, 0644), ENAMETOOLONG);
	CHECK_ERRNO(mkdir("dir", 0755), EEXIST);
	CHECK_ERRNO(rmdir("file"), ENOTDIR);
	CHECK_ERRNO(unlink("dir"), EISDIR);
	check_put("dir/inside", "");
	CHECK_ERRNO(rmdir("dir"), ENOTEMPTY);
	CHECK_ERRNO(rmdir("dir/."), EINVAL);
	CHECK_ERRNO(read(open("dir", O_RDONLY), longest, 1), EISDIR);
	CHECK_ERRNO(close(77), EBADF);
	CHECK_ERRNO(dup2(0, -1), EBADF);
}

/* RLIMIT_NOFILE: descriptors are below the soft limit, which nobody can put above the hard one. */
static void descriptor_limit(void)
{
	enum { NOFILE = 7 };
	unsigned long limit[2], four[2] = {4, 4096};

	CHECK_EQ(check_syscall(SYS_prlimit64, 0, NOFILE, 0, (long)limit, 0, 0), 0);
	CHECK_EQ(limit[0], 1024);
	four[1] = limit[1];
	CHECK_EQ(check_syscall(SYS_prlimit64, 0, NOFILE, (long)four, 0, 0, 0), 0);
	CHECK_EQ(dup(0), 3);
	CHECK_ERRNO(dup(0), EMFILE);
	CHECK_ERRNO(open("/", O_RDONLY), EMFILE);
	CHECK_ERRNO(dup2(0, 4), EBADF);
	CHECK_ERRNO(fcntl(0, F_DUPFD, 4), EINVAL);
	CHECK_EQ(close(3), 0);
	four[0] = limit[1] + 1;
	CHECK_ERRNO(check_syscall(SYS_prlimit64, 0, NOFILE, (long)four, 0, 0, 0), EINVAL);
}

static void where_we_are(void)
{
	char buf[128];
	struct stat a, b;

	CHECK(getcwd(buf, sizeof(buf)) && !strcmp(buf, DIR_HERE));
	CHECK_CALL(mkdir("x", 0755));
	CHECK_CALL(mkdir("x/y", 0755));
	CHECK_EQ(chdir("x/./y/../y"), 0);
	CHECK(getcwd(buf, sizeof(buf)) && !strcmp(buf, DIR_HERE "/x/y"));
	CHECK_EQ(readlink("/proc/self/cwd", buf, sizeof(buf)), strlen(DIR_HERE "/x/y"));
	CHECK_CALL(stat("../..", &a));
	CHECK_CALL(stat(DIR_HERE, &b));
	CHECK(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	CHECK(getcwd(buf, 4) == NULL);
	CHECK_EQ(errno, ERANGE);
	CHECK_CALL(stat("/..", &a));
	CHECK_CALL(stat("/", &b));
	CHECK_EQ(a.st_ino, b.st_ino);
	CHECK_ERRNO(chdir("/dev/null"), ENOTDIR);
	CHECK_EQ(chdir("/"), 0);
}

static void devices(void)
{
	char buf[64];
	int null = CHECK_CALL(open("/dev/null", O_RDWR)), zero = CHECK_CALL(open("/dev/zero", O_RDONLY));

	memset(buf, 'x', sizeof(buf));
	CHECK_EQ(write(null, buf, sizeof(buf)), sizeof(buf));
	CHECK_EQ(read(null, buf, sizeof(buf)), 0);
	CHECK_EQ(read(zero, buf, sizeof(buf)), sizeof(buf));
	for (size_t i = 0; i < sizeof(buf); i++)
		CHECK_EQ(buf[i], 0);
}

/* Descriptors that share an open file share its position; those that do not, do not. */
static void positions(void)
{
	char c = 0;
	int fd, copy, other;
	pid_t pid;

	check_put("abc", "abcdef");
	fd = CHECK_CALL(open("abc", O_RDONLY));
	copy = CHECK_CALL(dup(fd));
	other = CHECK_CALL(open("abc", O_RDONLY));
	CHECK_EQ(read(fd, &c, 1), 1);
	CHECK_EQ(read(copy, &c, 1), 1);
	CHECK_EQ(c, 'b');
	CHECK_EQ(read(other, &c, 1), 1);
	CHECK_EQ(c, 'a');
	pid = check_fork();
	if (pid == 0)
		_exit(read(fd, &c, 1) == 1 && c == 'c' ? 0 : 1);
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(read(fd, &c, 1), 1);
	CHECK_EQ(c, 'd');
}

/* No file system keeps attributes: all calls check what they are given, in Linux's order, and say so. */
static void attributes(void)
{
	static const char long_name[] = "user."
					"0123456789012345678901234567890123456789012345678901234567890123456789"
					"0123456789012345678901234567890123456789012345678901234567890123456789"
					"0123456789012345678901234567890123456789012345678901234567890123456789"
					"01234567890123456789012345678901234567890123456789";
	char value[16], *const bad = (char *)8;
	int fd;

	check_put("attr", "x");
	CHECK_CALL(CALL(symlinkat, "nowhere", AT_FDCWD, "attr-link"));
	fd = open("attr", O_RDONLY);
	CHECK_ERRNO(CALL(getxattr, "attr", "user.x", value, sizeof(value)), EOPNOTSUPP);
	CHECK_ERRNO(CALL(lgetxattr, "attr", "security.selinux", 0, 0), EOPNOTSUPP);
	CHECK_ERRNO(CALL(fgetxattr, fd, "system.posix_acl_access", 0, 0), EOPNOTSUPP);
	CHECK_ERRNO(CALL(setxattr, "attr", "user.x", "v", 1, 0), EOPNOTSUPP);
	CHECK_ERRNO(CALL(fsetxattr, fd, "user.x", "v", 1, 0), EOPNOTSUPP);
	CHECK_ERRNO(CALL(removexattr, "attr", "user.x"), EOPNOTSUPP);
	CHECK_ERRNO(CALL(fremovexattr, fd, "user.x"), EOPNOTSUPP);
	CHECK_EQ(CALL(listxattr, "attr", value, sizeof(value)), 0);
	CHECK_EQ(CALL(llistxattr, "attr-link", value, sizeof(value)), 0);
	CHECK_EQ(CALL(flistxattr, fd, 0, 0), 0);
	/* A link itself takes none of the user's. */
	CHECK_ERRNO(CALL(lgetxattr, "attr-link", "user.x", 0, 0), ENODATA);
	CHECK_ERRNO(CALL(lsetxattr, "attr-link", "user.x", "v", 1, 0), EPERM);
	CHECK_ERRNO(CALL(lremovexattr, "attr-link", "user.x"), EPERM);
	/* The file comes first, then the name, then the value. */
	CHECK_ERRNO(CALL(getxattr, "missing", bad, 0, 0), ENOENT);
	CHECK_ERRNO(CALL(getxattr, "attr-link", "user.x", 0, 0), ENOENT);
	CHECK_ERRNO(CALL(listxattr, "missing", 0, 0), ENOENT);
	CHECK_ERRNO(CALL(getxattr, bad, "user.x", 0, 0), EFAULT);
	CHECK_ERRNO(CALL(fgetxattr, 99, bad, 0, 0), EBADF);
	CHECK_ERRNO(CALL(flistxattr, 99, 0, 0), EBADF);
	CHECK_ERRNO(CALL(getxattr, "attr", bad, 0, 0), EFAULT);
	CHECK_ERRNO(CALL(getxattr, "attr", "", 0, 0), ERANGE);
	CHECK_ERRNO(CALL(getxattr, "attr", long_name, 0, 0), ERANGE);
	CHECK_ERRNO(CALL(getxattr, "attr", long_name + 10, 0, 0), EOPNOTSUPP);
	CHECK_ERRNO(CALL(setxattr, "attr", "user.x", "v", 1, 4), EINVAL);
	CHECK_ERRNO(CALL(setxattr, "attr", "", bad, 1, 0), ERANGE);
	CHECK_ERRNO(CALL(setxattr, "attr", "user.x", bad, 1, 0), EFAULT);
	CHECK_ERRNO(CALL(setxattr, "attr", "user.x", "v", 65537, 0), E2BIG);
	close(fd);
}

/* Rights of a group count for each group that a task is in, and for no other. */
static void in_groups(void)
{
	unsigned groups[] = {300, 301, 302};

	check_put("groups-file", "x");
	CHECK_CALL(CALL(fchownat, AT_FDCWD, "groups-file", 0, 302, 0));
	CHECK_CALL(CALL(fchmodat, AT_FDCWD, "groups-file", 0040));
	CHECK_CALL(CALL(setgroups, 3, groups));
	CHECK_CALL(CALL(setresgid, 1000, 1000, 1000));
	CHECK_CALL(CALL(setresuid, 1000, -1, -1)); /* access(2) asks for the real user's rights */
	CHECK_CALL(CALL(faccessat, AT_FDCWD, "groups-file", 4));
	CHECK_ERRNO(CALL(faccessat, AT_FDCWD, "groups-file", 2), EACCES);
	groups[2] = 303;
	CHECK_CALL(CALL(setgroups, 3, groups));
	CHECK_ERRNO(CALL(faccessat, AT_FDCWD, "groups-file", 4), EACCES);
	CHECK_CALL(CALL(setgroups, 0, 0));
	CHECK_ERRNO(CALL(faccessat, AT_FDCWD, "groups-file", 4), EACCES);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"renames", renames},
		{"unlinked", unlinked_but_open},
		{"append", appending},
		{"append-both", appending_together},
		{"symlinks", symbolic_links},
		{"links", hard_links},
		{"many-entries", many_entries},
		{"sizes", sizes},
		{"time-of-a-write", time_of_a_write},
		{"wrong-names", wrong_names},
		{"where", where_we_are},
		{"devices", devices},
		{"positions", positions},
		{"descriptor-limit", descriptor_limit},
		{"attributes", attributes},
		{"in-groups", in_groups},
	};
	int status;

	mkdir("/tmp", 0777);
	if (mkdir(DIR_HERE, 0755) || chdir(DIR_HERE))
		vt_die_errno(2, DIR_HERE);
	status = check_main(argc, argv, cases, ARRAY_SIZE(cases));
	return status;
}

/*
 * p9test: a folder of the host as a file system: what its server must have got right and what is ours, for a folder in
 * which nobody else writes. The program's files lie in a folder of its own, below the current one, which is on 9p.
 */
#include <callnumbers.h>
#include <check.h>
#include <numbers.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#define PAGE	  4096L
#define FAR	  (5L << 30) /* beyond 32 bits */
#define BLOCK	  (300 * 1024)
#define EXCHANGE  2
#define NOREPLACE 1

static char block[BLOCK], other[BLOCK];

static void fill(char *to, long n, unsigned seed)
{
	for (long i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		to[i] = seed >> 16;
	}
}

static long size_of(int fd)
{
	struct stat st = {.st_size = -1};

	CHECK_CALL(fstat(fd, &st));
	return st.st_size;
}

/* Names as long as they may be, and of any bytes. */
static void names(void)
{
	char longest[257];
	struct stat st;

	memset(longest, 'n', 256);
	longest[255] = '\0';
	check_put(longest, "long");
	CHECK(check_holds(longest, "long"));
	CHECK_CALL(rename(longest, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 \n\x01"));
	CHECK(check_holds("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 \n\x01", "long"));
	CHECK_ERRNO(stat(longest, &st), ENOENT);
	longest[255] = 'n';
	longest[256] = '\0';
	CHECK_ERRNO(stat(longest, &st), ENAMETOOLONG);
	CHECK_ERRNO(mkdir(longest, 0755), ENAMETOOLONG);
	longest[250] = '\0';
	CHECK_CALL(mkdir(longest, 0755));
	CHECK_CALL(rmdir(longest));
}

/* What cannot be is refused with Linux's error, and changes nothing. */
static void errors(void)
{
	CHECK_CALL(mkdir("d", 0755));
	check_put("d/f", "1");
	check_put("g", "2");
	CHECK_ERRNO(mkdir("d", 0755), EEXIST);
	CHECK_ERRNO(open("g", O_WRONLY | O_CREAT | O_EXCL, 0644), EEXIST);
	CHECK_ERRNO(open("no/f", O_RDONLY), ENOENT);
	CHECK_ERRNO(open("no", O_WRONLY), ENOENT);
	CHECK_ERRNO(open("g/f", O_RDONLY), ENOTDIR);
	CHECK_ERRNO(open("d", O_WRONLY), EISDIR);
	CHECK_ERRNO(rmdir("d"), ENOTEMPTY);
	CHECK_ERRNO(rmdir("g"), ENOTDIR);
	CHECK_ERRNO(unlink("d"), EISDIR);
	CHECK_ERRNO(unlink("no"), ENOENT);
	CHECK_ERRNO(rename("no", "d/x"), ENOENT);
	CHECK_ERRNO(rename("g", "d"), EISDIR);
	CHECK_ERRNO(rename("d", "g"), ENOTDIR);
	CHECK_ERRNO(link("g", "d/f"), EEXIST);
	CHECK_ERRNO(link("d", "e"), EPERM);
	CHECK_ERRNO(link("g", "/tmp/elsewhere"), EXDEV);
	CHECK_ERRNO(CALL(renameat2, AT_FDCWD, "g", AT_FDCWD, "d/f", EXCHANGE), EINVAL);
	CHECK_ERRNO(CALL(renameat2, AT_FDCWD, "g", AT_FDCWD, "d/f", NOREPLACE), EEXIST);
	CHECK_ERRNO(CALL(renameat2, AT_FDCWD, "g", AT_FDCWD, "h", NOREPLACE), EINVAL);
	CHECK(check_holds("g", "2") && check_holds("d/f", "1"));
	CHECK_CALL(rename("g", "d/f"));
	CHECK(check_holds("d/f", "2"));
}

/* Messages carry parts of what one call asks for; positions have 64 bits. */
static void far_away(void)
{
	int fd = CHECK_CALL(open("far", O_RDWR | O_CREAT, 0644));

	fill(block, BLOCK, 1);
	CHECK_EQ(CALL(pwrite64, fd, block, BLOCK, FAR + 7), BLOCK);
	CHECK_EQ(size_of(fd), FAR + 7 + BLOCK);
	CHECK_EQ(CALL(lseek, fd, -BLOCK, SEEK_END), FAR + 7);
	CHECK_EQ(read(fd, other, BLOCK), BLOCK);
	CHECK(!memcmp(block, other, BLOCK));
	CHECK_EQ(read(fd, other, BLOCK), 0);
	CHECK_EQ(CALL(pread64, fd, other, 100, FAR - 50), 100);
	CHECK(!other[0] && !other[56] && !memcmp(other + 57, block, 43));
	CHECK_CALL(ftruncate(fd, FAR + 10));
	CHECK_EQ(CALL(pread64, fd, other, 100, FAR + 7), 3);
	/* More than most file systems can hold: a change that the server refuses is an error here. */
	if (!CALL(truncate, "far", 1L << 62))
		CHECK_EQ(size_of(fd), 1L << 62);
	CHECK_CALL(CALL(truncate, "far", 5));
	CHECK_EQ(size_of(fd), 5);
	CHECK_CALL(CALL(fsync, fd));
	CHECK_CALL(CALL(fdatasync, fd));
	close(fd);
	fd = CHECK_CALL(open("far", O_WRONLY | O_TRUNC));
	CHECK_EQ(size_of(fd), 0);
	close(fd);
}

/* Who makes a file may write to it, whatever rights it gives. So it must be open when it is made. */
static void made_read_only(void)
{
	int fd = CHECK_CALL(open("ro", O_WRONLY | O_CREAT | O_EXCL, 0400));
	struct stat st;

	CHECK_EQ(write(fd, "written", 7), 7);
	close(fd);
	CHECK(check_holds("ro", "written"));
	CHECK_CALL(stat("ro", &st));
	CHECK_EQ(st.st_mode & 07777, 0400);
	CHECK_CALL(chmod("ro", 0640));
	CHECK_CALL(stat("ro", &st));
	CHECK_EQ(st.st_mode, S_IFREG | 0640);
}

/* A private mapping has the file's bytes, keeps what is written to it, and hands it to a child. */
static void mapped(void)
{
	int fd = CHECK_CALL(open("map", O_RDWR | O_CREAT, 0644));
	char *p, c;
	pid_t child;

	fill(block, BLOCK, 2);
	CHECK_EQ(write(fd, block, BLOCK - 100), BLOCK - 100);
	p = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (!CHECK(p != MAP_FAILED))
		return;
	CHECK(!memcmp(p, block, BLOCK - 100));
	for (long i = BLOCK - 100; i < BLOCK; i++)
		CHECK_EQ(p[i], 0);
	for (long at = 0; at < BLOCK; at += PAGE)
		p[at] = 'w'; /* its page has been read before, and nothing else has it */
	child = check_fork();
	if (!child) {
		long right = 0;

		for (long at = 0; at < BLOCK; at += PAGE)
			right += p[at] == 'w';
		_exit(right == BLOCK / PAGE ? 0 : 1);
	}
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(CALL(pread64, fd, &c, 1, PAGE), 1);
	CHECK_EQ(c, block[PAGE]);
	munmap(p, BLOCK);
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EINVAL);
	close(fd);
	fd = CHECK_CALL(open("map", O_RDONLY));
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED && !memcmp(p, block, PAGE));
	CHECK_ERRNO(CALL(mprotect, p, PAGE, PROT_READ | PROT_WRITE), EACCES);
	close(fd);
}

/* A page behind the end of the file is SIGBUS. */
static void touch_behind(void)
{
	int fd = CHECK_CALL(open("short", O_RDWR | O_CREAT, 0644));
	volatile char *p;

	CHECK_EQ(write(fd, "x", 1), 1);
	p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK_EQ(p[PAGE - 1], 0);
	_exit(p[PAGE]);
}

static void behind_the_end(void)
{
	int status = check_in_child(touch_behind);

	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGBUS);
}

/* Times as they were set, to the nanosecond; the server's now; and what the file system says of itself. */
static void attributes(void)
{
	struct timespec times[2] = {{1234567890, 123456789}, {987654321, 987654321}};
	struct timespec touched[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
	struct statfs fs;
	struct stat st;

	check_put("times", "x");
	CHECK_CALL(utimensat(AT_FDCWD, "times", times, 0));
	CHECK_CALL(stat("times", &st));
	CHECK_EQ(st.st_atime, 1234567890);
	CHECK_EQ(st.st_atim.tv_nsec, 123456789);
	CHECK_EQ(st.st_mtime, 987654321);
	CHECK_EQ(st.st_mtim.tv_nsec, 987654321);
	CHECK_CALL(utimensat(AT_FDCWD, "times", touched, 0));
	CHECK_CALL(stat("times", &st));
	CHECK_EQ(st.st_atime, 1234567890);
	CHECK_RANGE(st.st_mtime, 1700000000, 1L << 40);
	CHECK_CALL(utimensat(AT_FDCWD, "times", NULL, 0));
	CHECK_CALL(stat("times", &st));
	CHECK_RANGE(st.st_atime, 1700000000, 1L << 40);
	CHECK_CALL(CALL(statfs, ".", &fs));
	CHECK_EQ(fs.f_type, 0x01021997);
	CHECK(fs.f_bsize > 0 && fs.f_blocks > fs.f_bfree && fs.f_namelen >= 255);
}

/* Links of both kinds; the text of one may be as long as a path. */
static void links(void)
{
	char text[4200], target[4096];
	struct stat a, b;

	check_put("l1", "one");
	CHECK_CALL(link("l1", "l2"));
	CHECK_CALL(stat("l1", &a));
	CHECK_CALL(stat("l2", &b));
	CHECK(a.st_ino == b.st_ino && a.st_nlink == 2 && b.st_nlink == 2);
	CHECK_CALL(symlink("l1", "s"));
	CHECK(check_holds("s", "one"));
	CHECK_EQ(readlink("s", text, sizeof(text)), 2);
	CHECK_ERRNO(CALL(openat, AT_FDCWD, "s", O_RDONLY | O_NOFOLLOW, 0), ELOOP);
	memset(target, 't', sizeof(target) - 1);
	for (int i = 200; i < 4000; i += 200)
		target[i] = '/';
	target[4000] = '\0';
	CHECK_CALL(symlink(target, "deep"));
	CHECK_EQ(readlink("deep", text, sizeof(text)), 4000);
	CHECK(!memcmp(text, target, 4000));
}

/* A file that has lost its name can still be read and written through descriptors that are open. */
static void removed_while_open(void)
{
	int fd = CHECK_CALL(open("gone", O_RDWR | O_CREAT, 0644));
	struct stat st;
	char c = 0;

	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_CALL(unlink("gone"));
	CHECK_CALL(fstat(fd, &st));
	CHECK_EQ(st.st_nlink, 0);
	CHECK_EQ(st.st_size, 3);
	CHECK_EQ(CALL(pread64, fd, &c, 1, 1), 1);
	CHECK_EQ(c, 'b');
	check_put("gone", "another");
	CHECK_ERRNO(ftruncate(fd, 0), ENOENT);
	CHECK_CALL(fcntl(fd, F_SETFL, O_APPEND));
	CHECK_EQ(write(fd, "d", 1), 1);
	CHECK_EQ(size_of(fd), 4);
	CHECK(check_holds("gone", "another"));
	close(fd);
}

#define ENTRIES 400

/* Each name is listed once, however small the buffer is. */
static void listed(void)
{
	static unsigned char seen[ENTRIES];
	char name[80], buf[200];
	long n, at, total = 0;
	int fd;

	CHECK_CALL(mkdir("many", 0755));
	for (int i = 0; i < ENTRIES; i++) {
		snprintf(name, sizeof(name), "many/%03d-a-name-that-is-not-short-at-all-so-few-go-into-one", i);
		check_put(name, "");
	}
	fd = CHECK_CALL(open("many", O_RDONLY | O_DIRECTORY));
	while ((n = CALL(getdents64, fd, buf, sizeof(buf))) > 0)
		for (at = 0; at < n; at += *(unsigned short *)(buf + at + 16), total++)
			if (buf[at + 19] != '.')
				seen[atoi(buf + at + 19)]++;
	CHECK_EQ(n, 0);
	CHECK_EQ(total, ENTRIES + 2);
	for (int i = 0; i < ENTRIES; i++)
		CHECK_EQ(seen[i], 1);
	close(fd);
}

#define WORKERS 6
#define ROUNDS	20

/* Requests of several tasks are under way at once: each must get its own answer. */
static void work(int number)
{
	char name[20];
	int fd;

	snprintf(name, sizeof(name), "w%d", number);
	fd = CHECK_CALL(open(name, O_RDWR | O_CREAT, 0644));
	for (int i = 0; i < ROUNDS; i++) {
		fill(block, BLOCK, number * 1000 + i);
		CHECK_EQ(CALL(pwrite64, fd, block, BLOCK, i * 1000L), BLOCK);
		memset(other, 0, BLOCK);
		CHECK_EQ(CALL(pread64, fd, other, BLOCK, i * 1000L), BLOCK);
		CHECK(!memcmp(block, other, BLOCK));
		CHECK_EQ(size_of(fd), i * 1000L + BLOCK);
	}
	_exit(check_failures ? 1 : 0);
}

static void together(void)
{
	pid_t workers[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		workers[i] = check_fork();
		if (!workers[i])
			work(i);
	}
	for (int i = 0; i < WORKERS; i++)
		CHECK_EQ(check_wait(workers[i]), 0);
}

static const struct check_case cases[] = {
	{"names", names},
	{"errors", errors},
	{"far-away", far_away},
	{"made-read-only", made_read_only},
	{"mapped", mapped},
	{"behind-the-end", behind_the_end},
	{"attributes", attributes},
	{"links", links},
	{"removed-while-open", removed_while_open},
	{"listed", listed},
	{"together", together},
};

int main(int argc, char **argv)
{
	char name[32];

	snprintf(name, sizeof(name), "p9test.%d", (int)getpid());
	if (mkdir(name, 0755) || chdir(name))
		vt_die_errno(2, name);
	check_seconds = 60;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

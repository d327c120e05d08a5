/*
 * filetest: regular files at their edges: what was cut off, holes, mappings behind the end, positions,
 * appending, splicing. The program's files lie in a folder of its own, below the current one.
 */
/* also on Linux */
#include <callnumbers.h>
#include <numbers.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE  4096L
#define PAGES 3
#define ALL   (PAGES * PAGE)
#define RW    (PROT_READ | PROT_WRITE)
#ifndef SEEK_DATA
#endif

struct part {
	void *at;
	unsigned long n;
};

static char block[ALL];

/* A new file that is open for both; `n` bytes of it are x. */
static int make(const char *name, long n)
{
	int fd = (int)CHECK_CALL(open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));

	memset(block, 'x', sizeof(block));
	CHECK_EQ(write(fd, block, n), n);
	return fd;
}

static long size_of(int fd)
{
	struct stat st = {.st_size = -1};

	CHECK_CALL(fstat(fd, &st));
	return (long)st.st_size;
}

static long read_at(int fd, void *to, long n, long at)
{
	return CALL(pread64, fd, to, n, at);
}

static long write_at(int fd, const void *from, long n, long at)
{
	return CALL(pwrite64, fd, from, n, at);
}

static char *map_file(int fd, long size, int flags)
{
	char *p = mmap(NULL, (size_t)size, RW, flags, fd, 0);

	if (p == MAP_FAILED)
		vt_die_errno(2, "mmap");
	return p;
}

/* From where on p is nothing but this byte; n: the last one is another. */
static long same_from(const char *p, long n, char byte)
{
	while (n && p[n - 1] == byte)
		n--;
	return n;
}

/* The file holds x up to `kept` and zeros from there to its end at `size`. */
static void check_kept(int fd, long kept, long size)
{
	memset(block, '?', sizeof(block));
	CHECK_EQ(size_of(fd), size);
	CHECK_EQ(read_at(fd, block, sizeof(block), 0), size);
	CHECK_EQ(same_from(block, size, 0), kept);
	CHECK_EQ(same_from(block, kept, 'x'), 0);
}

/* What was cut off reads as zeros when the file grows again, by truncate, by a write behind it, or in a
 * mapping. */
static void cut(void)
{
	static const long ends[] = {1, 10, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE - 1, 2 * PAGE, 2 * PAGE + 1, ALL - 1};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		int fd = make("cut", ALL);
		char *p;

		CHECK_CALL(ftruncate(fd, ends[i]));
		check_kept(fd, ends[i], ends[i]);
		CHECK_CALL(ftruncate(fd, ALL));
		check_kept(fd, ends[i], ALL);
		p = map_file(fd, ALL, MAP_SHARED);
		CHECK_EQ(same_from(p, ALL, 0), ends[i]);
		CHECK_CALL(munmap(p, ALL));
		close(fd);

		fd = make("cut", ALL);
		CHECK_CALL(CALL(truncate, "cut", ends[i]));
		CHECK_EQ(write_at(fd, "", 1, ALL - 1), 1);
		check_kept(fd, ends[i], ALL);
		close(fd);
	}
}

/* To nothing and back: also the first page is a new one. */
static void emptied(void)
{
	int fd = make("emptied", ALL), other = CHECK_CALL(open("emptied", O_WRONLY | O_TRUNC));

	CHECK_EQ(size_of(fd), 0);
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), ALL); /* positions stay */
	CHECK_EQ(read(fd, block, 1), 0);
	CHECK_EQ(write(fd, "end", 3), 3);
	CHECK_EQ(size_of(fd), ALL + 3);
	CHECK_EQ(read_at(fd, block, ALL, 0), ALL);
	CHECK_EQ(same_from(block, ALL, 0), 0);
	close(other);
	close(fd);
}

static volatile char *victim;

static void read_victim(void)
{
	(void)*victim;
}

static void write_victim(void)
{
	*victim = 1;
}

/* The signal that f dies of at this address, 0 when it lives. */
static int dies_of(void (*f)(void), volatile char *at)
{
	int status;

	victim = at;
	status = check_in_child(f);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A mapping reaches behind the file's end. The page of the end is there, the next one is not, until the file
 * grows. */
static void check_behind_the_end(int flags)
{
	int fd = make("behind", PAGE + 100);
	char *p = map_file(fd, ALL, flags);

	CHECK_EQ(p[PAGE + 99], 'x');
	CHECK_EQ(same_from(p + PAGE, PAGE, 0), 100);
	CHECK_EQ(dies_of(write_victim, p + 2 * PAGE - 1), 0);
	CHECK_EQ(dies_of(read_victim, p + 2 * PAGE), SIGBUS);
	CHECK_EQ(dies_of(write_victim, p + 2 * PAGE), SIGBUS);
	CHECK_EQ(dies_of(write_victim, p + ALL - 1), SIGBUS);
	CHECK_ERRNO(write(fd, p + 2 * PAGE, 1), EFAULT);
	CHECK_EQ(size_of(fd), PAGE + 100);
	CHECK_CALL(ftruncate(fd, 2 * PAGE + 1));
	CHECK_EQ(p[ALL - 1], 0);
	CHECK_EQ(dies_of(write_victim, p + 2 * PAGE), 0);
	CHECK_CALL(munmap(p, ALL));
	CHECK_EQ(dies_of(read_victim, p), SIGSEGV);
	close(fd);
}

static void behind_the_end(void)
{
	check_behind_the_end(MAP_SHARED);
	check_behind_the_end(MAP_PRIVATE);
}

/* Pages that were touched and lie behind the new end go from the mapping too; so do private copies of them.
 */
static void check_cut_while_mapped(int flags)
{
	int fd = make("mapped", ALL);
	char *p = map_file(fd, ALL, flags);

	for (long i = 0; i < ALL; i++)
		p[i] = 'x';
	CHECK_CALL(ftruncate(fd, PAGE + 10));
	CHECK_EQ(dies_of(read_victim, p + 2 * PAGE), SIGBUS);
	CHECK_EQ(dies_of(write_victim, p + 2 * PAGE), SIGBUS);
	CHECK_EQ(dies_of(read_victim, p + PAGE), 0);
	CHECK_EQ(p[PAGE - 1], 'x');
	CHECK_EQ(p[PAGE + 9], 'x');
	CHECK_CALL(ftruncate(fd, ALL));
	CHECK_EQ(same_from(p + 2 * PAGE, PAGE, 0), 0);
	CHECK_CALL(munmap(p, ALL));
	close(fd);
}

static void cut_while_mapped(void)
{
	check_cut_while_mapped(MAP_SHARED);
	check_cut_while_mapped(MAP_PRIVATE);
}

/* Shared mappings, read() and write() see the same bytes, in holes too. */
static void mapped_and_written(void)
{
	int fd = make("both", 0);
	char *p, *private;
	char c = 0;

	CHECK_CALL(ftruncate(fd, ALL));
	p = map_file(fd, ALL, MAP_SHARED);
	private = map_file(fd, ALL, MAP_PRIVATE);
	CHECK_EQ(p[PAGE], 0);
	CHECK_EQ(write_at(fd, "a", 1, PAGE), 1);
	CHECK_EQ(p[PAGE], 'a');
	CHECK_EQ(private[PAGE], 'a');
	p[2 * PAGE] = 'b';
	CHECK_EQ(read_at(fd, &c, 1, 2 * PAGE), 1);
	CHECK_EQ(c, 'b');
	private[2 * PAGE] = 'c';
	CHECK_EQ(p[2 * PAGE], 'b');
	CHECK_EQ(write_at(fd, "d", 1, 2 * PAGE), 1);
	CHECK_EQ(private[2 * PAGE], 'c'); /* a copy of its own by now */
	CHECK_EQ(p[2 * PAGE], 'd');
	close(fd);
	CHECK_CALL(unlink("both"));
	p[0] = 'z'; /* the mapping keeps the file */
	CHECK_EQ(private[0], 'z');
	CHECK_CALL(munmap(private, ALL));
	CHECK_CALL(munmap(p, ALL));
}

static void holes(void)
{
	int fd = make("holes", 0);
	struct stat st;
	char *p;

	CHECK_EQ(write_at(fd, "far", 3, 1L << 32), 3);
	CHECK_EQ(write_at(fd, "near", 4, 2 * PAGE - 2), 4);
	CHECK_EQ(write_at(fd, "x", 1, 512 * PAGE), 1);
	CHECK_CALL(fstat(fd, &st));
	CHECK_EQ(st.st_size, (1L << 32) + 3);
	CHECK_RANGE(st.st_blocks, 0, 256); /* of 512 bytes: what was written, and the host's file system's own */
	CHECK_EQ(read_at(fd, block, ALL, 0), ALL);
	CHECK(!memcmp(block + 2 * PAGE - 2, "near", 4));
	CHECK_EQ(same_from(block, 2 * PAGE - 2, 0), 0);
	CHECK_EQ(same_from(block, ALL, 0), 2 * PAGE + 2);
	CHECK_EQ(read_at(fd, block, 3 * PAGE, 511 * PAGE), 3 * PAGE);
	CHECK_EQ(same_from(block, PAGE, 0), 0);
	CHECK_EQ(block[PAGE], 'x');
	CHECK_EQ(same_from(block, ALL, 0), PAGE + 1);
	CHECK_EQ(read_at(fd, block, 100, (1L << 32) - 10), 13);
	CHECK_EQ(same_from(block, 10, 0), 0);
	CHECK(!memcmp(block + 10, "far", 3));
	p = mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE, fd, 511 * PAGE);
	if (CHECK(p != MAP_FAILED))
		CHECK_EQ(same_from(p, 2 * PAGE, 0), PAGE + 1);
	CHECK_ERRNO(CALL(lseek, fd, (1L << 32) + 3, SEEK_DATA), ENXIO);
	CHECK_ERRNO(CALL(lseek, fd, (1L << 32) + 3, SEEK_HOLE), ENXIO);
	CHECK_EQ(CALL(lseek, fd, (1L << 32) + 1, SEEK_DATA), (1L << 32) + 1);
	CHECK_EQ(CALL(lseek, fd, (1L << 32) + 1, SEEK_HOLE), (1L << 32) + 3);
	close(fd);
	CHECK_CALL(unlink("holes"));
}

/* Calls with a position of their own leave the file's alone; the others agree about it. */
static void own_positions(void)
{
	int fd = make("positions", 100), wide = CHECK_CALL(open("positions", O_RDONLY)), ends[2];
	char a[4], b[8];
	struct part parts[3] = {{a, 4}, {NULL, 0}, {b, 8}};

	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), 100);
	CHECK_EQ(write_at(fd, "0123456789ab", 12, 0), 12);
	CHECK_EQ(read_at(fd, a, 4, 4), 4);
	CHECK(!memcmp(a, "4567", 4));
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), 100);
	CHECK_EQ(CALL(readv, wide, parts, 3), 12);
	CHECK(!memcmp(a, "0123", 4) && !memcmp(b, "456789ab", 8));
	CHECK_EQ(CALL(lseek, wide, 0, SEEK_CUR), 12);
	CHECK_EQ(CALL(preadv, wide, parts, 3, 94), 6);
	CHECK_EQ(CALL(lseek, wide, 0, SEEK_CUR), 12);
	CHECK_EQ(CALL(writev, fd, parts, 3), 12);
	CHECK_EQ(CALL(pwritev, fd, parts, 3, 200), 12);
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), 112);
	CHECK_EQ(size_of(fd), 212);
	CHECK_EQ(CALL(lseek, fd, -12, SEEK_END), 200);
	CHECK_EQ(CALL(lseek, fd, -199, SEEK_CUR), 1);
	CHECK_ERRNO(CALL(lseek, fd, -2, SEEK_CUR), EINVAL);
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), 1);
	CHECK_ERRNO(CALL(lseek, fd, 0, 99), EINVAL);
	CHECK_ERRNO(read_at(fd, a, 4, -1), EINVAL);
	CHECK_ERRNO(write_at(wide, a, 4, 0), EBADF);
	CHECK_ERRNO(read_at(fd, a, 4, 0x7ffffffffffffffe), EINVAL); /* no position tells where it would end */
	CHECK_ERRNO(write_at(fd, a, 4, 0x7ffffffffffffffe), EINVAL);
	CHECK_ERRNO(CALL(read, fd, a, -1), EFAULT);
	CHECK_EQ(read_at(fd, a, 4, 1000), 0);
	CHECK_EQ(write_at(fd, a, 0, 1000), 0);
	CHECK_EQ(size_of(fd), 212);
	CHECK_CALL(pipe(ends));
	CHECK_ERRNO(read_at(ends[0], a, 1, 0), ESPIPE);
	CHECK_ERRNO(CALL(readv, fd, parts, 1025), EINVAL);
	parts[1].n = ~0UL;
	CHECK_ERRNO(CALL(readv, fd, parts, 3), EINVAL);
}

/* Half of the buffer is not there: what was moved is told, and nothing more was. */
static void half_a_buffer(void)
{
	int fd = make("half", 0);
	char *p = mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long n;

	CHECK_CALL(munmap(p + PAGE, PAGE));
	memset(p, 'x', PAGE);
	CHECK_ERRNO(write(fd, p + PAGE, 10), EFAULT);
	CHECK_EQ(size_of(fd), 0);
	n = write(fd, p + PAGE - 100, 200);
	CHECK_RANGE(n, 1, 100);
	CHECK_EQ(size_of(fd), n);
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), n);
	check_kept(fd, n, n);
	close(fd);
	fd = make("half", ALL);
	memset(p, '-', PAGE);
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_SET), 0);
	n = read(fd, p + PAGE - 100, 200);
	CHECK_RANGE(n, 1, 100);
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), n);
	CHECK_EQ(same_from(p + PAGE - 100, n, 'x'), 0);
	CHECK_ERRNO(read(fd, p + PAGE, 1), EFAULT);
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), n);
	/* What the file has where nothing came stays. */
	n = write_at(fd, p + PAGE - 100, 200, PAGE);
	CHECK_RANGE(n, 1, 100);
	CHECK_ERRNO(write_at(fd, p + PAGE, 300, 0), EFAULT);
	CHECK_EQ(read_at(fd, block, ALL, 0), ALL);
	CHECK_EQ(same_from(block, PAGE, 'x'), 0);
	CHECK_EQ(same_from(block + PAGE + n, ALL - PAGE - n, 'x'), 0);
}

/* Appending goes to the end whatever the position says, also by pwrite(2) as Linux has it, and can be
 * switched. */
static void appending(void)
{
	int fd = make("append", 10), log = CHECK_CALL(open("append", O_RDWR | O_APPEND));

	CHECK_EQ(CALL(lseek, log, 0, SEEK_CUR), 0);
	CHECK_EQ(write(log, "1", 1), 1);
	CHECK_EQ(CALL(lseek, log, 0, SEEK_CUR), 11);
	CHECK_EQ(write_at(log, "2", 1, 3), 1);
	CHECK_EQ(CALL(lseek, log, 0, SEEK_CUR), 11);
	CHECK_EQ(size_of(fd), 12);
	CHECK_EQ(read(log, block, 5), 1);
	CHECK_EQ(block[0], '2');
	CHECK_CALL(fcntl(log, F_SETFL, 0));
	CHECK_EQ(CALL(lseek, log, 0, SEEK_SET), 0);
	CHECK_EQ(write(log, "3", 1), 1);
	CHECK_EQ(size_of(fd), 12);
	CHECK_CALL(fcntl(fd, F_SETFL, O_APPEND));
	CHECK_CALL(ftruncate(fd, 5));
	CHECK_EQ(write(fd, "4", 1), 1);
	CHECK_EQ(read_at(fd, block, 100, 0), 6);
	CHECK(!memcmp(block, "3xxxx4", 6));
}

#define WRITERS 4
#define RECORDS 200
#define RECORD	53 /* bytes: records cross pages */

/* Writes its records, each byte of which says whose it is; its number stands at the beginning. */
static void write_records(int fd, int writer)
{
	char record[RECORD];

	for (int i = 0; i < RECORDS; i++) {
		memset(record, 'a' + writer, RECORD);
		record[0] = (char)(i & 31); /* no letter */
		if (write(fd, record, RECORD) != RECORD)
			_exit(1);
	}
	_exit(0);
}

/* All of them are there, whole, each writer's in order. Fails once, with the first that is not. */
static void check_records(const char *name)
{
	int fd = CHECK_CALL(open(name, O_RDONLY)), next[WRITERS] = {0};
	char record[RECORD];

	CHECK_EQ(size_of(fd), WRITERS * RECORDS * RECORD);
	for (int i = 0; i < WRITERS * RECORDS; i++) {
		int writer;

		if (!CHECK_EQ(read(fd, record, RECORD), RECORD))
			return;
		writer = record[1] - 'a';
		if (!CHECK_RANGE(writer, 0, WRITERS - 1) || !CHECK_EQ(same_from(record, RECORD, record[1]), 1) ||
		    !CHECK_EQ(record[0], next[writer]++ & 31))
			return;
	}
	close(fd);
}

/* Several processes write at once: by O_APPEND with files of their own, or through one file whose position
 * they share. */
static void check_together(const char *name, bool append)
{
	int fd = make(name, 0);
	pid_t pids[WRITERS];

	for (int w = 0; w < WRITERS; w++) {
		pids[w] = check_fork();
		if (pids[w] == 0)
			write_records(append ? open(name, O_WRONLY | O_APPEND) : fd, w);
	}
	for (int w = 0; w < WRITERS; w++)
		CHECK_EQ(check_wait(pids[w]), 0);
	check_records(name);
	close(fd);
}

static void written_together(void)
{
	check_together("appended", true);
	check_together("shared", false);
}

/* Through a pipe: with a position given that one moves, without it the file's. */
static void spliced(void)
{
	int fd = make("splice", 0), to = make("splice2", 0), ends[2];
	long off = 2;

	CHECK_CALL(pipe(ends));
	CHECK_EQ(write(fd, "0123456789", 10), 10);
	CHECK_EQ(CALL(splice, fd, &off, ends[1], 0, 3, 0), 3);
	CHECK_EQ(off, 5);
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), 10);
	CHECK_EQ(CALL(splice, fd, 0, ends[1], 0, 3, 0), 0);
	CHECK_EQ(CALL(lseek, fd, 8, SEEK_SET), 8);
	CHECK_EQ(CALL(splice, fd, 0, ends[1], 0, 100, 0), 2);
	CHECK_EQ(CALL(lseek, fd, 0, SEEK_CUR), 10);
	off = 7;
	CHECK_EQ(CALL(splice, ends[0], 0, to, &off, 4, 0), 4);
	CHECK_EQ(off, 11);
	CHECK_EQ(CALL(lseek, to, 0, SEEK_CUR), 0);
	CHECK_EQ(CALL(splice, ends[0], 0, to, 0, 4, SPLICE_F_NONBLOCK), 1);
	CHECK_EQ(CALL(lseek, to, 0, SEEK_CUR), 1);
	CHECK_EQ(read_at(to, block, 100, 0), 11);
	CHECK(!memcmp(block,
		      "9\0\0\0\0\0\0"
		      "2348",
		      11));
	CHECK_ERRNO(CALL(splice, ends[0], 0, to, 0, 4, SPLICE_F_NONBLOCK), EAGAIN);
	CHECK_CALL(fcntl(to, F_SETFL, O_APPEND));
	CHECK_EQ(write(ends[1], "x", 1), 1);
	CHECK_ERRNO(CALL(splice, ends[0], 0, to, 0, 1, 0), EINVAL);
}

/* Times of what a symbolic link leads to, and of the link itself; there are no other flags. */
static void times_of_a_link(void)
{
	static const struct timespec old[2] = {{1000, 1}, {2000, 2}}, older[2] = {{10, 3}, {20, 4}};
	struct stat st;

	close(make("aim", 1));
	CHECK_CALL(symlink("aim", "link"));
	CHECK_CALL(utimensat(AT_FDCWD, "link", old, 0));
	CHECK_CALL(utimensat(AT_FDCWD, "link", older, AT_SYMLINK_NOFOLLOW));
	CHECK_CALL(stat("link", &st));
	CHECK_EQ(st.st_atim.tv_sec, 1000);
	CHECK_EQ(st.st_mtim.tv_sec, 2000);
	CHECK_EQ(st.st_mtim.tv_nsec, 2);
	CHECK_CALL(lstat("link", &st));
	CHECK_EQ(st.st_mtim.tv_sec, 20);
	CHECK_EQ(st.st_mtim.tv_nsec, 4);
	CHECK_ERRNO(utimensat(AT_FDCWD, "link", old, 1), EINVAL);
}

/* When a file or folder was read last. */
static long accessed(const char *name)
{
	struct stat st = {.st_size = 0};

	CHECK_CALL(stat(name, &st));
	return st.st_atim.tv_sec * 1000000000 + st.st_atim.tv_nsec;
}

/* The first access after a change moves the time, also after a change of rights, and also of a folder. */
static void times_of_access(void)
{
	long old[4] = {1000000000, 0, 1000000000, 0}, before;
	int fd = make("accessed", 10), folder;
	char entries[512];

	CHECK_CALL(CALL(utimensat, AT_FDCWD, "accessed", old, 0));
	check_sleep(20000000); /* coarser than the clock of file systems */
	CHECK_EQ(read_at(fd, block, 1, 0), 1);
	before = accessed("accessed");
	CHECK(before > 1000000000L * 1000000000);
	check_sleep(20000000);
	CHECK_EQ(read_at(fd, block, 1, 0), 1);
	CHECK_EQ(accessed("accessed"), before);
	CHECK_CALL(chmod("accessed", 0600));
	check_sleep(20000000);
	CHECK_EQ(read_at(fd, block, 1, 0), 1);
	CHECK(accessed("accessed") > before);
	CHECK_CALL(mkdir("listed", 0755));
	before = accessed("listed");
	folder = CHECK_CALL(open("listed", O_RDONLY));
	check_sleep(20000000);
	CHECK(CALL(getdents64, folder, entries, sizeof(entries)) > 0);
	CHECK(accessed("listed") > before);
	close(folder);
	close(fd);
}

static const struct check_case cases[] = {
	{"cut", cut},
	{"emptied", emptied},
	{"behind-the-end", behind_the_end},
	{"cut-while-mapped", cut_while_mapped},
	{"mapped-and-written", mapped_and_written},
	{"holes", holes},
	{"own-positions", own_positions},
	{"half-a-buffer", half_a_buffer},
	{"appending", appending},
	{"written-together", written_together},
	{"spliced", spliced},
	{"times-of-a-link", times_of_a_link},
	{"times-of-access", times_of_access},
};

int main(int argc, char **argv)
{
	char name[32];

	snprintf(name, sizeof(name), "filetest.%d", (int)getpid());
	if (mkdir(name, 0755) || chdir(name))
		vt_die_errno(2, name);
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

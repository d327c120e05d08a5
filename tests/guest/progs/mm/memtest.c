/* memtest: address spaces: copy-on-write, brk, mmap, mprotect, what must not be touched. */
/* also on Linux */
#include <check.h>
#include <numbers.h>
#include <signal.h>
#include <sys/mman.h>

#define PAGE 4096L
#ifndef PROT_NONE
#endif
#define RW   (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static volatile char *victim;

static void read_victim(void)
{
	(void)*victim;
}

static void write_victim(void)
{
	*victim = 1;
}

/* The signal that f dies of, 0 when it lives. */
static int dies_of(void (*f)(void), void *at)
{
	int status;

	victim = at;
	status = check_in_child(f);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int protect(void *at, long size, int prot)
{
	return (int)check_syscall(SYS_mprotect, (long)at, size, prot, 0, 0, 0);
}

static char *map(long size)
{
	char *p = mmap(NULL, (size_t)size, RW, ANON, -1, 0);

	if (p == MAP_FAILED)
		vt_die_errno(2, "mmap");
	return p;
}

/* 64 pages written before fork(); parent, child and grandchild each change some and see nobody else's
 * changes. */
static void copy_on_write(void)
{
	long *page[64];
	pid_t pid, grandchild;

	for (long i = 0; i < 64; i++)
		*(page[i] = (long *)map(PAGE)) = i;
	pid = check_fork();
	if (pid == 0) {
		for (long i = 0; i < 64; i += 2)
			*page[i] += 1000;
		grandchild = check_fork();
		for (long i = 0; i < 64; i++)
			CHECK_EQ(*page[i], i % 2 ? i : i + 1000);
		if (grandchild == 0) {
			for (long i = 0; i < 64; i++)
				*page[i] = -i;
			for (long i = 0; i < 64; i++)
				CHECK_EQ(*page[i], -i);
			_exit(!!check_failures);
		}
		CHECK_EQ(check_wait(grandchild), 0);
		for (long i = 0; i < 64; i++)
			CHECK_EQ(*page[i], i % 2 ? i : i + 1000);
		_exit(!!check_failures);
	}
	for (long i = 1; i < 64; i += 2)
		*page[i] += 5000;
	CHECK_EQ(check_wait(pid), 0);
	for (long i = 0; i < 64; i++)
		CHECK_EQ(*page[i], i % 2 ? i + 5000 : i);
}

/* The kernel's own writes into a shared page copy it as well. */
static void copy_on_write_by_kernel(void)
{
	char *p = map(PAGE);
	int ends[2];
	pid_t pid;

	strcpy(p, "parent");
	CHECK_CALL(pipe(ends));
	pid = check_fork();
	if (pid == 0) {
		check_give(ends[1], 'C');
		CHECK_EQ(read(ends[0], p, 1), 1);
		_exit(strcmp(p, "Carent") != 0);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK(!strcmp(p, "parent"));
}

static void break_moves(void)
{
	char *start = sbrk(0), *p = sbrk(1 << 20);

	CHECK(p == start);
	for (long i = 0; i < 1 << 20; i += PAGE) {
		CHECK_EQ(p[i], 0);
		p[i] = 1;
	}
	CHECK(sbrk(-(1 << 20)) != (void *)-1);
	CHECK(sbrk(0) == start);
	CHECK_EQ(dies_of(write_victim, start + (1 << 19)), SIGSEGV);
	p = sbrk(1 << 20);
	CHECK_EQ(p[1 << 19], 0);
}

static void maps(void)
{
	char *p = map(16 * PAGE);

	for (long i = 0; i < 16 * PAGE; i++)
		if (p[i])
			CHECK_EQ(p[i], 0);
	p[5 * PAGE] = 'a';
	p[7 * PAGE] = 'b';
	CHECK_EQ(munmap(p + 6 * PAGE, (size_t)PAGE), 0); /* a hole in the middle */
	CHECK_EQ(dies_of(read_victim, p + 6 * PAGE), SIGSEGV);
	CHECK_EQ(p[5 * PAGE], 'a');
	CHECK_EQ(p[7 * PAGE], 'b');
	CHECK(mmap(p + 5 * PAGE, (size_t)PAGE, RW, ANON | MAP_FIXED, -1, 0) == p + 5 * PAGE);
	CHECK_EQ(p[5 * PAGE], 0);
	CHECK_EQ(munmap(p, 16 * (size_t)PAGE), 0);
	CHECK_EQ(dies_of(read_victim, p), SIGSEGV);
}

static void protection(void)
{
	char *p = map(4 * PAGE);

	p[0] = p[PAGE] = p[2 * PAGE] = 'x';
	CHECK_EQ(protect(p + PAGE, PAGE, PROT_READ), 0);
	CHECK_EQ(p[PAGE], 'x');
	CHECK_EQ(dies_of(write_victim, p + PAGE), SIGSEGV);
	CHECK_EQ(dies_of(write_victim, p), 0);
	CHECK_EQ(dies_of(write_victim, p + 2 * PAGE), 0);
	CHECK_EQ(protect(p, 4 * PAGE, PROT_NONE), 0);
	CHECK_EQ(dies_of(read_victim, p), SIGSEGV);
	CHECK_EQ(protect(p, 4 * PAGE, RW), 0);
	CHECK_EQ(p[2 * PAGE], 'x');
	p[PAGE] = 'y';
	/* What may not be read is no argument for a system call. */
	CHECK_EQ(protect(p, PAGE, PROT_NONE), 0);
	CHECK_ERRNO(open(p, O_RDONLY), EFAULT);
	CHECK_ERRNO(protect(p + 1, PAGE, RW), EINVAL);
	CHECK_ERRNO(protect((void *)0x10000, PAGE, RW), ENOMEM);
}

static void private_file(void)
{
	char text[16] = "", name[40];
	char *p;
	int fd;

	snprintf(name, sizeof(name), "/tmp/memtest.%d", getpid());
	fd = CHECK_CALL(open(name, O_RDWR | O_CREAT | O_TRUNC, 0600));
	CHECK_EQ(write(fd, "hello, mapping", 14), 14);
	p = mmap(NULL, (size_t)PAGE, RW, MAP_PRIVATE, fd, 0);
	if (!CHECK(p != MAP_FAILED))
		return;
	CHECK(!strcmp(p, "hello, mapping"));
	CHECK_EQ(p[PAGE - 1], 0);
	p[0] = 'J';
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	CHECK_EQ(read(fd, text, sizeof(text)), 14);
	CHECK(!strcmp(text, "hello, mapping"));
	CHECK_EQ(munmap(p, (size_t)PAGE), 0);
	close(fd);
	CHECK_EQ(unlink(name), 0);
}

static void bad_arguments(void)
{
	enum { SHARED_VALIDATE = 3, GROWSDOWN = 0x100, POPULATE = 0x8000, HUGETLB = 0x40000, SYNC = 0x80000 };
	int fd = CHECK_CALL(open("memtest.file", O_RDWR | O_CREAT | O_TRUNC, 0600));
	char *p;

	CHECK_CALL(check_syscall(SYS_ftruncate, fd, PAGE, 0, 0, 0, 0));
	CHECK_ERRNO((long)mmap(NULL, 0, RW, ANON, -1, 0), EINVAL);
	CHECK_ERRNO((long)mmap(NULL, (size_t)PAGE, RW, MAP_PRIVATE, 99, 0), EBADF);
	CHECK_ERRNO((long)mmap(NULL, (size_t)PAGE, RW, MAP_ANONYMOUS, -1, 0), EINVAL);
	CHECK_ERRNO((long)mmap((void *)1, (size_t)PAGE, RW, ANON | MAP_FIXED, -1, 0), EINVAL);
	CHECK_ERRNO((long)mmap(NULL, ~0UL - PAGE, RW, ANON, -1, 0), ENOMEM);
	/* Shared memory does not grow as a stack does, and without a file its flags are not checked. */
	CHECK_ERRNO((long)mmap(NULL, (size_t)PAGE, RW, MAP_SHARED | MAP_ANONYMOUS | GROWSDOWN, -1, 0), EINVAL);
	CHECK_ERRNO((long)mmap(NULL, (size_t)PAGE, RW, SHARED_VALIDATE | MAP_ANONYMOUS, -1, 0), EINVAL);
	CHECK_ERRNO((long)mmap(NULL, (size_t)PAGE, RW, SHARED_VALIDATE | SYNC, fd, 0), EOPNOTSUPP);
	CHECK_ERRNO((long)mmap(NULL, (size_t)PAGE, RW, MAP_SHARED | HUGETLB, fd, 0), EINVAL);
#ifndef __linux__ /* which may have huge pages */
	CHECK_ERRNO((long)mmap(NULL, (size_t)PAGE, RW, ANON | HUGETLB, -1, 0), EINVAL);
#endif
	CHECK((p = mmap(NULL, (size_t)PAGE, RW, SHARED_VALIDATE | POPULATE, fd, 0)) != MAP_FAILED);
	CHECK(mmap(NULL, (size_t)PAGE, RW | 0x1000, ANON, -1, 0) != MAP_FAILED);
	CHECK_EQ(check_syscall(SYS_mprotect, (long)p, PAGE, RW | 8, 0, 0, 0), 0); /* PROT_SEM */
	CHECK_ERRNO(check_syscall(SYS_mprotect, (long)p, PAGE, 1L << 32 | RW, 0, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_mremap, (long)p, PAGE, PAGE, 1L << 32, 0, 0), EINVAL);
	close(fd);
	CHECK_EQ(unlink("memtest.file"), 0);
	CHECK_ERRNO(munmap((void *)1, (size_t)PAGE), EINVAL);
	CHECK_ERRNO(munmap(NULL, 0), EINVAL);
}

static void forbidden_places(void)
{
	extern int main(int argc, char **argv);

	CHECK_EQ(dies_of(read_victim, NULL), SIGSEGV);
	CHECK_EQ(dies_of(write_victim, (void *)main), SIGSEGV);
	CHECK_EQ(dies_of(read_victim, (void *)0xffff000000080000UL), SIGSEGV);
	CHECK_EQ(dies_of(read_victim, (void *)0xffffffffffff0000UL), SIGSEGV);
	CHECK_EQ(dies_of(read_victim, (void *)0x0123456789abcdefUL), SIGSEGV);
}

static int sum(int n)
{
	volatile char room[4000];

	room[0] = (char)n;
	return n ? sum(n - 1) + room[0] - (char)n + 1 : 0;
}

static void stack_grows(void)
{
	CHECK_EQ(sum(256), 256);
}

static long remap(void *at, long old, long new, int flags)
{
	return check_syscall(SYS_mremap, (long)at, old, new, flags, 0, 0);
}

/* Grown where it is, moved, and shrunk: its pages come along, and what it leaves is not mapped. */
static void moved(void)
{
	char *p = map(200 * PAGE), *q;

	CHECK_EQ(munmap(p + 150 * PAGE, 50 * (size_t)PAGE), 0);
	for (long i = 0; i < 150; i += 2)
		p[i * PAGE] = (char)i;
	CHECK_EQ(remap(p, 150 * PAGE, 200 * PAGE, 0), (long)p);
	CHECK_EQ(p[199 * PAGE], 0);
	p[199 * PAGE] = 'e';
	CHECK_EQ(protect(p + 199 * PAGE, PAGE, PROT_READ), 0); /* so that nothing can grow up to there */
	CHECK_ERRNO(remap(p, 199 * PAGE, 201 * PAGE, 0), ENOMEM);
	q = (char *)remap(p, 199 * PAGE, 300 * PAGE, 1);
	if (!CHECK(q != MAP_FAILED && q != p))
		return;
	for (long i = 0; i < 300; i++)
		CHECK_EQ(q[i * PAGE], i < 150 && i % 2 == 0 ? (char)i : 0);
	for (long i = 0; i < 199; i += 33)
		CHECK_EQ(dies_of(read_victim, p + i * PAGE), SIGSEGV);
	CHECK_EQ(p[199 * PAGE], 'e');
	CHECK_EQ(remap(q, 300 * PAGE, 10 * PAGE, 0), (long)q);
	CHECK_EQ(q[8 * PAGE], 8);
	CHECK_EQ(dies_of(read_victim, q + 10 * PAGE), SIGSEGV);
	CHECK_ERRNO(remap(p, PAGE, 2 * PAGE, 1), EFAULT);
	CHECK_ERRNO(remap(q + 1, PAGE, PAGE, 1), EINVAL);
	CHECK_ERRNO(remap(q, PAGE, 0, 1), EINVAL);
}

/* A part from the middle of a file's mapping: the pages stay the file's, also those touched after the move.
 */
static void moved_file(void)
{
	int fd = CHECK_CALL(open("memtest.file", O_RDWR | O_CREAT | O_TRUNC, 0600));
	long number;
	char *p, *q;

	for (number = 0; number < 8; number++) {
		CHECK_EQ(lseek(fd, number * PAGE, SEEK_SET), number * PAGE);
		CHECK_EQ(write(fd, &number, sizeof(number)), sizeof(number));
	}
	p = mmap(NULL, 8 * (size_t)PAGE, RW, MAP_SHARED, fd, 0);
	CHECK_EQ(p[3 * PAGE], 3);
	q = (char *)remap(p + 3 * PAGE, 2 * PAGE, 4 * PAGE, 1);
	if (!CHECK(q != MAP_FAILED && q != p + 3 * PAGE))
		return;
	for (number = 0; number < 4; number++)
		CHECK_EQ(q[number * PAGE], number + 3);
	q[PAGE] = 'm';
	CHECK_EQ(lseek(fd, 4 * PAGE, SEEK_SET), 4 * PAGE);
	CHECK_EQ(read(fd, &number, 1), 1);
	CHECK_EQ((char)number, 'm');
	CHECK_EQ(p[2 * PAGE], 2);
	CHECK_EQ(p[5 * PAGE], 5);
	CHECK_EQ(dies_of(read_victim, p + 4 * PAGE), SIGSEGV);
	close(fd);
	CHECK_EQ(unlink("memtest.file"), 0);
}

/* MADV_DONTNEED: private memory is zeros again, a private mapping of a file the file, a shared one keeps all.
 */
static void dropped(void)
{
	enum { DONTNEED = 4 };
	int fd = CHECK_CALL(open("memtest.file", O_RDWR | O_CREAT | O_TRUNC, 0600));
	char *p = map(64 * PAGE), *private, *shared;

	for (long i = 0; i < 64; i++)
		p[i * PAGE] = 'a';
	CHECK_EQ(check_syscall(SYS_madvise, (long)p + PAGE, 62 * PAGE, DONTNEED, 0, 0, 0), 0);
	for (long i = 0; i < 64; i++)
		CHECK_EQ(p[i * PAGE], i == 0 || i == 63 ? 'a' : 0);
	CHECK_EQ(write(fd, "file", 4), 4);
	private = mmap(NULL, (size_t)PAGE, RW, MAP_PRIVATE, fd, 0);
	shared = mmap(NULL, (size_t)PAGE, RW, MAP_SHARED, fd, 0);
	private[0] = 'F';
	shared[1] = 'I';
	CHECK(!memcmp(private, "File", 4)); /* a copy from before */
	CHECK_EQ(check_syscall(SYS_madvise, (long)private, PAGE, DONTNEED, 0, 0, 0), 0);
	CHECK_EQ(check_syscall(SYS_madvise, (long)shared, PAGE, DONTNEED, 0, 0, 0), 0);
	CHECK(!memcmp(private, "fIle", 4));
	CHECK(!memcmp(shared, "fIle", 4));
	CHECK_ERRNO(check_syscall(SYS_madvise, (long)p + 1, PAGE, DONTNEED, 0, 0, 0), EINVAL);
	CHECK_EQ(munmap(p + PAGE, (size_t)PAGE), 0);
	p[2 * PAGE] = 'a';
	CHECK_ERRNO(check_syscall(SYS_madvise, (long)p, 3 * PAGE, DONTNEED, 0, 0, 0), ENOMEM);
	CHECK(!p[0] && !p[2 * PAGE]); /* a hole is told, and what lies around it is dropped */
	close(fd);
	CHECK_EQ(unlink("memtest.file"), 0);
}

/* A page that was only read, one made read-only and writable again, one whose other owner has gone: each is
 * copied when it must be, and only then. Shared memory is not. */
static void copy_on_write_corners(void)
{
	char *read_only = map(PAGE), *back = map(PAGE), *kept = map(PAGE);
	char *shared = mmap(NULL, (size_t)PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid, second;

	CHECK_EQ(read_only[0], 0);
	back[0] = kept[0] = shared[0] = 'p';
	pid = check_fork();
	if (pid == 0) {
		read_only[0] = 'c';
		CHECK_EQ(protect(back, PAGE, PROT_READ), 0);
		CHECK_EQ(protect(back, PAGE, RW), 0);
		back[0] = 'c';
		shared[0] = 'c';
		second = check_fork();
		if (second == 0) {
			CHECK_EQ(read_only[0], 'c');
			read_only[0] = back[0] = kept[0] = 's';
			_exit(!!check_failures);
		}
		CHECK_EQ(check_wait(second), 0);
		CHECK_EQ(read_only[0], 'c');
		CHECK_EQ(back[0], 'c');
		CHECK_EQ(kept[0], 'p');
		_exit(!!check_failures);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(read_only[0], 0);
	CHECK_EQ(back[0], 'p');
	CHECK_EQ(kept[0], 'p');
	CHECK_EQ(shared[0], 'c');
	CHECK_EQ(map(PAGE)[0], 0); /* the page of zeros that all read is still one */
	kept[1] = 'q';
	CHECK_EQ(kept[0], 'p');
}

/* Touched pages come back when the process ends: more than there is, again and again. */
static void touch_all(void)
{
	char *p = map(16 << 20);

	for (long i = 0; i < 16 << 20; i += PAGE)
		p[i] = 1;
}

static void pages_come_back(void)
{
	for (int i = 0; i < 20; i++)
		CHECK_EQ(check_in_child(touch_all), 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"copy-on-write", copy_on_write},
		{"copy-on-write-by-kernel", copy_on_write_by_kernel},
		{"brk", break_moves},
		{"maps", maps},
		{"protection", protection},
		{"private-file", private_file},
		{"bad-arguments", bad_arguments},
		{"forbidden", forbidden_places},
		{"stack", stack_grows},
		{"pages-come-back", pages_come_back},
		{"moved", moved},
		{"moved-file", moved_file},
		{"dropped", dropped},
		{"copy-on-write-corners", copy_on_write_corners},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

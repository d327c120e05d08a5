/* locktest: mlock(2) and its kin, and RLIMIT_MEMLOCK. */
/* also on Linux */
#include <thread.h>
#include <posix.h>
#include <fcntl.h>

#define PAGE   4096L
#define LOCKED 0x2000
#define RW     (PROT_READ | PROT_WRITE)
#define ANON   (MAP_PRIVATE | MAP_ANONYMOUS)

static long lock(void *at, long size)
{
	return check_syscall(SYS_mlock, (long)at, size, 0, 0, 0, 0);
}

static long lock2(void *at, long size, long flags)
{
	return check_syscall(SYS_mlock2, (long)at, size, flags, 0, 0, 0);
}

static long unlock(void *at, long size)
{
	return check_syscall(SYS_munlock, (long)at, size, 0, 0, 0, 0);
}

static long lock_all(long flags)
{
	return check_syscall(SYS_mlockall, flags, 0, 0, 0, 0, 0);
}

static long protect(void *at, long size, long prot)
{
	return check_syscall(SYS_mprotect, (long)at, size, prot, 0, 0, 0);
}

/* VmLck in pages. */
static long locked(void)
{
	char *text = vt_read_file("/proc/self/status", NULL), *at = text ? strstr(text, "VmLck:") : NULL;
	long kib = at ? strtol(at + 6, NULL, 10) : -1;

	free(text);
	return kib / (PAGE / 1024);
}

static int present(char *at, int pages)
{
	unsigned char vec[64];
	int n = 0;

	CHECK_EQ(check_syscall(SYS_mincore, (long)at, pages * PAGE, (long)vec, 0, 0, 0), 0);
	for (int i = 0; i < pages; i++)
		n += vec[i] & 1;
	return n;
}

static char *map(int pages)
{
	return mmap(NULL, (size_t)(pages * PAGE), RW, ANON, -1, 0);
}

static void ranges(void)
{
	char *p = map(16);

	CHECK_EQ(locked(), 0);
	CHECK_EQ(lock(p + 5, PAGE), 0); /* reaches into two pages */
	CHECK_EQ(locked(), 2);
	CHECK_EQ(present(p, 16), 2);
	CHECK_EQ(lock(p, 4 * PAGE), 0);
	CHECK_EQ(locked(), 4);
	CHECK_EQ(unlock(p + PAGE, PAGE), 0);
	CHECK_EQ(locked(), 3);
	CHECK_EQ(present(p, 16), 4);
	CHECK_CALL(munmap(p, 2 * PAGE));
	CHECK_EQ(locked(), 2);
	CHECK_CALL(protect(p + 2 * PAGE, PAGE, PROT_READ));
	CHECK_EQ(locked(), 2);
	CHECK_EQ(lock2(p + 8 * PAGE, 4 * PAGE, 1), 0); /* when they are touched */
	CHECK_EQ(present(p + 8 * PAGE, 4), 0);
	CHECK_EQ(locked(), 6);
	p[8 * PAGE] = 1;
	CHECK_EQ(present(p + 8 * PAGE, 4), 1);
	CHECK_ERRNO(check_syscall(SYS_madvise, (long)p + 8 * PAGE, PAGE, 4, 0, 0, 0), EINVAL);
	CHECK_EQ(lock(p + 8 * PAGE, 0), 0);
	CHECK_EQ(unlock(p + 8 * PAGE, 4 * PAGE), 0);
	CHECK_EQ(check_syscall(SYS_madvise, (long)p + 8 * PAGE, PAGE, 4, 0, 0, 0), 0);
	CHECK_EQ(locked(), 2);
	CHECK_EQ(check_syscall(SYS_msync, (long)p + 2 * PAGE, PAGE, 1, 0, 0, 0), 0);
	CHECK_ERRNO(check_syscall(SYS_msync, (long)p + 2 * PAGE, PAGE, 2, 0, 0, 0), EBUSY); /* MS_INVALIDATE */
	CHECK_EQ(check_syscall(SYS_msync, (long)p + 8 * PAGE, PAGE, 2, 0, 0, 0), 0);
	CHECK_ERRNO(lock2(p, PAGE, 2), EINVAL);
	CHECK_ERRNO(lock(p, -PAGE), EINVAL);
	CHECK_ERRNO(unlock(p, -PAGE), EINVAL);
}

static void holes(void)
{
	char *p = map(8);

	CHECK_CALL(munmap(p + 2 * PAGE, PAGE));
	CHECK_ERRNO(lock(p, 8 * PAGE), ENOMEM);
	CHECK_EQ(locked(), 2); /* what is in front of the hole */
	CHECK_ERRNO(unlock(p + PAGE, 2 * PAGE), ENOMEM);
	CHECK_EQ(locked(), 1);
	CHECK_ERRNO(lock((void *)8, PAGE), ENOMEM);
	CHECK_CALL(protect(p + 4 * PAGE, PAGE, PROT_NONE));
	CHECK_ERRNO(lock(p + 3 * PAGE, 3 * PAGE), ENOMEM); /* it cannot be touched, and is locked all the same */
	CHECK_EQ(locked(), 4);
}

static void is_unlocked(void)
{
	CHECK_EQ(locked(), 0);
}

static void all(void)
{
	char *p = map(4), *q;
	int status;

	CHECK_ERRNO(lock_all(0), EINVAL);
	CHECK_ERRNO(lock_all(4), EINVAL);
	CHECK_ERRNO(lock_all(8), EINVAL);
	CHECK_ERRNO(lock_all(~0L), EINVAL);
	if (geteuid()) /* it may be more than the limit */
		return;
	CHECK_EQ(lock_all(1), 0);
	CHECK_EQ(present(p, 4), 4);
	CHECK(locked() > 20);
	q = map(4);
	CHECK_EQ(present(q, 4), 0);
	CHECK_EQ(lock_all(3), 0);
	CHECK_EQ(present(map(4), 4), 4);
	status = check_in_child(is_unlocked); /* locks are not inherited */
	CHECK_EQ(status, 0);
	CHECK_EQ(lock_all(2 | 4), 0);
	CHECK_EQ(present(map(4), 4), 0);
	CHECK_EQ(check_syscall(SYS_munlockall, 0, 0, 0, 0, 0, 0), 0);
	CHECK_EQ(locked(), 0);
	q = mmap(NULL, 4 * PAGE, RW, ANON | LOCKED, -1, 0);
	CHECK_EQ(present(q, 4), 4);
	CHECK_EQ(locked(), 4);
	q = (char *)check_syscall(SYS_mremap, (long)q, 4 * PAGE, 8 * PAGE, 1, 0, 0);
	CHECK_EQ(present(q, 8), 8);
	CHECK_EQ(locked(), 8);
	CHECK_CALL(munmap(q, 8 * PAGE));
	CHECK_EQ(locked(), 0);
}

/* Another user, with a limit of 4 pages, then of none. */
static void as_user(void)
{
	struct rlimit limit = {4 * PAGE, 4 * PAGE};
	char *p = map(16), *q;

	CHECK_CALL(setrlimit(RLIMIT_MEMLOCK, &limit));
	if (!geteuid())
		CHECK_CALL(check_syscall(SYS_setresuid, 1000, 1000, 1000, 0, 0, 0));
	CHECK_EQ(lock(p, 4 * PAGE), 0);
	CHECK_ERRNO(lock(p + 4 * PAGE, PAGE), ENOMEM);
	CHECK_EQ(lock(p, 4 * PAGE), 0); /* what is locked does not count twice */
	CHECK_ERRNO(lock(p + PAGE, 4 * PAGE), ENOMEM);
	CHECK_ERRNO(lock_all(1), ENOMEM);
	q = mmap(NULL, PAGE, RW, ANON | LOCKED, -1, 0);
	CHECK(q == MAP_FAILED && errno == EAGAIN);
	CHECK_EQ(unlock(p, PAGE), 0);
	q = mmap(NULL, PAGE, RW, ANON | LOCKED, -1, 0);
	CHECK_EQ(present(q, 1), 1);
	CHECK_ERRNO(check_syscall(SYS_mremap, (long)q, PAGE, 2 * PAGE, 1, 0, 0), EAGAIN);
	CHECK_EQ(unlock(p + PAGE, PAGE), 0);
	q = (char *)check_syscall(SYS_mremap, (long)q, PAGE, 2 * PAGE, 1, 0, 0); /* the one page that may be locked */
	CHECK_EQ(present(q, 2), 2);
	CHECK_EQ(locked(), 4);
	CHECK_CALL(munmap(q, 2 * PAGE));
	limit.rlim_cur = 0;
	CHECK_CALL(setrlimit(RLIMIT_MEMLOCK, &limit));
	CHECK_ERRNO(lock(p, PAGE), EPERM);
	CHECK_ERRNO(lock_all(2), EPERM);
	q = mmap(NULL, PAGE, RW, ANON | LOCKED, -1, 0);
	CHECK(q == MAP_FAILED && errno == EPERM);
	CHECK_EQ(unlock(p, 16 * PAGE), 0);
	CHECK_EQ(locked(), 0);
}

static char *arena;

static void locks_and_unlocks(void *arg)
{
	long seed = (long)arg;

	for (int i = 0; i < 3000; i++) {
		long at = (seed = seed * 1103515245 + 12345) >> 8 & 15, n = 1 + (seed >> 20 & 3);

		vt_syscall(i & 1 ? SYS_mlock : SYS_munlock, (long)arena + at * PAGE, n * PAGE, 0, 0, 0, 0);
		if (i % 16 == 0)
			vt_syscall(SYS_mprotect, (long)arena + at * PAGE, n * PAGE, i & 16 ? PROT_READ : RW, 0, 0, 0);
	}
}

/* Two tasks at once: what is counted at the end is what is locked. */
static void together(void)
{
	pid_t threads[2];

	arena = map(20);
	for (long t = 0; t < 2; t++)
		threads[t] = thread_start(-1, locks_and_unlocks, (void *)(t + 7));
	CHECK(thread_join(threads, 2));
	CHECK_EQ(unlock(arena, 20 * PAGE), 0);
	CHECK_EQ(locked(), 0);
	CHECK_EQ(lock(arena, 20 * PAGE), 0);
	CHECK_EQ(locked(), 20);
}

static const struct check_case cases[] = {
	{"ranges", ranges}, {"holes", holes}, {"all", all}, {"as_user", as_user}, {"together", together},
};

int main(int argc, char **argv)
{
	check_seconds = 60;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

/*
 * tlbtest: what one thread changes in an address space holds for the threads on other CPUs as soon as the
 * call returns. Each case has threads that keep using a page, so that their CPUs have it in their TLBs all
 * the time.
 */
/* also on Linux */
#include <numbers.h>
#include <signal.h>
#include <sys/mman.h>
#include <thread.h>

#define PAGE	 4096L
#define RW	 (PROT_READ | PROT_WRITE)
#define ANON	 (MAP_PRIVATE | MAP_ANONYMOUS)
#define ROUNDS	 40
#define PATTERN	 0x5a5a5a5a5a5a5a5aL
#define WHILE_NS 200000	      /* what is changed behind our back would show within this time */
#define SOON_NS	 10000000000L /* what does not come within this time does not come */

static volatile long *page;
static volatile long running, stop, frozen, thaw;

static void *map_at(void *at, long size)
{
	void *p = mmap(at, (size_t)size, RW, ANON | (at ? MAP_FIXED : 0), -1, 0);

	if (p == MAP_FAILED)
		vt_die_errno(2, "mmap");
	return p;
}

static void spin(long ns)
{
	long end = check_now() + ns;

	while (check_now() < end)
		;
}

/* Waits for the other thread, at work: until *value is no longer `old`. */
static bool changes(volatile long *value, long old)
{
	for (long end = check_now() + SOON_NS; *value == old;)
		if (check_now() > end)
			return false;
	return true;
}

/* Counts in the page until it is told to stop. */
static void writer(void *arg)
{
	__atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
	for (long i = 1; !stop; i++)
		page[(long)arg] = i;
}

/* A writer on each CPU but ours, all of them at work when it returns. */
static int start_writers(pid_t *pids)
{
	int n = check_cpus() - 1;

	page = map_at(NULL, PAGE);
	running = stop = 0;
	if (n > THREAD_MAX)
		n = THREAD_MAX;
	for (int i = 0; i < n; i++)
		pids[i] = thread_start(i + 1, writer, (void *)(long)i);
	check_pin(0);
	while (running < n)
		check_sleep(100000);
	return n;
}

static void stop_writers(const pid_t *pids, int n)
{
	stop = 1;
	CHECK(thread_join(pids, n));
}

static void map_anew(void)
{
	map_at((void *)page, PAGE);
}

static void drop(void)
{
	CHECK_CALL(check_syscall(SYS_madvise, (long)page, PAGE, 4 /* MADV_DONTNEED */, 0, 0, 0));
}

/* A page is taken away; its frame is given to us for something else: nobody writes to it any more. */
static void check_frame_is_free(void (*take_away)(void))
{
	pid_t pids[THREAD_MAX];
	int n = start_writers(pids);
	long *other = map_at(NULL, 4 * PAGE), bad = 0;

	for (int round = 0; round < ROUNDS && !bad; round++) {
		take_away();
		map_at(other, 4 * PAGE);
		for (long i = 0; i < 4 * PAGE / 8; i++)
			other[i] = PATTERN;
		spin(WHILE_NS / 4);
		for (long i = 0; i < 4 * PAGE / 8; i++)
			bad += ((volatile long *)other)[i] != PATTERN;
	}
	CHECK_EQ(bad, 0);
	stop_writers(pids, n);
}

static void replaced(void)
{
	check_frame_is_free(map_anew);
}

static void dropped(void)
{
	check_frame_is_free(drop);
}

/* The child has the memory of the moment of fork(): what other threads write after it is the parent's alone.
 */
static void forked(void)
{
	pid_t pids[THREAD_MAX];
	int n = start_writers(pids);

	for (int round = 0; round < ROUNDS / 2 && !check_failures; round++) {
		pid_t pid = check_fork();

		if (pid == 0) {
			long seen[THREAD_MAX], bad = 0;

			for (int i = 0; i < n; i++)
				seen[i] = page[i];
			spin(WHILE_NS);
			for (int i = 0; i < n; i++)
				bad += page[i] != seen[i];
			_exit(bad != 0);
		}
		CHECK_EQ(check_wait(pid), 0);
	}
	stop_writers(pids, n);
}

static void on_fault(int signal)
{
	__atomic_add_fetch(&frozen, 1, __ATOMIC_SEQ_CST);
	while (!thaw)
		;
}

/* Writers that fault wait in their handler until the page may be written again. */
static void patient_writer(void *arg)
{
	signal(SIGSEGV, on_fault);
	writer(arg);
}

static void protect(int prot)
{
	CHECK_CALL(check_syscall(SYS_mprotect, (long)page, PAGE, prot, 0, 0, 0));
}

/* Read-only from the moment that mprotect() returns, and writable again from the next. */
static void protected(void)
{
	pid_t pid;

	page = map_at(NULL, PAGE);
	running = stop = 0;
	pid = thread_start(1, patient_writer, NULL);
	check_pin(0);
	while (!running)
		check_sleep(100000);
	for (int round = 0; round < ROUNDS && !check_failures; round++) {
		long seen;

		frozen = thaw = 0;
		protect(PROT_READ);
		seen = *page;
		spin(WHILE_NS / 20);
		CHECK_EQ(*page, seen);
		CHECK(changes(&frozen, 0));
		CHECK_EQ(*page, seen);
		protect(RW);
		thaw = 1;
		CHECK(changes(page, seen));
	}
	stop = 1;
	CHECK(thread_join(&pid, 1));
}

/*
 * What was unmapped, or has moved away, is out of the other thread's reach when the call returns: it faults.
 * Where the page is now it does not change any more.
 */
static void check_out_of_reach(bool move)
{
	pid_t pid;

	page = map_at(NULL, 2 * PAGE);
	CHECK_CALL(
		check_syscall(SYS_mprotect, (long)page + PAGE, PAGE, PROT_READ, 0, 0, 0)); /* nothing grows into it */
	running = stop = 0;
	pid = thread_start(1, patient_writer, NULL);
	check_pin(0);
	while (!running)
		check_sleep(100000);
	for (int round = 0; round < ROUNDS && !check_failures; round++) {
		volatile long *now = NULL;
		long seen = 0;

		frozen = thaw = 0;
		if (move)
			now = (long *)CHECK_CALL(check_syscall(SYS_mremap, (long)page, PAGE, 2 * PAGE, 1, 0, 0));
		else
			CHECK_CALL(munmap((void *)page, PAGE));
		if (now)
			seen = *now;
		spin(WHILE_NS / 20);
		if (now) {
			CHECK_EQ(*now, seen);
			CHECK_CALL(munmap((void *)now, 2 * PAGE));
		}
		CHECK(changes(&frozen, 0));
		map_at((void *)page, PAGE);
		thaw = 1;
		CHECK(changes(page, 0));
	}
	stop = 1;
	CHECK(thread_join(&pid, 1));
}

static void unmapped(void)
{
	check_out_of_reach(false);
}

static void moved(void)
{
	check_out_of_reach(true);
}

/* Sleeps all the time, so that its CPU is idle when the page changes, and looks at it when it wakes. */
static void sleeper(void *arg)
{
	long seen = 0;

	__atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
	while (!stop) {
		long now = page[0];

		if (now < seen || page[1] != PATTERN)
			_exit(4);
		seen = now;
		check_sleep(50000);
	}
}

static void nothing(void)
{
}

/* What an idle CPU has kept of our address space follows the changes, or is gone when the CPU comes back to
 * it. */
static void idle_cpus(void)
{
	pid_t pids[THREAD_MAX];
	int n = check_cpus() - 1;

	page = map_at(NULL, PAGE);
	page[1] = PATTERN;
	running = stop = 0;
	if (n > THREAD_MAX)
		n = THREAD_MAX;
	for (int i = 0; i < n; i++)
		pids[i] = thread_start(i + 1, sleeper, NULL);
	check_pin(0);
	while (running < n)
		check_sleep(100000);
	for (long round = 1; round <= ROUNDS; round++) {
		page[0] = round; /* the fork before has shared it: this is a copy */
		CHECK_EQ(check_in_child(nothing), 0);
		check_sleep(round % 3 * 40000);
	}
	stop_writers(pids, n);
}

/*
 * Maps, fills, checks and unmaps, more and fewer pages than it takes to flush everything. Its number is in
 * each word.
 */
static void mapper(void *arg)
{
	for (long round = 1; round <= ROUNDS; round++) {
		long size = (1 + 2 * round % 80) * PAGE, mark = round << 8 | (long)arg, bad = 0;
		long *p = mmap(NULL, (size_t)size, RW, ANON, -1, 0);

		if (p == MAP_FAILED)
			_exit(2);
		for (long i = 0; i < size / 8; i += 128)
			p[i] = mark;
		for (long i = 0; i < size / 8; i += 128)
			bad += ((volatile long *)p)[i] != mark;
		if (bad || munmap(p, (size_t)size))
			_exit(3);
	}
}

/* All CPUs flush at each other at the same time, and none waits for ever. */
static void all_at_once(void)
{
	pid_t pids[THREAD_MAX];
	int n = check_cpus();

	if (n > THREAD_MAX)
		n = THREAD_MAX;
	for (int i = 0; i < n; i++)
		pids[i] = thread_start(i, mapper, (void *)(long)i);
	CHECK(thread_join(pids, n));
}

static const struct check_case cases[] = {
	{"replaced", replaced}, {"dropped", dropped},	  {"unmapped", unmapped},   {"moved", moved},
	{"forked", forked},	{"protected", protected}, {"idle_cpus", idle_cpus}, {"all_at_once", all_at_once}};

int main(int argc, char **argv)
{
	return check_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

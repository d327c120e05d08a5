/* futextest: futex(2): which waiters wake, how many, when a wait ends by itself or by a signal, and what is
 * refused. */
/* also on Linux */
#include <sleepers.h>
#include <signal.h>
#include <sys/mman.h>
#include <thread.h>

#define WORDS 1024 /* of a page */
#define MS    1000000L
#define WAIT  (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)

static futex_t words[WORDS] __attribute__((aligned(4096)));
static struct sleeper s[THREAD_MAX];

/* --- waking --- */

static void wake_counts(void)
{
	sleepers_start(s, 6, words, 0);
	CHECK_EQ(futex_wake(words, 1), 1);
	CHECK(sleepers_woken(s, 1)); /* who came first */
	CHECK(sleepers_sleep(s + 1, 5));
	CHECK_EQ(futex_wake(words, 2), 2);
	CHECK(sleepers_woken(s + 1, 2));
	CHECK(sleepers_sleep(s + 3, 3));
	CHECK_EQ(futex_wake(words, ALL), 3);
	CHECK(sleepers_woken(s + 3, 3));
	CHECK_EQ(futex_wake(words, ALL), 0);
}

/* Waking "none" wakes one: so old that programs may count on it. */
static void wake_at_least_one(void)
{
	sleepers_start(s, 3, words, 0);
	CHECK_EQ(futex_wake(words, 0), 1);
	CHECK(sleepers_woken(s, 1));
	CHECK_EQ(futex_wake(words, -5u), 1);
	CHECK(sleepers_woken(s + 1, 1));
	CHECK(sleepers_sleep(s + 2, 1));
	CHECK_EQ(futex_wake(words, 1), 1);
	CHECK(sleepers_woken(s + 2, 1));
}

static long requeue(futex_t *from, futex_t *to, int wake, int move)
{
	return futex(from, FUTEX_REQUEUE | FUTEX_PRIVATE_FLAG, (unsigned)wake, VAL2(move), to, 0);
}

/* Of 1,023 other words some are in the same queue of the kernel's. */
static void wake_other_words(void)
{
	long woken = 0;

	sleepers_start(s, 2, words, 0);
	for (int i = 1; i < WORDS; i++) {
		woken += futex_wake(words + i, ALL);
		woken += requeue(words + i, words + i / 2 + 1, 1, ALL);
	}
	CHECK_EQ(woken, 0);
	CHECK(sleepers_sleep(s, 2));
	CHECK_EQ(futex_wake(words, ALL), 2);
	CHECK(sleepers_woken(s, 2));
}

static void value_differs(void)
{
	struct timespec soon = {.tv_nsec = 1};

	words[0] = 7;
	CHECK_EQ(futex(words, WAIT, 8, NULL, NULL, 0), -EAGAIN);
	CHECK_EQ(futex(words, WAIT, 8, &soon, NULL, 0), -EAGAIN);
	CHECK_EQ(futex(words, FUTEX_WAIT, 8, NULL, NULL, 0), -EAGAIN);
	CHECK_EQ(futex(words, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 8, NULL, NULL, 1), -EAGAIN);
	CHECK_EQ(futex_wake(words, ALL), 0); /* and nobody is left in the queue */
	/* All 32 bits count. */
	CHECK_EQ(futex(words, WAIT, 7 | 1u << 31, NULL, NULL, 0), -EAGAIN);
}

static long wake_bits(unsigned n, unsigned bits)
{
	return futex(words, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, n, NULL, NULL, bits);
}

static void bitsets(void)
{
	static const unsigned bits[] = {1, 2, 6, 1u << 31, FUTEX_BITSET_ANY};

	for (int i = 0; i < 5; i++) {
		s[i] = (struct sleeper){.word = words, .op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, .bitset = bits[i]};
		sleeper_start(&s[i]);
		CHECK(sleeper_sleeps(&s[i]));
	}
	sleepers_start(s + 5, 1, words, 0); /* has all bits as well */
	CHECK_EQ(wake_bits(ALL, 0), -EINVAL);
	CHECK_EQ(wake_bits(1, 8), 1); /* passes four by */
	CHECK(sleepers_woken(s + 4, 1));
	CHECK(sleepers_sleep(s, 4));
	CHECK_EQ(wake_bits(ALL, 2), 3);
	CHECK(sleepers_woken(s + 1, 2));
	CHECK(sleepers_woken(s + 5, 1));
	CHECK(sleepers_sleep(s, 1));
	CHECK(sleepers_sleep(s + 3, 1));
	CHECK_EQ(wake_bits(ALL, 0x7ffffffe), 0);
	CHECK_EQ(wake_bits(ALL, 1u << 31), 1);
	CHECK(sleepers_woken(s + 3, 1));
	CHECK_EQ(futex_wake(words, ALL), 1); /* a wake without bits has all */
	CHECK(sleepers_woken(s, 1));
	CHECK_EQ(futex(words, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0), -EINVAL);
}

/* --- requeueing --- */

static void requeue_counts(void)
{
	futex_t *a = words, *b = words + 1;

	sleepers_start(s + 6, 1, b, 0); /* is there first */
	sleepers_start(s, 6, a, 0);
	CHECK_EQ(requeue(a, b, 0, 0), 0);
	CHECK_EQ(requeue(a, b, 1, 2), 3);
	CHECK(sleepers_woken(s, 1));
	CHECK(sleepers_sleep(s + 1, 6));
	CHECK_EQ(futex_wake(b, 2), 2);
	CHECK(sleepers_woken(s + 6, 1)); /* who was moved goes behind who was there */
	CHECK(sleepers_woken(s + 1, 1));
	CHECK(sleepers_sleep(s + 2, 4));
	CHECK_EQ(futex_wake(b, ALL), 1);
	CHECK(sleepers_woken(s + 2, 1));
	CHECK_EQ(requeue(a, b, 2, 0), 2);
	CHECK(sleepers_woken(s + 3, 2));
	CHECK_EQ(futex_wake(b, ALL), 0);
	CHECK_EQ(requeue(a, b, 0, 5), 1);
	CHECK_EQ(futex_wake(a, ALL), 0);
	CHECK_EQ(futex_wake(b, ALL), 1);
	CHECK(sleepers_woken(s + 5, 1));
}

/* As C libraries broadcast a condition variable: wake one, move all others. */
static void requeue_all(void)
{
	sleepers_start(s, 4, words, 0);
	CHECK_EQ(requeue(words, words + 1, 1, ALL), 4);
	CHECK(sleepers_woken(s, 1));
	CHECK(sleepers_sleep(s + 1, 3));
	CHECK_EQ(futex_wake(words + 1, ALL), 3);
	CHECK(sleepers_woken(s + 1, 3));
	sleepers_start(s, 3, words, 0);
	CHECK_EQ(requeue(words, words + 1, ALL, ALL), 3);
	CHECK(sleepers_woken(s, 3));
}

/* Once around the page: from queue to queue, and within one. */
static void requeue_around(void)
{
	long moved = 0;

	sleepers_start(s, 2, words, 0);
	for (int i = 0; i < WORDS; i++) {
		moved += requeue(words + i, words + (i + 1) % WORDS, 0, ALL);
		moved += futex_wake(words + i, ALL);
	}
	CHECK_EQ(moved, 2 * WORDS);
	CHECK_EQ(requeue(words, words, 0, ALL), 2); /* to where they are */
	CHECK(sleepers_sleep(s, 2));
	CHECK_EQ(futex_wake(words, 1), 1);
	CHECK(sleepers_woken(s, 1));
	CHECK_EQ(futex_wake(words, ALL), 1);
	CHECK(sleepers_woken(s + 1, 1));
}

static long cmp_requeue(int wake, int move, unsigned expected)
{
	return futex(words, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, (unsigned)wake, VAL2(move), words + 1, expected);
}

static void requeue_compares(void)
{
	words[0] = 5;
	sleepers_start(s, 4, words, 5);
	CHECK_EQ(cmp_requeue(1, 2, 6), -EAGAIN);
	CHECK_EQ(futex_wake(words + 1, ALL), 0);
	CHECK(sleepers_sleep(s, 4));
	CHECK_EQ(cmp_requeue(1, 1, 5), 2);
	CHECK(sleepers_woken(s, 1));
	CHECK_EQ(futex_wake(words + 1, ALL), 1);
	CHECK(sleepers_woken(s + 1, 1));
	words[0] = 6;
	CHECK_EQ(cmp_requeue(0, 1, 5), -EAGAIN);
	CHECK_EQ(cmp_requeue(1, ALL, 6), 2);
	CHECK(sleepers_woken(s + 2, 1));
	CHECK_EQ(futex_wake(words + 1, ALL), 1);
	CHECK(sleepers_woken(s + 3, 1));
}

/* Who was moved keeps its time-out and its bits, and leaves the queue that it is in now. */
static void requeued_ends(void)
{
	struct timespec end = later(300 * MS);

	s[0] = (struct sleeper){.word = words, .op = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, .bitset = 4, .time = &end};
	sleeper_start(&s[0]);
	CHECK_EQ(requeue(words, words + 1, 0, 1), 1);
	CHECK_EQ(futex(words + 1, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, ALL, NULL, NULL, ~4u), 0);
	CHECK_EQ(sleeper_join(&s[0]), -ETIMEDOUT);
	CHECK_EQ(futex_wake(words + 1, ALL), 0);
}

/* --- whose memory --- */

/* Memory of one process each after fork(): the same address, two words. */
static void forked_apart(void)
{
	struct sleeper *other = (struct sleeper *)shared_words(WORDS);

	*other = (struct sleeper){.word = words, .op = FUTEX_WAIT, .forked = true};
	words[0] = 0;
	sleeper_start(other);
	CHECK_EQ(futex_wake(words, ALL), 0);
	CHECK_EQ(futex(words, FUTEX_WAKE, ALL, NULL, NULL, 0), 0);
	CHECK(sleepers_sleep(other, 1));
	kill(other->pid, SIGKILL);
	check_wait(other->pid);
}

static void shared_between(void)
{
	futex_t *word = shared_words(WORDS);
	struct sleeper *other = (struct sleeper *)(word + 16);

	*other = (struct sleeper){.word = word, .op = FUTEX_WAIT, .forked = true};
	sleeper_start(other);
	CHECK(sleepers_sleep(other, 1));
	CHECK_EQ(futex_wake(word, ALL), 0); /* as private memory it is another's */
	CHECK_EQ(futex(word + 1, FUTEX_WAKE, ALL, NULL, NULL, 0), 0);
	CHECK_EQ(futex(word, FUTEX_WAKE, ALL, NULL, NULL, 0), 1);
	CHECK(sleepers_woken(other, 1));
}

/* One page of a file at two addresses, and once more for a private mapping of it, which is nobody else's. */
static void two_addresses(void)
{
	futex_t *a, *b, *c;
	char name[40];
	int fd;

	snprintf(name, sizeof(name), "/tmp/futextest.%d", getpid());
	fd = CHECK_CALL(open(name, O_RDWR | O_CREAT | O_TRUNC, 0600));
	CHECK_CALL(unlink(name));
	CHECK_CALL(ftruncate(fd, 8192));
	a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	b = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	c = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 4096);
	if (!CHECK(a != MAP_FAILED && b != MAP_FAILED && c != MAP_FAILED))
		return;
	c[9] = 0;
	s[0] = (struct sleeper){.word = a + 1024 + 9, .op = FUTEX_WAIT};
	sleeper_start(&s[0]);
	CHECK_EQ(futex(a + 9, FUTEX_WAKE, ALL, NULL, NULL, 0), 0);
	CHECK_EQ(futex(c + 9, FUTEX_WAKE, ALL, NULL, NULL, 0), 0);
	CHECK_EQ(futex(b + 8, FUTEX_WAKE, ALL, NULL, NULL, 0), 0);
	CHECK_EQ(futex(b + 9, FUTEX_WAKE, ALL, NULL, NULL, 0), 1);
	CHECK(sleepers_woken(s, 1));
	close(fd);
}

/*
 * A thread waits for a word of shared memory, which is unmapped meanwhile. Another mapping is other memory, though it
 * may get the page: the thread must not be woken in the place of a task that waits there.
 */
static void unmapped(void)
{
	struct timespec second = {.tv_sec = 1};
	futex_t *word = shared_words(WORDS);

	s[0] = (struct sleeper){.word = word, .op = FUTEX_WAIT, .time = &second};
	sleeper_start(s);
	CHECK(sleepers_sleep(s, 1));
	munmap(word, sizeof(*word) * WORDS);
	for (int i = 0; i < 100; i++) {
		word = shared_words(WORDS);
		CHECK_EQ(futex(word, FUTEX_WAKE, ALL, NULL, NULL, 0), 0);
	}
	CHECK_EQ(sleeper_join(s), -ETIMEDOUT);
}

/* Private and shared operations on private memory do not meet either. */
static void private_and_shared(void)
{
	sleepers_start(s, 1, words, 0);
	s[1] = (struct sleeper){.word = words, .op = FUTEX_WAIT};
	sleeper_start(&s[1]);
	CHECK_EQ(futex(words, FUTEX_WAKE, ALL, NULL, NULL, 0), 1);
	CHECK(sleepers_woken(s + 1, 1));
	CHECK(sleepers_sleep(s, 1));
	CHECK_EQ(futex_wake(words, ALL), 1);
	CHECK(sleepers_woken(s, 1));
}

/* --- what is refused --- */

static void errors(void)
{
	char *gap = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	futex_t *nowhere = (futex_t *)(gap + 4096), *odd = (futex_t *)((char *)words + 2);
	static const struct timespec bad[] = {
		{.tv_nsec = 1000000000}, {.tv_nsec = -1}, {.tv_sec = -1}, {.tv_sec = 1, .tv_nsec = 0x7fffffffffffffff}};

	CHECK_EQ(munmap(nowhere, 4096), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(futex(words, WAIT, 0, &bad[i], NULL, 0), -EINVAL);
		CHECK_EQ(futex(words, FUTEX_WAIT_BITSET, 0, &bad[i], NULL, 1), -EINVAL);
	}
	CHECK_EQ(futex(words, WAIT, 0, nowhere, NULL, 0), -EFAULT);
	CHECK_EQ(futex(words, WAIT, 0, (char *)nowhere - 8, NULL, 0), -EFAULT);

	/* A misaligned word, by every operation, before anybody looks whether it is there. */
	CHECK_EQ(futex(odd, WAIT, 0, NULL, NULL, 0), -EINVAL);
	CHECK_EQ(futex(odd, FUTEX_WAKE, 1, NULL, NULL, 0), -EINVAL);
	CHECK_EQ(futex((futex_t *)1, WAIT, 0, NULL, NULL, 0), -EINVAL);
	CHECK_EQ(requeue(odd, words, 1, 1), -EINVAL);
	CHECK_EQ(requeue(words, odd, 1, 1), -EINVAL);
	CHECK_EQ(requeue(words, words + 1, -1, 1), -EINVAL);
	CHECK_EQ(requeue(words, words + 1, 1, -1), -EINVAL);

	/* Memory that is not there. A wake of private memory does not look at it. */
	for (int private = 0; private <= FUTEX_PRIVATE_FLAG; private += FUTEX_PRIVATE_FLAG) {
		CHECK_EQ(futex(nowhere, FUTEX_WAIT | private, 0, NULL, NULL, 0), -EFAULT);
		CHECK_EQ(futex(NULL, FUTEX_WAIT | private, 0, NULL, NULL, 0), -EFAULT);
		CHECK_EQ(futex(nowhere, FUTEX_CMP_REQUEUE | private, 1, VAL2(1), words, 0), -EFAULT);
		CHECK_EQ(futex(nowhere, FUTEX_WAKE | private, 1, NULL, NULL, 0), private ? 0 : -EFAULT);
		CHECK_EQ(futex(words, FUTEX_REQUEUE | private, 1, VAL2(1), nowhere, 0), private ? 0 : -EFAULT);
	}

	/* Operations that do not exist, and a clock for those that have none. */
	CHECK_EQ(futex(words, FUTEX_FD, 0, NULL, NULL, 0), -ENOSYS);
	CHECK_EQ(futex(words, 14, 0, NULL, NULL, 0), -ENOSYS);
	CHECK_EQ(futex(words, FUTEX_WAKE | 1 << 9, 1, NULL, NULL, 0), -ENOSYS);
	CHECK_EQ(futex(words, -1, 0, NULL, NULL, 0), -ENOSYS);
	for (int op = 0; op < 11; op++)
		if (op != FUTEX_WAIT_BITSET)
			CHECK_EQ(futex(words, op | FUTEX_CLOCK_REALTIME, 0, NULL, NULL, 1), -ENOSYS);
#ifndef __linux__
	/* Those that this kernel has not: a C library falls back on others. */
	CHECK_EQ(futex(words, FUTEX_WAKE_OP, 0, NULL, NULL, 0), -ENOSYS);
	CHECK_EQ(futex(words, 11, 0, NULL, NULL, 0),
		 -ENOSYS); /* waiting to be requeued to a lock with inheritance, and that */
	CHECK_EQ(futex(words, 12, 0, NULL, NULL, 0), -ENOSYS);
#endif
}

/* --- a lock of many --- */

#define LOCKERS 4
#define ROUNDS	3000
static volatile long counted, lost;

/* 0 free, 1 taken, 2 taken with sleepers. Nobody may sleep for seconds while the lock goes round. */
static void locker(void *arg)
{
	static const struct timespec patience = {.tv_sec = 4};
	futex_t *lock = words;

	for (int i = 0; i < ROUNDS && !lost; i++) {
		futex_t old = 0;

		if (!__atomic_compare_exchange_n(lock, &old, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			while (__atomic_exchange_n(lock, 2, __ATOMIC_SEQ_CST))
				if (futex(lock, WAIT, 2, &patience, NULL, 0) == -ETIMEDOUT)
					lost++;
		counted++;
		if (__atomic_exchange_n(lock, 0, __ATOMIC_SEQ_CST) == 2)
			futex_wake(lock, 1);
	}
}

static void no_wakeup_is_lost(void)
{
	pid_t pids[LOCKERS];

	for (int i = 0; i < LOCKERS; i++)
		pids[i] = thread_start(-1, locker, NULL);
	CHECK(thread_join(pids, LOCKERS));
	CHECK_EQ(lost, 0);
	CHECK_EQ(counted, LOCKERS * ROUNDS);
}

/*
 * A wake that comes just as the waiter goes to sleep. Both begin at a signal, one of them a little later each
 * time, so that the wake passes through every step of the wait.
 */
#define MEETINGS 6000
#define SECONDS	 2 /* or as many meetings as that are: a loaded host lets one CPU spin for another that does not run */
static volatile long meeting, over;

static void spin(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}

static void meet_and_wake(void *arg)
{
	for (long i = 1;; i++) {
		while (meeting < i)
			if (over)
				return;
		spin(i % 60);
		__atomic_store_n(words, (futex_t)i, __ATOMIC_SEQ_CST);
		futex_wake(words, 1);
	}
}

static void wake_at_every_step(void)
{
	static const struct timespec patience = {.tv_sec = 3};
	long end = check_now() + SECONDS * 1000000000L;
	pid_t pid;

	if (check_cpus() < 2)
		return;
	pid = thread_start(-1, meet_and_wake, NULL);
	for (long i = 1; i <= MEETINGS && !lost && check_now() < end; i++) {
		meeting = i;
		spin(i / 60 % 20);
		while (words[0] != (futex_t)i && !lost)
			if (futex(words, WAIT, (futex_t)(i - 1), &patience, NULL, 0) == -ETIMEDOUT)
				lost = i;
	}
	over = 1;
	CHECK_EQ(lost, 0); /* else the number of the meeting */
	CHECK(thread_join(&pid, 1));
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"wake-counts", wake_counts},
		{"wake-at-least-one", wake_at_least_one},
		{"wake-other-words", wake_other_words},
		{"value-differs", value_differs},
		{"bitsets", bitsets},
		{"requeue-counts", requeue_counts},
		{"requeue-all", requeue_all},
		{"requeue-around", requeue_around},
		{"requeue-compares", requeue_compares},
		{"requeued-ends", requeued_ends},
		{"forked-apart", forked_apart},
		{"shared-between", shared_between},
		{"two-addresses", two_addresses},
		{"unmapped", unmapped},
		{"private-and-shared", private_and_shared},
		{"errors", errors},
		{"no-wakeup-is-lost", no_wakeup_is_lost},
		{"wake-at-every-step", wake_at_every_step},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

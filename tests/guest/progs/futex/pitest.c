/* pitest: futexes with priority inheritance: FUTEX_LOCK_PI and its relatives, and what is lent along a chain. */
/* also on Linux */
#include <thread.h>
#include <posix.h>

enum { LOCK = 6, UNLOCK = 7, TRYLOCK = 8, LOCK2 = 13, PRIVATE = 128, REALTIME = 256 };
#define WAITERS	   0x80000000u
#define OWNER_DIED 0x40000000u
#define TID	   0x3fffffffu
#define FIFO	   1

static volatile unsigned one, two;

static long op(volatile unsigned *word, int what, const void *time)
{
	return check_syscall(SYS_futex, (long)word, what, 0, (long)time, 0, 0);
}

/* Without errno, for tasks that share it. */
static long raw(volatile unsigned *word, int what)
{
	return vt_syscall(SYS_futex, (long)word, what, 0, 0, 0, 0);
}

static unsigned me(void)
{
	return (unsigned)vt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* The priority that /proc shows: 20 for nice 0, -1 - n for SCHED_FIFO n. */
static int prio_of(pid_t pid)
{
	char path[40], *text, *at;
	int prio = 1000;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	text = vt_read_file(path, NULL);
	at = text ? strrchr(text, ')') : NULL;
	for (int column = 2; at && column < 18; column++)
		at = strchr(at + 1, ' ');
	if (at)
		prio = atoi(at + 1);
	free(text);
	return prio;
}

#define GETS_PRIO(pid, wanted) gets_prio((pid), (wanted), __LINE__)
static void gets_prio(pid_t pid, int wanted, int line)
{
	int now = 0;

	for (int i = 0; i < 30000; i++) {
		now = prio_of(pid);
		if (now == wanted)
			return;
		check_sleep(MS);
	}
	check_failures++;
	printf("  line %d: priority of %d is %d, wanted %d\n", line, (int)pid, now, wanted);
}

static long set_fifo(pid_t pid, int prio)
{
	int param = prio;

	return vt_syscall(SYS_sched_setscheduler, pid, prio ? FIFO : 0, (long)&param, 0, 0, 0);
}

static bool may_be_fifo(void)
{
	bool may = set_fifo(0, 1) == 0;

	set_fifo(0, 0);
	return may;
}

/* A task that takes locks and lets them go as it is told. */
struct holder {
	volatile unsigned *first, *second; /* the second one may be NULL */
	int fifo;
	volatile int has, let_go, dies;
	volatile long result;
	pid_t pid;
};

static void holds(void *arg)
{
	struct holder *h = arg;

	if (h->fifo)
		set_fifo(0, h->fifo);
	h->result = raw(h->first, LOCK | PRIVATE);
	h->has = 1;
	if (h->second) {
		h->result = raw(h->second, LOCK | PRIVATE);
		h->has = 2;
	}
	while (!h->let_go)
		vt_syscall(SYS_nanosleep, (long)(long[2]){0, MS}, 0, 0, 0, 0, 0);
	if (h->dies)
		return;
	if (h->second && !h->result)
		raw(h->second, UNLOCK | PRIVATE);
	raw(h->first, UNLOCK | PRIVATE);
}

static void begin(struct holder *h, volatile unsigned *first, volatile unsigned *second, int fifo)
{
	*h = (struct holder){.first = first, .second = second, .fifo = fifo};
	h->pid = thread_start(-1, holds, h);
}

static void has(const struct holder *h, int n)
{
	for (int i = 0; i < 5000 && h->has < n; i++)
		check_sleep(MS);
	CHECK(h->has >= n);
}

static void end(struct holder *h)
{
	h->let_go = 1;
	CHECK(thread_join(&h->pid, 1));
}

static void arguments(void)
{
	long soon[2] = {0, 0}, wrong[2] = {0, 2000000000};
	struct holder h;
	pid_t gone;

	CHECK_EQ(op(&one, LOCK | PRIVATE, NULL), 0);
	CHECK_EQ(one, me());
	CHECK_ERRNO(op(&one, LOCK | PRIVATE, NULL), EDEADLK);
	CHECK_ERRNO(op(&one, TRYLOCK | PRIVATE, NULL), EDEADLK);
	CHECK_EQ(op(&one, UNLOCK | PRIVATE, NULL), 0);
	CHECK_EQ(one, 0);
	CHECK_ERRNO(op(&one, UNLOCK | PRIVATE, NULL), EPERM);
	CHECK_EQ(op(&one, TRYLOCK | PRIVATE, NULL), 0);
	CHECK_EQ(op(&one, UNLOCK | PRIVATE, NULL), 0);
	CHECK_ERRNO(op((unsigned *)((char *)&one + 1), LOCK | PRIVATE, NULL), EINVAL);
	CHECK_ERRNO(op((unsigned *)8, LOCK | PRIVATE, NULL), EFAULT);
	CHECK_ERRNO(op((unsigned *)8, UNLOCK | PRIVATE, NULL), EFAULT);
	CHECK_ERRNO(op(&one, LOCK | PRIVATE, wrong), EINVAL);
	CHECK_ERRNO(op(&one, LOCK | PRIVATE, (void *)8), EFAULT);
	CHECK_ERRNO(op(&one, LOCK | PRIVATE | REALTIME, NULL), ENOSYS);
	gone = check_exits_with(0);
	check_wait(gone);
	one = (unsigned)gone; /* of nobody */
	CHECK_ERRNO(op(&one, LOCK | PRIVATE, NULL), ESRCH);
	one = OWNER_DIED; /* free, and nobody has repaired what it guards */
	CHECK_EQ(op(&one, LOCK | PRIVATE, NULL), 0);
	CHECK_EQ(one, me() | OWNER_DIED);
	one = 0;
	begin(&h, &one, NULL, 0);
	has(&h, 1);
	CHECK_ERRNO(op(&one, TRYLOCK | PRIVATE, NULL), EAGAIN);
	CHECK_ERRNO(op(&one, UNLOCK | PRIVATE, NULL), EPERM);
	CHECK_ERRNO(op(&one, LOCK | PRIVATE, soon), ETIMEDOUT);
	CHECK_ERRNO(op(&one, LOCK2 | PRIVATE, soon), ETIMEDOUT);
	CHECK_EQ(one, (unsigned)h.pid | WAITERS);
	end(&h);
	CHECK_EQ(one, 0);
}

static void waits(void)
{
	struct holder a, b;

	CHECK_EQ(op(&one, LOCK | PRIVATE, NULL), 0);
	begin(&a, &one, NULL, 0);
	process_gets(a.pid, 'S');
	CHECK_EQ(one, me() | WAITERS);
	begin(&b, &one, NULL, 0);
	process_gets(b.pid, 'S');
	CHECK_EQ(op(&one, UNLOCK | PRIVATE, NULL), 0);
	has(&a, 1); /* who came first */
	CHECK_EQ(one & TID, (unsigned)a.pid);
	CHECK(!b.has);
	end(&a);
	has(&b, 1);
	CHECK_EQ(one & TID, (unsigned)b.pid);
	end(&b);
	CHECK_EQ(one, 0);
}

static void lends(void)
{
	struct holder h, a, b;
	long soon[2];
	struct timespec now;

	if (!may_be_fifo())
		return;
	begin(&h, &one, NULL, 0);
	has(&h, 1);
	GETS_PRIO(h.pid, prio_of(getpid())); /* whatever our nice value is */
	begin(&a, &one, NULL, 10);
	GETS_PRIO(h.pid, -11);
	begin(&b, &one, NULL, 30);
	GETS_PRIO(h.pid, -31);
	CHECK_EQ(set_fifo(a.pid, 40), 0); /* a waiter's priority changes */
	GETS_PRIO(h.pid, -41);
	CHECK_EQ(set_fifo(h.pid, 45), 0); /* its own may be better */
	GETS_PRIO(h.pid, -46);
	CHECK_EQ(set_fifo(h.pid, 0), 0);
	GETS_PRIO(h.pid, -41);
	CHECK_EQ(set_fifo(a.pid, 20), 0);
	GETS_PRIO(h.pid, -31);
	CHECK_EQ(set_fifo(0, 50), 0);
	CHECK_CALL(clock_gettime(CLOCK_REALTIME, &now));
	soon[0] = now.tv_sec, soon[1] = now.tv_nsec;
	CHECK_ERRNO(op(&one, LOCK | PRIVATE, soon), ETIMEDOUT);
	CHECK_EQ(set_fifo(0, 0), 0);
	GETS_PRIO(h.pid, -31); /* what a time-out ends is lent no more */
	h.let_go = 1;
	has(&b, 1); /* the best one, not the first */
	GETS_PRIO(b.pid, -31);
	CHECK(!a.has);
	CHECK(thread_join(&h.pid, 1));
	end(&b);
	has(&a, 1);
	end(&a);
	CHECK_EQ(one, 0);
}

/* Three locks in a row: who waits at the end lends to all. */
static void chain(void)
{
	static volatile unsigned three;
	struct holder a, b, c, d;

	if (!may_be_fifo())
		return;
	begin(&a, &one, NULL, 0);
	has(&a, 1);
	begin(&b, &two, &one, 0);
	has(&b, 1);
	process_gets(b.pid, 'S');
	begin(&c, &three, &two, 0);
	has(&c, 1);
	process_gets(c.pid, 'S');
	begin(&d, &three, NULL, 33);
	GETS_PRIO(c.pid, -34);
	GETS_PRIO(b.pid, -34);
	GETS_PRIO(a.pid, -34);
	a.let_go = 1;
	has(&b, 2);
	CHECK(thread_join(&a.pid, 1));
	GETS_PRIO(b.pid, -34);
	b.let_go = 1;
	has(&c, 2);
	CHECK(thread_join(&b.pid, 1));
	GETS_PRIO(c.pid, -34);
	end(&c);
	has(&d, 1);
	end(&d);
	CHECK_EQ(one | two | three, 0);
}

static void deadlock(void)
{
	struct holder a, b;
	static volatile unsigned three;

	CHECK_EQ(op(&one, LOCK | PRIVATE, NULL), 0);
	begin(&a, &two, &one, 0);
	has(&a, 1);
	process_gets(a.pid, 'S');
	begin(&b, &three, &two, 0);
	has(&b, 1);
	process_gets(b.pid, 'S');
	CHECK_ERRNO(op(&two, LOCK | PRIVATE, NULL), EDEADLK);
	CHECK_ERRNO(op(&three, LOCK | PRIVATE, NULL), EDEADLK); /* by way of two others */
	CHECK_EQ(op(&one, UNLOCK | PRIVATE, NULL), 0);
	has(&a, 2);
	end(&a);
	has(&b, 2);
	end(&b);
	CHECK_EQ(one | two | three, 0);
}

static void owner_dies(void)
{
	struct holder h, a;

	begin(&h, &one, NULL, 0);
	has(&h, 1);
	h.dies = 1;
	begin(&a, &one, NULL, 0);
	process_gets(a.pid, 'S');
	end(&h);
	has(&a, 1);
	CHECK_EQ(a.result, 0);
	CHECK_EQ(one & ~WAITERS, (unsigned)a.pid | OWNER_DIED);
	a.dies = 1; /* with nobody waiting */
	a.let_go = 1;
	process_gets(a.pid, 'Z');
	CHECK_ERRNO(op(&one, LOCK | PRIVATE, (long[2]){1, 0}), ESRCH); /* and not ETIMEDOUT: it has given up all */
	end(&a);
	CHECK_ERRNO(op(&one, LOCK | PRIVATE, NULL), ESRCH);
	one = 0;
}

/* The word says already that its owner is dead, and the kernel has not handed the lock on yet: a newcomer waits. */
static void while_it_dies(void)
{
	long soon[2] = {0, 0};
	struct holder h, a;

	begin(&h, &one, NULL, 0);
	has(&h, 1);
	begin(&a, &one, NULL, 0);
	process_gets(a.pid, 'S');
	one = WAITERS | OWNER_DIED; /* as the walk along the robust list leaves it */
	CHECK_ERRNO(op(&one, LOCK | PRIVATE, soon), ETIMEDOUT);
	CHECK_ERRNO(op(&one, TRYLOCK | PRIVATE, NULL), EAGAIN);
	one = (unsigned)h.pid | WAITERS;
	end(&h);
	has(&a, 1);
	end(&a);
	CHECK_EQ(one, 0);
}

static void killed(void)
{
	struct holder h, a, b;

	begin(&h, &one, NULL, 0);
	has(&h, 1);
	begin(&a, &one, NULL, 0);
	process_gets(a.pid, 'S');
	begin(&b, &one, NULL, 0);
	process_gets(b.pid, 'S');
	kill(a.pid, SIGKILL); /* one that waits */
	check_wait(a.pid);
	kill(h.pid, SIGKILL); /* the owner, in the middle of something */
	check_wait(h.pid);
	has(&b, 1);
	CHECK_EQ(one & ~WAITERS, (unsigned)b.pid | OWNER_DIED);
	end(&b);
	CHECK_EQ(one, 0);
}

static volatile int handled;

static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
	handled++;
}

/* A signal is handled, and the wait goes on, also without SA_RESTART. */
static void signals(void)
{
	struct holder a;

	handle_with(SIGUSR1, handler, 0, NULL);
	CHECK_EQ(op(&one, LOCK | PRIVATE, NULL), 0);
	begin(&a, &one, NULL, 0);
	process_gets(a.pid, 'S');
	CHECK_CALL(kill(a.pid, SIGUSR1));
	for (int i = 0; i < 3000 && !handled; i++)
		check_sleep(MS);
	CHECK_EQ(handled, 1);
	process_gets(a.pid, 'S');
	CHECK(!a.has);
	CHECK_EQ(op(&one, UNLOCK | PRIVATE, NULL), 0);
	has(&a, 1);
	CHECK_EQ(a.result, 0);
	end(&a);
}

/* Between processes, in shared memory. */
static void shared(void)
{
	volatile unsigned *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int ends[2];

	CHECK_CALL(pipe(ends));
	CHECK_EQ(op(word, LOCK, NULL), 0);
	pid = check_fork();
	if (pid == 0) {
		CHECK_EQ(op(word, LOCK, NULL), 0);
		CHECK_EQ(*word & TID, me());
		check_give(ends[1], 1);
		_exit(check_failures != 0); /* and it stays locked */
	}
	process_gets(pid, 'S');
	CHECK_EQ(*word, me() | WAITERS);
	CHECK_EQ(op(word, UNLOCK, NULL), 0);
	check_take(ends[0]);
	CHECK_EQ(check_wait(pid), 0);
	CHECK_ERRNO(op(word, LOCK, NULL), ESRCH);
}

static volatile long count;

static void counts(void *arg)
{
	unsigned id = me();

	if (arg)
		set_fifo(0, (int)(long)arg);
	for (int i = 0; i < 1500; i++) {
		unsigned was = __sync_val_compare_and_swap(&one, 0, id);

		if (was && raw(&one, LOCK | PRIVATE))
			vt_syscall(SYS_exit, 1, 0, 0, 0, 0, 0);
		count++;
		if (i % 64 == 0)
			vt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		if (__sync_val_compare_and_swap(&one, id, 0) != id && raw(&one, UNLOCK | PRIVATE))
			vt_syscall(SYS_exit, 2, 0, 0, 0, 0, 0);
	}
}

static void contended(void)
{
	pid_t threads[4];
	bool fifo = may_be_fifo();

	for (long t = 0; t < 4; t++)
		threads[t] = thread_start(-1, counts, fifo && t < 2 ? (void *)(t + 1) : NULL);
	CHECK(thread_join(threads, 4));
	CHECK_EQ(count, 6000);
	CHECK_EQ(one, 0);
}

static const struct check_case cases[] = {
	{"arguments", arguments},
	{"waits", waits},
	{"lends", lends},
	{"chain", chain},
	{"deadlock", deadlock},
	{"owner_dies", owner_dies},
	{"while-it-dies", while_it_dies},
	{"killed", killed},
	{"signals", signals},
	{"shared", shared},
	{"contended", contended},
};

int main(int argc, char **argv)
{
	check_seconds = 60;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

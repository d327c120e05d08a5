/* sigorder: pending signals, their order and number, what comes with them, and handlers' flags. */
/* also on Linux */
#include <posix.h>

static volatile sig_atomic_t seen[NSIG];
static int order[64], values[64], n_order;
static siginfo_t last;

static void note(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
	last = *info;
	order[n_order % 64] = sig;
	values[n_order++ % 64] = info->si_value.sival_int;
}

/* All signals of `set` have note() as their handler, in which the others of `block` wait. */
static void note_all(sigset_t set, int flags, const sigset_t *block)
{
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(&set, sig))
			handle_with(sig, note, flags, block);
}

static void order_is(const int *wanted, int n)
{
	CHECK_EQ(n_order, n);
	for (int i = 0; i < n && i < n_order; i++)
		if (!CHECK_EQ(order[i], wanted[i]))
			printf("  at place %d\n", i);
	n_order = 0;
}
#define ORDER_IS(...) order_is((const int[]){__VA_ARGS__}, ARRAY_SIZE(((const int[]){__VA_ARGS__})))

static void queue(int sig, int value)
{
	CHECK_CALL(sigqueue(getpid(), sig, (union sigval){.sival_int = value}));
}

/* A set of our own, since thread libraries keep real-time signals of theirs. */
#define RT (SIGRTMIN + 2)

static void by_number(void)
{
	sigset_t all = SET_OF(SIGHUP, SIGUSR1, SIGUSR2, SIGTERM, SIGIO, RT, RT + 1);

	note_all(all, 0, &all);
	change_mask(SIG_BLOCK, all);
	queue(RT + 1, 1);
	queue(RT, 2);
	queue(RT + 1, 3);
	queue(RT, 4);
	queue(RT, 5);
	kill(getpid(), SIGIO);
	kill(getpid(), SIGTERM);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGHUP);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGHUP); /* a standard signal is pending once */
	change_mask(SIG_UNBLOCK, all);
	for (int i = 5; i < n_order; i++)
		CHECK_EQ(values[i], ((const int[]){2, 4, 5, 1, 3})[i - 5]);
	ORDER_IS(SIGHUP, SIGUSR1, SIGUSR2, SIGTERM, SIGIO, RT, RT, RT, RT + 1, RT + 1);
}

/* Without masks the handlers' frames are stacked in that order, so that the last one runs first. */
static void stacked(void)
{
	sigset_t all = SET_OF(SIGHUP, SIGUSR1, SIGTERM);

	note_all(all, 0, NULL);
	change_mask(SIG_BLOCK, all);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGTERM);
	kill(getpid(), SIGHUP);
	change_mask(SIG_UNBLOCK, all);
	ORDER_IS(SIGTERM, SIGUSR1, SIGHUP);
}

/* The thread's own before the process's; those that tell of faults before all others of the same queue. */
static void own_first(void)
{
	sigset_t all = SET_OF(SIGHUP, SIGUSR1, SIGUSR2, SIGSEGV, SIGTERM);

	note_all(all, 0, &all);
	change_mask(SIG_BLOCK, all);
	kill(getpid(), SIGHUP);
	kill(getpid(), SIGSEGV);
	tgkill(getpid(), gettid(), SIGTERM);
	tgkill(getpid(), gettid(), SIGUSR2);
	CHECK(pending(SIGHUP) && pending(SIGUSR2) && !pending(SIGUSR1));
	change_mask(SIG_UNBLOCK, all);
	ORDER_IS(SIGUSR2, SIGTERM, SIGSEGV, SIGHUP);
}

/* The first one of a standard signal tells who sent it; a thread's and its process's are two. */
static void first_stays(void)
{
	sigset_t set = SET_OF(SIGUSR1);
	siginfo_t info;

	BLOCK(SIGUSR1);
	queue(SIGUSR1, 1);
	queue(SIGUSR1, 2);
	tgkill(getpid(), gettid(), SIGUSR1);
	CHECK_EQ(taken(&set, &info), SIGUSR1);
	CHECK_EQ(info.si_code, SI_TKILL);
	CHECK(pending(SIGUSR1));
	CHECK_EQ(taken(&set, &info), SIGUSR1);
	CHECK_EQ(info.si_value.sival_int, 1);
	CHECK(!pending(SIGUSR1));
}

/* Waiting takes the lowest number, and of one number the oldest; it waits no longer than it may. */
static void waited_for(void)
{
	sigset_t set = SET_OF(SIGUSR2, RT, RT + 1), none = SET_OF(SIGHUP);
	struct timespec now = {0}, soon = {.tv_nsec = 20 * MS}, bad = {.tv_nsec = 1000000000},
			negative = {.tv_sec = -1};
	siginfo_t info;
	long start;

	change_mask(SIG_BLOCK, set);
	queue(RT + 1, 7);
	queue(RT, 8);
	queue(RT, 9);
	kill(getpid(), SIGUSR2);
	CHECK_EQ(sigtimedwait(&set, &info, &now), SIGUSR2);
	CHECK_EQ(info.si_code, SI_USER);
	CHECK_EQ(sigtimedwait(&set, &info, &now), RT);
	CHECK_EQ(info.si_value.sival_int, 8);
	CHECK_EQ(sigtimedwait(&set, &info, &now), RT);
	CHECK_EQ(info.si_value.sival_int, 9);
	CHECK_EQ(sigtimedwait(&set, &info, &now), RT + 1);
	CHECK_EQ(info.si_value.sival_int, 7);
	CHECK_EQ(info.si_signo, RT + 1);
	CHECK_ERRNO(sigtimedwait(&set, &info, &now), EAGAIN);
	start = check_now();
	CHECK_ERRNO(sigtimedwait(&set, &info, &soon), EAGAIN);
	CHECK(check_now() - start >= 20 * MS);
	CHECK_ERRNO(sigtimedwait(&set, &info, &bad), EINVAL);
	CHECK_ERRNO(sigtimedwait(&set, &info, &negative), EINVAL);
	/* What it waits for needs not be blocked, and is not delivered while it waits. What it does not wait
	 * for is. */
	handle_with(SIGUSR1, note, 0, NULL);
	raise(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 1);
	CHECK_ERRNO(sigtimedwait(&none, &info, &now), EAGAIN);
}

/* A signal that is ignored and blocked waits: its action may change. It goes when it is let in, or becomes
 * ignored. */
static void ignored(void)
{
	sigset_t set = SET_OF(SIGUSR1);
	struct timespec now = {0};
	siginfo_t info;

	BLOCK(SIGUSR1, SIGCHLD);
	signal(SIGUSR1, SIG_IGN);
	tgkill(getpid(), gettid(), SIGUSR1);
	CHECK(pending(SIGUSR1));
	CHECK_EQ(sigtimedwait(&set, &info, &now), SIGUSR1);
	tgkill(getpid(), gettid(), SIGUSR1);
	handle_with(SIGUSR1, note, 0, NULL);
	CHECK(pending(SIGUSR1));
	UNBLOCK(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 1);
	BLOCK(SIGUSR1);
	tgkill(getpid(), gettid(), SIGUSR1);
	kill(getpid(), SIGUSR1);
	signal(SIGUSR1, SIG_IGN); /* of thread and process */
	CHECK(!pending(SIGUSR1));
	kill(getpid(), SIGCHLD);
	CHECK(pending(SIGCHLD));
	signal(SIGCHLD, SIG_DFL); /* which does nothing, too */
	CHECK(!pending(SIGCHLD));
}

/* --- how many wait --- */

/* RLIMIT_SIGPENDING counts what a user's processes have pending: where we may, as a user who has no others.
 */
static void alone(void)
{
	if (getuid() == 0)
		CHECK_CALL(check_syscall(SYS_setuid, 54321, 0, 0, 0, 0, 0));
}

static void limit(unsigned long n)
{
	struct rlimit l = {n, n};

	CHECK_CALL(setrlimit(RLIMIT_SIGPENDING, &l));
}

static void too_many(void)
{
	sigset_t set = SET_OF(SIGUSR1, SIGUSR2, RT, RT + 1);
	union sigval value = {.sival_int = 5};
	siginfo_t info;

	if (getuid())
		return; /* the user's other processes count */
	alone();
	change_mask(SIG_BLOCK, set);
	limit(3);
	for (int i = 0; i < 3; i++)
		CHECK_CALL(sigqueue(getpid(), RT, value));
	CHECK_ERRNO(sigqueue(getpid(), RT, value), EAGAIN);
	CHECK_ERRNO(sigqueue(getpid(), RT + 1, value), EAGAIN);
	CHECK(!pending(RT + 1));
	CHECK_CALL(kill(getpid(), RT + 1));		/* comes, but nobody can say whence */
	CHECK_CALL(sigqueue(getpid(), SIGUSR2, value)); /* likewise */
	CHECK_CALL(kill(getpid(), SIGUSR1));		/* one of each is always there for kill() */
	CHECK_EQ(taken(&set, &info), SIGUSR1);
	CHECK_EQ(info.si_pid, getpid());
	CHECK_EQ(taken(&set, &info), SIGUSR2);
	CHECK_EQ(info.si_pid, 0);
	CHECK_EQ(info.si_code, SI_USER);
	CHECK_EQ(taken(&set, &info), RT);
	CHECK_CALL(sigqueue(getpid(), RT + 1, value)); /* what is taken gives room */
	CHECK_ERRNO(sigqueue(getpid(), RT + 1, value), EAGAIN);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(taken(&set, &info), RT);
	CHECK_EQ(taken(&set, &info), RT + 1);
	CHECK_EQ(info.si_value.sival_int, 5);
	CHECK(!pending(RT + 1));
	limit(0);
	CHECK_ERRNO(sigqueue(getpid(), RT, value), EAGAIN);
}

static void leaves_pending(void)
{
	BLOCK(RT);
	for (int i = 0; i < 3; i++)
		queue(RT, i);
}

static void has_nothing_pending(void)
{
	CHECK(!pending(RT));
}

/* What a process leaves pending is counted no more; a child has none of its parent's. */
static void given_back(void)
{
	if (getuid())
		return;
	alone();
	limit(3);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(check_in_child(leaves_pending), 0);
	leaves_pending();
	CHECK(pending(RT));
	CHECK_EQ(check_in_child(has_nothing_pending), 0);
	signal(RT, SIG_IGN); /* forgotten: three more have room */
	handle_with(RT, note, 0, NULL);
	leaves_pending();
}

/* --- what comes with them --- */

static void *fault_address;
static volatile char *bad_address;

static void note_fault(int sig, siginfo_t *info, void *context)
{
	last = *info;
	fault_address = info->si_addr;
	_exit(last.si_signo == sig && last.si_code == seen[0] && fault_address == (void *)bad_address ? 0 : 1);
}

static void touch(void)
{
	handle_with(SIGSEGV, note_fault, 0, NULL);
	handle_with(SIGBUS, note_fault, 0, NULL);
	*bad_address = 1;
}

static void faults(void)
{
	char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	bad_address = page + 17;
	seen[0] = SEGV_ACCERR;
	CHECK_EQ(check_in_child(touch), 0);
	munmap(page, 8192);
	seen[0] = SEGV_MAPERR;
	CHECK_EQ(check_in_child(touch), 0);
	bad_address = (char *)8;
	CHECK_EQ(check_in_child(touch), 0);
}

/* Blocked or ignored, a fault ends the process all the same, and its handler does not run. */
static void hidden_fault(void)
{
	BLOCK(SIGSEGV);
	touch();
}

static void ignored_fault(void)
{
	signal(SIGSEGV, SIG_IGN);
	*bad_address = 1;
}

static void no_way_out(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	bad_address = (char *)8;
	CHECK_EQ(check_in_child(hidden_fault) & 0x7f, SIGSEGV);
	CHECK_EQ(check_in_child(ignored_fault) & 0x7f, SIGSEGV);
}

static void senders(void)
{
	struct itimerval soon = {{0, 0}, {0, 1000}};
	sigset_t set = SET_OF(SIGUSR1, SIGALRM, SIGPIPE, RT);
	siginfo_t info;
	int ends[2];

	change_mask(SIG_BLOCK, set);
	kill(getpid(), SIGUSR1);
	CHECK_EQ(taken(&set, &info), SIGUSR1);
	CHECK_EQ(info.si_signo, SIGUSR1);
	CHECK_EQ(info.si_code, SI_USER);
	CHECK_EQ(info.si_pid, getpid());
	CHECK_EQ(info.si_uid, getuid());
	CHECK_EQ(info.si_errno, 0);
	tgkill(getpid(), gettid(), SIGUSR1);
	CHECK_EQ(taken(&set, &info), SIGUSR1);
	CHECK_EQ(info.si_code, SI_TKILL);
	CHECK_EQ(info.si_pid, getpid());
	queue(RT, 77);
	CHECK_EQ(taken(&set, &info), RT);
	CHECK_EQ(info.si_code, SI_QUEUE);
	CHECK_EQ(info.si_value.sival_int, 77);
	CHECK_EQ(info.si_pid, getpid());
	CHECK_EQ(info.si_uid, getuid());
	CHECK_CALL(setitimer(ITIMER_REAL, &soon, NULL));
	CHECK_EQ(taken(&set, &info), SIGALRM);
	CHECK_EQ(info.si_code, SI_KERNEL);
	CHECK_EQ(info.si_pid, 0);
	CHECK_CALL(pipe(ends));
	close(ends[0]);
	CHECK_ERRNO(write(ends[1], "x", 1), EPIPE);
	CHECK_EQ(taken(&set, &info), SIGPIPE);
	CHECK_EQ(info.si_code, SI_USER);
	CHECK_EQ(info.si_pid, getpid());
}

/* A signal tells the real ids of its sender, or of the child that ends. */
static void other_user(void)
{
	sigset_t set = SET_OF(SIGUSR1, SIGCHLD);
	siginfo_t info;
	pid_t pid;

	if (getuid())
		return;
	change_mask(SIG_BLOCK, set);
	pid = check_fork();
	if (pid == 0) {
		CHECK_CALL(check_syscall(SYS_setresuid, 54321, 0, 0, 0, 0,
					 0)); /* it may still send: that goes by the effective one */
		CHECK_CALL(kill(getppid(), SIGUSR1));
		_exit(!!check_failures);
	}
	CHECK_EQ(taken(&set, &info), SIGUSR1);
	CHECK_EQ(info.si_pid, pid);
	CHECK_EQ(info.si_uid, 54321);
	CHECK_EQ(taken(&set, &info), SIGCHLD);
	CHECK_EQ(info.si_pid, pid);
	CHECK_EQ(info.si_uid, 54321);
	CHECK_EQ(check_wait(pid), 0);
}

/* A caller that makes up siginfo may not pass for the kernel, or for kill(), but before itself. */
static void made_up(void)
{
	static const struct {
		int code, error;
	} rows[] = {{SI_USER, EPERM},	 {SI_KERNEL, EPERM}, {SI_TKILL, EPERM},
		    {CLD_EXITED, EPERM}, {SI_QUEUE, 0},	     {-60, 0}};
	siginfo_t info = {0};
	pid_t pid = check_fork();

	if (pid == 0)
		for (;;)
			check_sleep(1000 * MS);
	BLOCK(SIGURG);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		info.si_code = rows[i].code;
		if (rows[i].error)
			CHECK_ERRNO(check_syscall(SYS_rt_sigqueueinfo, pid, SIGURG, (long)&info, 0, 0, 0),
				    rows[i].error);
		else
			CHECK_CALL(check_syscall(SYS_rt_sigqueueinfo, pid, SIGURG, (long)&info, 0, 0, 0));
		CHECK_CALL(check_syscall(SYS_rt_sigqueueinfo, getpid(), SIGURG, (long)&info, 0, 0, 0));
	}
	CHECK_ERRNO(check_syscall(SYS_rt_sigqueueinfo, pid, NSIG, (long)&info, 0, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_rt_sigqueueinfo, pid, -1, (long)&info, 0, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_rt_tgsigqueueinfo, 0, pid, SIGURG, (long)&info, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_rt_tgsigqueueinfo, getpid(), pid, SIGURG, (long)&info, 0, 0), ESRCH);
	kill(pid, SIGKILL);
	check_wait(pid);
}

/* --- flags of handlers --- */

static int at_entry[2]; /* blocked itself; its action is the default again */

static void look(int sig, siginfo_t *info, void *context)
{
	struct sigaction now;

	seen[sig]++;
	at_entry[0] = blocked(sig);
	CHECK_CALL(sigaction(sig, NULL, &now));
	at_entry[1] = now.sa_handler == SIG_DFL;
}

static void flags(void)
{
	static const struct {
		int flags, blocked, reset;
	} rows[] = {
		{0, 1, 0},
		{SA_NODEFER, 0, 0},
		{(int)SA_RESETHAND, 1, 1},
		{(int)SA_RESETHAND | SA_NODEFER, 0, 1},
	};
	sigset_t own = SET_OF(SIGUSR1);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		handle_with(SIGUSR1, look, rows[i].flags, NULL);
		raise(SIGUSR1);
		CHECK_EQ(seen[SIGUSR1], i + 1);
		CHECK_EQ(at_entry[0], rows[i].blocked);
		CHECK_EQ(at_entry[1], rows[i].reset);
		CHECK(!blocked(SIGUSR1));
	}
	handle_with(SIGUSR1, look, SA_NODEFER, &own); /* asked for in the mask, it is blocked all the same */
	raise(SIGUSR1);
	CHECK_EQ(at_entry[0], 1);
	CHECK(!blocked(SIGUSR1));
}

static bool blocked_in_handler[NSIG];

static void look_at_mask(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
	for (int other = 1; other < 32; other++)
		blocked_in_handler[other] = blocked(other);
}

/* In the handler: the mask from before, the signal itself, and sa_mask without the two that nobody can block.
 */
static void masks(void)
{
	sigset_t block = SET_OF(SIGHUP, SIGKILL, SIGSTOP, SIGTERM);
	struct sigaction now;

	handle_with(SIGUSR1, look_at_mask, 0, &block);
	CHECK_CALL(sigaction(SIGUSR1, NULL, &now));
	CHECK(!sigismember(&now.sa_mask, SIGKILL) && !sigismember(&now.sa_mask, SIGSTOP));
	CHECK(sigismember(&now.sa_mask, SIGHUP) && sigismember(&now.sa_mask, SIGTERM));
	BLOCK(SIGUSR2);
	raise(SIGUSR1);
	for (int sig = 1; sig < 32; sig++) {
		CHECK_EQ(blocked_in_handler[sig], sig == SIGHUP || sig == SIGTERM || sig == SIGUSR1 || sig == SIGUSR2);
		CHECK_EQ(blocked(sig), sig == SIGUSR2);
	}
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"by-number", by_number},     {"stacked", stacked},	  {"own-first", own_first},
		{"first-stays", first_stays}, {"waited-for", waited_for}, {"ignored", ignored},
		{"too-many", too_many},	      {"given-back", given_back}, {"faults", faults},
		{"no-way-out", no_way_out},   {"senders", senders},	  {"other-user", other_user},
		{"made-up", made_up},	      {"flags", flags},		  {"masks", masks},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

/* sigthread: signals and exits of a process that has threads. */
/* also on Linux */
#include <posix.h>
#include "waiters.h"

static volatile int go;

static bool is_pending(int sig)
{
	unsigned long set = 0;

	vt_syscall(SYS_rt_sigpending, (long)&set, 8, 0, 0, 0, 0);
	return set >> (sig - 1) & 1;
}

static void wait_seen(int sig, int n)
{
	for (int i = 0; i < 5000 && seen[sig] < n; i++)
		check_sleep(MS);
	CHECK_EQ(seen[sig], n);
}

/* A signal to the process goes to a thread that lets it in; one to a thread waits for that thread. */
static void directed(void)
{
	int a, b;

	handle_with(SIGUSR1, on_signal, 0, NULL);
	a = begin(0, blocks_usr1);
	b = begin(1, waiter);
	BLOCK(SIGUSR1);
	kill(getpid(), SIGUSR1);
	wait_seen(SIGUSR1, 1);
	CHECK_EQ(caught_by[SIGUSR1], b);
	kill(b, SIGUSR1); /* a thread's number stands for its process */
	wait_seen(SIGUSR1, 2);
	tgkill(getpid(), b, SIGUSR1);
	wait_seen(SIGUSR1, 3);
	CHECK_EQ(caught_by[SIGUSR1], b);
	tgkill(getpid(), a, SIGUSR1); /* blocked there, and b is not asked */
	CHECK(!pending(SIGUSR1));
	check_sleep(5 * MS);
	CHECK_EQ(seen[SIGUSR1], 3);
	tgkill(getpid(), gettid(), SIGUSR1);
	CHECK(pending(SIGUSR1));
	CHECK_EQ(seen[SIGUSR1], 3);
	UNBLOCK(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 4);
	CHECK_EQ(caught_by[SIGUSR1], getpid());
	CHECK_ERRNO(tgkill(getpid() + 1, b, 0), ESRCH);
	CHECK_ERRNO(tgkill(-1, b, 0), EINVAL);
	CHECK_ERRNO(tgkill(getpid(), 0, 0), EINVAL);
	CHECK_ERRNO(tgkill(getpid(), b, NSIG), EINVAL);
	CHECK_EQ(tgkill(getpid(), b, 0), 0);
}

static void lets_in(void *arg)
{
	mask(SIG_BLOCK, SIGUSR1);
	tids[(long)arg] = (int)self();
	while (!go)
		nap();
	go = is_pending(SIGUSR1) ? 2 : 3;
	mask(SIG_UNBLOCK, SIGUSR1);
	wait_for_ever();
}

/* Blocked by all it waits in the process, where each thread sees it; who lets it in first has it. */
static void blocked_by_all(void)
{
	int tid;

	handle_with(SIGUSR1, on_signal, 0, NULL);
	BLOCK(SIGUSR1);
	tid = begin(0, lets_in);
	kill(getpid(), SIGUSR1);
	CHECK(pending(SIGUSR1));
	go = 1;
	wait_seen(SIGUSR1, 1);
	CHECK_EQ(go, 2);
	CHECK_EQ(caught_by[SIGUSR1], tid);
	CHECK(!pending(SIGUSR1));
}

static void look_at_start(void *arg)
{
	unsigned long now = 0;

	go = is_pending(SIGUSR1) ? 2 : 3;
	vt_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&now, 8, 0, 0);
	go |= now >> (SIGUSR1 - 1) & 1 ? 16 : 0;
	waiter(arg);
}

/* A thread begins with its maker's mask and without what is pending for that. */
static void begins_with(void)
{
	BLOCK(SIGUSR1);
	tgkill(getpid(), gettid(), SIGUSR1);
	begin(0, look_at_start);
	CHECK_EQ(go, 16 + 3);
	CHECK(pending(SIGUSR1));
}

static void blocks_later(void *arg)
{
	tids[(long)arg] = (int)self();
	while (!go)
		; /* not asleep: a signal that comes is not taken before the next call */
	mask(SIG_BLOCK, SIGUSR1);
	mask(SIG_BLOCK, SIGUSR2);
	wait_for_ever();
}

/* --- the end of a process --- */

static void exits_all(void *arg)
{
	nap();
	vt_syscall(SYS_exit_group, 42, 0, 0, 0, 0, 0);
}

static void ends_alone(void *arg)
{
	tids[(long)arg] = (int)self();
	while (!go)
		nap();
	vt_syscall(SYS_exit, 9, 0, 0, 0, 0, 0);
}

/* The first thread is at its end, not on its way there: a stop of some milliseconds must not make it the last one. */
static void ends_after_leader(void *arg)
{
	tids[(long)arg] = (int)self();
	while (!go)
		nap();
	while (thread_state(getpid(), getpid()) != 'Z') /* only this thread uses the libc now */
		nap();
	vt_syscall(SYS_exit, 9, 0, 0, 0, 0, 0);
}

static void group_exit(void)
{
	begin(0, waiter);
	begin(1, waiter);
	thread_start_in_group(exits_all, NULL);
	wait_for_ever();
}

static void leader_first(void)
{
	begin(0, ends_after_leader);
	go = 1;
	vt_syscall(SYS_exit, 5, 0, 0, 0, 0, 0);
}

static void thread_first(void)
{
	int tid = begin(0, ends_alone);

	go = 1;
	while (thread_state(getpid(), tid))
		check_sleep(MS);
	exit(check_failures ? 1 : 6);
}

static void dies_with_threads(void)
{
	begin(0, waiter);
	begin(1, blocks_usr1);
	BLOCK(SIGUSR1);
	kill(getpid(), SIGUSR1); /* no handler: the thread that lets it in takes all along */
	wait_for_ever();
}

static void killed_by_thread(void)
{
	int tid = begin(0, waiter);

	tgkill(getpid(), tid, SIGKILL);
	wait_for_ever();
}

/* The process's status is what exit_group() says, or the signal; else what its last thread says. */
static void ends(void)
{
	CHECK_EQ(check_in_child(group_exit), 42 << 8);
	CHECK_EQ(check_in_child(thread_first), 6 << 8);
	CHECK_EQ(check_in_child(leader_first), 9 << 8);
	CHECK_EQ(check_in_child(dies_with_threads), SIGUSR1);
	CHECK_EQ(check_in_child(killed_by_thread), SIGKILL);
}

/* While threads are left the process has not ended: its first thread is a zombie that nobody can wait for. */
static void lasts(void)
{
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), status;
	pid_t pid;

	BLOCK(SIGCHLD);
	pid = check_fork();
	if (pid == 0) {
		shared[0] = begin(0, waiter);
		vt_syscall(SYS_exit, 5, 0, 0, 0, 0, 0);
	}
	process_gets(pid, 'Z');
	CHECK_EQ(is_pending(SIGCHLD), false);
	CHECK_EQ(waitpid(pid, &status, WNOHANG), 0);
	CHECK_EQ(kill(pid, 0), 0);
	CHECK_CALL(kill(pid, SIGTERM)); /* its thread takes it */
	CHECK_EQ(news_of(pid, &status, 0), pid);
	CHECK_EQ(is_pending(SIGCHLD), true);
	CHECK_EQ(status, SIGTERM);
}

static void ends_soon(void *arg)
{
	for (int i = 0; i < 20; i++)
		nap();
	vt_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
}

/* A thread ends while another one waits for a signal: that is no reason for the wait to end, whatever is blocked. */
static void ends_beside_a_wait(void)
{
	unsigned long set = 1UL << (SIGUSR2 - 1);
	struct timespec span = {.tv_nsec = 100 * MS};

	BLOCK(SIGUSR1, SIGUSR2);
	for (int i = 0; i < 2; i++) {
		thread_start_in_group(ends_soon, NULL);
		CHECK_EQ(vt_syscall(SYS_rt_sigtimedwait, (long)&set, 0, (long)&span, sizeof(set), 0, 0), -EAGAIN);
		kill(getpid(), SIGUSR1); /* the second time it is pending */
	}
}

/* A timer of the monotonic clock that sends this signal to the process. The structures are the kernels'. */
static int timer_of(int sig)
{
	struct {
		long value;
		int signo, notify, pad[12];
	} event = {.signo = sig};
	int id = -1;

	CHECK_CALL(check_syscall(SYS_timer_create, CLOCK_MONOTONIC, (long)&event, (long)&id, 0, 0, 0));
	return id;
}

static void set_timer(int id, long when)
{
	struct timespec spec[2] = {{0}, {.tv_sec = when / 1000000000, .tv_nsec = when % 1000000000}};

	CHECK_CALL(check_syscall(SYS_timer_settime, id, 1 /* TIMER_ABSTIME */, (long)spec, 0, 0, 0));
}

/*
 * Two signals come in one interrupt of a thread that is about to wait for both. It takes the first one. The second one
 * is for the thread that lets it in, and wakes it, whatever the first thread was in the middle of. Timers on two CPUs
 * may come in the other order, and then the first thread may take both.
 */
static void left_to_another(void)
{
	unsigned long set = 1UL << (SIGUSR1 - 1) | 1UL << (SIGUSR2 - 1);
	struct timespec at_once = {.tv_nsec = 1};
	int first = timer_of(SIGUSR1), second = timer_of(SIGUSR2), own = 0;

	handle_with(SIGUSR2, on_signal, 0, NULL);
	BLOCK(SIGUSR1);
	begin(0, waiter);
	BLOCK(SIGUSR2);
	for (int round = 1; round <= 20 && !check_failures; round++) {
		long when = check_now() + MS / 4, got;

		set_timer(first, when);
		set_timer(second, when);
		do {
			got = vt_syscall(SYS_rt_sigtimedwait, (long)&set, 0, (long)&at_once, sizeof(set), 0, 0);
			own += got == SIGUSR2;
		} while (got == -EAGAIN || got == -EINTR || got == SIGUSR2);
		CHECK_EQ(got, SIGUSR1);
		for (int i = 0; i < 1000 && own + seen[SIGUSR2] < round; i++)
			check_sleep(MS);
		CHECK_EQ(own + seen[SIGUSR2], round);
	}
}

/* --- stopping --- */

static void all_are(pid_t pid, const int *list, int n, char state)
{
	for (int i = 0; i < n; i++)
		thread_gets(pid, list[i], state);
}

/* A stop stands all threads still and is told once; SIGCONT has all go on; SIGKILL ends all. */
static void stops_all(void)
{
	int *list = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), status;
	pid_t pid = check_fork();

	if (pid == 0) {
		list[0] = getpid();
		list[1] = begin(0, waiter);
		list[2] = begin(1, blocks_usr1);
		wait_for_ever();
	}
	for (int i = 0; i < 5000 && !list[2]; i++)
		check_sleep(MS);
	process_gets(pid, 'S');
	tgkill(pid, list[1], SIGSTOP); /* to one of them: all the same */
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, SIGSTOP << 8 | 0x7f);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(thread_state(pid, list[i]), 'T'); /* it is told when all stand, not before */
	CHECK_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	tgkill(pid, list[2], SIGCONT);
	CHECK_EQ(news_of(pid, &status, WCONTINUED), pid);
	CHECK(WIFCONTINUED(status));
	all_are(pid, list, 3, 'S');
	kill(pid, SIGSTOP);
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	tgkill(pid, list[1], SIGKILL);
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, SIGKILL);
}

/* A thread that is about to be given a signal blocks it: another one takes it. None is lost over many tries.
 */
static void handed_over(void)
{
	int first, second;

	if (check_cpus() < 2)
		return;
	handle_with(SIGUSR1, on_signal, 0, NULL);
	BLOCK(SIGUSR1, SIGUSR2);
	for (int i = 0; i < 2; i++)
		tids[i] = 0;
	UNBLOCK(SIGUSR1);
	first = thread_start_in_group(blocks_later, (void *)0L);
	second = thread_start_in_group(blocks_later, (void *)1L);
	BLOCK(SIGUSR1);
	while (!tids[0] || !tids[1])
		check_sleep(MS);
	kill(getpid(), SIGUSR1);
	wait_seen(SIGUSR1, 1);
	CHECK(caught_by[SIGUSR1] == first || caught_by[SIGUSR1] == second);
	go = 1;
	thread_gets(getpid(), first, 'S');
	thread_gets(getpid(), second, 'S');
	kill(getpid(), SIGUSR1);
	CHECK(pending(SIGUSR1));
	UNBLOCK(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 2);
	CHECK_EQ(caught_by[SIGUSR1], getpid());
}

/* Takes SIGUSR2 whenever it is there, and never sleeps. */
static void takes(void *arg)
{
	unsigned long set = 1UL << (SIGUSR2 - 1);
	struct timespec none = {0};

	while (!go)
		vt_syscall(SYS_rt_sigtimedwait, (long)&set, 0, (long)&none, sizeof(set), 0, 0);
}

static void sends(void *arg)
{
	for (; !go; nap())
		vt_syscall(SYS_kill, vt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGUSR2, 0, 0, 0, 0);
}

/* A wait without a time that was woken in vain, as another thread has taken the signal, has not timed out. */
static void taken_by_another(void)
{
	unsigned long set = 1UL << (SIGUSR2 - 1);
	long end = check_now() + 5000 * MS; /* on a busy machine fewer rounds have to do */

	BLOCK(SIGUSR2);
	thread_start_in_group(takes, NULL);
	thread_start_in_group(sends, NULL);
	for (int i = 0; i < 500 && check_now() < end; i++) {
		long got = vt_syscall(SYS_rt_sigtimedwait, (long)&set, 0, 0, sizeof(set), 0, 0);

		if (!CHECK(got == SIGUSR2 || got == -EINTR))
			break;
	}
	go = 1;
}

static volatile long got;

static void waits_for_its_child(void *arg)
{
	unsigned long set = 1UL << (SIGCHLD - 1);
	pid_t process = getpid(), self = gettid();
	long pid;

	mask(SIG_BLOCK, SIGCHLD);
	pid = vt_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
	if (!pid) {
		/* Before we wait the other thread would take it, and ignore it. */
		thread_gets(process, self, 'S');
		vt_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	}
	got = vt_syscall(SYS_rt_sigtimedwait, (long)&set, 0, (long)(long[2]){30, 0}, sizeof(set), 0, 0);
	vt_syscall(SYS_wait4, pid, 0, 0, 0, 0, 0);
	go = 1;
}

/* The thread that has made a child may wait for its SIGCHLD, which another one would ignore. */
static void of_its_child(void)
{
	thread_start_in_group(waits_for_its_child, NULL);
	for (int i = 0; i < 30000 && !go; i++)
		check_sleep(MS);
	CHECK_EQ(got, SIGCHLD);
}

static volatile long sent;

static void as_another_user(void *arg)
{
	vt_syscall(SYS_setresuid, 1000, 1000, 1000, 0, 0, 0);
	sent = vt_syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1, 0, 0, 0);
	go = 1;
}

/* A thread may signal its own process, whichever user it acts as by now. */
static void to_its_own(void)
{
	if (geteuid())
		return;
	handle_with(SIGUSR1, on_signal, 0, NULL);
	thread_start_in_group(as_another_user, NULL);
	for (int i = 0; i < 5000 && !go; i++)
		check_sleep(MS);
	CHECK_EQ(sent, 0);
	CHECK_EQ(seen[SIGUSR1], 1);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"directed", directed},
		{"blocked-by-all", blocked_by_all},
		{"begins-with", begins_with},
		{"ends", ends},
		{"ends-beside-a-wait", ends_beside_a_wait},
		{"left-to-another", left_to_another},
		{"lasts", lasts},
		{"stops-all", stops_all},
		{"handed-over", handed_over},
		{"taken-by-another", taken_by_another},
		{"of-its-child", of_its_child},
		{"to-its-own", to_its_own},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

/* ptracetest: stops, signals, events and waits of ptrace(2), and what becomes of a tracee whose debugger ends. */
/* also on Linux */
#include <thread.h>
#include <tracee.h>

static volatile long word = 0x1122334455667788;
static volatile long *constant; /* memory that the program may only read */
static volatile sig_atomic_t seen[NSIG];
static siginfo_t last;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
	last = *info;
}

static void nothing(void)
{
}

static void exits_with_7(void)
{
	_exit(7);
}

/* --- the beginning, memory --- */

static void traceme(void)
{
	pid_t pid = tracee(exits_with_7, 0);
	siginfo_t info;

	CHECK_CALL(pt(PT_GETSIGINFO, pid, 0, (unsigned long)&info));
	CHECK_EQ(info.si_signo, SIGSTOP);
	CHECK_EQ(info.si_code, SI_USER);
	CHECK_EQ(info.si_pid, pid);
	CHECK(thread_state(pid, pid) == 't');
	go_on(pid, 0);
	CHECK_EQ(news(pid), 7 << 8);
	CHECK_ERRNO(pt(PT_CONT, pid, 0, 0), ESRCH);
}

static void asks_twice(void)
{
	CHECK_ERRNO(pt(PT_TRACEME, 0, 0, 0), EPERM);
}

static void bad_requests(void)
{
	pid_t pid = tracee(asks_twice, 0), other = sleeper();
	unsigned long m;

	CHECK_ERRNO(pt(PT_ATTACH, 0x7ffffff, 0, 0), ESRCH);
	CHECK_ERRNO(pt(PT_ATTACH, -1, 0, 0), ESRCH);
	CHECK_ERRNO(pt(PT_ATTACH, getpid(), 0, 0), EPERM);
	CHECK_ERRNO(pt(PT_ATTACH, pid, 0, 0), EPERM);
	CHECK_ERRNO(pt(PT_SEIZE, pid, 0, 0), EPERM);
	CHECK_ERRNO(pt(PT_CONT, other, 0, 0), ESRCH);
	CHECK_ERRNO(pt(PT_PEEK, other, (unsigned long)&word, (unsigned long)&m), ESRCH);
	CHECK_ERRNO(pt(PT_SEIZE, other, 1, 0), EIO);
	CHECK_ERRNO(pt(PT_SEIZE, other, 0, 1L << 40), EIO);
	CHECK_ERRNO(pt(PT_CONT, pid, 0, 65), EIO);
	CHECK_ERRNO(pt(PT_DETACH, pid, 0, 1000), EIO);
	CHECK_ERRNO(pt(PT_SETOPTIONS, pid, 0, 0x80000000), EINVAL);
	CHECK_ERRNO(pt(12345, pid, 0, 0), EIO);
	CHECK_ERRNO(pt(PT_INTERRUPT, pid, 0, 0), EIO);
	CHECK_ERRNO(pt(PT_LISTEN, pid, 0, 0), EIO);
	CHECK_ERRNO(pt(PT_GETSIGMASK, pid, 4, (unsigned long)&m), EINVAL);
	CHECK_ERRNO(pt(PT_GETEVENTMSG, pid, 0, 8), EFAULT);
	CHECK_ERRNO(pt(PT_GETSIGINFO, pid, 0, 8), EFAULT);
	CHECK_ERRNO(pt(PT_SETSIGINFO, pid, 0, 8), EFAULT);
	CHECK_ERRNO(pt(PT_GETREGSET, pid, 1, 8), EFAULT);
	CHECK_ERRNO(pt(PT_SYSCALL_INFO, pid, 88, 8), EFAULT);
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
	finish(other);
}

static void looks_at_word(void)
{
	_exit(word == 77 && constant[0] == 0x99 ? 3 : 4);
}

static void make_constant(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	constant = page;
	constant[0] = 0x5566;
	CHECK_CALL(check_syscall(SYS_mprotect, (long)page, 4096, PROT_READ, 0, 0, 0));
}

static void memory(void)
{
	unsigned long w = 0;
	pid_t pid;

	make_constant();
	pid = tracee(looks_at_word, 0);
	CHECK_CALL(pt(PT_PEEK, pid, (unsigned long)&word, (unsigned long)&w));
	CHECK_EQ(w, 0x1122334455667788);
	CHECK_CALL(pt(PT_POKE, pid, (unsigned long)&word, 77));
	CHECK_CALL(pt(PT_POKE, pid, (unsigned long)&constant[0], 0x99)); /* read-only to the program */
	CHECK_EQ(word, 0x1122334455667788);
	CHECK_EQ(constant[0], 0x5566);
	CHECK_ERRNO(pt(PT_PEEK, pid, 16, (unsigned long)&w), EIO);
	CHECK_ERRNO(pt(PT_POKE, pid, 16, 1), EIO);
	CHECK_ERRNO(pt(PT_PEEK, pid, -4096UL, (unsigned long)&w), EIO);
	CHECK_ERRNO(pt(PT_PEEK, pid, (unsigned long)&word, 8), EFAULT);
	go_on(pid, 0);
	CHECK_EQ(news(pid), 3 << 8);
}

/* Where the memory is that maps calls by this name; 0: nowhere. */
static unsigned long area_named(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[300];
	unsigned long start = 0;

	while (maps && !start && fgets(line, sizeof(line), maps))
		if (strstr(line, name))
			start = strtoul(line, NULL, 16);
	if (maps)
		fclose(maps);
	return start;
}

/* The page by which programs read the clock is the kernel's: with a copy a tracee's clock would stand still. */
static void clock_page(void)
{
	unsigned long page = area_named("[vvar]");
	pid_t pid = tracee(nothing, 0);

	CHECK(page);
	CHECK_ERRNO(pt(PT_POKE, pid, page, 0), EIO);
	CHECK_ERRNO(pt(PT_POKE, pid, page + 4088, 0), EIO);
	kill_tracee(pid);
}

/* An instruction is exchanged for a breakpoint, in memory that other processes share. */
static void breaks_here(void)
{
	_exit(5);
}

static void breakpoint(void)
{
#ifdef __aarch64__
	const unsigned long insn = 0xd4200000;
#else
	const unsigned long insn = 0xcc;
#endif
	pid_t pid = tracee(breaks_here, 0);
	unsigned long w, at = (unsigned long)breaks_here;
	siginfo_t info;
	struct regs regs;

	CHECK_CALL(pt(PT_PEEK, pid, at, (unsigned long)&w));
	CHECK_CALL(pt(PT_POKE, pid, at, insn));
	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGTRAP));
	CHECK_CALL(pt(PT_GETSIGINFO, pid, 0, (unsigned long)&info));
	regs = get_regs(pid);
#ifdef __aarch64__
	CHECK_EQ(info.si_code, 1); /* TRAP_BRKPT */
	CHECK_EQ(regs.r[REG_PC], at);
#else
	CHECK_EQ(info.si_code, SI_KERNEL);
	CHECK_EQ(regs.r[REG_PC], at + 1);
#endif
	regs.r[REG_PC] = at;
	set_regs(pid, regs);
	CHECK_CALL(pt(PT_POKE, pid, at, w));
	go_on(pid, 0);
	CHECK_EQ(news(pid), 5 << 8);
}

/* --- signals --- */

static void gets_signals(void)
{
	handle_with(SIGUSR1, on_signal, 0, NULL);
	handle_with(SIGUSR2, on_signal, 0, NULL);
	kill(getpid(), SIGUSR1); /* kept back */
	CHECK_EQ(seen[SIGUSR1], 0);
	kill(getpid(), SIGUSR1); /* let through */
	CHECK_EQ(seen[SIGUSR1], 1);
	CHECK_EQ(last.si_pid, getpid());
	kill(getpid(), SIGUSR1); /* exchanged */
	CHECK_EQ(seen[SIGUSR1], 1);
	CHECK_EQ(seen[SIGUSR2], 1);
	CHECK_EQ(last.si_pid, getppid());
	kill(getpid(), SIGUSR1); /* with another siginfo */
	CHECK_EQ(seen[SIGUSR1], 2);
	CHECK_EQ(last.si_pid, 4711);
	kill(getpid(), SIGWINCH); /* without effect, but shown */
}

static void signals(void)
{
	pid_t pid = tracee(gets_signals, 0);
	siginfo_t info;

	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	go_on(pid, SIGUSR1);
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	go_on(pid, SIGUSR2);
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	CHECK_CALL(pt(PT_GETSIGINFO, pid, 0, (unsigned long)&info));
	info.si_pid = 4711;
	CHECK_CALL(pt(PT_SETSIGINFO, pid, 0, (unsigned long)&info));
	go_on(pid, SIGUSR1);
	CHECK_EQ(news(pid), STOP(SIGWINCH));
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
}

static void blocks_usr2(void)
{
	handle_with(SIGUSR2, on_signal, 0, NULL);
	BLOCK(SIGUSR2);
	kill(getpid(), SIGUSR1); /* exchanged for the other one */
	CHECK_EQ(seen[SIGUSR2], 0);
	UNBLOCK(SIGUSR2);
	CHECK_EQ(seen[SIGUSR2], 1);
	CHECK_EQ(last.si_pid, getppid());
}

/* A signal that the debugger puts in the place of another one waits if the tracee has blocked it. */
static void exchanged_for_a_blocked_one(void)
{
	pid_t pid = tracee(blocks_usr2, 0);

	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	go_on(pid, SIGUSR2);
	if (!CHECK_EQ(news(pid), STOP(SIGUSR2))) /* when it is let in, and not before */
		return;
	go_on(pid, SIGUSR2);
	CHECK_EQ(news(pid), 0);
}

static void raises_term(void)
{
	kill(getpid(), SIGTERM);
}

static void deadly_signals(void)
{
	pid_t pid = tracee(raises_term, 0);

	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGTERM));
	go_on(pid, SIGTERM);
	CHECK_EQ(news(pid), SIGTERM);
	kill_tracee(tracee(nothing, 0));
	pid = tracee(nothing, 0);
	CHECK_CALL(pt(PT_KILL, pid, 0, 0));
	CHECK_EQ(news(pid), SIGKILL);
}

static void masks(void)
{
	pid_t pid = tracee(raises_term, 0);
	unsigned long mask = 1;

	CHECK_CALL(pt(PT_GETSIGMASK, pid, 8, (unsigned long)&mask));
	CHECK_EQ(mask, 0);
	mask = 1UL << (SIGTERM - 1) | 1UL << (SIGKILL - 1);
	CHECK_CALL(pt(PT_SETSIGMASK, pid, 8, (unsigned long)&mask));
	CHECK_CALL(pt(PT_GETSIGMASK, pid, 8, (unsigned long)&mask));
	CHECK_EQ(mask, 1UL << (SIGTERM - 1));
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
}

static void waitid_and_sigchld(void)
{
	pid_t pid = tracee(raises_term, 0);
	siginfo_t info;

	handle_with(SIGCHLD, on_signal, 0, NULL);
	go_on(pid, 0);
	CHECK_EQ(waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT), 0);
	CHECK_EQ(info.si_code, TRAPPED);
	CHECK_EQ(info.si_status, SIGTERM);
	CHECK_EQ(info.si_pid, pid);
	CHECK_EQ(seen[SIGCHLD], 1);
	CHECK_EQ(last.si_code, TRAPPED);
	CHECK_EQ(last.si_status, SIGTERM);
	CHECK_EQ(waitid(P_PID, pid, &info, WSTOPPED), 0);
	memset(&info, 0, sizeof(info));
	CHECK_EQ(waitid(P_PID, pid, &info, WSTOPPED | WNOHANG), 0);
	CHECK_EQ(info.si_pid, 0);
	kill_tracee(pid);
}

/* --- attaching, stops of the process --- */

static void attach(void)
{
	pid_t pid = sleeper();

	CHECK_CALL(pt(PT_ATTACH, pid, 0, 0));
	CHECK_EQ(news(pid), STOP(SIGSTOP));
	CHECK_CALL(pt(PT_DETACH, pid, 0, 0));
	process_gets(pid, 'S');
	CHECK_CALL(pt(PT_ATTACH, pid, 0, 0));
	CHECK_EQ(news(pid), STOP(SIGSTOP));
	CHECK_CALL(pt(PT_DETACH, pid, 0, SIGTERM));
	CHECK_EQ(news(pid), SIGTERM);
}

/* A process that stands still already stops once more for the debugger, and stands still when that one goes. */
static void attach_stopped(void)
{
	pid_t pid = sleeper();
	int status;

	CHECK_CALL(kill(pid, SIGSTOP));
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK_CALL(pt(PT_ATTACH, pid, 0, 0));
	CHECK_EQ(waitpid(pid, &status, WNOHANG), pid);
	CHECK_EQ(status, STOP(SIGSTOP));
	CHECK(thread_state(pid, pid) == 't');
	CHECK_CALL(pt(PT_DETACH, pid, 0, SIGSTOP));
	process_gets(pid, 'T');
	CHECK_CALL(kill(pid, SIGCONT));
	process_gets(pid, 'S');
	finish(pid);
}

static void seize(void)
{
	pid_t pid = sleeper();
	int status;

	CHECK_CALL(pt(PT_SEIZE, pid, 0, OPT(EV_EXIT)));
	CHECK_EQ(waitpid(pid, &status, WNOHANG), 0);
	CHECK_ERRNO(pt(PT_CONT, pid, 0, 0), ESRCH); /* it runs */
	CHECK_CALL(pt(PT_INTERRUPT, pid, 0, 0));
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_STOP));
	go_on(pid, 0);
	CHECK_CALL(kill(pid, SIGSTOP));
	CHECK_EQ(news(pid), STOP(SIGSTOP));
	go_on(pid, SIGSTOP);
	CHECK_EQ(news(pid), EVENT(SIGSTOP, EV_STOP));
	CHECK_CALL(pt(PT_LISTEN, pid, 0, 0));
	CHECK_ERRNO(pt(PT_CONT, pid, 0, 0), ESRCH);
	CHECK_EQ(waitpid(pid, &status, WNOHANG), 0);
	CHECK_CALL(kill(pid, SIGCONT));
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_STOP));
	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGCONT));
	go_on(pid, 0);
	CHECK_CALL(kill(pid, SIGTERM));
	CHECK_EQ(news(pid), STOP(SIGTERM));
	go_on(pid, SIGTERM);
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_EXIT));
	CHECK_EQ(message(pid), SIGTERM);
	go_on(pid, 0);
	CHECK_EQ(news(pid), SIGTERM);
}

/* Without PTRACE_SEIZE a stop has no siginfo, and a tracee that goes on runs in a process that is stopped. */
static void group_stop(void)
{
	pid_t pid = tracee(sleep_on, 0);
	siginfo_t info;

	go_on(pid, 0);
	process_gets(pid, 'S');
	CHECK_CALL(kill(pid, SIGTSTP));
	CHECK_EQ(news(pid), STOP(SIGTSTP));
	go_on(pid, SIGSTOP);
	CHECK_EQ(news(pid), STOP(SIGSTOP));
	CHECK_ERRNO(pt(PT_GETSIGINFO, pid, 0, (unsigned long)&info), EINVAL);
	go_on(pid, 0);
	process_gets(pid, 'S');
	kill_tracee(pid);
}

/* --- events --- */

static void forks(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(4);
	CHECK_EQ(check_wait(pid), 4 << 8);
}

/* A new child is traced as its parent is, and stops at once. */
static void fork_event(void)
{
	pid_t pid = tracee(forks, OPT(EV_FORK) | OPT(EV_EXIT)), child;

	go_on(pid, 0);
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_FORK));
	child = (pid_t)message(pid);
	CHECK_EQ(news(child), STOP(SIGSTOP));
	go_on(child, 0);
	CHECK_EQ(news(child), EVENT(SIGTRAP, EV_EXIT));
	CHECK_EQ(message(child), 4 << 8);
	go_on(child, 0);
	CHECK_EQ(news(child), 4 << 8); /* the debugger first, then the parent */
	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGCHLD));
	go_on(pid, 0);
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_EXIT));
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
}

static void vforks(void)
{
	/* CLONE_VFORK and CLONE_VM, on this very stack: so the calls must be inline. */
	pid_t pid = (pid_t)vt_syscall(SYS_clone, 0x4100 | SIGCHLD, 0, 0, 0, 0, 0);

	if (pid == 0)
		vt_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
	CHECK_EQ(check_wait(pid), 0);
}

static void vfork_event(void)
{
	pid_t pid = tracee(forks, OPT(EV_VFORK) | OPT(EV_VFORK_DONE)), child;

	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGCHLD)); /* fork is no vfork */
	kill_tracee(pid);
	pid = tracee(vforks, OPT(EV_VFORK) | OPT(EV_VFORK_DONE));
	go_on(pid, 0);
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_VFORK));
	child = (pid_t)message(pid);
	CHECK_EQ(news(child), STOP(SIGSTOP));
	go_on(pid, 0);
	go_on(child, 0);
	CHECK_EQ(news(child), 0);
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_VFORK_DONE));
	CHECK_EQ(message(pid), child);
	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGCHLD));
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
}

static volatile int thread_runs, thread_may_end;

static void thread_body(void *arg)
{
	thread_runs = 1;
	while (!thread_may_end)
		;
}

static void makes_thread(void)
{
	thread_start_in_group(thread_body, NULL);
	while (!thread_runs)
		check_sleep(MS);
	thread_may_end = 1;
	sleep_on();
}

/* A debugger sees a thread begin, stop, and end; nobody else could wait for it. */
static void clone_event(void)
{
	pid_t pid = tracee(makes_thread, OPT(EV_CLONE)), thread;

	go_on(pid, 0);
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_CLONE));
	thread = (pid_t)message(pid);
	CHECK_EQ(news(thread), STOP(SIGSTOP));
	CHECK_ERRNO(pt(PT_ATTACH, thread, 0, 0), EPERM);
	go_on(pid, 0);
	go_on(thread, 0);
	CHECK_EQ(news(thread), 0);
	CHECK_ERRNO(waitpid(thread, NULL, ALL_CHILDREN), ECHILD);
	kill_tracee(pid);
}

/* --- a signal for one thread --- */

static struct {
	volatile pid_t thread, taken_by;
	volatile int may_take;
} * told; /* memory that the tracee and its debugger share */

static void on_usr1(int sig)
{
	told->taken_by = (pid_t)vt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* It has SIGUSR1 blocked until it is told otherwise, and makes calls all the time. */
static void blocking_thread(void *arg)
{
	unsigned long set = 1UL << (SIGUSR1 - 1);
	struct timespec ms = {0, MS};

	vt_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, 8, 0, 0);
	told->thread = (pid_t)vt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	for (;;) {
		vt_syscall(SYS_nanosleep, (long)&ms, 0, 0, 0, 0, 0);
		if (told->may_take)
			vt_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, 8, 0, 0);
	}
}

/* The signal with which a debugger lets a thread go on from a stop of a call is for that thread alone. */
static void signal_of_a_thread(void)
{
	pid_t pid;

	told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = check_fork();
	if (pid == 0) {
		signal(SIGUSR1, on_usr1);
		thread_start_in_group(blocking_thread, NULL);
		sleep_on();
	}
	while (!told->thread)
		check_sleep(MS);
	CHECK_CALL(pt(PT_SEIZE, told->thread, 0, OPT_SYSGOOD));
	CHECK_CALL(pt(PT_INTERRUPT, told->thread, 0, 0));
	CHECK_EQ(news(told->thread), EVENT(SIGTRAP, EV_STOP));
	CHECK_CALL(pt(PT_SYSCALL, told->thread, 0, 0));
	CHECK_EQ(news(told->thread), CALL_STOP);
	go_on(told->thread, SIGUSR1);
	check_sleep(50 * MS);
	CHECK_EQ(told->taken_by, 0);
	told->may_take = 1;
	CHECK_EQ(news(told->thread), STOP(SIGUSR1));
	go_on(told->thread, SIGUSR1);
	for (int i = 0; i < 5000 && !told->taken_by; i++)
		check_sleep(MS);
	CHECK_EQ(told->taken_by, told->thread);
	CHECK_CALL(kill(pid, SIGKILL));
	CHECK_EQ(news(told->thread), SIGKILL);
	finish(pid);
}

static void execs(void)
{
	char *argv[] = {"ptracetest", "--", NULL}, *envp[] = {NULL};

	check_syscall(SYS_execve, (long)"/proc/self/exe", (long)argv, (long)envp, 0, 0, 0);
}

static void exec_event(void)
{
	pid_t pid = tracee(execs, OPT(EV_EXEC));

	go_on(pid, 0);
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_EXEC));
	CHECK_EQ(message(pid), pid);
	kill_tracee(pid);
	pid = tracee(execs, 0); /* without the option a SIGTRAP */
	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGTRAP));
	kill_tracee(pid);
}

static const struct check_case cases[] = {
	{"traceme", traceme},
	{"bad_requests", bad_requests},
	{"memory", memory},
	{"clock_page", clock_page},
	{"breakpoint", breakpoint},
	{"signals", signals},
	{"exchanged_for_a_blocked_one", exchanged_for_a_blocked_one},
	{"deadly_signals", deadly_signals},
	{"masks", masks},
	{"waitid_and_sigchld", waitid_and_sigchld},
	{"attach", attach},
	{"attach_stopped", attach_stopped},
	{"seize", seize},
	{"group_stop", group_stop},
	{"fork_event", fork_event},
	{"vfork_event", vfork_event},
	{"clone_event", clone_event},
	{"signal_of_a_thread", signal_of_a_thread},
	{"exec_event", exec_event},
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--"))
		return 6; /* exec_event */
	check_seconds = 20;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

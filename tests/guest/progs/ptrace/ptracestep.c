/* ptracestep: single steps of a tracee, and breakpoints of the machine's debug registers. */
/* also on Linux */
#include <tracee.h>

static volatile sig_atomic_t seen[NSIG];

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
}

static void nothing(void)
{
}

static void execs_true(void)
{
	char *argv[] = {"true", NULL};

	check_syscall(SYS_execve, (long)"/bin/true", (long)argv, 0, 0, 0, 0);
	_exit(9);
}

/* --- single steps --- */

static volatile int rounds;

static void counts(void)
{
	for (;;)
		rounds++;
}

static unsigned long rounds_of(pid_t pid)
{
	unsigned long w = 0;

	CHECK_CALL(pt(PT_PEEK, pid, (unsigned long)&rounds, (unsigned long)&w));
	return (unsigned)w;
}

/* In a loop of few instructions some steps make a round, and none makes more than one. */
static void steps(void)
{
	pid_t pid = tracee(counts, 0);
	unsigned long before, now;
	siginfo_t info;

	for (int i = 0; i < 1000 && !rounds_of(pid); i++)
		step(pid);
	before = rounds_of(pid);
	CHECK(before == 1);
	for (int i = 0; i < 100; i++) {
		struct regs regs = get_regs(pid), after;

		step(pid);
		after = get_regs(pid);
		CHECK(regs.r[REG_PC] != after.r[REG_PC]);
		CHECK_EQ(regs.r[REG_SP], after.r[REG_SP]);
		now = rounds_of(pid);
		CHECK(now - before <= 1);
		before = now;
	}
	CHECK_RANGE(now, 10, 60);
	CHECK_CALL(pt(PT_GETSIGINFO, pid, 0, (unsigned long)&info));
	CHECK_EQ(info.si_code, 2); /* TRAP_TRACE */
	/* A busy host does not let it run at once. */
	for (int i = 0; i < 500 && rounds_of(pid) <= now + 100; i++) {
		go_on(pid, 0);
		check_sleep(10 * MS);
		CHECK_CALL(kill(pid, SIGUSR1));
		CHECK_EQ(news(pid), STOP(SIGUSR1)); /* and no step more */
	}
	CHECK(rounds_of(pid) > now + 100);
	kill_tracee(pid);
}

static void another_call(void)
{
	vt_syscall(SYS_getpgid, 0, 0, 0, 0, 0, 0);
}

/* A step over a system call ends right behind it. */
static void step_over_call(void)
{
	pid_t pid = tracee(another_call, OPT_SYSGOOD);
	unsigned long pc;

	to_call(pid, SYS_getpgid);
	pc = get_regs(pid).r[REG_PC];
	step(pid);
	CHECK_EQ(get_regs(pid).r[REG_PC], pc);
	step(pid);
	CHECK(get_regs(pid).r[REG_PC] != pc);
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
}

static void handles(void)
{
	handle_with(SIGUSR1, on_signal, 0, NULL);
	kill(getpid(), SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 1);
}

/* A step with a handled signal ends at the handler's first instruction, and the frame knows nothing of it. */
static void step_into_handler(void)
{
	pid_t pid = tracee(handles, 0);

	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	CHECK_CALL(pt(PT_STEP, pid, 0, SIGUSR1));
	CHECK_EQ(news(pid), STOP(SIGTRAP));
	CHECK_EQ(get_regs(pid).r[REG_PC], (unsigned long)on_signal);
	for (int i = 0; i < 5; i++)
		step(pid);
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
}

/* --- breakpoints of the machine --- */

/* Debug register `i` of the tracee: an address and what of it is watched; NULL: it is off. 0, or -1 with errno. */
enum watch_kind { EXECUTES, WRITES };
#ifdef __aarch64__
static long watch_control(pid_t pid, int i, const volatile void *address, enum watch_kind kind, unsigned control)
{
	struct {
		unsigned info, pad;
		struct {
			unsigned long address;
			unsigned control, pad;
		} r[16];
	} state;
	unsigned long len = sizeof(state);

	memset(&state, 0, sizeof(state));
	CHECK_CALL(regset(PT_GETREGSET, pid, kind == EXECUTES ? 0x402 : 0x403, &state, &len));
	CHECK((state.info & 0xff) > (unsigned)i);
	state.r[i].address = (unsigned long)address;
	state.r[i].control = address ? control : 0;
	len = 8 + 16 * ((unsigned long)i + 1);
	return regset(PT_SETREGSET, pid, kind == EXECUTES ? 0x402 : 0x403, &state, &len);
}
#endif

static long watch(pid_t pid, int i, const volatile void *address, enum watch_kind kind)
{
#ifdef __aarch64__
	return watch_control(pid, i, address, kind, kind == EXECUTES ? 0x1e1 : 0x1f1); /* 4 bytes, stores; on */
#else
	unsigned long dr7 = 0, control = kind == EXECUTES ? 0 : 0xd; /* 4 bytes, writes */

	CHECK_CALL(pt(PT_PEEKUSR, pid, 848 + 7 * 8, (unsigned long)&dr7));
	dr7 &= ~(3UL << 2 * i | 15UL << (16 + 4 * i));
	if (pt(PT_POKEUSR, pid, 848 + 7 * 8, dr7) || pt(PT_POKEUSR, pid, 848 + 8 * i, (unsigned long)address))
		return -1;
	return address ? pt(PT_POKEUSR, pid, 848 + 7 * 8, dr7 | 1UL << 2 * i | control << (16 + 4 * i)) : 0;
#endif
}

static void is_hit(pid_t pid)
{
	siginfo_t info;

	CHECK_EQ(news(pid), STOP(SIGTRAP));
	CHECK_CALL(pt(PT_GETSIGINFO, pid, 0, (unsigned long)&info));
	CHECK_EQ(info.si_code, 4); /* TRAP_HWBKPT */
}

static volatile int first = 1, second = 2;

static void writes_both(void)
{
	pid_t child;

	BLOCK(SIGCHLD); /* it may come before or after the stores */
	child = fork();
	first = second; /* the child has no breakpoints */
	if (child == 0)
		_exit(first);
	CHECK_EQ(check_wait(child), 2 << 8);
	second = 3;
	_exit(first + second);
}

#ifdef __linux__
static void writes_one(void)
{
	first = 1;
}

/*
 * Some virtual machines keep what is written to debug registers, and never report anything (those of PVM). What Linux
 * does with a report cannot be seen there.
 */
static bool cpu_reports(void)
{
	pid_t pid = tracee(writes_one, 0);

	CHECK_CALL(watch(pid, 0, &first, WRITES));
	go_on(pid, 0);
	if (news(pid) == 0) {
		printf("  left out: this computer has debug registers that report nothing\n");
		return false;
	}
	kill_tracee(pid);
	return true;
}
#else
static bool cpu_reports(void)
{
	return true;
}
#endif

/*
 * A store is reported before it is made, or after it, and the tracee goes on; other tasks that run meanwhile have
 * nothing of it.
 */
static void watchpoints(void)
{
	pid_t pid, other;

	if (!cpu_reports())
		return;
	pid = tracee(writes_both, 0);
	other = check_fork();
	if (other == 0)
		for (;;)
			first = second;
	CHECK_CALL(watch(pid, 0, &first, WRITES));
	CHECK_CALL(watch(pid, 1, &second, WRITES));
	go_on(pid, 0);
	is_hit(pid);
	CHECK_CALL(watch(pid, 0, NULL, WRITES));
	go_on(pid, 0);
	is_hit(pid);
#ifndef __aarch64__
	{
		unsigned long dr6 = 0;

		CHECK_CALL(pt(PT_PEEKUSR, pid, 848 + 6 * 8, (unsigned long)&dr6));
		CHECK_EQ(dr6 & 15, 2);
	}
#endif
	CHECK_CALL(watch(pid, 1, NULL, WRITES));
	go_on(pid, 0);
	CHECK_EQ(news(pid), 5 << 8);
	finish(other);
}

static __attribute__((noinline)) void is_called(void)
{
	first++;
}

static void calls_it(void)
{
	is_called();
	_exit(first);
}

static void code_breakpoints(void)
{
	pid_t pid;

	if (!cpu_reports())
		return;
	pid = tracee(calls_it, 0);
	CHECK_CALL(watch(pid, 0, (void *)is_called, EXECUTES));
	go_on(pid, 0);
	is_hit(pid);
	CHECK_EQ(get_regs(pid).r[REG_PC], (unsigned long)is_called);
	CHECK_CALL(watch(pid, 0, NULL, EXECUTES));
	go_on(pid, 0);
	CHECK_EQ(news(pid), 2 << 8);
}

/* Not the kernel's memory; and what was set goes with the tracee, so that there is room for the next. */
static void bad_breakpoints(void)
{
	pid_t pid = tracee(nothing, 0);

	CHECK(watch(pid, 0, (void *)0xffff800000000000, WRITES) == -1);
	CHECK(watch(pid, 0, (void *)-4096UL, EXECUTES) == -1);
#ifdef __aarch64__
	errno = 0; /* bytes 0 and 2, or bytes 2 and 4 */
	CHECK(watch_control(pid, 0, &first, WRITES, 5 << 5 | 2 << 3 | 1) == -1 && errno == EINVAL);
	CHECK(watch_control(pid, 0, &first, WRITES, 0x14 << 5 | 2 << 3 | 1) == -1);
	CHECK_CALL(watch_control(pid, 0, &first, WRITES, 6 << 5 | 2 << 3 | 1));
	CHECK_CALL(watch(pid, 0, NULL, WRITES));
#else
	CHECK(watch(pid, 0, (char *)&first + 1, WRITES) == -1);
	CHECK(pt(PT_POKEUSR, pid, 848 + 7 * 8, 1 | 2 << 16) == -1); /* a port */
	CHECK(pt(PT_POKEUSR, pid, 848 + 4 * 8, 0) == -1);
#endif
	kill_tracee(pid);
	for (int round = 0; round < 20; round++) {
		pid = tracee(execs_true, 0);
		for (int i = 0; i < 4; i++)
			CHECK_CALL(watch(pid, i, &first, WRITES));
		go_on(pid, 0);
		CHECK_EQ(news(pid), STOP(SIGTRAP)); /* of exec; no breakpoint is left in the new program */
		go_on(pid, 0);
		CHECK_EQ(news(pid), 0);
	}
}

static const struct check_case cases[] = {
	{"watchpoints", watchpoints}, /* before the first step, which prepares a CPU for them as well */
	{"steps", steps},
	{"step_over_call", step_over_call},
	{"step_into_handler", step_into_handler},
	{"code_breakpoints", code_breakpoints},
	{"bad_breakpoints", bad_breakpoints},
};

int main(int argc, char **argv)
{
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

/* ptraceregs: registers, single steps and system calls of a tracee, and requests that race with its end. */
/* also on Linux */
#include <thread.h>
#include <tracee.h>

static volatile sig_atomic_t seen[NSIG];

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
}

static void nothing(void)
{
}

/* --- system calls --- */

static struct call_info call_info(pid_t pid, long size)
{
	struct call_info info;

	memset(&info, 0xaa, sizeof(info));
	CHECK_EQ(pt(PT_SYSCALL_INFO, pid, sizeof(info), (unsigned long)&info), size);
	return info;
}

static void calls(void)
{
	CHECK_EQ(vt_syscall(SYS_getpgid, 0x7ffffff, 22, 33, 44, 55, 66), -ESRCH);
	CHECK_EQ(vt_syscall(SYS_getpgid, 0, 0, 0, 0, 0, 0), 4711);
}

static void no_call(pid_t pid)
{
#ifdef __aarch64__
	int nr = -1;
	unsigned long len = sizeof(nr);

	CHECK_CALL(regset(PT_SETREGSET, pid, 0x404, &nr, &len));
#else
	struct regs regs = get_regs(pid);

	regs.r[REG_NR] = -1;
	set_regs(pid, regs);
#endif
}

static void syscalls(void)
{
	pid_t pid = tracee(calls, OPT_SYSGOOD);
	struct call_info info;
	struct regs regs;

	call_info(pid, 24); /* a stop by a signal */
	to_call(pid, SYS_getpgid);
	info = call_info(pid, 80);
	CHECK_EQ(info.op, 1);
	for (int i = 1; i < 6; i++)
		CHECK_EQ(info.entry[1 + i], 11 * (i + 1));
	CHECK_EQ(info.entry[1], 0x7ffffff);
	regs = get_regs(pid);
	CHECK_EQ(info.pc, regs.r[REG_PC]);
	CHECK_EQ(info.sp, regs.r[REG_SP]);
	CHECK_EQ(regs.r[REG_ARG0], 0x7ffffff);
	CHECK_EQ(message(pid), 1);
	CHECK_CALL(pt(PT_SYSCALL, pid, 0, 0));
	CHECK_EQ(news(pid), CALL_STOP);
	info = call_info(pid, 33);
	CHECK_EQ(info.op, 2);
	CHECK_EQ(info.exit.rval, -ESRCH);
	CHECK_EQ(info.exit.is_error, 1);
	CHECK_EQ(message(pid), 2);
	to_call(pid, SYS_getpgid);
	no_call(pid);
	CHECK_CALL(pt(PT_SYSCALL, pid, 0, 0));
	CHECK_EQ(news(pid), CALL_STOP);
	regs = get_regs(pid);
	regs.r[REG_RET] = 4711;
	set_regs(pid, regs);
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
}

static void one_call(void)
{
	CHECK_EQ(vt_syscall(SYS_getpgid, 1, 0, 0, 0, 0, 0), -ESRCH);
}

/* The debugger puts another argument in the place of the program's. */
static void argument(void)
{
	pid_t pid = tracee(one_call, OPT_SYSGOOD);
	struct regs regs;

	to_call(pid, SYS_getpgid);
	regs = get_regs(pid);
	regs.r[REG_ARG0] = 0x7fffffe;
	set_regs(pid, regs);
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
}

static void sleeps_long(void)
{
	struct timespec t = {3000, 0};

	CHECK_EQ(vt_syscall(SYS_nanosleep, (long)&t, 0, 0, 0, 0, 0), -EINTR);
}

/* What a debugger sees of a call that a signal has interrupted. */
static void is_interrupted(pid_t pid)
{
	struct regs regs = get_regs(pid);
#ifdef __aarch64__
	unsigned long insn = 0;

	CHECK_CALL(pt(PT_PEEK, pid, regs.r[REG_PC], (unsigned long)&insn));
	CHECK_EQ((unsigned)insn, 0xd4000001); /* it is about to be made again */
#else
	CHECK_RANGE(regs.r[REG_RET], -516, -512);
	CHECK(regs.r[REG_NR] == SYS_nanosleep || regs.r[REG_NR] == SYS_restart_syscall);
#endif
}

/* A wait that a stop interrupts begins again. */
static void interrupted(void)
{
	pid_t pid;

	handle_with(SIGUSR1, on_signal, 0, NULL);
	pid = tracee(sleeps_long, OPT_SYSGOOD);
	to_call(pid, SYS_nanosleep);
	go_on(pid, 0);
	process_gets(pid, 'S');
	for (int i = 0; i < 3; i++) {
		CHECK_CALL(kill(pid, SIGUSR1));
		CHECK_EQ(news(pid), STOP(SIGUSR1));
		is_interrupted(pid);
		go_on(pid, 0);
		process_gets(pid, 'S');
	}
	CHECK_CALL(kill(pid, SIGUSR1));
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	go_on(pid, SIGUSR1);
	CHECK_EQ(news(pid), 0);
}

static int written[2];

static void writes_a_byte(void)
{
	vt_syscall(SYS_write, written[1], (long)"x", 1, 0, 0, 0);
}

/* A tracee that is killed in the stop before a call does not make it. */
static void killed_before_a_call(void)
{
	char byte;
	pid_t pid;

	CHECK_CALL(pipe(written));
	pid = tracee(writes_a_byte, OPT_SYSGOOD);
	CHECK_CALL(close(written[1]));
	to_call(pid, SYS_write);
	kill_tracee(pid);
	CHECK_EQ(read(written[0], &byte, 1), 0);
}

/* --- registers --- */

static double quarter = 0.25;

static void computes(void)
{
	double x = quarter;

	kill(getpid(), SIGUSR1);
	_exit((int)(x * 8.0)); /* the compiler may keep it in memory: then nothing is shown, but nothing is broken */
}

static void fp_registers(void)
{
	unsigned char set[1024] __attribute__((aligned(16))), again[1024] __attribute__((aligned(16)));
	pid_t pid = tracee(computes, 0);
	unsigned long len = sizeof(set);

	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	CHECK_CALL(regset(PT_GETREGSET, pid, 2, set, &len));
#ifdef __aarch64__
	CHECK_EQ(len, 528);
	set[16 * 31] ^= 0x5a; /* v31 */
#else
	CHECK_EQ(len, 512);
	set[160 + 16 * 15] ^= 0x5a; /* xmm15 */
#endif
	CHECK_CALL(regset(PT_SETREGSET, pid, 2, set, &len));
	step(pid);
	CHECK_CALL(regset(PT_GETREGSET, pid, 2, again, &len));
	CHECK(memcmp(set, again, 400) == 0);
	len = 8;
	CHECK_CALL(regset(PT_GETREGSET, pid, 2, set, &len));
	CHECK_EQ(len, 8);
	len = 7;
	CHECK_ERRNO(regset(PT_GETREGSET, pid, 2, set, &len), EINVAL);
	len = 8;
	CHECK_ERRNO(regset(PT_GETREGSET, pid, 0x7777, set, &len), EINVAL);
	go_on(pid, 0);
	CHECK_EQ(news(pid), 2 << 8);
}

/* What would give a program more than user mode has is refused, or comes to nothing. */
static void hostile_registers(void)
{
	static const unsigned long bad[] = {-1UL, 1UL << 63, 0xffff800000000000, 0xffffffff81000000, 1UL << 47, 8};
	struct regs regs, before;
	unsigned long len = sizeof(regs);
	int status;

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		pid_t pid = tracee(nothing, 0);

		regs = get_regs(pid);
		regs.r[REG_PC] = bad[i];
		set_regs(pid, regs);
		go_on(pid, 0);
		status = news(pid);
		CHECK(status == STOP(SIGSEGV) || status == STOP(SIGBUS));
		regs.r[REG_SP] = bad[i];
		set_regs(pid, regs);
		go_on(pid, SIGSEGV);
		CHECK((news(pid) & 0x7f) == SIGSEGV);
	}
	before = regs;
	{
		pid_t pid = tracee(nothing, 0);

		regs = before = get_regs(pid);
#ifdef __aarch64__
		for (int bit = 0; bit < 10; bit++) {
			regs.r[33] = before.r[33] | 1UL << bit;
			if (bit != 1 && bit != 5) /* as the machine has them, or not there */
				CHECK_ERRNO(regset(PT_SETREGSET, pid, 1, &regs, &len), EINVAL);
		}
#else
		regs.r[18] = -1UL;  /* flags */
		set_regs(pid, regs);
		regs = get_regs(pid);
		CHECK_EQ(regs.r[18] & 0x3000, 0);      /* IOPL */
		CHECK_EQ(regs.r[18] & 0x20200, 0x200); /* no VM, interrupts on */
		regs = before;
		regs.r[21] = 0xffff800000000000; /* fs base */
		CHECK_ERRNO(regset(PT_SETREGSET, pid, 1, &regs, &len), EIO);
		regs.r[21] = before.r[21];
		regs.r[22] = 1UL << 63;
		CHECK_ERRNO(regset(PT_SETREGSET, pid, 1, &regs, &len), EIO);
#endif
		set_regs(pid, before);
		go_on(pid, 0);
		CHECK_EQ(news(pid), 0);
	}
}

#ifdef __aarch64__
static void other_registers(void)
{
	pid_t pid = tracee(nothing, 0);
	unsigned long tls = 0, len = sizeof(tls);
	int nr = 0;

	CHECK_CALL(regset(PT_GETREGSET, pid, 0x401, &tls, &len));
	tls = 0x1234500;
	CHECK_CALL(regset(PT_SETREGSET, pid, 0x401, &tls, &len));
	step(pid);
	tls = 0;
	CHECK_CALL(regset(PT_GETREGSET, pid, 0x401, &tls, &len));
	CHECK_EQ(tls, 0x1234500);
	len = sizeof(nr);
	CHECK_CALL(regset(PT_GETREGSET, pid, 0x404, &nr, &len));
	CHECK_EQ(nr, -1);
	kill_tracee(pid);
}
#else
static void other_registers(void)
{
	unsigned char state[4096] __attribute__((aligned(64)));
	pid_t pid = tracee(nothing, 0);
	unsigned long w = 0, len = sizeof(state), words[NR_REGS];
	struct regs regs = get_regs(pid);

	for (int i = 0; i < NR_REGS; i++) {
		CHECK_CALL(pt(PT_PEEKUSR, pid, i * 8, (unsigned long)&w));
		CHECK_EQ(w, regs.r[i]);
	}
	CHECK_ERRNO(pt(PT_PEEKUSR, pid, 3, (unsigned long)&w), EIO);
	CHECK_ERRNO(pt(PT_PEEKUSR, pid, 4096, (unsigned long)&w), EIO);
	CHECK_CALL(pt(PT_POKEUSR, pid, 0, 99));
	CHECK_CALL(pt(PT_GETREGS, pid, 0, (unsigned long)words));
	CHECK_EQ(words[0], 99); /* r15 */
	CHECK_EQ(words[17], 0x33);
	CHECK_CALL(pt(PT_POKEUSR, pid, 21 * 8, 0x1234500)); /* fs base */
	step(pid);
	CHECK_EQ(get_regs(pid).r[21], 0x1234500);
	CHECK_CALL(pt(PT_ARCH_PRCTL, pid, (unsigned long)&w, 0x1003)); /* ARCH_GET_FS */
	CHECK_EQ(w, 0x1234500);
	CHECK_CALL(pt(PT_POKEUSR, pid, 22 * 8, 0x5678000));
	CHECK_CALL(pt(PT_ARCH_PRCTL, pid, (unsigned long)&w, 0x1004)); /* ARCH_GET_GS */
	CHECK_EQ(w, 0x5678000);
	CHECK_ERRNO(pt(PT_ARCH_PRCTL, pid, (unsigned long)&w, 0x1005), EINVAL);
	if (!regset(PT_GETREGSET, pid, 0x202, state, &len)) {
		CHECK(len >= 576);
		CHECK(state[464] & 3); /* the features that there are */
		CHECK_CALL(regset(PT_SETREGSET, pid, 0x202, state, &len));
		state[520] = 1; /* a header that the CPU would refuse */
		CHECK(regset(PT_SETREGSET, pid, 0x202, state, &len) == -1);
		state[520] = 0;
		memset(state + 24, 0xff, 4); /* bits of MXCSR that there are not */
		CHECK(regset(PT_SETREGSET, pid, 0x202, state, &len) == -1);
		len = 512;
		CHECK(regset(PT_SETREGSET, pid, 2, state, &len) == -1);
	}
	kill_tracee(pid);
}

#define REG_FS_BASE 21
#define REG_DS	    23
#define SELECTOR    0x2b /* one that a program may load, here and on Linux */

/* Selectors of data are the debugger's to write; those of another privilege are refused. */
static void selectors(void)
{
	pid_t pid = tracee(nothing, 0);
	struct regs regs;
	unsigned long len = sizeof(regs), w = 0;

	for (int i = REG_DS; i < NR_REGS; i++) {
		CHECK_EQ(get_regs(pid).r[i], 0);
		CHECK_ERRNO(pt(PT_POKEUSR, pid, i * 8, 1), EIO);
		CHECK_ERRNO(pt(PT_POKEUSR, pid, i * 8, SELECTOR - 3), EIO);
		CHECK_CALL(pt(PT_POKEUSR, pid, i * 8, SELECTOR));
	}
	step(pid);
	regs = get_regs(pid);
	for (int i = REG_DS; i < NR_REGS; i++)
		CHECK_EQ(regs.r[i], SELECTOR);
	regs.r[REG_DS] = 2;
	CHECK_ERRNO(regset(PT_SETREGSET, pid, 1, &regs, &len), EIO);
	for (int i = REG_DS; i < NR_REGS; i++)
		CHECK_CALL(pt(PT_POKEUSR, pid, i * 8, 0x337)); /* there is no such one */
	step(pid);
	for (int i = REG_DS; i < NR_REGS; i++)
		CHECK_EQ(get_regs(pid).r[i], 0);
	CHECK_CALL(pt(PT_ARCH_PRCTL, pid, 0x1234000, 0x1002)); /* ARCH_SET_FS */
	step(pid);
	CHECK_EQ(get_regs(pid).r[REG_FS_BASE], 0x1234000);
	CHECK_CALL(pt(PT_ARCH_PRCTL, pid, 0x5678000, 0x1001)); /* ARCH_SET_GS */
	CHECK_CALL(pt(PT_ARCH_PRCTL, pid, (unsigned long)&w, 0x1004));
	CHECK_EQ(w, 0x5678000);
	CHECK_ERRNO(pt(PT_ARCH_PRCTL, pid, 1UL << 63, 0x1001), EPERM);
	kill_tracee(pid);
}

static void stops_with_selector(void)
{
	__asm__ volatile("movl %0, %%gs" : : "r"(1));
	kill(getpid(), SIGUSR1);
}

/* A null selector that only a program may choose does not keep the debugger from writing another register. */
static void odd_selector(void)
{
	pid_t pid = tracee(stops_with_selector, 0);

	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	CHECK_RANGE(get_regs(pid).r[NR_REGS - 1], 0, 1); /* a return from an interrupt may have changed it to 0 */
	CHECK_CALL(pt(PT_POKEUSR, pid, 0, 99));
	CHECK_EQ(get_regs(pid).r[0], 99);
	kill_tracee(pid);
}

#define UPPER_HALF 0x1234567800000000

/* The number of a call is the lower half of rax. */
static void call_with_upper_half(void)
{
	long ret = UPPER_HALF + SYS_getpgid;

	__asm__ volatile("syscall" : "+a"(ret) : "D"(0x7ffffffL) : "rcx", "r11", "memory");
	CHECK_EQ(ret, -ESRCH);
}

/* A debugger sees all of it, and may write it without another call being made. */
static void upper_half(void)
{
	pid_t pid = tracee(call_with_upper_half, OPT_SYSGOOD);
	struct regs regs;

	to_call(pid, SYS_getpgid);
	regs = get_regs(pid);
	CHECK_EQ(regs.r[REG_NR], UPPER_HALF + SYS_getpgid);
	regs.r[REG_NR] = 0xffffffff00000000 + SYS_getpgid;
	set_regs(pid, regs);
	CHECK_EQ(call_info(pid, 80).entry[0], SYS_getpgid);
	CHECK_CALL(pt(PT_SYSCALL, pid, 0, 0));
	CHECK_EQ(news(pid), CALL_STOP);
	CHECK_EQ(get_regs(pid).r[REG_NR], 0xffffffff00000000 + SYS_getpgid);
	go_on(pid, 0);
	CHECK_EQ(news(pid), 0);
}
#endif

/* --- races --- */

/* The last register of the FPU holds `value` when this asks for a stop. */
static void stops_with(unsigned long value)
{
	const long me = getpid(); /* before registers are chosen, since a call may change them */
#ifdef __aarch64__
	register long nr __asm__("x8") = SYS_kill, pid __asm__("x0") = me, sig __asm__("x1") = SIGUSR1;

	__asm__ volatile("fmov d31, %[value]\n\tsvc #0"
			 : "+r"(pid)
			 : [value] "r"(value), "r"(nr), "r"(sig)
			 : "v31", "memory");
#else
	long nr = SYS_kill;

	__asm__ volatile("movq %[value], %%xmm15\n\tsyscall"
			 : "+a"(nr)
			 : [value] "r"(value), "D"(me), "S"((long)SIGUSR1)
			 : "rcx", "r11", "xmm15", "memory");
#endif
}

static void stops_on_and_on(void)
{
	for (unsigned long round = 1;; round++)
		stops_with(round);
}

/* A request that comes when the stop has just begun, before the tracee has left its CPU, sees its last registers. */
static void asked_at_once(void)
{
	unsigned char set[1024] __attribute__((aligned(16)));
	pid_t pid = tracee(stops_on_and_on, 0);

	for (unsigned long round = 1; round <= 300; round++) {
		unsigned long len = sizeof(set), value;

		go_on(pid, 0);
		while (regset(PT_GETREGSET, pid, 2, set, &len) && errno == ESRCH)
			vt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
#ifdef __aarch64__
		memcpy(&value, set + 16 * 31, sizeof(value));
#else
		memcpy(&value, set + 160 + 16 * 15, sizeof(value));
#endif
		if (!CHECK_EQ(value, round))
			break;
		CHECK_EQ(news(pid), STOP(SIGUSR1));
	}
	kill(pid, SIGKILL);
	while (news(pid) != SIGKILL)
		;
}

static void kills(void *arg)
{
	vt_syscall(SYS_kill, (pid_t)(long)arg, SIGKILL, 0, 0, 0, 0);
}

/* A request finds the tracee, or is told that it is gone; its registers are never those of a task that runs. */
static void killed_meanwhile(void)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = tracee(sleep_on, OPT_SYSGOOD), killer;
		struct regs regs;
		unsigned long len = sizeof(regs);

		killer = thread_start(-1, kills, (void *)(long)pid);
		while (regset(PT_GETREGSET, pid, 1, &regs, &len) == 0) {
			regset(PT_SETREGSET, pid, 1, &regs, &len);
			if (i % 2)
				pt(PT_CONT, pid, 0, 0);
		}
		CHECK_EQ(errno, ESRCH);
		while (news(pid) != SIGKILL)
			pt(PT_CONT, pid, 0, 0);
		CHECK(thread_join(&killer, 1));
	}
}

/* Many begin and end at the same time, and nobody is left behind. */
static void storm(void)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = sleeper(), debugger[3];

		for (int j = 0; j < 3; j++) {
			debugger[j] = check_fork();
			if (debugger[j])
				continue;
			for (int k = 0; k < 10; k++) {
				if (pt(j ? PT_SEIZE : PT_ATTACH, pid, 0, 0))
					continue;
				pt(PT_INTERRUPT, pid, 0, 0);
				if (waitpid(pid, NULL, ALL_CHILDREN) == pid && k % 2)
					pt(PT_DETACH, pid, 0, 0);
				else
					_exit(0);
			}
			_exit(0);
		}
		for (int j = 0; j < 3; j++)
			CHECK_EQ(check_wait(debugger[j]), 0);
		kill(pid, SIGCONT);
		process_gets(pid, 'S');
		finish(pid);
	}
}

static const struct check_case cases[] = {
	{"syscalls", syscalls},
	{"argument", argument},
	{"interrupted", interrupted},
	{"killed_before_a_call", killed_before_a_call},
	{"fp_registers", fp_registers},
	{"hostile_registers", hostile_registers},
	{"other_registers", other_registers},
#ifdef __x86_64__
	{"selectors", selectors},
	{"odd_selector", odd_selector},
	{"upper_half", upper_half},
#endif
	{"asked_at_once", asked_at_once},
	{"killed_meanwhile", killed_meanwhile},
	{"storm", storm},
};

int main(int argc, char **argv)
{
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

/* ptrace(2) for tests: its numbers, requests that say what went wrong, tracees and their stops. */
#ifndef TRACEE_H
#define TRACEE_H

#include <posix.h>

/* With names of our own, since the C library of the host has them as an enum. */
enum {
	PT_TRACEME,
	PT_PEEK = 2,
	PT_PEEKUSR,
	PT_POKE = 5,
	PT_POKEUSR,
	PT_CONT,
	PT_KILL,
	PT_STEP,
	PT_GETREGS = 12,
	PT_ATTACH = 16,
	PT_DETACH,
	PT_SYSCALL = 24,
	PT_ARCH_PRCTL = 30, /* x86_64 */
	PT_SETOPTIONS = 0x4200,
	PT_GETEVENTMSG,
	PT_GETSIGINFO,
	PT_SETSIGINFO,
	PT_GETREGSET,
	PT_SETREGSET,
	PT_SEIZE,
	PT_INTERRUPT,
	PT_LISTEN,
	PT_GETSIGMASK = 0x420a,
	PT_SETSIGMASK,
	PT_SYSCALL_INFO = 0x420e,
};
enum { EV_FORK = 1, EV_VFORK, EV_CLONE, EV_EXEC, EV_VFORK_DONE, EV_EXIT, EV_STOP = 128 };
#define OPT(event)   (1L << (event))
#define OPT_SYSGOOD  1L
#define OPT_EXITKILL (1L << 20)
#define ALL_CHILDREN 0x40000000 /* __WALL */
#define TRAPPED	     4		/* CLD_TRAPPED */

/* What a wait tells of a stop, and of an event. */
#define STOP(sig)	 ((sig) << 8 | 0x7f)
#define EVENT(sig, what) ((what) << 16 | STOP(sig))
#define CALL_STOP	 STOP(SIGTRAP | 0x80)

struct iov {
	void *base;
	unsigned long len;
};

/* As the system call has it: PT_PEEK stores the word at `data`. -1 with errno. */
static inline long pt(long request, pid_t pid, unsigned long addr, unsigned long data)
{
	return check_syscall(SYS_ptrace, request, pid, (long)addr, (long)data, 0, 0);
}

/* The next news of this task: its status. */
static inline int news(pid_t pid)
{
	int status = -1;

	CHECK_EQ(waitpid(pid, &status, ALL_CHILDREN), pid);
	return status;
}

static inline void go_on(pid_t pid, int sig)
{
	CHECK_CALL(pt(PT_CONT, pid, 0, sig));
}

static inline unsigned long message(pid_t pid)
{
	unsigned long m = 0;

	CHECK_CALL(pt(PT_GETEVENTMSG, pid, 0, (unsigned long)&m));
	return m;
}

/* A child that asks to be traced, has stopped by SIGSTOP, and then does f. With these options. */
static inline pid_t tracee(void (*f)(void), long options)
{
	pid_t pid = check_fork();

	if (pid == 0) {
		if (pt(PT_TRACEME, 0, 0, 0))
			_exit(90);
		kill(getpid(), SIGSTOP);
		f();
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(news(pid), STOP(SIGSTOP));
	CHECK_CALL(pt(PT_SETOPTIONS, pid, 0, options));
	return pid;
}

static inline void kill_tracee(pid_t pid)
{
	CHECK_CALL(kill(pid, SIGKILL));
	CHECK_EQ(news(pid), SIGKILL);
}

/* General registers, as NT_PRSTATUS has them: words, and the numbers of those that tests look at. */
#ifdef __aarch64__
#define NR_REGS	  34
#define REG_PC	  32
#define REG_SP	  31
#define REG_RET	  0
#define REG_ARG0  0
#define STEP_OVER 4 /* bytes of the instruction that calls the kernel */
#else
#define NR_REGS	  27
#define REG_PC	  16
#define REG_SP	  19
#define REG_RET	  10
#define REG_ARG0  14
#define REG_NR	  15
#define STEP_OVER 2
#endif
struct regs {
	unsigned long r[NR_REGS];
};

static inline long regset(long request, pid_t pid, long type, void *buf, unsigned long *len)
{
	struct iov iov = {buf, *len};
	long ret = pt(request, pid, type, (unsigned long)&iov);

	*len = iov.len;
	return ret;
}

static inline struct regs get_regs(pid_t pid)
{
	struct regs regs;
	unsigned long len = sizeof(regs);

	CHECK_CALL(regset(PT_GETREGSET, pid, 1, &regs, &len));
	CHECK_EQ(len, sizeof(regs));
	return regs;
}

static inline void set_regs(pid_t pid, struct regs regs)
{
	unsigned long len = sizeof(regs);

	CHECK_CALL(regset(PT_SETREGSET, pid, 1, &regs, &len));
}

/* One step, which must be the next news. */
static inline void step(pid_t pid)
{
	siginfo_t info;

	CHECK_CALL(pt(PT_STEP, pid, 0, 0));
	CHECK_EQ(news(pid), STOP(SIGTRAP));
	CHECK_CALL(pt(PT_GETSIGINFO, pid, 0, (unsigned long)&info));
	CHECK_EQ(info.si_signo, SIGTRAP);
}

/* What PTRACE_GET_SYSCALL_INFO tells. */
struct call_info {
	unsigned char op, pad[3];
	unsigned arch;
	unsigned long pc, sp;
	union {
		unsigned long entry[7]; /* nr, args */
		struct {
			long rval;
			unsigned char is_error;
		} exit;
	};
};

/* To the next stop of this call, with or without others before it. */
static inline struct call_info to_call(pid_t pid, long nr)
{
	struct call_info info;

	do {
		CHECK_CALL(pt(PT_SYSCALL, pid, 0, 0));
		if (!CHECK_EQ(news(pid), CALL_STOP))
			exit(1);
		memset(&info, 0, sizeof(info));
		pt(PT_SYSCALL_INFO, pid, sizeof(info), (unsigned long)&info);
	} while (info.op != 1 || info.entry[0] != (unsigned long)nr);
	return info;
}

#endif

/* Processes that share their memory: starting them needs a few instructions of each machine. */
#include <thread.h>

#include <numbers.h>
#include <signal.h>
#include <sched.h>

#define FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES)

#define STACK_SIZE 16384
struct thread {
	char stack[STACK_SIZE] __attribute__((aligned(16)));
	void (*f)(void *arg);
	void *arg;
	int cpu;
};
static struct thread threads[THREAD_MAX];
static int next;

static void thread_main(struct thread *t)
{
	if (t->cpu >= 0)
		check_pin(t->cpu);
	t->f(t->arg);
}

/*
 * The child begins behind the call with `stack` as its stack pointer: so it takes function and argument
 * from registers. It has no frame from its first instruction on, which may be where it is looked at.
 */
static long start(long flags, void *stack, void (*f)(struct thread *), struct thread *t)
{
#ifdef __aarch64__
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = flags;
	register void *x1 __asm__("x1") = stack;
	register long x2 __asm__("x2") = 0, x3 __asm__("x3") = 0, x4 __asm__("x4") = 0;
	register void *x19 __asm__("x19") = (void *)f, *x20 __asm__("x20") = t;

	__asm__ volatile("mov x21, x29\n\t"
			 "mov x29, xzr\n\t"
			 "svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x0, x20\n\t"
			 "blr x19\n\t"
			 "mov x0, #0\n\t"
			 "mov x8, %[exit]\n\t"
			 "svc #0\n"
			 "1:\tmov x29, x21"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19), "r"(x20), [exit] "i"(SYS_exit)
			 : "x21", "memory");
	return x0;
#else
	register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
	register void *r12 __asm__("r12") = (void *)f, *r13 __asm__("r13") = t;
	long ret;

	__asm__ volatile("mov %%rbp, %%r14\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "call *%%r12\n\t"
			 "mov %[exit], %%eax\n\t"
			 "xor %%edi, %%edi\n\t"
			 "syscall\n"
			 "1:\tmov %%r14, %%rbp"
			 : "=a"(ret)
			 : "a"((long)SYS_clone), "D"(flags), "S"(stack), "d"(0L), "r"(r10), "r"(r8), "r"(r12),
			   "r"(r13), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "r14", "memory");
	return ret;
#endif
}

static long try_with(long flags, int cpu, void (*f)(void *arg), void *arg)
{
	struct thread *t = &threads[next++ % THREAD_MAX];

	t->f = f;
	t->arg = arg;
	t->cpu = cpu;
	fflush(stdout);
	return start(flags, t->stack + STACK_SIZE, thread_main, t);
}

static pid_t start_with(long flags, int cpu, void (*f)(void *arg), void *arg)
{
	long pid = try_with(flags, cpu, f, arg);

	if (pid < 0) {
		errno = (int)-pid;
		vt_die_errno(2, "clone");
	}
	return (pid_t)pid;
}

pid_t thread_start(int cpu, void (*f)(void *arg), void *arg)
{
	return start_with(FLAGS | SIGCHLD, cpu, f, arg);
}

pid_t thread_start_in_group(void (*f)(void *arg), void *arg)
{
	return start_with(FLAGS | CLONE_SIGHAND | CLONE_THREAD, -1, f, arg);
}

long thread_try_in_group(void (*f)(void *arg), void *arg)
{
	return try_with(FLAGS | CLONE_SIGHAND | CLONE_THREAD, -1, f, arg);
}

bool thread_join(const pid_t *pids, int n)
{
	bool good = true;

	for (int i = 0; i < n; i++)
		good &= check_wait(pids[i]) == 0;
	return good;
}

/* sigstack: handlers on stacks of their own. */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <sys/mman.h>

static volatile sig_atomic_t seen[NSIG];

static void note(int sig, siginfo_t *info, void *context)
{
	seen[sig]++;
}

#define STACK 65536
static char other_stack[STACK] __attribute__((aligned(16)));
static uintptr_t deepest, in_second;
static int flags_inside, error_inside;

static bool on_it(uintptr_t p)
{
	return p - (uintptr_t)other_stack < STACK;
}

static void second(int sig, siginfo_t *info, void *context)
{
	in_second = (uintptr_t)__builtin_frame_address(0);
}

static void look_at_stack(int sig, siginfo_t *info, void *context)
{
	stack_t now, off = {.ss_flags = SS_DISABLE};

	deepest = (uintptr_t)__builtin_frame_address(0);
	CHECK_CALL(sigaltstack(NULL, &now));
	flags_inside = now.ss_flags;
	error_inside = sigaltstack(&off, NULL) ? errno : 0;
	raise(SIGUSR2);
	seen[sig]++;
}

static void stacks(void)
{
	stack_t stack = {.ss_sp = other_stack, .ss_size = STACK}, old;

	CHECK_CALL(sigaltstack(NULL, &old));
	CHECK_EQ(old.ss_flags, SS_DISABLE);
	CHECK_CALL(sigaltstack(&stack, NULL));
	CHECK_CALL(sigaltstack(NULL, &old));
	CHECK_EQ(old.ss_flags, 0);
	CHECK(old.ss_sp == other_stack && old.ss_size == STACK);
	handle_with(SIGUSR1, look_at_stack, SA_ONSTACK, NULL);
	handle_with(SIGUSR2, second, SA_ONSTACK, NULL);
	raise(SIGUSR1);
	CHECK(on_it(deepest));
	CHECK_EQ(flags_inside, SS_ONSTACK);
	CHECK_EQ(error_inside, EPERM);
	CHECK(on_it(in_second) && in_second < deepest); /* further down the same one, not from its top again */
	CHECK_CALL(sigaltstack(NULL, &old));
	CHECK_EQ(old.ss_flags, 0);
	handle_with(SIGUSR1, look_at_stack, 0, NULL); /* not asked for */
	in_second = deepest = 0;
	raise(SIGUSR1);
	CHECK(!on_it(deepest));
	CHECK_EQ(flags_inside, 0);
	CHECK_EQ(error_inside, 0);
	CHECK(!on_it(in_second)); /* switched off by the first handler, and on again when that one returned */
	CHECK_CALL(sigaltstack(NULL, &old));
	CHECK_EQ(old.ss_flags, 0);
}

static void has_the_stack(void)
{
	stack_t old;

	CHECK_CALL(sigaltstack(NULL, &old));
	CHECK(old.ss_sp == other_stack);
}

static void bad_stacks(void)
{
	stack_t stack = {.ss_sp = other_stack, .ss_size = STACK}, old;

	CHECK_CALL(sigaltstack(&stack, NULL));
	stack.ss_size = 1024;
	CHECK_ERRNO(sigaltstack(&stack, NULL), ENOMEM);
	stack.ss_size = STACK;
	stack.ss_flags = 4;
	CHECK_ERRNO(sigaltstack(&stack, NULL), EINVAL);
	stack.ss_flags = SS_ONSTACK | SS_DISABLE;
	CHECK_ERRNO(sigaltstack(&stack, NULL), EINVAL);
	CHECK_ERRNO(sigaltstack((void *)8, NULL), EFAULT);
	CHECK_ERRNO(sigaltstack(NULL, (void *)8), EFAULT);
	CHECK_CALL(sigaltstack(NULL, &old)); /* as before all this */
	CHECK(old.ss_sp == other_stack && old.ss_size == STACK && old.ss_flags == 0);
	stack.ss_flags = SS_ONSTACK; /* allowed, and says nothing */
	CHECK_CALL(sigaltstack(&stack, NULL));
	CHECK_EQ(check_in_child(has_the_stack), 0); /* a child's is where its parent's is */
}

/* No frame can be written: the process ends, whatever handler it has for that. */
static void unmapped_stack(void)
{
	stack_t stack = {.ss_size = STACK};

	stack.ss_sp = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK_CALL(sigaltstack(&stack, NULL));
	handle_with(SIGUSR1, note, SA_ONSTACK, NULL);
	handle_with(SIGSEGV, note, SA_ONSTACK, NULL);
	raise(SIGUSR1);
	CHECK_EQ(seen[SIGUSR1], 1);
	munmap(stack.ss_sp, STACK);
	raise(SIGUSR1);
}

static void no_room(void)
{
	CHECK_EQ(check_in_child(unmapped_stack) & 0x7f, SIGSEGV);
}

/* Handlers inside handlers, until the stack of 8 pages has no room for a frame; the page below belongs to others. */
#define SMALL 32768
static char *below;

static void again(int sig, siginfo_t *info, void *context)
{
	if (++seen[SIGUSR1] < 200)
		raise(SIGUSR1);
}

static void fill_stack(void)
{
	stack_t stack = {.ss_sp = below + SMALL, .ss_size = SMALL};

	CHECK_CALL(sigaltstack(&stack, NULL));
	handle_with(SIGUSR1, again, SA_ONSTACK | SA_NODEFER, NULL);
	raise(SIGUSR1);
}

static void too_deep(void)
{
	unsigned written = 0;

	below = mmap(NULL, 2 * SMALL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(below != MAP_FAILED);
	CHECK_EQ(check_in_child(fill_stack) & 0x7f, SIGSEGV);
	for (unsigned i = 0; i < SMALL; i++)
		written += below[i] != 0;
	CHECK_EQ(written, 0);
}

static void exit_with_code(int sig, siginfo_t *info, void *context)
{
	_exit(info->si_code);
}

/* The si_code of the SIGSEGV that a child gets which returns from a signal with its stack pointer there. */
static int code_of_return(const char *sp)
{
	int status = 0, pid = CHECK_CALL(fork());

	if (!pid) {
		stack_t alternate = {.ss_sp = other_stack, .ss_size = STACK};
		struct sigaction act = {.sa_sigaction = exit_with_code, .sa_flags = SA_SIGINFO | SA_ONSTACK};

		CHECK_CALL(sigaltstack(&alternate, NULL));
		CHECK_CALL(sigaction(SIGSEGV, &act, NULL));
#ifdef __aarch64__
		__asm__ volatile("mov sp, %0\n\tmov x8, %1\n\tsvc #0"
				 :
				 : "r"(sp), "i"(SYS_rt_sigreturn)
				 : "memory", "x8");
#else
		__asm__ volatile("mov %0, %%rsp\n\tmov %1, %%eax\n\tsyscall"
				 :
				 : "r"(sp), "i"(SYS_rt_sigreturn)
				 : "memory");
#endif
		_exit(99);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/*
 * A frame that cannot be read. aarch64 looks for memory at the stack pointer or above, which is zero after a frame of
 * which nothing could be read, and is what it was after a frame at which the kernel has not looked. x86 does not look.
 */
static void frames_that_cannot_be_read(void)
{
#ifdef __aarch64__
	const int unreadable = SEGV_ACCERR, above = SEGV_MAPERR;
#else
	const int unreadable = SI_KERNEL, above = SI_KERNEL;
#endif
	char *p = mmap(NULL, 12288, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK_CALL(munmap(p, 4096));
	CHECK_CALL(munmap(p + 8192, 4096));
	CHECK_EQ(code_of_return(p + 4096), unreadable);
	CHECK_EQ(code_of_return(p + 8192), unreadable);
	CHECK_EQ(code_of_return((char *)0xfffffffffff8), above);
	CHECK_EQ(code_of_return((char *)0xffffffc000000000), above);
	CHECK_CALL(munmap(p + 4096, 4096));
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"stacks", stacks},
		{"bad-stacks", bad_stacks},
		{"no-room", no_room},
		{"too-deep", too_deep},
		{"unreadable-frames", frames_that_cannot_be_read},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

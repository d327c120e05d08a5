/* frametest: what a signal handler finds on its stack, what it may change there, and what it may not. */
#include <check.h>
#include <fcntl.h>
#include <frames.h>
#include <numbers.h>
#include <sched.h>
#include <sys/mman.h>
#include <vectors.h>
#include <watch.h>

#define BIT_OF(sig) (1UL << ((sig)-1))
#define SPOILED	    400 /* frames spoiled in each round */

static volatile int seen;
static sigset_t mask;			  /* of the program, as the cases set it */
static volatile unsigned long handler_at; /* an address in the handler's own frame */

/* Without the C library, whose functions may use vector registers. */
static void signal_self(int sig)
{
	vt_syscall(SYS_kill, vt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), sig, 0, 0, 0, 0);
}

static void look_around(int sig, void *info, void *uc)
{
	const int *words = info;
	int here;

	seen++;
	handler_at = (unsigned long)&here;
	CHECK_EQ(words[0], SIGUSR1);
	CHECK_EQ(words[2], 0); /* SI_USER */
	CHECK_EQ(words[4], getpid());
	CHECK_EQ(*frame_word(uc, 0) & ~7UL, 0); /* uc_flags */
	CHECK_EQ(*frame_word(uc, 8), 0);	/* uc_link */
	CHECK_EQ(*frame_word(uc, FRAME_MASK), mask);
	CHECK_RANGE(*frame_word(uc, FRAME_SP) - (unsigned long)&here, 0, 8192);
	CHECK_RANGE(*frame_word(uc, FRAME_PC) - (unsigned long)signal_self, 0, 256);
	CHECK(frame_vectors_marked(frame_vectors(uc)));
	CHECK_EQ((unsigned long)__builtin_frame_address(0) % 16, 0);
}

static void layout(void)
{
	mask = BIT_OF(SIGUSR2);
	CHECK_CALL(sigprocmask(SIG_SETMASK, &mask, NULL));
	CHECK_CALL(frame_handle(SIGUSR1, look_around, 0));
	signal_self(SIGUSR1);
	CHECK_EQ(seen, 1);
}

static void change_mask(int sig, void *info, void *uc)
{
	*frame_word(uc, FRAME_MASK) = ~0UL;
}

/* What the handler leaves there is the mask afterwards, but for what cannot be blocked. */
static void mask_from_frame(void)
{
	sigset_t now;

	CHECK_CALL(frame_handle(SIGUSR1, change_mask, 0));
	signal_self(SIGUSR1);
	CHECK_CALL(sigprocmask(SIG_SETMASK, NULL, &now));
	CHECK_EQ(now, ~(BIT_OF(SIGKILL) | BIT_OF(SIGSTOP)));
}

static void arrived(void)
{
	_exit(seen == 1 ? 7 : 1);
}

static void go_elsewhere(int sig, void *info, void *uc)
{
	seen++;
	*frame_word(uc, FRAME_PC) = (unsigned long)arrived;
	*frame_word(uc, FRAME_SP) &= ~15UL;
#ifdef __x86_64__
	*frame_word(uc, FRAME_SP) -= 8 + RED_ZONE; /* as after a call */
#endif
}

static void jump(void)
{
	CHECK_CALL(frame_handle(SIGUSR1, go_elsewhere, 0));
	signal_self(SIGUSR1);
}

static void pc_from_frame(void)
{
	int status = check_in_child(jump);

	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 7);
}

static void change_vector(int sig, void *info, void *uc)
{
	unsigned long *word = frame_word(frame_vectors(uc), FRAME_VECTOR);

	CHECK_EQ(*word, 0x1234567812345678);
	*word = 0x7777777777777777;
	vectors_set(0x5555555555555555);
}

/* The frame has the registers as they were, and gives them back, changed where the handler has changed them.
 */
static void vectors_from_frame(void)
{
	long got[VECTORS];

	CHECK_CALL(frame_handle(SIGUSR1, change_vector, 0));
	vectors_set(0x1234567812345678);
	signal_self(SIGUSR1);
	vectors_get(got);
	CHECK_EQ(got[0], 0x7777777777777777);
	CHECK_EQ(got[VECTORS - 1], 0x1234567812345678);
}

static char stack[2][16384] __attribute__((aligned(16)));

static bool on_stack(int which, unsigned long at)
{
	return at - (unsigned long)stack[which] < sizeof(stack[which]);
}

static void set_stack(int which, unsigned flags, unsigned long size)
{
	struct alt_stack alt = {stack[which], flags, 0, size};

	CHECK_CALL(check_syscall(SYS_sigaltstack, (long)&alt, 0, 0, 0, 0, 0));
}

static struct alt_stack get_stack(void)
{
	struct alt_stack alt = {NULL, 0, 0, 0};

	CHECK_CALL(check_syscall(SYS_sigaltstack, 0, (long)&alt, 0, 0, 0, 0));
	return alt;
}

static void on_alternate(int sig, void *info, void *uc)
{
	const struct alt_stack alt = {stack[1], 0, 0, sizeof(stack[1])}, *saved = (void *)frame_word(uc, FRAME_STACK);
	int here;

	seen++;
	CHECK(on_stack(0, (unsigned long)&here));
	CHECK(!on_stack(0, *frame_word(uc, FRAME_SP)) || sig == SIGUSR2);
	CHECK(saved->sp == stack[0] && saved->size == sizeof(stack[0]));
	CHECK_EQ(get_stack().flags, 1); /* SS_ONSTACK */
	CHECK_ERRNO(check_syscall(SYS_sigaltstack, (long)&alt, 0, 0, 0, 0, 0), EPERM);
	if (sig == SIGUSR1)
		signal_self(SIGUSR2); /* on the same stack, further down */
}

static void alternate(void)
{
	struct alt_stack small = {stack[0], 0, 0, 100};

	CHECK_EQ(get_stack().flags, SS_DISABLE);
	CHECK_ERRNO(check_syscall(SYS_sigaltstack, (long)&small, 0, 0, 0, 0, 0), ENOMEM);
	set_stack(0, 0, sizeof(stack[0]));
	CHECK_CALL(frame_handle(SIGUSR1, on_alternate, SA_ONSTACK));
	CHECK_CALL(frame_handle(SIGUSR2, on_alternate, SA_ONSTACK));
	signal_self(SIGUSR1);
	CHECK_EQ(seen, 2);
	CHECK_EQ(get_stack().flags, 0);
	set_stack(0, SS_DISABLE, 0);
	CHECK_CALL(frame_handle(SIGUSR1, look_around, SA_ONSTACK));
	signal_self(SIGUSR1);
	CHECK(!on_stack(0, handler_at));
}

static void while_disarmed(int sig, void *info, void *uc)
{
	int here;

	seen++;
	CHECK(on_stack(0, (unsigned long)&here));
	CHECK_EQ(get_stack().flags, SS_DISABLE);
	set_stack(1, 0, sizeof(stack[1])); /* allowed, and forgotten when the handler returns */
}

/* A stack that is taken away while a handler runs on it, and comes back. */
static void disarmed(void)
{
	set_stack(0, SS_AUTODISARM, sizeof(stack[0]));
	CHECK_CALL(frame_handle(SIGUSR1, while_disarmed, SA_ONSTACK));
	signal_self(SIGUSR1);
	signal_self(SIGUSR1);
	CHECK_EQ(seen, 2);
	CHECK(get_stack().sp == stack[0]);
	CHECK_EQ(get_stack().flags, SS_AUTODISARM);
}

/* Each handler on top of the one before, until the alternate stack is full. */
static void deeper(int sig, void *info, void *uc)
{
	signal_self(sig);
}

static void overflow(void)
{
	set_stack(1, 0, sizeof(stack[1]));
	CHECK_CALL(frame_handle(SIGUSR1, deeper, SA_ONSTACK | 0x40000000)); /* SA_NODEFER */
	signal_self(SIGUSR1);
}

/* It ends the process, and nothing below the stack is written on. */
static void full(void)
{
	char *below = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct alt_stack alt = {below + 32768, 0, 0, 32768};
	pid_t pid;

	CHECK(below != MAP_FAILED);
	CHECK_EQ(WTERMSIG(check_in_child(overflow)), SIGSEGV);
	pid = check_fork();
	if (!pid) {
		CHECK_CALL(check_syscall(SYS_sigaltstack, (long)&alt, 0, 0, 0, 0, 0));
		CHECK_CALL(frame_handle(SIGUSR1, deeper, SA_ONSTACK | 0x40000000));
		signal_self(SIGUSR1);
		_exit(0);
	}
	CHECK_EQ(WTERMSIG(check_wait(pid)), SIGSEGV);
	for (int i = 0; i < 32768; i++)
		if (!CHECK_EQ(below[i], 0))
			break;
}

/* Without SA_RESTORER, which our sigaction() always sets, the kernel's own page has the way back. */
static void trampoline(void)
{
	struct sigaction act = {.sa_handler = (sighandler_t)(void *)look_around, .sa_flags = SA_SIGINFO};

	mask = BIT_OF(SIGUSR2);
	CHECK_CALL(sigprocmask(SIG_SETMASK, &mask, NULL));
	CHECK_CALL(check_syscall(SYS_rt_sigaction, SIGUSR1, (long)&act, 0, sizeof(sigset_t), 0, 0));
	signal_self(SIGUSR1);
	signal_self(SIGUSR1);
	CHECK_EQ(seen, 2);
}

#define ERESTARTSYS 512 /* the kernel's own: no program sees it, unless it puts it there */

static void look_interrupted(int sig, void *info, void *uc)
{
	*frame_word(uc, FRAME_RESULT) = -ERESTARTSYS;
	*frame_word(uc, FRAME_MASK) &= ~BIT_OF(SIGUSR2);
}

static void count_one(int sig, void *info, void *uc)
{
	seen++;
}

/* A frame whose result looks like an interrupted call's, and another signal at its return: nothing is restarted. */
static void result_from_frame(void)
{
	mask = BIT_OF(SIGUSR2);
	CHECK_CALL(sigprocmask(SIG_SETMASK, &mask, NULL));
	CHECK_CALL(frame_handle(SIGUSR1, look_interrupted, 0));
	CHECK_CALL(frame_handle(SIGUSR2, count_one, 0));
	signal_self(SIGUSR2);
	CHECK_EQ(vt_syscall(SYS_kill, getpid(), SIGUSR1, 0, 0, 0, 0), -ERESTARTSYS);
	CHECK_EQ(seen, 1);
}

#ifdef __aarch64__
static unsigned long wanted_state;

static void change_state(int sig, void *info, void *uc)
{
	*frame_word(uc, FRAME_PC + 8) ^= wanted_state;
}

static void ask_for_more(void)
{
	frame_handle(SIGUSR1, change_state, 0);
	signal_self(SIGUSR1);
	_exit(7);
}

/* A frame that asks for the kernel's mode, for 32-bit code or masked interrupts is refused; flags are the program's. */
static void state_from_frame(void)
{
	static const unsigned long bad[] = {0x5, 0x4, 0x10, 0x80, 0x3c0};

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		int status;

		wanted_state = bad[i];
		status = check_in_child(ask_for_more);
		CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGSEGV);
	}
	wanted_state = 0xf0000000;
	CHECK_EQ(check_in_child(ask_for_more), 7 << 8);
}
#endif

static unsigned long random_state;

/* Bits flipped anywhere in the frame, and half of the time in the vector registers' part. */
static void spoil(int sig, void *info, void *uc)
{
	for (unsigned n = watch_random(&random_state) % 8; n < 8; n++) {
		unsigned long r = watch_random(&random_state);
		char *at = r & 1 ? (char *)uc + (r >> 8) % FRAME_SIZE : frame_vectors(uc) + (r >> 8) % 832;

		*at ^= (char)(r >> 1);
	}
}

/* A frame as it comes: the process goes on somehow, or it is killed. The kernel goes on. */
static void spoiled(void)
{
	int died = 0, null = open("/dev/null", O_RDWR);

	watch_init();
	for (unsigned long i = 1; i <= SPOILED; i++) {
		bool killed;
		pid_t pid = check_fork();

		if (!pid) {
			setpgid(0, 0);
			dup2(null, 1);
			dup2(null, 2);
			random_state = i * 0x9e3779b97f4a7c15UL;
			frame_handle(SIGUSR1, spoil, 0);
			signal_self(SIGUSR1);
			_exit(0);
		}
		died += !!watch_child(pid, 100, &killed);
		watch_sweep(pid);
	}
	CHECK_RANGE(died, SPOILED / 10, SPOILED - 1);
}

/* The register that a C library keeps a thread's own data by. libvt has none, so any value will do. */
#ifdef __aarch64__
static void set_thread_pointer(long value)
{
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(value));
}
static long thread_pointer(void)
{
	long value;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(value));
	return value;
}
#else
#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

/* GS is the program's as well. */
static void set_thread_pointer(long value)
{
	CHECK_CALL(check_syscall(SYS_arch_prctl, ARCH_SET_FS, value, 0, 0, 0, 0));
	CHECK_CALL(check_syscall(SYS_arch_prctl, ARCH_SET_GS, value, 0, 0, 0, 0));
}
static long thread_pointer(void)
{
	long fs = -1, gs = -2;

	CHECK_CALL(check_syscall(SYS_arch_prctl, ARCH_GET_FS, (long)&fs, 0, 0, 0, 0));
	CHECK_CALL(check_syscall(SYS_arch_prctl, ARCH_GET_GS, (long)&gs, 0, 0, 0, 0));
	return fs == gs ? fs : -1;
}

/* Addresses of the kernel, and those that no register may hold. */
static void bad_thread_pointer(void)
{
	static const long bad[] = {-4096, 0x800000000000, 0x7ffffffff000, 0x4000000000000000};

	for (int i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_ERRNO(check_syscall(SYS_clone, CLONE_SETTLS | SIGCHLD, 0, 0, 0, bad[i], 0), EPERM);
}
#endif

/* fork: the child begins with its parent's thread pointer, and each has its own from then on. */
static void thread_pointers(void)
{
	pid_t pid;

	set_thread_pointer(0x42000);
	pid = check_fork();
	if (!pid) {
		CHECK_EQ(thread_pointer(), 0x42000);
		set_thread_pointer(0x24000);
		sched_yield();
		CHECK_EQ(thread_pointer(), 0x24000);
		fflush(stdout);
		_exit(check_failures ? 1 : 0);
	}
	sched_yield();
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(thread_pointer(), 0x42000);
}

#define FRESH "fresh-registers"

/* fork: the child goes on with what is in the registers at that moment, which memory may not have yet. */
static void forked(void)
{
	for (long value = 1; value < 5; value++) {
		long pid;

		vectors_set(0x3636363636363630 + value);
		pid = vt_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
		if (!pid) {
			check_failures = 0;
			vectors_check(0x3636363636363630 + value);
			fflush(stdout);
			_exit(check_failures ? 1 : 0);
		}
		CHECK_EQ(check_wait((pid_t)pid), 0);
	}
}

/* exec: the new program has nothing of what was in the registers. */
static void fresh(void)
{
	char *const argv[] = {"frametest", FRESH, NULL}, *const envp[] = {NULL};
	pid_t pid;

	vectors_set(0x4242424242424242);
	pid = check_fork();
	if (!pid) {
		vectors_set(0x2424242424242424);
		set_thread_pointer(0x24000);
		execve("/proc/self/exe", argv, envp);
		_exit(2);
	}
	CHECK_EQ(check_wait(pid), 0);
	vectors_check(0x4242424242424242);
}

/* The registers that the start of a program does not use: the middle and the last of those that are looked
 * at. */
static int are_fresh(void)
{
	long got[VECTORS];

	vectors_get(got);
	if (thread_pointer())
		return 1;
	for (int i = 2; i < VECTORS; i++)
		if (got[i] == 0x4242424242424242 || got[i] == 0x2424242424242424)
			return 1;
	return 0;
}

/* Each has its own value in the registers, while all of them go round the CPUs and give way to each other. */
static void wander(int self, int cpus)
{
	const long value = (self + 1) * 0x0101010101010101;

	vectors_set(value);
	for (int i = 0; i < 300 && !check_failures; i++) {
		if (i % 4 == 0)
			check_pin((self + i / 4) % cpus);
		else
			sched_yield();
		vectors_check(value);
	}
	_exit(check_failures ? 1 : 0);
}

static void wandering(void)
{
	int cpus = check_cpus();
	pid_t pids[8];

	for (int i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = check_fork();
		if (!pids[i])
			wander(i, cpus);
	}
	for (int i = 0; i < ARRAY_SIZE(pids); i++)
		CHECK_EQ(check_wait(pids[i]), 0);
}

#ifdef RED_ZONE
static long zone_intact(void)
{
	long intact;

	/* Sixteen words below the stack pointer, filled, and looked at after the signal. */
	__asm__ volatile("lea -128(%%rsp), %%rdi\n\tmov $16, %%ecx\n\tmov $0x3c, %%eax\n\trep stosq\n\t"
			 "mov %1, %%eax\n\tmov %2, %%rdi\n\tmov %3, %%rsi\n\tsyscall\n\t"
			 "lea -128(%%rsp), %%rdi\n\tmov $16, %%ecx\n\tmov $0x3c, %%eax\n\t"
			 "repe scasq\n\tsete %%al\n\tmovzbl %%al, %%eax"
			 : "=&a"(intact)
			 : "i"(SYS_kill), "r"((long)getpid()), "r"((long)SIGUSR1)
			 : "rcx", "rdi", "rsi", "r11", "memory", "cc");
	return intact;
}

static void count_only(int sig, void *info, void *uc)
{
	seen++;
}

/* A leaf function's variables below its stack pointer. */
static void red_zone(void)
{
	CHECK_CALL(frame_handle(SIGUSR1, count_only, 0));
	CHECK_EQ(zone_intact(), 1);
	CHECK_EQ(seen, 1);
}

/* Bits of MXCSR that are reserved, which the CPU would not load. */
static void bad_mxcsr(int sig, void *info, void *uc)
{
	*(unsigned *)(frame_vectors(uc) + FRAME_MXCSR) = 0xffffffff;
}

static void load_bad_mxcsr(void)
{
	frame_handle(SIGUSR1, bad_mxcsr, 0);
	signal_self(SIGUSR1);
}

static void clean_state(int sig, void *info, void *uc)
{
	unsigned mxcsr;
	unsigned short fcw;

	seen++;
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(fcw));
	CHECK_EQ(mxcsr, 0x1f80);
	CHECK_EQ(fcw, 0x37f);
	*(char **)((char *)uc + 224) = NULL; /* and on return too */
}

/* A handler begins with the state of a new program; a frame that has none leaves it so. */
static void control_words(void)
{
	unsigned mxcsr = 0x9fc0;
	unsigned short fcw = 0x27f;

	CHECK_EQ(WTERMSIG(check_in_child(load_bad_mxcsr)), SIGSEGV);
	CHECK_CALL(frame_handle(SIGUSR1, clean_state, 0));
	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(fcw));
	signal_self(SIGUSR1);
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(fcw));
	CHECK_EQ(mxcsr, 0x1f80);
	CHECK_EQ(fcw, 0x37f);
	CHECK_EQ(seen, 1);
}
#endif

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"layout", layout},
		{"mask", mask_from_frame},
		{"pc", pc_from_frame},
		{"vectors", vectors_from_frame},
		{"alternate", alternate},
		{"disarmed", disarmed},
		{"full", full},
		{"trampoline", trampoline},
		{"result", result_from_frame},
#ifdef __aarch64__
		{"state", state_from_frame},
#endif
		{"spoiled", spoiled},
		{"thread-pointer", thread_pointers},
		{"forked", forked},
		{"fresh", fresh},
		{"wandering", wandering},
#ifdef RED_ZONE
		{"bad-thread-pointer", bad_thread_pointer},
		{"red-zone", red_zone},
		{"control-words", control_words},
#endif
	};

	if (argc > 1 && !strcmp(argv[1], FRESH))
		return are_fresh();
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

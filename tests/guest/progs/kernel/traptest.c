/* traptest: what each exception of the CPU becomes: the signal, its code, its address; and odd states that
 * system calls meet. */
#include <check.h>
#include <signal.h>
#include <sys/mman.h>

#define ILL_ILLOPN 2
#define FPE_INTDIV 1
#define FPE_FLTDIV 3

/* Of the general registers in x86_64's ucontext, which begin at 40. */
#define REG_ERR	   19
#define REG_TRAPNO 20

/* The start of siginfo_t. */
struct info {
	int signo, error, code, pad;
	unsigned long addr;
};

/* Every function ends in a trap; where it is meant to be, it leaves its own address here. */
static volatile unsigned long expected_addr;
static volatile int wanted_signal, wanted_code;
static volatile int wanted_vector; /* x86_64: number of the exception in the handler's context; -1: any */
static volatile int wanted_error;  /* x86_64: the error code there; 0: any */
/* x86_64: what QEMU 8.2 has a page fault for, at this address, where others have a general protection fault; 0: none */
static volatile unsigned long fault_instead;

static unsigned long context_word(const void *context, unsigned n)
{
	return ((const unsigned long *)((const char *)context + 40))[n];
}

static void on_trap(int sig, struct info *info, void *context)
{
	if (fault_instead && context_word(context, REG_TRAPNO) == 14) {
		expected_addr = fault_instead;
		wanted_code = SEGV_MAPERR;
		wanted_vector = 14;
	}
	CHECK_EQ(sig, wanted_signal);
	CHECK_EQ(info->signo, wanted_signal);
	CHECK_EQ(info->code, wanted_code);
	CHECK_EQ(info->addr, expected_addr);
	if (wanted_vector >= 0)
		CHECK_EQ(context_word(context, REG_TRAPNO), wanted_vector);
	if (wanted_error)
		CHECK_EQ(context_word(context, REG_ERR), wanted_error);
	fflush(stdout);
	_exit(check_failures ? 1 : 0);
}

/* The trap must come, once, as it is described. Some CPUs do not raise it: then `optional` functions return.
 */
static void expect_trap(const char *name, void (*trap)(void), int sig, int code, bool optional)
{
	static const int signals[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV};
	pid_t pid = check_fork();

	if (!pid) {
		struct sigaction act = {.sa_handler = (sighandler_t)(void *)on_trap, .sa_flags = SA_SIGINFO};

		check_failures = 0;
		wanted_signal = sig;
		wanted_code = code;
		for (unsigned i = 0; i < ARRAY_SIZE(signals); i++)
			CHECK_CALL(sigaction(signals[i], &act, NULL));
		trap();
		if (!optional)
			printf("  no trap came\n");
		fflush(stdout);
		_exit(optional ? 0 : 1);
	}
	check_equal(check_wait(pid), 0, name, __FILE__, __LINE__);
}
#define expect(trap, ...)		 (wanted_vector = -1, expect_trap(#trap, trap, __VA_ARGS__))
#define expect_vector(vector, trap, ...) (wanted_vector = (vector), expect_trap(#trap, trap, __VA_ARGS__))

#ifdef __x86_64__
/* `insn` is where the trap is to be reported. */
#define TRAP_AT(before, insn, after)                                                              \
	__asm__ volatile(before "\n\tlea 1f(%%rip), %%rcx\n\tmov %%rcx, %0\n1:\t" insn "\n" after \
			 : "=m"(expected_addr)                                                    \
			 :                                                                        \
			 : "rax", "rcx", "rdx", "memory", "cc")

static void divide_by_zero(void)
{
	TRAP_AT("xor %%edx, %%edx\n\tmov $1, %%eax\n\tmovl $0, -4(%%rsp)", "idivl -4(%%rsp)", "");
}
static void quotient_too_large(void)
{
	TRAP_AT("mov $0x80000000, %%eax\n\tmov $-1, %%edx\n\tmovl $-1, -4(%%rsp)", "idivl -4(%%rsp)", "");
}
static void undefined(void)
{
	TRAP_AT("", "ud2", "");
}
static void breakpoint(void)
{
	__asm__ volatile("int3");
}
static void overflow(void)
{
	__asm__ volatile("int $4");
}
static void privileged(void)
{
	__asm__ volatile("cli");
}
static void kernel_vector(void)
{
	__asm__ volatile("int $14"); /* not user mode's to raise */
}
static void odd_address(void)
{
	fault_instead = 0x8000000000000000;
	(void)*(volatile long *)0x8000000000000000;
}
static void kernel_address(void)
{
	expected_addr = 0xffffffff80200000;
	(void)*(volatile long *)0xffffffff80200000;
}
static void no_kernel_address(void)
{
	expected_addr = 0xffffffff00000000;
	(void)*(volatile long *)0xffffffff00000000;
}
static void kernel_selector(void)
{
	__asm__ volatile("mov %0, %%ds" : : "r"(0x10));
}
static void far_to(unsigned short cs)
{
	struct {
		unsigned offset;
		unsigned short cs;
	} __attribute__((packed)) to = {0, cs};

	__asm__ volatile("ljmpl *%0" : : "m"(to));
}
static void kernel_segment(void)
{
	far_to(0x08);
}
static void program_of_32_bits(void)
{
	far_to(0x1b);
}
/* Within user mode IRET is allowed. QEMU's TCG reads its stack as the kernel would, which SMAP refuses. */
static void return_from_nothing(void)
{
	__asm__ volatile("mov %%rsp, %%rcx\n\tpush %1\n\tpush %%rcx\n\tpushf\n\tpush %2\n\t"
			 "lea 1f(%%rip), %%rcx\n\tpush %%rcx\n\t"
			 "mov %%rsp, %0\n\tiretq\n1:"
			 : "=m"(expected_addr)
			 : "r"(0x23L), "r"(0x2bL)
			 : "rcx", "memory", "cc");
}
static void write_gs_base(void)
{
	TRAP_AT("", "wrgsbase %%rax", "");
}
/* Behind 0/0, which is masked and leaves its flag: the code must be that of the exception that is not masked. */
static void x87_division(void)
{
	__asm__ volatile(
		"fninit\n\tmovw $0x37b, -2(%%rsp)\n\tfldcw -2(%%rsp)\n\tfldz\n\tfldz\n\tfdivrp\n\tfstp %%st(0)\n\t"
		"fld1\n\tfldz\n\tfdivrp\n\tlea 1f(%%rip), "
		"%%rcx\n\tmov %%rcx, %0\n1:\tfwait"
		: "=m"(expected_addr)
		:
		: "rcx", "memory");
}
static void sse_division(void)
{
	TRAP_AT("movl $0x1d80, -4(%%rsp)\n\tldmxcsr -4(%%rsp)\n\tmov $1, %%eax\n\t"
		"cvtsi2sd %%eax, %%xmm0\n\txorpd %%xmm1, %%xmm1",
		"divsd %%xmm1, %%xmm0", "");
}
static void unaligned(void)
{
	__asm__ volatile("pushf\n\torl $0x40000, (%%rsp)\n\tpopf\n\tmov -7(%%rsp), %%eax\n\tpushf\n\tandl $~0x40000, "
			 "(%%rsp)\n\tpopf"
			 :
			 :
			 : "rax", "memory");
}
static void single_step(void)
{
	__asm__ volatile("lea 1f(%%rip), %%rcx\n\tmov %%rcx, %0\n\tpushf\n\torl $0x100, (%%rsp)\n\tpopf\n\tnop\n1:\tnop"
			 : "=m"(expected_addr)
			 :
			 : "rcx", "memory", "cc");
}
static void traps(void)
{
	expect_vector(0, divide_by_zero, SIGFPE, FPE_INTDIV, false);
	expect_vector(0, quotient_too_large, SIGFPE, FPE_INTDIV, false);
	expect_vector(6, undefined, SIGILL, ILL_ILLOPN, false);
	expect_vector(3, breakpoint, SIGTRAP, SI_KERNEL, false);
	expect_vector(4, overflow, SIGSEGV, SI_KERNEL, false);
	expect_vector(13, privileged, SIGSEGV, SI_KERNEL, false);
	expect_vector(13, kernel_vector, SIGSEGV, SI_KERNEL, false);
	expect_vector(13, odd_address, SIGSEGV, SI_KERNEL, false);
	/* By a program, of a page that is there: the same whether there is one. */
	wanted_error = 5;
	expect_vector(14, kernel_address, SIGSEGV, SEGV_MAPERR, false);
	expect_vector(14, no_kernel_address, SIGSEGV, SEGV_MAPERR, false);
	wanted_error = 0x10; /* the selector */
	expect_vector(13, kernel_selector, SIGSEGV, SI_KERNEL, false);
	wanted_error = 0;
	expect(kernel_segment, SIGSEGV, SI_KERNEL, false);
	expect(program_of_32_bits, SIGSEGV, SI_KERNEL, false);
	expect_vector(6, write_gs_base, SIGILL, ILL_ILLOPN, false);
	expect_vector(16, x87_division, SIGFPE, FPE_FLTDIV, false);
	expect_vector(1, single_step, SIGTRAP, TRAP_TRACE, false);
	/* Not under QEMU's TCG. */
	expect_vector(19, sse_division, SIGFPE, FPE_FLTDIV, true);
	expect_vector(17, unaligned, SIGBUS, BUS_ADRALN, true);
	expect(return_from_nothing, SIGSEGV, SEGV_ACCERR, true);
}

#define NR_GETPPID 110

/* getppid() with rsp and flags as they come. */
static long call_with(unsigned long rsp, unsigned long flags)
{
	long result;

	__asm__ volatile(
		"mov %%rsp, %%rbx\n\tpush %2\n\tpopf\n\tmov %3, %%rsp\n\tsyscall\n\tmov %%rbx, %%rsp\n\tcld\n\t"
		"pushf\n\tandl $~0x40000, (%%rsp)\n\tpopf"
		: "=a"(result)
		: "a"(NR_GETPPID), "r"(flags), "r"(rsp)
		: "rbx", "rcx", "r11", "memory", "cc");
	return result;
}

/* The kernel uses neither the stack nor the flags that a program leaves it. */
static void odd_calls(void)
{
	long parent = getppid();
	unsigned short none = 0, data = 0x23;

	CHECK_EQ(call_with(0, 0x202), parent);
	CHECK_EQ(call_with(0x8000000000000000, 0x202), parent);
	CHECK_EQ(call_with(0xffffffff80200000, 0x202), parent);
	CHECK_EQ(call_with(0x1001, 0x602), parent);   /* DF */
	CHECK_EQ(call_with(0x1001, 0x40202), parent); /* AC */
	CHECK_EQ(call_with(0x1001, 0x4202), parent);  /* NT: IRET must not take it for a task switch */
	CHECK_EQ(call_with(0x1001, 0x10202), parent); /* RF */
	__asm__ volatile("mov %0, %%fs\n\tmov %0, %%gs\n\tmov %0, %%es" : : "r"(data));
	CHECK_EQ(getppid(), parent);
	check_sleep(1000000);
	__asm__ volatile("mov %0, %%fs\n\tmov %0, %%gs\n\tmov %0, %%es" : : "r"(none));
	CHECK_EQ(getppid(), parent);
}

/* The direction flag is the program's across faults and calls, and never the kernel's. */
static void backwards(void)
{
	char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long flags, sum = 0;

	CHECK(page != MAP_FAILED);
	__asm__ volatile("std\n\tmovb $1, (%1)\n\tmovb $1, 32768(%1)\n\tpushf\n\tpop %0\n\tcld"
			 : "=r"(flags)
			 : "r"(page)
			 : "memory");
	CHECK(flags & 0x400);
	for (unsigned i = 0; i < 65536; i++)
		sum += page[i];
	CHECK_EQ(sum, 2);
}

static volatile unsigned long stepped, step_limit;

#define REG_EFL 17 /* of the ucontext's general registers, which begin at 40 */

static void on_step(int sig, struct info *info, void *context)
{
	unsigned long *gregs = (unsigned long *)((char *)context + 40);

	CHECK_EQ(info->code, TRAP_TRACE);
	if (++stepped == step_limit)
		gregs[REG_EFL] &= ~0x100UL;
}

/* Single steps through a system call and out of handlers: one after each instruction, none in the kernel. */
static void steps(void)
{
	struct sigaction act = {.sa_handler = (sighandler_t)(void *)on_step, .sa_flags = SA_SIGINFO};
	long result;

	CHECK_CALL(sigaction(SIGTRAP, &act, NULL));
	step_limit = 5;
	__asm__ volatile("pushf\n\torl $0x100, (%%rsp)\n\tpopf\n\tnop\n\tnop\n\tsyscall\n\tnop\n\tnop\n\tnop\n\tnop"
			 : "=a"(result)
			 : "a"(NR_GETPPID)
			 : "rcx", "r11", "memory", "cc");
	CHECK_EQ(result, getppid());
	CHECK_EQ(stepped, 5);
}

#define REG_RSP 15
#define REG_RIP 16
#define REG_CS	18 /* with gs, fs and ss above it, 16 bits each */

static int spoil_reg;
static unsigned long spoil_value;

static void spoil(int sig, struct info *info, void *context)
{
	((unsigned long *)((char *)context + 40))[spoil_reg] = spoil_value;
}

/* Handlers that leave something in the frame that user mode cannot have. */
static void spoiled_return(void)
{
	struct sigaction act = {.sa_handler = (sighandler_t)(void *)spoil, .sa_flags = SA_SIGINFO};

	CHECK_CALL(sigaction(SIGUSR1, &act, NULL));
	raise(SIGUSR1);
}

static void returns_with(int reg, unsigned long value, int signal)
{
	int status;

	spoil_reg = reg;
	spoil_value = value;
	status = check_in_child(spoiled_return);
	CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, signal);
}

static void spoiled_returns(void)
{
	returns_with(REG_RIP, 0x8000000000000000, SIGSEGV);
	returns_with(REG_RIP, 0x0000800000000000, SIGSEGV);
	returns_with(REG_RIP, 0xffffffff80200000, SIGSEGV);
	returns_with(REG_RIP, 0, SIGSEGV);
	returns_with(REG_RSP, 0x8000000000000000, SIGSEGV);
	/* Selectors and the flags of the system are not the frame's to choose: nothing comes of it. */
	returns_with(REG_CS, 0x0000000000000008, 0);
	returns_with(REG_CS, 0x1234000000005678, 0);
	returns_with(REG_EFL, 0x3000, 0);
}

/* SYSCALL as the last instruction below the end of user space: where it returns to is no user address. */
static void at_the_end(void)
{
	unsigned char *page = (unsigned char *)0x7fffffffe000;

	if (mmap(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	    page)
		return; /* nothing can be there: as good */
	page[4094] = 0x0f;
	page[4095] = 0x05;
	expected_addr = 0x7ffffffff000;
	__asm__ volatile("jmp *%1" : : "a"(NR_GETPPID), "r"(page + 4094) : "rcx", "r11", "memory");
}
static void last_address(void)
{
	expect(at_the_end, SIGSEGV, SEGV_MAPERR, true);
}
#else
#define TRAP_AT(before, insn)                                             \
	__asm__ volatile(before "\n\tadr x1, 1f\n\tstr x1, %0\n1:\t" insn \
			 : "=m"(expected_addr)                            \
			 :                                                \
			 : "x0", "x1", "memory")

static void undefined(void)
{
	TRAP_AT("", "udf #0");
}
static void breakpoint(void)
{
	TRAP_AT("", "brk #1");
}
static void privileged(void)
{
	TRAP_AT("", "msr daifset, #2");
}
static void odd_address(void)
{
	expected_addr = 0x8000000000000000;
	(void)*(volatile long *)0x8000000000000000;
}
static void kernel_address(void)
{
	expected_addr = 0xffffffc080000000;
	(void)*(volatile long *)0xffffffc080000000;
}
static void odd_stack_address(void)
{
	__asm__ volatile("mov x0, sp\n\tadd x1, x0, #8\n\tstr x1, %0\n\tmov sp, x1\n\tldr x1, [sp]\n\tmov sp, x0"
			 : "=m"(expected_addr)
			 :
			 : "x0", "x1", "memory");
}

static void traps(void)
{
	expect(undefined, SIGILL, ILL_ILLOPC, false);
	expect(breakpoint, SIGTRAP, TRAP_BRKPT, false);
	expect(privileged, SIGILL, ILL_ILLOPC, false);
	expect(odd_address, SIGSEGV, SEGV_MAPERR, false);
	expect(kernel_address, SIGSEGV, SEGV_MAPERR, false);
	expect(odd_stack_address, SIGBUS, BUS_ADRALN, true); /* not under QEMU's TCG */
}

#define NR_GETPPID 173

/* The kernel does not use the stack that a program leaves it. */
static void odd_calls(void)
{
	static const unsigned long stacks[] = {0, 0x1001, 0x8000000000000000, 0xffffffc080000000};

	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		register long nr __asm__("x8") = NR_GETPPID;
		register long result __asm__("x0");

		__asm__ volatile("mov x9, sp\n\tmov sp, %2\n\tsvc #0\n\tmov sp, x9"
				 : "=r"(result)
				 : "r"(nr), "r"(stacks[i])
				 : "x9", "memory");
		CHECK_EQ(result, getppid());
	}
}
#endif

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"traps", traps},
		{"odd-calls", odd_calls},
#ifdef __x86_64__
		{"backwards", backwards},
		{"steps", steps},
		{"last-address", last_address},
		{"spoiled-returns", spoiled_returns},
#endif
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

/* uprobed: functions to be probed, and what a program must not notice of that. The test counts their calls. */
#include <callnumbers.h>
#include <frames.h>
#include <posix.h>
#include <setjmp.h>
#include <thread.h>
#include <tracee.h>

#define ALONE __attribute__((noipa, noinline))
#define CALLS 25000	 /* by each of four threads */
#define TEXT  0x400000UL /* where userland/program.ld has the beginning of the file */

extern const char uprobed_fault[], uprobed_end[];
unsigned long uprobed_load(const unsigned long *at);  /* its first instruction loads */
unsigned long uprobed_tail(unsigned long n);	      /* ends in a jump to uprobed_plain */
unsigned long uprobed_mix(unsigned long n, long way); /* of instructions that depend on where they stand */

/* n * 3 + 1 */
ALONE unsigned long uprobed_plain(unsigned long n)
{
	return n * 3 + 1;
}

/* A pointer in the data, to a text that no one else looks at. */
static const char word[] = "a word of the program";
const char *volatile uprobed_word __attribute__((section(".data"))) = word;
unsigned short uprobed_counter __attribute__((section(".data"))) = 0; /* of a probe with a counter */

#ifdef __aarch64__
__asm__(".text\n"
	".global uprobed_load, uprobed_fault, uprobed_tail, uprobed_mix, uprobed_end\n"
	".type uprobed_load, %function\n"
	".type uprobed_tail, %function\n"
	".type uprobed_mix, %function\n"
	"uprobed_load:\n"
	"uprobed_fault: ldr x0, [x0]\n"
	"	add x0, x0, #1\n"
	"	ret\n"
	".size uprobed_load, . - uprobed_load\n"
	"uprobed_tail:\n"
	"	add x0, x0, #10\n"
	"	b uprobed_plain\n"
	".size uprobed_tail, . - uprobed_tail\n"
	"uprobed_mix:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	bl uprobed_plain\n"
	"	adr x9, 9f\n"
	"	adrp x10, 9f\n"
	"	add x10, x10, #:lo12:9f\n"
	"	sub x9, x9, x10\n"
	"	ldr w11, 9f\n"
	"	ldr x12, 8f\n"
	"	ldrsw x13, 7f\n"
	"	add x0, x0, x9\n"
	"	add x0, x0, x11\n"
	"	add x0, x0, x12\n"
	"	add x0, x0, x13\n"
	"	cbz x1, 1f\n"
	"	tbz x1, #1, 2f\n"
	"	cmp x1, #2\n"
	"	b.eq 3f\n"
	"	adr x9, uprobed_plain\n"
	"	blr x9\n"
	"	b 5f\n"
	"1:	add x0, x0, #100\n"
	"	b 5f\n"
	"2:	tbnz x1, #0, 4f\n"
	"	brk #1\n"
	"3:	add x0, x0, #1000\n"
	"	b 5f\n"
	"4:	adr x9, 5f\n"
	"	cbnz x1, 6f\n"
	"	brk #1\n"
	"6:	add x0, x0, #3000\n"
	"	br x9\n"
	"	brk #1\n"
	"5:	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	".size uprobed_mix, . - uprobed_mix\n"
	"uprobed_end:\n"
	"	.balign 8\n"
	"8:	.quad 70000\n"
	"9:	.word 7\n"
	"7:	.word -3\n");
#else
__asm__(".text\n"
	".global uprobed_load, uprobed_fault, uprobed_tail, uprobed_mix, uprobed_end\n"
	".type uprobed_load, @function\n"
	".type uprobed_tail, @function\n"
	".type uprobed_mix, @function\n"
	"uprobed_load:\n"
	"uprobed_fault: mov (%rdi), %rax\n"
	"	inc %rax\n"
	"	ret\n"
	".size uprobed_load, . - uprobed_load\n"
	"uprobed_tail:\n"
	"	add $10, %rdi\n"
	"	jmp uprobed_plain\n"
	".size uprobed_tail, . - uprobed_tail\n"
	"uprobed_mix:\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	mov %rsi, %rbx\n"
	"	call uprobed_plain\n"
	"	lea 9f(%rip), %rcx\n"
	"	sub $9f, %rcx\n"
	"	add %rcx, %rax\n"
	"	mov 9f(%rip), %ecx\n"
	"	add %rcx, %rax\n"
	"	add 8f(%rip), %rax\n"
	"	addq $-3, %rax\n"
	"	pushfq\n"
	"	pop %rcx\n"
	"	and $0x100, %ecx\n"
	"	add %rcx, %rax\n" /* the trap flag is not to be seen */
	"	test %rbx, %rbx\n"
	"	jz 1f\n"
	"	mov $1, %ecx\n"
	"	cmp $1, %rbx\n"
	"	je 4f\n"
	"	cmp $2, %rbx\n"
	"	je 3f\n"
	"	mov %rax, %rdi\n"
	"	lea uprobed_plain(%rip), %rcx\n"
	"	push %rcx\n"
	"	push %rcx\n"
	"	call *8(%rsp)\n"
	"	pop %rcx\n"
	"	pop %rcx\n"
	"	jmp 5f\n"
	"1:	add $100, %rax\n"
	"	jmp 5f\n"
	"3:	add $1000, %rax\n"
	"	jmp 5f\n"
	"4:	loop 6f\n"
	"	xor %ecx, %ecx\n"
	"	jrcxz 7f\n"
	"6:	ud2\n"
	"7:	add $3000, %rax\n"
	"	lea 5f(%rip), %rcx\n"
	"	jmp *%rcx\n"
	"5:	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	".size uprobed_mix, . - uprobed_mix\n"
	"uprobed_end:\n"
	"	.balign 8\n"
	"8:	.quad 70000\n"
	"9:	.long 7\n");
#endif

/* --- many calls --- */

static unsigned long sums[4];

static void calls_many(void *arg)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < CALLS; i++)
		sum += uprobed_plain(i);
	sums[(long)arg] = sum;
}

static void threads(void)
{
	pid_t pids[4];

	for (long i = 0; i < 4; i++)
		pids[i] = thread_start(-1, calls_many, (void *)i);
	CHECK(thread_join(pids, 4));
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sums[i], 3UL * CALLS * (CALLS - 1) / 2 + CALLS);
}

/* Each kind of instruction that depends on its address: what they compute is known. */
static void mix(void)
{
	const unsigned long first = 5 * 3 + 1 + 7 + 70000 - 3;

	CHECK_EQ(uprobed_mix(5, 0), first + 100);
	CHECK_EQ(uprobed_mix(5, 1), first + 3000);
	CHECK_EQ(uprobed_mix(5, 2), first + 1000);
	CHECK_EQ(uprobed_mix(5, 3), first * 3 + 1);
}

/* --- returns --- */

ALONE unsigned long uprobed_depth(unsigned long n)
{
	unsigned long inner = n ? uprobed_depth(n - 1) : 0;

	__asm__ volatile("" : "+r"(inner)); /* it stays a call, and no loop */
	return inner + n;
}

/* Deeper than the limit of 64. */
static void depth(void)
{
	CHECK_EQ(uprobed_depth(9), 45);
	CHECK_EQ(uprobed_depth(99), 4950);
}

static void tail(void)
{
	for (unsigned long i = 0; i < 10; i++)
		CHECK_EQ(uprobed_tail(i), (i + 10) * 3 + 1);
}

static volatile unsigned long nowhere_pc = 1;

static void on_nowhere(int sig, void *info, void *uc)
{
	nowhere_pc = *frame_word(uc, FRAME_PC);
	_exit(nowhere_pc ? 2 : 0);
}

/* A function whose return address is 0, as that of the outermost one may be: it returns there, probed or not. */
static void nowhere(void)
{
	pid_t pid = check_fork();
	int status = -1;

	if (pid == 0) {
		frame_handle(SIGSEGV, on_nowhere, 0);
#ifdef __aarch64__
		__asm__ volatile("mov x30, #0\n\tb uprobed_plain");
#else
		__asm__ volatile("push $0\n\tjmp uprobed_plain");
#endif
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static jmp_buf back;
static volatile unsigned long landed, landed_at;

ALONE unsigned long uprobed_jumps(unsigned long n)
{
	unsigned long inner;

	if (n == landed_at)
		longjmp(back, 1);
	inner = n ? uprobed_jumps(n - 1) : 0;
	__asm__ volatile("" : "+r"(inner)); /* it stays a call, and no loop */
	return inner + 1;
}

ALONE unsigned long uprobed_lands(unsigned long n)
{
	if (!setjmp(back))
		uprobed_jumps(n);
	landed++;
	return landed;
}

/* Calls that never return, again and again; those outside of them do. */
static void jumps(void)
{
	for (unsigned long i = 1; i <= 100; i++)
		CHECK_EQ(uprobed_lands(5), i);
	/* More than are told of at a time, and those that come later are told again. */
	CHECK_EQ(uprobed_lands(69), 101);
	CHECK_EQ(uprobed_lands(5), 102);
	CHECK_EQ(uprobed_depth(9), 45);
}

static volatile pid_t forked;

ALONE unsigned long uprobed_forks(unsigned long n)
{
	forked = check_fork();
	return n + 1;
}

/* Parent and child both return from the function, and the child from others later. */
static void forks(void)
{
	int status = -1;

	CHECK_EQ(uprobed_forks(41), 42);
	CHECK_EQ(uprobed_depth(9), 45);
	CHECK_EQ(uprobed_plain(2), 7);
	if (forked == 0)
		_exit(check_failures ? 1 : 0);
	CHECK_EQ(waitpid(forked, &status, 0), forked);
	CHECK_EQ(status, 0);
}

ALONE unsigned long uprobed_execs(unsigned long n)
{
	char *argv[] = {"true", NULL};

	check_syscall(SYS_execve, (long)"/bin/true", (long)argv, 0, 0, 0, 0);
	return n;
}

/* The program goes in the middle of the function. */
static void execs(void)
{
	pid_t pid = check_fork();
	int status = -1;

	if (pid == 0) {
		uprobed_execs(1);
		_exit(9);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* --- signals --- */

static volatile unsigned long handled, elsewhere;
static unsigned long page_start; /* of [uprobes]; 0: there is none */

/* Where the kernel has put its pages for us: none of them may be seen as a pc. */
static void find_page(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/maps", "r");

	page_start = 0;
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[uprobes]"))
			page_start = strtoul(line, NULL, 16);
	if (f)
		fclose(f);
}

static void on_tick(int sig, void *info, void *uc)
{
	handled++;
	elsewhere += page_start && *frame_word(uc, FRAME_PC) - page_start < 4096;
}

/* Signals that come at any instruction, while all that is called is probed. */
static void signals(void)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	unsigned long n = 0;

	uprobed_mix(5, 0);
	find_page();
	CHECK_EQ(frame_handle(SIGALRM, on_tick, 0), 0);
	CHECK_CALL(setitimer(ITIMER_REAL, &often, NULL));
	while (handled < 500)
		for (int i = 0; i < 100; i++, n++)
			if (uprobed_plain(n) != n * 3 + 1 || uprobed_mix(5, 3) != 3 * (5 * 3 + 1 + 7 + 70000 - 3) + 1 ||
			    uprobed_tail(n) != (n + 10) * 3 + 1)
				CHECK(false);
	CHECK_CALL(setitimer(ITIMER_REAL, &never, NULL));
	CHECK_EQ(elsewhere, 0);
}

static unsigned long good = 41;
static volatile unsigned long fault_pc, fault_addr;

static void on_fault(int sig, void *info, void *uc)
{
	fault_pc = *frame_word(uc, FRAME_PC);
	fault_addr = (unsigned long)((siginfo_t *)info)->si_addr;
#ifdef __aarch64__
	*frame_word(uc, 184) = (unsigned long)&good; /* x0 */
#else
	*frame_word(uc, 104) = (unsigned long)&good; /* rdi */
#endif
}

/* The probed instruction faults: at its true place; and when the handler has mended it, it is executed again. */
static void faults(void)
{
	CHECK_EQ(frame_handle(SIGSEGV, on_fault, 0), 0);
	CHECK_EQ(uprobed_load((void *)0x123), 42);
	CHECK_EQ(fault_pc, (unsigned long)uprobed_fault);
	CHECK_EQ(fault_addr, 0x123);
}

static char other_stack[65536] __attribute__((aligned(16)));
static volatile unsigned long from_handler;

static void on_other_stack(int sig, void *info, void *uc)
{
	from_handler = uprobed_depth(5) + uprobed_plain(1);
}

ALONE unsigned long uprobed_raises(unsigned long n)
{
	raise(SIGUSR1);
	return n + 2;
}

/* A handler on a stack of its own, while calls of the other stack are waiting to return. */
static void altstack(void)
{
	struct alt_stack stack = {other_stack, 0, 0, sizeof(other_stack)};

	CHECK_CALL(check_syscall(SYS_sigaltstack, (long)&stack, 0, 0, 0, 0, 0));
	CHECK_EQ(frame_handle(SIGUSR1, on_other_stack, 0x08000000), 0);
	CHECK_EQ(uprobed_raises(5), 7);
	CHECK_EQ(from_handler, 19);
}

/* --- a debugger --- */

static void calls_mix(void)
{
	const unsigned long first = 5 * 3 + 1 + 7 + 70000 - 3;
	unsigned long got = uprobed_mix(5, 3);

	/* A step over the native instruction that stores the flags shows the trap flag. */
	if ((got == 3 * first + 1 || got == 3 * (first + 0x100) + 1) && uprobed_tail(1) == 34)
		_exit(42);
	_exit(1);
}

/* The same steps as without probes, and none of them in a page of the kernel's. */
static void steps(void)
{
	pid_t pid = tracee(calls_mix, 0);
	unsigned long inside = 0, outside = 0;
	int status;

	for (;;) {
		CHECK_CALL(pt(PT_STEP, pid, 0, 0));
		status = news(pid);
		if (status != STOP(SIGTRAP))
			break;
		unsigned long pc = get_regs(pid).r[REG_PC];

		if (pc >= (unsigned long)uprobed_load && pc < (unsigned long)uprobed_end)
			inside++;
		else if (pc < 0x400000 || pc >= 0x500000)
			outside++;
	}
	CHECK_EQ(status, 42 << 8);
	CHECK_EQ(outside, 0);
#ifdef __aarch64__
	CHECK_EQ(inside, 22 + 2);
#else
	CHECK_EQ(inside, 33 + 2);
#endif
}

/* --- the counter --- */

static void counter(void)
{
	printf("counter is %u\n", uprobed_counter);
}

/* A second mapping of uprobed_plain's page moves: the place is watched where it is now, and counted once for each. */
static void moved(void)
{
	unsigned long at = (unsigned long)uprobed_plain, page = at & ~4095UL;
	int fd = open("/bin/uprobed", O_RDONLY);
	char *map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, page - TEXT);
	char *to = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(map != MAP_FAILED && to != MAP_FAILED);
	counter();
	CHECK(CALL(mremap, map, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to) == (long)to);
	counter();
	CHECK_EQ(((unsigned long (*)(unsigned long))(to + (at - page)))(5), 16);
}

/* An argument that points to memory which has not been looked at yet: this program's file. */
static void untouched(void)
{
	int fd = open("/bin/uprobed", O_RDONLY);
	void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	CHECK(fd >= 0 && map != MAP_FAILED);
	CHECK_EQ(uprobed_plain((unsigned long)map), 3 * (unsigned long)map + 1);
}

/* Until it is told to end, for a probe that comes and goes meanwhile. */
static void busy(void)
{
	unsigned long n = 0;

	while (access("/stop", F_OK))
		for (int i = 0; i < 2000; i++, n++)
			if (uprobed_plain(n) != n * 3 + 1 || uprobed_tail(n) != (n + 10) * 3 + 1 ||
			    uprobed_depth(5) != 15)
				_exit(1);
}

static const struct check_case cases[] = {
	{"threads", threads}, {"mix", mix},
	{"depth", depth},     {"tail", tail},
	{"jumps", jumps},     {"forks", forks},
	{"execs", execs},     {"signals", signals},
	{"faults", faults},   {"altstack", altstack},
	{"steps", steps},     {"counter", counter},
	{"busy", busy},	      {"untouched", untouched},
	{"nowhere", nowhere}, {"moved", moved},
};

int main(int argc, char **argv)
{
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

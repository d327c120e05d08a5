/*
 * regtest: every register of a signal frame. A handler gets each as the program left it, and puts another value into
 * each; where the frame says that the program goes on, assembly compares all of them before anything else can change
 * one. Then frames of which a part must not come into force, and on x86_64 the registers that no frame has:
 * the selectors of the segments of data, with the bases of FS and GS.
 */
#include <check.h>
#include <frames.h>
#include <numbers.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <vectors.h>

#define EXIT_AS_WANTED 7
#define FRESH	       "fresh-selectors"

static void signal_self(int sig)
{
	vt_syscall(SYS_kill, vt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), sig, 0, 0, 0, 0);
}

/* Goes on here from the handler: exits with EXIT_AS_WANTED when each register has its value, with 1 otherwise. */
void all_as_wanted(void);

static frame_handler handler;

static void raise_in_child(void)
{
	CHECK_CALL(frame_handle(SIGUSR1, handler, 0));
	signal_self(SIGUSR1);
}

/* The wait status of a child that gets the signal and goes on from the frame as this handler leaves it. */
static int go_on_from(frame_handler change)
{
	handler = change;
	return check_in_child(raise_in_child);
}

/* For frames that are refused: the alternate stack that is set, and the one that the frame has. */
static char unused_stack[65536], framed_stack[65536];
static const struct alt_stack unused = {.sp = unused_stack, .size = sizeof(unused_stack)},
			      framed = {.sp = framed_stack, .size = sizeof(framed_stack)};

#ifdef __aarch64__
#define FRAME_X0 184

/* x0 to x30 hold 0x100 and their number. */
__asm__(".globl all_as_wanted\n\t.type all_as_wanted, %function\n"
	"all_as_wanted:\n"
	"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24"
	", 25, 26, 27, 28, 29, 30\n"
	"	cmp x\\n, #0x100 + \\n\n\tb.ne 1f\n\t.endr\n"
	"	mov x0, #7\n\tb 2f\n"
	"1:	mov x0, #1\n"
	"2:	mov x8, #93\n\tsvc #0\n\t.size all_as_wanted, . - all_as_wanted");

static void set_all(int sig, void *info, void *uc)
{
	for (int i = 0; i < 31; i++)
		*frame_word(uc, FRAME_X0 + 8 * i) = 0x100 + i;
	*frame_word(uc, FRAME_PC) = (unsigned long)all_as_wanted;
}

/* struct fpsimd_context: magic, size, FPSR, FPCR, registers. FZ and DN; QC and IOC. */
#define FPSR_BITS 0x08000001u
#define FPCR_BITS 0x03000000u

static void set_fp_state(int sig, void *info, void *uc)
{
	unsigned *words = (unsigned *)frame_vectors(uc);

	CHECK_EQ(words[2], 0x10u); /* as the program had set them: IXC; RMode */
	CHECK_EQ(words[3], 0x00400000u);
	words[2] = FPSR_BITS;
	words[3] = FPCR_BITS;
}

static void control_registers(void)
{
	unsigned long fpsr = 0x10, fpcr = 0x00400000;

	CHECK_CALL(frame_handle(SIGUSR1, set_fp_state, 0));
	__asm__ volatile("msr fpsr, %0\n\tmsr fpcr, %1" : : "r"(fpsr), "r"(fpcr));
	signal_self(SIGUSR1);
	__asm__ volatile("mrs %0, fpsr\n\tmrs %1, fpcr" : "=r"(fpsr), "=r"(fpcr));
	__asm__ volatile("msr fpcr, xzr");
	CHECK_EQ(fpsr, FPSR_BITS);
	CHECK_EQ(fpcr, FPCR_BITS);
}

/* A second record behind that of the vector registers, which the kernel knows (ESR_MAGIC) and skips by its size. */
static unsigned record_size;

static void add_record(int sig, void *info, void *uc)
{
	unsigned *behind = (unsigned *)(frame_vectors(uc) + 528);

	behind[0] = 0x45535201;
	behind[1] = record_size;
	behind[4] = behind[5] = 0; /* the end, where the size is 16 */
	*frame_word(uc, FRAME_PC) = (unsigned long)all_as_wanted;
	for (int i = 0; i < 31; i++)
		*frame_word(uc, FRAME_X0 + 8 * i) = 0x100 + i;
}

/* Sizes that are too small, not a multiple of 16, or lead out of the 4096 bytes: the frame is not to be believed. */
static void records(void)
{
	static const unsigned bad[] = {0, 8, 24, 4096 - 528 + 16, 0x10000, 0x7ffffff0, 0xfffffdf0, 0xfffffff0};
	int status;

	record_size = 16;
	CHECK_EQ(go_on_from(add_record), EXIT_AS_WANTED << 8);
	for (int i = 0; i < ARRAY_SIZE(bad); i++) {
		record_size = bad[i];
		status = go_on_from(add_record);
		if (!CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGSEGV))
			printf("  with a record of 0x%x bytes\n", bad[i]);
	}
}

/* Ways to break a frame, in the order in which the kernel reads it. */
enum { BAD_PSTATE, BAD_RECORD, NO_VECTORS, NR_FAULTS };
static int fault, refused;
static unsigned long interrupted_pc;

#define FRAME_FAULT_ADDRESS 176
#define FRAME_PSTATE	    448
#define PSTATE_EL1H	    5UL
#define PSTATE_FLAGS	    0xa0000000UL /* N and C */
#define V9		    (FRAME_VECTOR + 9 * 16)
#define MARK		    0x1212121212121212UL
#define OTHER_MARK	    0x3434343434343434UL

static void break_frame(int sig, void *info, void *uc)
{
	unsigned *record = (unsigned *)frame_vectors(uc);

	*frame_word(frame_vectors(uc), V9) = MARK;
	if (fault == BAD_PSTATE)
		*frame_word(uc, FRAME_PSTATE) = PSTATE_FLAGS | PSTATE_EL1H;
	else if (fault == BAD_RECORD)
		record[528 / 4] = 0x12345678; /* where the end of the records was */
	else
		record[0] = record[1] = 0;
	interrupted_pc = *frame_word(uc, FRAME_PC);
	*frame_word(uc, FRAME_X0 + 8 * 19) = MARK;
	*frame_word(uc, FRAME_MASK) = 1UL << (SIGUSR2 - 1);
	*(struct alt_stack *)frame_word(uc, FRAME_STACK) = framed;
}

/* The address is the frame's stack pointer, and it was restored. The vector registers and the stack were not. */
static void look_at_restored(int sig, void *info, void *uc)
{
	const struct alt_stack *stack = (const void *)frame_word(uc, FRAME_STACK);

	if (refused++)
		_exit(1); /* one signal, and not one after each return */
	CHECK_EQ(((const int *)info)[2], SEGV_ACCERR);
	CHECK_EQ(*frame_word(info, 16), *frame_word(uc, FRAME_SP));
	CHECK_EQ(*frame_word(uc, FRAME_FAULT_ADDRESS), 0);
	CHECK_EQ(*frame_word(uc, FRAME_PC), interrupted_pc);
	CHECK_EQ(*frame_word(uc, FRAME_X0 + 8 * 19), MARK);
	CHECK_EQ(*frame_word(uc, FRAME_MASK), 1UL << (SIGUSR2 - 1));
	if (fault == BAD_PSTATE)
		CHECK_EQ(*frame_word(uc, FRAME_PSTATE), PSTATE_FLAGS);
	CHECK_EQ(*frame_word(frame_vectors(uc), V9), OTHER_MARK);
	CHECK_EQ((unsigned long)stack->sp, (unsigned long)unused_stack);
}

/* x19, and v9 of the handler, which it does not use, are read at once. */
static void return_from_broken(void)
{
	long x19, v9;

	CHECK_CALL(check_syscall(SYS_sigaltstack, (long)&unused, 0, 0, 0, 0, 0));
	CHECK_CALL(frame_handle(SIGUSR1, break_frame, 0));
	CHECK_CALL(frame_handle(SIGSEGV, look_at_restored, 0));
	__asm__ volatile("mov x19, %[mark]\n\tfmov d9, %[mark]\n\tmov x0, %[pid]\n\tmov x1, %[sig]\n\tmov x8, %[nr]\n\t"
			 "svc #0\n\tmov %[x19], x19\n\tfmov %[v9], d9"
			 : [x19] "=&r"(x19), [v9] "=&r"(v9)
			 : [mark] "r"(OTHER_MARK), [pid] "r"((long)getpid()), [sig] "i"(SIGUSR1), [nr] "i"(SYS_kill)
			 : "x0", "x1", "x8", "x19", "v9", "memory", "cc");
	CHECK_EQ(x19, MARK);
	CHECK_EQ(v9, OTHER_MARK);
	CHECK_EQ(refused, 1);
}

/* PSTATE.TCO (FEAT_MTE), by the number that every assembler knows: off in a handler, the program's own behind it. */
#define SET_TCO(value) __asm__ volatile("msr s3_3_c4_c2_7, %0" : : "r"(value))
#define GET_TCO(value) __asm__ volatile("mrs %0, s3_3_c4_c2_7" : "=r"(value))
#define TCO	       (1UL << 25)

static void look_at_tco(int sig, void *info, void *uc)
{
	unsigned long tco;

	GET_TCO(tco);
	CHECK_EQ(tco, 0);
}

static void try_tco(void)
{
	unsigned long tco;

	GET_TCO(tco);
}

static void tag_checks(void)
{
	unsigned long tco;

	if (WIFSIGNALED(check_in_child(try_tco)))
		return; /* this CPU has none */
	CHECK_CALL(frame_handle(SIGUSR1, look_at_tco, 0));
	SET_TCO(TCO);
	GET_TCO(tco);
	if (!tco)
		return; /* it has the instructions, but no tags: the bit stays zero */
	signal_self(SIGUSR1);
	GET_TCO(tco);
	CHECK_EQ(tco, TCO);
}
#else
/* By their places in struct sigcontext, from r8 at 40 on; rsp, at 160, stays, as do the two behind it. */
#define FRAME_R8     40
#define FRAME_RFLAGS 176
#define ARITHMETIC   0xcd5UL /* CF PF AF ZF SF DF OF */
#define IOPL	     0x3000UL

__asm__(".globl all_as_wanted\n\t.type all_as_wanted, @function\n"
	"all_as_wanted:\n"
	"	pushf\n"
	"	.set n, 0x100\n"
	"	.irp reg, r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx\n"
	"	cmp $n, %\\reg\n\tjne 1f\n"
	"	.set n, n + 1\n"
	"	.endr\n"
	"	pop %rax\n\tcmp $0xed7, %ax\n\tjne 1f\n" /* the arithmetic ones, IF and the one that is always set */
	"	mov $7, %edi\n\tjmp 2f\n"
	"1:	mov $1, %edi\n"
	"2:	cld\n\tmov $60, %eax\n\tsyscall\n\t.size all_as_wanted, . - all_as_wanted");

/* Nobody may have IOPL: it is in the frame and not in force. */
static void set_all(int sig, void *info, void *uc)
{
	for (int i = 0; i < 15; i++)
		*frame_word(uc, FRAME_R8 + 8 * i) = 0x100 + i;
	*frame_word(uc, FRAME_PC) = (unsigned long)all_as_wanted;
	*frame_word(uc, FRAME_RFLAGS) = ARITHMETIC | IOPL;
}

static unsigned long wanted_pc;

static void set_pc(int sig, void *info, void *uc)
{
	*frame_word(uc, FRAME_PC) = wanted_pc;
}

static void look_at_pc(int sig, void *info, void *uc)
{
	_exit(*frame_word(uc, FRAME_PC) == wanted_pc ? EXIT_AS_WANTED : 1);
}

static void go_to_bad_pc(void)
{
	CHECK_CALL(frame_handle(SIGUSR1, set_pc, 0));
	CHECK_CALL(frame_handle(SIGSEGV, look_at_pc, 0));
	signal_self(SIGUSR1);
}

/*
 * Addresses that are the kernel's, or that no program can have: the program goes there and gets the signal there, and
 * the kernel goes on.
 */
static void bad_pcs(void)
{
	static const unsigned long bad[] = {0x7ffffffff000, 0x800000000000, 0xffff800000000000, 0xffffffff80200000,
					    0x8000000000000000};
	int status;

	for (int i = 0; i < ARRAY_SIZE(bad); i++) {
		wanted_pc = bad[i];
		status = go_on_from(set_pc);
		CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGSEGV);
		CHECK_EQ(check_in_child(go_to_bad_pc), EXIT_AS_WANTED << 8);
	}
}

/* Ways to break the FPU's part of a frame. */
enum { BAD_MXCSR, BAD_HEADER, BAD_ADDRESS, NR_FAULTS };
static int fault, refused;
static unsigned long interrupted_pc;

#define FRAME_FPSTATE 224
#define XCOMP_BV      520 /* of the header that follows FXSAVE's part; XRSTOR wants zero there */

static void break_state(int sig, void *info, void *uc)
{
	char *vectors = frame_vectors(uc);

	if (fault == BAD_ADDRESS)
		*frame_word(uc, FRAME_FPSTATE) = 64;
	else if (fault == BAD_HEADER && *(const unsigned *)(vectors + 464) == 0x46505853)
		vectors[XCOMP_BV] = 1;
	else
		*(unsigned *)(vectors + FRAME_MXCSR) = ~0u;
	interrupted_pc = *frame_word(uc, FRAME_PC);
	*frame_word(uc, FRAME_R8 + 8 * 4) = 0x1212; /* r12 */
	*frame_word(uc, FRAME_MASK) = 1UL << (SIGUSR2 - 1);
	*(struct alt_stack *)frame_word(uc, FRAME_STACK) = framed;
}

static void look_at_restored(int sig, void *info, void *uc)
{
	if (refused++)
		_exit(1); /* one signal, and not one after each return */
	CHECK_EQ(((const int *)info)[2], SI_KERNEL);
	CHECK_EQ(*frame_word(uc, FRAME_PC), interrupted_pc);
	CHECK_EQ(*frame_word(uc, FRAME_R8 + 8 * 4), 0x1212);
	CHECK_EQ(*frame_word(uc, FRAME_MASK), 1UL << (SIGUSR2 - 1));
	CHECK_EQ(*(unsigned *)(frame_vectors(uc) + FRAME_MXCSR), 0x1f80);
	CHECK_EQ((unsigned long)((struct alt_stack *)frame_word(uc, FRAME_STACK))->sp, (unsigned long)unused_stack);
}

/* The state of a new program takes the place of the broken one. r12, and the vector registers, are read at once. */
static void return_from_broken(void)
{
	long r12, low, nr = SYS_kill;

	CHECK_CALL(check_syscall(SYS_sigaltstack, (long)&unused, 0, 0, 0, 0, 0));
	CHECK_CALL(frame_handle(SIGUSR1, break_state, 0));
	CHECK_CALL(frame_handle(SIGSEGV, look_at_restored, 0));
	__asm__ volatile("movq %[mark], %%xmm15\n\tmovq %[mark], %%r12\n\tsyscall\n\tmovq %%xmm15, %[low]\n\t"
			 "movq %%r12, %[r12]"
			 : "+a"(nr), [low] "=&r"(low), [r12] "=&r"(r12)
			 : [mark] "r"(0x3434L), "D"((long)getpid()), "S"((long)SIGUSR1)
			 : "rcx", "r11", "r12", "xmm15", "memory");
	CHECK_EQ(r12, 0x1212);
	CHECK_EQ(low, 0);
	CHECK_EQ(refused, 1);
}

#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

static void set_bases(unsigned long base)
{
	CHECK_CALL(check_syscall(SYS_arch_prctl, ARCH_SET_FS, base, 0, 0, 0, 0));
	CHECK_CALL(check_syscall(SYS_arch_prctl, ARCH_SET_GS, base, 0, 0, 0, 0));
}

static void bases_are(unsigned long base)
{
	unsigned long fs = -1UL, gs = -1UL;

	CHECK_CALL(check_syscall(SYS_arch_prctl, ARCH_GET_FS, (long)&fs, 0, 0, 0, 0));
	CHECK_CALL(check_syscall(SYS_arch_prctl, ARCH_GET_GS, (long)&gs, 0, 0, 0, 0));
	CHECK_EQ(fs, base);
	CHECK_EQ(gs, base);
}

/* Any selector but null that DS may hold: that of the stack. */
static unsigned stack_selector(void)
{
	unsigned ss;

	__asm__ volatile("movl %%ss, %0" : "=r"(ss));
	return ss;
}

static void load_selectors(unsigned selector)
{
	__asm__ volatile("movl %0, %%ds\n\tmovl %0, %%es\n\tmovl %0, %%fs\n\tmovl %0, %%gs" : : "r"(selector));
}

static void selectors_are(unsigned selector)
{
	unsigned ds, es, fs, gs;

	__asm__ volatile("movl %%ds, %0\n\tmovl %%es, %1\n\tmovl %%fs, %2\n\tmovl %%gs, %3"
			 : "=r"(ds), "=r"(es), "=r"(fs), "=r"(gs));
	CHECK_EQ(ds, selector);
	CHECK_EQ(es, selector);
	CHECK_EQ(fs, selector);
	CHECK_EQ(gs, selector);
}

static unsigned inherited;

/* Another task with other segments, which runs while its parent waits. It begins with its parent's. */
static void other_segments(void)
{
	selectors_are(inherited);
	load_selectors(inherited ? 0 : stack_selector());
	sched_yield();
	selectors_are(inherited ? 0 : stack_selector());
	set_bases(0x24000);
	sched_yield();
	bases_are(0x24000);
}

/* A base that is set makes the selector null. */
static void set_and_look(void)
{
	unsigned fs, gs;

	load_selectors(stack_selector());
	set_bases(0x36000);
	sched_yield();
	bases_are(0x36000);
	__asm__ volatile("movl %%fs, %0\n\tmovl %%gs, %1" : "=r"(fs), "=r"(gs));
	CHECK_EQ(fs | gs, 0);
}

static void become_fresh(void)
{
	char *const argv[] = {"regtest", FRESH, NULL}, *const envp[] = {NULL};

	load_selectors(stack_selector());
	execve("/proc/self/exe", argv, envp);
	_exit(2);
}

/* Selectors are a task's: through a switch to a task that has others, for a child, and not for a new program. */
static void selectors(void)
{
	check_pin(0);
	load_selectors(stack_selector());
	inherited = stack_selector();
	CHECK_EQ(check_in_child(other_segments), 0);
	selectors_are(stack_selector());
	load_selectors(0);
	inherited = 0;
	CHECK_EQ(check_in_child(other_segments), 0);
	selectors_are(0);
	CHECK_EQ(check_in_child(become_fresh), 0);
}

/* A base is a task's. One that a selector has cleared, null or not, stays 0 through a switch. */
static void bases(void)
{
	const unsigned loaded[] = {0, stack_selector()};

	check_pin(0);
	for (int i = 0; i < ARRAY_SIZE(loaded); i++) {
		set_bases(0x42000);
		CHECK_EQ(check_in_child(set_and_look), 0);
		bases_are(0x42000);
		load_selectors(loaded[i]);
		bases_are(0);
		inherited = loaded[i];
		CHECK_EQ(check_in_child(other_segments), 0);
		bases_are(0);
		selectors_are(loaded[i]);
	}
}

/* A handler is called as any function of the ABI: with DF clear, and not stepped. */
static void look_at_flags(int sig, void *info, void *uc)
{
	unsigned long flags;

	__asm__ volatile("pushf\n\tpop %0" : "=r"(flags));
	CHECK_EQ(flags & 0x10500, 0); /* RF, DF, TF */
	CHECK_EQ(*frame_word(uc, FRAME_RFLAGS) & 0x400, 0x400);
}

static void direction_flag(void)
{
	unsigned long flags;

	CHECK_CALL(frame_handle(SIGUSR1, look_at_flags, 0));
	__asm__ volatile("std\n\tsyscall\n\tpushf\n\tpop %0\n\tcld"
			 : "=r"(flags)
			 : "a"(SYS_kill), "D"((long)getpid()), "S"((long)SIGUSR1)
			 : "rcx", "r11", "memory", "cc");
	CHECK_EQ(flags & 0x400, 0x400);
}
#endif

/* A frame of which the last parts are refused: registers and mask are the frame's, and one SIGSEGV comes. */
static void broken_state(void)
{
	for (fault = 0; fault < NR_FAULTS; fault++)
		if (!CHECK_EQ(check_in_child(return_from_broken), 0))
			printf("  with fault %d\n", fault);
}

static void all_registers(void)
{
	CHECK_EQ(go_on_from(set_all), EXIT_AS_WANTED << 8);
}

/* What a handler finds in the frame is what the program had: here the arguments of the call that it interrupts. */
static void look_at_arguments(int sig, void *info, void *uc)
{
#ifdef __aarch64__
	for (int i = 2; i < 6; i++)
		CHECK_EQ(*frame_word(uc, FRAME_X0 + 8 * i), 0x200 + i);
#else
	CHECK_EQ(*frame_word(uc, FRAME_R8 + 8 * 12), 0x202); /* rdx */
	CHECK_EQ(*frame_word(uc, FRAME_R8 + 8 * 2), 0x203);  /* r10 */
	CHECK_EQ(*frame_word(uc, FRAME_R8), 0x204);
	CHECK_EQ(*frame_word(uc, FRAME_R8 + 8), 0x205);
	CHECK_EQ(*frame_word(uc, FRAME_R8 + 8 * 14), *frame_word(uc, FRAME_PC)); /* rcx: where SYSCALL returns to */
#endif
}

static void arguments(void)
{
	CHECK_CALL(frame_handle(SIGUSR1, look_at_arguments, 0));
	CHECK_EQ(vt_syscall(SYS_kill, getpid(), SIGUSR1, 0x202, 0x203, 0x204, 0x205), 0);
}

#ifdef __x86_64__
static char *room_end;	/* of pages that are there; the next one is not */
static unsigned marked; /* how many bytes of the second mark are still there */

/* The frame names a copy of the vector registers' part, which has no more than the pages' end leaves. */
static void move_vectors(int sig, void *info, void *uc)
{
	const char *vectors = frame_vectors(uc);
	const unsigned *words = (const unsigned *)(vectors + 464);
	unsigned size = words[0] == 0x46505853 ? words[4] + marked : 512;

	memcpy(room_end - size, vectors, size);
	*frame_word(uc, 224) = (unsigned long)room_end - size;
}

static void move_and_look(void)
{
	long got[VECTORS];

	frame_handle(SIGUSR1, move_vectors, 0);
	vectors_set(0x1234567812345678);
	signal_self(SIGUSR1);
	vectors_get(got);
	_exit(got[0] == 0x1234567812345678 && got[VECTORS - 1] == 0x1234567812345678 ? 7 : 1);
}

/*
 * A state that ends with its page is taken; one whose second mark is beyond is no state. Without XSAVE there are no
 * marks.
 */
static void end_of_state(void)
{
	unsigned eax = 1, ebx, ecx = 0, edx;
	int status;

	__asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	room_end = (char *)mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 8192;
	CHECK_CALL(munmap(room_end, 8192));
	marked = 4;
	CHECK_EQ(check_in_child(move_and_look), 7 << 8);
	marked = 0;
	status = check_in_child(move_and_look);
	if (ecx & 1 << 27) /* OSXSAVE */
		CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGSEGV);
	else
		CHECK_EQ(status, 7 << 8);
}
#endif

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"all", all_registers},
		{"arguments", arguments},
		{"broken-state", broken_state},
#ifdef __aarch64__
		{"control-registers", control_registers},
		{"records", records},
		{"tag-checks", tag_checks},
#else
		{"bad-pcs", bad_pcs},
		{"end-of-state", end_of_state},
		{"direction-flag", direction_flag},
		{"selectors", selectors},
		{"bases", bases},
#endif
	};

#ifdef __x86_64__
	if (argc > 1 && !strcmp(argv[1], FRESH)) {
		selectors_are(0);
		return check_failures ? 1 : 0;
	}
#endif

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

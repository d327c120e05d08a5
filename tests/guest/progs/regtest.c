/*
 * regtest: every register of a signal frame. A handler gets each as the program left it, and puts another value into
 * each; where the frame says that the program goes on, assembly compares all of them before anything else can change
 * one. Then states and records that a frame must not bring into force.
 */
#include <check.h>
#include <frames.h>
#include <numbers.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <vectors.h>

#define EXIT_AS_WANTED 7

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

/* Addresses that are the kernel's, or that no program can have, die before the way out of the kernel meets them. */
static void bad_pcs(void)
{
	static const unsigned long bad[] = {0x7ffffffff000, 0x800000000000, 0xffff800000000000, 0xffffffff80200000,
					    0x8000000000000000};
	int status;

	for (int i = 0; i < ARRAY_SIZE(bad); i++) {
		wanted_pc = bad[i];
		status = go_on_from(set_pc);
		CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGSEGV);
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
#ifdef __aarch64__
		{"control-registers", control_registers},
		{"records", records},
		{"tag-checks", tag_checks},
#else
		{"bad-pcs", bad_pcs},	{"end-of-state", end_of_state}, {"direction-flag", direction_flag},
#endif
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

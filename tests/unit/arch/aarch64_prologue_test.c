/*
 * Prologues as gcc makes them are undone, and prologues that cannot be undone are refused. That is what a callback
 * with FTRACE_OPS_FL_IPMODIFY needs on aarch64: at the site the function's frame is pushed already. Each test has the
 * instructions of a prologue, sets registers and stack to what they are at the site, and expects the registers as they
 * were at the function's first instruction. Each register has a value of its own at the entry, so one that is mixed up
 * with another is seen.
 */
/* sources: */
/* include: tests/unit/include-prologue -Itests/unit/include-regs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Assembly, which this test does without: what is called with which arguments is for a guest to see. */
void ftrace_call_direct(unsigned long trampoline, const unsigned long args[8], unsigned long parent_ip)
{
}
#include "../../../arch/aarch64/prologue.c"

static const u32 *function;
static bool in_module; /* the kernel's own table does not have it */

/* The instruction that a probe at `probed` has replaced. */
static const u32 *probed;
static u32 under_probe;

long copy_from_kernel_nofault(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return 0;
}

static void hide(unsigned long addr, u8 *text, unsigned len)
{
	if (addr == (unsigned long)probed)
		memcpy(text, &under_probe, len);
}
struct probe_hooks probe_hooks = {.hide = hide};

long symbol_index(unsigned long address)
{
	return in_module ? -1 : 0;
}

const char *kallsyms_lookup(unsigned long address, unsigned long *size, unsigned long *offset, char *name)
{
	*offset = address - (unsigned long)function;
	return function && in_module ? name : NULL;
}

bool kallsyms_symbol(long i, struct ksym *sym)
{
	sym->address = (unsigned long)function;
	return true;
}

#define STP_FRAME_48 0xa9bd7bfd /* stp x29, x30, [sp, #-48]! */
#define MOV_FP_SP    0x910003fd
#define STP_19_20    0xa90153f3 /* stp x19, x20, [sp, #16] */
#define STP_21_22    0xa9025bf5 /* stp x21, x22, [sp, #32] */
#define MOV_19_0     0xaa0003f3
#define MOV_W20_W1   0x2a0103f4
#define MOV_0_30     0xaa1e03e0

/* The stack from `sp` at the function's start downwards, and registers of which each is told from all others. */
static u64 stack[64];
#define ENTRY_SP ((unsigned long)&stack[60])

static u64 entry_value(unsigned reg)
{
	return 0x1111000000000000UL + reg;
}

static struct pt_regs entry_regs(void)
{
	struct pt_regs regs = {.sp = ENTRY_SP};

	for (unsigned i = 0; i < 31; i++)
		regs.regs[i] = entry_value(i);
	return regs;
}

/* sp at the site lies `size` bytes lower, and the frame record at `record` from there. */
static void push_frame(struct pt_regs *regs, unsigned size, unsigned record)
{
	regs->sp = ENTRY_SP - size;
	*(u64 *)(regs->sp + record) = regs->regs[29];
	*(u64 *)(regs->sp + record + 8) = regs->regs[30];
	regs->regs[29] = regs->sp + record;
}

static void save(const struct pt_regs *regs, unsigned reg, unsigned offset)
{
	*(u64 *)(regs->sp + offset) = regs->regs[reg];
}

static unsigned long site_of(const u32 *code, unsigned n)
{
	function = code;
	return (unsigned long)(code + n);
}

/* All is as at the entry, but for the registers of a mask, which are 0. */
static void expect_entry(const struct pt_regs *regs, u64 zero)
{
	for (unsigned i = 0; i < 31; i++)
		assert_int_equal(regs->regs[i], (zero >> i) & 1 ? 0 : entry_value(i));
	assert_int_equal(regs->sp, ENTRY_SP);
}

/*
 * Three arguments were moved to callee-saved registers, whose old values are in the frame, and x0 was overwritten by
 * the hook. All registers and sp must come back. Otherwise a replaced function would run with wrong arguments.
 */
static void test_arguments_in_saved_registers(void **state)
{
	static const u32 code[] = {STP_FRAME_48, MOV_FP_SP, STP_19_20,
				   STP_21_22,	 MOV_19_0,  0xaa0103f5 /* mov x21, x1 */,
				   MOV_0_30,	 0xaa0203f4 /* mov x20, x2 */};
	struct pt_regs regs = entry_regs();
	unsigned long ip = site_of(code, 8);

	push_frame(&regs, 48, 0);
	for (unsigned i = 0; i < 4; i++)
		save(&regs, 19 + i, 16 + 8 * i);
	regs.regs[19] = regs.regs[0];
	regs.regs[21] = regs.regs[1];
	regs.regs[20] = regs.regs[2];
	regs.regs[0] = regs.regs[30];
	assert_true(arch_ftrace_can_redirect(ip));
	arch_ftrace_redirect(ip, &regs);
	expect_entry(&regs, 0);
}

/* A frame with the record in its middle, x0 in the frame, x1 only as x1 + 8. */
static void test_arguments_in_the_frame(void **state)
{
	static const u32 code[] = {0xd10143ff /* sub sp, sp, #80 */,   0xa9017bfd /* stp x29, x30, [sp, #16] */,
				   0x910043fd /* add x29, sp, #16 */,  0xf90013f3 /* str x19, [sp, #32] */,
				   0xf90017e0 /* str x0, [sp, #40] */, 0x91002033 /* add x19, x1, #8 */,
				   0xd2800001 /* mov x1, #0 */,	       MOV_0_30};
	struct pt_regs regs = entry_regs();
	unsigned long ip = site_of(code, 8);

	push_frame(&regs, 80, 16);
	save(&regs, 19, 32);
	save(&regs, 0, 40);
	regs.regs[19] = regs.regs[1] + 8;
	regs.regs[1] = 0;
	regs.regs[0] = regs.regs[30];
	assert_true(arch_ftrace_can_redirect(ip));
	arch_ftrace_redirect(ip, &regs);
	expect_entry(&regs, 0);
}

/* A return that is hooked is in the record by then: the new function takes it from x30. */
static void test_unused_argument_and_hooked_return(void **state)
{
	static const u32 code[] = {STP_FRAME_48, MOV_FP_SP, MOV_0_30};
	struct pt_regs regs = entry_regs();
	unsigned long ip = site_of(code, 3);

	push_frame(&regs, 48, 0);
	regs.regs[0] = regs.regs[30];
	*(u64 *)(regs.sp + 8) = 0x4242;
	assert_true(arch_ftrace_can_redirect(ip));
	arch_ftrace_redirect(ip, &regs);
	assert_int_equal(regs.regs[30], 0x4242);
	regs.regs[30] = entry_value(30);
	expect_entry(&regs, 1);
}

/* x8 is no argument: a function that keeps it in its frame has no more to undo for that. */
static void test_a_stored_register_behind_the_arguments(void **state)
{
	static const u32 code[] = {STP_FRAME_48, MOV_FP_SP, 0xf9000be8 /* str x8, [sp, #16] */, MOV_0_30};
	struct pt_regs regs = entry_regs();
	unsigned long ip = site_of(code, 4);

	push_frame(&regs, 48, 0);
	save(&regs, 8, 16);
	regs.regs[0] = regs.regs[30];
	assert_true(arch_ftrace_can_redirect(ip));
	arch_ftrace_redirect(ip, &regs);
	expect_entry(&regs, 1);
}

/*
 * gcc has moved only the low 32 bits of an argument. Those must come back, the upper half as zeros: that is all that a
 * function with an int argument may look at.
 */
static void test_a_narrow_argument(void **state)
{
	static const u32 code[] = {STP_FRAME_48, MOV_FP_SP, STP_19_20, MOV_W20_W1, 0xaa1e03e1 /* mov x1, x30 */};
	struct pt_regs regs = entry_regs();
	unsigned long ip = site_of(code, 5);

	push_frame(&regs, 48, 0);
	save(&regs, 19, 16);
	save(&regs, 20, 24);
	regs.regs[20] = (u32)regs.regs[1];
	regs.regs[1] = regs.regs[30];
	assert_true(arch_ftrace_can_redirect(ip));
	arch_ftrace_redirect(ip, &regs);
	assert_int_equal(regs.regs[1], (u32)entry_value(1));
	regs.regs[1] = entry_value(1);
	expect_entry(&regs, 0);
}

/* An argument that was moved to the register of another one comes back from there, also from x0. */
static void test_an_argument_in_anothers_place(void **state)
{
	static const u32 code[] = {STP_FRAME_48, MOV_FP_SP, STP_19_20, MOV_19_0, 0xaa0103e0 /* mov x0, x1 */,
				   0xaa1e03e1 /* mov x1, x30 */};
	struct pt_regs regs = entry_regs();
	unsigned long ip = site_of(code, 6);

	push_frame(&regs, 48, 0);
	save(&regs, 19, 16);
	save(&regs, 20, 24);
	regs.regs[19] = regs.regs[0];
	regs.regs[0] = regs.regs[1];
	regs.regs[1] = regs.regs[30];
	assert_true(arch_ftrace_can_redirect(ip));
	arch_ftrace_redirect(ip, &regs);
	expect_entry(&regs, 0);
}

/*
 * A probe's breakpoint stands where the prologue moves x0. The instruction below it counts. Otherwise a function could
 * not be replaced while it is probed.
 */
static void test_a_probe_in_the_prologue(void **state)
{
	static const u32 code[] = {STP_FRAME_48, MOV_FP_SP, STP_19_20, 0xd4200080 /* brk #4 */, MOV_0_30};
	struct pt_regs regs = entry_regs();
	unsigned long ip = site_of(code, 5);

	push_frame(&regs, 48, 0);
	save(&regs, 19, 16);
	save(&regs, 20, 24);
	regs.regs[19] = regs.regs[0];
	regs.regs[0] = regs.regs[30];
	assert_false(arch_ftrace_can_redirect(ip));
	probed = code + 3;
	under_probe = MOV_19_0;
	assert_true(arch_ftrace_can_redirect(ip));
	arch_ftrace_redirect(ip, &regs);
	probed = NULL;
	expect_entry(&regs, 0);
}

#define REFUSED(what, ...)                                                               \
	do {                                                                             \
		static const u32 code[] = {__VA_ARGS__};                                 \
		assert_false(arch_ftrace_can_redirect(site_of(code, sizeof(code) / 4))); \
	} while (0)

/*
 * The same bytes in a module, whose functions the kernel's own table does not have, are undone as well; at an address
 * without a name the start of the function is not known, so it must be refused.
 */
static void test_a_function_of_a_module(void **state)
{
	static const u32 code[] = {STP_FRAME_48, MOV_FP_SP, STP_19_20, MOV_19_0, MOV_0_30};
	struct pt_regs regs = entry_regs();
	unsigned long ip = site_of(code, 5);

	in_module = true;
	push_frame(&regs, 48, 0);
	save(&regs, 19, 16);
	save(&regs, 20, 24);
	regs.regs[19] = regs.regs[0];
	regs.regs[0] = regs.regs[30];
	assert_true(arch_ftrace_can_redirect(ip));
	arch_ftrace_redirect(ip, &regs);
	expect_entry(&regs, 0);
	function = NULL;
	assert_false(arch_ftrace_can_redirect(ip));
	in_module = false;
}

/*
 * Prologues whose effect cannot be undone from the registers alone (branches, calls, loads, stores to other places, an
 * argument of which only a part is left), and one that is longer than the 64 instructions that are looked at. If one
 * were accepted, the replacement would be called with garbage.
 */
static void test_refusals(void **state)
{
	static u32 nops[80];

	REFUSED("no record", MOV_0_30);
	REFUSED("a branch", STP_FRAME_48, MOV_FP_SP, 0xb4000040 /* cbz x0, .+8 */, MOV_0_30);
	REFUSED("a call", STP_FRAME_48, MOV_FP_SP, 0x94000010 /* bl */, MOV_0_30);
	REFUSED("a load", STP_FRAME_48, MOV_FP_SP, 0xf9400001 /* ldr x1, [x0] */, MOV_0_30);
	REFUSED("a store elsewhere", STP_FRAME_48, MOV_FP_SP, 0xf9000001 /* str x1, [x0] */, MOV_0_30);
	REFUSED("x19 is not saved", STP_FRAME_48, MOV_FP_SP, MOV_19_0, MOV_0_30);
	REFUSED("sp is aligned", STP_FRAME_48, MOV_FP_SP, 0x927cec1f /* and sp, x0, #-16 */, MOV_0_30);
	REFUSED("x0 is there only in part", STP_FRAME_48, MOV_FP_SP, STP_19_20, 0x53087c13 /* lsr w19, w0, #8 */,
		MOV_0_30);
	REFUSED("x1 is changed in its place", STP_FRAME_48, MOV_FP_SP, 0x91002021 /* add x1, x1, #8 */, MOV_0_30);
	REFUSED("the copy of x0 is there only in part", STP_FRAME_48, MOV_FP_SP, STP_19_20, MOV_19_0, MOV_0_30,
		0x8b131673 /* add x19, x19, x19, lsl #5 */);
	for (unsigned i = 0; i < 80; i++)
		nops[i] = MOV_0_30;
	nops[0] = STP_FRAME_48;
	nops[1] = MOV_FP_SP;
	assert_true(arch_ftrace_can_redirect(site_of(nops, 64)));
	assert_false(arch_ftrace_can_redirect(site_of(nops, 65)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments_in_saved_registers),
		cmocka_unit_test(test_arguments_in_the_frame),
		cmocka_unit_test(test_unused_argument_and_hooked_return),
		cmocka_unit_test(test_a_stored_register_behind_the_arguments),
		cmocka_unit_test(test_a_narrow_argument),
		cmocka_unit_test(test_an_argument_in_anothers_place),
		cmocka_unit_test(test_a_function_of_a_module),
		cmocka_unit_test(test_a_probe_in_the_prologue),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

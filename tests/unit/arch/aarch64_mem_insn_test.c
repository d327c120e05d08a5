/*
 * The loads and stores that mem_insn.c knows: what mmiotrace decodes and does in place of the CPU. For
 * each form of instruction a row says where the operand is, what the registers and the memory must hold afterwards,
 * and what the bus has seen. The driver's access goes to two words of the test.
 */
/* sources: */
/* include: tests/unit/include-aarch64 -Iarch/aarch64/include */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../arch/aarch64/debug/mem_insn.c"

/* The operand's bytes: the sign is set in each width. */
#define MEMORY_0 0x91a2b3c4d5e6f7f8UL
#define MEMORY_1 0x0102030485060788UL
#define X1	 0x10000UL /* the base in the instructions below, and sp is */
#define SP	 0x20000UL
#define X2	 0x1122334455667788UL
#define X3	 0xffffffff00000004UL /* an index: 4 if 32 bits are taken */

/*
 * Registers afterwards as rt and rt2 of a load, or memory afterwards of a store; where the operand was; the base
 * afterwards.
 */
static const struct {
	const char *text;
	u32 code;
	unsigned long address, base;
	u8 width, accesses;
	bool store;
	u64 first, second;
} forms[] = {
	{"ldr w0, [x1]", 0xb9400020, X1, X1, 4, 1, false, 0xd5e6f7f8, 0},
	{"ldr x0, [x1, #16]", 0xf9400820, X1 + 16, X1, 8, 1, false, MEMORY_0, 0},
	{"ldrb w0, [x1, #3]", 0x39400c20, X1 + 3, X1, 1, 1, false, 0xf8, 0},
	{"ldrh w0, [x1, #6]", 0x79400c20, X1 + 6, X1, 2, 1, false, 0xf7f8, 0},
	{"ldrsb w0, [x1]", 0x39c00020, X1, X1, 1, 1, false, 0xfffffff8, 0},
	{"ldrsb x0, [x1]", 0x39800020, X1, X1, 1, 1, false, 0xfffffffffffffff8, 0},
	{"ldrsh w0, [x1]", 0x79c00020, X1, X1, 2, 1, false, 0xfffff7f8, 0},
	{"ldrsh x0, [x1]", 0x79800020, X1, X1, 2, 1, false, 0xfffffffffffff7f8, 0},
	{"ldrsw x0, [x1]", 0xb9800020, X1, X1, 4, 1, false, 0xffffffffd5e6f7f8, 0},
	{"str w2, [x1, #4]", 0xb9000422, X1 + 4, X1, 4, 1, true, 0x91a2b3c455667788, MEMORY_1},
	{"str xzr, [x1]", 0xf900003f, X1, X1, 8, 1, true, 0, MEMORY_1},
	{"strb w2, [x1]", 0x39000022, X1, X1, 1, 1, true, 0x91a2b3c4d5e6f788, MEMORY_1},
	{"strh w2, [x1]", 0x79000022, X1, X1, 2, 1, true, 0x91a2b3c4d5e67788, MEMORY_1},
	{"ldur w0, [x1, #-8]", 0xb85f8020, X1 - 8, X1, 4, 1, false, 0xd5e6f7f8, 0},
	{"stur x2, [x1, #-8]", 0xf81f8022, X1 - 8, X1, 8, 1, true, X2, MEMORY_1},
	{"ldr w0, [x1], #8", 0xb8408420, X1, X1 + 8, 4, 1, false, 0xd5e6f7f8, 0},
	{"ldr w0, [x1, #8]!", 0xb8408c20, X1 + 8, X1 + 8, 4, 1, false, 0xd5e6f7f8, 0},
	{"str w2, [sp, #-16]!", 0xb81f0fe2, SP - 16, SP - 16, 4, 1, true, 0x91a2b3c455667788, MEMORY_1},
	{"str x2, [sp], #16", 0xf80107e2, SP, SP + 16, 8, 1, true, X2, MEMORY_1},
	{"ldr w0, [x1, x3, lsl #2]", 0xb8637820, X1 + X3 * 4, X1, 4, 1, false, 0xd5e6f7f8, 0},
	{"ldr w0, [x1, w3, uxtw #2]", 0xb8635820, X1 + 16, X1, 4, 1, false, 0xd5e6f7f8, 0},
	{"ldr x0, [x1, w3, sxtw]", 0xf863c820, X1 + 4, X1, 8, 1, false, MEMORY_0, 0},
	{"strb w2, [x1, x3]", 0x38236822, X1 + X3, X1, 1, 1, true, 0x91a2b3c4d5e6f788, MEMORY_1},
	{"ldp x0, x5, [x1, #16]", 0xa9411420, X1 + 16, X1, 8, 2, false, MEMORY_0, MEMORY_1},
	{"stp x2, x3, [x1]", 0xa9000c22, X1, X1, 8, 2, true, X2, X3},
	{"ldp w0, w5, [x1], #8", 0x28c11420, X1, X1 + 8, 4, 2, false, 0xd5e6f7f8, 0x91a2b3c4},
	{"stp w2, w3, [sp, #-32]!", 0x29bc0fe2, SP - 32, SP - 32, 4, 2, true, 0x0000000455667788, MEMORY_1},
	{"ldpsw x0, x5, [x1]", 0x69401420, X1, X1, 4, 2, false, 0xffffffffd5e6f7f8, 0xffffffff91a2b3c4},
	{"ldnp x0, x5, [x1]", 0xa8401420, X1, X1, 8, 2, false, MEMORY_0, MEMORY_1},
};

static struct pt_regs start_regs(void)
{
	struct pt_regs regs = {.sp = SP, .pc = 0x40000};

	for (unsigned i = 0; i < 31; i++)
		regs.regs[i] = 0xabcd000000000000UL + i;
	regs.regs[1] = X1;
	regs.regs[2] = X2;
	regs.regs[3] = X3;
	return regs;
}

static void check_accesses(unsigned i, const struct mem_access *done)
{
	for (unsigned n = 0; n < forms[i].accesses; n++) {
		assert_int_equal(done[n].bytes, forms[i].width);
		assert_int_equal(done[n].write, forms[i].store);
		assert_int_equal(done[n].address, forms[i].address + n * forms[i].width);
	}
}

/*
 * One row: decode and emulate the instruction, then compare all registers, both words of memory, and what is told of
 * each access. An index that is extended wrongly, a base that is not written back, or a sign that is lost fails here;
 * in the kernel it would be a driver that works differently while it is traced.
 */
static void check_form(unsigned i)
{
	bool on_sp = ((forms[i].code >> 5) & 31) == 31;
	struct pt_regs regs = start_regs(), wanted = regs;
	struct mem_access done[MEM_INSN_ACCESSES];
	u64 memory[2] = {MEMORY_0, MEMORY_1};
	struct mem_insn insn;
	u8 *at = (u8 *)memory;

	wanted.pc += 4;
	*(on_sp ? &wanted.sp : &wanted.regs[1]) = forms[i].base;
	if (!forms[i].store) {
		wanted.regs[0] = forms[i].first;
		if (forms[i].accesses == 2)
			wanted.regs[5] = forms[i].second;
	}
	assert_int_equal(arch_mem_insn_decode(&insn, &regs, &forms[i].code), 0);
	assert_int_equal(insn.address, forms[i].address);
	assert_int_equal(insn.bytes, forms[i].width * forms[i].accesses);
	assert_int_equal(arch_mem_insn_emulate(&insn, &regs, at, done), forms[i].accesses);
	check_accesses(i, done);
	assert_memory_equal(&regs, &wanted, sizeof(regs));
	if (forms[i].store) {
		assert_int_equal(memory[0], forms[i].first);
		assert_int_equal(memory[1], forms[i].second);
		assert_int_equal(done[0].value, memory[0] & (forms[i].width < 8 ? BIT(8 * forms[i].width) - 1 : ~0UL));
	} else {
		assert_int_equal(memory[0], MEMORY_0);
		assert_int_equal(memory[1], MEMORY_1);
		/* What the bus has carried is not extended. */
		assert_int_equal(done[0].value, MEMORY_0 & (forms[i].width < 8 ? BIT(8 * forms[i].width) - 1 : ~0UL));
	}
}

static void test_known_forms(void **unused)
{
	for (unsigned i = 0; i < ARRAY_SIZE(forms); i++) {
		print_message("%s\n", forms[i].text);
		check_form(i);
	}
}

/*
 * Instructions that the emulator must refuse, because it cannot do them in one access, or because their result is
 * unpredictable (a load that writes its own base back). If one were accepted, mmiotrace would change what a driver
 * does.
 */
static void test_what_is_not_known(void **unused)
{
	static const struct {
		const char *text;
		u32 code;
	} unknown[] = {
		{"ldxr w0, [x1]", 0x885f7c20},	      {"ldar w0, [x1]", 0x88dffc20},
		{"stlr w0, [x1]", 0x889ffc20},	      {"ldr q0, [x1]", 0x3dc00020},
		{"ldtr w0, [x1]", 0xb8400820},	      {"prfm pldl1keep, [x1]", 0xf9800020},
		{"ldadd w0, w2, [x1]", 0xb8200022},   {"ldr w0, .", 0x18000000},
		{"dc cvau, x1", 0xd50b7b21},	      {"ldr x1, [x1], #8", 0xf8408421},
		{"ldp x4, x4, [x1]", 0xa9401024},     {"nop", 0xd503201f},
		{"stgp x0, x1, [x2]", 0x69000440},    {"ldp q0, q1, [x1]", 0xad400420},
		{"a reserved extension", 0xb8631820},
	};
	struct pt_regs regs = start_regs();
	struct mem_insn insn;

	for (unsigned i = 0; i < ARRAY_SIZE(unknown); i++) {
		print_message("%s\n", unknown[i].text);
		assert_int_equal(arch_mem_insn_decode(&insn, &regs, &unknown[i].code), -EINVAL);
	}
}

static void test_bytes_are_told_as_they_are_written(void **unused)
{
	u32 code = 0x885f7c20;
	u8 bytes[4];

	assert_int_equal(arch_mem_insn_bytes(&code, bytes), 4);
	assert_memory_equal(bytes, ((u8[]){0x88, 0x5f, 0x7c, 0x20}), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_forms),
		cmocka_unit_test(test_what_is_not_known),
		cmocka_unit_test(test_bytes_are_told_as_they_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Slots of probes: the bytes that do elsewhere what an instruction does, kind by kind, and whether a slot that is too
 * small or too far away is refused. The slot lies in memory that ends where it does, so ASan sees a write behind it.
 */
/* sources: */
/* include: tests/unit/include-x86_64 -Iarch/x86_64/include -Itests/unit/include-mm */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../arch/x86_64/probes/insn.c"
#include "../../../arch/x86_64/probes/probe_slot.c"

#define ADDR 0xffffffff81000000UL
#define SLOT 0xffffffff82000000UL
#define USER 0x7f0000000000UL

static u8 slot[64];
static struct slot_writer w;

/* A slot of so many bytes, at `base`, for the instruction that stands at `addr`. Is it filled, and does all fit? */
static bool emit(unsigned long addr, unsigned long base, unsigned size, const u8 *bytes)
{
	u8 *exact = malloc(size);
	struct insn insn;
	bool done;

	w = (struct slot_writer){.bytes = exact, .base = base, .constants = size, .fits = true, .leave = w.leave};
	memset(exact, 0xcc, size);
	assert_true(insn_decode(&insn, bytes, MAX_INSN_SIZE));
	done = slot_emit_instruction(&w, &insn, bytes, addr);
	memset(slot, 0, sizeof(slot));
	memcpy(slot, exact, size);
	free(exact);
	return done && w.fits;
}

/* The instruction at ADDR in a slot at SLOT: those bytes. They fit exactly, and into a byte less they do not. */
static void expect_bytes(const u8 insn[MAX_INSN_SIZE], const u8 *bytes, unsigned n)
{
	assert_true(emit(ADDR, SLOT, sizeof(slot), insn));
	assert_int_equal(w.at, n);
	assert_memory_equal(slot, bytes, n);
	assert_true(emit(ADDR, SLOT, n, insn));
	assert_false(emit(ADDR, SLOT, n - 1, insn));
}
#define CODE(...)	  ((const u8[MAX_INSN_SIZE]){__VA_ARGS__})
#define EXPECT(insn, ...) expect_bytes(insn, (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}))

/* Distances from the slot back to the instruction: SLOT is 0x1000000 above ADDR. */
static void test_kinds(void **state)
{
	/* mov %rax, %rbx; jmp ADDR + 3 */
	EXPECT(CODE(0x48, 0x89, 0xc3), 0x48, 0x89, 0xc3, 0xe9, 0xfb, 0xff, 0xff, 0xfe);
	/* mov 0x10(%rip), %rax: the displacement becomes larger by as much as the slot lies lower */
	EXPECT(CODE(0x48, 0x8b, 0x05, 0x10, 0, 0, 0), 0x48, 0x8b, 0x05, 0x10, 0, 0, 0xff, 0xe9, 0xfb, 0xff, 0xff, 0xfe);
	/* jmp . + 2 + 0x10; jmp . + 5 - 0x10 */
	EXPECT(CODE(0xeb, 0x10), 0xe9, 0x0d, 0, 0, 0xff);
	EXPECT(CODE(0xe9, 0xf0, 0xff, 0xff, 0xff), 0xe9, 0xf0, 0xff, 0xff, 0xfe);
	/* je . + 2 + 0x10: je over a jump back */
	EXPECT(CODE(0x74, 0x10), 0x0f, 0x84, 5, 0, 0, 0, 0xe9, 0xf7, 0xff, 0xff, 0xfe, 0xe9, 0x02, 0, 0, 0xff);
	EXPECT(CODE(0x0f, 0x85, 0x10, 0, 0, 0), 0x0f, 0x85, 5, 0, 0, 0, 0xe9, 0xfb, 0xff, 0xff, 0xfe, 0xe9, 0x06, 0, 0,
	       0xff);
	/* jrcxz . + 2 - 2 */
	EXPECT(CODE(0xe3, 0xfe), 0xe3, 5, 0xe9, 0xfb, 0xff, 0xff, 0xfe, 0xe9, 0xf4, 0xff, 0xff, 0xfe);
	/* jecxz . + 3 - 2: by ecx, which its prefix says */
	EXPECT(CODE(0x67, 0xe3, 0xfe), 0x67, 0xe3, 5, 0xe9, 0xfb, 0xff, 0xff, 0xfe, 0xe9, 0xf4, 0xff, 0xff, 0xfe);
	/* call . + 5: push $ADDR + 5; jmp */
	EXPECT(CODE(0xe8, 0, 0, 0, 0), 0x68, 5, 0, 0, 0x81, 0xe9, 0xfb, 0xff, 0xff, 0xfe);
	/* call *%rax; call *8(%rsp), which the push has moved; jmp *%rax; ret */
	EXPECT(CODE(0xff, 0xd0), 0x68, 2, 0, 0, 0x81, 0xff, 0xe0);
	EXPECT(CODE(0xff, 0x54, 0x24, 8), 0x68, 4, 0, 0, 0x81, 0xff, 0xa4, 0x24, 16, 0, 0, 0);
	EXPECT(CODE(0xff, 0x54, 0x24, 0xf0), 0x68, 4, 0, 0, 0x81, 0xff, 0xa4, 0x24, 0xf8, 0xff, 0xff, 0xff);
	EXPECT(CODE(0xff, 0xe0), 0xff, 0xe0);
	EXPECT(CODE(0xc3), 0xc3);
	assert_int_equal(w.pushed, 0);
}

/* An address that is no 32 bits with a sign is kept at the end of the slot. */
static void test_constants(void **state)
{
	static const u8 far[] = {0xff, 0x35, 10, 0, 0, 0, 0xff, 0xe0}, near[] = {0xff, 0x35, 2, 0, 0, 0, 0xff, 0xe0};
	unsigned long behind;

	assert_true(emit(USER, USER + 0x1000, 24, CODE(0xff, 0xd0)));
	assert_memory_equal(slot, far, 8);
	memcpy(&behind, slot + 16, 8);
	assert_int_equal(behind, USER + 2);
	assert_int_equal(w.pushed, 6);
	assert_true(emit(USER, USER + 0x1000, 16, CODE(0xff, 0xd0)));
	assert_memory_equal(slot, near, 8);
	assert_false(emit(USER, USER + 0x1000, 15, CODE(0xff, 0xd0)));
}

/* 2 GiB are the limit, to either side, for what the instruction reads and for where it goes. */
static void test_too_far(void **state)
{
	static const u8 nop[MAX_INSN_SIZE] = {0x90}, load[MAX_INSN_SIZE] = {0x48, 0x8b, 0x05, 0, 0, 0, 0};
	const unsigned long reach = 1UL << 31;

	/* The jump back ends 6 bytes behind the slot's start, and leads a byte behind the instruction's. */
	assert_true(emit(USER, USER + reach - 5, sizeof(slot), nop));
	assert_false(emit(USER, USER + reach - 4, sizeof(slot), nop));
	assert_true(emit(USER, USER - reach - 4, sizeof(slot), nop));
	assert_false(emit(USER, USER - reach - 5, sizeof(slot), nop));
	/* What fits behind something that did not makes nothing good. */
	assert_false(emit(USER, USER + 2 * reach, sizeof(slot), load));
	assert_false(emit(USER, USER + 2 * reach, sizeof(slot), CODE(0x74, 0x10)));
	assert_false(emit(USER, USER + 2 * reach, sizeof(slot), CODE(0xe8, 0, 0, 0, 0)));
}

static void leave(struct slot_writer *writer)
{
	slot_emit_byte(writer, 0x90);
}

/* What comes before each way out. */
static void test_ways_out(void **state)
{
	w.leave = leave;
	EXPECT(CODE(0x48, 0x89, 0xc3), 0x48, 0x89, 0xc3, 0x90, 0xe9, 0xfa, 0xff, 0xff, 0xfe);
	assert_int_equal(w.way_out, 4);
	EXPECT(CODE(0xe3, 0xfe), 0xe3, 6, 0x90, 0xe9, 0xfa, 0xff, 0xff, 0xfe, 0x90, 0xe9, 0xf2, 0xff, 0xff, 0xfe);
	EXPECT(CODE(0xc3), 0x90, 0xc3);
	w.leave = NULL;
}

/* What must not be executed elsewhere, and its neighbours in the opcode maps that may be. */
static void test_forbidden(void **state)
{
	static const u8 no[][4] = {
		{0xcc},
		{0xcd, 0x80},
		{0xcf},
		{0xf1},
		{0xf4},
		{0xca, 0, 0},
		{0xcb},
		{0x8e, 0xd0},
		{0xff, 0x18},
		{0xff, 0x28},
		{0xff, 0xd4},
		{0x0f, 0x01, 0xf8},
		{0x0f, 0x05},
		{0x0f, 0x07},
		{0x0f, 0x0b},
		{0x0f, 0x34},
		{0x0f, 0x35},
		{0x0f, 0xff, 0xc0},
		{0x0f, 0xb9, 0xc0},
	};
	static const u8 yes[][4] = {
		{0x8e, 0xd8}, {0xff, 0xc0}, {0xff, 0x30},	{0x0f, 0x01, 0x00},
		{0x0f, 0xa2}, {0x0f, 0x06}, {0xff, 0x14, 0x24},
	};
	u8 bytes[MAX_INSN_SIZE];

	for (unsigned i = 0; i < ARRAY_SIZE(no); i++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, no[i], sizeof(no[i]));
		if (emit(ADDR, SLOT, sizeof(slot), bytes))
			fail_msg("%02x %02x %02x was taken", no[i][0], no[i][1], no[i][2]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(yes); i++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, yes[i], sizeof(yes[i]));
		if (!emit(ADDR, SLOT, sizeof(slot), bytes))
			fail_msg("%02x %02x %02x was refused", yes[i][0], yes[i][1], yes[i][2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	 cmocka_unit_test(test_constants), cmocka_unit_test(test_too_far),
		cmocka_unit_test(test_ways_out), cmocka_unit_test(test_forbidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

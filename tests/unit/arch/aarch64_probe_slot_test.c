/*
 * Slots of probes on aarch64: the instructions that do elsewhere what one does, class by class, whether a slot that is
 * too small or too far away is refused, and where the exclusive monitor may be set. The slot lies in memory that ends
 * where it does, so ASan sees a write behind it.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include "../../../arch/aarch64/probes/exclusive.c"
#include "../../../arch/aarch64/probes/probe_slot.c"

#define ADDR 0xffffffc080100000UL
#define SLOT 0xffffffc080200000UL
#define NOP  0xd503201fU

static u32 slot[16];
static struct slot_writer w;

/* A slot of so many bytes, at `base`, for `insn` at ADDR. Is it filled, and does all fit? */
static bool emit(unsigned long base, unsigned size, u32 insn)
{
	u8 *exact = malloc(size);
	bool done;

	w = (struct slot_writer){.bytes = exact, .base = base, .literals = size, .fits = true, .leave = w.leave};
	memset(exact, 0, size);
	done = slot_emit_instruction(&w, insn, ADDR);
	memset(slot, 0, sizeof(slot));
	memcpy(slot, exact, size);
	free(exact);
	return done && w.fits;
}

/* The branch at offset `at` of the slot to so many bytes from ADDR on. */
static u32 branch(unsigned at, long to)
{
	return 0x14000000 | (((ADDR + to) - (SLOT + at)) >> 2 & 0x3ffffff);
}

/* These instructions, and then the constant, if it is not 0. They fit exactly, and into 4 bytes less they do not. */
static void expect_code(u32 insn, const u32 *code, unsigned n, u64 constant)
{
	unsigned size = 4 * n + (constant ? 8 : 0);

	assert_true(emit(SLOT, size, insn));
	assert_int_equal(w.at, 4 * n);
	for (unsigned i = 0; i < n; i++)
		if (slot[i] != code[i])
			fail_msg("%08x: %08x in place of %08x at %u", insn, slot[i], code[i], i);
	if (constant)
		assert_memory_equal(slot + n, &constant, 8);
	if (size > 8)
		assert_false(emit(SLOT, size - 4, insn));
	assert_true(emit(SLOT, size + 4, insn));
}
#define EXPECT(insn, constant, ...) \
	expect_code(insn, (const u32[]){__VA_ARGS__}, sizeof((const u32[]){__VA_ARGS__}) / 4, constant)

/* Branches lead where they led, whichever way they go on; and what does not branch goes on behind itself. */
static void test_branches(void **state)
{
	EXPECT(NOP, 0, NOP, branch(4, 4));
	assert_false(emit(SLOT, 4, NOP));
	EXPECT(0x14000004, 0, branch(0, 16));				/* b .+16 */
	EXPECT(0x17fffffc, 0, branch(0, -16));				/* b .-16 */
	EXPECT(0x54000040, 0, 0x54000040, branch(4, 4), branch(8, 8));	/* b.eq .+8 */
	EXPECT(0x54000110, 0, 0x54000050, branch(4, 4), branch(8, 32)); /* bc.eq .+32 */
	EXPECT(0xb4ffffc0, 0, 0xb4000040, branch(4, 4), branch(8, -8)); /* cbz x0, .-8 */
	EXPECT(0x35000101, 0, 0x35000041, branch(4, 4), branch(8, 32)); /* cbnz w1, .+32 */
	EXPECT(0x36180061, 0, 0x36180041, branch(4, 4), branch(8, 12)); /* tbz w1, #3, .+12 */
	EXPECT(0xb707ffe2, 0, 0xb7000042, branch(4, 4), branch(8, -4)); /* tbnz x2, #32, .-4 */
	EXPECT(0x94000008, ADDR + 4, 0x5800005e, branch(4, 32));	/* bl .+32 */
	EXPECT(0xd63f0060, ADDR + 4, 0x5800005e, 0xd61f0060);		/* blr x3 */
	EXPECT(0xd61f0060, 0, 0xd61f0060);				/* br x3 */
	EXPECT(0xd65f03c0, 0, 0xd65f03c0);				/* ret */
}

/* What is relative to pc becomes a constant. */
static void test_addresses(void **state)
{
	EXPECT(0x10000025, ADDR + 4, 0x58000045, branch(4, 4));		    /* adr x5, .+4 */
	EXPECT(0x70ffffe6, ADDR - 1, 0x58000046, branch(4, 4));		    /* adr x6, .-1 */
	EXPECT(0xb0000005, ADDR + 0x1000, 0x58000045, branch(4, 4));	    /* adrp x5, page + 1 */
	EXPECT(0xf0ffffe5, ADDR - 0x1000, 0x58000045, branch(4, 4));	    /* adrp x5, page - 1 */
	EXPECT(0x58000047, ADDR + 8, 0x58000067, 0xf94000e7, branch(8, 4)); /* ldr x7, .+8 */
	EXPECT(0x18ffffe7, ADDR - 4, 0x58000067, 0xb94000e7, branch(8, 4)); /* ldr w7, .-4 */
	EXPECT(0x98000047, ADDR + 8, 0x58000067, 0xb98000e7, branch(8, 4)); /* ldrsw x7, .+8 */
	EXPECT(0xd8000040, 0, branch(0, 4));				    /* prfm, .+8: it does nothing */
}

/* 128 MiB are the limit, to either side. */
static void test_too_far(void **state)
{
	const unsigned long reach = 1UL << 27;

	assert_true(emit(ADDR + 16 - (reach - 4), 32, 0x14000004));
	assert_false(emit(ADDR + 16 - reach, 32, 0x14000004));
	assert_true(emit(ADDR + 16 + reach, 32, 0x14000004));
	assert_false(emit(ADDR + 16 + reach + 4, 32, 0x14000004));
	/* What fits behind something that did not makes nothing good. */
	assert_false(emit(ADDR + 2 * reach, 32, 0x54000040));
	assert_false(emit(ADDR + 2 * reach, 32, NOP));
}

static void leave(struct slot_writer *writer)
{
	slot_emit(writer, NOP);
}

/* What comes before each way out: of both, and before a constant that a call by register leaves in x30. */
static void test_ways_out(void **state)
{
	w.leave = leave;
	EXPECT(0xaa0103e0, 0, 0xaa0103e0, NOP, branch(8, 4));
	EXPECT(0x54000040, 0, 0x54000060, NOP, branch(8, 4), NOP, branch(16, 8));
	EXPECT(0xd65f03c0, 0, NOP, 0xd65f03c0);
	EXPECT(0xd63f0060, ADDR + 4, NOP, 0x5800005e, 0xd61f0060);
	w.leave = NULL;
}

/* What must not be executed elsewhere, or cannot. */
static void test_forbidden(void **state)
{
	static const u32 no[] = {
		0xd4000001, /* svc #0 */ 0xd4000002,	  /* hvc #0 */ 0xd4200000,  /* brk #0 */
		0xd69f03e0, /* eret */ 0xd63f03c0,	  /* blr x30 */ 0xd71f0801, /* braa x0, x1 */
		0x1c000040, /* ldr s0, .+8 */ 0x9c000040,			    /* ldr q0, .+8 */
	};

	for (unsigned i = 0; i < ARRAY_SIZE(no); i++)
		if (emit(SLOT, sizeof(slot), no[i]))
			fail_msg("%08x was taken", no[i]);
}

/* ---- Where the monitor may be set */

static const u32 *code; /* up to ADDR */
static unsigned nr_code, looked_at;
static bool read_code(unsigned long addr, u32 *insn, void *arg)
{
	unsigned back = (ADDR - addr) / 4;

	looked_at++;
	if (back > nr_code)
		return false;
	*insn = code[nr_code - back];
	return true;
}

static bool monitored(const u32 *before, unsigned n, unsigned long start)
{
	code = before;
	nr_code = n;
	looked_at = 0;
	return monitor_may_be_set(ADDR, start, read_code, NULL);
}

/* From an exclusive load to its store, 16 instructions back at most, and not beyond the start of the function. */
static void test_monitor(void **state)
{
	static const u32 load[] = {NOP, 0xc85f7c01, NOP}, store[] = {0xc85f7c01, NOP, 0xc8027c01, NOP};
	static const u32 acquire[] = {0x885ffc01}, release[] = {0x885ffc01, 0x8802fc01},
			 plain[] = {0xf9400001, 0xc8dffc01}, pair[] = {0xc87f0440, NOP};
	static const u32 casp[] = {0x4860fc82, NOP}, between[] = {0xc85f7c01, 0x48207c82};
	u32 far[17] = {0xc85f7c01};

	assert_true(monitored(load, 3, ADDR - 100));
	assert_false(monitored(store, 4, ADDR - 100));
	assert_true(monitored(acquire, 1, ADDR - 100));
	assert_false(monitored(release, 2, ADDR - 100));
	assert_false(monitored(plain, 2, ADDR - 100));	/* ldar is not exclusive */
	assert_true(monitored(pair, 2, ADDR - 100));	/* ldxp */
	assert_false(monitored(casp, 2, ADDR - 100));	/* caspal: it loads and stores at once */
	assert_true(monitored(between, 2, ADDR - 100)); /* casp is not the store of the load before it */
	assert_true(monitored(load, 3, ADDR - 8));
	assert_false(monitored(load, 3, ADDR - 4));
	for (unsigned i = 1; i < 17; i++)
		far[i] = NOP;
	assert_true(monitored(far, 16, ADDR - 100));
	assert_int_equal(looked_at, 16);
	assert_false(monitored(far, 17, ADDR - 100));
	assert_int_equal(looked_at, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branches), cmocka_unit_test(test_addresses), cmocka_unit_test(test_too_far),
		cmocka_unit_test(test_ways_out), cmocka_unit_test(test_forbidden), cmocka_unit_test(test_monitor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

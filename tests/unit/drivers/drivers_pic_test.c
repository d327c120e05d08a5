/*
 * The two 8259s of the first PCs: where they are moved to, and that both are masked in the end. QEMU's machines deliver
 * by the IOAPIC, so a guest does not notice a chip that is open. The chips are models behind their ports, which take
 * the words of an initialisation in their order.
 */
/* sources: */
/* include: tests/unit/include-io */
#include <lib/types.h>

/* The local APIC's registers, which pic.c has in its header and does not use. */
u32 readl_relaxed(const void *p);
void writel_relaxed(u32 v, void *p);

#include "../../../drivers/irqchip/pic.c"

#define PORT_DELAY 0x80

static struct chip {
	u8 words[3]; /* ICW2 to ICW4 */
	unsigned nr; /* of them that have come */
	u8 mask;
	bool masked_before; /* when its initialisation began, which forgets the mask */
} chips[2];

static void chip_out(struct chip *chip, bool data, u8 v)
{
	if (!data) {
		assert_int_equal(v, ICW1_INIT);
		chip->masked_before = chip->mask == 0xff;
		chip->mask = chip->nr = 0;
	} else if (chip->nr < ARRAY_SIZE(chip->words)) {
		chip->words[chip->nr++] = v;
	} else {
		chip->mask = v;
	}
}

/* A port that is no chip's and does not give them time is an error: value and port are easily swapped. */
void host_out(unsigned long port, u8 v)
{
	switch (port) {
	case PIC1_COMMAND:
	case PIC1_DATA:
		chip_out(&chips[0], port == PIC1_DATA, v);
		break;
	case PIC2_COMMAND:
	case PIC2_DATA:
		chip_out(&chips[1], port == PIC2_DATA, v);
		break;
	case PORT_DELAY:
		break;
	default:
		fail_msg("%#x is written to port %#lx", v, port);
	}
}

/* Vectors 0x20 to 0x2f, the second chip behind input 2 of the first, no automatic end of interrupts, all masked. */
static void test_disable(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(chips); i++)
		chips[i] = (struct chip){.nr = ARRAY_SIZE(chips[i].words), .mask = 0xb8};
	pic_disable();
	for (unsigned i = 0; i < ARRAY_SIZE(chips); i++) {
		const u8 *words = chips[i].words;

		if (chips[i].mask != 0xff)
			fail_msg("chip %u is left with the mask %#x", i + 1, chips[i].mask);
		if (!chips[i].masked_before)
			fail_msg("chip %u is open while it is moved", i + 1);
		assert_int_equal(chips[i].nr, 3);
		assert_int_equal(words[0], i ? 0x28 : 0x20);
		assert_int_equal(words[1], i ? 2 : 1 << 2);
		assert_int_equal(words[2], 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

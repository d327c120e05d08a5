/*
 * The 8254's channel 2, which QEMU's machines count with only where there is neither HPET nor ACPI timer: what is
 * written to start it, and that a latched value is put together of both its bytes. The chip is a model behind its
 * ports.
 */
/* sources: */
/* include: tests/unit/include-io */
#include "../../../drivers/timer/pit.c"

static u8 port_b;
static u16 count, latched;
static unsigned reads, writes;
static bool latch;	/* a read gives the latched value */
static u8 started_with; /* the last command that is no latch */

/* A latched value stays while channel 2 counts on, and is read like a count is written: low byte first. */
void host_out(unsigned long port, u8 v)
{
	switch (port) {
	case PORT_B:
		port_b = v;
		break;
	case PIT_COMMAND:
		if (v == PIT_LATCH2) {
			latched = count;
			latch = true;
			reads = 0;
		} else {
			started_with = v;
			writes = 0;
		}
		break;
	case PIT_CHANNEL2:
		count = writes++ % 2 ? (u16)(count & 0xff) | (u16)(v << 8) : v;
		break;
	default:
		fail_msg("port %#lx is written", port);
	}
}

u8 host_in(unsigned long port)
{
	if (port == PORT_B)
		return port_b;
	assert_int_equal(port, PIT_CHANNEL2);
	assert_true(latch);
	return reads++ % 2 ? latched >> 8 : latched & 0xff;
}

/* The gate opens and the loudspeaker is off; other bits of port B stay. The count is 65536, in two bytes. */
static void test_starts_and_ends(void **state)
{
	const struct calibration_counter *c;

	port_b = 0xf0 | PORT_B_SOUND;
	count = 0x1234;
	c = pit_counter();
	assert_int_equal(port_b, 0xf0 | PORT_B_GATE2);
	assert_int_equal(started_with, 0xb4);
	assert_int_equal(writes, 2);
	assert_int_equal(count, 0);
	assert_int_equal(c->mask, 0xffff);
	pit_counter_done();
	assert_int_equal(port_b, 0xf0);
}

/* It counts down, and what calibration sees goes up, over all 16 bits. */
static void test_reads(void **state)
{
	const struct calibration_counter *c = pit_counter();

	assert_int_equal(c->read(), 0);
	for (u32 n = 1; n <= 0xffff; n++) {
		count--;
		assert_int_equal(c->read(), n);
	}
	count--;
	assert_int_equal(c->read(), 0);
}

/* Channel 0 is told to wait for a count. */
static void test_probe(void **state)
{
	assert_int_equal(pit_probe(NULL), 0);
	assert_int_equal(started_with, 0x30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_and_ends),
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

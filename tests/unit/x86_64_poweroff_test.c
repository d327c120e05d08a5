/*
 * Power-off by ACPI as firmware wants it: QEMU's chip sets go to sleep whether or not ACPI was enabled before, at once,
 * and ask for nothing. The ports are a model of the two PM1 control registers and of the firmware behind its port.
 */
/* sources: */
/* include: tests/unit/include-io */
#include "../../arch/x86_64/poweroff.c"

#define FOREVER ~0U

struct acpi_info acpi_info;

static u64 now;
static u16 pm1[2];	     /* at the ports 0x604 and 0x704 */
static unsigned until_ready; /* so many looks at the first after the firmware was told, ACPI is enabled */
static bool told;
static jmp_buf halted;

/* What was written: port, value. */
static struct {
	unsigned port, value;
} written[16];
static unsigned nr_written;

static void note(unsigned port, unsigned value)
{
	assert_true(nr_written < ARRAY_SIZE(written));
	written[nr_written].port = port;
	written[nr_written++].value = value;
}

u64 sched_clock(void)
{
	return now += 1000;
}
void ndelay(u64 ns)
{
	now += ns;
}
void arch_halt(void)
{
	longjmp(halted, 1);
}
void set_fixmap(unsigned slot, phys_addr_t phys, pgprot_t prot)
{
	fail();
}
u8 host_in(unsigned long port)
{
	fail();
	return 0;
}
void host_out(unsigned long port, u8 v)
{
	note(port, v);
	told |= port == 0xb2 && v == 0x52;
}
u16 host_in16(unsigned port)
{
	if (port == 0x604 && told && until_ready != FOREVER && until_ready-- == 0)
		pm1[0] |= PM1_SCI_EN, told = false;
	return pm1[port == 0x704];
}
void host_out16(unsigned port, u16 v)
{
	note(port, v);
	pm1[port == 0x704] = v;
}
void host_out32(unsigned port, u32 v)
{
	note(port, v);
}

/* The power-off of a machine whose ACPI is enabled after so many looks, until it halts; `pm1` is the caller's. */
static void power_off(int status, unsigned looks)
{
	acpi_info = (struct acpi_info){
		.pm1a_control = 0x604,
		.smi_command = 0xb2,
		.acpi_enable = 0x52,
		.has_s5 = true,
		.s5_type_a = 5,
		.s5_type_b = 3,
	};
	until_ready = looks;
	told = false;
	nr_written = 0;
	now = 0;
	if (!setjmp(halted))
		arch_power_off(status);
}

static void expect(unsigned nr, unsigned port, unsigned value)
{
	assert_int_equal(written[nr].port, port);
	assert_int_equal(written[nr].value, value);
}

/* The firmware is told first; then the sleep type, and the same with the bit that starts it. Other bits stay. */
static void test_acpi_is_enabled_first(void **state)
{
	pm1[0] = 1 << 9 | PM1_SLP_TYP(7);
	power_off(0, 20);
	assert_int_equal(nr_written, 3);
	expect(0, 0xb2, 0x52);
	expect(1, 0x604, 1 << 9 | PM1_SCI_EN | 5 << 10);
	expect(2, 0x604, 1 << 9 | PM1_SCI_EN | 5 << 10 | 1 << 13);
	assert_true(now < ACPI_ENABLE_NS);
}

/* Where ACPI is enabled already nobody is told; a status goes to QEMU's port before all that. */
static void test_it_was_enabled(void **state)
{
	pm1[0] = PM1_SCI_EN;
	power_off(77, FOREVER);
	assert_int_equal(nr_written, 3);
	expect(0, 0xf4, 77);
	expect(1, 0x604, PM1_SCI_EN | 5 << 10);
	expect(2, 0x604, PM1_SCI_EN | 5 << 10 | 1 << 13);
}

/* A firmware that does not answer has 300 ms. */
static void test_it_never_is(void **state)
{
	pm1[0] = 0;
	power_off(0, FOREVER);
	assert_int_equal(nr_written, 3);
	expect(2, 0x604, 5 << 10 | 1 << 13);
	assert_in_range(now, ACPI_ENABLE_NS, ACPI_ENABLE_NS + 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_acpi_is_enabled_first),
		cmocka_unit_test(test_it_was_enabled),
		cmocka_unit_test(test_it_never_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Power-off by ACPI as firmware wants it: QEMU's chip sets go to sleep whether or not ACPI was enabled before, at once,
 * and ask for nothing. The ports are a model of the two PM1 control registers and of the firmware behind its port.
 * Restart by each of the means, of which QEMU's boards know the first that is tried.
 */
/* sources: */
/* include: tests/unit/include-io */
#include "../../../arch/x86_64/poweroff.c"

#define FOREVER ~0U

struct acpi_info acpi_info;

static u64 now;
static u16 pm1[2];	     /* at the ports 0x604 and 0x704 */
static unsigned until_ready; /* so many looks at the first after the firmware was told, ACPI is enabled */
static bool told;
static jmp_buf halted;
static unsigned waits_left; /* the machine is reset during that wait; 0: never */
static phys_addr_t mapped;
static unsigned keyboard_full; /* so many looks at the keyboard controller find its input full */

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
	if (waits_left && !--waits_left)
		longjmp(halted, 1);
}
void arch_halt(void)
{
	longjmp(halted, 1);
}
void set_fixmap(unsigned slot, phys_addr_t phys, pgprot_t prot)
{
	assert_int_equal(slot, FIX_PATCH);
	mapped = phys;
}
u8 host_in(unsigned long port)
{
	assert_int_equal(port, KBD_STATUS);
	if (!keyboard_full)
		return 0;
	keyboard_full -= keyboard_full != FOREVER;
	return KBD_INPUT_FULL;
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

/* A restart that works during the wait of this number. */
static void restart(struct acpi_register reset, unsigned wait)
{
	acpi_info = (struct acpi_info){.reset = reset, .reset_value = 6};
	waits_left = wait;
	nr_written = 0;
	mapped = 0;
	now = 0;
	if (!setjmp(halted))
		arch_restart();
}

/* What the firmware names is tried first, at a port or in memory. */
static void test_restart_by_acpi(void **state)
{
	restart((struct acpi_register){ACPI_IO, 0x1234}, 1);
	assert_int_equal(nr_written, 1);
	expect(0, 0x1234, 6);
	assert_int_equal(mapped, 0);
	restart((struct acpi_register){ACPI_MEMORY, 0xfed80c12}, 1);
	assert_int_equal(nr_written, 1);
	expect(0, 0xc12, 6);
	assert_int_equal(mapped, 0xfed80000);
}

/* Then the chip set's register, whose bit must rise; also when the firmware's did nothing. */
static void test_restart_by_chip_set(void **state)
{
	restart((struct acpi_register){}, 1);
	assert_int_equal(nr_written, 2);
	expect(0, 0xcf9, 2);
	expect(1, 0xcf9, 6);
	restart((struct acpi_register){ACPI_IO, 0x1234}, 2);
	assert_int_equal(nr_written, 3);
	expect(2, 0xcf9, 6);
	assert_int_equal(now, RESET_NS * 2);
}

/* Then the keyboard controller, when it can take a command; one that is not there is waited for no longer than that. */
static void test_restart_by_keyboard(void **state)
{
	keyboard_full = 10;
	restart((struct acpi_register){}, 2);
	assert_int_equal(keyboard_full, 0);
	assert_int_equal(nr_written, 3);
	expect(2, 0x64, 0xfe);
	assert_true(now < RESET_NS * 3);
	keyboard_full = FOREVER;
	restart((struct acpi_register){}, 2);
	assert_int_equal(nr_written, 3);
	expect(2, 0x64, 0xfe);
	assert_in_range(now, RESET_NS * 3, RESET_NS * 3 + 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_acpi_is_enabled_first), cmocka_unit_test(test_it_was_enabled),
		cmocka_unit_test(test_it_never_is),	      cmocka_unit_test(test_restart_by_acpi),
		cmocka_unit_test(test_restart_by_chip_set),   cmocka_unit_test(test_restart_by_keyboard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

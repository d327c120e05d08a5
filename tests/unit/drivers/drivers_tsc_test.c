/*
 * Where the frequency of the time stamp counter comes from: the hypervisor, CPUID with and without the crystal's
 * frequency, and counters that it is measured against. QEMU's CPUs show one of these each.
 */
/* sources: */
/* include: tests/unit/include-tsc -Itests/unit/include-mm */
#include <host_test.h>

#include "../../../drivers/timer/tsc.c"

struct cpu_features cpu_features;

static struct cpuid_regs leaf_15, leaf_16, leaf_hypervisor, leaf_timing;

/* The CPU's answers. */
struct cpuid_regs cpuid(u32 leaf, u32 sub)
{
	switch (leaf) {
	case 0x15:
		return leaf_15;
	case 0x16:
		return leaf_16;
	case 0x40000000:
		return leaf_hypervisor;
	case 0x40000010:
		return leaf_timing;
	}
	fail_msg("leaf %x", leaf);
	return (struct cpuid_regs){};
}

/* ---- Counters: those that are there, and what a measurement against one says */

static const struct calibration_counter hpet = {.name = "hpet"}, pit = {.name = "pit"}, pm = {.name = "acpi_pm"};
static bool have_hpet, have_pit, have_pm;
static const struct calibration_counter *standing; /* it does not count */
static unsigned pit_ended, hpet_forgotten;
static u64 clock_hz;

const struct calibration_counter *hpet_counter(void)
{
	return have_hpet ? &hpet : NULL;
}
const struct calibration_counter *pit_counter(void)
{
	return have_pit ? &pit : NULL;
}
void pit_counter_done(void)
{
	pit_ended++;
}
const struct calibration_counter *pm_timer_counter(void)
{
	return have_pm ? &pm : NULL;
}
int calibrate_tsc(const struct calibration_counter *c, struct hz_range *range)
{
	*range = (struct hz_range){1000, 3000};
	return c == standing ? -5 : 0;
}
u64 hz_plausible(struct hz_range range)
{
	return (range.low + range.high) / 2;
}
int hpet_start(void *regs)
{
	return have_hpet ? 0 : -19;
}
void hpet_forget(void)
{
	hpet_forgotten++;
}
void clock_init(u64 hz)
{
	clock_hz = hz;
}

/* ---- Tests */

/* The frequency by a CPU's leaf 0x15, which has these registers, and its base frequency in MHz. */
static u64 by_cpuid(u32 eax, u32 ebx, u32 ecx, u32 mhz)
{
	cpu_features = (struct cpu_features){.max_leaf = 0x16};
	leaf_15 = (struct cpuid_regs){eax, ebx, ecx, 0};
	leaf_16 = (struct cpuid_regs){.eax = mhz};
	return told_hz();
}

/* The ratio of leaf 0x15 times the crystal; without the crystal's frequency, that of the three that fits the base. */
static void test_cpuid(void **state)
{
	assert_int_equal(by_cpuid(2, 168, 38400000, 0), 3225600000);
	assert_string_equal(tsc_hz_source, "CPUID");
	assert_int_equal(by_cpuid(2, 250, 0, 3000), 3000000000);
	assert_int_equal(by_cpuid(2, 200, 0, 2500), 2500000000);
	assert_int_equal(by_cpuid(3, 171, 0, 1094), 1094400000);
	/* It fits to the MHz: 2,400 MHz of 24 MHz, not a MHz above or below. */
	assert_int_equal(by_cpuid(1, 100, 0, 2400), 2400000000);
	assert_int_equal(by_cpuid(1, 100, 0, 2401), 0);
	assert_int_equal(by_cpuid(1, 100, 0, 2399), 0);
	assert_int_equal(by_cpuid(3, 171, 0, 1095), 1094400000);
	assert_int_equal(by_cpuid(2, 100, 0, 4000), 0);
	assert_int_equal(by_cpuid(0, 100, 24000000, 2400), 0);
	assert_int_equal(by_cpuid(2, 0, 24000000, 2400), 0);
	/* Leaves that the CPU does not have are not asked. */
	cpu_features.max_leaf = 0x15;
	leaf_15 = (struct cpuid_regs){1, 100, 0, 0};
	assert_int_equal(told_hz(), 0);
	leaf_15.ecx = 24000000;
	assert_int_equal(told_hz(), 2400000000);
	assert_int_equal(cpuid_apic_hz(), 24000000);
	cpu_features.max_leaf = 0x14;
	assert_int_equal(told_hz(), 0);
	assert_int_equal(cpuid_apic_hz(), 0);
}

/* A hypervisor that tells is believed before the CPU; one without that leaf is not asked. */
static void test_hypervisor(void **state)
{
	by_cpuid(1, 100, 24000000, 0);
	leaf_hypervisor.eax = 0x40000010;
	leaf_timing = (struct cpuid_regs){.eax = 2999998, .ebx = 1000000};
	assert_int_equal(told_hz(), 2400000000);
	cpu_features.hypervisor = true;
	assert_int_equal(told_hz(), 2999998000);
	assert_string_equal(tsc_hz_source, "hypervisor");
	assert_int_equal(cpuid_apic_hz(), 1000000000);
	leaf_hypervisor.eax = 0x4000000f;
	assert_int_equal(told_hz(), 2400000000);
	assert_int_equal(cpuid_apic_hz(), 24000000);
}

static void expect_found(const char *source)
{
	tsc_hz = clock_hz = 0;
	tsc_init(NULL);
	assert_int_equal(tsc_hz, source ? 2000 : 0);
	assert_int_equal(clock_hz, tsc_hz);
	if (source)
		assert_string_equal(tsc_hz_source, source);
}

/* Nobody tells: HPET, PIT, ACPI's timer, the first that is there and counts. PIT is ended when it was asked. */
static void test_measured(void **state)
{
	cpu_features = (struct cpu_features){};
	expect_found(NULL);
	have_hpet = have_pit = have_pm = true;
	pit_ended = 0;
	expect_found("hpet");
	assert_int_equal(pit_ended, 0);
	standing = &hpet;
	expect_found("pit");
	assert_int_equal(pit_ended, 1);
	have_pit = false;
	expect_found("acpi_pm");
	assert_int_equal(pit_ended, 2);
	standing = &pm;
	have_hpet = false;
	expect_found(NULL);
	standing = NULL;
}

/* What is known stays. The HPET of boot's map is forgotten afterwards, if it was there. */
static void test_once(void **state)
{
	tsc_hz = 0;
	have_hpet = true;
	hpet_forgotten = 0;
	tsc_init(&tsc_hz);
	assert_int_equal(tsc_hz, 2000);
	assert_int_equal(hpet_forgotten, 1);
	clock_hz = 0;
	tsc_init(&tsc_hz);
	assert_int_equal(clock_hz, 0);
	assert_int_equal(hpet_forgotten, 1);
	tsc_hz = 0;
	have_hpet = false;
	tsc_init(&tsc_hz);
	assert_int_equal(hpet_forgotten, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpuid),
		cmocka_unit_test(test_hypervisor),
		cmocka_unit_test(test_measured),
		cmocka_unit_test(test_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The time stamp counter as clock: how fast it runs. Every clock in the kernel counts TSC cycles
 * (arch_read_counter()), so the frequency must be known before the first message has a stamp. It is
 * asked for in this order: the hypervisor, CPUID, then a measurement against HPET, PIT or ACPI's
 * timer. Boot CPU, interrupts off.
 */
#include <asm/clock.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <lib/string.h>
#include <time/clock.h>

#include "calibrate.h"

/* CPUID leaves that tell frequencies (SDM vol. 2, CPUID). */
#define CPUID_TSC	 0x15	    /* the TSC runs at ebx / eax times a crystal, of ecx Hz if that is not 0 */
#define CPUID_FREQUENCY	 0x16	    /* eax: base frequency in MHz */
#define CPUID_HYPERVISOR 0x40000000 /* eax: highest leaf of this range */
#define CPUID_HV_TIMING	 0x40000010 /* eax: TSC, ebx: APIC timer, in kHz (VMware's; KVM and QEMU took it up) */

u64 tsc_hz;
const char *tsc_hz_source;

/* What the hypervisor tells of frequencies; zeros if there is none or it does not tell. */
static struct cpuid_regs hypervisor_timing(void)
{
	if (cpu_features.hypervisor && cpuid(CPUID_HYPERVISOR, 0).eax >= CPUID_HV_TIMING)
		return cpuid(CPUID_HV_TIMING, 0);
	return (struct cpuid_regs){0};
}

static struct cpuid_regs crystal(void)
{
	if (cpu_features.max_leaf >= CPUID_TSC)
		return cpuid(CPUID_TSC, 0);
	return (struct cpuid_regs){0};
}

/* The TSC's frequency by CPUID; 0 if it does not say enough. */
static u64 cpuid_tsc_hz(void)
{
	struct cpuid_regs r = crystal();

	if (!r.eax || !r.ebx)
		return 0;
	if (r.ecx)
		return (u64)r.ecx * r.ebx / r.eax;
	/*
	 * No crystal's frequency: the base frequency is the TSC's, to the MHz. The ratio shows which crystal
	 * it must be, and the product is exact then; Intel makes them of 24 and 25 MHz, and 19.2 in the
	 * smallest (SDM vol. 3, table 18-85).
	 */
	if (cpu_features.max_leaf >= CPUID_FREQUENCY) {
		static const u32 crystals[] = {24000000, 25000000, 19200000};
		u64 base = (cpuid(CPUID_FREQUENCY, 0).eax & 0xffff) * 1000000UL;

		for (unsigned i = 0; i < ARRAY_SIZE(crystals); i++) {
			u64 hz = (u64)crystals[i] * r.ebx / r.eax;

			if (hz + 1000000 > base && hz < base + 1000000)
				return hz;
		}
	}
	return 0;
}

u64 cpuid_apic_hz(void)
{
	struct cpuid_regs r = hypervisor_timing();

	return r.ebx ? r.ebx * 1000UL : crystal().ecx;
}

/* The exact frequency, where the CPU or the hypervisor tells it; else 0. */
static u64 told_hz(void)
{
	u64 hz = hypervisor_timing().eax * 1000UL;

	tsc_hz_source = hz ? "hypervisor" : "CPUID";
	return hz ? hz : cpuid_tsc_hz();
}

/* The frequency measured against this counter; 0 if there is none or it stands. */
static u64 measured_hz(const struct calibration_counter *c)
{
	struct hz_range range;

	if (!c || calibrate_tsc(c, &range))
		return 0;
	tsc_hz_source = c->name;
	return hz_plausible(range);
}

static u64 find_hz(void)
{
	u64 hz = told_hz();

	if (!hz)
		hz = measured_hz(hpet_counter());
	if (!hz) {
		hz = measured_hz(pit_counter());
		pit_counter_done();
	}
	if (!hz)
		hz = measured_hz(pm_timer_counter());
	return hz;
}

/*
 * Called twice: from x86_boot(), with the HPET reached through boot's low map, and by the timer's
 * driver, when the first call found nothing to measure with. Until then stamps are 0.
 */
void tsc_init(void *early_hpet)
{
	if (tsc_hz)
		return;
	if (early_hpet && hpet_start(early_hpet))
		early_hpet = NULL;
	tsc_hz = find_hz();
	if (tsc_hz)
		clock_init(tsc_hz);
	if (early_hpet)
		hpet_forget();
}

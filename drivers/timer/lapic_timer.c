/*
 * Each CPU's one-shot event: the local APIC's timer (SDM vol. 3, 10.5.4). Where the CPU can, it
 * interrupts when the TSC reaches a value (TSC-deadline); else it counts down from a number of its
 * own ticks, whose rate is measured first. Functions of an event device run on the CPU that they
 * concern, with interrupts off.
 */
#include <arch/smp.h>
#include <asm/barrier.h>
#include <asm/clock.h>
#include <asm/cpufeature.h>
#include <asm/irq_vectors.h>
#include <drivers/driver.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <time/clock.h>
#include <time/hrtimer.h>

#include "../irqchip/apic.h"
#include "calibrate.h"

static u64 ticks_mult; /* ns to ticks of the timer, by clocks_scale() [immutable after probe] */

/*
 * Interrupt this CPU in delta_ns, by counting down with the finest tick. The number is rounded up,
 * so that the interrupt does not come early and find nothing due; 0 would stop the timer, 1 is at
 * once. A time that is too long for the counter comes early: the handler finds nothing due and sets
 * the timer again.
 */
static void lapic_set_next_event(u64 delta_ns)
{
	u64 ticks = clocks_scale(delta_ns, ticks_mult) + 1;

	apic_write(APIC_TMICT, min(ticks, (u64)U32_MAX));
}

static void lapic_shutdown(void)
{
	apic_write(APIC_TMICT, 0);
}

/* A one-shot entry with its count at zero: what firmware left running stops. */
static void lapic_setup_cpu(void)
{
	apic_write(APIC_TMICT, 0);
	apic_write(APIC_TDCR, APIC_TDCR_1);
	apic_write(APIC_LVTT, LOCAL_TIMER_VECTOR);
}

/*
 * The deadline is a time of this CPU's TSC, whichever counter serves as clock. It is compared as 64 bits: one that is
 * past is due at once. 0 would disarm, and the sum does not overflow to it: "never" in ns would not fit into cycles, so
 * the time is bounded to 36 years.
 */
static void deadline_set_next_event(u64 delta_ns)
{
	wrmsrl(MSR_TSC_DEADLINE, rdtsc_ordered() + ns_to_cycles(min(delta_ns, BIT(60))));
}

static void deadline_shutdown(void)
{
	wrmsrl(MSR_TSC_DEADLINE, 0);
}

/*
 * The entry's new mode must be there before the first deadline is written, and the entry may be memory (SDM
 * 10.5.4.1).
 */
static void deadline_setup_cpu(void)
{
	apic_write(APIC_LVTT, LOCAL_TIMER_VECTOR | APIC_LVTT_DEADLINE);
	mb();
	deadline_shutdown();
}

static const struct clock_event_device lapic_event = {
	.name = "lapic",
	.set_next_event = lapic_set_next_event,
	.shutdown = lapic_shutdown,
	.setup_cpu = lapic_setup_cpu,
};
static const struct clock_event_device deadline_event = {
	.name = "lapic-deadline",
	.set_next_event = deadline_set_next_event,
	.shutdown = deadline_shutdown,
	.setup_cpu = deadline_setup_cpu,
};

void local_apic_timer_interrupt(void)
{
	hrtimer_interrupt();
}

static notrace u32 elapsed_count(void)
{
	return U32_MAX - apic_read(APIC_TMCCT);
}

/* Ticks per second of the timer: told by CPUID, else measured against the TSC. 0: it does not count. */
static u64 timer_frequency(void)
{
	static const struct calibration_counter counter = {.read = elapsed_count, .mask = U32_MAX};
	u64 hz = cpuid_apic_hz();
	struct hz_range range;

	if (hz)
		return hz;
	apic_write(APIC_LVTT, APIC_LVT_MASKED);
	apic_write(APIC_TDCR, APIC_TDCR_1);
	apic_write(APIC_TMICT, U32_MAX);
	hz = calibrate_counter(&counter, tsc_hz, &range) ? 0 : hz_plausible(range);
	apic_write(APIC_TMICT, 0);
	return hz;
}

static int use_count_down(void)
{
	u64 hz = timer_frequency();

	if (!hz)
		return -EIO;
	ticks_mult = clocks_mult(hz, NSEC_PER_SEC);
	clock_event = &lapic_event;
	pr_info("lapic: timer: %lu.%06lu MHz\n", (unsigned long)hz / 1000000, (unsigned long)hz % 1000000);
	return 0;
}

/*
 * The TSC's frequency first, if boot could not know it: the deadline is in its ticks, and a counting APIC timer is
 * measured by it. -ENODEV.
 */
static int lapic_timer_probe(const struct device_desc *dev)
{
	if (!smp_irq_ops)
		return -ENODEV; /* no local APIC was found: its registers may not be touched */
	tsc_init(NULL);
	if (!tsc_hz) {
		pr_err("tsc: nothing to measure its frequency with\n");
		return -ENODEV;
	}
	pr_info("tsc: Detected %lu.%06lu MHz processor (%s)\n", (unsigned long)tsc_hz / 1000000,
		(unsigned long)tsc_hz % 1000000, tsc_hz_source);
	if (!cpu_features.tsc_deadline)
		return use_count_down();
	clock_event = &deadline_event;
	pr_info("lapic: timer: TSC deadline\n");
	return 0;
}

static const char *const lapic_timer_ids[] = {"pc,tsc-timer", NULL};
static const struct driver lapic_timer_driver = {
	.name = "lapic_timer",
	.compatible = lapic_timer_ids,
	.level = DRIVER_TIMER,
	.probe = lapic_timer_probe,
};
REGISTER_DRIVER(lapic_timer_driver);

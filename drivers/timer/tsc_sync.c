/*
 * Do all CPUs' TSCs agree? Where they do not, the HPET becomes the clock.
 *
 *     starter        stamp 10        stamp 14        stamp 18
 *     new CPU               stamp 12        stamp 13 <-- lower than 14: time would run backwards by 1
 *
 * A CPU that starts and the one that starts it stamp in turns, each after it has seen the other's
 * stamp: one that is lower than the one before it would let time run backwards. A difference too
 * small to show here, where a word goes from one CPU to the other as fast as it can, cannot show
 * elsewhere either.
 */
#include <arch/processor.h>
#include <asm/clock.h>
#include <drivers/driver.h>
#include <kernel/cmdline.h>
#include <kernel/export.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/cpuhp.h>
#include <sched/preempt.h>
#include <time/clock.h>
#include <time/vdso.h>

#include "../../arch/x86_64/smp.h"
#include "calibrate.h"

#define TURNS	  64		      /* of both together */
#define CHECK_NS  (5 * NSEC_PER_MSEC) /* then it ends: the host may let only one CPU run at a time */
#define MARGIN_NS (10 * NSEC_PER_USEC)

/* One check at a time. Locks: t the CPU whose turn it is; a atomic. */
static struct {
	u32 turn;	  /* [a] even: the starter's, odd: the new CPU's */
	bool over;	  /* [a] by the starter */
	bool target_left; /* [a] by the new CPU, the last that it does here */
	u64 last_stamp;	  /* [t] */
	u64 warp;	  /* [t] by how many cycles a stamp was behind the one before, at most */
} check;

static bool tsc_disagrees; /* [who starts CPUs] */
static bool want_hpet;	   /* [boot] by the command line */

/* The HPET as clock: a moment by both, and how many cycles a tick is. [immutable once the key is on] */
struct static_key clock_by_hpet = STATIC_KEY_INIT;
EXPORT_SYMBOL(clock_by_hpet);
static u64 switch_hpet, switch_tsc, hpet_mult;
static u64 tsc_ahead; /* [atomic] by how much a CPU's TSC is past the HPET's idea of it, at most */

static int set_clocksource(const char *value)
{
	want_hpet = !strcmp(value, "hpet");
	return want_hpet || !strcmp(value, "tsc") ? 0 : -EINVAL;
}
__setup("clocksource=", set_clocksource);

/*
 * Take a stamp in turn and compare it with the other CPU's. Acquire (the caller's, of `turn`): the
 * other's RDTSC came before, and rdtsc_ordered() does not take ours before that load. Release: our
 * RDTSC has retired before the store is seen.
 */
static notrace void tsc_stamp(u32 mine)
{
	u64 now = rdtsc_ordered();

	if (mine && now < check.last_stamp)
		check.warp = max(check.warp, check.last_stamp - now);
	check.last_stamp = now;
	smp_store_release(&check.turn, mine + 1);
}

/*
 * The starter's half. The limit counts from the other's first answer, which is sure to come: a
 * check that ended before that would have compared nothing.
 */
static void take_turns(void)
{
	u64 start = rdtsc_ordered(), limit = ns_to_cycles(CHECK_NS);

	for (u32 mine = 0; mine < TURNS; mine += 2) {
		while (smp_load_acquire(&check.turn) != mine) {
			if (mine <= 2)
				start = rdtsc_ordered();
			else if (rdtsc_ordered() - start > limit)
				return;
			cpu_relax();
		}
		tsc_stamp(mine);
	}
}

void tsc_sync_source(unsigned cpu)
{
	preempt_disable(); /* a move to another CPU would mix two comparisons */
	take_turns();
	smp_store_release(&check.over, true);
	while (!smp_load_acquire(&check.target_left))
		cpu_relax();
	if (check.warp) {
		pr_warn("tsc: CPU%u and CPU%u differ by %llu cycles or more\n", smp_processor_id(), cpu,
			(unsigned long long)check.warp);
		tsc_disagrees = true;
	}
	memset(&check, 0, sizeof(check));
	preempt_enable();
}

/* The new CPU's half: it answers until the starter says that it is over. Interrupts off. Not traced, see there. */
notrace void tsc_sync_target(void)
{
	for (u32 mine = 1; !smp_load_acquire(&check.over);) {
		if (smp_load_acquire(&check.turn) == mine) {
			tsc_stamp(mine);
			mine += 2;
		}
		cpu_relax();
	}
	smp_store_release(&check.target_left, true);
}

/* Not traced: time stamps are made of it. */
notrace u64 hpet_clock_read(void)
{
	return switch_tsc + clocks_scale(hpet_read() - switch_hpet, hpet_mult);
}
EXPORT_SYMBOL(hpet_clock_read);

/*
 * On each CPU, by an IPI: by how much is its TSC past the HPET's idea of it? The HPET is read
 * first, so what passes between the readings makes the difference larger, never too small.
 */
static void compare_with_hpet(void *unused)
{
	u64 by_hpet = hpet_clock_read(), tsc = rdtsc_ordered(), old = READ_ONCE(tsc_ahead);

	while ((s64)(tsc - by_hpet) > (s64)old &&
	       !__atomic_compare_exchange_n(&tsc_ahead, &old, tsc - by_hpet, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/*
 * Make the HPET the clock while the machine runs. It answers in TSC cycles, so no multiplier
 * changes. Time goes on from the TSC that is ahead of all others, measured on each CPU, and ten
 * microseconds past that: it jumps forward on some CPUs, and backwards on none. Readers are static
 * branches that one stop of the machine switches, so no two CPUs read different clocks, but for the
 * CPU that patches. That one may read the one and then the other, and the ten microseconds cover
 * what the two drift apart meanwhile.
 */
static void switch_to_hpet(u64 hz)
{
	hpet_mult = clocks_mult(tsc_hz, hz);
	switch_tsc = rdtsc_ordered();
	switch_hpet = hpet_read();
	on_each_cpu(compare_with_hpet, NULL, true);
	switch_tsc += tsc_ahead + ns_to_cycles(MARGIN_NS);
	static_key_slow_inc(&clock_by_hpet);
	vdso_update_clock(); /* programs ask the kernel from now on; a reader that is under way still gets the TSC */
	pr_info("clocksource: Switched to clocksource hpet\n");
}

/* At the level of devices: by then all CPUs have been compared, and code can be patched. */
static int tsc_sync_probe(const struct device_desc *dev)
{
	u64 hz = hpet_hz();

	if (!want_hpet && !tsc_disagrees)
		return 0;
	if (!hz)
		pr_warn("tsc: no HPET that could be the clock%s\n",
			tsc_disagrees ? ": time stamps of different CPUs do not compare" : "");
	else
		switch_to_hpet(hz);
	return 0;
}

/* A CPU that comes later is compared, too. */
static int tsc_cpu_online(unsigned cpu)
{
	u64 hz = hpet_hz();

	if (tsc_disagrees && hz && !hpet_mult)
		switch_to_hpet(hz);
	return 0;
}
static const struct cpuhp_step tsc_step = {.name = "timer:tsc", .stage = CPUHP_ONLINE, .up = tsc_cpu_online};
REGISTER_CPUHP(tsc_step);

static const char *const tsc_sync_ids[] = {"pc,tsc-timer", NULL};
static const struct driver tsc_sync_driver = {
	.name = "tsc_sync",
	.compatible = tsc_sync_ids,
	.level = DRIVER_DEVICE,
	.probe = tsc_sync_probe,
};
REGISTER_DRIVER(tsc_sync_driver);

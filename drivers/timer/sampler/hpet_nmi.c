/*
 * A comparator of the HPET as a source of NMIs (<time/sample_timer.h>; IA-PC HPET specification 1.0a, 2.3.8).
 *
 *     comparator -> pin 2 of the IOAPIC, delivery mode NMI -> local APICs -> NMI on each CPU
 *
 * What other machines sample by, the overflow of a performance counter, is not emulated by QEMU's TCG, and the local
 * APIC's timer is the kernel's clock event. Pin 2 is free: its line is that of the PIT, which is stopped.
 *
 * The IOAPIC's entry names CPUs by a bit each (logical destination), eight at most, and only those that have been
 * started have one: "all" would be every local APIC, and an NMI starts a CPU that waits for its start-up somewhere. To
 * the CPUs that have no bit, which is all others of an x2APIC, the boot CPU sends an NMI in turn.
 *
 * The comparator is set for one sample at a time, by each CPU that finds that it has passed and that no other CPU has
 * set it. An NMI says nothing of its reason, so while this source is on, every NMI without another known reason is a
 * sample.
 *
 * NO CPU WAITS FOR ANOTHER. A machine that is not real may take a CPU away at any instruction, for milliseconds. If it
 * alone could set the comparator, no CPU would be sampled until it is back. So `next` is stored behind the write to the
 * comparator: as long as others find the old one, they write as well, and most often all of them write the same
 * (set_next). A CPU that comes back may write what has passed by then. It looks at the counter behind that, and sets
 * the comparator again: only if it is taken away a second time, in between, no CPU is sampled until it is back.
 */
#include <asm/io.h>
#include <kernel/init.h>
#include <kernel/nmi.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <time/sample_timer.h>

#include "../../../arch/x86_64/exception.h"
#include "../../../arch/x86_64/smp.h"
#include "../../irqchip/apic.h"
#include "../calibrate.h"

#define HPET_ID		   0x000 /* timers less one in 12:8 */
#define HPET_PERIOD	   0x004 /* femtoseconds */
#define HPET_COUNTER	   0x0f0
#define HPET_TIMER(n)	   (0x100 + 0x20 * (n)) /* configuration; the pins that it can have in the upper half */
#define HPET_ROUTES(n)	   (HPET_TIMER(n) + 4)
#define HPET_COMPARATOR(n) (HPET_TIMER(n) + 8)
#define HPET_TIMER_INT	   (1 << 2)
#define HPET_TIMER_32	   (1 << 8)
#define HPET_TIMER_ROUTE   9 /* shift */

#define NMI_GSI	   2
#define FS_PER_NS  1000000
#define CLOSEST_NS 2000 /* a comparator that is set to what the counter has passed waits until that wraps */

/* ENDING: NMIs may still be on their way. */
enum { HPET_NMI_OFF, HPET_NMI_ON, HPET_NMI_ENDING };

/* Locks: u the sampler's user, while the state is OFF. */
static struct {
	void *regs;		 /* [u] */
	unsigned timer;		 /* [u] which of the HPET's */
	u32 closest;		 /* [u] CLOSEST_NS in ticks */
	struct cpumask relayed;	 /* [u] CPUs to which the boot CPU passes it on */
	struct sample_grid grid; /* [u] in ticks */
	u64 now;		 /* [atomic] the counter at some look, continued to 64 bits */
	u64 next;		 /* [atomic] what the comparator was set to; all ones: it is not set yet */
	int state;		 /* [atomic] HPET_NMI_* */
} hpet_nmi;

/* The counter, continued from a look that may be old: it has gone on by less than 2^32 since. */
static __always_inline u64 look_at_counter(void)
{
	u64 now = READ_ONCE(hpet_nmi.now);

	now += (u32)(readl_relaxed(hpet_nmi.regs + HPET_COUNTER) - (u32)now);
	WRITE_ONCE(hpet_nmi.now, now);
	return now;
}

/*
 * Set the comparator, again and again until it holds what the counter has not passed and `next` says the same. The
 * write takes time, or this CPU was away before it. And two CPUs that have looked at different moments may set
 * different values: the write of one and the `next` of the other could be what stays. If `next` is the later of the
 * two, every CPU then finds that the sample is still to come, and no CPU sets the comparator any more. The CPU that
 * stores `next` last finds the other's value there, which has not passed, and begins again.
 */
static __always_inline void set_next(u64 now)
{
	u64 next, found, looked;

	do {
		looked = now;
		next = sample_grid_next(&hpet_nmi.grid, now);
		if (next - now < hpet_nmi.closest)
			next = now + hpet_nmi.closest;
		writel_relaxed(next, hpet_nmi.regs + HPET_COMPARATOR(hpet_nmi.timer));
		found = __atomic_exchange_n(&hpet_nmi.next, next, __ATOMIC_SEQ_CST);
		now = look_at_counter();
	} while (unlikely(now >= next || (found > looked && found != next)));
}

static noinstr bool sample_nmi_running(void)
{
	return unlikely(READ_ONCE(hpet_nmi.state) != HPET_NMI_OFF);
}

/*
 * No sample is forgotten: if the comparator passes behind this look, its NMI comes to this CPU as well, when it has
 * left the one that it is in.
 */
static noinstr void sample_nmi_done(void)
{
	u64 now = look_at_counter();

	if (now >= READ_ONCE(hpet_nmi.next))
		set_next(now);
}

static notrace void sample_nmi_handle(unsigned cpu, const struct pt_regs *regs)
{
	if (!cpu && READ_ONCE(hpet_nmi.state) == HPET_NMI_ON && !cpumask_empty(&hpet_nmi.relayed))
		apic_send_nmi(&hpet_nmi.relayed);
	sample_timer_tick(regs);
}

/* The first comparator that can have our pin, or -ENODEV. */
static int find_comparator(void *regs)
{
	int timers = ((readl_relaxed(regs + HPET_ID) >> 8) & 0x1f) + 1;

	for (int n = 0; n < timers; n++)
		if (readl_relaxed(regs + HPET_ROUTES(n)) & BIT(NMI_GSI))
			return n;
	return -ENODEV;
}

/* The grid and the first comparator, in ticks of period_fs. No CPU has an NMI from here yet. */
static void prepare(void *regs, unsigned timer, u64 period_ns)
{
	u32 period_fs = readl_relaxed(regs + HPET_PERIOD);

	hpet_nmi.regs = regs;
	hpet_nmi.timer = timer;
	hpet_nmi.closest = CLOSEST_NS * FS_PER_NS / period_fs + 1;
	hpet_nmi.now = 0;
	hpet_nmi.next = ~0ULL; /* until hpet_nmi_start() is through: an NMI of another kind may come meanwhile */
	sample_grid_start(&hpet_nmi.grid, look_at_counter(), period_ns * FS_PER_NS / period_fs);
}

/*
 * The comparator is set up with its interrupt off, since until it has its first time it might match at once; the route
 * through the I/O APIC must stand before that, too. All that the handler reads is stored before the state says ON.
 * Returns 0 or -ENODEV: no HPET, no comparator that can be routed there, or no free input.
 */
static int hpet_nmi_start(u64 period_ns)
{
	void *regs = hpet_registers();
	int timer = regs ? find_comparator(regs) : -ENODEV;
	u32 config = HPET_TIMER_32 | NMI_GSI << HPET_TIMER_ROUTE;

	if (timer < 0)
		return timer;
	prepare(regs, timer, period_ns);
	hpet_nmi.relayed = sample_cpus;
	if (!ioapic_start_nmi(NMI_GSI, &hpet_nmi.relayed))
		return -ENODEV;
	WRITE_ONCE(hpet_nmi.state, HPET_NMI_ON);
	writel_relaxed(config, regs + HPET_TIMER(timer));
	set_next(look_at_counter());
	writel_relaxed(config | HPET_TIMER_INT, regs + HPET_TIMER(timer));
	sample_nmi_done(); /* it may have passed while its interrupt was off */
	return 0;
}

static void hpet_nmi_nothing(void *unused)
{
}

/*
 * First nothing new is sent: the comparator is off, and no handler that was in the middle of passing an NMI on is left.
 * Then every CPU takes an interrupt that is sent behind the last of the NMIs.
 */
static void hpet_nmi_stop(void)
{
	WRITE_ONCE(hpet_nmi.state, HPET_NMI_ENDING);
	writel_relaxed(0, hpet_nmi.regs + HPET_TIMER(hpet_nmi.timer));
	ioapic_stop_nmi(NMI_GSI);
	nmi_synchronize();
	on_each_cpu(hpet_nmi_nothing, NULL, true);
	WRITE_ONCE(hpet_nmi.state, HPET_NMI_OFF);
}

static const struct nmi_timer hpet_nmi_timer = {
	.name = "HPET, by NMI",
	.start = hpet_nmi_start,
	.stop = hpet_nmi_stop,
};

static const struct sample_nmi hpet_sample_nmi = {
	.running = sample_nmi_running,
	.handle = sample_nmi_handle,
	.done = sample_nmi_done,
};

static int hpet_nmi_init(void)
{
	sample_nmi = &hpet_sample_nmi;
	nmi_timer = &hpet_nmi_timer;
	return 0;
}
early_initcall(hpet_nmi_init);

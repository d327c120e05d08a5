/*
 * What both machines' non-maskable interrupts share (<kernel/nmi.h>).
 *
 * While kernel text is changed every other CPU waits in a loop that is never patched, but an NMI takes it out of there.
 * So the CPU that patches says so (text_changes), and then waits until no NMI is being served in full. An NMI that
 * comes later sees text_changes and only counts itself, in code that has no site. Each side stores its own word and
 * reads the other's with a full barrier in between, so they cannot both miss the other. The sender of that NMI does
 * without: a backtrace that is asked for at this moment is reported as missing, and a sample is not taken.
 */
#include <kernel/nmi.h>
#include <kernel/percpu.h>
#include <lib/atomic.h>
#include <sched/preempt.h>
#include <sched/spinlock.h>
#include <trace/machine_irq.h>

DEFINE_TRACE(nmi_enter, TP_PROTO(unsigned cpu), TP_ARGS(cpu));
DEFINE_TRACE(nmi_exit, TP_PROTO(unsigned cpu), TP_ARGS(cpu));

static DEFINE_PER_CPU(u32, nmi_in_full); /* [its CPU's NMIs] */
static u32 text_changes;		 /* [who patches; read anywhere] */

noinstr bool nmi_begin(void)
{
	nmi_enter();
	WRITE_ONCE(this_cpu(nmi_in_full), 1);
	smp_mb();
	return likely(!READ_ONCE(text_changes));
}

noinstr void nmi_end(void)
{
	smp_store_release(this_cpu_ptr(&nmi_in_full), 0);
	nmi_exit();
}

/* The barrier orders what the caller has stored before the looks at the other CPUs. */
notrace void nmi_synchronize(void)
{
	unsigned cpu;

	smp_mb();
	for_each_online_cpu(cpu)
		while (smp_load_acquire(per_cpu_ptr(&nmi_in_full, cpu)))
			cpu_relax();
}

notrace void nmi_hold_off(void)
{
	WRITE_ONCE(text_changes, 1);
	nmi_synchronize();
}

notrace void nmi_allow(void)
{
	smp_store_release(&text_changes, 0);
}

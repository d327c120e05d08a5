/* Non-maskable interrupts: who asked, counting them, and those that nobody claims. */
#include <asm/irq.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <fs/seq_file.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <sched/preempt.h>

#include "exception.h"
#include "smp.h"

/* [this CPU's NMIs] */
struct nmi_counts {
	u32 all, unknown;
};
static DEFINE_PER_CPU(struct nmi_counts, nmi_counts);
static struct cpumask backtrace_mask; /* [atomic] CPUs that are asked to print where they are */

void nmi_send_backtrace(const struct cpumask *mask)
{
	unsigned cpu;

	for_each_cpu (cpu, mask)
		cpumask_set_cpu(cpu, &backtrace_mask);
	smp_mb(); /* the bits come before the NMIs */
	apic_send_nmi(mask);
}

/* NMIs that come while one is served melt into one: so every possible sender is asked. True: one of them sent it. */
static bool nmi_handle(unsigned cpu)
{
	if (!cpumask_test_cpu(cpu, &backtrace_mask))
		return false;
	cpumask_clear_cpu(cpu, &backtrace_mask);
	handle_ipi(IPI_BACKTRACE);
	return true;
}

static void unknown_nmi(unsigned cpu)
{
	static bool said;

	this_cpu(nmi_counts).unknown++;
	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		pr_emerg("Uhhuh. NMI received for unknown reason on CPU %u. Further ones are only counted.\n", cpu);
}

/*
 * From entry.S, on the NMI stack. CR2 belongs to what was interrupted, perhaps a page fault that has not read it yet; ours may
 * fault too (reading memory that may not be there).
 *
 * An NMI that comes between the idle loop's STI and HLT has ended the shadow in which no interrupt is taken: one could slip
 * in before the HLT, and what it woke would sleep on. So HLT is skipped: the idle loop looks again, as after any interrupt.
 */
notrace void nmi_handler(struct pt_regs *regs)
{
	u64 address = read_cr(2);
	unsigned cpu;

	nmi_enter();
	cpu = smp_processor_id();
	this_cpu(nmi_counts).all++;
	if (!nmi_handle(cpu))
		unknown_nmi(cpu);
	if (regs->rip == (unsigned long)idle_hlt)
		regs->rip = (unsigned long)idle_hlt_end;
	nmi_exit();
	write_cr(2, address);
}

static u32 nmi_count(unsigned cpu)
{
	return READ_ONCE(per_cpu(nmi_counts, cpu).all);
}

static u32 unknown_nmi_count(unsigned cpu)
{
	return READ_ONCE(per_cpu(nmi_counts, cpu).unknown);
}

/* As Linux prints them on this machine; unknown ones are ours to add. */
static void show_counts(struct seq_file *m, const char *label, u32 (*count)(unsigned cpu), const char *text)
{
	unsigned cpu;

	seq_printf(m, "%s: ", label);
	for_each_online_cpu (cpu)
		seq_printf(m, "%10u ", count(cpu));
	seq_printf(m, "      %s\n", text);
}

void arch_show_interrupts(struct seq_file *m)
{
	show_counts(m, "NMI", nmi_count, "Non-maskable interrupts");
	show_counts(m, "UNK", unknown_nmi_count, "NMIs for unknown reason");
}

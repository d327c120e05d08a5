/* Interrupts that have a vector but no number: their lines in /proc/interrupts, with Linux's names. */
#include <arch/irq.h>
#include <asm/hardirq.h>
#include <irq/irq.h>

DEFINE_PER_CPU(struct irq_stats, irq_stats);

static u64 irq_stat(unsigned kind, int cpu)
{
	return READ_ONCE(per_cpu(irq_stats, cpu).count[kind]);
}

/* Linux mixes these lines with those of IPIs; here each line is from one of two tables. */
static const struct {
	const char *label, *text;
} stat_lines[NR_IRQ_STATS] = {
	[IRQ_STAT_NMI] = {"NMI:", "Non-maskable interrupts"}, [IRQ_STAT_UNK] = {"UNK:", "NMIs for unknown reason"},
	[IRQ_STAT_LOC] = {"LOC:", "Local timer interrupts"},  [IRQ_STAT_SPU] = {"SPU:", "Spurious interrupts"},
	[IRQ_STAT_TLB] = {"TLB:", "TLB shootdowns"},	      [IRQ_STAT_ERR] = {"ERR:", "APIC errors"},
};
static const char *const ipi_labels[IPI_MAX] = {
	[IPI_RESCHEDULE] = "RES:",
	[IPI_CALL_FUNCTION] = "CAL:",
	[IPI_STOP] = "STP:",
	[IPI_BACKTRACE] = "BTR:",
};

/* The last lines of /proc/interrupts. */
void arch_show_interrupts(struct seq_file *m)
{
	for (unsigned i = 0; i < NR_IRQ_STATS; i++)
		show_irq_counts(m, stat_lines[i].label, irq_stat, i, stat_lines[i].text);
	for (unsigned i = 0; i < IPI_MAX; i++)
		show_irq_counts(m, ipi_labels[i], ipi_count, i, ipi_names[i]);
}

/* What these interrupts add to the sum in /proc/stat. */
u64 arch_irq_stat_cpu(int cpu)
{
	u64 sum = 0;

	for (unsigned i = 0; i < NR_IRQ_STATS; i++)
		if (i != IRQ_STAT_UNK) /* they are among the NMIs */
			sum += irq_stat(i, cpu);
	return sum;
}

/*
 * GICv2 (Arm IHI 0048B): one distributor, which routes interrupts to CPUs, and one CPU interface at
 * a fixed address that shows each CPU its own registers.
 *
 *     device line -> distributor: enabled? which CPUs? -> CPU interface: acknowledge (IAR), end (EOIR) -> CPU
 *
 * A device's interrupt is acknowledged, handled, and ended last: until then the distributor does
 * not send it again. dist_lock protects registers that several interrupts share, and is taken with
 * interrupts off; registers where a 0 changes nothing need no lock.
 */
#include <arch/irq.h>
#include <arch/smp.h>
#include <asm/io.h>
#include <drivers/driver.h>
#include <irq/irq.h>
#include <irq/irqflags.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/vmalloc.h>
#include <sched/spinlock.h>

#include "gic-common.h"

#define GICD_SGIR  0xf00
#define GICC_CTLR  0x00
#define GICC_PMR   0x04
#define GICC_BPR   0x08
#define GICC_IAR   0x0c
#define GICC_EOIR  0x10
#define INTID_MASK 0x3ff
/* GICC_CTLR (4.4.1): groups 0 and 1 are signalled, IAR acknowledges either, and group 0 is an FIQ. */
#define CTLR_ONE_GROUP	0x1
#define CTLR_TWO_GROUPS 0xf
#define MAX_CPUS	8 /* the architecture's: target lists are bytes */

static void *dist, *cpu_if;	   /* [immutable after probe] */
static u8 cpu_target[MAX_CPUS];	   /* bit of our CPU number's interface [set by that CPU before it is online] */
static DEFINE_SPINLOCK(dist_lock); /* read-modify-write of shared registers; interrupts off */

static void gic_mask_irq(unsigned hwirq)
{
	gic_poke_bit(dist + GICD_ICENABLER, hwirq);
}

static void gic_unmask_irq(unsigned hwirq)
{
	gic_poke_bit(dist + GICD_ISENABLER, hwirq);
}

static void gic_set_irq_type(unsigned hwirq, unsigned type)
{
	unsigned long flags;

	spin_lock_irqsave(&dist_lock, flags);
	gic_set_type(dist, hwirq, type);
	spin_unlock_irqrestore(&dist_lock, flags);
}

/* One byte for each interrupt, with a bit for each CPU interface (4.3.12). */
static void gic_set_irq_cpu(unsigned hwirq, unsigned cpu)
{
	void *targets = dist + GICD_ITARGETSR + (hwirq & ~3U);
	unsigned shift = hwirq % 4 * 8;
	unsigned long flags;

	if (hwirq < GIC_FIRST_SPI)
		return;
	spin_lock_irqsave(&dist_lock, flags);
	writel_relaxed((readl_relaxed(targets) & ~(0xffU << shift)) | (u32)cpu_target[cpu] << shift, targets);
	spin_unlock_irqrestore(&dist_lock, flags);
}

static const struct irq_chip gic_chip = {
	.name = "GICv2",
	.mask = gic_mask_irq,
	.unmask = gic_unmask_irq,
	.set_type = gic_set_irq_type,
	.set_cpu = gic_set_irq_cpu,
};

/*
 * Serve interrupts as long as one is pending. Reading IAR acknowledges the most urgent one; a value
 * from 1020 on means that there is none. The DMB in readl orders what the sender wrote before what
 * the handler reads. An IPI is ended before it is handled, since IPI_STOP does not return. Hard
 * interrupt, interrupts off.
 */
static void __irq_entry gic_handle_irq(struct pt_regs *regs)
{
	for (;;) {
		u32 iar = readl(cpu_if + GICC_IAR), hwirq = iar & INTID_MASK;

		if (hwirq >= GIC_NR_INTIDS)
			return;
		if (hwirq < GIC_FIRST_PPI)
			writel_relaxed(iar, cpu_if + GICC_EOIR);
		gic_dispatch(hwirq);
		if (hwirq >= GIC_FIRST_PPI)
			writel_relaxed(iar, cpu_if + GICC_EOIR);
	}
}

/*
 * One write reaches all CPUs of the mask: they are bits in bits 23 to 16. The DMB before the write,
 * in the caller, makes what was written before it visible to them.
 */
static void gic_send_ipi(const struct cpumask *mask, enum ipi_kind kind)
{
	u32 targets = 0;
	unsigned cpu;

	for_each_cpu(cpu, mask)
		targets |= cpu_target[cpu];
	writel_relaxed(targets << 16 | kind, dist + GICD_SGIR);
}

/*
 * Set up the CPU interface of the calling CPU. Its bit is learned from the target registers of
 * private interrupts, which read as the reading CPU's own.
 */
static void gic_cpu_init(void)
{
	cpu_target[smp_processor_id()] = readl_relaxed(dist + GICD_ITARGETSR);
	gic_private_reset(dist);
	writel_relaxed(~0U, dist + GICD_IGROUPR);
	writel_relaxed(GIC_PRIO_MASK, cpu_if + GICC_PMR);
	writel_relaxed(0, cpu_if + GICC_BPR);
	writel_relaxed(gic_fiq_block ? CTLR_TWO_GROUPS : CTLR_ONE_GROUP, cpu_if + GICC_CTLR);
}

static const struct smp_irq_ops gic_smp_ops = {.send_ipi = gic_send_ipi, .cpu_init = gic_cpu_init};

static void *private_block(void)
{
	return dist;
}

/*
 * All interrupts into group 1, if the kernel may choose their group: where firmware is in a secure state, the registers
 * of groups read as zero and what is written there is ignored. Then every interrupt that we see is of the one group
 * that we have.
 */
static void find_groups(unsigned nr)
{
	for (unsigned i = 0; i < nr; i += 32)
		writel_relaxed(~0U, dist + GICD_IGROUPR + i / 8);
	if (readl_relaxed(dist + GICD_IGROUPR))
		gic_fiq_block = private_block;
}

/*
 * Boot CPU, interrupts off. The distributor stays off while it is set up; all device interrupts go
 * to the boot CPU until their affinity is changed.
 */
static int gic_probe(const struct device_desc *dev)
{
	unsigned nr;

	if (dev->nr_reg < 2)
		return -EINVAL;
	dist = ioremap(dev->reg[0].base, PAGE_SIZE);
	if (!dist)
		return -ENOMEM;
	cpu_if = ioremap(dev->reg[1].base, PAGE_SIZE);
	if (!cpu_if)
		goto unmap_dist;
	writel_relaxed(0, dist + GICD_CTLR);
	nr = gic_nr_intids(dist);
	gic_dist_reset(dist, nr);
	find_groups(nr);
	gic_cpu_init();
	for (unsigned i = GIC_FIRST_SPI; i < nr; i += 4)
		writel_relaxed(cpu_target[0] * 0x01010101U, dist + GICD_ITARGETSR + i);
	writel_relaxed(gic_fiq_block ? 3 : 1, dist + GICD_CTLR);
	smp_irq_ops = &gic_smp_ops;
	gic_domain.chip = &gic_chip;
	handle_arch_irq = gic_handle_irq;
	irq_set_root_chip(&gic_chip);
	pr_info("GICv2: %u interrupts\n", nr);
	return 0;
unmap_dist:
	iounmap(dist);
	return -ENOMEM;
}

static const char *const gic_ids[] = {"arm,cortex-a15-gic", "arm,gic-400", NULL};
static const struct driver gic_v2_driver = {
	.name = "gic-v2",
	.compatible = gic_ids,
	.level = DRIVER_IRQCHIP,
	.probe = gic_probe,
};
REGISTER_DRIVER(gic_v2_driver);

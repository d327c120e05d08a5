/*
 * GICv3 (Arm IHI 0069). It differs from GICv2 in three things: a CPU is named by its affinity (the
 * fields of MPIDR) instead of by a bit, so there can be more than eight; each CPU has a
 * redistributor with the registers of its private interrupts; and the CPU interface is made of
 * system registers. With one security state, or in the non-secure one of two, all interrupts are
 * group 1, but for what one security state lets us make an FIQ (gic-common.h).
 */
#include <arch/irq.h>
#include <arch/smp.h>
#include <asm/barrier.h>
#include <asm/io.h>
#include <asm/sysreg.h>
#include <boot/boot_info.h>
#include <boot/fdt.h>
#include <drivers/driver.h>
#include <irq/irq.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/vmalloc.h>
#include <sched/spinlock.h>

#include "gic-common.h"

#define GICD_IROUTER   0x6000 /* 8 bytes each */
#define GICD_CTLR_GRP0 (1 << 0)
#define GICD_CTLR_GRP1 (1 << 1)
#define GICD_CTLR_ARE  (1 << 4)
#define GICD_CTLR_DS   (1 << 6)	  /* there is one security state, so group 0 is ours */
#define GICD_CTLR_RWP  (1U << 31) /* a write has not yet had its effect */

#define GICR_FRAME_SIZE	  0x20000 /* registers and private interrupts, 64 KiB each */
#define GICR_FRAME_VLPI	  0x40000 /* with two more for virtual LPIs */
#define GICR_TYPER	  0x008
#define GICR_TYPER_VLPIS  (1 << 1)
#define GICR_TYPER_LAST	  (1 << 4)
#define GICR_WAKER	  0x014
#define GICR_WAKER_SLEEP  (1 << 1)
#define GICR_WAKER_ASLEEP (1 << 2)
#define GICR_SGI	  0x10000 /* laid out as the distributor's first 32 interrupts */

/* CPU interface registers (12.2), by encoding: not every assembler knows their names. */
#define ICC_PMR_EL1	S3_0_C4_C6_0
#define ICC_IAR1_EL1	S3_0_C12_C12_0
#define ICC_EOIR1_EL1	S3_0_C12_C12_1
#define ICC_BPR1_EL1	S3_0_C12_C12_3
#define ICC_CTLR_EL1	S3_0_C12_C12_4
#define ICC_SRE_EL1	S3_0_C12_C12_5
#define ICC_IGRPEN0_EL1 S3_0_C12_C12_6
#define ICC_IGRPEN1_EL1 S3_0_C12_C12_7
#define ICC_SGI1R_EL1	S3_0_C12_C11_5

static void *dist;		   /* [immutable after probe] */
static void *redist[NR_CPUS];	   /* [immutable after probe] */
static DEFINE_SPINLOCK(dist_lock); /* read-modify-write of shared registers; interrupts off */
static bool own_group0;		   /* [immutable after probe] with it come FIQs (gic-common.h) */

/*
 * The block with the registers of this interrupt: the redistributor of this CPU for private ones,
 * else the distributor. Preemption is off where private interrupts are touched.
 */
static void *base_of(unsigned hwirq)
{
	return hwirq < GIC_FIRST_SPI ? redist[smp_processor_id()] + GICR_SGI : dist;
}

static void gic_mask_irq(unsigned hwirq)
{
	gic_poke_bit(base_of(hwirq) + GICD_ICENABLER, hwirq);
}

static void gic_unmask_irq(unsigned hwirq)
{
	gic_poke_bit(base_of(hwirq) + GICD_ISENABLER, hwirq);
}

static void gic_set_irq_type(unsigned hwirq, unsigned type)
{
	unsigned long flags;

	spin_lock_irqsave(&dist_lock, flags);
	gic_set_type(base_of(hwirq), hwirq, type);
	spin_unlock_irqrestore(&dist_lock, flags);
}

/* IROUTER takes affinities where MPIDR has them: Aff3 in 39:32, the others in 23:0. */
static void gic_set_irq_cpu(unsigned hwirq, unsigned cpu)
{
	if (hwirq >= GIC_FIRST_SPI)
		writeq_relaxed(boot_info.cpu_hwid[cpu], dist + GICD_IROUTER + hwirq * 8);
}

static const struct irq_chip gic_chip = {
	.name = "GICv3",
	.mask = gic_mask_irq,
	.unmask = gic_unmask_irq,
	.set_type = gic_set_irq_type,
	.set_cpu = gic_set_irq_cpu,
};

/*
 * Serve interrupts as long as one is pending, as on GICv2. The DSB makes the acknowledge's effect, and
 * what the sender wrote before an IPI, precede the handler's accesses. The ISB makes an end take
 * effect before the next acknowledge. Hard interrupt, interrupts off.
 */
static void __irq_entry gic_handle_irq(struct pt_regs *regs)
{
	for (;;) {
		u32 hwirq = read_sysreg(ICC_IAR1_EL1);

		dsb(sy);
		if (hwirq >= GIC_NR_INTIDS)
			return;
		if (hwirq < GIC_FIRST_PPI) {
			write_sysreg(hwirq, ICC_EOIR1_EL1);
			isb();
		}
		gic_dispatch(hwirq);
		if (hwirq >= GIC_FIRST_PPI) {
			write_sysreg(hwirq, ICC_EOIR1_EL1);
			isb();
		}
	}
}

/*
 * Send an IPI by one write for each CPU: a target list would need its CPUs to share the upper
 * affinities. The bits of the word:
 *
 *     55:48 Aff3 | 47:44 Aff0 / 16 (RangeSelector) | 39:32 Aff2 | 27:24 number | 23:16 Aff1 | 15:0 a bit for Aff0 % 16
 */
static void gic_send_ipi(const struct cpumask *mask, enum ipi_kind kind)
{
	unsigned cpu;

	for_each_cpu(cpu, mask) {
		u64 id = boot_info.cpu_hwid[cpu], aff0 = id & 0xff;

		write_sysreg(((id >> 32) & 0xff) << 48 | (aff0 >> 4) << 44 | ((id >> 16) & 0xff) << 32 |
				     (u64)kind << 24 | ((id >> 8) & 0xff) << 16 | 1UL << (aff0 & 15),
			     ICC_SGI1R_EL1);
	}
	isb();
}

/*
 * A redistributor sleeps after reset and then passes nothing on. It is awake when ASLEEP reads as
 * 0.
 */
static void wake_redist(void *r)
{
	writel_relaxed(readl_relaxed(r + GICR_WAKER) & ~GICR_WAKER_SLEEP, r + GICR_WAKER);
	while (readl_relaxed(r + GICR_WAKER) & GICR_WAKER_ASLEEP)
		cpu_relax();
}

/*
 * Set up the redistributor and the CPU interface of the calling CPU. SRE comes first: it is what
 * turns the system registers on.
 */
static void gic_cpu_init(void)
{
	void *r = redist[smp_processor_id()];

	wake_redist(r);
	writel_relaxed(~0U, r + GICR_SGI + GICD_IGROUPR);
	gic_private_reset(r + GICR_SGI);
	write_sysreg(read_sysreg(ICC_SRE_EL1) | 1, ICC_SRE_EL1);
	isb();
	write_sysreg(GIC_PRIO_MASK, ICC_PMR_EL1);
	write_sysreg(0, ICC_BPR1_EL1);
	write_sysreg(0, ICC_CTLR_EL1); /* EOImode 0: ending drops the priority and deactivates */
	write_sysreg(1, ICC_IGRPEN1_EL1);
	if (own_group0)
		write_sysreg(1, ICC_IGRPEN0_EL1);
	isb();
}

static const struct smp_irq_ops gic_smp_ops = {.send_ipi = gic_send_ipi, .cpu_init = gic_cpu_init};

/* GICR_TYPER 63:32 is Aff3.Aff2.Aff1.Aff0; our CPU numbers have Aff3 in 39:32. */
static int cpu_of_redist(u64 typer)
{
	u64 aff = typer >> 32, hwid = (aff & 0xffffff) | (aff >> 24) << 32;

	for (unsigned cpu = 0; cpu < boot_info.nr_cpus; cpu++)
		if (boot_info.cpu_hwid[cpu] == hwid)
			return cpu;
	return -ENODEV;
}

/* The frames of one region, in turn; only those of CPUs that we have stay mapped. Returns how many. */
static int map_redists(phys_addr_t base, u64 size)
{
	int found = 0;

	for (u64 at = 0; at + GICR_FRAME_SIZE <= size;) {
		void *r = ioremap(base + at, GICR_FRAME_SIZE);
		u64 typer;
		int cpu;

		if (!r)
			return -ENOMEM;
		typer = readq_relaxed(r + GICR_TYPER);
		cpu = cpu_of_redist(typer);
		if (cpu >= 0 && !redist[cpu]) {
			redist[cpu] = r;
			found++;
		} else {
			iounmap(r);
		}
		if (typer & GICR_TYPER_LAST)
			break;
		at += typer & GICR_TYPER_VLPIS ? GICR_FRAME_VLPI : GICR_FRAME_SIZE;
	}
	return found;
}

/* Wait until writes to the distributor have had their effect. */
static void wait_for_dist(void)
{
	while (readl_relaxed(dist + GICD_CTLR) & GICD_CTLR_RWP)
		cpu_relax();
}

/*
 * Set up the distributor, with it off meanwhile. All device interrupts become group 1 and go to the
 * boot CPU.
 */
static void init_dist(unsigned nr)
{
	writel_relaxed(0, dist + GICD_CTLR);
	wait_for_dist();
	for (unsigned i = GIC_FIRST_SPI; i < nr; i += 32)
		writel_relaxed(~0U, dist + GICD_IGROUPR + i / 8);
	gic_dist_reset(dist, nr);
	wait_for_dist();
	writel_relaxed(GICD_CTLR_ARE | GICD_CTLR_GRP1 | (own_group0 ? GICD_CTLR_GRP0 : 0), dist + GICD_CTLR);
	wait_for_dist();
	for (unsigned i = GIC_FIRST_SPI; i < nr; i++)
		gic_set_irq_cpu(i, 0);
}

static void *own_private_block(void)
{
	return base_of(0);
}

/*
 * Boot CPU, interrupts off. In `reg` the distributor comes first, then the regions of
 * redistributors, then what virtual machines would use. After an error mappings stay: there is no
 * boot without interrupts.
 */
static int gic_probe(const struct device_desc *dev)
{
	unsigned nr, found = 0;
	u32 regions;

	if (fdt_read_u32(dev->node, "#redistributor-regions", &regions))
		regions = 1;
	if (dev->nr_reg < 1 + regions)
		return -EINVAL;
	dist = ioremap(dev->reg[0].base, dev->reg[0].size);
	if (!dist)
		return -ENOMEM;
	for (unsigned i = 1; i <= regions && found < boot_info.nr_cpus; i++) {
		int n = map_redists(dev->reg[i].base, dev->reg[i].size);

		if (n < 0)
			return n;
		found += n;
	}
	if (found < boot_info.nr_cpus)
		return -ENODEV;
	own_group0 = readl_relaxed(dist + GICD_CTLR) & GICD_CTLR_DS;
	if (own_group0)
		gic_fiq_block = own_private_block;
	nr = gic_nr_intids(dist);
	init_dist(nr);
	gic_cpu_init();
	smp_irq_ops = &gic_smp_ops;
	gic_domain.chip = &gic_chip;
	handle_arch_irq = gic_handle_irq;
	irq_set_root_chip(&gic_chip);
	pr_info("GICv3: %u interrupts, %u redistributors\n", nr, found);
	return 0;
}

static const char *const gic_ids[] = {"arm,gic-v3", NULL};
static const struct driver gic_v3_driver = {
	.name = "gic-v3",
	.compatible = gic_ids,
	.level = DRIVER_IRQCHIP,
	.probe = gic_probe,
};
REGISTER_DRIVER(gic_v3_driver);

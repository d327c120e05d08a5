/*
 * Distributor handling that GICv2 and GICv3 share (Arm IHI 0048B and IHI 0069, chapter "Programmers' model").
 *
 * Interrupts have one number space: 0 to 15 are sent by CPUs (IPIs), 16 to 31 are each CPU's own (PPI), those from 32
 * on are shared (SPI). Registers come as arrays with a bit, two bits or a byte for each interrupt; the functions here
 * find the place.
 */
#include <asm/io.h>
#include <kernel/smp.h>

#include "gic-common.h"

/* How many interrupts the distributor has, in steps of 32, and no more than our table is for. */
unsigned gic_nr_intids(const void *dist)
{
	unsigned n = ((readl_relaxed(dist + GICD_TYPER) & 0x1f) + 1) * 32; /* ITLinesNumber */

	return n < GIC_NR_INTIDS ? n : GIC_NR_INTIDS;
}

/* Registers that set or clear have no need to be read: a 1 acts on its interrupt, a 0 leaves the others as they are. */
void gic_poke_bit(void *block, unsigned hwirq)
{
	writel_relaxed(1U << (hwirq % 32), block + hwirq / 32 * 4);
}

/*
 * Two bits for each interrupt; the upper one is set for an interrupt by edge. The caller serialises, since other
 * interrupts share the word.
 */
void gic_set_type(void *base, unsigned hwirq, unsigned type)
{
	void *reg = base + GICD_ICFGR + hwirq / 16 * 4;
	u32 bit = 2U << (hwirq % 16 * 2), old = readl_relaxed(reg),
	    new = type == IRQ_TYPE_EDGE ? old | bit : old & ~bit;

	if (new != old)
		writel_relaxed(new, reg);
}

/* Off, not pending, not active, and all of one priority: what firmware or a kernel before us has left is gone. */
static void reset_block(void *base, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i += 32) {
		writel_relaxed(~0U, base + GICD_ICENABLER + i / 8);
		writel_relaxed(~0U, base + GICD_ICPENDR + i / 8);
		writel_relaxed(~0U, base + GICD_ICACTIVER + i / 8);
	}
	for (unsigned i = from; i < to; i += 4)
		writel_relaxed(GIC_PRIO, base + GICD_IPRIORITYR + i);
}

/* Shared interrupts, by the first CPU alone. By level until a driver says otherwise. */
void gic_dist_reset(void *dist, unsigned nr)
{
	reset_block(dist, GIC_FIRST_SPI, nr);
	for (unsigned i = GIC_FIRST_SPI; i < nr; i += 16)
		writel_relaxed(0, dist + GICD_ICFGR + i / 4);
}

/* A CPU's own interrupts, by that CPU. IPIs are on at once. */
void gic_private_reset(void *base)
{
	reset_block(base, 0, GIC_FIRST_SPI);
	writel_relaxed(0xffff, base + GICD_ISENABLER);
}

static u16 gic_revmap[GIC_NR_INTIDS];
struct irq_domain gic_domain = {.revmap = gic_revmap};

/* From the root handler: an interrupt that was acknowledged goes to its handler. */
void gic_dispatch(unsigned hwirq)
{
	if (hwirq < GIC_FIRST_PPI)
		handle_ipi(hwirq);
	else
		generic_handle_domain_irq(&gic_domain, hwirq);
}

/*
 * FIQs. A GIC with one security state has two groups of interrupts all the same, and signals those of group 0 by FIQ
 * (IHI 0048B 2.3.1, IHI 0069 4.6.2). The kernel's interrupts are in group 1.
 */
void *(*gic_fiq_block)(void);

static void change_group(void *base, unsigned hwirq, bool fiq)
{
	u32 groups = readl_relaxed(base + GICD_IGROUPR), bit = BIT(hwirq);
	unsigned shift = hwirq % 4 * 8;
	void *prio = base + GICD_IPRIORITYR + hwirq / 4 * 4;

	writel_relaxed(fiq ? groups & ~bit : groups | bit, base + GICD_IGROUPR);
	writel_relaxed((readl_relaxed(prio) & ~(0xffU << shift)) | (fiq ? GIC_PRIO_FIQ : GIC_PRIO & 0xff) << shift,
		       prio);
}

/* A disabled interrupt changes its group: an enabled one could be signalled in between. */
void gic_fiq_enable(unsigned hwirq)
{
	void *base = gic_fiq_block();

	gic_poke_bit(base + GICD_ICENABLER, hwirq);
	change_group(base, hwirq, true);
	gic_poke_bit(base + GICD_ISENABLER, hwirq);
}

void gic_fiq_disable(unsigned hwirq)
{
	void *base = gic_fiq_block();

	gic_poke_bit(base + GICD_ICENABLER, hwirq);
	change_group(base, hwirq, false);
}

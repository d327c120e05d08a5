/* What GICv2 and GICv3 have in common: the distributor's registers (Arm IHI 0048B 4.3, IHI 0069 12.9) and the
 * map. */
#pragma once

#include <irq/irq.h>
#include <lib/types.h>

#define GICD_CTLR	0x000
#define GICD_TYPER	0x004
#define GICD_IGROUPR	0x080
#define GICD_ISENABLER	0x100
#define GICD_ICENABLER	0x180
#define GICD_ICPENDR	0x280
#define GICD_ICACTIVER	0x380
#define GICD_IPRIORITYR 0x400
#define GICD_ITARGETSR	0x800
#define GICD_ICFGR	0xc00

#define GIC_NR_INTIDS 1020 /* 1020 to 1023 are special */
#define GIC_FIRST_PPI 16
#define GIC_FIRST_SPI 32
#define GIC_PRIO      0xa0a0a0a0 /* of all interrupts, four a word */
#define GIC_PRIO_MASK 0xf0	 /* lets them through */
#define GIC_PRIO_FIQ  0x80	 /* of an FIQ: above all others, so that it interrupts their handlers */

/* Number of INTIDs the distributor at `dist` has, private ones included. */
unsigned gic_nr_intids(const void *dist);
/* One bit of a bit-per-interrupt register block; registers where writing 0 does nothing. */
void gic_poke_bit(void *block, unsigned hwirq);
/* ICFGR: edge or level. For PPIs `base` is this CPU's. Any context; callers serialise. */
void gic_set_type(void *base, unsigned hwirq, unsigned type);
/* All shared interrupts: off, not pending, not active, same priority, level. Boot. */
void gic_dist_reset(void *dist, unsigned nr);
/* The 32 private ones of a CPU, at `base`: the same; SGIs on. That CPU. */
void gic_private_reset(void *base);
/* The one GIC there is; its driver's probe enters the chip. */
extern struct irq_domain gic_domain; /* [chip immutable after boot] */
/*
 * One private interrupt of this CPU as FIQ, which comes while IRQs are masked: in group 0, of higher priority, enabled;
 * and back. gic_fiq_block: the calling CPU's registers of private interrupts, set by the driver of a GIC whose group 0
 * is the kernel's; NULL: it belongs to firmware, and there are no FIQs. Interrupts off.
 */
extern void *(*gic_fiq_block)(void); /* [boot, then immutable] */
void gic_fiq_enable(unsigned hwirq);
void gic_fiq_disable(unsigned hwirq);
/* Hand over a pending interrupt: 0-15 are IPIs, others go to their handlers. Hard interrupt context. */
void gic_dispatch(unsigned hwirq);

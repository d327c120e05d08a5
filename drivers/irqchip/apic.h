/*
 * Within x86's interrupt and timer drivers: the local APIC's registers (SDM vol. 3, table 10-1),
 * access to them, and what the drivers call of each other.
 */
#pragma once

#include <asm/io.h>
#include <asm/msr.h>
#include <lib/types.h>

struct cpumask;

/* Offsets of xAPIC; x2APIC's MSR is MSR_X2APIC + offset / 16 (table 10-6). */
#define APIC_LVR     0x030 /* version; highest LVT entry in bits 23 to 16 */
#define APIC_TPR     0x080 /* task priority: classes up to it are held back */
#define APIC_EOI     0x0b0
#define APIC_LDR     0x0d0 /* logical destination: a bit in 31 to 24 */
#define APIC_DFR     0x0e0 /* xAPIC only: all ones means one bit a CPU */
#define APIC_SVR     0x0f0 /* spurious vector; the enable bit */
#define APIC_ISR     0x100 /* 8 words: in service */
#define APIC_ESR     0x280 /* error status: a write latches what came since the last */
#define APIC_LVTCMCI 0x2f0
#define APIC_ICR     0x300 /* inter-processor interrupts; one 64-bit MSR in x2APIC */
#define APIC_ICR2    0x310 /* xAPIC only: destination in bits 31 to 24 */
#define APIC_LVTT    0x320 /* timer */
#define APIC_LVTTHMR 0x330
#define APIC_LVTPC   0x340
#define APIC_LVT0    0x350 /* LINT0 */
#define APIC_LVT1    0x360 /* LINT1 */
#define APIC_LVTERR  0x370
#define APIC_TMICT   0x380 /* timer: initial count; a write starts it */
#define APIC_TMCCT   0x390 /* timer: current count */
#define APIC_TDCR    0x3e0 /* timer: divide configuration */

#define APIC_SVR_ENABLE	     (1 << 8)
#define APIC_MODE_FIXED	     (0 << 8) /* delivery modes, in the ICR and in LVT entries (figures 10-12, 10-8) */
#define APIC_MODE_NMI	     (4 << 8)
#define APIC_MODE_INIT	     (5 << 8)
#define APIC_MODE_STARTUP    (6 << 8)
#define APIC_ICR_BUSY	     (1 << 12) /* xAPIC: not sent yet */
#define APIC_ICR_ASSERT	     (1 << 14)
#define APIC_LVT_MASKED	     (1 << 16)
#define APIC_LVTT_DEADLINE   (2 << 17) /* timer mode; 0 is one-shot */
#define APIC_TDCR_1	     0xb       /* count every tick of the timer's clock */
#define APIC_ESR_SEND_ACCEPT (1 << 2)  /* no CPU took what we sent */

#define XAPIC_LOGICAL 8	  /* so many CPUs have a bit of their own as logical destination, by number */
#define XAPIC_MAX_ID  254 /* 255 is broadcast; also the most that an IOAPIC's entry can name */

extern void *xapic; /* registers; NULL: x2APIC [immutable after probe] */

/* This CPU's local APIC. Any context. */
static __always_inline u32 apic_read(unsigned reg)
{
	return xapic ? readl_relaxed(xapic + reg) : rdmsrl(MSR_X2APIC + reg / 16);
}
static __always_inline void apic_write(unsigned reg, u32 v)
{
	if (xapic)
		writel_relaxed(v, xapic + reg);
	else
		wrmsrl(MSR_X2APIC + reg / 16, v);
}

/* Dispatch of what the IOAPICs deliver: hwirq is the GSI. Hard interrupt context. (ioapic.c) */
void ioapic_dispatch(unsigned gsi);
/*
 * A line that sends NMIs, by edge, to as many CPUs of the mask as one entry can name. Those are taken from the mask.
 * False: no IOAPIC has this GSI. Stop: the entry is what it was after the reset. Any context but nmi. (ioapic.c)
 */
bool ioapic_start_nmi(unsigned gsi, struct cpumask *to);
void ioapic_stop_nmi(unsigned gsi);
/*
 * The interrupts that devices send as messages; hwirq counts from MSI_VECTOR. drivers/pci sets it before a device may
 * send one, and it stays. NULL: none does. (lapic.c)
 */
extern struct irq_domain *msi_domain;
/* Remap both 8259s and mask all they have. Boot. (pic.c) */
void pic_disable(void);
/* LOCAL_TIMER_VECTOR's handler (drivers/timer/lapic_timer.c). Hard interrupt context. */
void local_apic_timer_interrupt(void);

/*
 * IOAPICs (82093AA data sheet): they turn the lines of devices into interrupt messages to local
 * APICs.
 *
 *     line -> pin of an IOAPIC = GSI -> its entry: vector, CPU, trigger -> message -> local APIC -> handle_irq
 *
 * A GSI (global system interrupt) counts the pins of all IOAPICs; here it is the hwirq, whichever
 * IOAPIC has the pin. Its vector is always GSI_VECTOR + GSI. The registers are reached through a
 * selector and a window, so each access is two steps under ioapic_lock.
 */
#include <asm/io.h>
#include <asm/irq_vectors.h>
#include <boot/acpi.h>
#include <boot/boot_info.h>
#include <drivers/driver.h>
#include <irq/irq.h>
#include <irq/irqflags.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/vmalloc.h>
#include <sched/spinlock.h>

#include "apic.h"

/* A register's number goes to SELECT, its value through WINDOW. */
#define IOAPIC_SELECT  0x00
#define IOAPIC_WINDOW  0x10
#define IOAPIC_VERSION 0x01
#define IOAPIC_ENTRY   0x10 /* two registers a pin: low word, high word */

/*
 * Low word of an entry; the vector in bits 7 to 0, delivery fixed, destination physical. The high word has
 * the APIC id in 31 to 24.
 */
#define ENTRY_LOGICAL (1 << 11) /* the destination is a set of logical ones */
#define ENTRY_LOW     (1 << 13) /* active low */
#define ENTRY_LEVEL   (1 << 15)
#define ENTRY_MASKED  (1 << 16)

/* Locks: l ioapic_lock; I immutable after probe. */
struct ioapic {
	void *regs;	   /* [I] the registers are [l] */
	unsigned gsi_base; /* [I] */
	unsigned nr_pins;  /* [I] */
};
static struct ioapic ioapics[ACPI_MAX_IOAPICS];
static unsigned nr_ioapics; /* [I] */
/* Selecting and accessing belong together, and so do reading and writing. Interrupts off. */
static DEFINE_SPINLOCK(ioapic_lock);

static u32 ioapic_read(const struct ioapic *io, unsigned reg)
{
	writel_relaxed(reg, io->regs + IOAPIC_SELECT);
	return readl_relaxed(io->regs + IOAPIC_WINDOW);
}

static void ioapic_write(const struct ioapic *io, unsigned reg, u32 v)
{
	writel_relaxed(reg, io->regs + IOAPIC_SELECT);
	writel_relaxed(v, io->regs + IOAPIC_WINDOW);
}

/* The IOAPIC that has this GSI; NULL if none has. */
static struct ioapic *ioapic_of(unsigned gsi)
{
	for (struct ioapic *io = ioapics; io < ioapics + nr_ioapics; io++)
		if (gsi >= io->gsi_base && gsi - io->gsi_base < io->nr_pins)
			return io;
	return NULL;
}

/* Change bits of the entry's low word; nothing happens for a GSI that no IOAPIC has. */
static void entry_modify(unsigned gsi, u32 clear, u32 set)
{
	struct ioapic *io = ioapic_of(gsi);
	unsigned long flags;
	unsigned reg;

	if (!io)
		return;
	reg = IOAPIC_ENTRY + 2 * (gsi - io->gsi_base);
	spin_lock_irqsave(&ioapic_lock, flags);
	ioapic_write(io, reg, (ioapic_read(io, reg) & ~clear) | set);
	spin_unlock_irqrestore(&ioapic_lock, flags);
}

static void ioapic_mask_irq(unsigned gsi)
{
	entry_modify(gsi, 0, ENTRY_MASKED);
}

static void ioapic_unmask_irq(unsigned gsi)
{
	entry_modify(gsi, ENTRY_MASKED, 0);
}

/*
 * Set trigger and polarity. The irq core calls this while the line is masked: an entry that turns
 * from edge to level with its line up would fire half set up.
 */
static void ioapic_set_type(unsigned gsi, unsigned type)
{
	entry_modify(gsi, ENTRY_LEVEL | ENTRY_LOW,
		     (type & IRQ_TYPE_LEVEL ? ENTRY_LEVEL : 0) | (type & IRQ_TYPE_LOW ? ENTRY_LOW : 0));
}

static const struct irq_chip ioapic_chip = {
	.name = "IO-APIC",
	.mask = ioapic_mask_irq,
	.unmask = ioapic_unmask_irq,
	.set_type = ioapic_set_type,
};

static u16 ioapic_revmap[NR_GSI_VECTORS];
static struct irq_domain ioapic_domain = {.chip = &ioapic_chip, .revmap = ioapic_revmap};

void ioapic_dispatch(unsigned gsi)
{
	generic_handle_domain_irq(&ioapic_domain, gsi);
}

/*
 * A whole entry. Its low word has the mask: the entry is masked first and gets its low word last, so that no interrupt
 * comes by an entry that is half of the old one. [ioapic_lock, or boot]
 */
static void ioapic_write_entry(const struct ioapic *io, unsigned pin, u32 low, u32 destination)
{
	ioapic_write(io, IOAPIC_ENTRY + 2 * pin, ENTRY_MASKED);
	ioapic_write(io, IOAPIC_ENTRY + 2 * pin + 1, destination << 24);
	ioapic_write(io, IOAPIC_ENTRY + 2 * pin, low);
}

static void change_entry(unsigned gsi, u32 low, u32 destination)
{
	const struct ioapic *io = ioapic_of(gsi);
	unsigned long flags;

	spin_lock_irqsave(&ioapic_lock, flags);
	ioapic_write_entry(io, gsi - io->gsi_base, low, destination);
	spin_unlock_irqrestore(&ioapic_lock, flags);
}

/* By logical destination where the APICs have one, else to the boot CPU alone. */
bool ioapic_start_nmi(unsigned gsi, struct cpumask *to)
{
	u32 bits = to->bits[0] & (BIT(XAPIC_LOGICAL) - 1);

	if (!ioapic_of(gsi))
		return false;
	change_entry(gsi, APIC_MODE_NMI | (xapic ? ENTRY_LOGICAL : 0), xapic ? bits : (u32)boot_info.cpu_hwid[0]);
	to->bits[0] &= ~(u64)(xapic ? bits : 1);
	return true;
}

void ioapic_stop_nmi(unsigned gsi)
{
	change_entry(gsi, ENTRY_MASKED | (GSI_VECTOR + gsi), boot_info.cpu_hwid[0]);
}

/*
 * Give every pin its vector, to the boot CPU, masked, edge-triggered and active high, until a
 * driver asks for it otherwise.
 */
static void ioapic_reset(const struct ioapic *io)
{
	for (unsigned pin = 0; pin < io->nr_pins; pin++)
		ioapic_write_entry(io, pin, ENTRY_MASKED | (GSI_VECTOR + io->gsi_base + pin), boot_info.cpu_hwid[0]);
}

/*
 * The GSI of this IOAPIC's first pin, by the MADT. Without a MADT there is one IOAPIC, and its pins
 * are the first.
 */
static unsigned gsi_base_of(phys_addr_t base)
{
	for (unsigned i = 0; i < acpi_info.nr_ioapics; i++)
		if (acpi_info.ioapic[i].base == base)
			return acpi_info.ioapic[i].gsi_base;
	return 0;
}

/*
 * One IO-APIC of perhaps several. Its pins start masked; a driver that requests an interrupt programs its own. -EINVAL,
 * -ENOSPC: more than the table has room for, -ERANGE: its first GSI has no vector, -ENOMEM.
 */
static int ioapic_probe(const struct device_desc *dev)
{
	struct ioapic *io = &ioapics[nr_ioapics];

	if (!dev->nr_reg)
		return -EINVAL;
	if (nr_ioapics == ARRAY_SIZE(ioapics))
		return -ENOSPC;
	io->gsi_base = gsi_base_of(dev->reg[0].base);
	if (io->gsi_base >= NR_GSI_VECTORS)
		return -ERANGE;
	io->regs = ioremap(dev->reg[0].base, PAGE_SIZE);
	if (!io->regs)
		return -ENOMEM;
	io->nr_pins = ((ioapic_read(io, IOAPIC_VERSION) >> 16) & 0xff) + 1;
	if (io->nr_pins > NR_GSI_VECTORS - io->gsi_base) {
		pr_warn("IO-APIC: GSIs from %u on have no vector\n", (unsigned)NR_GSI_VECTORS);
		io->nr_pins = NR_GSI_VECTORS - io->gsi_base;
	}
	ioapic_reset(io);
	nr_ioapics++;
	irq_set_root_chip(&ioapic_chip);
	pr_info("IO-APIC: GSI %u-%u\n", io->gsi_base, io->gsi_base + io->nr_pins - 1);
	return 0;
}

static const char *const ioapic_ids[] = {"pc,ioapic", NULL};
static const struct driver ioapic_driver = {
	.name = "ioapic",
	.compatible = ioapic_ids,
	.level = DRIVER_IRQCHIP,
	.probe = ioapic_probe,
};
REGISTER_DRIVER(ioapic_driver);

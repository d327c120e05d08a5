/*
 * Interrupts as messages: a device writes a word to an address, and a local APIC takes that for an interrupt
 * (PCI 3.0, 6.8; SDM vol. 3, 10.11). MSI-X only: each interrupt is an entry of a table in the device, with
 * address, word and mask.
 */
#include <asm/io.h>
#include <asm/irq_vectors.h>
#include <boot/boot_info.h>
#include <drivers/pci.h>
#include <lib/errno.h>
#include <sched/spinlock.h>

#include "../irqchip/apic.h"

/* The capability. */
#define MSIX_CONTROL	 2
#define MSIX_TABLE	 4 /* offset, and the BAR in the low 3 bits */
#define MSIX_CONTROL_ON	 0x8000
#define MSIX_CONTROL_ALL 0x4000 /* masks all entries */
#define MSIX_TABLE_BAR	 7

/* An entry of the table. */
#define ENTRY_ADDRESS	   0
#define ENTRY_ADDRESS_HIGH 4
#define ENTRY_DATA	   8 /* delivery mode fixed, edge: the vector alone (SDM 10.11.2) */
#define ENTRY_CONTROL	   12
#define ENTRY_MASKED	   1
#define ENTRY_SIZE	   16

/* The address (SDM 10.11.1): physical destination, no redirection. */
#define MSI_ADDRESS	0xfee00000u
#define MSI_DESTINATION 12

/*
 * The table entry of each vector, as it lies in the device. Locks: m msi_lock. An entry's registers
 * belong to the owner of its slot; mask and unmask are called under the irq's lock.
 */
static void *msi_entries[NR_MSI_VECTORS]; /* [m; release] of the device's table */
static unsigned nr_msi;			  /* [m] */
static DEFINE_SPINLOCK(msi_lock);

static void msi_write_entry(unsigned hwirq, unsigned at, u32 value)
{
	void *entry = __atomic_load_n(&msi_entries[hwirq], __ATOMIC_ACQUIRE);

	if (entry)
		writel(value, entry + at);
}

static void msi_mask(unsigned hwirq)
{
	msi_write_entry(hwirq, ENTRY_CONTROL, ENTRY_MASKED);
}

static void msi_unmask(unsigned hwirq)
{
	msi_write_entry(hwirq, ENTRY_CONTROL, 0);
}

static const struct irq_chip msi_chip = {
	.name = "PCI-MSI",
	.mask = msi_mask,
	.unmask = msi_unmask,
};

static u16 msi_revmap[NR_MSI_VECTORS];
static struct irq_domain pci_msi_domain = {.chip = &msi_chip, .revmap = msi_revmap};

/*
 * Take a vector for a table entry and write the entry, masked, with the boot CPU as destination.
 * Returns the vector's number or -ENOSPC. Vectors are not given back, as devices stay.
 */
static int msi_take_vector(void *entry)
{
	unsigned long flags;
	int hwirq;

	spin_lock_irqsave(&msi_lock, flags);
	hwirq = nr_msi < NR_MSI_VECTORS ? (int)nr_msi++ : -ENOSPC;
	spin_unlock_irqrestore(&msi_lock, flags);
	if (hwirq < 0)
		return hwirq;
	WRITE_ONCE(msi_domain, &pci_msi_domain);
	writel(ENTRY_MASKED, entry + ENTRY_CONTROL);
	writel(MSI_ADDRESS | (u32)boot_info.cpu_hwid[0] << MSI_DESTINATION, entry + ENTRY_ADDRESS);
	writel(0, entry + ENTRY_ADDRESS_HIGH);
	writel(MSI_VECTOR + hwirq, entry + ENTRY_DATA);
	__atomic_store_n(&msi_entries[hwirq], entry, __ATOMIC_RELEASE);
	return hwirq;
}

/*
 * The entry stays masked until request_irq() has a handler. INTx is switched off: a device must not
 * send both.
 */
int pci_request_msix(struct pci_dev *dev, irq_handler_t handler, const char *name, void *data)
{
	unsigned cap = pci_find_capability(dev, PCI_CAP_ID_MSIX, 0);
	u32 table;
	void *entry;
	int hwirq, irq;

	if (!cap)
		return -ENODEV;
	table = pci_read32(dev, cap + MSIX_TABLE);
	entry = pci_map_bar(dev, table & MSIX_TABLE_BAR, table & ~MSIX_TABLE_BAR, ENTRY_SIZE);
	if (!entry)
		return -ENOMEM;
	hwirq = msi_take_vector(entry);
	if (hwirq < 0)
		return hwirq;
	irq = irq_create_mapping(&msi_chip, hwirq, IRQ_TYPE_EDGE);
	if (irq < 0)
		return irq;
	pci_write16(dev, PCI_COMMAND, pci_read16(dev, PCI_COMMAND) | PCI_COMMAND_INTX_DISABLE);
	pci_write16(dev, cap + MSIX_CONTROL,
		    (pci_read16(dev, cap + MSIX_CONTROL) & ~MSIX_CONTROL_ALL) | MSIX_CONTROL_ON);
	return request_irq(irq, handler, 0, name, data);
}

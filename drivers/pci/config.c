/*
 * Configuration space by configuration mechanism #1 (PCI 3.0, 3.2.2.3.2): an address is written to
 * one port, and another one shows 32 bits from there. The two steps belong together, so a lock
 * covers them, taken with interrupts off: any context but NMI may read configuration space.
 *
 *     address:  31 enable | 23:16 bus | 15:11 slot | 10:8 function | 7:2 register
 */
#include <asm/io.h>
#include <drivers/pci.h>
#include <sched/spinlock.h>

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA    0xcfc
#define CONFIG_ENABLE  0x80000000u

/* Address and data belong together. Interrupts off. */
static DEFINE_SPINLOCK(config_lock);

static u32 address_of(const struct pci_dev *dev, unsigned offset)
{
	return CONFIG_ENABLE | dev->bus << 16 | dev->slot << 11 | dev->function << 8 | (offset & 0xfc);
}

u32 pci_read32(const struct pci_dev *dev, unsigned offset)
{
	unsigned long flags;
	u32 value;

	spin_lock_irqsave(&config_lock, flags);
	outl(address_of(dev, offset), CONFIG_ADDRESS);
	value = inl(CONFIG_DATA);
	spin_unlock_irqrestore(&config_lock, flags);
	return value;
}

u16 pci_read16(const struct pci_dev *dev, unsigned offset)
{
	return pci_read32(dev, offset) >> 8 * (offset & 2);
}

u8 pci_read8(const struct pci_dev *dev, unsigned offset)
{
	return pci_read32(dev, offset) >> 8 * (offset & 3);
}

void pci_write32(const struct pci_dev *dev, unsigned offset, u32 value)
{
	unsigned long flags;

	spin_lock_irqsave(&config_lock, flags);
	outl(address_of(dev, offset), CONFIG_ADDRESS);
	outl(value, CONFIG_DATA);
	spin_unlock_irqrestore(&config_lock, flags);
}

/*
 * Write a half word through the data port's own offset, so that the other half is not written: in
 * the status register a one that is written clears a bit.
 */
void pci_write16(const struct pci_dev *dev, unsigned offset, u16 value)
{
	unsigned long flags;

	spin_lock_irqsave(&config_lock, flags);
	outl(address_of(dev, offset), CONFIG_ADDRESS);
	outw(value, CONFIG_DATA + (offset & 2));
	spin_unlock_irqrestore(&config_lock, flags);
}

/*
 * Capabilities are a list through bytes in configuration space. A list that a broken device bends
 * into a ring ends as well: 48 capabilities fill the space.
 */
unsigned pci_find_capability(const struct pci_dev *dev, u8 id, unsigned after)
{
	unsigned at = after ? after + 1 : PCI_CAPABILITY_LIST;

	if (!(pci_read16(dev, PCI_STATUS) & PCI_STATUS_CAP_LIST))
		return 0;
	for (unsigned n = 0; n < 48; n++) {
		unsigned cap = pci_read8(dev, at) & 0xfc;

		if (cap < 0x40)
			return 0;
		if (pci_read8(dev, cap) == id)
			return cap;
		at = cap + 1;
	}
	return 0;
}

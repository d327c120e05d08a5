/* Configuration space by configuration mechanism #1 (PCI 3.0, 3.2.2.3.2): an address port and a data port. */
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

/* Half a word at the port's own offset: the other half, of which a write may clear bits, is left alone. */
void pci_write16(const struct pci_dev *dev, unsigned offset, u16 value)
{
	unsigned long flags;

	spin_lock_irqsave(&config_lock, flags);
	outl(address_of(dev, offset), CONFIG_ADDRESS);
	outw(value, CONFIG_DATA + (offset & 2));
	spin_unlock_irqrestore(&config_lock, flags);
}

/* A list that a broken device bends into a ring ends as well: 48 capabilities fill the space. */
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

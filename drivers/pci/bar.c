/*
 * Base address registers (PCI 3.0, 6.2.5.1): how much address space a device's registers take, and
 * where they are. Firmware has normally given each its address. QEMU's qboot.rom, which starts us
 * by -kernel, gives none to any device, so we do it for those that have a driver. Context: boot,
 * one thread, so next_free needs no lock.
 */
#include <drivers/pci.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/vmalloc.h>

#define BAR_IO	     1 /* ports, not memory */
#define BAR_TYPE     6
#define BAR_TYPE_64  4 /* the next register is its high word */
#define BAR_MEM_MASK (~0xfu)
#define BAR_IO_MASK  0xfffcu   /* PCs have 64 Ki ports */
#define ROM_MASK     (~0x7ffu) /* 6.2.5.2 */

/*
 * Where no PC that we know has anything else: above RAM (below 0xe0000000 on QEMU's boards) and what firmware
 * uses for memory-mapped configuration space, below flash and the APICs.
 */
#define WINDOW_START 0xf0000000u
#define WINDOW_END   0xfe000000u

static u32 next_free = WINDOW_START; /* [boot] */

/*
 * How many bytes a BAR decodes. The device lets only those address bits be set that it compares:
 * after writing all ones, the lowest bit that reads as one is the size. Decoding is off meanwhile.
 */
static u64 bar_size(const struct pci_dev *dev, unsigned at, bool is_64)
{
	u32 low = pci_read32(dev, at), high = is_64 ? pci_read32(dev, at + 4) : 0;
	u64 mask;

	pci_write32(dev, at, ~0u);
	mask = pci_read32(dev, at) & BAR_MEM_MASK;
	pci_write32(dev, at, low);
	if (is_64) {
		pci_write32(dev, at + 4, ~0u);
		mask |= (u64)pci_read32(dev, at + 4) << 32;
		pci_write32(dev, at + 4, high);
	}
	return mask & -mask;
}

bool pci_bar_is_64(const struct pci_dev *dev, unsigned bar)
{
	u32 low = pci_read32(dev, PCI_BAR0 + 4 * bar);

	return !(low & BAR_IO) && (low & BAR_TYPE) == BAR_TYPE_64 && bar + 1 < PCI_BARS;
}

/* The same for a register of 32 bits; `mask`: the bits that are the address. */
static u64 bar_size_by_mask(const struct pci_dev *dev, unsigned at, u32 mask)
{
	u32 old = pci_read32(dev, at), bits;

	pci_write32(dev, at, mask);
	bits = pci_read32(dev, at) & mask;
	pci_write32(dev, at, old);
	return bits & -bits;
}

/*
 * A BAR tells its size only by what stays of a mask of ones that is written to it (PCI 3.0, 6.2.5.1). Meanwhile it
 * would answer at a wrong address, so the device is kept from answering at all.
 */
void pci_size_regions(struct pci_dev *dev)
{
	u16 command = pci_read16(dev, PCI_COMMAND);

	pci_write16(dev, PCI_COMMAND, command & ~(PCI_COMMAND_MEMORY | PCI_COMMAND_IO));
	for (unsigned i = 0; i < PCI_BARS; i++) {
		unsigned at = PCI_BAR0 + 4 * i;
		bool is_64 = pci_bar_is_64(dev, i);

		if (pci_read32(dev, at) & BAR_IO)
			dev->size[i] = bar_size_by_mask(dev, at, BAR_IO_MASK);
		else
			dev->size[i] = bar_size(dev, at, is_64);
		i += is_64;
	}
	dev->size[PCI_BARS] = bar_size_by_mask(dev, PCI_ROM_ADDRESS, ROM_MASK);
	pci_write16(dev, PCI_COMMAND, command);
}

/*
 * Give the BAR an address. Sizes are powers of 2, and an address is a multiple of its size. Returns
 * 0, or -ENOSPC when the window is full.
 */
static int pci_assign_bar(struct pci_dev *dev, unsigned i, bool is_64)
{
	u64 size = dev->bar[i].size, base = ALIGN((u64)next_free, size);

	if (base + size > WINDOW_END)
		return -ENOSPC;
	next_free = base + size;
	pci_write32(dev, PCI_BAR0 + 4 * i, base);
	if (is_64)
		pci_write32(dev, PCI_BAR0 + 4 * i + 4, 0);
	dev->bar[i].base = base;
	return 0;
}

/*
 * Read one BAR and give it an address if it has none; *i ends at its last register. An address of 0
 * means none: there is RAM. BARs for I/O ports are left alone.
 */
static int setup_bar(struct pci_dev *dev, unsigned *i)
{
	unsigned n = *i, at = PCI_BAR0 + 4 * n;
	u32 low = pci_read32(dev, at);
	bool is_64 = pci_bar_is_64(dev, n);

	if (low & BAR_IO)
		return 0;
	*i += is_64;
	dev->bar[n].size = dev->size[n];
	if (!dev->bar[n].size)
		return 0;
	dev->bar[n].base = low & BAR_MEM_MASK;
	if (is_64)
		dev->bar[n].base |= (u64)pci_read32(dev, at + 4) << 32;
	return dev->bar[n].base ? 0 : pci_assign_bar(dev, n, is_64);
}

/* Decoding is off while BARs change: half an address would answer for another device. */
int pci_enable_device(struct pci_dev *dev)
{
	u16 command = pci_read16(dev, PCI_COMMAND);
	int err = 0;

	pci_write16(dev, PCI_COMMAND, command & ~PCI_COMMAND_MEMORY);
	for (unsigned i = 0; i < PCI_BARS && !err; i++)
		err = setup_bar(dev, &i);
	if (!err)
		command |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	pci_write16(dev, PCI_COMMAND, command);
	return err;
}

void *pci_map_bar(const struct pci_dev *dev, unsigned bar, u64 offset, u64 size)
{
	if (bar >= PCI_BARS || !dev->bar[bar].base || offset > dev->bar[bar].size || size > dev->bar[bar].size - offset)
		return NULL;
	return ioremap(dev->bar[bar].base + offset, size);
}

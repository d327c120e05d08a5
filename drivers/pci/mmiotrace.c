/*
 * The lines PCIDEV of mmiotrace's head: which device has which addresses, as Linux has them in /proc/bus/pci/devices.
 *
 *     PCIDEV 0018 1af41005 b fe000004 0 0 0 0 0 0 4000 0 0 0 0 0 0 virtio-pci
 *
 * Bus and device, vendor and device, interrupt line; where its seven regions begin, with the lowest bits of the
 * register, which tell what kind they are; their sizes; the driver.
 */
#include <drivers/pci.h>
#include <trace/mmiotrace.h>

/* The register of a region. The ROM's has no kind: its lowest bit says whether it answers. */
static u64 region_start(const struct pci_dev *dev, unsigned region)
{
	unsigned at = region < PCI_BARS ? PCI_BAR0 + 4 * region : PCI_ROM_ADDRESS;
	u64 start;

	if (!dev->size[region])
		return 0;
	start = pci_read32(dev, at);
	if (region < PCI_BARS && pci_bar_is_64(dev, region))
		start |= (u64)pci_read32(dev, at + 4) << 32;
	return start;
}

/*
 * The line of the n-th device: where it is, its vendor and kind, its interrupt, then the addresses of all its regions,
 * their sizes, and its driver. The list of devices is complete after boot and never changes. False: there are not so
 * many.
 */
static bool pci_show_device(struct seq_file *s, unsigned n)
{
	const struct pci_dev *dev = pci_devices;

	while (dev && n--)
		dev = dev->next;
	if (!dev)
		return false;
	seq_printf(s, "PCIDEV %02x%02x %04x%04x %x", dev->bus, dev->slot << 3 | dev->function, dev->vendor, dev->device,
		   pci_read8(dev, PCI_INTERRUPT_LINE));
	for (unsigned i = 0; i < PCI_REGIONS; i++)
		seq_printf(s, " %llx", (unsigned long long)region_start(dev, i));
	for (unsigned i = 0; i < PCI_REGIONS; i++)
		seq_printf(s, " %llx", (unsigned long long)dev->size[i]);
	seq_printf(s, " %s\n", dev->driver ? dev->driver : "");
	return true;
}

static const struct mmiotrace_bus pci_bus = {.show = pci_show_device};
REGISTER_MMIOTRACE_BUS(pci_bus);

/*
 * Finding PCI devices: all functions of bus 0, and of the buses behind bridges that firmware has
 * numbered. Each function is bus:slot.function (00:03.0); an absent one reads as all ones. Context:
 * boot, a thread.
 */
#include <drivers/driver.h>
#include <drivers/pci.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/slab.h>

DECLARE_TABLE(pci_drivers, const struct pci_driver);

#define HEADER_BRIDGE	     1
#define HEADER_TYPE_MASK     0x7f
#define HEADER_MULTIFUNCTION 0x80

static void scan_bus(unsigned bus);

static const struct pci_driver *find_driver(const struct pci_dev *dev)
{
	const struct pci_driver *drv;

	for_each_in_table(pci_drivers, drv) {
		if (drv->vendor == dev->vendor && dev->device >= drv->first_device && dev->device <= drv->last_device)
			return drv;
	}
	return NULL;
}

struct pci_dev *pci_devices;
static struct pci_dev **pci_last = &pci_devices; /* [boot] */

/* Enable the device and let the driver probe it. */
static void pci_probe_function(const struct pci_driver *drv, struct pci_dev *dev)
{
	int err = pci_enable_device(dev);

	if (!err)
		err = drv->probe(dev);
	if (!err)
		dev->driver = drv->name;
	else
		pr_err("%s: %02x:%02x.%x: probe failed, error %d\n", drv->name, dev->bus, dev->slot, dev->function,
		       err);
}

/* Remember a function that was found: it stays, with or without a driver. NULL: no memory, and then it is not used. */
static struct pci_dev *pci_add(const struct pci_dev *found)
{
	struct pci_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	*dev = *found;
	*pci_last = dev;
	pci_last = &dev->next;
	return dev;
}

/*
 * Add a function, probe it and, if it is a bridge, the bus behind it. That bus has a higher number; a
 * bridge whose number is 0 was not set up by firmware and is left alone. A bridge has two BARs and its ROM elsewhere,
 * so its regions are not measured.
 */
static void scan_function(const struct pci_dev *found, u8 header)
{
	struct pci_dev *dev = pci_add(found);
	const struct pci_driver *drv = find_driver(found);
	unsigned below;

	if (dev && (header & HEADER_TYPE_MASK) == 0)
		pci_size_regions(dev);
	if (dev && drv)
		pci_probe_function(drv, dev);
	if ((header & HEADER_TYPE_MASK) != HEADER_BRIDGE)
		return;
	below = pci_read8(found, PCI_SECONDARY_BUS);
	if (below > found->bus)
		scan_bus(below);
}

/*
 * The functions of a slot. Function 0 is there if any is, and its header says whether there may be
 * others (6.2.1).
 */
static void pci_scan_slot(unsigned bus, unsigned slot)
{
	unsigned functions = 1;

	for (unsigned function = 0; function < functions; function++) {
		struct pci_dev dev = {.bus = bus, .slot = slot, .function = function};
		u32 id = pci_read32(&dev, PCI_VENDOR_ID);
		u8 header;

		if ((u16)id == PCI_NONE)
			continue;
		dev.vendor = id;
		dev.device = id >> 16;
		header = pci_read8(&dev, PCI_HEADER_TYPE);
		if (header & HEADER_MULTIFUNCTION)
			functions = 8;
		scan_function(&dev, header);
	}
}

/* Bus numbers grow on the way down, so the recursion ends: buses that a bridge leads to are nested a few
 * deep. */
static void scan_bus(unsigned bus)
{
	for (unsigned slot = 0; slot < 32; slot++)
		pci_scan_slot(bus, slot);
}

static int pci_probe(const struct device_desc *desc)
{
	scan_bus(0);
	return 0;
}

static const char *const pci_ids[] = {"pc,pci", NULL};
static const struct driver pci_driver = {
	.name = "pci",
	.compatible = pci_ids,
	.level = DRIVER_DEVICE,
	.probe = pci_probe,
};
REGISTER_DRIVER(pci_driver);

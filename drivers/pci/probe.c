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

/*
 * Enable the device and let the driver probe it. The driver keeps the struct pci_dev if it takes
 * the device; else it is freed.
 */
static void pci_probe_function(const struct pci_driver *drv, const struct pci_dev *found)
{
	struct pci_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int err = -ENOMEM;

	if (dev) {
		*dev = *found;
		err = pci_enable_device(dev);
		if (!err)
			err = drv->probe(dev);
	}
	if (!err)
		return;
	pr_err("%s: %02x:%02x.%x: probe failed, error %d\n", drv->name, found->bus, found->slot, found->function, err);
	kfree(dev);
}

/*
 * Probe a function and, if it is a bridge, the bus behind it. That bus has a higher number; a
 * bridge whose number is 0 was not set up by firmware and is left alone.
 */
static void scan_function(struct pci_dev *dev, u8 header)
{
	const struct pci_driver *drv = find_driver(dev);
	unsigned below;

	if (drv)
		pci_probe_function(drv, dev);
	if ((header & HEADER_TYPE_MASK) != HEADER_BRIDGE)
		return;
	below = pci_read8(dev, PCI_SECONDARY_BUS);
	if (below > dev->bus)
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

/*
 * PCI devices of a PC (PCI Local Bus Specification 3.0): found once at boot, each probed by the driver that
 * names it. Configuration space is reached through I/O ports, which every PC has; the 256 bytes that they
 * show are enough here.
 */
#pragma once

#include <irq/irq.h>
#include <lib/types.h>

/* Configuration space, common header (6.1). */
#define PCI_VENDOR_ID	    0x00
#define PCI_DEVICE_ID	    0x02
#define PCI_COMMAND	    0x04
#define PCI_STATUS	    0x06
#define PCI_HEADER_TYPE	    0x0e
#define PCI_BAR0	    0x10
#define PCI_SECONDARY_BUS   0x19 /* of a bridge */
#define PCI_ROM_ADDRESS	    0x30
#define PCI_CAPABILITY_LIST 0x34
#define PCI_INTERRUPT_LINE  0x3c

#define PCI_COMMAND_IO		 0x001
#define PCI_COMMAND_MEMORY	 0x002
#define PCI_COMMAND_MASTER	 0x004 /* it may read and write memory, and send interrupts as messages */
#define PCI_COMMAND_INTX_DISABLE 0x400
#define PCI_STATUS_CAP_LIST	 0x10

#define PCI_CAP_ID_VENDOR 0x09
#define PCI_CAP_ID_MSIX	  0x11

#define PCI_BARS    6
#define PCI_REGIONS 7	   /* the BARs, and the ROM */
#define PCI_NONE    0xffff /* no vendor's number: what a read finds where there is no device */

/* All immutable after its driver's probe, but for what the lock of drivers/pci/config.c covers. */
struct pci_dev {
	u8 bus, slot, function;
	u16 vendor, device;
	const char *driver;    /* the name of the one that has taken it; NULL: none has */
	struct pci_dev *next;  /* in the order in which they were found */
	u64 size[PCI_REGIONS]; /* bytes that a region decodes, ports as well; 0: there is none */
	struct {
		phys_addr_t base; /* 0: not memory, or not there */
		u64 size;
	} bar[PCI_BARS];
};

struct pci_driver {
	const char *name;
	u16 vendor, first_device, last_device;
	/* Enabled, with its BARs assigned. 0 or -errno, which is reported. Thread context, boot. */
	int (*probe)(struct pci_dev *dev);
};
#define REGISTER_PCI_DRIVER(d) REGISTER_IN(pci_drivers, d)

/* Configuration space; offsets are multiples of the access's size. Any context. */
u32 pci_read32(const struct pci_dev *dev, unsigned offset);
u16 pci_read16(const struct pci_dev *dev, unsigned offset);
u8 pci_read8(const struct pci_dev *dev, unsigned offset);
void pci_write32(const struct pci_dev *dev, unsigned offset, u32 value);
void pci_write16(const struct pci_dev *dev, unsigned offset, u16 value);
/* Offset of the first capability of this kind, or of the next behind `after` (0: the first). 0: none. */
unsigned pci_find_capability(const struct pci_dev *dev, u8 id, unsigned after);

/* All functions that were found, the first one. [immutable after boot] */
extern struct pci_dev *pci_devices;
/* How much each region decodes, into dev->size. The device is not in use. Boot. */
void pci_size_regions(struct pci_dev *dev);
/* A BAR is the low word of an address of 64 bits. */
bool pci_bar_is_64(const struct pci_dev *dev, unsigned bar);
/* Take note of its memory BARs, give addresses to those that have none, switch decoding and DMA on. 0,
 * -ENOSPC. Boot. */
int pci_enable_device(struct pci_dev *dev);
/* Part of a memory BAR, as ioremap. NULL: not within it, or no memory. */
void *pci_map_bar(const struct pci_dev *dev, unsigned bar, u64 offset, u64 size);
/*
 * Entry 0 of its MSI-X table (6.8.2) interrupts us: the one that its driver is to name to the device.
 * 0; -ENODEV (it has no MSI-X), -ENOSPC (no vector left), -ENOMEM. Thread context.
 */
int pci_request_msix(struct pci_dev *dev, irq_handler_t handler, const char *name, void *data);

/*
 * The devices of a PC that are on no bus that could be searched: those that ACPI's tables name, and
 * those that every PC has at fixed ports. Each becomes a struct device_desc, as the device tree's
 * nodes do on aarch64 (boot/fdt_devices.c), and drivers are matched by name. The names ("pc,hpet")
 * are this kernel's own. PCI devices are found later, by the driver of "pc,pci".
 */
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <boot/acpi.h>
#include <drivers/driver.h>
#include <irq/irq.h>
#include <kernel/printk.h>
#include <lib/string.h>

DECLARE_TABLE(drivers, const struct driver);

#define MAX_DEVICES (ACPI_MAX_IOAPICS + 7)

/*
 * Drivers are probed in this order within a level, so a device stands behind those that its driver
 * relies on: the HPET before the TSC, which is measured against it. [boot]
 */
static struct device_desc devices[MAX_DEVICES]; /* [boot] */
static unsigned nr_devices;

#define LAPIC_SIZE  0x1000
#define IOAPIC_SIZE 0x1000
#define HPET_SIZE   0x400

/* Fixed I/O ports and ISA interrupts of PCs (ICH9 data sheet, 9.3 and 5.9). */
#define PIT_PORT	0x40
#define PIT_IRQ		0
#define PIT_HZ		1193182
#define COM1_PORT	0x3f8
#define COM1_IRQ	4
#define COM1_HZ		1843200 /* of the 16550's input; 16 times the highest baud rate */
#define RTC_PORT	0x70
#define RTC_IRQ		8
#define PCI_CONFIG_PORT 0xcf8 /* PCI 3.0, 3.2.2.3.2 */

/*
 * One more device with one range of registers: a physical address or the first I/O port.
 * MAX_DEVICES has room for all that find_devices() can add.
 */
static struct device_desc *add_device(const char *compatible, phys_addr_t base, u64 size)
{
	struct device_desc *dev = &devices[nr_devices++];

	*dev = (struct device_desc){.compatible = compatible, .node = -1, .nr_reg = 1};
	dev->reg[0].base = base;
	dev->reg[0].size = size;
	return dev;
}

/*
 * A device at I/O ports with an interrupt, given by its ISA number. The MADT may say that this
 * interrupt arrives at another GSI or is level-triggered, so acpi_isa_irq() is asked.
 */
static void add_isa_device(const char *compatible, u16 port, u64 size, unsigned irq, u32 clock_hz)
{
	struct device_desc *dev = add_device(compatible, port, size);

	acpi_isa_irq(irq, &dev->irq[0].hwirq, &dev->irq[0].type);
	dev->nr_irq = 1;
	dev->clock_hz = clock_hz;
}

/* An IOAPIC. Its irq[0].hwirq is no interrupt of the device but the first GSI that it serves. */
static void add_ioapic(const struct acpi_ioapic *ioapic)
{
	struct device_desc *dev = add_device("pc,ioapic", ioapic->base, IOAPIC_SIZE);

	dev->irq[0].hwirq = ioapic->gsi_base;
	dev->nr_irq = 1;
}

/*
 * Fill devices[]. Without a MADT there is no interrupt controller, and so none of the drivers that
 * need an interrupt gets one.
 */
static void find_devices(void)
{
	/* Interrupt controllers: the IOAPIC sends to the local APIC. */
	if (acpi_info.lapic)
		add_device("pc,lapic", acpi_info.lapic, LAPIC_SIZE);
	for (unsigned i = 0; i < acpi_info.nr_ioapics; i++)
		add_ioapic(&acpi_info.ioapic[i]);
	/* Timers: what the TSC and the local APIC's timer are measured by comes before them. */
	if (acpi_info.hpet)
		add_device("pc,hpet", acpi_info.hpet, HPET_SIZE);
	add_isa_device("pc,pit", PIT_PORT, 4, PIT_IRQ, PIT_HZ);
	add_device("pc,tsc-timer", 0, 0)->nr_reg = 0; /* in the CPU */
	add_isa_device("ns16550a", COM1_PORT, 8, COM1_IRQ, COM1_HZ);
	if (!acpi_info.no_cmos_rtc)
		add_isa_device("pc,mc146818", RTC_PORT, 2, RTC_IRQ, 0);
	add_device("pc,pci", PCI_CONFIG_PORT, 8);
}

/* Is `compatible` one of the names that the driver lists? */
static bool matches(const struct driver *drv, const char *compatible)
{
	for (const char *const *c = drv->compatible; *c; c++)
		if (!strcmp(*c, compatible))
			return true;
	return false;
}

void drivers_probe(enum driver_level level)
{
	const struct driver *drv;

	if (!nr_devices)
		find_devices();
	for (unsigned i = 0; i < nr_devices; i++)
		for_each_in_table(drivers, drv) {
			if (drv->level == level && matches(drv, devices[i].compatible))
				driver_probe(drv, &devices[i], devices[i].compatible);
		}
}

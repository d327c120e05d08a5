/*
 * What all buses have in common when they find drivers: calling a probe, and interrupts of the machine's root
 * controller. The bus code (boot/fdt_devices.c, boot/acpi_devices.c) walks over devices and calls
 * driver_probe(). Context: boot, in the order of enum driver_level.
 */
#include <drivers/driver.h>
#include <irq/irq.h>
#include <kernel/init.h>
#include <kernel/printk.h>
#include <lib/errno.h>

static const struct irq_chip *root_chip; /* [boot] */

void irq_set_root_chip(const struct irq_chip *chip)
{
	root_chip = chip;
}

int device_irq(const struct device_desc *dev, unsigned index)
{
	if (!root_chip || index >= dev->nr_irq)
		return -ENODEV;
	return irq_create_mapping(root_chip, dev->irq[index].hwirq, dev->irq[index].type);
}

void driver_probe(const struct driver *drv, const struct device_desc *dev, const char *name)
{
	int err = drv->probe(dev);

	if (err)
		pr_err("%s: %s: probe failed, error %d\n", drv->name, name, err);
}

/*
 * The last level of probing, in a thread that may sleep; the two earlier ones are called from
 * start_kernel. Each failed probe has been reported by driver_probe(), so there is nothing to
 * return.
 */
static int probe_devices(void)
{
	drivers_probe(DRIVER_DEVICE);
	return 0;
}
device_initcall(probe_devices);

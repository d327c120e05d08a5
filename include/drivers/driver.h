/*
 * Drivers register a match and a probe; each machine's bus code (FDT nodes, ACPI tables, fixed PC addresses) calls
 * probe for what it finds, in order of `level`.
 */
#pragma once

#include <lib/types.h>

enum driver_level {
	DRIVER_IRQCHIP, /* before interrupts are enabled; no sleeping */
	DRIVER_TIMER,
	DRIVER_DEVICE, /* thread context, everything works */
};
/* One found device: addresses and interrupts resolved by the bus code. */
struct device_desc {
	const char *compatible; /* what matched */
	int node;		/* FDT offset or -1 */
	struct {
		phys_addr_t base;
		u64 size;
	} reg[4];
	unsigned nr_reg;
	struct {
		unsigned hwirq, type; /* controller's number, IRQ_TYPE_* */
	} irq[8];
	unsigned nr_irq;
	u32 clock_hz; /* of the device's input clock, 0 unknown */
};
struct driver {
	const char *name;
	const char *const *compatible; /* NULL-terminated */
	enum driver_level level;
	int (*probe)(const struct device_desc *dev); /* 0 or -errno (reported) */
};
#define REGISTER_DRIVER(d) REGISTER_IN(drivers, d)
/* For bus code: probe `dev`, which matches; an error is reported with `name`, what the bus calls the device. */
void driver_probe(const struct driver *drv, const struct device_desc *dev, const char *name);
/* Probe every matching device of a level (the machine's bus code: boot/fdt_devices.c, boot/acpi_devices.c). Boot. */
void drivers_probe(enum driver_level level);
/* Map a device's interrupt on the machine's root controller (registered by the irqchip driver). -ENODEV. */
int device_irq(const struct device_desc *dev, unsigned index);
struct irq_chip;
void irq_set_root_chip(const struct irq_chip *chip);

/*
 * Finding drivers for the nodes of the device tree. Every available node is compared with every
 * driver, at each level of probing (enum driver_level). Addresses and interrupts are resolved here,
 * so that a driver sees a struct device_desc and seldom the tree. Runs on the boot CPU; only
 * DRIVER_DEVICE in a thread that may sleep.
 */
#include <boot/fdt.h>
#include <drivers/driver.h>
#include <irq/irq.h>
#include <lib/string.h>

DECLARE_TABLE(drivers, const struct driver);

/*
 * The node of the interrupt controller that gives meaning to the numbers in the node's
 * `interrupts`: the nearest interrupt-parent on the way up.
 */
static int interrupt_parent(int node)
{
	u32 phandle;

	for (; node >= 0; node = fdt_parent(node))
		if (!fdt_read_u32(node, "interrupt-parent", &phandle))
			return fdt_phandle_node(phandle);
	return -1;
}

/*
 * Read the node's interrupts. A specifier of the binding "arm,gic" (and -v3) has three cells: kind
 * (0 shared, 1 private), number within the kind, and trigger (1 and 2 are edges, 4 and 8 levels).
 * INTIDs of private interrupts begin at 16, those of shared ones at 32. A node with another
 * controller gets none.
 */
static void read_interrupts(int node, struct device_desc *dev)
{
	u32 cells, kind, number, flags;
	int parent = interrupt_parent(node);

	if (fdt_read_u32(parent, "#interrupt-cells", &cells) || cells < 3)
		return;
	for (unsigned i = 0; dev->nr_irq < ARRAY_SIZE(dev->irq); i++) {
		if (fdt_read_cell(node, "interrupts", i * cells, &kind) ||
		    fdt_read_cell(node, "interrupts", i * cells + 1, &number) ||
		    fdt_read_cell(node, "interrupts", i * cells + 2, &flags) || kind > 1)
			return;
		dev->irq[dev->nr_irq].hwirq = number + (kind ? 16 : 32);
		dev->irq[dev->nr_irq++].type = flags & 3 ? IRQ_TYPE_EDGE : IRQ_TYPE_LEVEL;
	}
}

/*
 * The rate in Hz of the device's first clock, from the device itself or from a clock of fixed rate;
 * 0 if neither says it. UARTs need it for their divisor.
 */
static u32 clock_rate(int node)
{
	u32 phandle, hz;

	if (!fdt_read_u32(node, "clock-frequency", &hz))
		return hz;
	if (!fdt_read_u32(node, "clocks", &phandle) && !fdt_read_u32(fdt_phandle_node(phandle), "clock-frequency", &hz))
		return hz;
	return 0;
}

/* Fill `dev` with what the node says. What the arrays have no room for is left out. */
static void describe(int node, struct device_desc *dev)
{
	memset(dev, 0, sizeof(*dev));
	dev->node = node;
	while (dev->nr_reg < ARRAY_SIZE(dev->reg) &&
	       !fdt_read_reg(node, dev->nr_reg, &dev->reg[dev->nr_reg].base, &dev->reg[dev->nr_reg].size))
		dev->nr_reg++;
	read_interrupts(node, dev);
	dev->clock_hz = clock_rate(node);
}

/*
 * The name by which the driver knows the node, or NULL. A driver lists several when its devices
 * differ a little, and looks at dev->compatible.
 */
static const char *fdt_match_driver(const struct driver *drv, int node)
{
	for (const char *const *c = drv->compatible; *c; c++)
		if (fdt_is_compatible(node, *c))
			return *c;
	return NULL;
}

/* Call the driver's probe for a node that it matches; driver_probe() reports an error. */
static void fdt_probe_node(const struct driver *drv, int node, const char *compatible)
{
	struct device_desc dev;

	describe(node, &dev);
	dev.compatible = compatible;
	driver_probe(drv, &dev, fdt_node_name(node));
}

void drivers_probe(enum driver_level level)
{
	const struct driver *drv;
	const char *compatible;

	for (int node = fdt_next_node(-1, NULL); node >= 0; node = fdt_next_node(node, NULL)) {
		if (!fdt_is_available(node))
			continue;
		for_each_in_table(drivers, drv) {
			if (drv->level == level && (compatible = fdt_match_driver(drv, node)))
				fdt_probe_node(drv, node, compatible);
		}
	}
}

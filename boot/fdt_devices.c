/* Finding drivers for the device tree's nodes. */
#include <boot/fdt.h>
#include <drivers/driver.h>
#include <irq/irq.h>
#include <lib/string.h>

DECLARE_TABLE(drivers, const struct driver);

/* The node whose interrupt specifiers `node` uses: interrupt-parent is inherited from above. */
static int interrupt_parent(int node)
{
	u32 phandle;

	for (; node >= 0; node = fdt_parent(node))
		if (!fdt_read_u32(node, "interrupt-parent", &phandle))
			return fdt_phandle_node(phandle);
	return -1;
}

/*
 * Specifiers as the binding "arm,gic" (and -v3) has them: kind (0 shared, 1 private), number within it,
 * trigger (1, 2 edges; 4, 8 levels). INTIDs of private ones begin at 16, of shared ones at 32.
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

/* The first clock, if it is of a fixed rate or says its rate. */
static u32 clock_rate(int node)
{
	u32 phandle, hz;

	if (!fdt_read_u32(node, "clock-frequency", &hz))
		return hz;
	if (!fdt_read_u32(node, "clocks", &phandle) && !fdt_read_u32(fdt_phandle_node(phandle), "clock-frequency", &hz))
		return hz;
	return 0;
}

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

static const char *match(const struct driver *drv, int node)
{
	for (const char *const *c = drv->compatible; *c; c++)
		if (fdt_is_compatible(node, *c))
			return *c;
	return NULL;
}

static void probe(const struct driver *drv, int node, const char *compatible)
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
			if (drv->level == level && (compatible = match(drv, node)))
				probe(drv, node, compatible);
		}
	}
}

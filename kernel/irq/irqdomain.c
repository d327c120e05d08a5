/*
 * From a controller's own number of an interrupt that comes in to the kernel's number.
 *
 * A controller's driver has a domain: a table of the kernel's numbers, indexed by the controller's. An entry is filled
 * when the first interrupt of that line comes. After that an interrupt costs one load, without a lock.
 */
#include <irq/irq.h>
#include <kernel/printk.h>

/*
 * The number of a line that fires for the first time. The line can fire only because a driver has mapped
 * and unmasked it, and this finds that mapping. 0: no number is left; the line is masked.
 */
static int noinline find_mapping(struct irq_domain *domain, unsigned hwirq)
{
	int irq = irq_create_mapping(domain->chip, hwirq, IRQ_TYPE_LEVEL);

	if (irq < 0) {
		pr_warn_once("%s: interrupt %u has no number\n", domain->chip->name, hwirq);
		domain->chip->mask(hwirq);
		return 0;
	}
	WRITE_ONCE(domain->revmap[hwirq], irq);
	return irq;
}

void generic_handle_domain_irq(struct irq_domain *domain, unsigned hwirq)
{
	int irq = READ_ONCE(domain->revmap[hwirq]);

	if (unlikely(!irq))
		irq = find_mapping(domain, hwirq);
	if (likely(irq))
		generic_handle_irq(irq);
}

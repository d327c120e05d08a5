/* From a controller's own interrupt number to ours, as interrupts come in. */
#include <irq/irq.h>
#include <kernel/printk.h>

/*
 * It can only be pending because somebody has mapped it: this finds that mapping. 0: it has none, and is
 * masked.
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

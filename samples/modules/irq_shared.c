/*
 * A second handler on an interrupt line that a driver of the kernel has, as every line can be shared. It counts and
 * leaves the work to the driver. The line is a number of /proc/interrupts; the count stands in /proc/irq_shared.
 */
#include <linux/atomic.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

MODULE_LICENSE("GPL");

static int irq = -1;
module_param(irq, int, 0444);

static atomic_t count = ATOMIC_INIT(0);

/* In the interrupt. IRQ_NONE: it was not our device; the others of the line are asked, too. */
static irqreturn_t handler(int irq, void *dev_id)
{
	atomic_inc(&count);
	return IRQ_NONE;
}

static int count_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", atomic_read(&count));
	return 0;
}

static int __init irq_shared_init(void)
{
	int err = request_irq(irq, handler, IRQF_SHARED, "irq_shared", &count);

	if (err)
		return err;
	if (proc_create_single("irq_shared", 0444, NULL, count_show))
		return 0;
	free_irq(irq, &count);
	return -ENOMEM;
}
module_init(irq_shared_init);

/* Returns when the handler runs nowhere any more. */
static void __exit irq_shared_exit(void)
{
	remove_proc_entry("irq_shared", NULL);
	free_irq(irq, &count);
}
module_exit(irq_shared_exit);

/* Two tasklets. That of the higher kind runs first, though it is scheduled last. */
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/module.h>

MODULE_LICENSE("GPL");

static void later_fn(struct tasklet_struct *t)
{
	pr_info("tasklet: later%s\n", in_softirq() ? " in a softirq" : "");
}
static DECLARE_TASKLET(later, later_fn);

/* The form of older tutorials, with a number for an argument. */
static void sooner_fn(unsigned long data)
{
	pr_info("tasklet: sooner %lu\n", data);
}
static struct tasklet_struct sooner;

static int __init print_tasklet_init(void)
{
	tasklet_init(&sooner, sooner_fn, 42);
	local_bh_disable(); /* no softirq of this CPU runs until both are scheduled */
	tasklet_schedule(&later);
	tasklet_schedule(&later); /* scheduled twice, it runs once */
	tasklet_hi_schedule(&sooner);
	local_bh_enable();
	return 0;
}
module_init(print_tasklet_init);

static void __exit print_tasklet_exit(void)
{
	tasklet_kill(&later);
	tasklet_kill(&sooner);
}
module_exit(print_tasklet_exit);

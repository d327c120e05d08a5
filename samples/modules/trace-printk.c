/* Messages into the trace, which cost far less than messages into the log: cat /sys/kernel/tracing/trace */
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/smp.h>

MODULE_LICENSE("GPL");

/* On another CPU, in an interrupt. */
static void from_interrupt(void *unused)
{
	trace_printk("(irq) a number: %d\n", 7);
}

static int __init trace_printk_init(void)
{
	char text[] = "a text that is not constant";

	trace_printk("a constant text\n");	   /* the format itself is kept, not copied */
	trace_puts("(puts) a constant text\n");
	trace_printk("%s\n", text);
	trace_printk("(%s) %d %lx %c\n", "many", -1, 0xabcUL, 'x');
	on_each_cpu(from_interrupt, NULL, true);
	return 0;
}
module_init(trace_printk_init);

static void __exit trace_printk_exit(void)
{
	trace_printk("goodbye\n");
}
module_exit(trace_printk_exit);

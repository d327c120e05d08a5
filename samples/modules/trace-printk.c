/*
 * Messages into the trace, which cost far less than messages into the log: cat /sys/kernel/tracing/trace
 *
 * Each is named for the function that takes it: what is constant is not copied, and printk_formats lists it. Linux has
 * a sample of this name; its selftests load it and look for words of these messages.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/smp.h>

MODULE_LICENSE("GPL");

/* Not constant, and so copied. */
static char text[] = "This is a text that is not constant, by trace_puts\n";
static char format[] = "This is format %d that is not constant, by trace_printk\n";
static char irq_text[] = "(irq) This is a text that is not constant, by trace_puts\n";
static char irq_format[] = "(irq) This is format %d that is not constant, by trace_printk\n";

/* In the interrupt by which one CPU calls another; on the CPU that calls, with interrupts off. */
static void trace_printk_irq_work(void *unused)
{
	trace_puts("(irq) This is a static string that will use trace_bputs\n");
	trace_puts(irq_text);
	trace_printk("(irq) This is a %s that will use trace_bprintk\n", "static string");
	trace_printk(irq_format, 2);
}

static int __init trace_printk_init(void)
{
	trace_puts("This is a static string that will use trace_bputs\n");
	trace_puts(text);
	trace_printk("This is a %s that will use trace_bprintk\n", "static string");
	trace_printk(format, 1);
	trace_printk("(%s) %d %lx %c\n", "many", -1, 0xabcUL, 'x');
	on_each_cpu(trace_printk_irq_work, NULL, true);
	return 0;
}
module_init(trace_printk_init);

static void __exit trace_printk_exit(void)
{
	trace_printk("goodbye\n");
}
module_exit(trace_printk_exit);

/* Call sites in text that stays and in init's, branches on keys of the kernel, messages, a function without probes. */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/spinlock.h>

MODULE_LICENSE("GPL");

int code_step(int a);
int code_forbidden(int a);
int code_early(int a);
static DEFINE_SPINLOCK(code_lock);

int code_step(int a)
{
	unsigned long flags;

	spin_lock_irqsave(&code_lock, flags);
	a += code_forbidden(a);
	spin_unlock_irqrestore(&code_lock, flags);
	trace_printk("code: %d\n", a);
	trace_printk("code without numbers\n");
	return a;
}

int code_forbidden(int a)
{
	preempt_disable();
	a *= 2;
	preempt_enable();
	return a;
}
NOKPROBE_SYMBOL(code_forbidden);

int __init code_early(int a)
{
	local_irq_disable();
	trace_printk("code early: %d\n", a);
	local_irq_enable();
	return code_step(a);
}

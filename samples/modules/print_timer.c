/* A timer that sets itself again, by jiffies, and one by the high-resolution clock that fires once. */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/timer.h>

MODULE_LICENSE("GPL");

static unsigned int period_ms = 20;
module_param(period_ms, uint, 0444);

static struct timer_list timer;
static struct hrtimer precise;
static unsigned int ticks; /* [the timer's function alone] */

/* In a softirq: it must not sleep. */
static void print_timer_fn(struct timer_list *t)
{
	pr_info("timer: tick %u%s\n", ++ticks, in_softirq() ? " in a softirq" : "");
	mod_timer(t, jiffies + msecs_to_jiffies(period_ms));
}

/* In the timer interrupt. */
static enum hrtimer_restart precise_fn(struct hrtimer *t)
{
	pr_info("timer: precise%s\n", in_irq() ? " in an interrupt" : "");
	return HRTIMER_NORESTART;
}

static int __init print_timer_init(void)
{
	timer_setup(&timer, print_timer_fn, 0);
	mod_timer(&timer, jiffies + msecs_to_jiffies(period_ms));
	hrtimer_init(&precise, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	precise.function = precise_fn;
	hrtimer_start(&precise, ms_to_ktime(1), HRTIMER_MODE_REL);
	return 0;
}
module_init(print_timer_init);

/* Both wait for a function that runs; the first one also ends its setting itself again. */
static void __exit print_timer_exit(void)
{
	timer_delete_sync(&timer);
	hrtimer_cancel(&precise);
}
module_exit(print_timer_exit);

/*
 * Events of a module, which are in events/sample of tracefs as long as it is loaded:
 *
 *	echo 1 > /sys/kernel/tracing/events/sample/enable
 *	echo hello > /sys/module/trace_events_sample/parameters/say
 */
#include <linux/module.h>
#include <linux/string.h>

/* Once, in one file of the module: here the code of the events is made. */
#define CREATE_TRACE_POINTS
#include "trace_events_sample.h"

MODULE_LICENSE("GPL");

static int say(const char *text, const struct kernel_param *kp)
{
	int length = strlen(text);

	trace_foo_bar(text, length);
	trace_foo_bar_with_cond(length);
	trace_sample_any(length);
	return 0;
}

static const struct kernel_param_ops say_ops = {
	.set = say,
};
module_param_cb(say, &say_ops, NULL, 0200);

static int __init sample_init(void)
{
	return say("init", NULL);
}
module_init(sample_init);

static void __exit sample_exit(void)
{
	say("exit", NULL);
}
module_exit(sample_exit);

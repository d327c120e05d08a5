/* Running the levels of initcalls, and telling of it: initcall_debug. */
#include <irq/irqflags.h>
#include <kernel/cmdline.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/preempt.h>
#include <sched/sched.h>
#include <time/clock.h>

#define CREATE_TRACE_POINTS
#include <trace/events/initcall.h>

/* ---- initcall_debug: Linux's lines, by probes of the tracepoints; on the console, where they are looked for */

static u64 called_at; /* [process 1] */

static void debug_level(void *data, const char *level)
{
	pr_info("entering initcall level: %s\n", level);
}

static void debug_start(void *data, initcall_t fn)
{
	pr_info("calling  %pS @ %i irqs_disabled() %d\n", fn, current->pid, irqs_disabled());
	called_at = sched_clock();
}

static void debug_finish(void *data, initcall_t fn, int ret)
{
	u64 took = sched_clock() - called_at;

	pr_info("initcall %pS returned %d after %llu usecs, irqs_disabled() %d\n", fn, ret,
		(unsigned long long)(took / NSEC_PER_USEC), irqs_disabled());
}

static int set_initcall_debug(const char *value)
{
	bool on = true;
	int err = *value ? kstrtobool(value, &on) : 0;

	if (err || !on)
		return err;
	err = register_trace_initcall_level(debug_level, NULL);
	if (!err)
		err = register_trace_initcall_start(debug_start, NULL);
	if (!err)
		err = register_trace_initcall_finish(debug_finish, NULL);
	return err;
}
__setup("initcall_debug", set_initcall_debug);

/* ---- The calls */

noinline int do_one_initcall(initcall_t fn)
{
	int depth = preempt_count(), ret;

	trace_initcall_start(fn);
	ret = fn();
	trace_initcall_finish(fn, ret);
	if (ret)
		pr_warn("initcall %pS failed: %s\n", fn, errno_text(-ret));
	if (preempt_count() != depth || irqs_disabled()) {
		pr_err("initcall %pS left preemption or interrupts off\n", fn);
		WARN_ON(1);
	}
	return ret;
}

void __do_initcalls(const char *level, initcall_fn *const *from, initcall_fn *const *to)
{
	trace_initcall_level(level);
	while (from < to)
		do_one_initcall(*from++);
}

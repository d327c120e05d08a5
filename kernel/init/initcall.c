/* Running the levels of initcalls, and telling of it: initcall_debug. */
#include <irq/irqflags.h>
#include <kernel/cmdline.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/list.h>
#include <lib/string.h>
#include <sched/preempt.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <time/clock.h>

#define CREATE_TRACE_POINTS
#include <trace/events/initcall.h>

/* ---- initcall_debug: Linux's lines, by probes of the tracepoints; on the console, where they are looked for */

static void debug_level(void *data, const char *level)
{
	pr_info("entering initcall level: %s\n", level);
}

static void debug_start(void *data, initcall_t fn)
{
	pr_info("calling  %pS @ %i irqs_disabled() %d\n", fn, current->pid, irqs_disabled());
}

static void debug_finish(void *data, initcall_t fn, int ret)
{
	u64 took = initcall_duration();

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

/*
 * The initcalls that run now, the newest first. At boot there is one; modules may be loaded by several tasks at a time,
 * and each of their inits is one more. A run stands on the stack of its task.
 */
struct initcall_run {
	struct list_head list;	  /* [l] */
	struct task_struct *task; /* [I] */
	u64 took;		  /* [its task] ns; 0 until it has returned */
};
static LIST_HEAD(running); /* [l] */
static DEFINE_SPINLOCK(running_lock);

/*
 * Interrupts stay as they are: if the function has left them off, do_one_initcall() is to find that. A list of one or
 * two is searched.
 */
u64 initcall_duration(void)
{
	struct initcall_run *run;
	unsigned long flags;
	u64 took = 0;

	spin_lock_irqsave(&running_lock, flags);
	list_for_each_entry(run, &running, list) {
		if (run->task == current) {
			took = run->took;
			break;
		}
	}
	spin_unlock_irqrestore(&running_lock, flags);
	return took;
}

/*
 * The clock is read behind the probes of initcall_start and before those of initcall_finish, so that the time a console
 * takes for initcall_debug's lines is not counted as the function's. The run is listed for those probes only.
 */
noinline int do_one_initcall(initcall_t fn)
{
	struct initcall_run run = {.task = current};
	bool listed = trace_initcall_finish_enabled();
	int depth = preempt_count(), ret;
	unsigned long flags;
	u64 began;

	trace_initcall_start(fn);
	if (listed) {
		spin_lock_irqsave(&running_lock, flags);
		list_add(&run.list, &running);
		spin_unlock_irqrestore(&running_lock, flags);
	}
	began = sched_clock();
	ret = fn();
	run.took = sched_clock() - began;
	trace_initcall_finish(fn, ret);
	if (listed) {
		spin_lock_irqsave(&running_lock, flags);
		list_del(&run.list);
		spin_unlock_irqrestore(&running_lock, flags);
	}
	if (ret < 0)
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

/*
 * Probes: one on the tracepoint of tracepoint_sample, which has to be loaded before, and one on a tracepoint of the
 * kernel. Probes run with preemption off, in the context of the code that passes the tracepoint.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <trace/events/sched.h>

#include "tracepoint_sample.h"

MODULE_LICENSE("GPL");

static atomic_t switches = ATOMIC_INIT(0);

static void probe_subsys_eventname(void *data, int firstarg, struct task_struct *p)
{
	pr_info("%s: firstarg %d, task %s\n", (char *)data, firstarg, p->comm);
}

/* Each switch of tasks, on any CPU: too often for a message. */
static void probe_sched_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			       unsigned int prev_state)
{
	atomic_inc(&switches);
}

static int __init probe_init(void)
{
	int err = register_trace_subsys_eventname(probe_subsys_eventname, "probe");

	if (err)
		return err;
	err = register_trace_sched_switch(probe_sched_switch, NULL);
	if (err)
		unregister_trace_subsys_eventname(probe_subsys_eventname, "probe");
	return err;
}
module_init(probe_init);

/* After the wait no CPU is inside a probe, and the module's code may go. */
static void __exit probe_exit(void)
{
	unregister_trace_sched_switch(probe_sched_switch, NULL);
	unregister_trace_subsys_eventname(probe_subsys_eventname, "probe");
	tracepoint_synchronize_unregister();
	pr_info("probe: there were %s switches\n", atomic_read(&switches) > 0 ? "some" : "no");
}
module_exit(probe_exit);

/*
 * Time off the CPU, which durations leave out while the option sleep-time is off.
 *
 * When a task comes back to a CPU, all its open calls get a later begin, by the time that it was away. So the code
 * that measures a call need not know of sleeps: end minus begin is the time that the task ran.
 *
 *     calltime  |---- ran ----|---- asleep ----|-- ran --|  return
 *     moved on by the sleep ->|----------------|
 *
 * Locks: trace_types_lock for switching it on and off. The probe runs in the scheduler with interrupts off.
 */
#include <lib/errno.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <trace/events/sched.h>

#include "fgraph_internal.h"

static bool listening; /* [trace_types_lock] the probe is registered */

/* The stack's task does not run yet, so nothing but an NMI pushes frames, and only above these. */
static void begin_later(struct fgraph_stack *stack, u64 ns)
{
	for (unsigned i = fgraph_nr_frames(stack); i-- > 0;)
		stack->frames[i].calltime += ns;
}

/*
 * `prev` leaves the CPU: note when. `next` comes back: move its calls on. Both stacks stand still here, since
 * neither task runs its own code during the switch.
 */
static void probe_sched_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			       unsigned prev_state)
{
	struct fgraph_stack *from = READ_ONCE(prev->ret_stack), *to = READ_ONCE(next->ret_stack);
	u64 now = sched_clock();

	if (from)
		from->sleeps_since = now;
	if (to && to->sleeps_since)
		begin_later(to, now - to->sleeps_since);
}

/* For fgraph_with_all_tasks: a time that was noted while we listened before means nothing now. */
static bool forget_sleep(struct task_struct *task, void *data)
{
	struct fgraph_stack *stack = READ_ONCE(task->ret_stack);

	if (stack)
		stack->sleeps_since = 0;
	return true;
}

/*
 * Stamps from an earlier time with the option off are forgotten, or a task would be moved on by all the time between.
 */
int fgraph_count_sleep(bool on)
{
	int ret = 0;

	if (on == listening)
		return 0;
	if (on) {
		fgraph_with_all_tasks(forget_sleep, NULL);
		ret = register_trace_sched_switch(probe_sched_switch, NULL);
	} else {
		unregister_trace_sched_switch(probe_sched_switch, NULL);
	}
	if (!ret)
		listening = on;
	return ret;
}

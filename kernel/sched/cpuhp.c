/*
 * CPUs that leave and come back while the machine runs: /sys/devices/system/cpu/cpuN/online.
 *
 *	down, in a thread on another CPU		up, in the task that asks
 *	  not active any more				  steps of PREPARE
 *	  steps of ONLINE, backwards			  the CPU starts and waits (smp_start_cpu)
 *	  stop the machine; on the CPU:			  stop the machine; on the CPU:
 *	    not online any more				    steps of STARTING
 *	    steps of STARTING, backwards		    online
 *	    its stopper's last works, idle, off		  active
 *	  steps of PREPARE, backwards			  steps of ONLINE
 *
 * The steps are a table to which each room adds its own (<sched/cpuhp.h>). This file knows their order alone.
 *
 * Why a CPU may do all that it has left to do within one stop: every other CPU stands in its stopper thread with
 * preemption off, so no spinlock is held elsewhere, and no text changes, no grace period ends, no ring is emptied
 * before the CPU is off. So nothing else in the kernel has to know a CPU that is neither there nor gone. In particular
 * grace periods and stops need not wait for a CPU that is not online: it executes nothing but its way in, up to a loop
 * in .noinstr.text (wait_for_admission).
 *
 * The CPU leaves from its idle task: the stopper thread has to be at rest for the day when the CPU comes back.
 */
#include <arch/processor.h>
#include <arch/smp.h>
#include <irq/irqflags.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <sched/cpuhp.h>
#include <sched/mutex.h>
#include <sched/wait.h>

#include "sched.h"

#define CREATE_TRACE_POINTS
#include <trace/events/cpuhp.h>

DECLARE_TABLE(cpuhp, const struct cpuhp_step);

/* Held while a CPU comes or goes. Outside of every other lock: the steps take those of their rooms. */
static DEFINE_MUTEX(cpu_hotplug_mutex);

/* ---- Steps. [cpu_hotplug_mutex] */

/* How many steps there are of all stages up to this one; the states of a CPU are numbered so. */
static int steps_up_to(enum cpuhp_stage stage)
{
	const struct cpuhp_step *step;
	int n = 0;

	for_each_in_table(cpuhp, step)
		n += step->stage <= stage;
	return n;
}

/* Step `idx`, from 1 on, in the order of the way up. */
static const struct cpuhp_step *find_step(int idx)
{
	const struct cpuhp_step *step;

	for (int stage = 0; stage < CPUHP_STAGES; stage++)
		for_each_in_table(cpuhp, step)
			if (step->stage == (enum cpuhp_stage)stage && !--idx)
				return step;
	return NULL;
}

/* Make one half of step `idx`, for a CPU that is on its way to `target`. 0 or what it returns. */
static int make_step(unsigned cpu, int idx, int target)
{
	const struct cpuhp_step *step = find_step(idx);
	bool up = target >= idx;
	int (*fn)(unsigned) = up ? step->up : step->down;
	int ret;

	if (!fn)
		return 0;
	trace_cpuhp_enter(cpu, target, idx, fn);
	ret = fn(cpu);
	trace_cpuhp_exit(cpu, up == !ret ? idx : idx - 1, idx, ret);
	return ret;
}

/*
 * The steps from `from` to `to`, upwards or downwards. Returns 0, or the number of the first step that fails, with its
 * error in *ret.
 */
static int cpuhp_make_steps(unsigned cpu, int from, int to, int target, int *ret)
{
	int by = from <= to ? 1 : -1;

	for (int idx = from; idx != to + by; idx += by) {
		*ret = make_step(cpu, idx, target);
		if (*ret)
			return idx;
	}
	return 0;
}

/* The same for a whole stage that cannot fail. */
static void cpuhp_make_stage(unsigned cpu, enum cpuhp_stage stage, bool up)
{
	int first = stage ? steps_up_to(stage - 1) + 1 : 1, last = steps_up_to(stage), ret;

	if (last < first)
		return;
	if (up)
		WARN_ON(cpuhp_make_steps(cpu, first, last, steps_up_to(CPUHP_ONLINE), &ret));
	else
		WARN_ON(cpuhp_make_steps(cpu, last, first, 0, &ret));
}

void cpuhp_starting(unsigned cpu)
{
	cpuhp_make_stage(cpu, CPUHP_STARTING, true);
}

/* ---- Down */

/* On the CPU, in its stopper, interrupts off, while all others stand still. From here on it is not online. */
static void take_cpu_down(unsigned cpu)
{
	__atomic_fetch_and(&cpu_online_mask.bits[cpu / 64], ~BIT(cpu % 64), __ATOMIC_SEQ_CST);
	cpuhp_make_stage(cpu, CPUHP_STARTING, false);
}

/*
 * The idle task gives up the address space that it has borrowed: the CPU holds no tables that are not the kernel's, and
 * whoever frees that space need not know of this CPU.
 */
static void idle_task_exit(void)
{
	struct mm_struct *mm = current->active_mm;

	if (!mm || mm == &init_mm)
		return;
	switch_mm(mm, &init_mm);
	current->active_mm = NULL;
	mmdrop(mm);
}

/*
 * The end of a CPU. The tracers are told that nobody waits for this section with interrupts off. From
 * stop_machine_left() on the others go on as soon as the CPU is off, so nothing after it may be traced.
 */
notrace void cpuhp_idle_dead(void)
{
	local_irq_disable();
	idle_task_exit();
	sched_cpu_dead();
	stop_critical_timings();
	stop_machine_left();
	arch_cpu_die();
}

/* The steps of ONLINE, backwards. When one refuses, those that were made are undone, and the CPU stays. 0 or -errno. */
static int leave_online(unsigned cpu)
{
	int first = steps_up_to(CPUHP_STARTING) + 1, last = steps_up_to(CPUHP_ONLINE), ret = 0, failed;

	cpumask_clear_cpu(cpu, &cpu_active_mask);
	failed = cpuhp_make_steps(cpu, last, first, 0, &ret);
	if (!failed)
		return 0;
	cpumask_set_cpu(cpu, &cpu_active_mask);
	if (failed < last)
		WARN_ON(cpuhp_make_steps(cpu, failed + 1, last, last, &(int){0}));
	return ret;
}

/* One way down, in a thread of its own. */
struct way_down {
	unsigned cpu;
	int ret;
	struct completion done;
};

static int cpuhp_thread(void *data)
{
	struct way_down *way = data;

	way->ret = leave_online(way->cpu);
	if (!way->ret) {
		stop_machine_without(way->cpu, take_cpu_down);
		cpuhp_make_stage(way->cpu, CPUHP_PREPARE, false);
		pr_info("smp: CPU%u is now offline\n", way->cpu);
	}
	kthread_complete_and_exit(&way->done, 0);
}

/*
 * The task that asks may be bound to the CPU that is to go, so a thread on another CPU does the work. 0 or -errno.
 * [cpu_hotplug_mutex]
 */
static int take_down(unsigned cpu)
{
	struct way_down way = {.cpu = cpu};
	unsigned other = cpumask_first(&cpu_online_mask);
	struct task_struct *t;

	if (other == cpu)
		other = cpumask_next(cpu + 1, &cpu_online_mask);
	if (other >= nr_cpu_ids)
		return -EBUSY;
	init_completion(&way.done);
	t = kthread_create_on_cpu(cpuhp_thread, &way, other, "cpuhp/%u", cpu);
	if (IS_ERR(t))
		return PTR_ERR(t);
	wake_up_process(t);
	wait_for_completion(&way.done);
	return way.ret;
}

int cpu_down(unsigned cpu)
{
	int ret = 0;

	if (cpu >= nr_cpu_ids || !cpu_can_leave(cpu))
		return -EPERM;
	mutex_lock(&cpu_hotplug_mutex);
	if (cpu_online(cpu))
		ret = take_down(cpu);
	mutex_unlock(&cpu_hotplug_mutex);
	return ret;
}

/* ---- Up */

/* 0, or -errno and all is as before. [cpu_hotplug_mutex] */
static int bring_up(unsigned cpu)
{
	int last = steps_up_to(CPUHP_PREPARE), ret = 0, failed, undone;

	failed = cpuhp_make_steps(cpu, 1, last, steps_up_to(CPUHP_ONLINE), &ret);
	if (!failed)
		ret = smp_start_cpu(cpu);
	if (ret) {
		undone = failed ? failed - 1 : last;
		if (undone)
			WARN_ON(cpuhp_make_steps(cpu, undone, 1, 0, &(int){0}));
		return ret;
	}
	cpumask_set_cpu(cpu, &cpu_active_mask);
	cpuhp_make_stage(cpu, CPUHP_ONLINE, true);
	pr_info("smp: CPU%u is online\n", cpu);
	return 0;
}

int cpu_up(unsigned cpu)
{
	int ret = 0;

	if (cpu >= nr_cpu_ids)
		return -EPERM;
	mutex_lock(&cpu_hotplug_mutex);
	if (!cpu_online(cpu))
		ret = bring_up(cpu);
	mutex_unlock(&cpu_hotplug_mutex);
	return ret;
}

bool cpu_can_leave(unsigned cpu)
{
	return arch_cpu_can_leave(cpu);
}

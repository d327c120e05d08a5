/*
 * CPUs that leave and come back while the machine runs (kernel/sched/cpuhp.c; docs/locking.md, "Which CPUs are there").
 *
 * A room that keeps something for each CPU registers one struct with what it does when a CPU comes and when it goes:
 *
 *	static const struct cpuhp_step pages_step = {
 *		.name = "mm:pages", .stage = CPUHP_PREPARE, .down = pages_cpu_dead};
 *	REGISTER_CPUHP(pages_step);
 *
 * WHO MAY LOOK AT THE SETS OF CPUS
 *
 * cpu_online_mask changes only while all CPUs are stopped (stop_machine): a CPU joins at the end of its way up, and
 * leaves with all that it still had to do. So
 *
 *  - code that has preemption off sees a set that does not change until it has preemption on again. What it asks of a
 *    CPU of the set (an interrupt, a call, a task on its queue) is done;
 *  - code that may be preempted may look, too, but a CPU that it found may be gone by the next line. What it calls must
 *    bear that: smp_call_function_single() and stop_one_cpu() return an error then;
 *  - code that holds stop_machine_mutex sees the set as it is: whoever changes it must stop the machine for that.
 *
 * Code that makes something lasting for each CPU (a thread, a timer) under a mutex of its own looks at cpu_active_mask
 * instead, under that mutex, and its step for the stage ONLINE takes the same mutex. A CPU leaves that set before the
 * steps of ONLINE are told that it goes, and is in it before they are told that it has come. So either the step finds
 * what was made and takes it away, or the maker does not see the CPU; and the other way round on the way up, where the
 * step must bear that the thing is there already. No lock is needed around all such walks, and so no order of locks
 * either. Both sets may be read at any time; whether a CPU comes or goes is decided under one mutex, cpu_hotplug_mutex.
 */
#pragma once

#include <lib/types.h>

/*
 * On the way up the stages come in this order and the steps of each in the order of the table; on the way down all is
 * reversed. `up` and `down` may be NULL. PREPARE and ONLINE run in a thread on another CPU and may sleep.
 *
 *	PREPARE		up: before the CPU starts; 0, or -errno, and then the earlier steps are undone
 *			down: the CPU is gone; 0
 *	STARTING	up: on the CPU, before it is online; 0
 *			down: on the CPU, which is not online any more; 0
 *	ONLINE		up: the CPU runs tasks; 0
 *			down: it still does; 0, or -errno if it may not go, and then the CPU stays and `up` of the
 *			later steps is called
 *
 * In STARTING interrupts are off and all other CPUs stand still: so no spinlock is held by anybody else.
 */
enum cpuhp_stage { CPUHP_PREPARE, CPUHP_STARTING, CPUHP_ONLINE, CPUHP_STAGES };

struct cpuhp_step {
	const char *name; /* "room:what" */
	enum cpuhp_stage stage;
	int (*up)(unsigned cpu);
	int (*down)(unsigned cpu);
};
#define REGISTER_CPUHP(step) REGISTER_IN(cpuhp, step)

/*
 * Bring a CPU up, or take it down; 0 also when it is so already. Up: -ENOMEM or an error of smp_start_cpu(). Down:
 * -EBUSY (it is the last one, or deadline tasks need it), -ENOMEM. -EPERM: it cannot go (cpu_can_leave). Context: a
 * task that may sleep and holds no lock.
 */
int cpu_up(unsigned cpu);
int cpu_down(unsigned cpu);
/* Has this machine a way to stop the CPU and to start it again? Never changes. Any context. */
bool cpu_can_leave(unsigned cpu);

/* ---- For the CPU itself, on its way */

void cpuhp_starting(unsigned cpu);     /* the steps of STARTING, up. From secondary_start_kernel() */
void cpuhp_idle_dead(void) __noreturn; /* the idle task of a CPU that is not online any more: its end */

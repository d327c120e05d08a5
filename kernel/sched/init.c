/*
 * The scheduler's beginning: runqueues and idle tasks. Also numbers about tasks and CPUs for /proc: sums over all CPUs,
 * read without a lock, so that each summand is from another moment.
 */
#include "sched.h"

#include <kernel/export.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <lib/printf.h>

/* The CPU is there from now on. Readers add up what is counted here, so they must not see it half counted. */
static void count_from_now(struct rq *rq)
{
	unsigned long flags;

	rq_lock_irqsave(rq->cpu, &flags);
	rq->idle_since = sched_clock();
	if (rq->offline_since)
		rq->offline_ns += rq->idle_since - rq->offline_since;
	rq->offline_since = 0;
	rq_unlock_irqrestore(rq, flags);
}

/*
 * `idle` becomes the current task of `cpu` without having been switched to: for the boot CPU it is the code that runs
 * now, for another CPU the code with which it will begin. It never leaves its CPU, and it is never preempted except by
 * its own call of schedule_idle(): its preempt_count stays at 1. It is on no queue (on_rq 0), but it runs (on_cpu 1).
 */
void init_idle(struct task_struct *idle, int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	idle->flags |= PF_IDLE | PF_KTHREAD | PF_NO_SETAFFINITY;
	idle->policy = SCHED_NORMAL;
	idle->prio = idle->static_prio = idle->normal_prio = DEFAULT_PRIO;
	idle->rt_priority = 0;
	idle->sched_class = &idle_sched_class;
	idle->state = TASK_RUNNING;
	idle->cpu = cpu;
	memset(idle->cpus_mask, 0, sizeof(idle->cpus_mask));
	set_bit(cpu, idle->cpus_mask);
	idle->nr_cpus_allowed = 1;
	idle->preempt_count = PREEMPT_OFFSET;
	idle->on_cpu = 1;
	idle->on_rq = 0;
	idle->thread_flags &= ~(_TIF_NEED_RESCHED | _TIF_POLLING_NRFLAG);
	spin_lock_init(&idle->pi_lock);
	snprintf(idle->comm, sizeof(idle->comm), "swapper/%d", cpu);
	rq->curr = rq->idle = idle;
	count_from_now(rq);
	rq->online = true;
	rq->pulls = nr_cpu_ids > 1;
}

/* Only at boot, before another CPU can look at the runqueue. */
static void init_rq(struct rq *rq, int cpu)
{
	memset(rq, 0, sizeof(*rq));
	spin_lock_init(&rq->lock);
	rq->cpu = cpu;
	init_cfs_rq(&rq->cfs);
	init_dl_rq(&rq->dl);
	init_rt_rq(&rq->rt);
}

/*
 * Runqueues of all CPUs that there can be, so that a CPU that starts later finds its own. The boot CPU's code so far
 * becomes its idle task, which is also the first task (init_task).
 */
void sched_init(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu)
		init_rq(cpu_rq(cpu), cpu);
	init_idle(&init_task, smp_processor_id());
	/* The first tasks inherit this: any CPU, also one that is not online yet. */
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		set_bit(cpu, init_task.cpus_mask);
	init_task.nr_cpus_allowed = NR_CPUS;
	set_load_weight(&init_task);
	balance_init();
}

struct task_struct *idle_task(int cpu)
{
	return cpu_rq(cpu)->idle;
}

struct task_struct *curr_task(int cpu)
{
	return READ_ONCE(cpu_rq(cpu)->curr);
}

/* Tasks that run or wait for a CPU, without the idle tasks. */
unsigned long nr_running(void)
{
	unsigned long sum = 0;
	unsigned cpu;

	for_each_online_cpu(cpu)
		sum += READ_ONCE(cpu_rq(cpu)->nr_running);
	return sum;
}

u64 nr_context_switches(void)
{
	u64 sum = 0;
	unsigned cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(cpu_rq(cpu)->nr_switches);
	return sum;
}

/*
 * A task may be counted on the CPU where it went to sleep and subtracted on the one that wakes it. So a single CPU's
 * number may be negative, and only the sum means something. While it is read, tasks change, so even the sum may be
 * below zero for a moment.
 */
long nr_uninterruptible(void)
{
	long sum = 0;
	unsigned cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(cpu_rq(cpu)->nr_uninterruptible);
	return max(sum, 0L);
}

int task_nice(const struct task_struct *p)
{
	return p->static_prio - DEFAULT_PRIO;
}
EXPORT_SYMBOL(task_nice);

/*
 * The letters of /proc/PID/stat and of the trace, in Linux's order: running, sleeping, disk sleep (uninterruptible),
 * stopped, traced, dead, zombie, parked, idle.
 */
char task_index_to_char(unsigned index)
{
	static const char letters[] = "RSDTtXZPI";

	return index < sizeof(letters) - 1 ? letters[index] : '?';
}

char task_state_to_char(const struct task_struct *p)
{
	unsigned exit = READ_ONCE(p->exit_state);

	return task_index_to_char(task_state_index(exit ? exit : READ_ONCE(p->state)));
}
EXPORT_SYMBOL(task_state_to_char);

/*
 * The scheduler's insides: runqueues, the class interface, runqueue locks. Only for kernel/sched.
 *
 * Lock order: p->pi_lock, then runqueue locks, two of these in order of address. All are taken with interrupts off. A
 * task's `cpu` changes only with its runqueue locked (the old and the new one, when it is queued); or, while it is
 * neither queued nor running, with pi_lock held by its waker. So either lock keeps a task on its CPU.
 */
#pragma once

#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/atomic.h>
#include <sched/sched.h>
#include <sched/spinlock_slow.h>
#include <time/clock.h>
#include <trace/tracepoint.h>

#include "deadline/deadline_math.h"

/* Flags of enqueue and dequeue. Without SLEEP/WAKEUP the task only changes queue or parameters. */
#define DEQUEUE_SLEEP	 0x01
#define ENQUEUE_WAKEUP	 0x01
#define ENQUEUE_MIGRATED 0x02 /* woken on another CPU than it slept on */
#define ENQUEUE_INITIAL	 0x04 /* the first time after fork */
#define ENQUEUE_HEAD	 0x08 /* in front of its equals */
#define ENQUEUE_CHANGED	 0x10 /* with another policy or other parameters than before */

/* Why a task is placed on a CPU. */
#define WF_FORK 0x01
#define WF_TTWU 0x02

/* preempt_count of a task that was switched out, and so of a new one: __schedule's own and the runqueue lock. */
#define SCHED_SWITCH_PREEMPT_COUNT 2

/* Fair class. Locks: r runqueue lock. */
struct cfs_rq {
	struct rb_root_cached timeline; /* [r] queued entities by vruntime, without the running one */
	u64 min_vruntime;		/* [r writes] never goes back; where newcomers are placed */
	unsigned long load;		/* [r] sum of weights, the running one's too */
	unsigned nr_running;		/* [r] the running one too */
	struct sched_entity *curr;	/* [r] running entity of this class or NULL */
	struct sched_entity *skip;	/* [r] it yielded: pass it over once */
};

/*
 * Real-time class: a list for each priority, and a bit for each list that is not empty. The running task stays on its
 * list.
 */
struct rt_rq {
	unsigned long bitmap[2];	     /* [r] */
	struct list_head queue[MAX_RT_PRIO]; /* [r] */
	unsigned nr_running;		     /* [r] */
	unsigned nr_migratory;		     /* [r] those that may run elsewhere */
};

/* Deadline class: by deadline, the running task too. A throttled task is not here, and not in rq->nr_running. */
struct dl_rq {
	unsigned nr_running;	     /* [r] */
	unsigned nr_migratory;	     /* [r] those that may run elsewhere */
	u64 earliest;		     /* [r writes] the first deadline, DL_NONE */
	struct rb_root_cached tasks; /* [r] */
	struct hrtimer budget;	     /* on its CPU: the running task has used its budget up */
};
#define DL_NONE U64_MAX /* later than every deadline: these stay below 2^63 */

/* Locks: r lock; c the owning CPU, interrupts off; I immutable after boot. */
struct rq {
	spinlock_t lock;
	unsigned nr_running;	   /* [r] runnable tasks of all classes but idle, counted by enqueue and dequeue */
	struct task_struct *curr;  /* [r writes] */
	struct task_struct *idle;  /* [I] */
	struct task_struct *stop;  /* [I] stopper thread */
	struct mm_struct *prev_mm; /* [c] borrowed address space to drop after the switch */
	u64 clock;		   /* [r] sched_clock at the last update_rq_clock, ns */
	u64 nr_switches;	   /* [r] */
	long nr_uninterruptible;   /* [r] may be negative: only the sum over CPUs means something */
	int cpu;		   /* [I] */
	unsigned balance_ticks;	   /* [c] ticks since the last periodic balancing */
	u64 idle_ns;		   /* [r] time in idle up to idle_since */
	u64 idle_since;		   /* [r] */
	u64 offline_ns;		   /* [r] time for which the CPU was not there, up to offline_since */
	u64 offline_since;	   /* [r] 0: it is there */
	bool online;		   /* [c] this CPU's idle task goes on; false: it ends the CPU */
	bool pulls;		   /* [c] tasks of other CPUs may come here. False: there are none, or this CPU goes */
	u64 user_ns, system_ns;	   /* [c] by ticks */
	struct cfs_rq cfs;
	struct dl_rq dl;
	struct rt_rq rt;
};
DECLARE_PER_CPU(struct rq, runqueues);
#define cpu_rq(cpu) per_cpu_ptr(&runqueues, cpu)
#define this_rq()   this_cpu_ptr(&runqueues)
#define task_rq(p)  cpu_rq(READ_ONCE((p)->cpu))

extern struct cpumask idle_cpus_mask;	  /* CPUs that run their idle task [a: a hint] */
extern struct cpumask rt_overloaded_mask; /* CPUs with a movable real-time task that waits [a: a hint] */
extern struct cpumask dl_overloaded_mask; /* the same with deadline tasks */

/*
 * One family of scheduling policies. Classes are linked in order of precedence, highest first; no code depends on their
 * number. Every operation runs with the runqueue locked unless it says otherwise.
 */
struct sched_class {
	const struct sched_class *next;
	void (*enqueue_task)(struct rq *rq, struct task_struct *p, int flags);
	void (*dequeue_task)(struct rq *rq, struct task_struct *p, int flags);
	void (*yield_task)(struct rq *rq);
	/* p of this class became runnable while another of this class runs: resched_curr if it is to run first. */
	void (*wakeup_preempt)(struct rq *rq, struct task_struct *p);
	/* The class's next task, made current by set_next_task; NULL: none. */
	struct task_struct *(*pick_next_task)(struct rq *rq);
	void (*put_prev_task)(struct rq *rq, struct task_struct *p);
	void (*set_next_task)(struct rq *rq, struct task_struct *p);
	/* A CPU for a task that wakes up [pi_lock]; the caller sees to affinity. */
	int (*select_task_rq)(struct task_struct *p, int cpu, int flags);
	void (*migrate_task_rq)(struct task_struct *p,
				int new_cpu); /* not queued, about to change CPU [pi_lock]; or NULL */
	void (*task_tick)(struct rq *rq, struct task_struct *p);
	void (*update_curr)(struct rq *rq); /* account the running task up to rq->clock */
	/*
	 * A task changes class. The old class is told when the task has left its queue, the new one when it is on the
	 * new queue. A class that need not know has NULL.
	 */
	void (*switched_from)(struct rq *rq, struct task_struct *p);
	void (*switched_to)(struct rq *rq, struct task_struct *p);
	u64 (*get_rr_interval)(struct rq *rq, struct task_struct *p); /* ns */
};
extern const struct sched_class stop_sched_class, dl_sched_class, rt_sched_class, fair_sched_class, idle_sched_class;
#define sched_class_highest (&stop_sched_class)
#define for_each_class(c)   for ((c) = sched_class_highest; (c); (c) = (c)->next)

/* Is `a` strictly above `b`? Classes are few: walk down from a. */
static inline bool sched_class_above(const struct sched_class *a, const struct sched_class *b)
{
	for (a = a->next; a; a = a->next)
		if (a == b)
			return true;
	return false;
}

/* The runqueue lock, inline: it is taken on every switch. Interrupts must be off. */
static inline void rq_lock(struct rq *rq)
{
	preempt_count_add(PREEMPT_OFFSET);
	spin_lock_contended(&rq->lock);
}
static inline void rq_unlock(struct rq *rq)
{
	arch_spin_unlock(&rq->lock);
	preempt_count_sub(PREEMPT_OFFSET);
}
static inline struct rq *rq_lock_irqsave(int cpu, unsigned long *flags)
{
	struct rq *rq = cpu_rq(cpu);

	local_irq_save(*flags);
	rq_lock(rq);
	return rq;
}
static inline void rq_unlock_irqrestore(struct rq *rq, unsigned long flags)
{
	rq_unlock(rq);
	local_irq_restore(flags);
	/* A wake-up under the lock may have asked for this task's CPU. */
	if (unlikely(need_resched()) && !preempt_count() && !irqs_disabled_flags(flags))
		preempt_schedule();
}
void double_rq_lock(struct rq *a, struct rq *b); /* interrupts off */
void double_rq_unlock(struct rq *a, struct rq *b);
/*
 * With `here` locked lock `other` too. To keep the order of addresses `here` may have to be unlocked for a moment: then
 * this returns true, and all that was read from it must be read again.
 */
bool double_lock_balance(struct rq *here, struct rq *other);
/* p's runqueue, locked, with p->pi_lock taken first; p stays on it. */
struct rq *task_rq_lock(struct task_struct *p, unsigned long *flags);
void task_rq_unlock(struct rq *rq, struct task_struct *p, unsigned long flags);
struct rq *__task_rq_lock(struct task_struct *p); /* pi_lock is held already */

static inline void update_rq_clock(struct rq *rq)
{
	rq->clock = sched_clock();
}
static inline bool task_current(const struct rq *rq, const struct task_struct *p)
{
	return rq->curr == p;
}
static inline bool task_allowed(const struct task_struct *p, int cpu)
{
	return test_bit(cpu, p->cpus_mask);
}
static inline bool idle_cpu(int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	return READ_ONCE(rq->curr) == rq->idle && !READ_ONCE(rq->nr_running);
}
/*
 * Does the CPU run its stopper, or will it at once? Not by rq->curr: that is still the stopper when it has left the
 * queue and its CPU has looked for tasks to pull.
 */
static inline bool stopper_queued(const struct rq *rq)
{
	return rq->stop && READ_ONCE(rq->stop->on_rq);
}
/* Real time or above. */
static inline bool rt_prio(int prio)
{
	return prio < MAX_RT_PRIO;
}
static inline bool dl_prio(int prio)
{
	return prio < MAX_DL_PRIO;
}
static inline bool dl_task(const struct task_struct *p)
{
	return dl_prio(p->prio);
}

/* core.c */
static inline void enqueue_task(struct rq *rq, struct task_struct *p, int flags)
{
	p->sched_class->enqueue_task(rq, p, flags);
}
static inline void dequeue_task(struct rq *rq, struct task_struct *p, int flags)
{
	p->sched_class->dequeue_task(rq, p, flags);
}
/* Make p runnable on rq. Context: rq locked, its clock updated. */
static inline void activate_task(struct rq *rq, struct task_struct *p, int flags)
{
	enqueue_task(rq, p, flags);
	WRITE_ONCE(p->on_rq, 1);
}
/* Make rq's CPU look for its next task soon: by an interrupt if need be. Context: rq locked. */
void resched_curr(struct rq *rq);
/* p has become runnable on rq: must the running task give way? Context: rq locked, its clock updated. */
static inline void wakeup_preempt(struct rq *rq, struct task_struct *p)
{
	const struct sched_class *running = rq->curr->sched_class;

	if (p->sched_class == running)
		running->wakeup_preempt(rq, p);
	else if (sched_class_above(p->sched_class, running) && (!dl_task(p) || p->dl.queued)) /* not one throttled */
		resched_curr(rq);
}
static inline void put_prev_task(struct rq *rq, struct task_struct *p)
{
	p->sched_class->put_prev_task(rq, p);
}
static inline void set_next_task(struct rq *rq, struct task_struct *p)
{
	p->sched_class->set_next_task(rq, p);
}

/* stat.c: only while the key is on; rq locked, its clock updated. */
extern struct static_key sched_stat_key;
/* prev leaves the CPU (it goes to sleep if it is not on_rq any more), and next comes. */
void sched_stat_switch(struct rq *rq, struct task_struct *prev, struct task_struct *next, unsigned prev_state);
void sched_stat_wake(struct rq *rq, struct task_struct *p);   /* it sleeps no longer: it waits */
void sched_stat_queued(struct rq *rq, struct task_struct *p); /* it waits from now on, and did not sleep */

/* migrate.c */
void set_task_cpu(struct task_struct *p, int cpu);
void __set_task_cpu(struct task_struct *p, int cpu);
void move_queued_task(struct rq *from, struct task_struct *p, struct rq *to); /* both locked; p queued, not running */
int select_fallback_rq(struct task_struct *p);
/*
 * A CPU for p, which was last on `cpu`: one that is online and allowed. A CPU that has left looks idle to the classes,
 * so this one takes its place. [pi_lock]
 */
static inline int select_task_rq(struct task_struct *p, int cpu, int flags)
{
	if (unlikely(!cpu_online(cpu)))
		cpu = smp_processor_id();
	if (p->nr_cpus_allowed > 1 && nr_cpu_ids > 1)
		cpu = p->sched_class->select_task_rq(p, cpu, flags);
	if (unlikely(!task_allowed(p, cpu) || !cpu_online(cpu)))
		cpu = select_fallback_rq(p);
	return cpu;
}

/* fair.c and fair_math.c */
extern const int sched_prio_to_weight[40];
void set_load_weight(struct task_struct *p);
u64 scale_by_weight(u64 delta, const struct sched_entity *se); /* calc_delta_fair for the other nice levels */
u64 sched_slice(const struct cfs_rq *cfs, const struct sched_entity *se);
/* The virtual time of a new entity: a slice behind the others, so that forking gains nothing. */
u64 place_new(const struct cfs_rq *cfs, const struct sched_entity *se);
#define sched_latency_ns	 (6 * NSEC_PER_MSEC)
#define sched_min_granularity_ns (750 * NSEC_PER_USEC)
#define sched_wakeup_gran_ns	 (1 * NSEC_PER_MSEC)
#define NICE_0_LOAD		 1024UL
#define WEIGHT_IDLEPRIO		 3UL

/* Real ns to virtual ns: delta * 1024 / weight. */
static inline u64 calc_delta_fair(u64 delta, const struct sched_entity *se)
{
	return likely(se->weight == NICE_0_LOAD) ? delta : scale_by_weight(delta, se);
}
/* Differences, not values: the counters may wrap. */
static inline bool entity_before(const struct sched_entity *a, const struct sched_entity *b)
{
	return (s64)(a->vruntime - b->vruntime) < 0;
}
/*
 * The virtual time of a sleeper that wakes: at most half a latency before the others. So it preempts soon, but cannot
 * save up the time that it slept.
 */
static inline u64 place_sleeper(const struct cfs_rq *cfs, const struct sched_entity *se)
{
	u64 v = cfs->min_vruntime - sched_latency_ns / 2;

	return (s64)(se->vruntime - v) > 0 ? se->vruntime : v;
}
/* The next fair task, prev put back first; NULL: there is none here. rq locked. init: boot, each CPU's. */
struct task_struct *pick_next_task_fair(struct rq *rq, struct task_struct *prev);
void init_cfs_rq(struct cfs_rq *cfs);
/* A queued task that may run on `cpu` and weighs less than `max_weight`; NULL. Looks at a bounded number. */
struct task_struct *fair_migratable(struct rq *rq, int cpu, unsigned long max_weight);

/* rt.c, rt_balance.c */
#define RR_TIMESLICE_NS (100 * NSEC_PER_MSEC)
void init_rt_rq(struct rt_rq *rt);	 /* boot */
void update_rt_overload(struct rq *rq);	 /* tell other CPUs whether a task can be pulled from here. rq locked */
void update_curr_common(struct rq *rq);	 /* charge the running task up to rq->clock. rq locked */
bool rt_task_waits(const struct rq *rq); /* one that may move waits behind another or behind a deadline task */
void pull_rt_task(struct rq *rq);	 /* rq locked, may be dropped */
void push_rt_tasks(struct rq *rq);	 /* not locked, interrupts off */
int select_task_rq_rt(struct task_struct *p, int cpu, int flags);

/* deadline.c */
void init_dl_rq(struct dl_rq *dl);
void init_dl_entity(struct sched_dl_entity *dl);
void dl_task_dead(struct task_struct *p); /* after its last switch, nothing locked */

/* deadline_balance.c */
void update_dl_overload(struct rq *rq);
void pull_dl_task(struct rq *rq);  /* rq locked, may be dropped */
void push_dl_tasks(struct rq *rq); /* not locked, interrupts off */
int select_task_rq_dl(struct task_struct *p, int cpu, int flags);
/* This CPU will run something less important: take tasks that wait elsewhere. rq locked, may be dropped. */
void pull_tasks(struct rq *rq);
/* After something of a higher class than fair was put on rq, which is not locked; interrupts off. */
static inline void push_tasks(struct rq *rq)
{
	if (likely(READ_ONCE(rq->dl.nr_running) + READ_ONCE(rq->rt.nr_running) <= 1))
		return;
	push_dl_tasks(rq);
	push_rt_tasks(rq);
}

/* cpuhp.c, idle.c: the idle task of a CPU that is not online any more; interrupts off */
void sched_cpu_dead(void);

/* balance.c */
bool newidle_balance(struct rq *rq); /* rq locked, may be dropped; is there something to run now? */
void trigger_load_balance(struct rq *rq);
int select_task_rq_fair(struct task_struct *p, int cpu, int flags);
void balance_init(void);

/* loadavg.c, cputime.c */
void calc_global_load(u64 now);
bool account_process_tick(struct rq *rq, struct task_struct *p, u64 delta);
/* The tick looks for a task that keeps this CPU with preemption off (softlockup.c). Interrupts off. */
void check_soft_lockup(const struct rq *rq, bool user);
/*
 * rcu.c: around what makes every CPU but the caller's switch to another thread, and so is a grace period.
 * Thread context; the caller is preemptible when it calls the first.
 */
u64 rcu_gp_begin(void); /* its number */
void rcu_gp_end(u64 number);
/* policy.c */
long nr_uninterruptible(void);
/* Which parameters are not given but stay as the task has them. KEEP_POLICY and KEEP_PARAMS: only nice changes. */
#define SCHED_KEEP_POLICY 0x01 /* and reset_on_fork */
#define SCHED_KEEP_PARAMS 0x02 /* priority and deadline parameters */
#define SCHED_KEEP_NICE	  0x04
struct sched_params {
	int policy;
	int nice; /* -20..19 */
	unsigned rt_priority;
	bool reset_on_fork;
	struct dl_params dl;
	u32 dl_flags;
	unsigned keep; /* SCHED_KEEP_* */
	/* May p be changed to sp, which is complete by now? 0 or -errno; NULL: yes. Context: pi_lock and runqueue. */
	int (*permit)(const struct task_struct *p, const struct sched_params *sp);
};
/*
 * Make the change; all that it depends on in p is read under the locks under which it is made. Completes sp. 0;
 * -EINVAL, -EBUSY (no bandwidth left), -ESRCH, -EPERM or what `permit` returns. Thread context.
 */
int __sched_setscheduler(struct task_struct *p, struct sched_params *sp);
/* deadline_bw.c: admission. -errno; all but dl_release with pi_lock and p's runqueue locked. */
bool dl_params_allowed(const struct dl_params *dl); /* as they are, whether or not they fit; nothing locked */
int dl_admit(struct task_struct *p, const struct sched_params *sp); /* counts p as sp has it, or -EBUSY, -EPERM */
bool dl_affinity_allowed(const struct task_struct *p, const struct cpumask *mask);
void dl_release(struct task_struct *p); /* p no longer counts; p is dead or pi_lock held */
u64 dl_total_bw(void);

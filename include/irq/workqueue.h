/*
 * Work for later in thread context: a list of works and a worker thread. The kernel's own works go to a pool for each
 * CPU (kworker/N:0); alloc_workqueue() makes a pool with a thread of its own, for a user that must be able to wait for
 * all of its works, or must not wait for those of others.
 *
 * The works of one pool run one after the other. So a work must not wait for one that may be queued behind it.
 */
#pragma once

#include <lib/atomic.h>
#include <lib/list.h>
#include <time/clock.h>
#include <time/hrtimer.h>

struct work_struct;
struct workqueue_struct;
typedef void (*work_func_t)(struct work_struct *work);

/* What is to happen to a work. */
enum work_state {
	WORK_IDLE,
	WORK_QUEUED,  /* from queueing until just before it runs: queueing again then is a no-op */
	WORK_DELAYED, /* of a delayed work: its timer is set */
};
/* Locks: p the pool's lock; a atomic. */
struct work_struct {
	struct list_head entry; /* [p] */
	work_func_t func;
	unsigned state;	   /* [a] enum work_state */
	atomic_t canceled; /* [a] how many tasks wait for its end; while there are any it cannot be queued */
	int pool;	   /* [p] number of the pool that it was queued in last; below NR_CPUS, a CPU's. -1: never */
};
struct delayed_work {
	struct work_struct work;
	struct hrtimer timer;
	struct workqueue_struct *wq; /* [by the one that has made it WORK_DELAYED] NULL: the CPU's pool */
};
#define __WORK_INIT(n, f)                                                     \
	{                                                                     \
		LIST_HEAD_INIT((n).entry), (f), WORK_IDLE, ATOMIC_INIT(0), -1 \
	}
#define INIT_WORK(w, f)	   (*(w) = (struct work_struct)__WORK_INIT(*(w), f))
#define DECLARE_WORK(n, f) struct work_struct n = __WORK_INIT(n, f)
#define DECLARE_DELAYED_WORK(n, f) \
	struct delayed_work n = {.work = __WORK_INIT((n).work, f), .timer = {.function = delayed_work_timer_fn}}
#define work_pending(w)	   (READ_ONCE((w)->state) != WORK_IDLE)
#define to_delayed_work(w) container_of(w, struct delayed_work, work)
enum hrtimer_restart delayed_work_timer_fn(struct hrtimer *t); /* of every delayed work */

/*
 * A queue with a thread of its own, kworker/NAME. Its works run one after the other, in the order of queueing, and the
 * thread runs on any CPU: max_active is an upper limit, and most flags (Linux's numbers) ask for no more than that.
 * With WQ_HIGHPRI the thread's nice value is -20. NULL for WQ_SYSFS and unknown flags, and when out of memory. Thread
 * context.
 */
#define WQ_UNBOUND	   0x02u
#define WQ_FREEZABLE	   0x04u /* nothing is ever frozen */
#define WQ_MEM_RECLAIM	   0x08u /* it never waits for a thread to be made */
#define WQ_HIGHPRI	   0x10u
#define WQ_CPU_INTENSIVE   0x20u /* others do not wait for it: they have their own threads */
#define WQ_POWER_EFFICIENT 0x80u
#define __WQ_ORDERED	   0x20000u
struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned flags, int max_active, ...) __printf(1, 4);
/*
 * Waits until all works in it have run, also those that they queue, and ends the thread. Delayed works must be
 * cancelled before, and nothing may be queued from outside any more. Thread context.
 */
void destroy_workqueue(struct workqueue_struct *wq);
/*
 * Wait until all works that are in it now have run. NULL: the pools of all CPUs. Thread context, not from a work of it.
 */
void flush_workqueue(struct workqueue_struct *wq);
void drain_workqueue(struct workqueue_struct *wq); /* the same, until it is empty */

/* True when it was idle. Any context but nmi. schedule_work: in the pool of this CPU. */
bool schedule_work(struct work_struct *w);
bool queue_work_on(int cpu, struct work_struct *w);
bool queue_work(struct workqueue_struct *wq, struct work_struct *w);
void init_delayed_work(struct delayed_work *w, work_func_t f);
/*
 * Queue it after delay_ns. False: it is queued or its timer is set already, and it keeps its time. mod_: it gets the
 * new time in any case; false: it was idle. Any context but nmi, mod_ not in its own timer. wq NULL: the pool of the
 * CPU.
 */
bool schedule_delayed_work(struct delayed_work *w, u64 delay_ns);
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, u64 delay_ns);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *w, u64 delay_ns);
/*
 * It is not queued any more, but may be running. True: it was queued, or its timer was set. Any context but nmi and its
 * own timer. _sync: it does not run either when this returns, and could not be queued meanwhile, not even by itself.
 * Thread context, not from the work itself.
 */
bool cancel_work(struct work_struct *w);
bool cancel_work_sync(struct work_struct *w);
bool cancel_delayed_work(struct delayed_work *w);
bool cancel_delayed_work_sync(struct delayed_work *w);
/*
 * Wait until it neither is queued nor runs; a delayed one is queued at once. True: there was something to wait for.
 * Thread context.
 */
bool flush_work(struct work_struct *w);
bool flush_delayed_work(struct delayed_work *w);
/* A pool and its worker as statistics show them: a copy. */
struct worker_pool_info {
	int number;    /* what work_struct's `pool` holds; no other pool ever gets it */
	int cpu;       /* the one that the worker is bound to; -1: any */
	int pid;       /* the worker's; 0: it has not been started yet */
	char name[24]; /* of the queue; `events` for those of CPUs */
	char comm[16]; /* the worker's name */
};
/*
 * Call fn for each pool: those of the online CPUs, then those of workqueues, oldest first. Thread context; fn is called
 * with own_pools_mutex held, and must make or end no workqueue.
 */
void for_each_worker_pool(void (*fn)(const struct worker_pool_info *info, void *data), void *data);
void workqueue_init_early(void); /* boot, after setup_per_cpu_areas: works may be queued from now on */

/* Grace periods: waiting until all code that ran with preemption off has turned it on again. */
#include <kernel/export.h>
#include <kernel/init.h>
#include <lib/list.h>
#include <sched/wait.h>
#include <time/hrtimer.h>

#include "../sched/sched.h"

#define CREATE_TRACE_POINTS
#include <trace/events/rcu.h>

/* The texts of the events: a record has an address, so readers of raw records find them in printk_formats. */
enum { RCU_NAME, GP_START, GP_END, THREAD_RUN, THREAD_WAIT, CORE_START, CORE_END };
static const char *const rcu_texts[] __tracepoint_string = {
	[RCU_NAME] = "rcu_sched",
	[GP_START] = "start",
	[GP_END] = "end",
	[THREAD_RUN] = "Start CPU kthread@rcu_run",
	[THREAD_WAIT] = "End CPU kthread@rcu_wait",
	[CORE_START] = "Start RCU core",
	[CORE_END] = "End RCU core",
};

/*
 * Code that has preemption off is a reader: under rcu_read_lock, under a spinlock, or in an interrupt. A stopper thread
 * can run on a CPU only by a context switch there, and no switch happens inside a reader. So once a stopper has run on
 * every CPU, all earlier readers are through. It costs a switch on each CPU and no bookkeeping in the readers; idle
 * CPUs are woken for it.
 */
static int rcu_pass(void *unused)
{
	return 0; /* that it has run is enough */
}

/*
 * Grace periods are numbered in the order in which they begin; a stop of the machine is one, too. A caller may use one
 * that began after its unpublishing and has ended, instead of waiting for another: see cond_synchronize_rcu.
 */
static u64 gp_begun, gp_ended; /* [atomic] numbers: the last that has begun; the highest that has ended */

/* Full barrier: the caller's unpublishing comes before, for readers that start from now on. */
u64 rcu_gp_begin(void)
{
	return __atomic_add_fetch(&gp_begun, 1, __ATOMIC_SEQ_CST);
}

/*
 * Full barrier: what readers did comes before what the caller does next, and before what a caller of
 * cond_synchronize_rcu does that sees this number.
 */
void rcu_gp_end(u64 number)
{
	u64 ended = READ_ONCE(gp_ended);

	smp_mb();
	while (ended < number &&
	       !__atomic_compare_exchange_n(&gp_ended, &ended, number, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

/* With one CPU there is nothing to wait for, and no event either. */
void noinline synchronize_rcu(void)
{
	u64 number;

	/* Also in early boot, where nothing can be preempted yet: the caller itself is no reader. */
	if (num_online_cpus() == 1)
		return;
	WARN_ON_ONCE(preempt_count());
	number = rcu_gp_begin();
	trace_rcu_grace_period(rcu_texts[RCU_NAME], number, rcu_texts[GP_START]);
	smp_mb();
	/* The caller can be preempted: no reader is in progress on the CPU it is on at this moment. */
	stop_each_cpu_but(READ_ONCE(current->cpu), rcu_pass, NULL);
	trace_rcu_grace_period(rcu_texts[RCU_NAME], number, rcu_texts[GP_END]);
	rcu_gp_end(number);
}
EXPORT_SYMBOL_GPL(synchronize_rcu);

/*
 * The number of the last grace period that has begun. A later one begins after everything that the caller
 * has unpublished, so it waits for every reader that could still see it.
 */
u64 get_state_synchronize_rcu(void)
{
	smp_mb(); /* the caller's unpublishing comes before the look, so before the next grace period begins */
	return __atomic_load_n(&gp_begun, __ATOMIC_SEQ_CST);
}

/*
 * When a grace period with a number above `state` has ended, it began after the caller's unpublishing: there is nothing
 * to wait for. A stop that did not happen (nothing to switch, ftrace dead, one CPU) has no number, so then the caller
 * waits as usual.
 */
void cond_synchronize_rcu(u64 state)
{
	if (__atomic_load_n(&gp_ended, __ATOMIC_SEQ_CST) > state)
		smp_mb();
	else
		synchronize_rcu();
}

/*
 * call_rcu: a stack of callbacks that any context but nmi may push to, and a thread that takes all of it. The first
 * push arms a timer, so that a grace period serves what gathers in that time. The push that makes the callbacks many
 * (RCU_BATCH) sets the timer to now. No push needs a lock that the caller could hold; but the timer's lock is taken
 * with interrupts off, so an NMI could find it held by the code below it.
 *
 * Time and number are a choice: each grace period stops the machine once and shows in traces of the scheduler, and what
 * gathers is freed at once, which shows in the events of kmem. A process that ends leaves three callbacks.
 */
#define RCU_BATCH_NS (4 * NSEC_PER_MSEC)
#define RCU_BATCH    24

/*
 * Callbacks that wait for a grace period. Pushing is one compare-and-exchange, so interrupts and holders of any lock
 * may push.
 */
static struct rcu_head *rcu_callbacks; /* [atomic] newest first */
static unsigned rcu_nr_callbacks; /* [atomic] how many there are, a moment late: only for when the thread is to begin */
static struct hrtimer rcu_timer;
static DECLARE_WAIT_QUEUE_HEAD(rcu_wait);
static bool rcu_running; /* [immutable once set] the thread exists */

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *))
{
	struct rcu_head *old = READ_ONCE(rcu_callbacks);
	unsigned waiting = __atomic_add_fetch(&rcu_nr_callbacks, 1, __ATOMIC_RELAXED);
	bool many = waiting == RCU_BATCH;

	head->func = func;
	trace_rcu_callback(rcu_texts[RCU_NAME], head,
			   waiting); /* before the push: then it may be freed at any moment */
	do {
		head->next = old;
	} while (!__atomic_compare_exchange_n(&rcu_callbacks, &old, head, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	if ((!old || many) && smp_load_acquire(&rcu_running))
		hrtimer_start(&rcu_timer, ktime_get() + (many ? 0 : RCU_BATCH_NS));
}
EXPORT_SYMBOL_GPL(call_rcu);

/*
 * The timer wakes the thread, not call_rcu itself: its caller may hold the lock of a runqueue, which a
 * wake-up takes.
 */
static enum hrtimer_restart rcu_timer_fn(struct hrtimer *t)
{
	wake_up(&rcu_wait);
	return HRTIMER_NORESTART;
}

/* Oldest first: callbacks may rely on the order they were queued in. Their number goes to *n. */
static struct rcu_head *take_callbacks(int *n)
{
	struct rcu_head *list = __atomic_exchange_n(&rcu_callbacks, NULL, __ATOMIC_SEQ_CST), *ordered = NULL, *next;

	WRITE_ONCE(rcu_nr_callbacks, 0);
	for (*n = 0; list; list = next, ++*n) {
		next = list->next;
		list->next = ordered;
		ordered = list;
	}
	return ordered;
}

/* Call a batch of n callbacks. They run in this thread, and may sleep. */
static void rcu_do_batch(struct rcu_head *list, int n)
{
	struct rcu_head *next;

	trace_rcu_batch_start(rcu_texts[RCU_NAME], n, LONG_MAX);
	for (; list; list = next) {
		next = list->next; /* func may free it */
		trace_rcu_invoke_callback(rcu_texts[RCU_NAME], list);
		list->func(list);
		cond_resched();
	}
	trace_rcu_batch_end(rcu_texts[RCU_NAME], n, READ_ONCE(rcu_callbacks), need_resched());
}

/* One grace period serves all callbacks that were there when it began. */
static int rcu_thread(void *unused)
{
	struct rcu_head *list;
	int n;

	for (;;) {
		wait_event_idle(&rcu_wait, READ_ONCE(rcu_callbacks));
		trace_rcu_utilization(rcu_texts[THREAD_RUN]);
		list = take_callbacks(&n);
		synchronize_rcu();
		trace_rcu_utilization(rcu_texts[CORE_START]);
		rcu_do_batch(list, n);
		trace_rcu_utilization(rcu_texts[CORE_END]);
		trace_rcu_utilization(rcu_texts[THREAD_WAIT]);
	}
	return 0;
}

/* All CPUs are there: before that a grace period of the thread could miss one that comes up (stop_each_cpu_but). */
static int rcu_init(void)
{
	struct task_struct *t;

	hrtimer_init(&rcu_timer, rcu_timer_fn);
	t = kthread_run(rcu_thread, NULL, "rcu_sched");
	if (IS_ERR(t))
		panic("cannot start rcu_sched: %ld", PTR_ERR(t));
	/* What was queued earlier did not arm the timer; the thread looks before it sleeps. */
	smp_store_release(&rcu_running, true);
	wake_up(&rcu_wait);
	return 0;
}
core_initcall(rcu_init);

/*
 * Timers by jiffies (<time/timer.h>): each CPU has a tree, ordered by the moment, and one hrtimer for its first timer.
 *
 *	mod_timer() -> tree of this CPU --(its first timer is due)--> hrtimer in the timer interrupt
 *	                                                              raises TIMER_SOFTIRQ
 *	    the timers' functions, one after the other    <---------- run_timers()
 *
 * A timer stays on its base while its function runs there: so code that waits for its end looks at one base only, and
 * it never runs on two CPUs at a time.
 *
 * Locks: b base->lock, taken with interrupts off. The hrtimer's own lock is taken inside of it.
 */
#include <arch/processor.h>
#include <irq/softirq.h>
#include <kernel/export.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/cpuhp.h>
#include <sched/spinlock.h>
#include <time/timer.h>
#include <trace/events/timer.h>

struct timer_base {
	spinlock_t lock;
	struct rb_root_cached timers; /* [b] */
	struct timer_list *running;   /* [b] the one whose function runs; only compared: it may be freed */
	bool serving;		      /* [b] run_timers() is at work... */
	unsigned long now;	      /* [b] ...and serves what is due at this moment */
	struct hrtimer hrtimer;	      /* [b for starting] set to the first timer */
	unsigned cpu;		      /* immutable */
};
static DEFINE_PER_CPU(struct timer_base, timer_bases);

static bool expires_first(const struct rb_node *a, const struct rb_node *b)
{
	return time_before(rb_entry(a, struct timer_list, node)->expires,
			   rb_entry(b, struct timer_list, node)->expires);
}

static struct timer_list *first_timer(struct timer_base *base)
{
	struct rb_node *n = rb_first_cached(&base->timers);

	return n ? rb_entry(n, struct timer_list, node) : NULL;
}

/*
 * The base of a timer, locked; NULL: it was never queued. It may move while we wait for the lock, so it is looked at
 * again. Context: interrupts off.
 */
static struct timer_base *lock_timer_base(struct timer_list *t)
{
	for (;;) {
		struct timer_base *base = READ_ONCE(t->base);

		if (!base)
			return NULL;
		spin_lock(&base->lock);
		if (base == READ_ONCE(t->base))
			return base;
		spin_unlock(&base->lock);
	}
}

/* [b] False: it was not queued. */
static bool detach_timer(struct timer_base *base, struct timer_list *t)
{
	if (!t->pending)
		return false;
	rb_erase_cached(&t->node, &base->timers);
	WRITE_ONCE(t->pending, false);
	trace_timer_cancel(t);
	return true;
}

/*
 * The base that t is going to be queued on, locked, with t not queued: this CPU's, unless its function runs on another
 * one. If two CPUs queue it for the first time at once, the exchange lets one of them choose. It is on neither base
 * while it moves: a CPU that waits for the lock of the old base sees then that it has moved, and looks again. This
 * function looks again, too, since another CPU may be faster. Context: interrupts off.
 */
static struct timer_base *lock_new_base(struct timer_list *t, bool *was_pending)
{
	struct timer_base *here = this_cpu_ptr(&timer_bases), *base;

	if (!READ_ONCE(t->base))
		cmpxchg(&t->base, NULL, here);
	*was_pending = false;
	for (;;) {
		base = lock_timer_base(t);
		*was_pending |= detach_timer(base, t);
		if (base == here || base->running == t)
			return base;
		WRITE_ONCE(t->base, here);
		spin_unlock(&base->lock);
	}
}

/* [b of this CPU] Set the hrtimer to the first timer. If that is due already, the interrupt comes at once. */
static void program_base(struct timer_base *base)
{
	struct timer_list *t = first_timer(base);

	if (t)
		hrtimer_start(&base->hrtimer, jiffies_to_nsecs(t->expires));
}

/*
 * Arm a timer at a new time, whether it is armed or not; it moves to this CPU unless its callback runs elsewhere. A
 * timer without a function was shut down and stays so. Returns whether it was armed. Any context but NMI.
 *
 * A timer that is armed for just that time stays as it is, without a lock and, as on Linux, without an event. If it
 * expires at this moment, it does so as if this call had come a little earlier.
 *
 * While the base serves its timers, what would be due at once comes a jiffy later, as on Linux: a function that arms
 * its timer for `jiffies` would keep the softirq going for ever.
 */
int noinline mod_timer(struct timer_list *t, unsigned long expires)
{
	struct timer_base *base;
	unsigned long flags;
	bool was_pending;

	if (timer_pending(t) && READ_ONCE(t->expires) == expires)
		return true;
	local_irq_save(flags);
	base = lock_new_base(t, &was_pending);
	if (t->function) {
		t->expires = base->serving && time_before_eq(expires, base->now) ? base->now + 1 : expires;
		WRITE_ONCE(t->pending, true);
		trace_timer_start(t, base->cpu);
		/*
		 * It is on another CPU's base only while that CPU serves timers, and that looks at the first one
		 * afterwards.
		 */
		if (rb_add_cached(&t->node, &base->timers, expires_first) && base == this_cpu_ptr(&timer_bases))
			program_base(base);
	}
	spin_unlock(&base->lock);
	local_irq_restore(flags);
	return was_pending;
}
EXPORT_SYMBOL(mod_timer);

void add_timer(struct timer_list *t)
{
	if (!WARN_ON(timer_pending(t)))
		mod_timer(t, t->expires);
}
EXPORT_SYMBOL(add_timer);

void timer_setup(struct timer_list *t, void (*fn)(struct timer_list *t), unsigned flags)
{
	WARN_ON(flags);
	*t = (struct timer_list){.function = fn};
	trace_timer_init(t);
}
EXPORT_SYMBOL(timer_setup);

/*
 * 1: it was armed; 0: it was not. `wait`: while its function runs, return -1 and change nothing. `shut`: it cannot be
 * set any more.
 */
static int delete_timer(struct timer_list *t, bool wait, bool shut)
{
	struct timer_base *base;
	unsigned long flags;
	int ret = 0;

	local_irq_save(flags);
	if (shut && !READ_ONCE(t->base))
		cmpxchg(&t->base, NULL, this_cpu_ptr(&timer_bases));
	base = lock_timer_base(t);
	if (base) {
		if (shut)
			t->function = NULL;
		ret = wait && base->running == t ? -1 : detach_timer(base, t);
		spin_unlock(&base->lock);
	}
	local_irq_restore(flags);
	return ret;
}

int timer_delete(struct timer_list *t)
{
	return delete_timer(t, false, false);
}
EXPORT_SYMBOL(timer_delete);

int try_to_del_timer_sync(struct timer_list *t)
{
	return delete_timer(t, true, false);
}
EXPORT_SYMBOL(try_to_del_timer_sync);

/* A softirq is not preempted by tasks, so the function that is waited for runs on another CPU and comes to its end. */
int noinline timer_delete_sync(struct timer_list *t)
{
	int ret;

	WARN_ON(in_hardirq());
	while ((ret = delete_timer(t, true, false)) < 0)
		cpu_relax();
	return ret;
}
EXPORT_SYMBOL(timer_delete_sync);

int timer_shutdown_sync(struct timer_list *t)
{
	int was_pending = delete_timer(t, false, true);

	timer_delete_sync(t);
	return was_pending;
}
EXPORT_SYMBOL(timer_shutdown_sync);

/* [b, dropped around the call] The timer belongs to its function from then on, which may free it. */
static void noinline call_timer_fn(struct timer_base *base, struct timer_list *t)
{
	void (*fn)(struct timer_list * t) = t->function;
	unsigned long due = t->expires;

	detach_timer(base, t);
	base->running = t;
	spin_unlock_irq(&base->lock);
	trace_timer_expire_entry(t, due);
	fn(t);
	trace_timer_expire_exit(t);
	spin_lock_irq(&base->lock);
	base->running = NULL;
}

/* The softirq: call all timers that are due, then set the hrtimer to the next one. */
static void run_timers(void)
{
	struct timer_base *base = this_cpu_ptr(&timer_bases);
	struct timer_list *t;

	spin_lock_irq(&base->lock);
	base->serving = true;
	base->now = jiffies;
	while ((t = first_timer(base)) && time_after_eq(base->now, t->expires))
		call_timer_fn(base, t);
	base->serving = false;
	program_base(base);
	spin_unlock_irq(&base->lock);
}

static enum hrtimer_restart timers_are_due(struct hrtimer *unused)
{
	raise_softirq_irqoff(TIMER_SOFTIRQ);
	return HRTIMER_NORESTART;
}

/*
 * The CPU is gone: its timers become this CPU's. A timer is on neither base between the two locks, as in
 * lock_new_base(); here nobody can queue it meanwhile, as interrupts and both locks are ours.
 */
static int timers_cpu_dead(unsigned cpu)
{
	struct timer_base *old = per_cpu_ptr(&timer_bases, cpu), *here;
	struct timer_list *t;
	unsigned long flags;

	hrtimer_cancel(&old->hrtimer);
	local_irq_save(flags);
	here = this_cpu_ptr(&timer_bases);
	spin_lock(&here->lock);
	spin_lock(&old->lock);
	while ((t = first_timer(old))) {
		trace_timer_cancel(t);
		rb_erase_cached(&t->node, &old->timers);
		WRITE_ONCE(t->base, here);
		trace_timer_start(t, here->cpu);
		rb_add_cached(&t->node, &here->timers, expires_first);
	}
	program_base(here);
	spin_unlock(&old->lock);
	spin_unlock(&here->lock);
	local_irq_restore(flags);
	return 0;
}
static const struct cpuhp_step timers_step = {.name = "time:timers", .stage = CPUHP_PREPARE, .down = timers_cpu_dead};
REGISTER_CPUHP(timers_step);

static int timers_init(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		struct timer_base *base = per_cpu_ptr(&timer_bases, cpu);

		spin_lock_init(&base->lock);
		base->cpu = cpu;
		base->timers = RB_ROOT_CACHED;
		hrtimer_init(&base->hrtimer, timers_are_due);
	}
	open_softirq(TIMER_SOFTIRQ, run_timers);
	return 0;
}
core_initcall(timers_init);

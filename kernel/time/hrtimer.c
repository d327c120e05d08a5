/*
 * High-resolution timers: each CPU has a tree ordered by time, and a one-shot timer interrupt that is set to the first
 * of them.
 *
 *	hrtimer_start		into this CPU's tree; first of all? then set the hardware
 *	hrtimer_interrupt	run the callbacks that are due, set the hardware to the next
 *
 * A timer belongs to one base at a time. While it changes base (hrtimer_start on another CPU than before) its base
 * pointer is NULL, and a CPU that wants to lock it spins. It never changes base while its callback runs: the callback's
 * CPU would not find it, and hrtimer_cancel would not see that it runs. Base locks are taken with interrupts off, and
 * no other lock is taken inside of one.
 */
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/atomic.h>
#include <sched/cpuhp.h>
#include <sched/sched.h>
#include <sched/spinlock_slow.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/irq_share.h>
#include <trace/events/timer.h>
#include <uapi/time.h>

/* Locks: b lock, taken with interrupts off; c the owning CPU, interrupts off. */
struct hrtimer_cpu_base {
	spinlock_t lock;
	struct rb_root_cached timers; /* [b] by expires; among equals the first started comes first */
	struct hrtimer *running;      /* [b writes] the timer whose callback runs now */
	ktime_t next_event;	      /* [b] what the hardware is set to */
	bool in_interrupt;	      /* [b] hrtimer_interrupt sets the hardware when it is through */
	bool online;		      /* [c] hardware set up */
	struct irq_share share;	      /* [c] of the CPU's time, by interrupts */
};
static DEFINE_PER_CPU(struct hrtimer_cpu_base, hrtimer_bases);

const struct clock_event_device *clock_event;

u64 irq_share_owed;
void (*irq_share_exceeded)(struct irq_share *s, u64 took, u64 gap);

static bool timer_less(const struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct hrtimer, node)->expires < rb_entry(b, struct hrtimer, node)->expires;
}

/* The next timer that is due. NULL: there is none. Base locked. */
static struct hrtimer *first_hrtimer(struct hrtimer_cpu_base *base)
{
	struct rb_node *n = rb_first_cached(&base->timers);

	return n ? rb_entry(n, struct hrtimer, node) : NULL;
}

void hrtimer_init(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
	trace_hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	*t = (struct hrtimer){.function = fn, .base = per_cpu_ptr(&hrtimer_bases, 0)};
}
EXPORT_SYMBOL(hrtimer_init);

/*
 * Lock the base that t belongs to. The timer may move while this waits for the lock, so the pointer is looked at again.
 * Context: interrupts off.
 */
static struct hrtimer_cpu_base *lock_base(struct hrtimer *t)
{
	for (;;) {
		struct hrtimer_cpu_base *base = READ_ONCE(t->base);

		if (likely(base)) {
			spin_lock_contended(&base->lock);
			if (likely(base == READ_ONCE(t->base)))
				return base;
			arch_spin_unlock(&base->lock);
		}
		cpu_relax();
	}
}

static void unlock_base(struct hrtimer_cpu_base *base)
{
	arch_spin_unlock(&base->lock);
}

/*
 * Set the hardware of this CPU if `expires` comes before the moment that it is set to. A timer that is cancelled leaves
 * the hardware as it is: an interrupt that finds nothing to do costs less than setting the hardware at every cancel.
 * While hrtimer_interrupt() runs it sets the hardware itself, at its end. Base locked. Returns the time, or 0 when the
 * hardware is left as it is.
 */
static ktime_t program_event(struct hrtimer_cpu_base *base, ktime_t expires)
{
	ktime_t now;

	if (base->in_interrupt || expires >= base->next_event || !base->online)
		return 0;
	base->next_event = expires;
	now = ktime_get();
	clock_event->set_next_event(expires > now ? expires - now : 0);
	return now;
}

/* Base locked. `was_armed` is only for the event. */
static void enqueue_hrtimer(struct hrtimer_cpu_base *base, struct hrtimer *t, bool was_armed)
{
	trace_hrtimer_start(t, HRTIMER_MODE_ABS, was_armed);
	t->state = 1;
	rb_add_cached(&t->node, &base->timers, timer_less);
}

/* Base locked. False: it was not queued. */
static bool remove_hrtimer(struct hrtimer_cpu_base *base, struct hrtimer *t)
{
	if (!t->state)
		return false;
	rb_erase_cached(&t->node, &base->timers);
	t->state = 0;
	return true;
}

/* Move an unqueued timer to this CPU, unless its callback runs. Returns its base, locked. */
static struct hrtimer_cpu_base *switch_base(struct hrtimer *t, struct hrtimer_cpu_base *base)
{
	struct hrtimer_cpu_base *here = this_cpu_ptr(&hrtimer_bases);

	if (base == here || base->running == t)
		return base;
	WRITE_ONCE(t->base, NULL);
	unlock_base(base);
	spin_lock_contended(&here->lock);
	/* Release: a CPU that reads this pointer and locks the base sees all that was written to the timer. */
	smp_store_release(&t->base, here);
	return here;
}

/* The timer moves to this CPU, also when it is armed: a CPU can set only its own hardware. Any context but NMI. */
void noinline hrtimer_start(struct hrtimer *t, ktime_t expires)
{
	struct hrtimer_cpu_base *base;
	unsigned long flags;
	bool was_armed;

	local_irq_save(flags);
	base = lock_base(t);
	was_armed = remove_hrtimer(base, t);
	base = switch_base(t, base);
	t->expires = expires;
	enqueue_hrtimer(base, t, was_armed);
	/* It stays on another CPU's base only while that CPU runs its callback: it sets its hardware afterwards. */
	if (base == this_cpu_ptr(&hrtimer_bases))
		program_event(base, expires);
	unlock_base(base);
	local_irq_restore(flags);
}
EXPORT_SYMBOL(hrtimer_start);

/*
 * -1 while its callback runs, on whichever CPU: the caller decides whether to wait. 1: it was armed, 0: it was not. Any
 * context but NMI.
 */
int hrtimer_try_to_cancel(struct hrtimer *t)
{
	struct hrtimer_cpu_base *base;
	unsigned long flags;
	int ret = -1;

	local_irq_save(flags);
	base = lock_base(t);
	if (base->running != t)
		ret = remove_hrtimer(base, t);
	if (ret > 0)
		trace_hrtimer_cancel(t);
	unlock_base(base);
	local_irq_restore(flags);
	return ret;
}
EXPORT_SYMBOL(hrtimer_try_to_cancel);

int noinline hrtimer_cancel(struct hrtimer *t)
{
	int ret;

	while ((ret = hrtimer_try_to_cancel(t)) < 0)
		cpu_relax();
	return ret;
}
EXPORT_SYMBOL(hrtimer_cancel);

/* Under the lock: otherwise a timer on its way from the tree to its callback would seem to be in neither place. */
bool hrtimer_active(const struct hrtimer *t)
{
	struct hrtimer *timer = (struct hrtimer *)t;
	struct hrtimer_cpu_base *base;
	unsigned long flags;
	bool active;

	local_irq_save(flags);
	base = lock_base(timer);
	active = timer->state || base->running == timer;
	unlock_base(base);
	local_irq_restore(flags);
	return active;
}
EXPORT_SYMBOL(hrtimer_active);

u64 hrtimer_forward(struct hrtimer *t, ktime_t now, ktime_t interval)
{
	return ktime_forward(&t->expires, now, interval);
}
EXPORT_SYMBOL(hrtimer_forward);

/*
 * Call one timer back. Context: hard interrupt, base locked; the lock is dropped around the callback, which may do
 * anything with the timer, even free it. So t is not touched afterwards, unless the callback asks for a restart.
 */
static void noinline __run_hrtimer(struct hrtimer_cpu_base *base, struct hrtimer *t, ktime_t now)
{
	enum hrtimer_restart restart;

	remove_hrtimer(base, t);
	WRITE_ONCE(base->running, t);
	unlock_base(base);
	trace_hrtimer_expire_entry(t, now);
	restart = t->function(t);
	trace_hrtimer_expire_exit(t);
	spin_lock_contended(&base->lock);
	/* Without a restart t may be gone by now. With one, t may have been started again meanwhile: that counts. */
	if (restart == HRTIMER_RESTART && !t->state)
		enqueue_hrtimer(base, t, false);
	WRITE_ONCE(base->running, NULL);
}

/* All timers that are due at `now`, in order. A callback may start others, so the tree is looked at each time. */
static void noinline __hrtimer_run_queues(struct hrtimer_cpu_base *base, ktime_t now)
{
	struct hrtimer *t;

	while ((t = first_hrtimer(base)) && t->expires <= now)
		__run_hrtimer(base, t, now);
}

/*
 * Serve what is due on this CPU, then set the hardware for what is next. While callbacks run, in_interrupt keeps timers
 * that they start from setting the hardware each time. next_event stays as it was until then, as hrtimers_late_by()
 * reads from it since when this interrupt has been due. Context: interrupt, interrupts off.
 */
void noinline hrtimer_interrupt(void)
{
	struct hrtimer_cpu_base *base = this_cpu_ptr(&hrtimer_bases);
	ktime_t begin = ktime_get(), end = 0;
	struct hrtimer *t;

	spin_lock_contended(&base->lock);
	base->in_interrupt = true;
	/* Only what was due on arrival: a callback that always restarts itself in the past cannot keep us here. */
	__hrtimer_run_queues(base, begin);
	base->in_interrupt = false;
	base->next_event = KTIME_MAX; /* not before: hrtimers_late_by */
	t = first_hrtimer(base);
	if (t)
		end = program_event(base, t->expires); /* in the past: the interrupt comes again at once */
	else
		clock_event->shutdown();
	unlock_base(base);
	if (end)
		irq_share_note(&base->share, begin, end);
}

s64 hrtimers_late_by(unsigned cpu, ktime_t now)
{
	return now - READ_ONCE(per_cpu_ptr(&hrtimer_bases, cpu)->next_event);
}

/* For /proc/timer_list. The lock keeps the tree as it is; of the timers only the addresses are used afterwards. */
unsigned hrtimers_waiting(unsigned cpu, struct hrtimer_view *to, unsigned n)
{
	struct hrtimer_cpu_base *base = per_cpu_ptr(&hrtimer_bases, cpu);
	unsigned long flags;
	unsigned nr = 0;

	local_irq_save(flags);
	spin_lock_contended(&base->lock);
	for (struct rb_node *node = rb_first_cached(&base->timers); node && nr < n; node = rb_next(node)) {
		const struct hrtimer *t = rb_entry(node, struct hrtimer, node);

		to[nr++] = (struct hrtimer_view){t, t->function, t->expires};
	}
	unlock_base(base);
	local_irq_restore(flags);
	return nr;
}

/* The bases of all CPUs, because a timer may be initialised before its CPU is online. */
void hrtimers_init(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		struct hrtimer_cpu_base *base = per_cpu_ptr(&hrtimer_bases, cpu);

		spin_lock_init(&base->lock);
		base->timers = RB_ROOT_CACHED;
		base->next_event = KTIME_MAX;
	}
}

/* Timers may have been started on this CPU before its hardware was set up: the first of them is set now. */
void hrtimers_init_cpu(void)
{
	struct hrtimer_cpu_base *base = this_cpu_ptr(&hrtimer_bases);
	struct hrtimer *t;

	if (!clock_event)
		panic("no timer: clocks would stand still");
	clock_event->setup_cpu();
	spin_lock_contended(&base->lock);
	base->online = true;
	t = first_hrtimer(base);
	if (t)
		program_event(base, t->expires);
	unlock_base(base);
}

/* ---- CPUs that come and go */

static int hrtimers_cpu_starting(unsigned cpu)
{
	hrtimers_init_cpu();
	return 0;
}

/* No interrupt comes any more; timers that are started here still wait for hrtimers_cpu_dead(). */
static int hrtimers_cpu_dying(unsigned cpu)
{
	struct hrtimer_cpu_base *base = this_cpu_ptr(&hrtimer_bases);

	spin_lock_contended(&base->lock);
	base->online = false;
	base->next_event = KTIME_MAX;
	clock_event->shutdown();
	unlock_base(base);
	return 0;
}

/*
 * The CPU is gone: its timers become this CPU's, and those that have become due meanwhile fire at once. Two bases are
 * locked here and nowhere else. A CPU that waits for the lock of the old base looks at the timer again, as in
 * switch_base().
 */
static int hrtimers_cpu_dead(unsigned cpu)
{
	struct hrtimer_cpu_base *old = per_cpu_ptr(&hrtimer_bases, cpu), *here;
	struct hrtimer *t;
	unsigned long flags;

	local_irq_save(flags);
	here = this_cpu_ptr(&hrtimer_bases);
	spin_lock_contended(&here->lock);
	spin_lock_contended(&old->lock);
	while ((t = first_hrtimer(old))) {
		remove_hrtimer(old, t);
		smp_store_release(&t->base, here);
		enqueue_hrtimer(here, t, true);
	}
	t = first_hrtimer(here);
	if (t)
		program_event(here, t->expires);
	unlock_base(old);
	unlock_base(here);
	local_irq_restore(flags);
	return 0;
}
static const struct cpuhp_step hrtimers_starting = {
	.name = "time:hrtimers", .stage = CPUHP_STARTING, .up = hrtimers_cpu_starting, .down = hrtimers_cpu_dying};
static const struct cpuhp_step hrtimers_prepare = {
	.name = "time:hrtimers", .stage = CPUHP_PREPARE, .down = hrtimers_cpu_dead};
REGISTER_CPUHP(hrtimers_starting);
REGISTER_CPUHP(hrtimers_prepare);

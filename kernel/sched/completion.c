/*
 * Completions: one side says "done", the other sleeps until it was said. `done` counts, so it does not matter which
 * side comes first, and each complete() lets one sleeper go. The lock of the wait queue guards the count, too.
 */
#include <kernel/export.h>
#include <sched/wait.h>
#include <time/jiffies.h>

#define DONE_FOR_ALL (~0U)

void init_completion(struct completion *c)
{
	c->done = 0;
	init_waitqueue_head(&c->wait);
}
EXPORT_SYMBOL(init_completion);

/*
 * The count is raised and the sleeper is woken under one lock, and the sleeper leaves under it, too. So a completion on
 * the sleeper's stack may be gone as soon as wait_for_completion() returns: complete() does not touch it any more. Any
 * context.
 */
static void complete_n(struct completion *c, bool all)
{
	unsigned long flags;
	struct wait_queue_entry *w, *next;

	spin_lock_irqsave(&c->wait.lock, flags);
	if (all)
		c->done = DONE_FOR_ALL;
	else if (c->done < DONE_FOR_ALL - 1)
		c->done++;
	list_for_each_entry_safe(w, next, &c->wait.head, entry)
		if (w->func(w, TASK_NORMAL) && !all)
			break;
	spin_unlock_irqrestore(&c->wait.lock, flags);
}

void complete(struct completion *c)
{
	complete_n(c, false);
}
EXPORT_SYMBOL(complete);

void complete_all(struct completion *c)
{
	complete_n(c, true);
}
EXPORT_SYMBOL(complete_all);

/*
 * Sleep until the count is above zero, or for `timeout` jiffies. Returns the jiffies that are left; -ERESTARTSYS when a
 * signal came first and `state` admits it. Context: c->wait locked with interrupts off; the lock is dropped while
 * sleeping.
 */
static long do_wait_for_common(struct completion *c, unsigned state, long timeout)
{
	struct wait_queue_entry w = {.entry = LIST_HEAD_INIT(w.entry), .task = current, .func = default_wake_function};

	list_add_tail(&w.entry, &c->wait.head);
	while (!c->done && timeout > 0) {
		if ((state & TASK_INTERRUPTIBLE) && signal_pending(current)) {
			timeout = -ERESTARTSYS;
			break;
		}
		__set_current_state(state); /* the lock orders it: complete() holds it while it looks */
		spin_unlock_irq(&c->wait.lock);
		timeout = schedule_timeout(timeout);
		spin_lock_irq(&c->wait.lock);
	}
	list_del(&w.entry);
	return timeout;
}

/*
 * Wait for the count to be above zero and take one from it, unless complete_all() has set it: that value is never
 * lowered. Returns at least 1 when it took one, also when no time is left or `timeout` is 0. Thread context, may sleep.
 */
static long wait_for_common(struct completion *c, unsigned state, long timeout)
{
	long ret = timeout;

	spin_lock_irq(&c->wait.lock);
	if (!c->done)
		ret = do_wait_for_common(c, state, timeout);
	if (c->done && !ret)
		ret = 1;
	if (ret > 0 && c->done != DONE_FOR_ALL)
		c->done--;
	spin_unlock_irq(&c->wait.lock);
	return ret;
}

void wait_for_completion(struct completion *c)
{
	wait_for_common(c, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL(wait_for_completion);

int wait_for_completion_interruptible(struct completion *c)
{
	return min(wait_for_common(c, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT), 0L);
}
EXPORT_SYMBOL(wait_for_completion_interruptible);

long wait_for_completion_timeout(struct completion *c, unsigned long timeout)
{
	return wait_for_common(c, TASK_UNINTERRUPTIBLE, min_t(unsigned long, timeout, MAX_SCHEDULE_TIMEOUT));
}
EXPORT_SYMBOL(wait_for_completion_timeout);

long wait_for_completion_interruptible_timeout(struct completion *c, unsigned long timeout)
{
	return wait_for_common(c, TASK_INTERRUPTIBLE, min_t(unsigned long, timeout, MAX_SCHEDULE_TIMEOUT));
}
EXPORT_SYMBOL(wait_for_completion_interruptible_timeout);

bool try_wait_for_completion(struct completion *c)
{
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&c->wait.lock, flags);
	done = c->done;
	if (done && c->done != DONE_FOR_ALL)
		c->done--;
	spin_unlock_irqrestore(&c->wait.lock, flags);
	return done;
}
EXPORT_SYMBOL(try_wait_for_completion);

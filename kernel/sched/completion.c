/*
 * Completions: one side says "done", the other sleeps until it was said. `done` counts, so it does not matter which
 * side comes first, and each complete() lets one sleeper go. The lock of the wait queue guards the count, too.
 */
#include <sched/wait.h>

#define DONE_FOR_ALL (~0U)

void init_completion(struct completion *c)
{
	c->done = 0;
	init_waitqueue_head(&c->wait);
}

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

void complete_all(struct completion *c)
{
	complete_n(c, true);
}

/*
 * Sleeps until the count is above zero. 0, or -ERESTARTSYS when a signal came first and `state` admits it. Context:
 * c->wait locked with interrupts off; the lock is dropped while sleeping.
 */
static int do_wait_for_common(struct completion *c, unsigned state)
{
	struct wait_queue_entry w = {.entry = LIST_HEAD_INIT(w.entry), .task = current, .func = default_wake_function};
	int ret = 0;

	list_add_tail(&w.entry, &c->wait.head);
	while (!c->done) {
		if ((state & TASK_INTERRUPTIBLE) && signal_pending(current)) {
			ret = -ERESTARTSYS;
			break;
		}
		__set_current_state(state); /* the lock orders it: complete() holds it while it looks */
		spin_unlock_irq(&c->wait.lock);
		schedule();
		spin_lock_irq(&c->wait.lock);
	}
	list_del(&w.entry);
	return ret;
}

/* Takes one from the count; complete_all() has set it to a value that is never lowered. Thread context, may sleep. */
static int wait_for_common(struct completion *c, unsigned state)
{
	int ret = 0;

	spin_lock_irq(&c->wait.lock);
	if (!c->done)
		ret = do_wait_for_common(c, state);
	if (!ret && c->done != DONE_FOR_ALL)
		c->done--;
	spin_unlock_irq(&c->wait.lock);
	return ret;
}

void wait_for_completion(struct completion *c)
{
	wait_for_common(c, TASK_UNINTERRUPTIBLE);
}

int wait_for_completion_interruptible(struct completion *c)
{
	return wait_for_common(c, TASK_INTERRUPTIBLE);
}

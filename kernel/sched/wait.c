/*
 * Wait queues: lists of sleepers, which are woken in order. The pattern of a sleeper, whose parts must be in this
 * order:
 *
 *	prepare_to_wait(q, &w, TASK_INTERRUPTIBLE);	in the queue, then the state is set
 *	if (!condition)					a wake-up from here on sets the state back
 *		schedule();
 *	finish_wait(q, &w);
 *
 * The waker makes the condition true and then calls wake_up(q). Either the sleeper sees the condition, or the waker
 * finds it in the queue. q->lock is taken with interrupts off, so interrupt handlers may wake.
 */
#include <kernel/export.h>
#include <sched/wait.h>

void init_waitqueue_head(wait_queue_head_t *q)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->head);
}
EXPORT_SYMBOL(init_waitqueue_head);

/* True: this call has woken the task. The entry stays in the queue. */
bool default_wake_function(struct wait_queue_entry *w, unsigned mode)
{
	return try_to_wake_up(w->task, mode);
}
EXPORT_SYMBOL(default_wake_function);

/*
 * For sleepers that loop over their condition: the entry is taken off at the wake-up, so the sleeper needs no second
 * lock to leave the queue. q->lock held.
 */
bool autoremove_wake_function(struct wait_queue_entry *w, unsigned mode)
{
	bool woken = try_to_wake_up(w->task, mode);

	/*
	 * finish_wait() looks at the entry without the lock, and the entry is on the sleeper's stack. So it must look
	 * empty last of all, when nothing here touches it any more: release.
	 */
	if (woken) {
		struct list_head *e = &w->entry;

		e->next->prev = e->prev;
		WRITE_ONCE(e->prev->next, e->next);
		e->prev = e;
		smp_store_release(&e->next, e);
	}
	return woken;
}
EXPORT_SYMBOL(autoremove_wake_function);

void add_wait_queue(wait_queue_head_t *q, struct wait_queue_entry *w)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	if (w->exclusive)
		list_add_tail(&w->entry, &q->head);
	else
		list_add(&w->entry, &q->head);
	spin_unlock_irqrestore(&q->lock, flags);
}
EXPORT_SYMBOL(add_wait_queue);

void remove_wait_queue(wait_queue_head_t *q, struct wait_queue_entry *w)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	list_del_init(&w->entry);
	spin_unlock_irqrestore(&q->lock, flags);
}
EXPORT_SYMBOL(remove_wait_queue);

/*
 * Sleepers that may be woken together stand in front, exclusive ones behind. So one pass over the list wakes all shared
 * sleepers and then as many exclusive ones as the wake-up is for.
 */
static void __prepare_to_wait(wait_queue_head_t *q, struct wait_queue_entry *w, unsigned state, bool exclusive)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	w->exclusive = exclusive;
	if (list_empty(&w->entry)) {
		if (exclusive)
			list_add_tail(&w->entry, &q->head);
		else
			list_add(&w->entry, &q->head);
	}
	set_current_state(state);
	spin_unlock_irqrestore(&q->lock, flags);
}

void prepare_to_wait(wait_queue_head_t *q, struct wait_queue_entry *w, unsigned state)
{
	__prepare_to_wait(q, w, state, false);
}
EXPORT_SYMBOL(prepare_to_wait);

void prepare_to_wait_exclusive(wait_queue_head_t *q, struct wait_queue_entry *w, unsigned state)
{
	__prepare_to_wait(q, w, state, true);
}
EXPORT_SYMBOL(prepare_to_wait_exclusive);

/* Wake all sleepers that are not exclusive and `nr` that are; nr 0: all of them. Context: q locked. */
static void __wake_up_common(wait_queue_head_t *q, unsigned mode, int nr)
{
	struct wait_queue_entry *w, *next;

	list_for_each_entry_safe(w, next, &q->head, entry) {
		bool exclusive = w->exclusive; /* w may be gone once it is woken */

		if (w->func(w, mode) && exclusive && --nr == 0)
			break;
	}
}

void __wake_up(wait_queue_head_t *q, unsigned mode, int nr_exclusive)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	__wake_up_common(q, mode, nr_exclusive);
	spin_unlock_irqrestore(&q->lock, flags);
}
EXPORT_SYMBOL(__wake_up);

/* Wait queues: lists of sleepers, woken in order. */
#include <sched/wait.h>

void init_waitqueue_head(wait_queue_head_t *q)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->head);
}

bool default_wake_function(struct wait_queue_entry *w, unsigned mode)
{
	return try_to_wake_up(w->task, mode);
}

/* For sleepers that loop over their condition: taken off at the wake-up, they need no second lock to leave
 * the queue. */
bool autoremove_wake_function(struct wait_queue_entry *w, unsigned mode)
{
	bool woken = try_to_wake_up(w->task, mode);

	/* finish_wait looks at the entry without the lock: what was done to it comes before it looks empty.
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

void add_wait_queue(wait_queue_head_t *q, struct wait_queue_entry *w)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	list_add(&w->entry, &q->head);
	spin_unlock_irqrestore(&q->lock, flags);
}

void remove_wait_queue(wait_queue_head_t *q, struct wait_queue_entry *w)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	list_del_init(&w->entry);
	spin_unlock_irqrestore(&q->lock, flags);
}

/*
 * Those who wait together stand in front, who wants to be alone behind: a wake-up reaches all of the first
 * and then as many of the second as it was made for.
 */
static void prepare(wait_queue_head_t *q, struct wait_queue_entry *w, unsigned state, bool exclusive)
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
	prepare(q, w, state, false);
}

void prepare_to_wait_exclusive(wait_queue_head_t *q, struct wait_queue_entry *w, unsigned state)
{
	prepare(q, w, state, true);
}

/* Context: q locked. nr 0: everybody. */
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

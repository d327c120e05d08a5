/* Work for later in thread context: a worker thread a CPU (kworker/N:0) and a list of work each. */
#pragma once

#include <lib/list.h>
#include <time/clock.h>
#include <time/hrtimer.h>

struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);
/* Locks: p the pool's lock; a atomic. */
struct work_struct {
	struct list_head entry; /* [p] */
	work_func_t func;
	unsigned long pending; /* [a] 1 from queueing until just before it runs: queueing again then is a no-op */
	int cpu;	       /* [p] pool it was queued on last */
};
struct delayed_work {
	struct work_struct work;
	struct hrtimer timer;
};
#define INIT_WORK(w, f)                      \
	do {                                 \
		INIT_LIST_HEAD(&(w)->entry); \
		(w)->func = (f);             \
		(w)->pending = 0;            \
		(w)->cpu = -1;               \
	} while (0)
#define DECLARE_WORK(n, f) struct work_struct n = {LIST_HEAD_INIT((n).entry), (f), 0, -1}

/* True when it was not pending yet. Any context but nmi. */
bool schedule_work(struct work_struct *w);
bool queue_work_on(int cpu, struct work_struct *w);
void init_delayed_work(struct delayed_work *w, work_func_t f);
/* False when it is under way already. Not from its own timer. */
bool schedule_delayed_work(struct delayed_work *w, u64 delay_ns);
bool cancel_delayed_work_sync(struct delayed_work *w);
/* Wait until it neither is queued nor runs. Thread context. */
bool flush_work(struct work_struct *w);
bool cancel_work_sync(struct work_struct *w);
void workqueue_init_early(void); /* boot, after setup_per_cpu_areas: works may be queued from now on */

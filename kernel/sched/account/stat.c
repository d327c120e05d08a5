/*
 * How long tasks sleep and wait: the events sched_stat_*. While one of them has a probe, each task remembers since when
 * it waits for a CPU or sleeps; otherwise the scheduler only asks one static key at a switch and at a wake-up.
 */
#include "../sched.h"

#include <trace/events/sched.h>

struct static_key sched_stat_key;
/* What was remembered before this is from an earlier time that the key was on. [tracepoints_mutex for changes] */
static u64 sched_stat_on_since;

/*
 * Several tracepoints share the key; the lock of all registrations is held, and the code that registers switches the
 * sites. The key may go off and on again before that: then its sites stay on, but what a task remembers from before is
 * forgotten all the same.
 */
int sched_stat_regfunc(void)
{
	if (!static_key_enabled(&sched_stat_key))
		sched_stat_on_since = sched_clock();
	static_key_inc_later(&sched_stat_key);
	return 0;
}

void sched_stat_unregfunc(void)
{
	static_key_dec_later(&sched_stat_key);
}

/* From now on p waits or sleeps. Runqueue locked, its clock updated. */
static void sched_stat_begin(struct rq *rq, struct task_struct *p, enum sched_stat_kind kind)
{
	p->stat.kind = kind;
	p->stat.since = rq->clock;
}

/*
 * What p was doing ends now. Returns what it was, with *delay in ns; SCHED_STAT_NONE when its beginning was not seen,
 * or was in an earlier time of the key.
 */
static enum sched_stat_kind sched_stat_end(struct rq *rq, struct task_struct *p, u64 *delay)
{
	enum sched_stat_kind kind = p->stat.kind;

	p->stat.kind = SCHED_STAT_NONE;
	*delay = rq->clock > p->stat.since ? rq->clock - p->stat.since : 0;
	return p->stat.since >= sched_stat_on_since ? kind : SCHED_STAT_NONE;
}

/* The stopper and the idle task never wait for a CPU. */
static bool is_counted(const struct task_struct *p)
{
	return p->sched_class != &stop_sched_class && p->sched_class != &idle_sched_class;
}

/*
 * A switch: the task that leaves begins to wait, sleep or be blocked, and the one that comes ends its wait. Neither
 * counts for stopper and idle task, which wait for nothing. rq locked.
 */
void sched_stat_switch(struct rq *rq, struct task_struct *prev, struct task_struct *next, unsigned prev_state)
{
	u64 delay;

	if (is_counted(prev)) {
		if (prev->on_rq)
			sched_stat_begin(rq, prev,
					 dl_task(prev) && !prev->dl.queued ? SCHED_STAT_NONE : SCHED_STAT_WAIT);
		else if (prev_state & TASK_INTERRUPTIBLE)
			sched_stat_begin(rq, prev, SCHED_STAT_SLEEP);
		else
			sched_stat_begin(rq, prev,
					 prev_state & TASK_UNINTERRUPTIBLE ? SCHED_STAT_BLOCKED : SCHED_STAT_NONE);
	}
	if (is_counted(next) && sched_stat_end(rq, next, &delay) == SCHED_STAT_WAIT)
		trace_sched_stat_wait(next, delay);
}

/* A wake-up: the task's sleep ends and its wait for a CPU begins. rq, the task's, locked. */
void sched_stat_wake(struct rq *rq, struct task_struct *p)
{
	u64 delay;

	if (!is_counted(p))
		return;
	switch (sched_stat_end(rq, p, &delay)) {
	case SCHED_STAT_SLEEP:
		trace_sched_stat_sleep(p, delay);
		break;
	case SCHED_STAT_BLOCKED:
		trace_sched_stat_blocked(p, delay);
		break;
	default: /* stopped, new, or put to sleep before the key was on */
		break;
	}
	sched_stat_begin(rq, p, SCHED_STAT_WAIT);
}

void sched_stat_queued(struct rq *rq, struct task_struct *p)
{
	sched_stat_begin(rq, p, SCHED_STAT_WAIT);
}

/*
 * The fair class: SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE share a CPU by weighted virtual run time (vruntime). A
 * task's vruntime grows while it runs, more slowly the more weight it has. The task with the least vruntime runs next;
 * the waiting ones are in a red-black tree ordered by it, and the running one is outside of the tree. This is Linux's
 * CFS before EEVDF (Documentation/scheduler/sched-design-CFS.rst).
 *
 * A queued or running entity's vruntime is absolute. It is relative to min_vruntime while the task is between queues
 * (it migrates, is new, or is of another class), so that the clocks of two queues need not agree. A sleeper keeps the
 * absolute value of the queue it slept on.
 *
 * All functions run with the runqueue locked, unless they say otherwise.
 */
#include "sched.h"

#include <trace/events/sched.h>

/* Conversions between the three views of one thing: the node in the tree, the entity, the task. */
static inline struct task_struct *task_of(struct sched_entity *se)
{
	return container_of(se, struct task_struct, se);
}

static inline struct sched_entity *entity(struct rb_node *n)
{
	return rb_entry(n, struct sched_entity, run_node);
}

static inline bool entity_less(const struct rb_node *a, const struct rb_node *b)
{
	return entity_before(entity((struct rb_node *)a), entity((struct rb_node *)b));
}

void init_cfs_rq(struct cfs_rq *cfs)
{
	cfs->timeline = RB_ROOT_CACHED;
	/*
	 * The value begins shortly before it wraps, so that a wrong comparison shows after minutes, not after
	 * centuries.
	 */
	cfs->min_vruntime = -(1ULL << 30);
}

/*
 * min_vruntime never goes back: otherwise a task that sleeps and wakes could be placed before others that have waited.
 */
static inline void raise_min_vruntime(struct cfs_rq *cfs, u64 v)
{
	if ((s64)(v - cfs->min_vruntime) > 0)
		WRITE_ONCE(cfs->min_vruntime, v); /* wakers on other CPUs read it, see migrate_task_rq_fair */
}

/*
 * min_vruntime follows the least vruntime of those present. `last` is the running entity, also when it has just left.
 */
static inline void update_min_vruntime(struct cfs_rq *cfs, const struct sched_entity *last)
{
	struct rb_node *left = rb_first_cached(&cfs->timeline);
	u64 v = last->vruntime;

	if (left && (!last->on_rq || entity_before(entity(left), last)))
		v = entity(left)->vruntime;
	raise_min_vruntime(cfs, v);
}

/*
 * Charges the running entity up to rq->clock: real time to its sums, weighted time to its vruntime. Everything that
 * compares vruntimes calls this first.
 */
static inline void update_curr(struct rq *rq)
{
	struct sched_entity *curr = rq->cfs.curr;
	s64 delta;

	if (!curr)
		return;
	delta = rq->clock - curr->exec_start;
	if (delta <= 0)
		return;
	trace_sched_stat_runtime(task_of(curr), delta);
	curr->exec_start = rq->clock;
	curr->sum_exec_runtime += delta;
	curr->vruntime += calc_delta_fair(delta, curr);
	update_min_vruntime(&rq->cfs, curr);
}

static void update_curr_fair(struct rq *rq)
{
	update_curr(rq);
}

/*
 * Where the entity gets its vruntime from: a new task begins a slice behind the others; a task that was between queues
 * gets the offset of this queue; a sleeper gets a small credit. Only then is it put into the tree.
 */
static void enqueue_task_fair(struct rq *rq, struct task_struct *p, int flags)
{
	struct cfs_rq *cfs = &rq->cfs;
	struct sched_entity *se = &p->se;

	update_curr(rq);
	if (flags & ENQUEUE_INITIAL)
		se->vruntime = place_new(cfs, se);
	else if (!(flags & ENQUEUE_WAKEUP) || (flags & ENQUEUE_MIGRATED))
		se->vruntime += cfs->min_vruntime;
	if (flags & ENQUEUE_WAKEUP)
		se->vruntime = place_sleeper(cfs, se);
	cfs->load += se->weight;
	cfs->nr_running++;
	rq->nr_running++;
	se->on_rq = true;
	if (se != cfs->curr)
		rb_add_cached(&se->run_node, &cfs->timeline, entity_less);
}

/*
 * The task leaves without sleeping (another CPU, another class), so its vruntime becomes relative. It may have been the
 * least: then min_vruntime moves on to the least of those that stay.
 */
static noinline void dequeue_relative(struct cfs_rq *cfs, struct sched_entity *se)
{
	struct rb_node *left = rb_first_cached(&cfs->timeline);
	struct sched_entity *curr = cfs->curr;

	se->vruntime -= cfs->min_vruntime;
	if (left)
		update_min_vruntime(cfs, curr && curr->on_rq ? curr : entity(left));
}

/* The usual case is a running task that goes to sleep: it is not in the tree. */
static void dequeue_task_fair(struct rq *rq, struct task_struct *p, int flags)
{
	struct cfs_rq *cfs = &rq->cfs;
	struct sched_entity *se = &p->se;

	update_curr(rq);
	if (se != cfs->curr)
		rb_erase_cached(&se->run_node, &cfs->timeline);
	if (cfs->skip == se)
		cfs->skip = NULL;
	se->on_rq = false;
	cfs->load -= se->weight;
	cfs->nr_running--;
	rq->nr_running--;
	if (likely(flags & DEQUEUE_SLEEP))
		update_min_vruntime(cfs, se); /* it ran until now */
	else
		dequeue_relative(cfs, se);
}

/* The running task asks to be passed over once, as far as that is fair (pick_next_entity). */
static void yield_task_fair(struct rq *rq)
{
	update_curr(rq);
	rq->cfs.skip = rq->cfs.curr;
}

/* Does `se` take the CPU from `curr`? Only when it lags by more than a granule, in se's own virtual time. */
static bool wakeup_preempt_entity(const struct sched_entity *curr, const struct sched_entity *se)
{
	s64 lead = curr->vruntime - se->vruntime;

	return lead > 0 && lead > (s64)calc_delta_fair(sched_wakeup_gran_ns, se);
}

/*
 * p has become runnable while a task of this class runs. A running SCHED_IDLE task always gives way; SCHED_BATCH and
 * SCHED_IDLE never preempt.
 */
static void check_preempt_wakeup_fair(struct rq *rq, struct task_struct *p)
{
	struct task_struct *curr = rq->curr;

	if (test_tsk_thread_flag(curr, TIF_NEED_RESCHED))
		return;
	if (curr->policy == SCHED_IDLE && p->policy != SCHED_IDLE)
		goto preempt;
	if (p->policy != SCHED_NORMAL)
		return;
	update_curr(rq);
	if (!wakeup_preempt_entity(&curr->se, &p->se))
		return;
preempt:
	resched_curr(rq);
}

/*
 * The entity with the least vruntime; `curr` is the running one if it may go on, as it is not in the tree. When that
 * one has yielded, the second is taken, unless it is so far ahead that waiting would be unfair to the first.
 */
static struct sched_entity *pick_next_entity(struct cfs_rq *cfs, struct sched_entity *curr)
{
	struct rb_node *first = rb_first_cached(&cfs->timeline), *next;
	struct sched_entity *left = first ? entity(first) : NULL, *second;

	if (!left || (curr && entity_before(curr, left)))
		left = curr;
	if (cfs->skip != left || !left)
		return left;
	if (left == curr) {
		second = first ? entity(first) : NULL;
	} else {
		next = rb_next(first);
		second = next ? entity(next) : NULL;
		if (!second || (curr && entity_before(curr, second)))
			second = curr ? curr : second;
	}
	return second && !wakeup_preempt_entity(second, left) ? second : left;
}

/* The running entity is not in the tree: nothing has to be moved while it goes on. */
static inline void set_next_entity(struct rq *rq, struct sched_entity *se)
{
	if (se->on_rq)
		rb_erase_cached(&se->run_node, &rq->cfs.timeline);
	se->exec_start = rq->clock;
	se->prev_sum_exec_runtime = se->sum_exec_runtime;
	rq->cfs.curr = se;
}

/* It goes back into the tree if it is still runnable, with what it has just run. */
static inline void put_prev_entity(struct rq *rq, struct sched_entity *se)
{
	if (se->on_rq) {
		update_curr(rq);
		rb_add_cached(&se->run_node, &rq->cfs.timeline, entity_less);
	}
	rq->cfs.curr = NULL;
}

static void put_prev_task_fair(struct rq *rq, struct task_struct *p)
{
	put_prev_entity(rq, &p->se);
}

/*
 * The running task's parameters have changed, and it goes on. Its slice goes on, too: a task that got a new slice at
 * each change could run for ever.
 */
static void set_next_task_fair(struct rq *rq, struct task_struct *p)
{
	u64 slice_began = p->se.prev_sum_exec_runtime;

	set_next_entity(rq, &p->se);
	p->se.prev_sum_exec_runtime = slice_began;
}

/* The general way to pick, after the higher classes were asked: the previous task is back in the tree. */
static struct task_struct *pick_task_fair(struct rq *rq)
{
	struct sched_entity *se = pick_next_entity(&rq->cfs, NULL);

	if (!se)
		return NULL;
	rq->cfs.skip = NULL;
	set_next_entity(rq, se);
	return task_of(se);
}

/* The fast path of __schedule: only fair tasks are runnable here, at least one. prev is fair or idle. */
struct task_struct *noinline pick_next_task_fair(struct rq *rq, struct task_struct *prev)
{
	struct cfs_rq *cfs = &rq->cfs;
	struct sched_entity *curr = cfs->curr, *se;

	if (curr && curr->on_rq)
		update_curr(rq);
	se = pick_next_entity(cfs, curr && curr->on_rq ? curr : NULL);
	cfs->skip = NULL;
	if (se == curr)
		return prev;
	if (curr)
		put_prev_entity(rq, curr);
	else
		put_prev_task(rq, prev); /* idle */
	set_next_entity(rq, se);
	return task_of(se);
}

/* At a tick: has the running entity used up its share of the period, while others wait? */
static void check_preempt_tick(struct rq *rq, struct sched_entity *curr)
{
	struct cfs_rq *cfs = &rq->cfs;
	u64 ran = curr->sum_exec_runtime - curr->prev_sum_exec_runtime, slice = sched_slice(cfs, curr);
	struct rb_node *left = rb_first_cached(&cfs->timeline);

	if (ran > slice) {
		resched_curr(rq);
		return;
	}
	/* Not before a granule: a lead that came from one wake-up is no reason to switch back and forth. */
	if (ran < sched_min_granularity_ns || !left)
		return;
	if ((s64)(curr->vruntime - entity(left)->vruntime) > (s64)slice)
		resched_curr(rq);
}

static void task_tick_fair(struct rq *rq, struct task_struct *p)
{
	update_curr(rq);
	if (rq->cfs.nr_running > 1)
		check_preempt_tick(rq, &p->se);
}

/*
 * A sleeper wakes up on another CPU, and its vruntime becomes relative. The old queue is not locked: its min_vruntime
 * is one aligned word that only grows, a moment old at worst. pi_lock held.
 */
static void migrate_task_rq_fair(struct task_struct *p, int new_cpu)
{
	if (READ_ONCE(p->state) == TASK_WAKING)
		p->se.vruntime -= READ_ONCE(task_rq(p)->cfs.min_vruntime);
}

/*
 * A sleeper leaves the class: its vruntime becomes relative, with at most a sleeper's credit. For a queued task dequeue
 * and enqueue have done that.
 */
static void switched_from_fair(struct rq *rq, struct task_struct *p)
{
	if (!p->on_rq)
		p->se.vruntime = place_sleeper(&rq->cfs, &p->se) - rq->cfs.min_vruntime;
}

static void switched_to_fair(struct rq *rq, struct task_struct *p)
{
	if (!p->on_rq)
		p->se.vruntime += rq->cfs.min_vruntime;
	else if (task_current(rq, p))
		resched_curr(rq);
	else
		wakeup_preempt(rq, p);
}

static u64 get_rr_interval_fair(struct rq *rq, struct task_struct *p)
{
	return rq->cfs.load ? sched_slice(&rq->cfs, &p->se) : 0;
}

#define MIGRATE_SCAN 32 /* so that the cost of a pull does not grow with the tasks */

/* Looks from the left of the tree on, as those tasks have waited longest. */
struct task_struct *fair_migratable(struct rq *rq, int cpu, unsigned long max_weight)
{
	struct rb_node *n = rb_first_cached(&rq->cfs.timeline);

	for (unsigned i = 0; n && i < MIGRATE_SCAN; i++, n = rb_next(n)) {
		struct task_struct *p = task_of(entity(n));

		if (p->se.weight < max_weight && task_allowed(p, cpu))
			return p;
	}
	return NULL;
}

const struct sched_class fair_sched_class = {
	.next = &idle_sched_class,
	.enqueue_task = enqueue_task_fair,
	.dequeue_task = dequeue_task_fair,
	.yield_task = yield_task_fair,
	.wakeup_preempt = check_preempt_wakeup_fair,
	.pick_next_task = pick_task_fair,
	.put_prev_task = put_prev_task_fair,
	.set_next_task = set_next_task_fair,
	.select_task_rq = select_task_rq_fair,
	.migrate_task_rq = migrate_task_rq_fair,
	.task_tick = task_tick_fair,
	.update_curr = update_curr_fair,
	.switched_from = switched_from_fair,
	.switched_to = switched_to_fair,
	.get_rr_interval = get_rr_interval_fair,
};

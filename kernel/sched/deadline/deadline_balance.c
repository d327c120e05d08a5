/*
 * Deadline tasks over all CPUs: with N of them, the N earliest deadlines run as far as affinity admits (global EDF).
 *
 * As with real-time tasks: a task that is queued behind another is pushed to a CPU where it runs at once, when it comes
 * and after each switch; a CPU that turns to something less important pulls. At least one of the two moves the task:
 * the pusher marks its CPU as overloaded and then looks at the others' first deadlines; the puller changes its first
 * deadline and then looks for overloaded CPUs. With a full barrier in between on both sides, one sees the other.
 */
#include "../sched.h"

struct cpumask dl_overloaded_mask;

/* Looks for another CPU when the chosen one got something earlier meanwhile. */
#define PUSH_TRIES 3

void update_dl_overload(struct rq *rq)
{
	bool over = rq->dl.nr_running > 1 && rq->dl.nr_migratory;

	if (over == cpumask_test_cpu(rq->cpu, &dl_overloaded_mask))
		return;
	if (over)
		cpumask_set_cpu(rq->cpu, &dl_overloaded_mask);
	else
		cpumask_clear_cpu(rq->cpu, &dl_overloaded_mask);
}

/*
 * A task with a deadline after the returned one would have to wait on that CPU. Larger is better; CPUs without deadline
 * tasks return the largest, the more the less they have to do. Not locked: a guess, checked under the lock.
 */
static u64 cpu_deadline(const struct rq *rq)
{
	u64 earliest = READ_ONCE(rq->dl.earliest);

	if (stopper_queued(rq))
		return 0;
	if (earliest != DL_NONE)
		return earliest;
	return DL_NONE - (READ_ONCE(rq->nr_running) > 0) - (READ_ONCE(rq->rt.nr_running) > 0);
}

/*
 * The CPU where a task with this deadline runs at once and disturbs least, `home` when it is as good as any. -1: there
 * is no such CPU.
 */
static int find_later_rq(struct task_struct *p, u64 deadline, int home)
{
	u64 latest = deadline, there;
	int best = -1;
	unsigned cpu;

	if (task_allowed(p, home) && cpu_deadline(cpu_rq(home)) > latest) {
		latest = cpu_deadline(cpu_rq(home));
		best = home;
	}
	for_each_online_cpu(cpu) {
		there = cpu_deadline(cpu_rq(cpu));
		if (there > latest && task_allowed(p, cpu)) {
			latest = there;
			best = cpu;
		}
	}
	return best;
}

/*
 * The CPU where it was, if no other CPU has less to do. Its deadline will be the one it has, or a new one that counts
 * from now.
 */
int select_task_rq_dl(struct task_struct *p, int cpu, int flags)
{
	u64 now = sched_clock(), deadline = READ_ONCE(p->dl.deadline);
	int best;

	if (READ_ONCE(p->dl.throttled))
		return cpu;
	if (deadline <= now)
		deadline = now + p->dl.params.deadline;
	best = find_later_rq(p, deadline, cpu);
	return best >= 0 ? best : cpu;
}

/*
 * The first task in the queue that does not run and may move, to `cpu` if that is not -1. Only tasks that were pinned
 * while there was no admission control are passed over. Context: rq locked.
 */
static struct task_struct *pick_pushable_dl_task(struct rq *rq, int cpu)
{
	struct rb_node *n;

	for (n = rb_first_cached(&rq->dl.tasks); n; n = rb_next(n)) {
		struct task_struct *p = rb_entry(n, struct task_struct, dl.node);

		if (!task_current(rq, p) && p->nr_cpus_allowed > 1 && (cpu < 0 || task_allowed(p, cpu)))
			return p;
	}
	return NULL;
}

/* Does p come before what runs on its CPU? Then it is about to run there: its wake-up has asked for that. */
static bool about_to_run(const struct rq *rq, const struct task_struct *p)
{
	const struct task_struct *curr = rq->curr;

	if (curr->sched_class == &dl_sched_class)
		return !curr->dl.queued || p->dl.deadline < curr->dl.deadline;
	return curr->sched_class != &stop_sched_class;
}

/* Is p, after rq's lock was let go, still one that waits here? */
static bool still_waits(struct rq *rq, struct task_struct *p)
{
	return task_rq(p) == rq && p->sched_class == &dl_sched_class && p->dl.queued && !task_current(rq, p);
}

/* Move p to a CPU where it runs at once. Context: rq locked; may be let go. Returns whether p moved. */
static bool push_dl_task(struct rq *rq, struct task_struct *p)
{
	bool moved = false;

	for (int i = 0; i < PUSH_TRIES && !moved && still_waits(rq, p); i++) {
		int cpu = find_later_rq(p, p->dl.deadline, rq->cpu);
		struct rq *to;

		if (cpu < 0 || cpu == rq->cpu)
			break;
		to = cpu_rq(cpu);
		double_lock_balance(rq, to);
		if (still_waits(rq, p) && task_allowed(p, cpu) && cpu_deadline(to) > p->dl.deadline) {
			move_queued_task(rq, p, to);
			moved = true;
		}
		rq_unlock(to);
	}
	return moved;
}

/*
 * Send deadline tasks that wait here to CPUs where they would run now, until no more can move. Each turn takes the lock
 * and looks again.
 */
void push_dl_tasks(struct rq *rq)
{
	struct task_struct *p;
	bool more = true;

	while (more && READ_ONCE(rq->dl.nr_running) > 1 && READ_ONCE(rq->dl.nr_migratory)) {
		rq_lock(rq);
		p = pick_pushable_dl_task(rq, -1);
		if (!p || about_to_run(rq, p)) {
			rq_unlock(rq);
			return;
		}
		get_task_struct(p); /* the lock may be dropped, p may exit meanwhile */
		smp_mb();	    /* see above: marked as overloaded, then looks at the others */
		more = push_dl_task(rq, p);
		rq_unlock(rq);
		put_task_struct(p);
	}
}

/* Take one task from `src` if it beats what is here. Context: here locked, may be let go. */
static void pull_dl_from(struct rq *here, struct rq *src)
{
	struct task_struct *p;

	double_lock_balance(here, src);
	p = pick_pushable_dl_task(src, here->cpu);
	if (p && !about_to_run(src, p) && p->dl.deadline < here->dl.earliest)
		move_queued_task(src, p, here);
	rq_unlock(src);
}

void pull_dl_task(struct rq *rq)
{
	unsigned cpu;

	if (!rq->pulls)
		return;
	for_each_cpu(cpu, &dl_overloaded_mask)
		if (cpu != rq->cpu)
			pull_dl_from(rq, cpu_rq(cpu));
}

void pull_tasks(struct rq *rq)
{
	smp_mb(); /* see above: our first deadline, then which CPUs are overloaded */
	if (unlikely(!cpumask_empty(&dl_overloaded_mask)))
		pull_dl_task(rq);
	if (!cpumask_empty(&rt_overloaded_mask))
		pull_rt_task(rq);
}

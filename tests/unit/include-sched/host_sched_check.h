/* What holds of the simulated CPUs between any two steps. Part of host_sched.h. */
#pragma once

/* What is true of every runqueue whenever nobody changes it. */
static inline void host_check_fair(struct rq *rq)
{
	unsigned long load = 0;
	unsigned nr = 0;
	u64 last = 0;

	for (unsigned i = 0; i < host_nr_tasks; i++) {
		struct task_struct *p = &host_tasks[i];

		if (p->sched_class != &fair_sched_class || !p->on_rq || p->cpu != rq->cpu)
			continue;
		nr++;
		load += p->se.weight;
		if (p->policy != SCHED_IDLE && p->se.weight != sched_prio_to_weight[p->static_prio - MAX_RT_PRIO])
			host_fail("%s has nice %d and weight %lu", p->comm, task_nice(p), p->se.weight);
	}
	if (rq->cfs.nr_running != nr)
		host_fail("CPU %d counts %u fair tasks and has %u", rq->cpu, rq->cfs.nr_running, nr);
	if (rq->cfs.load != load)
		host_fail("CPU %d has a load of %lu, its tasks weigh %lu", rq->cpu, rq->cfs.load, load);
	for (struct rb_node *n = rb_first_cached(&rq->cfs.timeline); n; n = rb_next(n)) {
		struct sched_entity *se = rb_entry(n, struct sched_entity, run_node);

		if (last && (s64)(se->vruntime - last) < 0)
			host_fail("CPU %d: the fair tasks are not in the order of their virtual time", rq->cpu);
		last = se->vruntime;
		nr--;
	}
	if (nr != (rq->curr->sched_class == &fair_sched_class))
		host_fail("CPU %d: %u fair tasks are not in the tree", rq->cpu, nr);
}

/* What the runqueue counts of real-time and deadline tasks, against its lists, its bitmap and its tree. */
static inline void host_check_rt(struct rq *rq)
{
	unsigned nr = 0, movable = 0, dl = 0, dl_movable = 0;
	struct task_struct *p;
	u64 first = DL_NONE;

	for (int prio = 0; prio < MAX_RT_PRIO; prio++) {
		if (list_empty(&rq->rt.queue[prio]) == test_bit((unsigned)prio, rq->rt.bitmap))
			host_fail("CPU %d: the bit of priority %d is wrong", rq->cpu, prio);
		list_for_each_entry(p, &rq->rt.queue[prio], rt.run_list) {
			nr++;
			movable += p->nr_cpus_allowed > 1;
			if (p->prio != prio || p->cpu != rq->cpu || !p->on_rq)
				host_fail("%s is on a list where it does not belong", p->comm);
		}
	}
	if (rq->rt.nr_running != nr || rq->rt.nr_migratory != movable)
		host_fail("CPU %d counts %u real-time tasks, %u movable, and has %u, %u", rq->cpu, rq->rt.nr_running,
			  rq->rt.nr_migratory, nr, movable);
	for (struct rb_node *n = rb_first_cached(&rq->dl.tasks); n; n = rb_next(n)) {
		p = rb_entry(n, struct task_struct, dl.node);
		first = dl++ ? first : p->dl.deadline;
		dl_movable += p->nr_cpus_allowed > 1;
	}
	if (rq->dl.nr_running != dl || rq->dl.nr_migratory != dl_movable || rq->dl.earliest != first)
		host_fail("CPU %d counts %u deadline tasks, %u movable, and has %u, %u", rq->cpu, rq->dl.nr_running,
			  rq->dl.nr_migratory, dl, dl_movable);
	if (rq->nr_running != nr + dl + rq->cfs.nr_running)
		host_fail("CPU %d counts %u tasks in all and has %u", rq->cpu, rq->nr_running,
			  nr + dl + rq->cfs.nr_running);
}

/* A class below runs nothing while a class above has a task; of the highest one the first runs. */
static inline void host_check_running(struct rq *rq)
{
	struct task_struct *curr = rq->curr;
	int prio = MAX_RT_PRIO;

	while (prio-- > 0 && list_empty(&rq->rt.queue[MAX_RT_PRIO - 1 - prio]))
		;
	prio = MAX_RT_PRIO - 1 - prio;
	if (rq->dl.nr_running) {
		if (curr->sched_class != &dl_sched_class || curr->dl.deadline != rq->dl.earliest)
			host_fail("CPU %d runs %s, not its earliest deadline", rq->cpu, curr->comm);
	} else if (rq->rt.nr_running) {
		if (curr->sched_class != &rt_sched_class || curr->prio != prio)
			host_fail("CPU %d runs %s, not its highest real-time priority", rq->cpu, curr->comm);
	} else if (rq->cfs.nr_running) {
		if (curr->sched_class != &fair_sched_class)
			host_fail("CPU %d runs %s, but has fair tasks", rq->cpu, curr->comm);
	} else if (curr != rq->idle) {
		host_fail("CPU %d runs %s, and has no task", rq->cpu, curr->comm);
	}
	if (!curr->on_cpu)
		host_fail("CPU %d runs %s, whose on_cpu is 0", rq->cpu, curr->comm);
	if (cpumask_test_cpu(rq->cpu, &idle_cpus_mask) != (curr == rq->idle))
		host_fail("CPU %d is in the wrong mask: it runs %s", rq->cpu, curr->comm);
}

static inline void host_check(void)
{
	for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++) {
		struct rq *rq = cpu_rq(cpu);

		if (rq->lock.locked)
			host_fail("CPU %u's runqueue is still locked", cpu);
		host_check_fair(rq);
		host_check_rt(rq);
		host_check_running(rq);
	}
}

/* The N most important real-time tasks run, wherever they woke up and whoever was there. */
static inline void host_check_order(void)
{
	for (unsigned i = 0; i < host_nr_tasks; i++) {
		struct task_struct *p = &host_tasks[i];
		bool deadline = p->sched_class == &dl_sched_class && p->dl.queued;

		if ((!deadline && (p->sched_class != &rt_sched_class || !p->on_rq)) || host_runs(p->cpu) == p)
			continue;
		for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++) {
			struct task_struct *curr = host_runs(cpu);
			bool below = curr->prio > p->prio ||
				     (deadline && dl_task(curr) && curr->dl.deadline > p->dl.deadline);

			if (below && task_allowed(p, cpu))
				host_fail("%s of priority %d waits on CPU %u while CPU %u runs %s of priority %d",
					  p->comm, p->prio, p->cpu, cpu, curr->comm, curr->prio);
		}
	}
}

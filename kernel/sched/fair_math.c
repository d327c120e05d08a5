/* Arithmetic of the fair class: weights, virtual time, slices, placement. Takes no lock. */
#include "sched.h"

/*
 * Weight of each nice level -20..19: 1.25 to the power of -nice, times 1024, as Linux publishes them
 * (sched_prio_to_weight). One level is about 10 % of CPU between two tasks.
 */
const int sched_prio_to_weight[40] = {
	88761, 71755, 56483, 46273, 36291, /* -20 */
	29154, 23254, 18705, 14949, 11916, /* -15 */
	9548,  7620,  6100,  4904,  3906,  /* -10 */
	3121,  2501,  1991,  1586,  1277,  /*  -5 */
	1024,  820,   655,   526,   423,   /*   0 */
	335,   272,   215,   172,   137,   /*   5 */
	110,   87,    70,    56,    45,	   /*  10 */
	36,    29,    23,    18,    15,	   /*  15 */
};

/* Context: p off every queue, or its runqueue locked with the old weight taken out of the sum. */
void set_load_weight(struct task_struct *p)
{
	unsigned long w = WEIGHT_IDLEPRIO;

	if (p->policy != SCHED_IDLE)
		w = sched_prio_to_weight[p->static_prio - MAX_RT_PRIO];
	p->se.weight = w;
	p->se.inv_weight = U32_MAX / w;
}

/* By the inverse (2^32 / weight), so that there is no division. */
u64 scale_by_weight(u64 delta, const struct sched_entity *se)
{
	return (u64)(((unsigned __int128)delta * (NICE_0_LOAD * se->inv_weight)) >> 32);
}

/*
 * ns that an entity may run before it is asked whether another should: its share by weight of the time in
 * which each task is to run once. That period grows with the tasks when the shares would become too short to
 * be worth a switch.
 */
u64 sched_slice(const struct cfs_rq *cfs, const struct sched_entity *se)
{
	unsigned nr = cfs->nr_running + !se->on_rq;
	unsigned long load = cfs->load + (se->on_rq ? 0 : se->weight);
	u64 period = sched_latency_ns;

	if (nr > sched_latency_ns / sched_min_granularity_ns)
		period = nr * sched_min_granularity_ns;
	return max_t(u64, period * se->weight / load, sched_min_granularity_ns);
}

u64 place_new(const struct cfs_rq *cfs, const struct sched_entity *se)
{
	return cfs->min_vruntime + calc_delta_fair(sched_slice(cfs, se), se);
}

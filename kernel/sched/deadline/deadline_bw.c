/*
 * Admission of deadline tasks: what all of them ask for together must leave something on every CPU.
 *
 * The sum of runtime / period over all deadline tasks is at most sched_rt_runtime_us / sched_rt_period_us (95 %) of all
 * CPUs, as in Linux. A task counts from the change of its policy until it ends or leaves the class. Linux gives its
 * share back at the 0-lag time: until then the budget that it has used is paid for. Here it is given back at once. A
 * task that leaves and comes back finds its old budget and deadline (deadline.c), so it gains nothing; and one that
 * ends has used at most one budget beyond its share.
 */
#include <fs/libfs.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/cpuhp.h>

#include "../sched.h"

static DEFINE_SPINLOCK(dl_bw_lock); /* inside pi_lock and runqueue locks */
static u64 total_bw;		    /* [dl_bw_lock] */

/* What /proc/sys/kernel sets, microseconds. [dl_bw_lock writes] */
enum dl_limit { RT_RUNTIME /* -1: no limit */, RT_PERIOD, PERIOD_MIN, PERIOD_MAX, NR_DL_LIMITS };
static s64 limits[NR_DL_LIMITS] = {
	[RT_RUNTIME] = 950000, [RT_PERIOD] = 1000000, [PERIOD_MIN] = 100, [PERIOD_MAX] = 1U << 22};

bool dl_params_allowed(const struct dl_params *dl)
{
	return dl_params_valid(dl, (u64)READ_ONCE(limits[PERIOD_MIN]) * NSEC_PER_USEC,
			       (u64)READ_ONCE(limits[PERIOD_MAX]) * NSEC_PER_USEC);
}

/* -1 in sched_rt_runtime_us switches admission off, as on Linux. */
static bool limited(void)
{
	return READ_ONCE(limits[RT_RUNTIME]) >= 0;
}

/* What all CPUs together may give to deadline tasks, in units of 1 / 2^20 of a CPU (to_ratio). */
static u64 bw_limit(const s64 *l)
{
	return to_ratio((u64)l[RT_PERIOD], (u64)l[RT_RUNTIME]) * cpumask_weight(&cpu_active_mask);
}

/* Does the mask hold every CPU that is online? */
static bool allows_all(const unsigned long *mask)
{
	unsigned cpu;

	for_each_online_cpu(cpu)
		if (!test_bit(cpu, mask))
			return false;
	return true;
}

/* Admission counts all CPUs together, not each one: so a deadline task must be allowed on all. */
bool dl_affinity_allowed(const struct task_struct *p, const struct cpumask *mask)
{
	return !dl_task(p) || !limited() || allows_all(mask->bits);
}

/*
 * Count what p will have instead of what it has. Leaving the class always succeeds, also after the limit was lowered.
 */
int dl_admit(struct task_struct *p, const struct sched_params *sp)
{
	bool deadline = sp->policy == SCHED_DEADLINE;
	u64 bw = deadline ? to_ratio(sp->dl.period, sp->dl.runtime) : 0;
	int ret = 0;

	if (!deadline && !p->dl.bw)
		return 0;
	if (deadline && limited() && (!allows_all(p->cpus_mask) || READ_ONCE(limits[RT_RUNTIME]) == 0))
		return -EPERM;
	spin_lock(&dl_bw_lock);
	if (bw > p->dl.bw && limited() && total_bw - p->dl.bw + bw > bw_limit(limits)) {
		ret = -EBUSY;
	} else {
		total_bw += bw - p->dl.bw;
		p->dl.bw = bw;
	}
	spin_unlock(&dl_bw_lock);
	return ret;
}

void dl_release(struct task_struct *p)
{
	unsigned long flags;

	spin_lock_irqsave(&dl_bw_lock, flags);
	total_bw -= p->dl.bw;
	p->dl.bw = 0;
	spin_unlock_irqrestore(&dl_bw_lock, flags);
}

/* A CPU that is about to go does not count any more. -EBUSY: what is promised needs it. */
static int dl_cpu_leaves(unsigned cpu)
{
	int ret = 0;

	spin_lock_irq(&dl_bw_lock);
	if (limited() && total_bw > bw_limit(limits))
		ret = -EBUSY;
	spin_unlock_irq(&dl_bw_lock);
	return ret;
}
static const struct cpuhp_step dl_step = {.name = "sched:deadline", .stage = CPUHP_ONLINE, .down = dl_cpu_leaves};
REGISTER_CPUHP(dl_step);

u64 dl_total_bw(void)
{
	return READ_ONCE(total_bw);
}

/*
 * Tasks that are admitted keep their periods and what was promised to them: a limit below the present sum is refused
 * with -EBUSY.
 */
static int check_dl_limits(const s64 *l)
{
	if (l[RT_RUNTIME] < -1 || l[RT_RUNTIME] > INT_MAX || l[RT_PERIOD] < 1 || l[RT_PERIOD] > INT_MAX ||
	    l[RT_RUNTIME] > l[RT_PERIOD])
		return -EINVAL;
	if (l[PERIOD_MIN] < 0 || l[PERIOD_MAX] > U32_MAX || l[PERIOD_MIN] > l[PERIOD_MAX])
		return -EINVAL;
	return l[RT_RUNTIME] >= 0 && bw_limit(l) < total_bw ? -EBUSY : 0;
}

/*
 * One number changes. The others, which it must fit, are read under the same lock, so two writers cannot make a pair
 * that neither has asked for. 0 or -errno.
 */
static int set_dl_limit(enum dl_limit which, const char *text)
{
	s64 us, wanted[NR_DL_LIMITS];
	int ret = kstrtoll(text, 10, &us);

	if (ret)
		return ret;
	spin_lock_irq(&dl_bw_lock);
	memcpy(wanted, limits, sizeof(wanted));
	wanted[which] = us;
	ret = check_dl_limits(wanted);
	if (!ret)
		WRITE_ONCE(limits[which], us);
	spin_unlock_irq(&dl_bw_lock);
	return ret;
}

#define DL_LIMIT(which, file)                                                                            \
	static int which##_show(struct seq_file *m, void *v)                                             \
	{                                                                                                \
		seq_printf(m, "%lld\n", (long long)READ_ONCE(limits[which]));                            \
		return 0;                                                                                \
	}                                                                                                \
	static int which##_store(char *text, void *data)                                                 \
	{                                                                                                \
		return set_dl_limit(which, text);                                                        \
	}                                                                                                \
	static const struct text_file which##_entry = {                                                  \
		.path = "sys/kernel/" file, .mode = 0644, .show = which##_show, .store = which##_store}; \
	REGISTER_PROC(which##_entry)

DL_LIMIT(RT_RUNTIME, "sched_rt_runtime_us");
DL_LIMIT(RT_PERIOD, "sched_rt_period_us");
DL_LIMIT(PERIOD_MIN, "sched_deadline_period_min_us");
DL_LIMIT(PERIOD_MAX, "sched_deadline_period_max_us");

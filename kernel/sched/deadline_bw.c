/* Admission of deadline tasks: what all of them ask for together must leave something on every CPU. */
#include <fs/libfs.h>
#include <kernel/smp.h>
#include <lib/string.h>

#include "sched.h"

/*
 * The sum of runtime / period over all deadline tasks is at most sched_rt_runtime_us / sched_rt_period_us (95 %) of
 * all CPUs, as in Linux. It is counted where the policy changes, and no longer once the task ends or leaves the
 * class. Linux gives it back at the 0-lag time, until which the budget already used was promised to the task. Here
 * it is given back at once: a task that leaves and comes back finds its old budget and deadline (deadline.c), so it
 * gains nothing; and one that ends has had at most one budget of the bandwidth that another is admitted to.
 */

static DEFINE_SPINLOCK(dl_bw_lock); /* inside pi_lock and runqueue locks */
static u64 total_bw;		    /* [dl_bw_lock] */
static int rt_runtime_us = 950000;  /* [dl_bw_lock writes] -1: no limit */
static int rt_period_us = 1000000;  /* [dl_bw_lock writes] */
static unsigned period_min_us = 100;
static unsigned period_max_us = 1U << 22;

bool dl_params_allowed(const struct dl_params *dl)
{
	return dl_params_valid(dl, READ_ONCE(period_min_us) * NSEC_PER_USEC,
			       READ_ONCE(period_max_us) * NSEC_PER_USEC);
}

static bool limited(void)
{
	return READ_ONCE(rt_runtime_us) >= 0;
}

/* What each CPU may give, as to_ratio() has it. */
static u64 cpu_limit(int runtime_us, int period_us)
{
	return to_ratio(period_us, runtime_us);
}

static bool allows_all(const unsigned long *mask)
{
	unsigned cpu;

	for_each_online_cpu (cpu)
		if (!test_bit(cpu, mask))
			return false;
	return true;
}

/* Admission knows nothing of single CPUs: a deadline task must be allowed on all. */
bool dl_affinity_allowed(const struct task_struct *p, const struct cpumask *mask)
{
	return !dl_task(p) || !limited() || allows_all(mask->bits);
}

int dl_admit(struct task_struct *p, const struct sched_params *sp)
{
	bool deadline = sp->policy == SCHED_DEADLINE;
	u64 bw = deadline ? to_ratio(sp->dl.period, sp->dl.runtime) : 0;
	int ret = 0;

	if (!deadline && !p->dl.bw)
		return 0;
	if (deadline && limited() && (!allows_all(p->cpus_mask) || rt_runtime_us == 0))
		return -EPERM;
	spin_lock(&dl_bw_lock);
	if (bw > p->dl.bw && limited() &&
	    total_bw - p->dl.bw + bw > cpu_limit(rt_runtime_us, rt_period_us) * num_online_cpus()) {
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

u64 dl_total_bw(void)
{
	return READ_ONCE(total_bw);
}

/* Not below what is promised already. */
static int set_limit(int runtime_us, int period_us)
{
	int ret = 0;

	if (runtime_us > period_us)
		return -EINVAL;
	spin_lock_irq(&dl_bw_lock);
	if (runtime_us >= 0 && cpu_limit(runtime_us, period_us) * num_online_cpus() < total_bw) {
		ret = -EBUSY;
	} else {
		WRITE_ONCE(rt_runtime_us, runtime_us);
		WRITE_ONCE(rt_period_us, period_us);
	}
	spin_unlock_irq(&dl_bw_lock);
	return ret;
}

static int rt_runtime_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", READ_ONCE(rt_runtime_us));
	return 0;
}

static int rt_runtime_store(const char *text, size_t len)
{
	int us, ret = kstrtoint(text, 10, &us);

	if (ret)
		return ret;
	return us < -1 ? -EINVAL : set_limit(us, READ_ONCE(rt_period_us));
}

static int rt_period_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", READ_ONCE(rt_period_us));
	return 0;
}

static int rt_period_store(const char *text, size_t len)
{
	int us, ret = kstrtoint(text, 10, &us);

	if (ret)
		return ret;
	return us < 1 ? -EINVAL : set_limit(READ_ONCE(rt_runtime_us), us);
}

static int period_min_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(period_min_us));
	return 0;
}

/* Tasks that are admitted keep their periods. */
static int period_min_store(const char *text, size_t len)
{
	unsigned us;
	int ret = kstrtouint(text, 10, &us);

	if (!ret && us > READ_ONCE(period_max_us))
		ret = -EINVAL;
	if (!ret)
		WRITE_ONCE(period_min_us, us);
	return ret;
}

static int period_max_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(period_max_us));
	return 0;
}

static int period_max_store(const char *text, size_t len)
{
	unsigned us;
	int ret = kstrtouint(text, 10, &us);

	if (!ret && us < READ_ONCE(period_min_us))
		ret = -EINVAL;
	if (!ret)
		WRITE_ONCE(period_max_us, us);
	return ret;
}

static const struct proc_entry rt_runtime_entry = {
	.path = "sys/kernel/sched_rt_runtime_us", .mode = 0644, .show = rt_runtime_show, .store = rt_runtime_store};
static const struct proc_entry rt_period_entry = {
	.path = "sys/kernel/sched_rt_period_us", .mode = 0644, .show = rt_period_show, .store = rt_period_store};
static const struct proc_entry period_min_entry = {.path = "sys/kernel/sched_deadline_period_min_us",
						   .mode = 0644,
						   .show = period_min_show,
						   .store = period_min_store};
static const struct proc_entry period_max_entry = {.path = "sys/kernel/sched_deadline_period_max_us",
						   .mode = 0644,
						   .show = period_max_show,
						   .store = period_max_store};
REGISTER_PROC(rt_runtime_entry);
REGISTER_PROC(rt_period_entry);
REGISTER_PROC(period_min_entry);
REGISTER_PROC(period_max_entry);

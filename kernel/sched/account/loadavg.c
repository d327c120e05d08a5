/* Load averages: runnable and uninterruptible tasks, damped over 1, 5 and 15 minutes. */
#include "../sched.h"

#define LOAD_FREQ_NS (5 * NSEC_PER_SEC)
#define FIXED_1	     (1UL << 16)

/* 2^16 * exp(-5 s / period) for 60, 300, 900 s. */
static const u64 decay[3] = {60296, 64453, 65173};
static u64 avenrun[3];		       /* [l] fixed point 2^16 */
static u64 next_update = LOAD_FREQ_NS; /* [l] */
static u64 sleeping;		       /* [l] tasks that slept uninterruptibly when a tick ended last */
static DEFINE_SPINLOCK(load_lock);

static void loadavg_fold(u64 active)
{
	for (int i = 0; i < 3; i++) {
		u64 load = avenrun[i] * decay[i] + active * (FIXED_1 - decay[i]);

		if (active >= avenrun[i])
			load += FIXED_1 - 1; /* round towards the target, or it is never reached */
		avenrun[i] = load / FIXED_1;
	}
}

/*
 * In periods that passed without any tick every CPU was idle: active were those tasks alone that slept uninterruptibly
 * then. A task that begins or ends such a sleep starts its CPU's tick. The number of steps is bounded: after so many
 * the longest average has arrived. Context: interrupts off, load_lock held.
 */
static void catch_up(u64 now)
{
	u64 missed = (now - next_update) / LOAD_FREQ_NS;

	for (u64 i = 0; i < missed && i < 4096; i++)
		loadavg_fold(sleeping * FIXED_1);
	next_update += missed * LOAD_FREQ_NS;
	loadavg_fold((nr_running() + nr_uninterruptible()) * FIXED_1);
	next_update += LOAD_FREQ_NS;
}

/* Called by ticks and readers; interrupts may be on or off. */
void calc_global_load(u64 now)
{
	unsigned long flags;

	if ((s64)(now - READ_ONCE(next_update)) < 0)
		return;
	spin_lock_irqsave(&load_lock, flags);
	if ((s64)(now - next_update) >= 0)
		catch_up(now);
	spin_unlock_irqrestore(&load_lock, flags);
}

void calc_global_load_idle(u64 now)
{
	unsigned long flags;

	calc_global_load(now);
	spin_lock_irqsave(&load_lock, flags);
	sleeping = nr_uninterruptible();
	spin_unlock_irqrestore(&load_lock, flags);
}

void get_avenrun(u64 *loads)
{
	calc_global_load(sched_clock());
	for (int i = 0; i < 3; i++)
		loads[i] = READ_ONCE(avenrun[i]);
}

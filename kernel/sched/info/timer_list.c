/*
 * /proc/timer_list: the timers that wait on each CPU, in the form of Linux's file.
 *
 * The timers of a CPU are copied while they are locked (hrtimers_waiting), and printed from the copy
 * without a lock. Only root may read it: it shows addresses.
 */
#include <fs/libfs.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <time/clock.h>
#include <time/hrtimer.h>

#define MAX_SHOWN 512 /* timers of a CPU; people do not read more */

/*
 * One timer, two lines. The two times are equal because our timers have no slack: Linux prints the earliest
 * and the latest.
 */
static void show_timer(struct seq_file *m, unsigned n, const struct hrtimer_view *t, ktime_t now)
{
	seq_printf(m, " #%u: <%px>, %ps, S:01\n", n, t->timer, (void *)t->function);
	seq_printf(m, " # expires at %llu-%llu nsecs [in %lld to %lld nsecs]\n", (unsigned long long)t->expires,
		   (unsigned long long)t->expires, (long long)(t->expires - now), (long long)(t->expires - now));
}

/* A copy is taken with the CPU's timers locked, and printed without the lock. */
static int timer_list_show(struct seq_file *m, void *v)
{
	struct hrtimer_view *timers = kvmalloc(MAX_SHOWN * sizeof(*timers), GFP_KERNEL);
	ktime_t now = ktime_get();
	unsigned cpu, n;

	if (!timers)
		return -ENOMEM;
	seq_puts(m, "Timer List Version: v0.10\nHRTIMER_MAX_CLOCK_BASES: 1\n");
	seq_printf(m, "now at %lld nsecs\n", (long long)now);
	for_each_online_cpu(cpu) {
		n = hrtimers_waiting(cpu, timers, MAX_SHOWN);
		seq_printf(m, "\ncpu: %u\n clock 0:\n  .get_time:   ktime_get\nactive timers:\n", cpu);
		for (unsigned i = 0; i < n; i++)
			show_timer(m, i, &timers[i], now);
	}
	kvfree(timers);
	return 0;
}

static const struct text_file timer_list_entry = {.path = "timer_list", .mode = 0400, .show = timer_list_show};
REGISTER_PROC(timer_list_entry);

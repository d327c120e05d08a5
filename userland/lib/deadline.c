/*
 * What the kernel takes as parameters of deadline tasks (SCHED_DEADLINE).
 *
 * Such a task may run for `runtime` ns in each `period`, and must get that time within `deadline` of
 * the period's beginning:
 *
 *     |<------------------ period ------------------>|
 *     |<--------- deadline --------->|
 *     | ==== runtime ====            |               |
 *
 * So runtime <= deadline <= period. The kernel answers EINVAL to anything else and does not say which
 * condition failed; vt_deadline_fault() does. A period of 0 stands for the deadline.
 */
#include <vt.h>
#include <limits.h>
#include <sched.h>

/* The kernel's least (DL_SCALE of Linux): bandwidths are reckoned in steps of it. */
#define DL_RUNTIME_MIN 1024UL

/* A bound of periods in us; or fallback, where the kernel tells none. */
static unsigned long bound(const char *path, unsigned long fallback)
{
	char *text = vt_read_file(path, NULL);
	unsigned long us = text ? strtoul(text, NULL, 10) : fallback;

	free(text);
	return us;
}

void vt_deadline_periods(unsigned long *min_us, unsigned long *max_us)
{
	*min_us = bound("/proc/sys/kernel/sched_deadline_period_min_us", 0);
	*max_us = bound("/proc/sys/kernel/sched_deadline_period_max_us", LONG_MAX / 1000);
}

const char *vt_deadline_fault(const struct sched_attr *attr)
{
	unsigned long period = attr->sched_period ? attr->sched_period : attr->sched_deadline, min, max;
	static char text[160];

	vt_deadline_periods(&min, &max);
	if (attr->sched_runtime >= DL_RUNTIME_MIN && attr->sched_runtime <= attr->sched_deadline &&
	    attr->sched_deadline <= period && period >= min * 1000 && period <= max * 1000)
		return NULL;
	snprintf(text, sizeof(text), "%lu ns <= runtime <= deadline <= period is wanted, and a period of %lu to %lu us",
		 DL_RUNTIME_MIN, min, max);
	return text;
}

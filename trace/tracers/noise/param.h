/* Control files of one number with limits: hwlat_detector/width and its like, the files of osnoise/. */
#pragma once

#include <time/clock.h>

#include "tracefs/tracefs.h"

/* A number that is read without a lock and written with trace_types_lock held. */
struct trace_param {
	u64 *value;
	const u64 *min, *max; /* NULL: no limit. A limit may be another such number */
};

/*
 * Convert microseconds that a user has set to ns; a value that does not fit into 63 bits becomes the largest one that
 * does.
 */
static inline u64 trace_param_ns(u64 us)
{
	return us > S64_MAX / NSEC_PER_USEC ? S64_MAX : us * NSEC_PER_USEC;
}

/* For TRACEFS_TEXT_FILE. trace_param_store: 0, -EINVAL (not a number, beyond a limit), -ERANGE (more than 64 bits). */
int trace_param_show(struct seq_file *m, const struct trace_param *param);
int trace_param_store(const char *text, const struct trace_param *param);

#define TRACE_PARAM_FILE(id, path, param)                    \
	static int id##_show(struct seq_file *m, void *data) \
	{                                                    \
		return trace_param_show(m, &(param));        \
	}                                                    \
	static int id##_store(char *text, void *data)        \
	{                                                    \
		return trace_param_store(text, &(param));    \
	}                                                    \
	TRACEFS_NUMBER_FILE(id, path, 0640, TRACEFS_TOP, id##_show, id##_store)

/*
 * The tracers wakeup, wakeup_rt and wakeup_dl: wakeup looks at all tasks, wakeup_rt at real-time and deadline ones,
 * wakeup_dl at deadline ones. tracers/wakeup.c does the measuring and recording.
 *
 * This file only selects: it begins and ends the measurement in the right order and passes options on. All three share
 * the one state of tracers/wakeup.c, so only one of them can be selected at a time, in one array (use_max_tr). All
 * functions run with trace_types_lock held and may sleep.
 */
#include <lib/errno.h>
#include <sched/sched.h>

#include "core/aside.h"
#include "output/iter.h"
#include "tracers/graph/latency.h"
#include "wakeup.h"

#define WAKEUP_GRAPH_PRINT (LATENCY_GRAPH_PRINT | TRACE_GRAPH_PRINT_OVERHEAD | TRACE_GRAPH_PRINT_IRQS)

static bool wakeup_busy; /* [t] one of the tracers is selected */

/*
 * The scheduler's probes are registered first and the function entries last. The probes follow nothing before
 * wakeup_set_enabled(), so it does no harm that they run early. 0 or -errno: then nothing is registered.
 */
static int start_tracing(struct trace_array *tr, int limit)
{
	int ret = wakeup_register_probes(tr, limit);

	if (ret)
		return ret;
	ret = wakeup_set_form(tr, tr->trace_flags & TRACE_ITER(DISPLAY_GRAPH));
	if (!ret)
		ret = wakeup_function_set(tr, tr->trace_flags & TRACE_ITER(FUNCTION));
	if (ret)
		wakeup_unregister_probes(tr);
	return ret;
}

/*
 * trace_max_start() sets the second buffer up, which holds the longest trace. It must be there before the first wake-up
 * can be found to be the longest. `limit` is one of WAKEUP_*.
 */
static int wakeup_init(struct trace_array *tr, int limit)
{
	int ret = trace_max_start(tr);

	if (ret)
		return ret;
	ret = start_tracing(tr, limit);
	if (ret) {
		trace_max_stop(tr);
		return ret;
	}
	wakeup_set_enabled(tracer_tracing_is_on(tr));
	wakeup_busy = true;
	return 0;
}

static int wakeup_tracer_init(struct trace_array *tr)
{
	return wakeup_init(tr, WAKEUP_ALL);
}

static int wakeup_rt_tracer_init(struct trace_array *tr)
{
	return wakeup_init(tr, WAKEUP_RT);
}

static int wakeup_dl_tracer_init(struct trace_array *tr)
{
	return wakeup_init(tr, WAKEUP_DL);
}

/*
 * Takes everything back, in the opposite order of wakeup_init(). After the first line no wake-up is followed any more,
 * so the function entries and the probes that still run on other CPUs do nothing.
 */
static void wakeup_tracer_reset(struct trace_array *tr)
{
	wakeup_set_enabled(false);
	wakeup_busy = false;
	wakeup_function_set(tr, false);
	wakeup_unregister_probes(tr);
	trace_max_stop(tr);
}

/*
 * tracing_on was written. What was being followed before tracing_off has lost records, so following begins again with
 * the next wake-up.
 */
static void wakeup_tracer_start(struct trace_array *tr)
{
	wakeup_set_enabled(true);
}

static void wakeup_tracer_stop(struct trace_array *tr)
{
	wakeup_set_enabled(false);
}

/*
 * The option display-graph has changed. The trace begins again in an empty buffer, because a trace that holds places
 * and calls mixed could not be shown in either form.
 */
static int change_form(struct trace_array *tr, bool graph)
{
	int ret = wakeup_set_form(tr, graph);

	if (!ret)
		trace_max_restart(tr);
	return ret;
}

static void wakeup_print_header(struct seq_file *s, struct trace_iterator *iter)
{
	latency_graph_header(s, iter, WAKEUP_GRAPH_PRINT);
}

static bool wakeup_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	return latency_graph_line(s, iter, WAKEUP_GRAPH_PRINT);
}

/*
 * An option of the array changes. The core also asks while init and reset run, because these set options themselves:
 * wakeup_busy is false then, and every change is good. Options that the maximum needs (overwrite) are refused by
 * trace_keep_overwrite().
 */
static int wakeup_flag_changed(struct trace_array *tr, u64 mask, bool set)
{
	if (!wakeup_busy)
		return 0;
	if (mask & TRACE_ITER(FUNCTION))
		return wakeup_function_set(tr, set);
	if (mask & TRACE_ITER(DISPLAY_GRAPH))
		return change_form(tr, set);
	return trace_keep_overwrite(mask, set);
}

/* The three tracers differ in nothing but the name and the limit that init passes on. */
#define WAKEUP_TRACER(id, tracer_name)               \
	static const struct tracer id##_tracer = {   \
		.name = tracer_name,                 \
		.init = id##_tracer_init,            \
		.reset = wakeup_tracer_reset,        \
		.start = wakeup_tracer_start,        \
		.stop = wakeup_tracer_stop,          \
		.update_pids = wakeup_update_pids,   \
		.flag_changed = wakeup_flag_changed, \
		.open = latency_graph_open,          \
		.close = trace_graph_close,          \
		.print_header = wakeup_print_header, \
		.print_line = wakeup_print_line,     \
		.use_max_tr = true,                  \
	};                                           \
	REGISTER_TRACER(id##_tracer)

WAKEUP_TRACER(wakeup, "wakeup");
WAKEUP_TRACER(wakeup_rt, "wakeup_rt");
WAKEUP_TRACER(wakeup_dl, "wakeup_dl");

/* Snapshots that code asks for: where there cannot be one, the trace says why. */
#include <sched/sched.h>
#include <trace/trace_printk.h>

#include "core/aside.h"
#include "records.h"

static void put(struct trace_array *tr, const char *first, const char *second)
{
	__trace_array_puts(tr, trace_this_ip(), first);
	__trace_array_puts(tr, trace_this_ip(), second);
}

void tracing_snapshot_instance(struct trace_array *tr)
{
	if (in_nmi()) {
		put(tr, "*** SNAPSHOT CALLED FROM NMI CONTEXT ***\n", "*** snapshot is being ignored        ***\n");
	} else if (!READ_ONCE(tr->max->newest)) {
		put(tr, "*** SNAPSHOT NOT ALLOCATED ***\n", "*** stopping trace here!   ***\n");
		tracer_tracing_off(tr);
	} else if (!trace_snapshot_take_now(tr)) {
		put(tr, "*** LATENCY TRACER ACTIVE ***\n", "*** Can't use snapshot during max latency tracing ***\n");
	}
}

void tracing_snapshot(void)
{
	if (global_trace.max)
		tracing_snapshot_instance(&global_trace);
}

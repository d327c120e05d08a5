/*
 * Snapshots that code asks for, in any context: tracing_snapshot() and the trigger `snapshot`.
 *
 * Code that calls these often cannot look at an error, and a message on the console would disturb what it watches.
 * So where there cannot be a snapshot, the trace itself says why, at the place where the snapshot would have been.
 * The texts are Linux's. Memory is never allocated here: `echo 1 > snapshot` or tracing_alloc_snapshot() has done
 * that before.
 */
#include <kernel/export.h>
#include <sched/sched.h>
#include <trace/trace_printk.h>

#include "core/aside.h"
#include "records.h"

/* Two records, since each is one line of text. */
static void put(struct trace_array *tr, const char *first, const char *second)
{
	__trace_array_puts(tr, trace_this_ip(), first);
	__trace_array_puts(tr, trace_this_ip(), second);
}

/*
 * Without memory for a second buffer recording stops: what the caller wanted to keep then stays in the first one.
 * An NMI may have interrupted the holder of the max lock, so no snapshot is taken there.
 */
void tracing_snapshot_instance(struct trace_array *tr)
{
	if (in_nmi()) {
		put(tr, "*** SNAPSHOT CALLED FROM NMI CONTEXT ***\n", "*** snapshot is being ignored        ***\n");
	} else if (!READ_ONCE(tr->max->newest)) {
		put(tr, "*** SNAPSHOT NOT ALLOCATED ***\n", "*** stopping trace here!   ***\n");
		tracer_tracing_off(tr);
	} else if (READ_ONCE(tr->max->mapped)) {
		put(tr, "*** BUFFER MEMORY MAPPED ***\n", "*** Can not use snapshot (sorry) ***\n");
	} else if (!trace_snapshot_take_now(tr)) {
		put(tr, "*** LATENCY TRACER ACTIVE ***\n", "*** Can't use snapshot during max latency tracing ***\n");
	}
}

void tracing_snapshot(void)
{
	if (global_trace.max)
		tracing_snapshot_instance(&global_trace);
}
EXPORT_SYMBOL(tracing_snapshot);

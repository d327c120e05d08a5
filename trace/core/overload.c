/*
 * Recording that takes up a CPU's time. Many arrays that each record all functions, with a stack for each, can make a
 * tick's handler longer than a tick. When interrupts take too much of a CPU's time and nothing dearer is at work,
 * recording is switched off in one array after the other, as by writing 0 to its tracing_on.
 */
#include <lib/printf.h>
#include <time/irq_share.h>

#include "tracer.h"

/*
 * Hard interrupt, so without the lock of the list. An array that is being removed has no next one, which ends the
 * search; its memory stays, since a grace period comes between its leaving the list and its end.
 */
static bool end_recording(char *what, size_t size)
{
	const struct list_head *at = &global_trace.list;
	struct trace_array *tr;

	do {
		tr = list_entry(at, struct trace_array, list);
		if (READ_ONCE(tr->current_trace) != &nop_trace && tracer_tracing_is_on(tr)) {
			tracer_tracing_off(tr);
			snprintf(what, size, "recording by %s (%s%s%stracing_on)", tr->current_trace->name,
				 tr->name ? "instances/" : "", tr->name ?: "", tr->name ? "/" : "");
			return true;
		}
		at = READ_ONCE(at->next);
	} while (at && at != &global_trace.list);
	return false;
}
static const struct irq_burden recording_burden = {.cost = 100, .end = end_recording};
REGISTER_IRQ_BURDEN(recording_burden);

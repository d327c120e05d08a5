/*
 * Recording that takes up a CPU's time. Many arrays that each record all functions, with a stack for each, can make a
 * tick's handler longer than a tick. When interrupts take too much of a CPU's time and nothing dearer is at work,
 * recording is switched off in one array after the other, as by writing 0 to its tracing_on. But a tracer that looks
 * for what interrupts take must see just that: while one is at work, nothing is switched off.
 */
#include <lib/printf.h>
#include <time/irq_share.h>

#include "core/tracer.h"

/* The next array in the list; NULL: that was the last one, or it is being removed. */
static struct trace_array *next_array(struct trace_array *tr)
{
	const struct list_head *next = READ_ONCE(tr->list.next);

	return next && next != &global_trace.list ? list_entry(next, struct trace_array, list) : NULL;
}

static bool is_recording(struct trace_array *tr)
{
	return READ_ONCE(tr->current_trace) != &nop_trace && tracer_tracing_is_on(tr);
}

/*
 * Hard interrupt, so without the lock of the list. An array that is being removed has no next one, which ends the
 * search; its memory stays, since a grace period comes between its leaving the list and its end.
 */
static bool end_recording(char *what, size_t size)
{
	struct trace_array *tr, *first = NULL;

	for (tr = &global_trace; tr; tr = next_array(tr)) {
		if (!is_recording(tr))
			continue;
		if (READ_ONCE(tr->current_trace)->finds_noise)
			return false;
		first = first ?: tr;
	}
	if (!first)
		return false;
	tracer_tracing_off(first);
	snprintf(what, size, "recording by %s (%s%s%stracing_on)", first->current_trace->name,
		 first->name ? "instances/" : "", first->name ?: "", first->name ? "/" : "");
	return true;
}
static const struct irq_burden recording_burden = {.cost = 100, .end = end_recording};
REGISTER_IRQ_BURDEN(recording_burden);

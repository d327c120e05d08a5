/*
 * Synthetic events: events that the kernel makes from values of others. A user defines one by a line, and actions of
 * histograms make its records. Private to trace/.
 */
#pragma once

#include <lib/types.h>

struct synth_event;

#define SYNTH_FIELDS_MAX 64  /* Linux's */
#define SYNTH_TEXT_MAX	 256 /* bytes of a string with its zero */
#define SYNTH_STACK_MAX	 31  /* addresses */

/* ---- event_mutex held */

/* NULL: there is none of this name. */
struct synth_event *synth_event_find(const char *name);
/* While it is held it cannot be deleted. */
void synth_event_hold(struct synth_event *e);
void synth_event_drop(struct synth_event *e);
unsigned synth_event_nr_fields(const struct synth_event *e);
/* Can the field `n` take such a value? */
bool synth_event_takes(const struct synth_event *e, unsigned n, const char *type, unsigned size, bool is_signed,
		       bool is_text, bool is_stack);

/*
 * A record in each array that has the event on, or triggers on it. A value is a number; or the address of a string of
 * less than SYNTH_TEXT_MAX bytes; or the address of a number of addresses with these behind it. The event is held. Any
 * context, preemption off.
 */
void synth_event_trace(struct synth_event *e, const u64 *values);

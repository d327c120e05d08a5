/* Explanations of refused writes (tracefs/refused.h). Private to the room trace/refusals. */
#pragma once

#include "tracefs/refused.h"

struct close_names;

/* For explain() of this room: r->say and r->quote by name. */
void refusal_say(struct trace_refusal *r, const char *fmt, ...) __printf(2, 3);
void refusal_quote(struct trace_refusal *r, const char *before, const char *text, const char *after);
/* "; close: a, b", or nothing. */
void refusal_say_close(struct trace_refusal *r, const struct close_names *close);

/* Does the array have this event? `system` NULL: in any system. Thread context; takes event_mutex, as the next. */
bool refusal_knows_event(const struct trace_refusal *r, const char *system, const char *event);
/* Says which events and systems have names like these. `system` NULL: only the event's name was given. */
void refusal_say_close_events(struct trace_refusal *r, const char *system, const char *event);

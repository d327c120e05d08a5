/*
 * What was wrong with what was written to current_tracer or tracing_enabled, for error_log and the kernel's log.
 *
 * Where tracing_set_tracer() gives no reason, the name and the errno tell it. The functions here make a sentence of
 * them that says what to do: which tracers there are, what has replaced a tracer of Linux 2.6 that tutorials still
 * name, how much memory was asked for. They run after the write has failed, in the writer's thread.
 */
#include <lib/errno.h>
#include <lib/string.h>

#include "core/aside.h"
#include "core/tracer.h"
#include "refusals.h"

/* Tracers that old texts name. `now` is what does the same work here. */
static const struct {
	const char *name, *now;
} former_tracers[] = {
	{"branch", "a kernel that `make branch-arm64` or `make branch-x86_64` builds (docs/tracer-branch.md)"},
	{"boot", "initcall"},
	{"blk", "nothing, because there is no block layer (docs/tutorials.md)"},
	{"syscall", "events/syscalls and events/raw_syscalls"},
	{"workqueue", "trace_stat/workqueues and events/workqueue"},
	{"ksym_tracer", "a watchpoint of gdb (docs/gdb-ftrace.md)"},
	{"graph", "function_graph"},
};

static void say_tracer_name(void *r, const char *name)
{
	refusal_say(r, " %s", name);
}

/* The tracers that this array can have, in the order of available_tracers. */
static void say_tracers(struct trace_refusal *r)
{
	refusal_say(r, "; there are:");
	trace_tell_tracers(r->tr, say_tracer_name, r);
}

/* There is no tracer of that name: a former one has a successor, any other name gets the list. */
static void explain_missing(struct trace_refusal *r)
{
	for (unsigned i = 0; i < ARRAY_SIZE(former_tracers); i++) {
		if (strcmp(former_tracers[i].name, r->text))
			continue;
		refusal_quote(r, "no tracer ", r->text, "; in its place: ");
		refusal_say(r, "%s", former_tracers[i].now);
		return;
	}
	refusal_quote(r, "no tracer ", r->text, "");
	say_tracers(r);
}

/* A latency tracer needs a second buffer as large as the first, which is what people do not expect. */
static void explain_no_memory(struct trace_refusal *r, const struct tracer *t)
{
	unsigned long size = ring_buffer_size(r->tr->buffer, 0) >> 10;

	if (t->use_max_tr)
		refusal_say(
			r,
			"not enough memory for the second buffer of a latency tracer, which keeps the maximum (%lu KiB "
			"for each of %u CPUs); make buffer_size_kb smaller",
			size, nr_cpu_ids);
	else
		refusal_say(r, "not enough memory for tracer %s", t->name);
}

/*
 * The questions go from the name to the array and then to the error, in the order in which tracing_set_tracer()
 * asks.
 */
static void explain_current_tracer(struct trace_refusal *r)
{
	const struct tracer *t = find_tracer(r->text);

	if (!t) {
		explain_missing(r);
	} else if (!tracer_is_for(t, r->tr)) {
		refusal_quote(r, "the tracer ", r->text, " is for the top directory alone");
		say_tracers(r);
	} else if (r->error == ENOSPC) {
		refusal_say(r, "too many arrays have function_graph or the profiler; end one of them first");
	} else if (r->error == ENOMEM) {
		explain_no_memory(r, t);
	} else if (r->error == EINVAL && t->use_max_tr) {
		refusal_say(r, "a latency tracer needs a trace_clock that measures time, such as local");
	}
}
static const struct trace_hint current_tracer_hint = {.subject = "current_tracer", .explain = explain_current_tracer};
REGISTER_TRACE_HINT(current_tracer_hint);

TRACEFS_TAKES(tracing_enabled, "tracing_enabled", "a number: 0 stops the tracer, any other starts it");

/*
 * What was wrong with what was written to the control files of an array: its clock, buffer, options, snapshot.
 *
 * The code that refuses gives a reason where only it knows one. What follows from the text and the errno alone is said
 * here. Context: a thread, no lock held.
 */
#include <lib/close_names.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/page.h>

#include "core/tracer.h"
#include "refusals.h"

/* If the clock exists, a latency tracer has refused it. For an unknown name, the line lists all clocks. */
static void explain_trace_clock(struct trace_refusal *r)
{
	const char *name;
	bool there = false;

	for (unsigned i = 0; (name = trace_clock_name(i)); i++)
		there |= !strcmp(name, r->text);
	if (there) {
		refusal_quote(r, "a latency tracer needs a clock that measures time, which ", r->text, " does not");
		return;
	}
	refusal_quote(r, "no clock ", r->text, "; there are:");
	for (unsigned i = 0; (name = trace_clock_name(i)); i++)
		refusal_say(r, " %s", name);
}
static const struct trace_hint trace_clock_hint = {.subject = "trace_clock", .explain = explain_trace_clock};
REGISTER_TRACE_HINT(trace_clock_hint);

/* The size is for each CPU, which is what people overlook: 1 GiB on four CPUs asks for 4 GiB. */
static void explain_buffer_size(struct trace_refusal *r)
{
	if (r->error == EBUSY)
		refusal_say(r, "the size stays while a program has mapped per_cpu/cpuN/trace_pipe_raw; end it first");
	if (r->error != ENOMEM)
		return;
	refusal_quote(r, "not enough memory for ", r->text, " KiB");
	refusal_say(r, " for each of %u CPUs; %lu KiB are free in all", nr_cpu_ids,
		    nr_free_pages() * (PAGE_SIZE >> 10));
}
static const struct trace_hint buffer_size_hint = {.subject = "buffer_size_kb",
						   .takes = "a number of KiB for each CPU, 1 or more",
						   .explain = explain_buffer_size};
REGISTER_TRACE_HINT(buffer_size_hint);

static void explain_tracing_cpumask(struct trace_refusal *r)
{
	char all[NR_CPUS / 4 + 8];

	bitmap_print(all, sizeof(all), cpu_possible_mask.bits, nr_cpu_ids);
	if (r->error == EOVERFLOW)
		refusal_quote(r, "", r->text, " has CPUs that this machine has not");
	else
		refusal_quote(r, "", r->text, " is not a hexadecimal mask of CPUs, bit 0 for CPU 0");
	refusal_say(r, "; all CPUs are %s", all);
}
static const struct trace_hint tracing_cpumask_hint = {.subject = "tracing_cpumask",
						       .explain = explain_tracing_cpumask};
REGISTER_TRACE_HINT(tracing_cpumask_hint);

/* Says whose option it is, if it is another tracer's. */
static void explain_known_option(struct trace_refusal *r)
{
	const struct tracer *owner;

	for_each_in_table(tracers, owner) {
		if (!trace_option_of(r->text, owner))
			continue;
		refusal_quote(r, "", r->text, " is an option of a tracer that is not selected: ");
		refusal_say(r, "%s", owner->name);
		return;
	}
}

/* "no such option" comes with the names that are close, among the options that this array can set now. */
static void explain_trace_options(struct trace_refusal *r)
{
	const char *name = strncmp(r->text, "no", 2) ? r->text : r->text + 2;
	const struct tracer_flags *own;
	struct close_names close;

	if (r->error != EINVAL)
		return;
	explain_known_option(r);
	if (r->len)
		return;
	refusal_quote(r, "no option ", r->text, "");
	close_names_init(&close, name);
	for (unsigned i = 0; i < NR_TRACE_OPTIONS; i++)
		if (trace_option_name(r->tr, i))
			close_names_offer(&close, trace_option_name(r->tr, i));
	mutex_lock(&trace_types_lock);
	own = r->tr->current_trace->flags;
	mutex_unlock(&trace_types_lock);
	for (const struct tracer_opt *opt = own ? own->opts : NULL; opt && opt->name; opt++)
		close_names_offer(&close, opt->name);
	refusal_say_close(r, &close);
	if (!close.nr)
		refusal_say(r, "; the file shows them all");
}
static const struct trace_hint trace_options_hint = {.subject = "trace_options", .explain = explain_trace_options};
REGISTER_TRACE_HINT(trace_options_hint);

/* options/NAME: i_private is the array itself, and not a trace_cpu_file as with other files. */
static struct trace_array *array_of_option(void *owner)
{
	return owner;
}

static const struct trace_hint option_hint = {
	.subject = OPTION_FILE, .takes = "0 (off) or 1 (on)", .array_of = array_of_option};
REGISTER_TRACE_HINT(option_hint);

/* The sentence in error_log for a refused write, where the error's number alone would not tell what to do. */
static void explain_snapshot(struct trace_refusal *r)
{
	if (r->error == EBUSY)
		refusal_say(r, "the latency tracer in current_tracer uses the second buffer; set nop first");
	else if (r->error == ENOMEM)
		refusal_say(r, "not enough memory for a second buffer like the first; make buffer_size_kb smaller");
}
static const struct trace_hint snapshot_hint = {
	.subject = "snapshot",
	.explain = explain_snapshot,
	.takes = "0 (free it; not for one CPU), 1 (take a snapshot) or 2 (clear it)"};
REGISTER_TRACE_HINT(snapshot_hint);

/* Why trace_pipe, trace_pipe_raw or snapshot_raw could not be opened. */
static void explain_pipe(struct trace_refusal *r)
{
	const struct tracer *t = READ_ONCE(r->tr->current_trace);

	r->logged = true; /* nothing was written that error_log could show */
	if (r->error != EBUSY)
		refusal_say(r, "cannot be opened: %s", errno_text(r->error));
	else if (t->use_max_tr)
		refusal_say(r,
			    "cannot be opened while the latency tracer %s is set: what it took would be missing in the "
			    "maximum; the file trace shows that",
			    t->name);
	else
		refusal_say(r, "cannot be opened: somebody reads trace_pipe already");
}
static const struct trace_hint pipe_hint = {.subject = "trace_pipe", .explain = explain_pipe};
REGISTER_TRACE_HINT(pipe_hint);
static const struct trace_hint pipe_raw_hint = {.subject = "trace_pipe_raw", .explain = explain_pipe};
REGISTER_TRACE_HINT(pipe_raw_hint);
static const struct trace_hint snapshot_raw_hint = {.subject = "snapshot_raw", .explain = explain_pipe};
REGISTER_TRACE_HINT(snapshot_raw_hint);

/*
 * What belongs to function_graph beside its lines: the header above them, the records in the formats for programs, and
 * how another tracer's output shows them. The header has a column for each option that is set, and the widths are those
 * of the columns in print.c:
 *
 *	# CPU  DURATION                  FUNCTION CALLS
 *	# |     |   |                     |   |   |   |
 *	 0)               |  do_sys_open() {
 *	 0)   1.204 us    |    getname();
 *
 * Context: a reader of `trace`, or the dump at a crash (any context); so nothing here sleeps or allocates.
 */
#include <kernel/ksyms.h>

#include "output/iter.h"
#include "output/output.h"
#include "graph.h"

/* ---- Header */

/*
 * What each of the four letters of the latency format means. The drawing must end above the letters' column, so it is
 * indented by the widths of all columns that stand before it.
 */
static void put_flags_legend(struct seq_file *s, u32 options)
{
	static const char *const lines[] = {"  _-----=> irqs-off        ", " / _----=> need-resched    ",
					    "| / _---=> hardirq/softirq ", "|| / _--=> preempt-depth   ",
					    "||| /                      "};
	int indent = (options & TRACE_GRAPH_PRINT_ABS_TIME ? 16 : 0) + (options & TRACE_GRAPH_PRINT_REL_TIME ? 16 : 0) +
		     (options & TRACE_GRAPH_PRINT_CPU ? 4 : 0) + (options & TRACE_GRAPH_PRINT_PROC ? 17 : 0);

	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		seq_putc(s, '#');
		seq_printf(s, "%*s", indent, "");
		seq_puts(s, lines[i]);
		seq_putc(s, '\n');
	}
}

/* Two lines: the names of the columns, and strokes that point down to what belongs to each name. */
static void put_titles(struct seq_file *s, u32 options, bool latency)
{
	seq_puts(s, "#");
	seq_puts(s, options & TRACE_GRAPH_PRINT_ABS_TIME ? "     TIME       " : "");
	seq_puts(s, options & TRACE_GRAPH_PRINT_REL_TIME ? "   REL TIME     " : "");
	seq_puts(s, options & TRACE_GRAPH_PRINT_CPU ? " CPU" : "");
	seq_puts(s, options & TRACE_GRAPH_PRINT_PROC ? "  TASK/PID       " : "");
	seq_puts(s, latency ? "||||   " : "");
	seq_puts(s, options & TRACE_GRAPH_PRINT_DURATION ? "  DURATION   " : "");
	seq_puts(s, "               FUNCTION CALLS\n#");
	seq_puts(s, options & (TRACE_GRAPH_PRINT_ABS_TIME) ? "      |         " : "");
	seq_puts(s, options & (TRACE_GRAPH_PRINT_REL_TIME) ? "      |         " : "");
	seq_puts(s, options & TRACE_GRAPH_PRINT_CPU ? " |  " : "");
	seq_puts(s, options & TRACE_GRAPH_PRINT_PROC ? "   |    |        " : "");
	seq_puts(s, latency ? "||||   " : "");
	seq_puts(s, options & TRACE_GRAPH_PRINT_DURATION ? "   |   |      " : "");
	seq_puts(s, "               |   |   |   |\n");
}

/* Above the lines of `trace`. A latency tracer that has found nothing yet has no header, as in Linux. */
void trace_graph_header(struct seq_file *s, struct trace_iterator *iter, u32 options)
{
	if (!(iter->tr->trace_flags & TRACE_ITER(CONTEXT_INFO)))
		return;
	if (iter->latency_format) {
		if (trace_iter_empty(iter))
			return;
		trace_print_latency_summary(s, iter);
		put_flags_legend(s, options);
	}
	put_titles(s, options, iter->latency_format);
}

/* ---- Records for programs, by the options raw, hex, bin */

/*
 * The six functions below print what a program parses: numbers in the order of the record's fields, without names. raw
 * is decimal or hexadecimal text, hex fixed-width digits, bin the bytes as they lie in memory.
 */
static void graph_ent_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_graph_ent_entry *field = (const void *)iter->ent;

	seq_printf(s, "%lx %d\n", field->func, field->depth);
}

static void graph_ent_hex(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_graph_ent_entry *field = (const void *)iter->ent;

	TRACE_PUT_HEX(s, field->func);
	TRACE_PUT_HEX(s, field->depth);
}

static void graph_ent_bin(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_graph_ent_entry *field = (const void *)iter->ent;

	TRACE_PUT_BIN(s, field->func);
	TRACE_PUT_BIN(s, field->depth);
}

static void graph_ret_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_graph_ret_entry *field = (const void *)iter->ent;

	seq_printf(s, "%lx %lx %d %u %llu %llu\n", field->func, field->retval, field->depth, field->overrun,
		   (unsigned long long)field->calltime, (unsigned long long)field->rettime);
}

static void graph_ret_hex(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_graph_ret_entry *field = (const void *)iter->ent;

	TRACE_PUT_HEX(s, field->func);
	TRACE_PUT_HEX(s, field->retval);
	TRACE_PUT_HEX(s, field->depth);
	TRACE_PUT_HEX(s, field->overrun);
	TRACE_PUT_HEX(s, field->calltime);
	TRACE_PUT_HEX(s, field->rettime);
}

static void graph_ret_bin(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_graph_ret_entry *field = (const void *)iter->ent;

	TRACE_PUT_BIN(s, field->func);
	TRACE_PUT_BIN(s, field->retval);
	TRACE_PUT_BIN(s, field->depth);
	TRACE_PUT_BIN(s, field->overrun);
	TRACE_PUT_BIN(s, field->calltime);
	TRACE_PUT_BIN(s, field->rettime);
}

/*
 * With another tracer selected, or in an event's context, a call and its return are two lines of their own: "-->
 * do_sys_open (3)" and "<-- do_sys_open (3)". The number is the depth.
 */
static void graph_ent_trace(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_graph_ent_entry *field = (const void *)iter->ent;

	seq_puts(s, "--> ");
	seq_printf(s, "%ps (%d)\n", (void *)field->func, field->depth);
}

static void graph_ret_trace(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_graph_ret_entry *field = (const void *)iter->ent;

	seq_puts(s, "<-- ");
	seq_printf(s, "%ps (%d)\n", (void *)field->func, field->depth);
}

/*
 * Do a call and the next record of its CPU belong together? Then the call has called nothing that was recorded, and
 * both are printed as one line. An interrupt in between would have records of its own; so would another task, unless
 * the depth and the function happen to be equal, which is why the pid is compared, too.
 */
static bool graph_is_leaf(const struct trace_entry *ent, const struct trace_entry *ret)
{
	const struct ftrace_graph_ent_entry *call = (const void *)ent;
	const struct ftrace_graph_ret_entry *end = (const void *)ret;

	return ret->type == TRACE_GRAPH_RET && ret->pid == ent->pid && end->func == call->func &&
	       end->depth == call->depth;
}

static const struct trace_event graph_ent_event = {
	.type = TRACE_GRAPH_ENT,
	.trace = graph_ent_trace,
	.raw = graph_ent_raw,
	.hex = graph_ent_hex,
	.bin = graph_ent_bin,
	.joins = graph_is_leaf,
};
static const struct trace_event graph_ret_event = {
	.type = TRACE_GRAPH_RET,
	.trace = graph_ret_trace,
	.raw = graph_ret_raw,
	.hex = graph_ret_hex,
	.bin = graph_ret_bin,
};
REGISTER_TRACE_EVENT(graph_ent_event);
REGISTER_TRACE_EVENT(graph_ret_event);

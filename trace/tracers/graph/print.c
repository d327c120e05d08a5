/*
 * Function graph as text: calls as blocks in braces, a call that calls nothing in one line, everything else between
 * them as a comment. Lines belong to CPUs, so what is kept from line to line is kept for each CPU.
 */
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "output/iter.h"
#include "output/output.h"
#include "graph.h"

#define GRAPH_INDENT 2
#define PROC_WIDTH   14
#define NO_DEPTH     (-1)

extern const char __irqentry_text_start[], __irqentry_text_end[];

/*
 * The state on which a CPU's next line depends. A line that did not fit into the reader's buffer is made again, so
 * this can be put back.
 */
struct graph_cpu {
	pid_t last_pid; /* -1: none yet */
	s32 depth;	/* of the call that the next line is in, -1: none */
	s32 depth_irq;	/* of the interrupt that we are in, NO_DEPTH: none */
};
struct trace_graph_state {
	struct graph_cpu *cpus; /* one each, behind the calls */
	struct graph_cpu saved;
	u32 *changed, changed_was; /* in calls; NULL: nothing */
	int cpu_width;
	u32 calls[][FTRACE_RETFUNC_DEPTH]; /* one row a CPU: the lower half of the functions that are open */
};

static struct trace_graph_state *dump_state; /* ftrace_dump's, from the first use of the tracer on */

/* One allocation: the struct, a row of open calls for each CPU, and behind those what is kept for each CPU. */
static struct trace_graph_state *alloc_state(void)
{
	struct trace_graph_state *state;
	size_t rows = ALIGN(sizeof(*state) + nr_cpu_ids * sizeof(state->calls[0]), 8);
	unsigned cpu;

	state = kzalloc(rows + nr_cpu_ids * sizeof(*state->cpus), GFP_KERNEL);
	if (!state)
		return NULL;
	state->cpus = (void *)((char *)state + rows);
	for_each_possible_cpu(cpu)
		state->cpus[cpu] = (struct graph_cpu){-1, 0, NO_DEPTH};
	state->cpu_width = nr_cpu_ids > 10 ? 2 : 1;
	return state;
}

/* For ftrace_dump(), which must not allocate: made when function_graph is first selected. */
int trace_graph_alloc_dump(void)
{
	if (!dump_state)
		dump_state = alloc_state();
	return dump_state ? 0 : -ENOMEM;
}

/* The state lives as long as the open file, since a file is read in many pieces. */
int trace_graph_open(struct trace_iterator *iter)
{
	iter->graph = iter->atomic ? dump_state : alloc_state();
	return iter->graph ? 0 : -ENOMEM;
}

/* The dump's state is kept: it was allocated before the first record, and the next dump must not allocate. */
void trace_graph_close(struct trace_iterator *iter)
{
	if (!iter->atomic)
		kfree(iter->graph);
	iter->graph = NULL;
}

/* Remember or forget the function that is open at this depth. */
static void set_open_call(struct trace_iterator *iter, s32 depth, unsigned long func)
{
	struct trace_graph_state *state = iter->graph;

	if (depth < 0 || depth >= (s32)FTRACE_RETFUNC_DEPTH)
		return;
	state->changed = &state->calls[iter->cpu][depth];
	state->changed_was = *state->changed;
	*state->changed = func;
}

/*
 * Does this return belong to the call that was shown open at its depth? Half of the address is kept and compared, which
 * is enough to tell functions of one kernel apart. Deeper than the table it is not known, so no name is added.
 */
static bool open_call_is(const struct trace_iterator *iter, s32 depth, unsigned long func)
{
	return depth < 0 || depth >= (s32)FTRACE_RETFUNC_DEPTH || iter->graph->calls[iter->cpu][depth] == (u32)func;
}

/* ---- Columns */

/* In pieces of up to 32: a call may be 50 deep. */
static void put_spaces(struct seq_file *s, int n)
{
	static const char blanks[] = "                                ";

	for (; n > 0; n -= sizeof(blanks) - 1)
		seq_write(s, blanks, min(n, (int)sizeof(blanks) - 1));
}

/* The name alone, with the module's behind it; function_graph never shows an offset. */
static void put_func(struct seq_file *s, unsigned long func)
{
	struct ksym sym;
	long nr = symbol_index(func);

	if (nr < 0 || !kallsyms_symbol(nr, &sym))
		seq_printf(s, "%ps", (void *)func);
	else
		seq_puts(s, sym.name);
}

/* " 0) ", with as many digits as the largest number of a CPU has. */
static void put_cpu(struct seq_file *s, struct trace_iterator *iter)
{
	char text[16], *p = text;

	*p++ = ' ';
	p = put_dec(p, iter->cpu, iter->graph->cpu_width, ' ');
	*p++ = ')';
	*p++ = ' ';
	seq_write(s, text, p - text);
}

/* Name, cut off behind seven characters, and pid, in the middle of the column. */
static void put_proc(struct seq_file *s, const struct trace_iterator *iter, pid_t pid)
{
	char comm[TASK_COMM_LEN], text[32];
	int len;

	trace_iter_find_cmdline(iter, pid, comm);
	len = scnprintf(text, sizeof(text), "%.7s-%d", comm, pid);
	put_spaces(s, max(PROC_WIDTH - len, 0) / 2);
	seq_write(s, text, len);
	put_spaces(s, max(PROC_WIDTH - len, 0) - max(PROC_WIDTH - len, 0) / 2);
}

/* Seconds and microseconds of the record's own clock. */
static void put_abs_time(struct seq_file *s, u64 ts)
{
	u64 us = ts / 1000;

	seq_printf(s, "%5llu.%06llu |  ", (unsigned long long)us / 1000000, (unsigned long long)us % 1000000);
}

/* Microseconds since the trace began. A record from before that, as another CPU may have, is at 0. */
static void put_rel_time(struct seq_file *s, struct trace_iterator *iter)
{
	u64 start = trace_time_start(iter), us = iter->ts > start ? (iter->ts - start) / 1000 : 0;

	seq_printf(s, "%9llu us |  ", (unsigned long long)us);
}

/* The four letters of the latency format, with the preemption depth behind them. */
static void put_lat_flags(struct seq_file *s, const struct trace_entry *ent)
{
	char flags[5];

	trace_print_lat_flags(flags, ent);
	seq_putc(s, ' ');
	seq_write(s, flags, sizeof(flags));
	seq_puts(s, " | ");
}

/*
 * Microseconds in twelve columns: seven for digits and point, as many decimals as are left, at most three. Writes to p,
 * returns the end, adds no zero byte.
 */
char *trace_put_us(char *p, u64 ns)
{
	char *begin = p;
	int places;

	p = put_dec(p, ns / 1000, 0, ' ');
	places = 7 - (p - begin);
	if (places > 0) {
		char rest[4];

		put_dec(rest, ns % 1000, 3, '0');
		*p++ = '.';
		places = min(places, 3);
		memcpy(p, rest, places);
		p += places;
	}
	for (const char *unit = " us "; *unit; unit++)
		*p++ = *unit;
	while (p < begin + 12)
		*p++ = ' ';
	return p;
}

/*
 * A character that catches the eye in front of what took long, as in Linux: + more than 10 us, ! 100 us, # 1 ms, * 10
 * ms, @ 100 ms, $ 1 s.
 */
static char overhead_mark(u64 ns)
{
	static const struct {
		u64 above;
		char mark;
	} marks[] = {{1000000000, '$'}, {100000000, '@'}, {10000000, '*'}, {1000000, '#'}, {100000, '!'}, {10000, '+'}};

	if (likely(ns <= 10000))
		return ' ';
	for (unsigned i = 0; i < ARRAY_SIZE(marks); i++)
		if (ns > marks[i].above)
			return marks[i].mark;
	return ' ';
}

/* The option context-info takes all columns away, this one too. */
static bool has_duration(const struct trace_iterator *iter, u32 options)
{
	return (options & TRACE_GRAPH_PRINT_DURATION) && (iter->tr->trace_flags & TRACE_ITER(CONTEXT_INFO));
}

/* The mark of what took long, the time, and the line behind it. */
static void put_duration(struct seq_file *s, struct trace_iterator *iter, u32 options, u64 ns)
{
	char text[40], *p = text;

	if (!has_duration(iter, options))
		return;
	*p++ = options & TRACE_GRAPH_PRINT_OVERHEAD ? overhead_mark(ns) : ' ';
	*p++ = ' ';
	p = trace_put_us(p, ns);
	memcpy(p, "|  ", 3);
	seq_write(s, text, p + 3 - text);
}

static void put_no_duration(struct seq_file *s, struct trace_iterator *iter, u32 options)
{
	if (has_duration(iter, options))
		seq_puts(s, "              |  ");
}

/* ---- What stands before the duration, and lines of its own */

/* The columns before the duration, each with its option. */
static void put_columns(struct seq_file *s, struct trace_iterator *iter, u32 options)
{
	if (!(iter->tr->trace_flags & TRACE_ITER(CONTEXT_INFO)))
		return;
	if (options & TRACE_GRAPH_PRINT_ABS_TIME)
		put_abs_time(s, iter->ts);
	if (options & TRACE_GRAPH_PRINT_REL_TIME)
		put_rel_time(s, iter);
	if (options & TRACE_GRAPH_PRINT_CPU)
		put_cpu(s, iter);
	if (options & TRACE_GRAPH_PRINT_PROC) {
		put_proc(s, iter, iter->ent->pid);
		seq_puts(s, " | ");
	}
	if (iter->latency_format)
		put_lat_flags(s, iter->ent);
}

/* Three lines, if the record is of another task than the CPU's record before it. */
static void put_switch(struct seq_file *s, struct trace_iterator *iter)
{
	pid_t last = iter->graph->cpus[iter->cpu].last_pid, pid = iter->ent->pid;

	if (last == pid)
		return;
	iter->graph->cpus[iter->cpu].last_pid = pid;
	if (last == -1)
		return;
	seq_puts(s, " ------------------------------------------\n");
	put_cpu(s, iter);
	put_proc(s, iter, last);
	seq_puts(s, " => ");
	put_proc(s, iter, pid);
	seq_puts(s, "\n ------------------------------------------\n\n");
}

/* Functions marked __irq_entry lie in a section of their own. */
static bool is_irq_entry(unsigned long func)
{
	return func >= (unsigned long)__irqentry_text_start && func < (unsigned long)__irqentry_text_end;
}

/* A line of its own where an interrupt begins or ends; nothing for any other function. */
static void put_irq_arrow(struct seq_file *s, struct trace_iterator *iter, u32 options, unsigned long func,
			  const char *arrow)
{
	if (!is_irq_entry(func))
		return;
	put_columns(s, iter, options);
	if (has_duration(iter, options))
		seq_puts(s, "  ");
	seq_puts(s, arrow);
	if (has_duration(iter, options))
		seq_puts(s, " |");
	seq_putc(s, '\n');
}

/*
 * With funcgraph-irqs off: does this line belong to an interrupt, so that it is left out? The first function of the
 * interrupt sets depth_irq, and the return at the same depth ends it. `end`: this line may be the last of it.
 */
static bool in_hidden_irq(struct trace_iterator *iter, u32 options, unsigned long func, s32 depth, bool end)
{
	s32 *depth_irq = &iter->graph->cpus[iter->cpu].depth_irq;

	if (options & TRACE_GRAPH_PRINT_IRQS)
		return false;
	if (*depth_irq == NO_DEPTH) {
		if (end || !is_irq_entry(func))
			return false;
		*depth_irq = depth;
	} else if (end && *depth_irq >= depth) {
		*depth_irq = NO_DEPTH;
	}
	return true;
}

/* ---- The three kinds of lines */

/* "= value" and the end of the comment. A value that may be an errno is shown as a negative number. */
static void put_retval(struct seq_file *s, u32 options, unsigned long val)
{
	long err = val >> 31 == 1 ? (long)(s32)val : (long)val;

	if (!(options & TRACE_GRAPH_PRINT_RETVAL_HEX) && err < 0 && err >= -4095)
		seq_printf(s, "= %ld */\n", err);
	else
		seq_printf(s, "= 0x%lx */\n", val);
}

/* The arguments: as many words as the record has behind its fixed part. */
static void put_args(struct seq_file *s, const struct trace_iterator *iter)
{
	const struct ftrace_graph_ent_entry *call = (const void *)iter->ent;
	unsigned n = (iter->ent_size - GRAPH_ENT_SIZE) / sizeof(long);

	for (unsigned i = 0; i < n; i++)
		seq_printf(s, "%s0x%lx", i ? ", " : "", call->args[i]);
}

/* In ns of sched_clock, which both times are taken from whatever clock the trace has. */
static u64 duration(const struct ftrace_graph_ret_entry *ret)
{
	return ret->rettime - ret->calltime;
}

/*
 * A call that has called nothing: its begin and its return are one line. iter->leaf is the return, which the walk has
 * found next.
 */
static void print_leaf(struct seq_file *s, struct trace_iterator *iter, u32 options)
{
	const struct ftrace_graph_ent_entry *call = (const void *)iter->ent;
	const struct ftrace_graph_ret_entry *ret = (const void *)iter->leaf;

	iter->graph->cpus[iter->cpu].depth = call->depth - 1;
	set_open_call(iter, call->depth, 0);
	put_duration(s, iter, options, duration(ret));
	put_spaces(s, call->depth * GRAPH_INDENT);
	put_func(s, call->func);
	seq_putc(s, '(');
	put_args(s, iter);
	seq_puts(s, ");");
	if (options & TRACE_GRAPH_PRINT_RETVAL) {
		seq_puts(s, " /* ");
		put_retval(s, options, ret->retval);
	} else {
		seq_putc(s, '\n');
	}
	put_irq_arrow(s, iter, options, call->func, "<==========");
}

/* A call that has called others, or whose return is not the next record of its CPU. */
static void print_open(struct seq_file *s, struct trace_iterator *iter, u32 options)
{
	const struct ftrace_graph_ent_entry *call = (const void *)iter->ent;

	iter->graph->cpus[iter->cpu].depth = call->depth;
	set_open_call(iter, call->depth, call->func);
	put_no_duration(s, iter, options);
	put_spaces(s, call->depth * GRAPH_INDENT);
	put_func(s, call->func);
	seq_putc(s, '(');
	put_args(s, iter);
	seq_puts(s, ") {\n");
}

/*
 * Whether a call is a leaf is known before anything is printed, because a hidden interrupt may begin and end with it.
 */
static void print_entry(struct seq_file *s, struct trace_iterator *iter, u32 options)
{
	const struct ftrace_graph_ent_entry *call = (const void *)iter->ent;

	if (in_hidden_irq(iter, options, call->func, call->depth, false)) {
		if (iter->leaf)
			in_hidden_irq(iter, options, call->func, call->depth, true);
		return;
	}
	put_switch(s, iter);
	put_irq_arrow(s, iter, options, call->func, "==========>");
	put_columns(s, iter, options);
	if (iter->leaf)
		print_leaf(s, iter, options);
	else
		print_open(s, iter, options);
}

/* The closing brace. It tells the function's name if the call is not the one that was shown open at this depth. */
static void print_return(struct seq_file *s, struct trace_iterator *iter, u32 options)
{
	const struct ftrace_graph_ret_entry *ret = (const void *)iter->ent;
	bool named = !open_call_is(iter, ret->depth, ret->func) || (options & TRACE_GRAPH_PRINT_TAIL);

	if (in_hidden_irq(iter, options, ret->func, ret->depth, true))
		return;
	iter->graph->cpus[iter->cpu].depth = ret->depth - 1;
	set_open_call(iter, ret->depth, 0);
	put_switch(s, iter);
	put_columns(s, iter, options);
	put_duration(s, iter, options, duration(ret));
	put_spaces(s, ret->depth * GRAPH_INDENT);
	seq_putc(s, '}');
	if (named || (options & TRACE_GRAPH_PRINT_RETVAL)) {
		seq_puts(s, " /* ");
		put_func(s, ret->func);
		seq_putc(s, ' ');
	}
	if (options & TRACE_GRAPH_PRINT_RETVAL)
		put_retval(s, options, ret->retval);
	else
		seq_puts(s, named ? "*/\n" : "\n");
	if (options & TRACE_GRAPH_PRINT_OVERRUN)
		seq_printf(s, " (Overruns: %u)\n", ret->overrun);
	put_irq_arrow(s, iter, options, ret->func, "<==========");
}

/* A record that is no call: it is a comment, one level deeper than the call in which it was made. */
static void print_comment(struct seq_file *s, struct trace_iterator *iter, u32 options)
{
	const struct trace_event *event = find_trace_event(iter);
	s32 depth = iter->graph->cpus[iter->cpu].depth;

	put_switch(s, iter);
	put_columns(s, iter, options);
	put_no_duration(s, iter, options);
	put_spaces(s, depth > 0 ? (depth + 1) * GRAPH_INDENT : 0);
	seq_puts(s, "/* ");
	if (iter->ent->type == TRACE_PRINT)
		seq_puts(s, ((const struct print_entry *)iter->ent)->buf);
	else if (iter->ent->type == TRACE_BPRINT)
		trace_bprint_text(s, iter);
	else if (iter->ent->type == TRACE_BPUTS)
		trace_bputs_text(s, iter);
	else if (event)
		event->trace(s, iter);
	else
		seq_printf(s, "Unknown type %d", iter->ent->type);
	if (!seq_has_overflowed(s) && s->count && s->buf[s->count - 1] == '\n')
		s->count--;
	seq_puts(s, " */\n");
}

/*
 * One record as text. False: it is not of this tracer, and the caller prints it as any other. A reader whose buffer was
 * too small asks again for the same record, so what the first attempt has changed is put back then.
 */
bool trace_graph_print(struct seq_file *s, struct trace_iterator *iter, u32 options)
{
	struct trace_graph_state *state = iter->graph;

	if (!state || iter->ent->type == TRACE_FN || iter->ent->type == TRACE_STACK ||
	    iter->ent->type == TRACE_USER_STACK)
		return false;
	state->saved = state->cpus[iter->cpu];
	state->changed = NULL;
	if (iter->ent->type == TRACE_GRAPH_ENT)
		print_entry(s, iter, options);
	else if (iter->ent->type == TRACE_GRAPH_RET)
		print_return(s, iter, options);
	else
		print_comment(s, iter, options);
	if (seq_has_overflowed(s)) {
		state->cpus[iter->cpu] = state->saved;
		if (state->changed)
			*state->changed = state->changed_was;
	}
	return true;
}

/*
 * Tracing from the kernel command line, and the start of tracing at boot.
 *
 * There are two steps. parse_params() calls the set_... functions while nothing works yet: they only keep text and
 * numbers. trace_boot_start() acts on them when the allocators, the scheduler and the buffers are there. A value
 * that is refused is reported with the same explanation as a refused write to the control file, and the boot goes
 * on.
 */
#include <kernel/cmdline.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <trace/trace_boot.h>

#include "core/aside.h"
#include "ftrace/early.h"
#include "tracefs/refused.h"
#include "tracers/graph/graph.h"
#include "command_line.h"

#define BOOT_TEXT_MAX 512

/* What the command line asked for, kept until tracing is up. [boot] */
static char boot_tracer[64], boot_filter[BOOT_TEXT_MAX], boot_notrace[BOOT_TEXT_MAX], boot_options[BOOT_TEXT_MAX],
	boot_clock[32], boot_graph_filter[BOOT_TEXT_MAX], boot_graph_notrace[BOOT_TEXT_MAX];
static bool boot_snapshot; /* [boot] */

__setup_text("ftrace=", boot_tracer);
__setup_text("ftrace_filter=", boot_filter);
__setup_text("ftrace_notrace=", boot_notrace);
__setup_text("ftrace_graph_filter=", boot_graph_filter);
__setup_text("ftrace_graph_notrace=", boot_graph_notrace);
__setup_text("trace_options=", boot_options);
__setup_text("trace_clock=", boot_clock);

/* 0: all the way down, as in the file max_graph_depth. */
static int set_boot_graph_depth(const char *value)
{
	unsigned long depth;
	int ret = kstrtoul(value, 10, &depth);

	if (ret)
		return ret;
	if (depth > ~0U)
		return -ERANGE;
	max_graph_depth = depth;
	return 0;
}
__setup("ftrace_graph_max_depth=", set_boot_graph_depth);

/*
 * Bytes for each CPU, with a suffix such as K or M. Less than a page becomes a page; more than 1 TiB is a typing
 * error.
 */
static int set_buf_size(const char *value)
{
	char *end;
	u64 size = memparse(value, &end);

	if (*end || !size || size > (1ULL << 40))
		return -EINVAL;
	trace_buf_size = max(size, (u64)4096);
	return 0;
}
__setup("trace_buf_size=", set_buf_size);

static int set_thresh(const char *value)
{
	return trace_parse_us(value, &tracing_thresh);
}
__setup("tracing_thresh=", set_thresh);

static int set_alloc_snapshot(const char *value)
{
	boot_snapshot = true;
	return 0;
}
__setup("alloc_snapshot", set_alloc_snapshot);

/*
 * Call `apply` for each of the comma-separated words; it returns NULL, or why the word is refused. `list` is not cut.
 */
static void for_each_word(const char *list, const char *what, const char *(*apply)(const char *word))
{
	static char copy[BOOT_TEXT_MAX]; /* [boot] */
	char *rest = copy, *word;

	strscpy(copy, list, sizeof(copy));
	while ((word = strsep(&rest, ","))) {
		const char *why = *word ? apply(word) : NULL;

		if (why)
			pr_warn("%s: '%s' ignored: %s\n", what, word, why);
	}
}

/* What a write of `word` to the control file `file` would get as an explanation of `ret`; NULL: there is no error. */
static const char *why(const char *file, const char *word, int ret)
{
	return ret ? trace_boot_why(&global_trace, file, word, ret) : NULL;
}

static const char *apply_filter(const char *word)
{
	return why("set_ftrace_filter", word,
		   ftrace_set_filter(global_trace.ops, (unsigned char *)word, strlen(word), false));
}

static const char *apply_notrace(const char *word)
{
	return why("set_ftrace_notrace", word,
		   ftrace_set_notrace(global_trace.ops, (unsigned char *)word, strlen(word), false));
}

static const char *apply_graph_filter(const char *word)
{
	return why("set_graph_function", word, graph_filter_add(&graph_functions, word));
}

static const char *apply_graph_notrace(const char *word)
{
	return why("set_graph_notrace", word, graph_filter_add(&graph_notrace, word));
}

/* General options, before the tracer begins. A tracer's own options are set once the tracer is selected. */
static const char *apply_option(const char *word)
{
	const char *reason = NULL;
	int ret = trace_option_of(word, NULL) ? trace_set_option(&global_trace, word, &reason) : 0;

	return ret && !reason ? errno_text(-ret) : reason;
}

static const char *apply_own_option(const char *word)
{
	const char *reason = NULL;
	int ret = trace_option_of(word, NULL) ? 0 : trace_set_option(&global_trace, word, &reason);

	return reason ?: why("trace_options", word, ret);
}

/*
 * The clock first, because a change of clock empties the buffer; the tracer last, because it begins at once.
 * tracing_set_tracer() takes the buffers from their small size at boot to the full one.
 */
static void start_tracer(void)
{
	const char *reason = NULL;
	int ret = 0;

	mutex_lock(&trace_types_lock);
	if (boot_clock[0])
		ret = tracing_set_clock(&global_trace, boot_clock);
	if (ret)
		pr_warn("trace_clock: '%s' ignored: %s\n", boot_clock,
			trace_boot_why(&global_trace, "trace_clock", boot_clock, ret));
	if (boot_snapshot && (tracing_expand(&global_trace) || trace_max_alloc(&global_trace)))
		pr_warn("alloc_snapshot: not enough memory\n");
	ret = boot_tracer[0] ? tracing_set_tracer(&global_trace, boot_tracer, &reason) : 0;
	mutex_unlock(&trace_types_lock);
	if (ret)
		pr_warn("ftrace: cannot start tracer '%s': %s\n", boot_tracer,
			reason ?: trace_boot_why(&global_trace, "current_tracer", boot_tracer, ret));
	else if (boot_tracer[0])
		pr_info("Starting tracer '%s'\n", boot_tracer);
}

/*
 * Begin what the command line and a bootconfig have asked for. This patches text, takes mutexes, waits for grace
 * periods and allocates, in start_kernel, with interrupts off and one CPU. All of that is right for one reason: nothing
 * else runs yet.
 *
 * Text is changed by stop_machine(), which with one CPU online masks interrupts and calls the
 * function (stop_alone). The alias pages are fixmap slots, there since the machine's first C
 * function. A CPU that starts later has nothing stale: aarch64's invalidates its instruction cache
 * on the way in (enable_mmu); x86's caches are coherent, and it has fetched nothing of ours yet.
 *
 * Mutexes are free, as their holders never sleep in between: the fast path takes them for
 * init_task. Grace periods are over at once: synchronize_rcu() with one CPU online returns.
 *
 * Rings are made for all CPUs that are possible. To change a ring's size its CPU is asked whether
 * it is writing (rb_quiesce): our own by a call, and one that is not online cannot be. Process 1
 * starts CPUs, so none comes meanwhile.
 *
 * function_graph gives a shadow stack to every task there is. init_task is CPU 0's idle task from
 * sched_init() on, so tracing begins after that; tasks that are forked get theirs from
 * fgraph_init_task().
 *
 * The clock runs since arm64_boot() and x86_boot(). On a PC whose TSC nothing has measured by then,
 * stamps are 0 until the timer's driver has; the ring keeps the order of records all the same, as
 * it takes no stamp that is earlier than the last. The driver may correct a rate that a device tree
 * has got wrong: then time jumps once. irqsoff measures from a change to off, so the boot itself is
 * no section.
 */
static void trace_boot_start(struct trace_array *tr)
{
	for_each_word(boot_filter, "ftrace_filter", apply_filter);
	for_each_word(boot_notrace, "ftrace_notrace", apply_notrace);
	for_each_word(boot_graph_filter, "ftrace_graph_filter", apply_graph_filter);
	for_each_word(boot_graph_notrace, "ftrace_graph_notrace", apply_graph_notrace);
	for_each_word(boot_options, "trace_options", apply_option);
	start_tracer();
	ftrace_early_drop();
	for_each_word(boot_options, "trace_options", apply_own_option);
	trace_boot_events();
	trace_boot_config();
}
static const struct trace_part boot_part = {.boot = trace_boot_start};
REGISTER_TRACE_PART(boot_part);

/* The options of a trace array: bits of trace_flags, by the names that trace_options has for them. */
#pragma once

#include <lib/types.h>

struct trace_array;
struct tracer;

/*
 * Bits of trace_options, in the order that the file lists them. An option exists when core/options.c has a name for
 * its bit: a change that gives a bit a meaning adds that line.
 */
enum trace_option_bit {
	OPT_PRINT_PARENT,
	OPT_SYM_OFFSET,
	OPT_SYM_ADDR,
	OPT_VERBOSE,
	OPT_RAW,
	OPT_HEX,
	OPT_BIN,
	OPT_BLOCK,
	OPT_FIELDS,
	OPT_SCHED_TREE,
	OPT_PRINTK,
	OPT_ANNOTATE,
	OPT_USERSTACKTRACE,
	OPT_SYM_USEROBJ,
	OPT_PRINTK_MSGONLY, /* printk-msg-only */
	OPT_CONTEXT_INFO,
	OPT_LATENCY_FMT,
	OPT_RECORD_CMD,
	OPT_RECORD_TGID,
	OPT_OVERWRITE,
	OPT_STOP_ON_FREE, /* disable_on_free */
	OPT_IRQ_INFO,
	OPT_MARKERS,
	OPT_EVENT_FORK,
	OPT_PRINTK_DEST, /* trace_printk_dest */
	OPT_PAUSE_ON_TRACE,
	OPT_FUNCTION,  /* function-trace */
	OPT_FUNC_FORK, /* function-fork */
	OPT_DISPLAY_GRAPH,
	OPT_STACKTRACE,
	NR_TRACE_OPTIONS,
};
#define TRACE_ITER(opt) (1ULL << OPT_##opt)
#define TRACE_DEFAULT_FLAGS                                                                                \
	(TRACE_ITER(PRINT_PARENT) | TRACE_ITER(PRINTK) | TRACE_ITER(ANNOTATE) | TRACE_ITER(CONTEXT_INFO) | \
	 TRACE_ITER(RECORD_CMD) | TRACE_ITER(OVERWRITE) | TRACE_ITER(IRQ_INFO) | TRACE_ITER(MARKERS) |     \
	 TRACE_ITER(FUNCTION))

/* core/options.c */
/*
 * "sym-addr", "nosym-addr". 0; -EINVAL: there is no such option; or an -errno with *why set. Takes trace_types_lock.
 */
int trace_set_option(struct trace_array *tr, const char *text, const char **why);
/*
 * Is this the name of an option, with or without "no": a general one, or, with `tracer`, one of its own? Any context.
 */
bool trace_option_of(const char *text, const struct tracer *tracer);
/* One general option: the tracer is asked, then its side effects happen. trace_types_lock held. 0 or -errno. */
int set_tracer_flag(struct trace_array *tr, enum trace_option_bit opt, bool on);
/* For flag_changed of a tracer that relies on `overwrite`: -EINVAL when that is about to go off. */
int trace_keep_overwrite(u64 mask, bool set);
/* The name of general option i; NULL where i is too large, or where this array lacks the option. Any context. */
const char *trace_option_name(const struct trace_array *tr, unsigned i);
#define OPTION_FILE \
	"option" /* the subject of hints (struct trace_hint) of the files options/NAME, whose owner is the array */
int create_options_dir(struct trace_array *tr);
/* A new array begins with the options of the top one, but for OWN_OPTIONS. 0 or -errno. trace_types_lock held. */
int trace_options_inherit(struct trace_array *tr);
void trace_options_free(struct trace_array *tr); /* switch off options that hold something. trace_types_lock held */

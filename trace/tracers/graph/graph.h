/*
 * Function graph: its records, how they are written and how they are shown, for function_graph itself and for tracers
 * with the option display-graph.
 */
#pragma once

#include <trace/fgraph.h>

#include "output/iter.h"

#define GRAPH_ENT_SIZE offsetof(struct ftrace_graph_ent_entry, args)

static_assert(GRAPH_ENT_SIZE == 20 && sizeof(struct ftrace_graph_ret_entry) == 48, "Linux's form");

/* The tracer's options; trace_graph_print() and trace_graph_header() take them too, to be told what to show. */
#define TRACE_GRAPH_PRINT_OVERRUN    0x1
#define TRACE_GRAPH_PRINT_CPU	     0x2
#define TRACE_GRAPH_PRINT_OVERHEAD   0x4
#define TRACE_GRAPH_PRINT_PROC	     0x8
#define TRACE_GRAPH_PRINT_DURATION   0x10
#define TRACE_GRAPH_PRINT_ABS_TIME   0x20
#define TRACE_GRAPH_PRINT_IRQS	     0x40
#define TRACE_GRAPH_PRINT_TAIL	     0x80
#define TRACE_GRAPH_PRINT_RETVAL     0x100
#define TRACE_GRAPH_PRINT_RETVAL_HEX 0x200
#define TRACE_GRAPH_SLEEP_TIME	     0x400
#define TRACE_GRAPH_ARGS	     0x800
#define TRACE_GRAPH_GRAPH_TIME	     0x2000
#define TRACE_GRAPH_PRINT_REL_TIME   0x1000 /* no option: of latency tracers */

#define TRACE_ITER_COPY (RB_MAX_EVENT + sizeof(struct ftrace_graph_ret_entry)) /* bytes of trace_iterator.copy */

/*
 * tracers/graph/record.c: write the record of a call, with its first `args` arguments, or of its return. `call` has the
 * state and the depth. trace_graph_entry: false, there was no room. Any context, preemption off.
 */
bool trace_graph_entry(struct trace_array *tr, const struct fgraph_call *call, unsigned args);
void trace_graph_return(struct trace_array *tr, const struct fgraph_call *call, const struct fgraph_frame *frame);
/* The same for a place, as a call that took no time. Interrupts off. */
bool trace_graph_function(struct trace_array *tr, unsigned long ip, u32 pc, unsigned long flags);

/* tracers/graph/print.c. What it keeps from line to line, a CPU each. */
struct trace_graph_state;
int trace_graph_open(struct trace_iterator *iter); /* 0 or -ENOMEM */
int trace_graph_alloc_dump(void); /* before the first record: ftrace_dump may not. 0 or -ENOMEM. Thread context */
void trace_graph_close(struct trace_iterator *iter);
/* One line, or two; false: the record is not shown in this form. */
bool trace_graph_print(struct seq_file *s, struct trace_iterator *iter, u32 options);
void trace_graph_header(struct seq_file *s, struct trace_iterator *iter, u32 options);
/*
 * Twelve characters or more: seven digits of microseconds, with as many of the nanoseconds as the column has room for,
 * and the unit. Returns where they end.
 */
char *trace_put_us(char *p, u64 ns);

/* tracers/graph/filter.c: set_graph_function and set_graph_notrace, max_graph_depth. */
struct graph_filter {
	struct ftrace_set set; /* [ftrace_lock] as the file shows it */
	struct ip_hash *hash;  /* [ftrace_lock, RCU] the same by address; NULL: empty */
};
extern struct graph_filter graph_functions, graph_notrace;
extern u32 max_graph_depth; /* [a] 0: any */
bool ip_hash_has(const struct ip_hash *hash, unsigned long ip);
/* Exchange the filter's set with another. Thread context, no lock held. 0 or -ENOMEM. */
int graph_filter_replace(struct graph_filter *filter, struct ftrace_set *with);
/* Add the functions that match a glob. Thread context, no lock held. 0; -EINVAL: none matches; -ENOMEM. */
int graph_filter_add(struct graph_filter *filter, const char *pattern);

/*
 * tracers/graph/tracer.c: which way calls go, after a change of clock, pids, filters, depth, threshold.
 * trace_types_lock.
 */
void graph_update_fast(struct trace_array *tr);
void graph_update_all(void); /* the same for all arrays */
/*
 * What the function profiler does for a call that function_graph hooks for both, when the frame is made, and for its
 * return at `now`. Interrupts off.
 */
struct graph_profiler {
	void (*enter)(struct fgraph_stack *stack, struct fgraph_frame *frame);
	void (*leave)(struct fgraph_stack *stack, const struct fgraph_frame *frame, u64 now);
};
/*
 * The profiler is about to be switched on, or is off (NULL): it obeys the option sleep-time, too. It is no user of
 * returns at this moment. trace_types_lock. 0 or -errno.
 */
int trace_graph_profiled(const struct graph_profiler *profiler);
/*
 * The option graph-time, for the profiler: does a function's time include that of the functions it calls? Any context.
 */
bool trace_graph_time(void);

/*
 * The option display-graph of the latency tracers: calls within a section as function_graph shows them, and the places
 * where it begins and ends as calls that take no time.
 */
#pragma once

#include "output/iter.h"
#include "graph.h"

/* What a latency tracer tells: when to record. */
struct latency_graph {
	bool (*concerned)(void);	       /* preemption off: may `begin` say yes? */
	bool (*begin)(struct trace_array *tr); /* interrupts off: this CPU's next record belongs to a section */
	void (*end)(void);		       /* after it, if begin said yes; may be NULL */
};

/* Begin and end to record calls of the array's functions, as `who` says. trace_types_lock held. 0 or -errno. */
int latency_graph_start(struct trace_array *tr, const struct latency_graph *who);
int latency_graph_stop(void);

/* For struct tracer: open. The other functions show with these options. */
int latency_graph_open(struct trace_iterator *iter);
#define LATENCY_GRAPH_PRINT \
	(TRACE_GRAPH_PRINT_CPU | TRACE_GRAPH_PRINT_PROC | TRACE_GRAPH_PRINT_REL_TIME | TRACE_GRAPH_PRINT_DURATION)
void latency_graph_header(struct seq_file *s, struct trace_iterator *iter, u32 print);
bool latency_graph_line(struct seq_file *s, struct trace_iterator *iter, u32 print);

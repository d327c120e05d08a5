/* What the rest of the kernel asks of tracing. */
#pragma once

#include <lib/types.h>

/*
 * Boot: the command line is known, or there is none. Calls are noted up to here, and from here on if the function
 * tracer will want them: as soon as possible, for it costs.
 */
void ftrace_early_command_line(void);
/* Boot, one CPU, interrupts off, after parse_params(): buffers, arrays, and what is traced from now on. */
void trace_init(void);

/*
 * Stop and start recording in the top buffer, as writing tracing_on does, but for tracers' own start and
 * stop. Any context.
 */
void tracing_on(void);
void tracing_off(void);

/*
 * Set aside what the top buffer holds, as `echo 1 > snapshot` does, which must have allocated what that needs, or
 * tracing_alloc_snapshot. Else, or under a latency tracer, a message in the trace says why not. Any context.
 */
void tracing_snapshot(void);
/* Thread context. 0, -ENOMEM. */
int tracing_alloc_snapshot(void);

enum ftrace_dump_mode {
	DUMP_NONE,
	DUMP_ALL,   /* all CPUs' buffers */
	DUMP_ORIG,  /* the CPU that crashed */
	DUMP_PARAM, /* the buffers that ftrace_dump_on_oops names */
};
/* The top buffer, or those named, as text through printk; they record no more afterwards. Any context, also oops. */
void ftrace_dump(enum ftrace_dump_mode mode);

/* The command line's files. Boot, thread. */
#pragma once

/* command_line_events.c: events, triggers and instances, as trace_boot_start begins tracing. */
void trace_boot_events(void);
/* config.c: the keys ftrace.* of a bootconfig. */
void trace_boot_config(void);

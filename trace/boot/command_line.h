/* The command line's files. Boot, thread. */
#pragma once

/* command_line_events.c: events, triggers and instances, as trace_boot_start begins tracing. */
void trace_boot_events(void);
/* Why a line of a dynamic event was refused with this -errno, as far as one line of the log can say it. */
const char *trace_boot_probe_why(int ret);
/* config.c: the keys ftrace.* of a bootconfig. */
void trace_boot_config(void);

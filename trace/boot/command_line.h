/* The command line's files. Boot, thread. */
#pragma once

#include <lib/types.h>

/* command_line_events.c: events, triggers and instances, as trace_boot_start begins tracing. */
void trace_boot_events(void);
/* config.c: the keys ftrace.* of a bootconfig. */
void trace_boot_config(void);

/*
 * config_hist.c. Below some keys stand either words or numbers with these words below them: `hist { keys = a }` or
 * `hist { 0 { keys = a } }`. These are the parts of such a key: the first with part = 0, then the one behind `part`.
 * Those with numbers come first, then `root` itself if it has other words. 0: there are no more.
 */
unsigned trace_boot_next_part(unsigned root, unsigned part);
/*
 * The line of the file `trigger` for the keys below `hist`, cut after `size` bytes. NULL; or why they make no line, a
 * text that stays.
 */
const char *trace_boot_hist_line(unsigned hist, char *text, size_t size);
/* Is this a key of a histogram, as it is written behind "hist."? */
bool trace_boot_hist_knows(const char *name);

/* Notes of calls from before there are ring buffers (trace/ftrace/early.c). Boot CPU, interrupts off. */
#pragma once

#include <lib/types.h>

struct early_call {
	u64 counter : 60; /* arch_read_counter(): how fast it runs may not be known yet */
	u64 depth : 4;	  /* of preemption, 15: or more */
	u32 ip, parent;	  /* offsets from _text */
};

/* Forget what was noted, and note nothing more: it is not wanted, or no site calls the hook any more. */
void ftrace_early_drop(void);
/*
 * Take the notes, oldest first, at *calls; returns how many there are, and 0 when it is called again. A line in the log
 * tells how many there are and how many found no room. They stay readable until the device initcalls.
 */
unsigned ftrace_early_calls(const struct early_call **calls);

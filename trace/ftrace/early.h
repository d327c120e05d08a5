/* What is called before there are ring buffers (trace/ftrace/early.c). Boot CPU, interrupts off. */
#pragma once

#include <lib/types.h>

struct early_call {
	u64 counter : 60; /* arch_read_counter(): how fast it runs may not be known yet */
	u64 depth : 4;	  /* of preemption, 15: or more */
	u32 ip, parent;	  /* offsets from _text */
};

/* The calls are not wanted, or no site calls the hook any more: forget what was noted. */
void ftrace_early_drop(void);
/*
 * Take what was noted, oldest first: how many there are. A line in the log tells of them and of those that found no
 * room. They stay readable until the device initcalls.
 */
unsigned ftrace_early_calls(const struct early_call **calls);

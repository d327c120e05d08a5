/* The clocks on the host: the test moves the one and reads the other. */
#pragma once

#include <lib/types.h>

u64 sched_clock(void);
void ndelay(u64 ns);
void set_wall_clock(u64 ns_since_1970);

/* The clock of trace time stamps, in ns. */
#pragma once

#include <linux/ktime.h>

/* A function in modules: only the kernel's own code knows which of the machine's counters is good. */
#define local_clock() ((u64)ktime_get())

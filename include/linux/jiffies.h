/* Time in ticks. */
#pragma once

#include <time/jiffies.h>

/* A function in modules: only the kernel's own code knows which of the machine's counters is good. */
#undef jiffies
#define jiffies		   ((unsigned long)get_jiffies_64())
#define jiffies_64	   get_jiffies_64()
#define nsecs_to_jiffies(ns) nsecs_to_jiffies_up(ns)
#define time_is_before_jiffies(a) time_after(jiffies, a)
#define time_is_after_jiffies(a)  time_before(jiffies, a)
#define time_in_range(a, b, c)	  (time_after_eq(a, b) && time_before_eq(a, c))

/* No events of softirqs and tasklets. */
#pragma once

#define trace_softirq_raise(nr)	   ((void)0)
#define trace_softirq_entry(nr)	   ((void)0)
#define trace_softirq_exit(nr)	   ((void)0)
#define trace_tasklet_entry(t, fn) ((void)(fn))
#define trace_tasklet_exit(t, fn)  ((void)(fn))

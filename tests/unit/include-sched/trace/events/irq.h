/* No events of softirqs. */
#pragma once

#define trace_softirq_raise(nr) ((void)0)
#define trace_softirq_entry(nr) ((void)0)
#define trace_softirq_exit(nr)	((void)0)

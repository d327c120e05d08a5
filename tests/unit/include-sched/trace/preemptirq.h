/* Nobody is told. */
#pragma once

#define trace_hook(key, cond, func) ((void)0)
#define stop_critical_timings()	    ((void)0)
#define start_critical_timings()    ((void)0)
#define __lockfunc

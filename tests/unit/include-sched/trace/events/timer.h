/* No events of timers. */
#pragma once

#define trace_timer_init(t)		    ((void)0)
#define trace_timer_start(t, cpu)	    ((void)0)
#define trace_timer_cancel(t)		    ((void)0)
#define trace_timer_expire_entry(t, clk)    ((void)(clk))
#define trace_timer_expire_exit(t)	    ((void)0)
#define trace_hrtimer_init(t, clock, mode)  ((void)0)
#define trace_hrtimer_start(t, mode, armed) ((void)(armed))
void host_timer_cancelled(void);
#define trace_hrtimer_cancel(t) host_timer_cancelled()
void host_timer_expires(void);
#define trace_hrtimer_expire_entry(t, now)   ((void)(now), host_timer_expires())
#define trace_hrtimer_expire_exit(t)	     ((void)0)
#define trace_tick_stop(success, dependency) ((void)0)

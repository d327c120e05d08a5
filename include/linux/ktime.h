/* Times in ns. */
#pragma once

#include <linux/jiffies.h>
#include <time/clock.h>
#include <time/ktime.h>

/* A function in modules: only the kernel's own code knows which of the machine's counters is good. */
#undef ktime_get
#define ktime_get_ns()	      ((u64)ktime_get())
#define ktime_get_boottime()  ktime_get() /* the machine does not sleep */
#define ktime_get_raw()	      ktime_get()
#define ktime_get_raw_ns()    ktime_get_ns()
#define ktime_get_real()      ((ktime_t)ktime_get_real_ns())
#define ktime_get_real_seconds() ((s64)(ktime_get_real_ns() / NSEC_PER_SEC))
#define ktime_get_seconds()   ((s64)(ktime_get_ns() / NSEC_PER_SEC))
#define ktime_add(a, b)	      ((a) + (b))
#define ktime_sub(a, b)	      ((a) - (b))
#define ktime_add_ns(a, ns)   ((a) + (ktime_t)(ns))
#define ktime_add_us(a, us)   ((a) + (ktime_t)(us) * NSEC_PER_USEC)
#define ktime_add_ms(a, ms)   ((a) + (ktime_t)(ms) * NSEC_PER_MSEC)
#define ktime_to_ns(t)	      ((s64)(t))
#define ktime_to_us(t)	      ((s64)(t) / NSEC_PER_USEC)
#define ktime_to_ms(t)	      ((s64)(t) / NSEC_PER_MSEC)
#define ktime_us_delta(a, b)  ktime_to_us((a) - (b))
#define ktime_ms_delta(a, b)  ktime_to_ms((a) - (b))
#define ktime_compare(a, b)   ((a) < (b) ? -1 : (a) > (b))
#define ktime_after(a, b)     ((a) > (b))
#define ktime_before(a, b)    ((a) < (b))
#define ns_to_ktime(ns)	      ((ktime_t)(ns))
#define us_to_ktime(us)	      ((ktime_t)(us) * NSEC_PER_USEC)
#define ms_to_ktime(ms)	      ((ktime_t)(ms) * NSEC_PER_MSEC)
#define USEC_PER_SEC	      1000000L
#define USEC_PER_MSEC	      1000L
#define MSEC_PER_SEC	      1000L

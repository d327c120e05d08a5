/* Tracepoints of timers and of the tick. Fields and texts are Linux's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM timer

#if !defined(_TRACE_TIMER_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TIMER_H

#include <time/hrtimer.h>
#include <time/timer.h>
#include <trace/tracepoint.h>

DECLARE_EVENT_CLASS(timer_class,
	TP_PROTO(struct timer_list *timer),
	TP_ARGS(timer),
	TP_STRUCT__entry(
		__field(void *, timer)
	),
	TP_fast_assign(
		__entry->timer = timer;
	),
	TP_printk("timer=%p", __entry->timer)
);

DEFINE_EVENT(timer_class, timer_init, TP_PROTO(struct timer_list *timer), TP_ARGS(timer));
/* It was queued and is no more: deleted, armed for another time, or due. [b of its base] */
DEFINE_EVENT(timer_class, timer_cancel, TP_PROTO(struct timer_list *timer), TP_ARGS(timer));

/* Queued on this CPU, or where its function runs. There is no wheel here: a timer is due when it says. [b] */
TRACE_EVENT(timer_start,
	TP_PROTO(struct timer_list *timer, unsigned int cpu),
	TP_ARGS(timer, cpu),
	TP_STRUCT__entry(
		__field(void *, timer)
		__field(void *, function)
		__field(unsigned long, expires)
		__field(unsigned long, bucket_expiry)
		__field(unsigned long, now)
		__field(unsigned int, flags)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->function = (void *)timer->function;
		__entry->expires = timer->expires;
		__entry->bucket_expiry = timer->expires;
		__entry->now = jiffies;
		__entry->flags = cpu;
	),
	TP_printk("timer=%p function=%ps expires=%lu [timeout=%ld] bucket_expiry=%lu cpu=%u idx=%u flags=%s",
		__entry->timer, __entry->function, __entry->expires, (long)__entry->expires - __entry->now,
		__entry->bucket_expiry, __entry->flags & 0x3ffff, __entry->flags >> 22,
		__print_flags(__entry->flags & 0x3c0000, "|", { 0x40000, "M" }, { 0x80000, "D" }, { 0x100000, "P" },
			      { 0x200000, "I" }))
);

/* Around the function: in the softirq, the base not locked. By the exit the timer may be gone. */
TRACE_EVENT(timer_expire_entry,
	TP_PROTO(struct timer_list *timer, unsigned long baseclk),
	TP_ARGS(timer, baseclk),
	TP_STRUCT__entry(
		__field(void *, timer)
		__field(unsigned long, now)
		__field(void *, function)
		__field(unsigned long, baseclk)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->now = jiffies;
		__entry->function = (void *)timer->function;
		__entry->baseclk = baseclk;
	),
	TP_printk("timer=%p function=%ps now=%lu baseclk=%lu",
		__entry->timer, __entry->function, __entry->now, __entry->baseclk)
);
DEFINE_EVENT(timer_class, timer_expire_exit, TP_PROTO(struct timer_list *timer), TP_ARGS(timer));

TRACE_EVENT(hrtimer_init,
	TP_PROTO(struct hrtimer *timer, clockid_t clockid, enum hrtimer_mode mode),
	TP_ARGS(timer, clockid, mode),
	TP_STRUCT__entry(
		__field(void *, hrtimer)
		__field(clockid_t, clockid)
		__field(enum hrtimer_mode, mode)
	),
	TP_fast_assign(
		__entry->hrtimer = timer;
		__entry->clockid = clockid;
		__entry->mode = mode;
	),
	TP_printk("hrtimer=%p clockid=%s mode=%s", __entry->hrtimer,
		__print_symbolic(__entry->clockid, { 0, "CLOCK_REALTIME" }, { 1, "CLOCK_MONOTONIC" }),
		__print_symbolic(__entry->mode, { 0, "ABS" }, { 1, "REL" }))
);

/* Queued: by hrtimer_start (was_armed: it was queued already), or by its callback that wants to be called again. [b] */
TRACE_EVENT(hrtimer_start,
	TP_PROTO(struct hrtimer *timer, enum hrtimer_mode mode, bool was_armed),
	TP_ARGS(timer, mode, was_armed),
	TP_STRUCT__entry(
		__field(void *, hrtimer)
		__field(void *, function)
		__field(s64, expires)
		__field(s64, softexpires)
		__field(enum hrtimer_mode, mode)
		__field(bool, was_armed)
	),
	TP_fast_assign(
		__entry->hrtimer = timer;
		__entry->function = (void *)timer->function;
		__entry->expires = timer->expires;
		__entry->softexpires = timer->expires;
		__entry->mode = mode;
		__entry->was_armed = was_armed;
	),
	TP_printk("hrtimer=%p function=%ps expires=%llu softexpires=%llu mode=%s was_armed=%d",
		__entry->hrtimer, __entry->function, (unsigned long long)__entry->expires,
		(unsigned long long)__entry->softexpires,
		__print_symbolic(__entry->mode, { 0, "ABS" }, { 1, "REL" }), __entry->was_armed)
);

/* Around the callback: in its interrupt, the base not locked. By the exit the timer may be gone. */
TRACE_EVENT(hrtimer_expire_entry,
	TP_PROTO(struct hrtimer *timer, ktime_t now),
	TP_ARGS(timer, now),
	TP_STRUCT__entry(
		__field(void *, hrtimer)
		__field(s64, now)
		__field(void *, function)
	),
	TP_fast_assign(
		__entry->hrtimer = timer;
		__entry->now = now;
		__entry->function = (void *)timer->function;
	),
	TP_printk("hrtimer=%p function=%ps now=%llu",
		__entry->hrtimer, __entry->function, (unsigned long long)__entry->now)
);

DECLARE_EVENT_CLASS(hrtimer_class,
	TP_PROTO(struct hrtimer *timer),
	TP_ARGS(timer),
	TP_STRUCT__entry(
		__field(void *, hrtimer)
	),
	TP_fast_assign(
		__entry->hrtimer = timer;
	),
	TP_printk("hrtimer=%p", __entry->hrtimer)
);

DEFINE_EVENT(hrtimer_class, hrtimer_expire_exit, TP_PROTO(struct hrtimer *timer), TP_ARGS(timer));
/* It was queued and is no more. [b] */
DEFINE_EVENT(hrtimer_class, hrtimer_cancel, TP_PROTO(struct hrtimer *timer), TP_ARGS(timer));

/* The tick's callback found the CPU idle: there is no next one. Nothing here can object, so it is a success always. */
TRACE_EVENT(tick_stop,
	TP_PROTO(int success, int dependency),
	TP_ARGS(success, dependency),
	TP_STRUCT__entry(
		__field(int, success)
		__field(int, dependency)
	),
	TP_fast_assign(
		__entry->success = success;
		__entry->dependency = dependency;
	),
	TP_printk("success=%d dependency=%s", __entry->success,
		__print_symbolic(__entry->dependency, { 0, "NONE" }))
);

#endif

#include <trace/define_trace.h>

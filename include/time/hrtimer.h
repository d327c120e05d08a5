/* High-resolution timers: callbacks at a time, from the timer interrupt. A tree per CPU, one-shot hardware. */
#pragma once

#include <lib/rbtree.h>
#include <lib/types.h>
#include <time/ktime.h>

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART, /* the callback moved `expires` forward */
};
typedef int clockid_t; /* CLOCK_* */
/* How `expires` is given, for the timer events. Linux has more modes; here all timers have this one. */
enum hrtimer_mode {
	HRTIMER_MODE_ABS,
};
struct hrtimer_cpu_base;

/* Locks: b the lock of its base. */
struct hrtimer {
	struct rb_node node; /* [b] */
	ktime_t expires;     /* [b] sched_clock ns */
	/* Context: hard interrupt on the CPU that started it, interrupts off, base not locked. */
	enum hrtimer_restart (*function)(struct hrtimer *);
	struct hrtimer_cpu_base *base; /* [b] CPU it is or was last queued on */
	u8 state;		       /* [b] 1: queued */
	void *data;		       /* the callback's */
};

/* A queued timer as /proc/timer_list shows it. */
struct hrtimer_view {
	const struct hrtimer *timer; /* an address only: it may be gone */
	enum hrtimer_restart (*function)(struct hrtimer *);
	ktime_t expires;
};

/* Before its first use: not queued, with this CPU's base. Any context. */
void hrtimer_init(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *));
/* Queue on this CPU (moving it there), at an absolute time. Any context but nmi. */
void hrtimer_start(struct hrtimer *t, ktime_t expires);
/* 1: was queued and is not now; 0: was not; -1: its callback runs at this moment. */
int hrtimer_try_to_cancel(struct hrtimer *t);
int hrtimer_cancel(struct hrtimer *t);	      /* waits for a running callback. Not from the callback itself. */
bool hrtimer_active(const struct hrtimer *t); /* queued, or its callback runs */
/* Move expires past `now` by whole intervals; returns how many. From the callback, or while t is not queued. */
u64 hrtimer_forward(struct hrtimer *t, ktime_t now, ktime_t interval);
void hrtimer_interrupt(void); /* by the timer driver's handler: runs what is due, sets the next event */
/* The timers that wait on a CPU, soonest first: at most n into `to`, without their links. Returns how many. */
unsigned hrtimers_waiting(unsigned cpu, struct hrtimer_view *to, unsigned n);
/*
 * Since how many ns a timer interrupt of a CPU is due that the CPU has not served yet, or not to its end; negative:
 * no timer interrupt is due. Takes no lock, so the answer may be old at once. Any context.
 */
s64 hrtimers_late_by(unsigned cpu, ktime_t now);
void hrtimers_init(void);     /* boot */
void hrtimers_init_cpu(void); /* each CPU, interrupts off */
/*
 * Sleep until `expires`. 0, or -ERESTARTNOHAND when a signal came first. state: TASK_INTERRUPTIBLE or
 * TASK_UNINTERRUPTIBLE. Thread context.
 */
int hrtimer_sleep_until(ktime_t expires, unsigned state);

/* One-shot hardware; the timer driver fills it in before hrtimers_init_cpu. */
struct clock_event_device {
	const char *name;
	void (*set_next_event)(u64 delta_ns); /* this CPU, interrupts off; at once when 0 */
	void (*shutdown)(void);
	void (*setup_cpu)(void); /* each CPU enables its own */
};
extern const struct clock_event_device *clock_event; /* [immutable after boot] */

/* The scheduler's tick: an hrtimer on each CPU, every TICK_NSEC while a task runs; it stops in idle. */
#define HZ	  250
#define TICK_NSEC (NSEC_PER_SEC / HZ)
void tick_init_cpu(void);	 /* a CPU starts. Interrupts off */
void tick_nohz_idle_enter(void); /* the idle task is about to wait. Preemption off, in the idle task */
void tick_nohz_idle_keep(void);	 /* the idle task waits, but needs one more tick. Interrupts off */
void tick_nohz_idle_exit(void);	 /* another task will run: the tick goes on. The same */
/* Real-time interval timer (setitimer): ITIMER_REAL's callback, for fork's hrtimer_init of signal->real_timer. */
enum hrtimer_restart it_real_fn(struct hrtimer *t);
/* Current has taken SIGALRM: start its process's interval timer again if that has an interval. siglock held. */
void posixtimer_rearm_itimer(void);

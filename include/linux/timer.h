/*
 * Timers by jiffies: the function runs in a softirq. timer_delete_sync() waits for a function that runs, so a module
 * calls it in its exit.
 */
#pragma once

#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <time/timer.h>

/* The names of before Linux 6.2. */
#define del_timer(t)	  timer_delete(t)
#define del_timer_sync(t) timer_delete_sync(t)
#define timer_shutdown(t) timer_shutdown_sync(t)
#define TIMER_IRQSAFE	  0 /* nothing here waits for a timer with interrupts off */

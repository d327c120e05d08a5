/*
 * Works, in thread context. A module cancels (cancel_work_sync, cancel_delayed_work_sync) or waits for (flush_work,
 * destroy_workqueue) all of its own in its exit.
 */
#pragma once

#include <irq/workqueue.h>
#include <linux/jiffies.h>

/* The kernel's functions take ns, Linux's jiffies. */
#define schedule_delayed_work(w, delay)	      queue_delayed_work(NULL, w, delay)
#define queue_delayed_work(wq, w, delay)      (queue_delayed_work)(wq, w, jiffies_to_nsecs(delay))
#define mod_delayed_work(wq, w, delay)	      (mod_delayed_work)(wq, w, jiffies_to_nsecs(delay))
#define schedule_work_on(cpu, w)	      queue_work_on(cpu, w)
/* As in Linux, queue_work_on() has the queue in the middle; here only the system's has a thread on each CPU. */
#define queue_work_on(cpu, ...)		      QUEUE_WORK_ON(cpu, __VA_ARGS__, , )
#define QUEUE_WORK_ON(cpu, wq, w, ...)	      (queue_work_on)(cpu, w)
#define INIT_DELAYED_WORK(w, f)		      init_delayed_work(w, f)
#define delayed_work_pending(w)		      work_pending(&(w)->work)
#define system_wq			      ((struct workqueue_struct *)NULL) /* the pools of the CPUs */
#define system_long_wq			      system_wq
#define system_unbound_wq		      system_wq
#define flush_scheduled_work()		      flush_workqueue(system_wq)
#define alloc_ordered_workqueue(fmt, flags, ...) alloc_workqueue(fmt, (flags) | __WQ_ORDERED, 1, ##__VA_ARGS__)
#define create_workqueue(name)		      alloc_workqueue("%s", WQ_MEM_RECLAIM, 1, name)
#define create_singlethread_workqueue(name)   alloc_ordered_workqueue("%s", WQ_MEM_RECLAIM, name)

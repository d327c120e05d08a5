/*
 * Tracepoints of workqueues. Fields and texts are Linux's.
 * Try: cat /sys/kernel/debug/latency/hook_check
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM workqueue

#if !defined(_TRACE_WORKQUEUE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_WORKQUEUE_H

#include <irq/workqueue.h>
#include <lib/string.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

/* About to be put on a pool's list. cpu is the pool's: where the work runs at the moment, else req_cpu. [p] */
TRACE_EVENT(workqueue_queue_work,
	TP_PROTO(int req_cpu, int cpu, const char *queue, struct work_struct *work),
	TP_ARGS(req_cpu, cpu, queue, work),
	TP_STRUCT__entry(
		__field(void *, work)
		__field(void *, function)
		__string(workqueue, queue)
		__field(int, req_cpu)
		__field(int, cpu)
	),
	TP_fast_assign(
		__entry->work = work;
		__entry->function = (void *)work->func;
		__assign_str(workqueue);
		__entry->req_cpu = req_cpu;
		__entry->cpu = cpu;
	),
	TP_printk("work struct=%p function=%ps workqueue=%s req_cpu=%d cpu=%d",
		__entry->work, __entry->function, __get_str(workqueue), __entry->req_cpu, __entry->cpu)
);

/* It may run from here on: there is no limit to wait for. [p] */
TRACE_EVENT(workqueue_activate_work,
	TP_PROTO(struct work_struct *work),
	TP_ARGS(work),
	TP_STRUCT__entry(
		__field(void *, work)
	),
	TP_fast_assign(
		__entry->work = work;
	),
	TP_printk("work struct %p", __entry->work)
);

/* Around the call, in the worker. At the end the work may be gone: its address and function are what the start had. */
TRACE_EVENT(workqueue_execute_start,
	TP_PROTO(struct work_struct *work),
	TP_ARGS(work),
	TP_STRUCT__entry(
		__field(void *, work)
		__field(void *, function)
	),
	TP_fast_assign(
		__entry->work = work;
		__entry->function = (void *)work->func;
	),
	TP_printk("work struct %p: function %ps", __entry->work, __entry->function)
);
TRACE_EVENT(workqueue_execute_end,
	TP_PROTO(struct work_struct *work, work_func_t function),
	TP_ARGS(work, function),
	TP_STRUCT__entry(
		__field(void *, work)
		__field(void *, function)
	),
	TP_fast_assign(
		__entry->work = work;
		__entry->function = (void *)function;
	),
	TP_printk("work struct %p: function %ps", __entry->work, __entry->function)
);

/*
 * The events of Linux 2.6.29 to 2.6.35, when each queue had threads of its own. They tell of a queue by its worker.
 *
 * Insertion: beside workqueue_queue_work, but not before the boot has started the workers. [p]
 */
DECLARE_EVENT_CLASS(workqueue,
	TP_PROTO(struct task_struct *wq_thread, struct work_struct *work),
	TP_ARGS(wq_thread, work),
	TP_STRUCT__entry(
		__array(char, thread_comm, TASK_COMM_LEN)
		__field(pid_t, thread_pid)
		__field(void *, func)
	),
	TP_fast_assign(
		memcpy(__entry->thread_comm, wq_thread->comm, TASK_COMM_LEN);
		__entry->thread_pid = wq_thread->pid;
		__entry->func = (void *)work->func;
	),
	TP_printk("thread=%s:%d func=%ps", __entry->thread_comm, __entry->thread_pid, __entry->func)
);
DEFINE_EVENT_CONDITION(workqueue, workqueue_insertion,
	TP_PROTO(struct task_struct *wq_thread, struct work_struct *work),
	TP_ARGS(wq_thread, work),
	TP_CONDITION(wq_thread)
);
/* Before the call, in the worker. */
DEFINE_EVENT(workqueue, workqueue_execution,
	TP_PROTO(struct task_struct *wq_thread, struct work_struct *work),
	TP_ARGS(wq_thread, work)
);

/* A queue with a thread of its own is there, and nothing has been queued. cpu -1: its thread runs on any. */
TRACE_EVENT(workqueue_creation,
	TP_PROTO(struct task_struct *wq_thread, int cpu),
	TP_ARGS(wq_thread, cpu),
	TP_STRUCT__entry(
		__array(char, thread_comm, TASK_COMM_LEN)
		__field(pid_t, thread_pid)
		__field(int, cpu)
	),
	TP_fast_assign(
		memcpy(__entry->thread_comm, wq_thread->comm, TASK_COMM_LEN);
		__entry->thread_pid = wq_thread->pid;
		__entry->cpu = cpu;
	),
	TP_printk("thread=%s:%d cpu=%d", __entry->thread_comm, __entry->thread_pid, __entry->cpu)
);
/* Its last work has run and its thread has ended. number: the pool's, for probes (struct work_struct). */
TRACE_EVENT(workqueue_destruction,
	TP_PROTO(struct task_struct *wq_thread, int number),
	TP_ARGS(wq_thread, number),
	TP_STRUCT__entry(
		__array(char, thread_comm, TASK_COMM_LEN)
		__field(pid_t, thread_pid)
	),
	TP_fast_assign(
		memcpy(__entry->thread_comm, wq_thread->comm, TASK_COMM_LEN);
		__entry->thread_pid = wq_thread->pid;
	),
	TP_printk("thread=%s:%d", __entry->thread_comm, __entry->thread_pid)
);

#endif

#include <trace/define_trace.h>

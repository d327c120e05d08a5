/* The workqueues' tracepoints are off. */
#pragma once

#define trace_workqueue_insertion(worker, w)		  ((void)0)
#define trace_workqueue_execution(worker, w)		  ((void)0)
#define trace_workqueue_queue_work(req_cpu, cpu, name, w) ((void)(req_cpu))
#define trace_workqueue_activate_work(w)		  ((void)0)
#define trace_workqueue_execute_start(w)		  ((void)0)
#define trace_workqueue_execute_end(w, func)		  ((void)0)

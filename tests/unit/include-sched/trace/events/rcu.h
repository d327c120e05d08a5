/* RCU's tracepoints are off. */
#pragma once

#define __tracepoint_string

#define trace_rcu_utilization(s)		 ((void)(s))
#define trace_rcu_grace_period(name, seq, event) ((void)(event))
#define trace_rcu_callback(name, head, n)	 ((void)(n))
#define trace_rcu_batch_start(name, n, limit)	 ((void)(name))
#define trace_rcu_invoke_callback(name, head)	 ((void)(head))
#define trace_rcu_batch_end(name, n, cb, nr)	 ((void)(n))

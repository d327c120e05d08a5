/*
 * Tracepoints of locks that are not free. Fields and texts are Linux's.
 * Try: seq 2000 | sort | tail -n 1
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lock

#if !defined(_TRACE_LOCK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_LOCK_H

#include <trace/tracepoint.h>

/* How a task waits. The numbers stand in the text below as well. There are no other kinds of locks here. */
#define LCB_F_SPIN  0x01 /* it spins */
#define LCB_F_MUTEX 0x20

/*
 * The wait begins: the lock was not free at the first look. A task that first spins for a mutex and then sleeps has two
 * beginnings and one end.
 */
TRACE_EVENT(contention_begin,
	TP_PROTO(void *lock, unsigned int flags),
	TP_ARGS(lock, flags),
	TP_STRUCT__entry(
		__field(void *, lock_addr)
		__field(unsigned int, flags)
	),
	TP_fast_assign(
		__entry->lock_addr = lock;
		__entry->flags = flags;
	),
	TP_printk("%p (flags=%s)", __entry->lock_addr,
		__print_flags(__entry->flags, "|", { 0x1, "SPIN" }, { 0x2, "READ" }, { 0x4, "WRITE" }, { 0x8, "RT" },
			      { 0x10, "PERCPU" }, { 0x20, "MUTEX" }))
);

/* The wait is over. ret: 0, the lock is ours; -EINTR, a signal came instead. */
TRACE_EVENT(contention_end,
	TP_PROTO(void *lock, int ret),
	TP_ARGS(lock, ret),
	TP_STRUCT__entry(
		__field(void *, lock_addr)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->lock_addr = lock;
		__entry->ret = ret;
	),
	TP_printk("%p (ret=%d)", __entry->lock_addr, __entry->ret)
);

#endif

#include <trace/define_trace.h>

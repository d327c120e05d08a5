/* Tracepoint of notifiers: functions that rooms have registered to be told of a module, an oops or a panic. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM notifier

#if !defined(_TRACE_NOTIFIER_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_NOTIFIER_H

#include <trace/tracepoint.h>

/* cb is about to be called. Registration is the linker's work here, so Linux's other two events have no place. */
TRACE_EVENT(notifier_run,
	TP_PROTO(void *cb),
	TP_ARGS(cb),
	TP_STRUCT__entry(
		__field(void *, cb)
	),
	TP_fast_assign(
		__entry->cb = cb;
	),
	TP_printk("%ps", __entry->cb)
);

#endif

#include <trace/define_trace.h>

/*
 * Tracepoint of TLB flushes of user memory, on a machine that makes them one by one: x86_64. Fields and text are
 * Linux's; the numbers of reasons stand in the text as well.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tlb

#if !defined(_TRACE_TLB_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TLB_H

#include <trace/tracepoint.h>

#define TLB_FLUSH_ON_TASK_SWITCH 0 /* another address space is loaded, which drops all of the last one */
#define TLB_REMOTE_SHOOTDOWN	 1 /* this CPU flushes, because another one has asked for it */
#define TLB_LOCAL_MM_SHOOTDOWN	 3 /* this CPU flushes of itself */
#define TLB_REMOTE_SEND_IPI	 4 /* this CPU asks others */

#define TLB_FLUSH_ALL (-1UL) /* in place of a number of pages */

/* Preemption off. */
TRACE_EVENT(tlb_flush,
	TP_PROTO(int reason, unsigned long pages),
	TP_ARGS(reason, pages),
	TP_STRUCT__entry(
		__field(int, reason)
		__field(unsigned long, pages)
	),
	TP_fast_assign(
		__entry->reason = reason;
		__entry->pages = pages;
	),
	TP_printk("pages:%ld reason:%s (%d)", (long)__entry->pages,
		__print_symbolic(__entry->reason, { 0, "flush on task switch" }, { 1, "remote shootdown" },
				 { 2, "local shootdown" }, { 3, "local mm shootdown" }, { 4, "remote ipi send" }),
		__entry->reason)
);

#endif

#include <trace/define_trace.h>

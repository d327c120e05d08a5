/* Events of damaged_events.c, with names of values. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM damaged

#if !defined(_DAMAGED_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _DAMAGED_EVENTS_H

#include <linux/tracepoint.h>

#ifndef TRACE_HEADER_MULTI_READ
enum damaged_kind { DAMAGED_LITTLE, DAMAGED_MUCH };
#endif
TRACE_DEFINE_ENUM(DAMAGED_LITTLE);
TRACE_DEFINE_ENUM(DAMAGED_MUCH);

DECLARE_EVENT_CLASS(damaged_class, TP_PROTO(int a, const char *text), TP_ARGS(a, text),
		    TP_STRUCT__entry(__field(int, a) __string(text, text)),
		    TP_fast_assign(__entry->a = a; __assign_str(text, text);),
		    TP_printk("a=%s text=%s",
			      __print_symbolic(__entry->a, {DAMAGED_LITTLE, "little"}, {DAMAGED_MUCH, "much"}),
			      __get_str(text)));
DEFINE_EVENT(damaged_class, damaged_one, TP_PROTO(int a, const char *text), TP_ARGS(a, text));
DEFINE_EVENT(damaged_class, damaged_two, TP_PROTO(int a, const char *text), TP_ARGS(a, text));

TRACE_EVENT(damaged_three, TP_PROTO(unsigned long b), TP_ARGS(b), TP_STRUCT__entry(__field(unsigned long, b)),
	    TP_fast_assign(__entry->b = b;), TP_printk("b=%lu", __entry->b));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE damaged_events
#include <trace/define_trace.h>

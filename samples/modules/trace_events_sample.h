/*
 * Events of a module: the header that says what each keeps and how it is printed. It is read several times, each time
 * with another meaning of TRACE_EVENT, so its guard lets it in again.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sample

#if !defined(_TRACE_EVENTS_SAMPLE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_EVENTS_SAMPLE_H

#include <linux/tracepoint.h>

#ifndef TRACE_HEADER_MULTI_READ
enum sample_parity { SAMPLE_EVEN, SAMPLE_ODD };
#endif
/* TP_printk names them; a reader of raw records learns their numbers from `format` (and from eval_map). */
TRACE_DEFINE_ENUM(SAMPLE_EVEN);
TRACE_DEFINE_ENUM(SAMPLE_ODD);
TRACE_DEFINE_SIZEOF(unsigned short);

/* A text of any length, a number, and an array. Linux's sample has events of these names, which Linux's tests use. */
TRACE_EVENT(foo_bar, TP_PROTO(const char *text, int length), TP_ARGS(text, length),
	    TP_STRUCT__entry(__string(text, text) __field(int, length) __array(char, first, 4)),
	    TP_fast_assign(__assign_str(text, text); __entry->length = length;
			   strscpy(__entry->first, text, sizeof(__entry->first));),
	    TP_printk("text=%s length=%d first=%s kind=%s", __get_str(text),
		      (int)(__entry->length * sizeof(unsigned short) / 2), __entry->first,
		      __print_symbolic(__entry->length & 1, {SAMPLE_EVEN, "even"}, {SAMPLE_ODD, "odd"})));

/* Two events of one form. The first is only told when it is about a long text. */
DECLARE_EVENT_CLASS(sample_length, TP_PROTO(int length), TP_ARGS(length), TP_STRUCT__entry(__field(int, length)),
		    TP_fast_assign(__entry->length = length;), TP_printk("length=%d", __entry->length));
DEFINE_EVENT_CONDITION(sample_length, foo_bar_with_cond, TP_PROTO(int length), TP_ARGS(length),
		       TP_CONDITION(length > 3));
DEFINE_EVENT(sample_length, sample_any, TP_PROTO(int length), TP_ARGS(length));

#endif /* _TRACE_EVENTS_SAMPLE_H */

/* Where this file is: in a folder of the compiler's -I (CFLAGS_trace_events_sample.o in the Makefile). */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace_events_sample
#include <trace/define_trace.h>

/*
 * The tracepoint of kernel messages. Field and text are Linux's.
 * Try: echo h > /proc/sysrq-trigger
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM printk

#if !defined(_TRACE_PRINTK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_PRINTK_H

#include <lib/string.h>
#include <trace/tracepoint.h>

/* The message as it goes into the log, without its level; a newline at its end is left out. Any context. */
TRACE_EVENT(console,
	TP_PROTO(const char *text, size_t len),
	TP_ARGS(text, len),
	TP_STRUCT__entry(
		__dynamic_array(char, msg, len + 1)
	),
	TP_fast_assign(
		size_t msg_len = len && text[len - 1] == '\n' ? len - 1 : len;

		memcpy(__get_str(msg), text, msg_len);
		__get_str(msg)[msg_len] = 0;
	),
	TP_printk("%s", __get_str(msg))
);

#endif

#include <trace/define_trace.h>

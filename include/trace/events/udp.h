/* The tracepoint of UDP. Fields and text are those of Linux 2.6.38 to 6.9. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM udp

#if !defined(_TRACE_UDP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_UDP_H

#include <trace/tracepoint.h>

/* A datagram finds no room in its socket, which has this port. Softirq. */
TRACE_EVENT(udp_fail_queue_rcv_skb,
	TP_PROTO(int rc, unsigned int port),
	TP_ARGS(rc, port),
	TP_STRUCT__entry(
		__field(int, rc)
		__field(__u16, lport)
	),
	TP_fast_assign(
		__entry->rc = rc;
		__entry->lport = port;
	),
	TP_printk("rc=%d port=%hu", __entry->rc, __entry->lport)
);

#endif

#include <trace/define_trace.h>

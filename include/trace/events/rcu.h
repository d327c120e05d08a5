/*
 * Tracepoints of grace periods and callbacks (kernel/lock/rcu.c). Fields and texts are Linux's. All texts are constant:
 * a record has their addresses.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rcu

#if !defined(_TRACE_RCU_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_RCU_H

#include <sched/sched.h>
#include <trace/tracepoint.h>

/* "Start ..." and "End ...": RCU's thread works. In its context. Ticks and switches do nothing for RCU here. */
TRACE_EVENT(rcu_utilization,
	TP_PROTO(const char *s),
	TP_ARGS(s),
	TP_STRUCT__entry(
		__field(const char *, s)
	),
	TP_fast_assign(
		__entry->s = s;
	),
	TP_printk("%s", __entry->s)
);

/* "start" and "end" of a grace period that a task waits for, in that task. */
TRACE_EVENT(rcu_grace_period,
	TP_PROTO(const char *rcuname, unsigned long gp_seq, const char *gpevent),
	TP_ARGS(rcuname, gp_seq, gpevent),
	TP_STRUCT__entry(
		__field(const char *, rcuname)
		__field(long, gp_seq)
		__field(const char *, gpevent)
	),
	TP_fast_assign(
		__entry->rcuname = rcuname;
		__entry->gp_seq = (long)gp_seq;
		__entry->gpevent = gpevent;
	),
	TP_printk("%s %ld %s", __entry->rcuname, __entry->gp_seq, __entry->gpevent)
);

/* call_rcu(): qlen callbacks wait, this one included. Any context. */
TRACE_EVENT(rcu_callback,
	TP_PROTO(const char *rcuname, struct rcu_head *rhp, long qlen),
	TP_ARGS(rcuname, rhp, qlen),
	TP_STRUCT__entry(
		__field(const char *, rcuname)
		__field(void *, rhp)
		__field(void *, func)
		__field(long, qlen)
	),
	TP_fast_assign(
		__entry->rcuname = rcuname;
		__entry->rhp = rhp;
		__entry->func = (void *)rhp->func;
		__entry->qlen = qlen;
	),
	TP_printk("%s rhp=%p func=%ps %ld", __entry->rcuname, __entry->rhp, __entry->func, __entry->qlen)
);

/* RCU's thread begins to call qlen callbacks, at most blimit in one go; calls one; has called so many. */
TRACE_EVENT(rcu_batch_start,
	TP_PROTO(const char *rcuname, long qlen, long blimit),
	TP_ARGS(rcuname, qlen, blimit),
	TP_STRUCT__entry(
		__field(const char *, rcuname)
		__field(long, qlen)
		__field(long, blimit)
	),
	TP_fast_assign(
		__entry->rcuname = rcuname;
		__entry->qlen = qlen;
		__entry->blimit = blimit;
	),
	TP_printk("%s CBs=%ld bl=%ld", __entry->rcuname, __entry->qlen, __entry->blimit)
);
TRACE_EVENT(rcu_invoke_callback,
	TP_PROTO(const char *rcuname, struct rcu_head *rhp),
	TP_ARGS(rcuname, rhp),
	TP_STRUCT__entry(
		__field(const char *, rcuname)
		__field(void *, rhp)
		__field(void *, func)
	),
	TP_fast_assign(
		__entry->rcuname = rcuname;
		__entry->rhp = rhp;
		__entry->func = (void *)rhp->func;
	),
	TP_printk("%s rhp=%p func=%ps", __entry->rcuname, __entry->rhp, __entry->func)
);
/* cb: others wait already; nr: another task wants the CPU; iit: in the idle task, never here; risk: in RCU's thread. */
TRACE_EVENT(rcu_batch_end,
	TP_PROTO(const char *rcuname, int callbacks_invoked, bool cb, bool nr),
	TP_ARGS(rcuname, callbacks_invoked, cb, nr),
	TP_STRUCT__entry(
		__field(const char *, rcuname)
		__field(int, callbacks_invoked)
		__field(char, cb)
		__field(char, nr)
		__field(char, iit)
		__field(char, risk)
	),
	TP_fast_assign(
		__entry->rcuname = rcuname;
		__entry->callbacks_invoked = callbacks_invoked;
		__entry->cb = cb;
		__entry->nr = nr;
		__entry->iit = false;
		__entry->risk = true;
	),
	TP_printk("%s CBs-invoked=%d idle=%c%c%c%c", __entry->rcuname, __entry->callbacks_invoked,
		__entry->cb ? 'C' : '.', __entry->nr ? 'S' : '.', __entry->iit ? 'I' : '.', __entry->risk ? 'R' : '.')
);

#endif

#include <trace/define_trace.h>

/* A tracepoint without an event: what it is told. Other modules include this to put a probe on it. */
#ifndef _TRACEPOINT_SAMPLE_H
#define _TRACEPOINT_SAMPLE_H

#include <linux/sched.h>
#include <linux/tracepoint.h>

DECLARE_TRACE(subsys_eventname, TP_PROTO(int firstarg, struct task_struct *p), TP_ARGS(firstarg, p));

#endif

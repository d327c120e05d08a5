/* The tracepoints of contended locks are off. */
#pragma once

#define LCB_F_SPIN  0x01
#define LCB_F_MUTEX 0x20

#define trace_contention_begin(lock, flags) ((void)0)
#define trace_contention_end(lock, ret)	    ((void)0)
#define trace_contention_begin_enabled()    false
#define trace_contention_end_enabled()	    false

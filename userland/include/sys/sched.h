/* The part of <sched.h> that newlib's <sys/types.h> wants. */
#ifndef VT_SYS_SCHED_H
#define VT_SYS_SCHED_H

#include <uapi/sched_types.h>

#endif

/* User FPU, SSE and AVX registers of a task: room for them as XSAVE writes it. */
#pragma once

#include <lib/types.h>

#define FPU_STATE_MAX 1024 /* x87 and SSE (512), header (64), AVX (256), rounded up */

/* Locks: s changed by the task itself with preemption off, or by the switch. */
struct fpu {
	u8 state[FPU_STATE_MAX] __aligned(64); /* [s] */
};

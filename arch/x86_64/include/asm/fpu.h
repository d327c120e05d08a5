/* FPU state of a task: x87, SSE and AVX registers as XSAVE (or FXSAVE) lays them out. */
#pragma once

#include <lib/types.h>

/*
 * 512 bytes that FXSAVE knows, 64 of header, 256 for the upper halves of YMM (SDM vol. 1, 13.4). XCR0 is
 * limited to what fits here: wider state (AVX-512, AMX) stays off, so that a task has its state in its own
 * struct and nothing is allocated on first use.
 */
#define FPU_LEGACY_SIZE 512
#define FPU_STATE_SIZE	832

/*
 * `state` is current while the task does not run; while it runs and `live` is set, the CPU's registers are
 * newer. Locks: s changed by the task itself with preemption off, or by the switch.
 */
struct fpu {
	u8 state[FPU_STATE_SIZE] __aligned(64); /* [s] XSAVE wants the alignment */
	u32 cpu;				/* [s] CPU whose registers last held it; NR_CPUS or above: none */
	u8 live;				/* [s] the registers of the CPU are this task's */
	u8 user;				/* [s] has a user mode, so it needs registers: all but kernel threads */
};

/* The lowest bytes of the state (SDM vol. 1, table 10-2): what a signal frame shows and a debugger reads. */
struct fpu_legacy {
	u16 cwd, swd, twd, fop;
	u64 rip, rdp;
	u32 mxcsr, mxcsr_mask;
	u32 st_space[32];  /* ST0-ST7, 16 bytes each */
	u32 xmm_space[64]; /* XMM0-XMM15 */
	u32 reserved[12];
	u32 sw_reserved[12]; /* never written by the CPU: in a signal frame struct fpx_sw_bytes */
};

/*
 * Bytes of state in use: 512 with FXSAVE, up to FPU_STATE_SIZE with XSAVE; and which components (XCR0), 3 with FXSAVE.
 * [immutable after fpu_init]
 */
extern u32 fpu_state_size;
extern u64 fpu_features;
/* XSAVE is in use: state is followed by its header, signal frames say so. [immutable after fpu_init] */
extern bool fpu_has_xsave;

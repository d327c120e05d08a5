/* Within the machine layer: the current task's registers written from elsewhere, and their part of signal frames. */
#pragma once

#include <asm/fpu.h>

struct task_struct;

#define FPU_HEADER_SIZE 64 /* behind the legacy part: which components are in use (SDM vol. 1, 13.4.2) */

struct xstate_header {
	u64 xfeatures, xcomp_bv, reserved[6];
};
/* A whole state in memory, as XRSTOR takes it. */
struct xstate {
	struct fpu_legacy legacy;
	struct xstate_header header;
	u8 extended[FPU_STATE_SIZE - FPU_LEGACY_SIZE - FPU_HEADER_SIZE];
} __aligned(64);
static_assert(sizeof(struct xstate_header) == FPU_HEADER_SIZE);
static_assert(sizeof(struct xstate) == FPU_STATE_SIZE);

#define XFEATURE_FP  (1 << 0)
#define XFEATURE_SSE (1 << 1)
#define XFEATURE_AVX (1 << 2)

extern u32 fpu_mxcsr_mask; /* bits that may be set in MXCSR; others are #GP when it is loaded */

/*
 * current's registers become `state`: FPU_STATE_SIZE bytes, checked by the caller for what XRSTOR or FXRSTOR
 * refuse. Thread context.
 */
void fpu_load_state(const void *state);
/* The same with the state of a new program. */
void fpu_reset(void);

/* fpu_signal.c. Bytes that a signal frame needs, at an address aligned to 64. */
unsigned fpu_frame_size(void);
/* Write current's registers there, as Linux lays them out. 0 or -EFAULT. Thread context. */
int fpu_save_frame(void __user *frame);
/*
 * rt_sigreturn: take them from there, NULL: those of a new program. 0, -EFAULT; -EINVAL for a state that the CPU would
 * refuse. After an error the registers are those of a new program. Thread context.
 */
int fpu_restore_frame(const void __user *frame);
/* Would XRSTOR take this header (SDM vol. 1, 13.8.1)? */
bool fpu_valid_header(const struct xstate_header *h);

/*
 * ptrace/fpu_regset.c. A debugger reads and writes the state of a task that stands still: FXSAVE's part, or all of it
 * (<arch/ptrace.h>). set: 0, or -EINVAL for a state that the CPU would refuse.
 */
void fpu_regset_get(struct task_struct *t, void *buf);
int fpu_regset_set(struct task_struct *t, const void *buf, unsigned n);

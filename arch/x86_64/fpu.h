/* Within the machine layer: the current task's registers written from elsewhere, and their part of signal frames. */
#pragma once

#include <asm/fpu.h>

#define FPU_HEADER_SIZE 64 /* behind the legacy part: which components are in use (SDM vol. 1, 13.4.2) */

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
 * refuse.
 */
int fpu_restore_frame(const void __user *frame);

/* FPU registers in signal frames: written for the handler; checked when they are read back. */
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/current.h>

#include "../exception.h"
#include "fpu.h"

/*
 * Linux's uapi asm/sigcontext.h: where the legacy part has room for software it says that more follows, how
 * much and what; a second magic number behind all of it is missing when a program has moved the frame by its
 * old size.
 */
#define FP_XSTATE_MAGIC1 0x46505853U
#define FP_XSTATE_MAGIC2 0x46505845U
#define XFEATURE_FPSSE	 3

struct fpx_sw_bytes {
	u32 magic1;
	u32 extended_size; /* all, with the second magic number */
	u64 xfeatures;
	u32 xstate_size;
	u32 padding[7];
};

static_assert(sizeof(struct fpu_legacy) == FPU_LEGACY_SIZE);
static_assert(sizeof(struct fpx_sw_bytes) == sizeof(((struct fpu_legacy *)0)->sw_reserved));
static_assert(offsetof(struct fpu_legacy, sw_reserved) == 464);

unsigned fpu_frame_size(void)
{
	return fpu_state_size + (fpu_has_xsave ? sizeof(u32) : 0);
}

/*
 * The registers go to memory first (fpu_preserve), and from there to the program. Two magic numbers, in bytes that the
 * CPU does not use and behind the state, tell a handler that the frame has more than FXSAVE's part (Linux's layout).
 */
int fpu_save_frame(void __user *frame)
{
	const struct xstate *state = (void *)current->thread.fpu.state;
	struct xstate __user *to = frame;
	struct fpx_sw_bytes sw = {
		.magic1 = FP_XSTATE_MAGIC1,
		.extended_size = fpu_frame_size(),
		.xfeatures = fpu_features,
		.xstate_size = fpu_state_size,
	};

	fpu_preserve();
	if (copy_to_user(to, state, fpu_state_size))
		return -EFAULT;
	if (!fpu_has_xsave)
		return 0;
	/* A handler that changes x87 or SSE registers in the frame need not know of the header. */
	if (copy_to_user(to->legacy.sw_reserved, &sw, sizeof(sw)) ||
	    put_user(state->header.xfeatures | XFEATURE_FPSSE, &to->header.xfeatures) ||
	    put_user(FP_XSTATE_MAGIC2, (u32 __user *)(frame + fpu_state_size)))
		return -EFAULT;
	return 0;
}

/*
 * How many bytes of state the frame has: the legacy part alone where one of the marks of more is missing, for
 * old programs build such frames; -EFAULT.
 */
static int frame_state_size(const void __user *frame, const struct fpx_sw_bytes *sw)
{
	u32 magic2;

	if (!fpu_has_xsave || sw->magic1 != FP_XSTATE_MAGIC1 || sw->xstate_size < FPU_LEGACY_SIZE + FPU_HEADER_SIZE ||
	    sw->xstate_size > fpu_state_size || sw->extended_size < sw->xstate_size)
		return FPU_LEGACY_SIZE;
	if (get_user(magic2, (const u32 __user *)(frame + sw->xstate_size)))
		return -EFAULT;
	return magic2 == FP_XSTATE_MAGIC2 ? (int)sw->xstate_size : FPU_LEGACY_SIZE;
}

bool fpu_valid_header(const struct xstate_header *h)
{
	u64 rest = h->xcomp_bv;

	for (unsigned i = 0; i < ARRAY_SIZE(h->reserved); i++)
		rest |= h->reserved[i];
	return !rest && !(h->xfeatures & ~fpu_features);
}

/*
 * Nothing of the frame is believed: a program may have written all of it. A state that XRSTOR would refuse with #GP is
 * refused here: unknown features, bits of MXCSR that do not exist. Without the magic numbers only FXSAVE's part counts.
 * `state` is zero at the beginning. 0, -EFAULT, -EINVAL.
 */
static int read_frame_state(struct xstate *state, const void __user *frame)
{
	struct fpx_sw_bytes sw;
	int size;

	if (copy_from_user(&state->legacy, frame, FPU_LEGACY_SIZE))
		return -EFAULT;
	memcpy(&sw, state->legacy.sw_reserved, sizeof(sw));
	size = frame_state_size(frame, &sw);
	if (size < 0 || copy_from_user(state, frame, size))
		return -EFAULT;
	if (size == FPU_LEGACY_SIZE)
		state->header.xfeatures = XFEATURE_FPSSE;
	else if (!fpu_valid_header(&state->header))
		return -EINVAL;
	else
		state->header.xfeatures &= sw.xfeatures;
	return state->legacy.mxcsr & ~fpu_mxcsr_mask ? -EINVAL : 0;
}

/* The old state is the handler's, so a frame that cannot be read does not leave it. */
int fpu_restore_frame(const void __user *frame)
{
	struct xstate state = {0};
	int err = frame ? read_frame_state(&state, frame) : 0;

	if (!frame || err)
		fpu_reset();
	else
		fpu_load_state(&state);
	return err;
}

/*
 * FPU registers for a debugger. A CPU may leave out of a saved state what is as it was in the beginning (XSAVEOPT), and
 * the header says so; a debugger gets the values. What a debugger writes is checked like a signal frame, because the
 * CPU would refuse it in the kernel.
 */
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "../task/fpu.h"

#define INITIAL_CONTROL 0x37f /* x87: all exceptions masked */
#define INITIAL_MXCSR	0x1f80

/* The parts that the header calls unused, as the CPU would begin with them. */
static void fill_unused(struct xstate *s)
{
	u64 used = fpu_has_xsave ? s->header.xfeatures : XFEATURE_FP | XFEATURE_SSE;

	if (!(used & XFEATURE_FP)) {
		memset(&s->legacy, 0, offsetof(struct fpu_legacy, mxcsr));
		memset(s->legacy.st_space, 0, sizeof(s->legacy.st_space));
		s->legacy.cwd = INITIAL_CONTROL;
	}
	if (!(used & XFEATURE_SSE))
		memset(s->legacy.xmm_space, 0, sizeof(s->legacy.xmm_space));
	if (!(used & (XFEATURE_SSE | XFEATURE_AVX)))
		s->legacy.mxcsr = INITIAL_MXCSR;
	if (!(used & XFEATURE_AVX))
		memset(s->extended, 0, sizeof(s->extended));
	s->legacy.mxcsr_mask = fpu_mxcsr_mask;
}

/* The bytes that the CPU leaves to software begin with the features that there are, as Linux has it. */
void fpu_regset_get(struct task_struct *t, void *buf)
{
	struct xstate s;

	memcpy(&s, t->thread.fpu.state, sizeof(s));
	fill_unused(&s);
	memset(s.legacy.sw_reserved, 0, sizeof(s.legacy.sw_reserved));
	memcpy(s.legacy.sw_reserved, &fpu_features, sizeof(fpu_features));
	memcpy(buf, &s, sizeof(s));
}

int fpu_regset_set(struct task_struct *t, const void *buf, unsigned n)
{
	struct xstate s;

	memcpy(&s, t->thread.fpu.state, sizeof(s));
	fill_unused(&s);
	memcpy(&s, buf, n);
	if (s.legacy.mxcsr & ~fpu_mxcsr_mask || (fpu_has_xsave && !fpu_valid_header(&s.header)))
		return -EINVAL;
	if (n <= FPU_LEGACY_SIZE)
		s.header.xfeatures |= XFEATURE_FP | XFEATURE_SSE;
	memcpy(t->thread.fpu.state, &s, sizeof(s));
	t->thread.fpu.cpu = NR_CPUS; /* the registers of no CPU are these any more */
	return 0;
}

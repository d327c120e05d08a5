/*
 * User FPU, SSE and AVX registers. The kernel itself never uses them, so they stay as user mode left them
 * until another task's are loaded.
 *
 * A switch away saves them, which makes the copy in memory whole, so that the task may go on on any CPU. A
 * switch to a task loads its registers, unless they are still there: no other task's were loaded on this CPU
 * since (fpu_owner), and the task has not been on another CPU (fpu.cpu). So a task that makes room for a kernel
 * thread or for idle, and comes back, loads nothing.
 *
 * There is no lazy loading by CR0.TS as on aarch64: a trap costs more than XRSTOR, compilers use SSE in
 * nearly every program, and another task's registers behind TS can be read by speculation (CVE-2018-3665).
 */
#include <arch/thread.h>
#include <asm/cpufeature.h>
#include <asm/fpu.h>
#include <asm/msr.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/string.h>
#include <sched/current.h>
#include <sched/preempt.h>

#include "../exception.h"
#include "fpu.h"

#define CPUID_XSTATE 0xd

u32 fpu_state_size = FPU_LEGACY_SIZE;
u64 fpu_features = XFEATURE_FP | XFEATURE_SSE;
bool fpu_has_xsave;
u32 fpu_mxcsr_mask; /* [immutable after fpu_init] bits of MXCSR that this CPU has */

/* What a program begins with: no component in use, all exceptions masked, round to nearest (System V ABI, 3.2.1). */
static const union {
	u8 bytes[FPU_STATE_SIZE];
	struct fpu_legacy legacy;
} initial_state __aligned(64) = {.legacy = {.cwd = 0x37f, .mxcsr = 0x1f80}};

/*
 * The task whose values this CPU's registers hold, if its fpu.cpu says so too. [this CPU, interrupts or preemption off]
 */
static DEFINE_PER_CPU(struct task_struct *, fpu_owner);

static notrace void xsetbv(u32 xcr, u64 v)
{
	__asm__ volatile("xsetbv" : : "c"(xcr), "a"((u32)v), "d"((u32)(v >> 32)));
}

/* All components, also those in their initial state. */
static void save_all(void *state)
{
	if (fpu_has_xsave)
		__asm__ volatile("xsave64 (%0)" : : "r"(state), "a"((u32)fpu_features), "d"(0) : "memory");
	else
		__asm__ volatile("fxsave64 (%0)" : : "r"(state) : "memory");
}

/* To the place from which the registers were loaded: the CPU may leave out what has not changed since. */
static void save_changed(void *state)
{
	if (cpu_features.xsaveopt)
		__asm__ volatile("xsaveopt64 (%0)" : : "r"(state), "a"((u32)fpu_features), "d"(0) : "memory");
	else
		save_all(state);
}

/* `state` must be one that the CPU accepts: otherwise this faults, in the kernel. */
static notrace void fpu_restore(const void *state)
{
	if (fpu_has_xsave)
		__asm__ volatile("xrstor64 (%0)" : : "r"(state), "a"((u32)fpu_features), "d"(0) : "memory");
	else
		__asm__ volatile("fxrstor64 (%0)" : : "r"(state) : "memory");
}

/* The registers become t's. [this CPU, interrupts or preemption off] */
static void fpu_enter(struct task_struct *t)
{
	struct fpu *fpu = &t->thread.fpu;
	u32 cpu = smp_processor_id();

	if (this_cpu(fpu_owner) != t || fpu->cpu != cpu) {
		fpu_restore(fpu->state);
		this_cpu(fpu_owner) = t;
		fpu->cpu = cpu;
	}
	fpu->live = 1;
}

void fpu_switch(struct task_struct *prev, struct task_struct *next)
{
	if (prev->thread.fpu.live) {
		save_changed(prev->thread.fpu.state);
		prev->thread.fpu.live = 0;
	}
	if (next->thread.fpu.user)
		fpu_enter(next);
}

void fpu_preserve(void)
{
	preempt_disable();
	if (current->thread.fpu.live)
		save_all(current->thread.fpu.state);
	preempt_enable();
}

void fpu_load_state(const void *state)
{
	struct fpu *fpu = &current->thread.fpu;

	/* In one go: a switch in between would save the old registers over the new state. */
	preempt_disable();
	memcpy(fpu->state, state, FPU_STATE_SIZE);
	fpu->user = 1;
	fpu->cpu = NR_CPUS;
	fpu_enter(current);
	preempt_enable();
}

void fpu_reset(void)
{
	fpu_load_state(&initial_state);
}

void fpu_flush(struct task_struct *task)
{
	fpu_reset(); /* `task` is current */
}

/* Straight from the registers into the child: its state, which is a copy of our old one, has a header already. */
void fpu_copy(struct task_struct *child, bool user)
{
	struct fpu *to = &child->thread.fpu;

	to->live = 0;
	to->cpu = NR_CPUS;
	to->user = user;
	preempt_disable();
	if (user && current->thread.fpu.live)
		save_all(to->state);
	preempt_enable();
}

/* On a CPU that starts, also one that was down. Not traced: it is not online yet. */
notrace void fpu_init_cpu(void)
{
	write_cr(0, (read_cr(0) & ~(u64)(X86_CR0_EM | X86_CR0_TS)) | X86_CR0_MP | X86_CR0_NE);
	write_cr(4, read_cr(4) | X86_CR4_OSFXSR | X86_CR4_OSXMMEXCPT | (fpu_has_xsave ? X86_CR4_OSXSAVE : 0));
	if (fpu_has_xsave)
		xsetbv(0, fpu_features);
	fpu_restore(&initial_state);
	this_cpu(fpu_owner) = NULL;
}

/* By the manual CPUID tells where the CPU puts AVX's part; on all CPUs so far it is at 576. */
static bool avx_fits(void)
{
	struct cpuid_regs r = cpuid(CPUID_XSTATE, 2);

	return r.eax + r.ebx <= FPU_STATE_SIZE;
}

/*
 * What the boot CPU has decides for all: FXSAVE, or XSAVE with x87 and SSE, and AVX if its state fits into what a task
 * has room for. The bits of MXCSR that exist are read from a state that the CPU writes. Context: boot, before the first
 * task.
 */
void fpu_init(void)
{
	static union { /* [boot] */
		u8 bytes[FPU_STATE_SIZE];
		struct fpu_legacy legacy;
	} probe __aligned(64);

	fpu_has_xsave = cpu_features.xsave;
	if (fpu_has_xsave && cpu_features.avx && avx_fits())
		fpu_features |= XFEATURE_AVX;
	if (fpu_has_xsave)
		fpu_state_size = fpu_features & XFEATURE_AVX ? FPU_STATE_SIZE : FPU_LEGACY_SIZE + FPU_HEADER_SIZE;
	fpu_init_cpu();
	save_all(&probe);
	/* Zero stands for what the first CPUs with SSE had (SDM vol. 1, 11.6.6). */
	fpu_mxcsr_mask = probe.legacy.mxcsr_mask ? probe.legacy.mxcsr_mask : 0xffbf;
	pr_info("fpu: %s%s%s, %u bytes a task\n", fpu_has_xsave ? "XSAVE" : "FXSAVE",
		cpu_features.xsaveopt ? " (OPT)" : "", fpu_features & XFEATURE_AVX ? ", AVX" : "", fpu_state_size);
}

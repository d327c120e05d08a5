/*
 * User FP/SIMD registers. The kernel itself never uses them, so they stay as user mode left them until
 * another task needs them.
 *
 * A task that does not use them costs nothing: EL0 access traps, and the trap loads them (do_fpsimd_acc). A
 * task that did is likely to do so again (memcpy of the C library does), and a trap costs more than a load:
 * for its next FPU_HOT_SWITCHES switch-ins it gets them at once, then it has to ask again. A switch away
 * saves them when they were accessible; a task that comes back to a CPU where no other has loaded its own
 * finds them still there and loads nothing.
 */
#include <arch/thread.h>
#include <asm/sysreg.h>
#include <kernel/percpu.h>
#include <lib/string.h>
#include <sched/current.h>
#include <sched/preempt.h>

#include "../exception.h"

#define FPU_HOT_SWITCHES 16

/*
 * The task whose values this CPU's registers hold, if its fpu_cpu says so too. [this CPU, interrupts or preemption off]
 */
static DEFINE_PER_CPU(struct task_struct *, fpu_owner);

/* ERET to EL0 synchronises the change; EL1 always has access. */
static void fpu_open(void)
{
	write_sysreg(CPACR_FPEN_BOTH, cpacr_el1);
}
static void fpu_close(void)
{
	write_sysreg(CPACR_FPEN_EL1, cpacr_el1);
}

/* The registers become t's, unless they are still there. [this CPU, interrupts or preemption off] */
static void fpsimd_enter(struct task_struct *t)
{
	u32 cpu = smp_processor_id();

	if (this_cpu(fpu_owner) != t || t->thread.fpu_cpu != cpu) {
		fpsimd_load_state(&t->thread.fpsimd);
		this_cpu(fpu_owner) = t;
		t->thread.fpu_cpu = cpu;
	}
	t->thread.fpu_live = 1;
	fpu_open();
}

noinline void do_fpsimd_acc(void)
{
	current->thread.fpu_hot = FPU_HOT_SWITCHES;
	fpsimd_enter(current);
}

void fpsimd_switch(struct task_struct *prev, struct task_struct *next)
{
	bool was_open = prev->thread.fpu_live;

	if (was_open) {
		fpsimd_save_state(&prev->thread.fpsimd);
		prev->thread.fpu_live = 0;
	}
	if (next->thread.fpu_hot) {
		next->thread.fpu_hot--;
		fpsimd_enter(next);
	} else if (was_open) {
		fpu_close();
	}
}

/* This CPU was off. Not traced: before it is online. */
notrace void fpsimd_forget_cpu(void)
{
	this_cpu(fpu_owner) = NULL;
}

/* The copy in memory becomes that of now; the registers stay in use. */
void fpsimd_preserve(void)
{
	preempt_disable();
	if (current->thread.fpu_live)
		fpsimd_save_state(&current->thread.fpsimd);
	preempt_enable();
}

/* Drop what the registers hold; the next use traps and loads. */
void fpsimd_reload(void)
{
	preempt_disable();
	current->thread.fpu_live = 0;
	current->thread.fpu_cpu = NR_CPUS;
	current->thread.fpu_hot = 0;
	fpu_close();
	preempt_enable();
}

/* Within the machine layer: user mode's data segments, which are selectors in four registers and two bases. */
#pragma once

#include <arch/thread.h>
#include <lib/types.h>

/* What arch_prctl(2), and a debugger for its tracee, asks for: Linux's uapi asm/prctl.h. */
#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

/* entry.S: GS and the user's base, which becomes 0; the kernel's base stays. Interrupts off. */
void load_user_gs(u32 selector);

/* The uncommon case of segments_switch(): something is not zero. Interrupts off. */
void segments_exchange(struct thread_struct *prev, struct thread_struct *next);

/*
 * Save prev's segments, which the registers hold, and load next's. Where no selector and no base of either is in use,
 * which is what nearly every program is like, nothing is written. Interrupts off.
 */
static __always_inline void segments_switch(struct thread_struct *prev, struct thread_struct *next)
{
	u64 used = prev->segments.all | prev->fsbase | prev->gsbase | next->segments.all | next->fsbase | next->gsbase;
	u64 ds, es, fs, gs;

	/* A write of the lower half of a register clears the upper. */
	__asm__ volatile("movl %%ds, %k0\n\tmovl %%es, %k1\n\tmovl %%fs, %k2\n\tmovl %%gs, %k3"
			 : "=r"(ds), "=r"(es), "=r"(fs), "=r"(gs));
	if (unlikely(used | ds | es | fs | gs))
		segments_exchange(prev, next);
}

/* What the current task's registers hold, for a new task. Thread context. */
void segments_copy(struct thread_struct *to);
/* The current task's FS, or GS, becomes a base without a selector. `base`: a user address. Thread context. */
void segments_set_fs(u64 base);
void segments_set_gs(u64 base);
/* exec: the current task has no selector and no base any more. Thread context. */
void segments_clear(void);
/* Does the CPU load this selector for user mode? */
bool segments_loadable(u16 selector);

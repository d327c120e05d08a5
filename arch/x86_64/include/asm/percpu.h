/*
 * This CPU's offset from the per-CPU template: the base of GS in the kernel, also kept in memory where GS
 * reaches it.
 */
#pragma once

#include <asm/msr.h>
#include <lib/types.h>

extern unsigned long this_cpu_off; /* per-CPU (arch/x86_64/percpu.c): its own offset */

/* Volatile: the answer changes when a task moves, so it must be asked again after each barrier. */
static __always_inline unsigned long arch_percpu_offset(void)
{
	unsigned long off;

	__asm__ volatile("mov %%gs:this_cpu_off, %0" : "=r"(off));
	return off;
}

/* The area at that offset has been filled from the template already. */
static __always_inline void arch_set_percpu_offset(unsigned long off)
{
	*(unsigned long *)((unsigned long)&this_cpu_off + off) = off;
	wrmsrl(MSR_GS_BASE, off);
}

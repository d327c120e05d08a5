/* This CPU's offset from the per-CPU template: kept in TPIDR_EL1. */
#pragma once

#include <lib/types.h>

/* Volatile: the answer changes when a task moves, so it must be asked again after each barrier. */
static __always_inline unsigned long arch_percpu_offset(void)
{
	unsigned long off;

	__asm__ volatile("mrs %0, tpidr_el1" : "=r"(off));
	return off;
}

static __always_inline void arch_set_percpu_offset(unsigned long off)
{
	__asm__ volatile("msr tpidr_el1, %0" : : "r"(off) : "memory");
}

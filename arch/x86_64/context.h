/* Which address space a CPU has loaded, and what its TLB can hold therefore. */
#pragma once

#include <kernel/percpu.h>
#include <mm/mm.h>

/* Its owner writes it, before it loads CR3; flushes of other CPUs read it. Never NULL. [a] */
DECLARE_PER_CPU(struct mm_struct *, loaded_mm);
/* This CPU forgets all, the kernel's global entries too. Any context. */
void flush_tlb_local_all(void);
/* One page of either half. Any context. */
static __always_inline void flush_tlb_local_page(unsigned long va)
{
	__asm__ volatile("invlpg (%0)" : : "r"(va) : "memory");
}

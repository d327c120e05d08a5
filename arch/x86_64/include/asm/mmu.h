/* Switching address spaces and setting up the kernel's own. */
#pragma once

#include <lib/types.h>

struct mm_struct;

extern struct mm_struct *loaded_mm; /* per-CPU (arch/x86_64/context.c) */

/* Make `next` the address space of this CPU. Interrupts off; next != prev; &init_mm: no user half. */
void arch_switch_mm(struct mm_struct *prev, struct mm_struct *next, unsigned cpu);
/* Is what a kernel thread borrowed still loaded? A flush takes it away (tlb.c). Interrupts off. */
static inline bool arch_mm_loaded(const struct mm_struct *mm)
{
	const struct mm_struct *loaded;

	__asm__ volatile("mov %%gs:loaded_mm, %0" : "=r"(loaded));
	return loaded == mm;
}
/* Are user addresses translated by mm's tables on this CPU at this moment? Preemption off. Not traced. */
bool arch_mm_in_use(const struct mm_struct *mm);
/* A new mm has nothing that is the machine's: TLB entries carry no number of an address space (no PCID). 0.
 */
int arch_init_new_context(struct mm_struct *mm);
/* Before the pgd is freed. */
void arch_destroy_context(struct mm_struct *mm);
/* Boot, once, before the first memblock_alloc: linear map of all RAM in boot_info; drops the early mappings.
 */
void paging_init(void);

/* Switching address spaces and setting up the kernel's own. */
#pragma once

#include <lib/types.h>

struct mm_struct;

/* Make `next` the address space of this CPU. Interrupts off; next != prev; &init_mm: no user half. */
void arch_switch_mm(struct mm_struct *prev, struct mm_struct *next, unsigned cpu);
/* Is what a kernel thread borrowed still loaded? Nobody takes it away here: flushes need no help of the CPU. */
static inline bool arch_mm_loaded(const struct mm_struct *mm)
{
	return true;
}
/* Are user addresses translated by mm's tables on this CPU at this moment? Preemption off. Not traced. */
bool arch_mm_in_use(const struct mm_struct *mm);
/* A new mm: no ASID yet; 0 or -errno. */
int arch_init_new_context(struct mm_struct *mm);
/* Before the pgd is freed. ASIDs are taken back all together when they run out, so there is nothing to give
 * back. */
void arch_destroy_context(struct mm_struct *mm);
/* Boot, once, before the first memblock_alloc: linear map of all RAM in boot_info; drops the early mappings.
 */
void paging_init(void);

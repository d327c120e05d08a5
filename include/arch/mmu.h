/* Switching address spaces, and the kernel's own (arch/<machine>/task/context.c, mm/mmu.c). */
#pragma once

#include <asm/mmu.h>
#include <lib/types.h>

struct mm_struct;

/* Make `next` the address space of this CPU. Interrupts off; next != prev; &init_mm: no user half. */
void arch_switch_mm(struct mm_struct *prev, struct mm_struct *next, unsigned cpu);
/* Are user addresses translated by mm's tables on this CPU at this moment? Preemption off. Not traced. */
bool arch_mm_in_use(const struct mm_struct *mm);
/* A new mm gets what is the machine's: on aarch64 no ASID yet, on x86_64 nothing. 0 or -errno. */
int arch_init_new_context(struct mm_struct *mm);
/* The mm's page tables are about to be freed. (ASIDs are taken back all together, when they run out.) */
void arch_destroy_context(struct mm_struct *mm);
/* Boot, once, before the first memblock_alloc: linear map of all RAM in boot_info; drops the early mappings. */
void paging_init(void);

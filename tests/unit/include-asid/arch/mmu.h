/* Stand-in: what arch/aarch64/task/context.c defines. */
#pragma once

#include <mm/mm.h>

void arch_switch_mm(struct mm_struct *prev, struct mm_struct *next, unsigned cpu);
bool arch_mm_in_use(const struct mm_struct *mm);
int arch_init_new_context(struct mm_struct *mm);
void arch_destroy_context(struct mm_struct *mm);

/* Stand-in: what arch/x86_64/mm/tlb.c knows of an address space. */
#pragma once

#include <sched/sched.h>

struct mm_struct {
	u64 cpu_bitmap;
};
extern struct mm_struct init_mm;
void arch_switch_mm(struct mm_struct *prev, struct mm_struct *next, unsigned cpu);

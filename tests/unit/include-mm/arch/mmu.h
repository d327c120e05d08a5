/* Address spaces are switched by the test itself. */
#pragma once
struct mm_struct;
static inline void arch_switch_mm(struct mm_struct *prev, struct mm_struct *next, unsigned cpu)
{
}
static inline int arch_init_new_context(struct mm_struct *mm)
{
	return 0;
}
static inline void arch_destroy_context(struct mm_struct *mm)
{
}

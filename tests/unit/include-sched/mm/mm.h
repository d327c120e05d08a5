/* One address space. */
#pragma once

#include <sched/sched.h>

struct mm_struct {
	int unused;
};
extern struct mm_struct init_mm;
#define switch_mm(prev, next)		((void)0)
#define arch_mm_loaded(mm)		true
#define arch_switch_mm(prev, next, cpu) ((void)0)
#define mmgrab(mm)			((void)0)
#define mmdrop(mm)			((void)0)

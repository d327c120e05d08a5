/* Stand-in: what a context belongs to. A page table is known by its address alone. */
#pragma once

#include <lib/types.h>

typedef struct {
	u64 v;
} pgd_t;
struct mm_struct {
	pgd_t *pgd;
	u64 context_id;
};
extern struct mm_struct init_mm;

#define __pa(pointer)	     ((u64)(pointer))
#define __pa_symbol(pointer) ((u64)(pointer))

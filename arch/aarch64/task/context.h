/* ASIDs: which one an address space has. */
#pragma once

#include <mm/mm.h>

extern unsigned asid_bits; /* 8 or 16 [immutable after boot] */
/* The ASID, without the generation; 0 (never handed out) for one that has not run yet. */
static inline u64 mm_asid(const struct mm_struct *mm)
{
	return READ_ONCE(mm->context_id) & ((1UL << asid_bits) - 1);
}
void asid_init(void); /* boot */
void flush_tlb_all(void);

/* Stand-in: the instruction that forgets a page is the test's. */
#pragma once

#include <asm/page.h>

void flush_tlb_local_page(unsigned long va);
void flush_tlb_local_all(void);
struct mm_struct;
void flush_tlb_page(struct mm_struct *mm, unsigned long va);
void flush_tlb_range(struct mm_struct *mm, unsigned long start, unsigned long end);
void flush_tlb_mm(struct mm_struct *mm);
void flush_tlb_kernel_range(unsigned long start, unsigned long end);

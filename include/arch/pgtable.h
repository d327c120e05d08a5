/* Page tables: what generic code asks of a machine beside the entries themselves, which are <asm/pgtable.h>'s. */
#pragma once

#include <asm/pgtable.h>

struct mm_struct;

extern pgd_t swapper_pg_dir[]; /* the kernel's top level, which is its half of the addresses; init_mm.pgd */

/*
 * VM_READ|WRITE|EXEC|SHARED to the protection of a user page. Writable is writable here: a caller that shares the
 * page copy-on-write protects it with pte_wrprotect. No access at all: present to pte_present(), not to the walker.
 */
pgprot_t vm_get_page_prot(unsigned vm_flags);

/*
 * All CPUs forget what their TLBs may hold of a page, a range, all of an mm, or the kernel's addresses; complete on
 * return. The stores to the entries come before. On aarch64 the hardware tells the other CPUs; x86_64 interrupts them,
 * so a caller may hold no lock that is ever taken with interrupts off: a CPU that spins for it would never answer. Any
 * context but nmi.
 */
void flush_tlb_page(struct mm_struct *mm, unsigned long va);
void flush_tlb_range(struct mm_struct *mm, unsigned long start, unsigned long end);
void flush_tlb_mm(struct mm_struct *mm);
void flush_tlb_kernel_range(unsigned long start, unsigned long end);

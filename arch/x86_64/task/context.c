/*
 * Address-space switches. Without PCID a load of CR3 drops every translation but the kernel's
 * global ones, so there is nothing to number, as aarch64 does with ASIDs. loaded_mm says which
 * address space each CPU has; tlb.c reads it.
 */
#include <arch/mmu.h>
#include <asm/msr.h>
#include <trace/events/tlb.h>

#include "context.h"

DEFINE_PER_CPU(struct mm_struct *, loaded_mm) = &init_mm;

/*
 * The sequentially consistent store is a full barrier (an XCHG): loaded_mm is seen by all before the tables
 * of `next` are walked for the first time. Code that changes an entry after that sees that we may hold it;
 * an entry that was changed before is seen by our walk (tlb.c). Loading CR3 serialises, so it orders the two as
 * well, but the exchange costs no instruction more than a move.
 */
void arch_switch_mm(struct mm_struct *prev, struct mm_struct *next, unsigned cpu)
{
	__atomic_store_n(this_cpu_ptr(&loaded_mm), next, __ATOMIC_SEQ_CST);
	write_cr(3, next == &init_mm ? __pa_symbol(swapper_pg_dir) : __pa(next->pgd));
	trace_tlb_flush(TLB_FLUSH_ON_TASK_SWITCH, TLB_FLUSH_ALL);
}

notrace bool arch_mm_in_use(const struct mm_struct *mm)
{
	return read_cr(3) == __pa(mm->pgd);
}

int arch_init_new_context(struct mm_struct *mm)
{
	return 0;
}

void arch_destroy_context(struct mm_struct *mm)
{
}

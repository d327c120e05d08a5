/*
 * TLB and instruction-cache maintenance, broadcast to all CPUs by the hardware (Arm ARM D8.13,
 * B2.3.9), so no interrupts are needed as on x86_64. Each flush has three steps: DSB ISHST makes
 * the changed entry visible to all table walks, TLBI ...IS removes what was cached of the old one,
 * DSB ISH waits until all CPUs have done so.
 */
#include <arch/pgtable.h>
#include <asm/barrier.h>
#include <asm/page.h>
#include <asm/sysreg.h>
#include <mm/mm.h>

#include "../task/context.h"

/* Above this many pages it is cheaper to drop all of the ASID's (or the kernel's) entries. */
#define FLUSH_MAX_PAGES 128

#define tlbi(op, arg) __asm__ volatile("tlbi " #op ", %0" : : "r"((u64)(arg)) : "memory")

/* Operand of the by-address operations: ASID in 63:48, page number below. */
static u64 tlbi_arg(unsigned long va, u64 asid)
{
	return (asid << 48) | ((va >> PAGE_SHIFT) & ((1UL << 44) - 1));
}

/*
 * The entry was changed with a plain store: it must be visible before the invalidation, and that be over before we go
 * on.
 */
void flush_tlb_page(struct mm_struct *mm, unsigned long va)
{
	dsb(ishst);
	tlbi(vale1is, tlbi_arg(va, mm_asid(mm))); /* last level only: tables never change under a live mm */
	dsb(ish);
}

void flush_tlb_mm(struct mm_struct *mm)
{
	dsb(ishst);
	tlbi(aside1is, mm_asid(mm) << 48);
	dsb(ish);
}

void flush_tlb_range(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	u64 asid;

	if (end - start > FLUSH_MAX_PAGES * PAGE_SIZE) {
		flush_tlb_mm(mm);
		return;
	}
	dsb(ishst);
	/* Not before: a CPU that gives the mm a new ASID after this look finds the entries as they are now. */
	asid = mm_asid(mm);
	for (unsigned long va = start; va < end; va += PAGE_SIZE)
		tlbi(vale1is, tlbi_arg(va, asid));
	dsb(ish);
}

notrace void flush_tlb_kernel_range(unsigned long start, unsigned long end)
{
	dsb(ishst);
	if (end - start > FLUSH_MAX_PAGES * PAGE_SIZE)
		__asm__ volatile("tlbi vmalle1is" : : : "memory");
	else
		for (unsigned long va = start; va < end; va += PAGE_SIZE)
			tlbi(vaale1is, tlbi_arg(va, 0)); /* all ASIDs: kernel entries are global */
	dsb(ish);
	isb();
}

/* All TLB entries of all CPUs that belong to an ASID, and the kernel's. */
void flush_tlb_all(void)
{
	dsb(ishst);
	__asm__ volatile("tlbi vmalle1is" : : : "memory");
	dsb(ish);
	isb();
}

/* Line sizes in bytes from CTR_EL0: DminLine in 19:16, IminLine in 3:0, log2 of words. */
void arch_sync_icache(void *linear, size_t size)
{
	u64 ctr = read_sysreg(ctr_el0);
	unsigned long dline = 4UL << ((ctr >> 16) & 15), iline = 4UL << (ctr & 15);
	unsigned long start = (unsigned long)linear, end = start + size, p;

	for (p = ALIGN_DOWN(start, dline); p < end; p += dline)
		__asm__ volatile("dc cvau, %0" : : "r"(p) : "memory");
	dsb(ish);
	/* By this address: instruction caches that are not physically tagged need all of them gone instead. */
	if (((ctr >> 14) & 3) == 3)
		for (p = ALIGN_DOWN(start, iline); p < end; p += iline)
			__asm__ volatile("ic ivau, %0" : : "r"(p) : "memory");
	else
		__asm__ volatile("ic ialluis" : : : "memory");
	dsb(ish);
	isb();
}

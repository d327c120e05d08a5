/* Page table entries: how they are stored, and what protections they carry. */
#include <asm/barrier.h>
#include <mm/mm.h>

/*
 * DSB: the store is seen by table walks before anything that follows (Arm ARM D8.2.6). Kernel entries may be
 * used by this very CPU next, hence the ISB; for user entries the return to user mode synchronises.
 */
notrace void set_pte(pte_t *slot, pte_t v)
{
	__atomic_store_n(&slot->v, v.v, __ATOMIC_RELEASE);
	if (v.v & PTE_VALID) {
		dsb(ishst);
		if (!(v.v & PTE_NG))
			isb();
	}
}

pgprot_t vm_get_page_prot(unsigned vm_flags)
{
	u64 prot = PROT_USER;

	if (!(vm_flags & (VM_READ | VM_WRITE | VM_EXEC)))
		return PAGE_NONE;
	if (!(vm_flags & VM_WRITE))
		prot |= PTE_RDONLY;
	if (!(vm_flags & VM_EXEC))
		prot |= PTE_UXN;
	return __pgprot(prot);
}

/* Page table entries: what protections they carry. */
#include <mm/mm.h>

/*
 * What is writable is DIRTY from the start (asm/pgtable_bits.h). Readable is all that is present: x86 has
 * no other way.
 */
pgprot_t vm_get_page_prot(unsigned vm_flags)
{
	u64 prot = PROT_USER;

	if (!(vm_flags & (VM_READ | VM_WRITE | VM_EXEC)))
		return PAGE_NONE;
	if (vm_flags & VM_WRITE)
		prot |= PTE_RW | PTE_DIRTY;
	if (!(vm_flags & VM_EXEC))
		prot |= PTE_NX;
	return __pgprot(prot);
}

/*
 * Slots of the fixmap that each show one page and never another: the writable aliases of kernel text. As a TLB cannot
 * hold anything else for such a slot, mapping it needs no flush; only unmapping does, and only on this CPU, because the
 * patching CPU alone uses the aliases. Not traced: the patching of call sites uses it.
 */
#include <arch/pgtable.h>
#include <mm/fixmap.h>

notrace void set_fixmap_again(unsigned slot, phys_addr_t phys, pgprot_t prot)
{
	set_pte(&fixmap_pte[slot], mk_pte(phys, prot));
}

/* With more pages than this it is cheaper to flush the whole TLB than page by page. */
#define FLUSH_MAX_SLOTS 8

/* All entries are emptied first and the flush comes after them, so that a slot cannot be cached again in between. */
notrace void clear_fixmaps(unsigned first, unsigned last)
{
	unsigned cleared[FLUSH_MAX_SLOTS], n = 0;

	for (unsigned slot = first; slot <= last; slot++) {
		if (!fixmap_pte[slot].v)
			continue;
		set_pte(&fixmap_pte[slot], (pte_t){0});
		if (n < FLUSH_MAX_SLOTS)
			cleared[n] = slot;
		n++;
	}
	if (n > FLUSH_MAX_SLOTS)
		flush_tlb_local_all();
	else
		while (n--)
			flush_tlb_local_page(fix_to_virt(cleared[n]));
}

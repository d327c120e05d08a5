/* Slots of the fixmap that each show one page (kernel/mm/pages/fixmap.c). Context: that of set_fixmap(). */
#pragma once

#include <arch/fixmap.h>

/* Map the slot's page. No TLB can hold anything else for the slot, so nothing is flushed. */
void set_fixmap_again(unsigned slot, phys_addr_t phys, pgprot_t prot);
/* Unmap those of the slots from `first` to `last` that are mapped. Only this CPU's TLB is flushed. */
void clear_fixmaps(unsigned first, unsigned last);

/* The slot that the power-off maps a register by. */
#pragma once

#include <lib/types.h>

typedef struct {
	u64 v;
} pgprot_t;

#ifndef PAGE_MASK
#define PAGE_MASK (~4095UL)
#endif
#define PAGE_DEVICE	  ((pgprot_t){0})
#define FIX_PATCH	  0
#define fix_to_virt(slot) 0UL

void set_fixmap(unsigned slot, phys_addr_t phys, pgprot_t prot);

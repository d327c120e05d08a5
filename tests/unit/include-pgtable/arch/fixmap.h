/* A fixmap that really maps: slots are pages of the file that stands for physical memory. */
#pragma once

#include <arch/pgtable.h>

enum fixed_slot { FIX_TABLES = 4, FIX_TABLES_END = 128 };
extern char *host_fixmap;
#define fix_to_virt(slot) ((unsigned long)host_fixmap + (slot)*PAGE_SIZE)
void set_fixmap(unsigned slot, phys_addr_t phys, pgprot_t prot);

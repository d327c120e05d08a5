/* The page through which other CPUs come in: the copy of the trampoline, page tables to begin with. */
#include <arch/pgtable.h>
#include <boot/x86_boot.h>
#include <lib/errno.h>
#include <lib/string.h>

#include "../arch/x86_64/smp.h"

#define ENTRIES (PAGE_SIZE / sizeof(u64))

/* [x86_trampoline_prepare; read by the CPU that starts] */
static u64 trampoline_pgd[ENTRIES] __aligned(PAGE_SIZE), trampoline_pud[ENTRIES] __aligned(PAGE_SIZE),
	trampoline_pmd[ENTRIES] __aligned(PAGE_SIZE), trampoline_pte[ENTRIES] __aligned(PAGE_SIZE);

/*
 * The page is below 1 MiB, so the first entry of each level leads to it. Not global: it shall not outlive the
 * next load of CR3.
 */
static void fill_tables(void)
{
	memcpy(trampoline_pgd + ENTRIES / 2, swapper_pg_dir + ENTRIES / 2, PAGE_SIZE / 2);
	trampoline_pgd[0] = __pa_symbol(trampoline_pud) | PTE_KERNEL_TABLE;
	trampoline_pud[0] = __pa_symbol(trampoline_pmd) | PTE_KERNEL_TABLE;
	trampoline_pmd[0] = __pa_symbol(trampoline_pte) | PTE_KERNEL_TABLE;
	trampoline_pte[x86_trampoline_page >> PAGE_SHIFT] = x86_trampoline_page | (PROT_KERNEL_ROX & ~PTE_GLOBAL);
}

int x86_trampoline_prepare(struct secondary_data *data)
{
	char *page = __va(x86_trampoline_page);

	if (!x86_trampoline_page)
		return -ENODEV;
	fill_tables();
	data->cr3 = __pa_symbol(trampoline_pgd);
	memcpy(page, x86_trampoline_start, x86_trampoline_end - x86_trampoline_start);
	memcpy(page + (x86_trampoline_data - x86_trampoline_start), data, sizeof(*data));
	/*
	 * The start-up interrupt is sent by a store to the APIC or a serialising MSR write, after all of this
	 * (x86 keeps stores in order).
	 */
	barrier();
	return x86_trampoline_page >> PAGE_SHIFT;
}

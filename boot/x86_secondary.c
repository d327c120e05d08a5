/*
 * The page through which other CPUs come in: a copy of the trampoline (boot/x86_trampoline.S) with
 * the data of one CPU, and page tables to begin with. Context: thread, one CPU at a time, as there
 * is one page (arch/x86_64/smp.c sees to that).
 */
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
 * Page tables for a CPU that turns paging on in the trampoline's page.
 *
 * The instruction after the one that sets CR0.PG is fetched through page tables, from the page's
 * physical address. The low map of boot is gone by then, so there is a second top level: the
 * kernel's half is that of swapper_pg_dir, and the user's half has nothing but this page, at its
 * physical address, r-x. The page is below 1 MiB, so the first entry of each level leads to it.
 * While paging is off the code completes addresses in its copy; from CR0.PG on the page cannot be
 * written. The entry is not global, so nothing of it outlives the load of CR3 in
 * secondary_switched; until then the CPU has no user address space and takes no interrupt. The next
 * CPU gets the page, filled again, when this one has arrived in C.
 */
static void fill_tables(void)
{
	memcpy(trampoline_pgd + ENTRIES / 2, swapper_pg_dir + ENTRIES / 2, PAGE_SIZE / 2);
	trampoline_pgd[0] = __pa_symbol(trampoline_pud) | PTE_KERNEL_TABLE;
	trampoline_pud[0] = __pa_symbol(trampoline_pmd) | PTE_KERNEL_TABLE;
	trampoline_pmd[0] = __pa_symbol(trampoline_pte) | PTE_KERNEL_TABLE;
	trampoline_pte[x86_trampoline_page >> PAGE_SHIFT] = x86_trampoline_page | (PROT_KERNEL_ROX & ~PTE_GLOBAL);
}

/*
 * The copy is made for each CPU that starts, with its data in the slot behind it. The page is written through the
 * linear map: where it is executed it is read-only. Returns the page's number, which is the vector of the start-up
 * interrupt, or -ENODEV: no page below 1 MiB was free.
 */
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
	 * The start-up interrupt is a store to the APIC or a serialising MSR write, which comes
	 * after all of these stores: x86 keeps stores in order, so the compiler alone must be held
	 * back.
	 */
	barrier();
	return x86_trampoline_page >> PAGE_SHIFT;
}

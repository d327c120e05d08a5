/*
 * Writing instructions. Not traced: it changes the sites of everything that is.
 *
 * Text is read-only in the image's mapping and in the linear map. The page with the site is mapped once more,
 * writable and not executable, in a fixmap slot; sites come in ascending order, so a page is usually mapped
 * once. The maintenance that makes the new words executable (Arm ARM B2.3.9) is: clean the data line to the
 * point of unification, DSB, invalidate the instruction line, DSB, ISB. Lines are shared by neighbouring
 * sites, so each is cleaned when the writing moves on to another and invalidated with all others at the end:
 * the DSBs are paid once for all.
 */
#include <asm/barrier.h>
#include <asm/fixmap.h>
#include <asm/page.h>
#include <asm/patch.h>
#include <asm/sysreg.h>
#include <lib/errno.h>
#include <mm/vmalloc.h>
#include <mm/page.h>

#define INSN_NOP     0xd503201fU
#define INSN_B	     0x14000000U
#define INSN_BL	     0x94000000U
#define BRANCH_RANGE (1L << 27) /* imm26 words, signed: +-128 MiB (Arm ARM C6.2.26) */

struct patch_stats patch_stats;
extern const char _stext[], _etext[];

/* [who patches: one at a time] */
static unsigned long alias_page; /* site page that FIX_PATCH shows, 0: none */
static unsigned long clean_line; /* data line with writes that are not yet cleaned, alias address; 0: none */
#define NR_LINES 512
static unsigned long lines[NR_LINES]; /* instruction lines to invalidate */
static unsigned nr_lines;	      /* NR_LINES + 1: more than fit, invalidate all of them */

static notrace bool is_text(unsigned long site)
{
	return (site >= (unsigned long)_stext && site < (unsigned long)_etext) ||
	       (site >= MODULES_VADDR && site < MODULES_END);
}

/* The instruction that `site` shall hold. 0 or -ERANGE. */
static notrace int encode(unsigned long site, unsigned long target, enum patch_kind kind, u32 *insn)
{
	long offset = target - site;

	if (!target) {
		*insn = INSN_NOP;
		return 0;
	}
	if (offset < -BRANCH_RANGE || offset >= BRANCH_RANGE || (offset & 3))
		return -ERANGE;
	*insn = (kind == PATCH_CALL ? INSN_BL : INSN_B) | ((offset >> 2) & 0x3ffffff);
	return 0;
}

notrace int arch_patch_verify(unsigned long site, unsigned long target, enum patch_kind kind)
{
	u32 insn;
	int err;

	if ((site & 3) || !is_text(site))
		return -EINVAL;
	err = encode(site, target, kind, &insn);
	if (err)
		return err;
	return READ_ONCE(*(u32 *)site) == insn ? 0 : -EINVAL;
}

notrace void arch_patch_begin(void)
{
	alias_page = clean_line = 0;
	nr_lines = 0;
}

static notrace unsigned long dcache_line(void)
{
	return 4UL << ((read_sysreg(ctr_el0) >> 16) & 15);
}
static notrace unsigned long icache_line(void)
{
	return 4UL << (read_sysreg(ctr_el0) & 15);
}

static notrace void clean_pending(void)
{
	if (!clean_line)
		return;
	__asm__ volatile("dc cvau, %0" : : "r"(clean_line) : "memory");
	patch_stats.dcache_clean++;
	clean_line = 0;
}

static notrace phys_addr_t text_phys(unsigned long site)
{
	if (site >= MODULES_VADDR && site < MODULES_END)
		return page_to_phys(vmalloc_to_page((void *)site)) | (site & ~PAGE_MASK);
	return __pa_symbol(site);
}

/* Where the site can be written. */
static notrace u32 *alias_of(unsigned long site)
{
	if ((site & PAGE_MASK) != alias_page) {
		clean_pending();
		/* Break before make (Arm ARM D8.13.1): a valid entry may not change its output address
		 * directly. */
		if (alias_page) {
			dsb(ish);
			set_fixmap(FIX_PATCH, 0, __pgprot(0));
		}
		alias_page = site & PAGE_MASK;
		set_fixmap(FIX_PATCH, text_phys(site) & PAGE_MASK, PAGE_KERNEL);
		patch_stats.alias_maps++;
	}
	return (u32 *)(fix_to_virt(FIX_PATCH) + (site & ~PAGE_MASK));
}

static notrace void note_line(unsigned long site)
{
	unsigned long line = site & ~(icache_line() - 1);

	if (nr_lines && nr_lines <= NR_LINES && lines[nr_lines - 1] == line)
		return;
	if (nr_lines < NR_LINES)
		lines[nr_lines++] = line;
	else
		nr_lines = NR_LINES + 1;
}

notrace int arch_patch_write(unsigned long site, unsigned long target, enum patch_kind kind)
{
	unsigned long line;
	u32 insn, *alias;
	int err;

	if ((site & 3) || !is_text(site))
		return -EINVAL;
	err = encode(site, target, kind, &insn);
	if (err)
		return err;
	alias = alias_of(site);
	line = (unsigned long)alias & ~(dcache_line() - 1);
	if (line != clean_line)
		clean_pending();
	clean_line = line;
	WRITE_ONCE(*alias, insn); /* one aligned word: never seen half written */
	note_line(site);
	patch_stats.words++;
	return 0;
}

/* With more lines than were kept, or an instruction cache not tagged by physical address: everything. */
static notrace void invalidate_icache(void)
{
	if (nr_lines > NR_LINES || ((read_sysreg(ctr_el0) >> 14) & 3) != 3) {
		__asm__ volatile("ic ialluis" : : : "memory");
		patch_stats.icache_inval++;
		return;
	}
	for (unsigned i = 0; i < nr_lines; i++) {
		__asm__ volatile("ic ivau, %0" : : "r"(lines[i]) : "memory");
		patch_stats.icache_inval++;
	}
}

notrace void arch_patch_end(void)
{
	clean_pending();
	dsb(ish);
	if (nr_lines) {
		invalidate_icache();
		dsb(ish);
	}
	if (alias_page)
		set_fixmap(FIX_PATCH, 0, __pgprot(0));
	alias_page = 0;
	patch_stats.syncs++;
	isb();
}

notrace void arch_sync_core(void)
{
	isb();
}

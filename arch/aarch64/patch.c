/*
 * Writing instructions. Not traced: it changes the sites of everything that is.
 *
 * Text is read-only in the image's mapping and in the linear map. The page with the site is mapped once more,
 * writable and not executable, in a fixmap slot. Pages of the image have a slot each (FIX_TEXT), which stays mapped
 * until the end of the change: a slot never shows another page, so nothing has to be forgotten before it is used, and
 * everything at once in the end. Pages of modules are shown by FIX_PATCH, one after the other.
 *
 * The maintenance that makes the new words executable (Arm ARM B2.3.9) is: clean the data line to the
 * point of unification, DSB, invalidate the instruction line, DSB, ISB. Lines are shared by neighbouring
 * sites, so each is cleaned when the writing moves on to another and invalidated with all others at the end:
 * the DSBs are paid once for all.
 */
#include <asm/barrier.h>
#include <arch/fixmap.h>
#include <asm/page.h>
#include <arch/patch.h>
#include <asm/sysreg.h>
#include <kernel/nmi.h>
#include <lib/errno.h>
#include <mm/fixmap.h>
#include <mm/vmalloc.h>
#include <mm/page.h>
#include <trace/kprobes.h>

#define INSN_NOP     0xd503201fU
#define INSN_B	     0x14000000U
#define INSN_BL	     0x94000000U
#define BRANCH_RANGE (1UL << 27) /* imm26 words, signed: +-128 MiB (Arm ARM C6.2.26) */

struct patch_stats patch_stats;
extern const char _stext[], _etext[];

/* State of one change, from arch_patch_begin to arch_patch_end. [who patches: one at a time, text_mutex] */
static unsigned long alias_page;       /* the page that was asked for last; 0: none */
static unsigned long alias_delta;      /* from it to its alias */
static unsigned first_slot, last_slot; /* of FIX_TEXT, that are mapped; last_slot 0: none */
static bool module_alias;	       /* FIX_PATCH is in use */
static unsigned long line_mask;	       /* of the smaller of data and instruction lines, set by arch_patch_begin */
static unsigned long site_line;	       /* line of the last site, not yet cleaned */
#define NO_LINE	 1UL
#define NR_LINES 512
static unsigned long lines[NR_LINES]; /* instruction lines to invalidate */
static unsigned nr_lines;	      /* NR_LINES + 1: more than fit, invalidate all of them */

static __always_inline bool is_module_text(unsigned long site)
{
	return site >= MODULES_VADDR && site < MODULES_END;
}

static __always_inline bool is_text(unsigned long site)
{
	return likely(site - (unsigned long)_stext < (unsigned long)(_etext - _stext)) || is_module_text(site);
}

static __always_inline bool in_reach(unsigned long site, unsigned long target)
{
	unsigned long offset = target - site;

	return offset + BRANCH_RANGE < 2 * BRANCH_RANGE && !(offset & 3);
}

/*
 * The instruction for this site, if the target is in reach: a call, a jump, a nop for target 0, or the word
 * itself (PATCH_WORD).
 */
static __always_inline u32 encode(unsigned long site, unsigned long target, enum patch_kind kind)
{
	if (kind == PATCH_WORD)
		return target;
	if (!target)
		return INSN_NOP;
	return (kind == PATCH_CALL ? INSN_BL : INSN_B) | (((target - site) >> 2) & 0x3ffffff);
}

/* Sites are in ascending order, so what is in reach of the first and of the last is in reach of all between them. */
static __always_inline bool all_in_reach(const unsigned long *sites, size_t n, unsigned long target)
{
	return !n || !target || (in_reach(sites[0], target) && in_reach(sites[n - 1], target));
}

notrace size_t arch_patch_verify_calls(const unsigned long *sites, size_t n, unsigned long target)
{
	if (!all_in_reach(sites, n, target))
		return 0;
	for (size_t i = 0; i < n; i++)
		if ((sites[i] & 3) || !is_text(sites[i]) ||
		    READ_ONCE(*(u32 *)sites[i]) != encode(sites[i], target, PATCH_CALL))
			return i;
	return n;
}

notrace void arch_patch_begin(void)
{
	u64 ctr = read_sysreg(ctr_el0);

	nmi_hold_off(); /* the one thing that parked CPUs may still run */
	line_mask = ~(min(4UL << ((ctr >> 16) & 15), 4UL << (ctr & 15)) - 1);
	alias_page = 0;
	first_slot = FIX_TEXT_END;
	last_slot = 0;
	module_alias = false;
	site_line = NO_LINE;
	nr_lines = 0;
}

/*
 * Cleans the data line that was written, by its alias, whose page must be the one that was asked for last. Volatile asm
 * statements keep their order.
 */
static __always_inline void clean_line(unsigned long line)
{
	__asm__ volatile("dc cvau, %0" : : "r"(line + alias_delta));
}

/*
 * Each page of the image has its own slot, so the mapping that is put there is always the same, and no TLB entry can be
 * stale.
 */
static notrace void map_text(unsigned long page)
{
	unsigned slot = FIX_TEXT + ((page - ((unsigned long)_stext & PAGE_MASK)) >> PAGE_SHIFT);

	set_fixmap_again(slot, __pa_symbol(page), PAGE_KERNEL);
	first_slot = min(first_slot, slot);
	last_slot = max(last_slot, slot);
	alias_delta = fix_to_virt(slot) - page;
}

static notrace void map_module(unsigned long page)
{
	/* Written through the old one: before it goes. set_fixmap breaks before it makes (Arm ARM D8.13.1). */
	if (module_alias)
		dsb(ish);
	set_fixmap(FIX_PATCH, page_to_phys(vmalloc_to_page((void *)page)), PAGE_KERNEL);
	alias_delta = fix_to_virt(FIX_PATCH) - page;
	module_alias = true;
}

static noinline notrace void map_alias(unsigned long page)
{
	alias_page = page;
	patch_stats.alias_maps++;
	if (is_module_text(page))
		map_module(page);
	else
		map_text(page);
}

/*
 * Writes the sites, and cleans and notes each line once. The state of the change is held in locals while sites are
 * written, since stores to sites may alias anything for the compiler.
 */
static __always_inline int write_sites(const unsigned long *sites, size_t n, unsigned long target, enum patch_kind kind)
{
	unsigned long mask = line_mask, line = site_line;
	unsigned noted = nr_lines, cleaned = 0;
	size_t i;

	if (kind != PATCH_WORD && !all_in_reach(sites, n, target))
		return -ERANGE;
	for (i = 0; i < n; i++) {
		if (unlikely((sites[i] & 3) || !is_text(sites[i])))
			break;
		if ((sites[i] & mask) != line) {
			if (likely(line != NO_LINE)) {
				clean_line(line);
				cleaned++;
			}
			line = sites[i] & mask;
			if (unlikely((line & PAGE_MASK) != alias_page))
				map_alias(line & PAGE_MASK);
			if (noted < NR_LINES)
				lines[noted] = line;
			noted += noted <= NR_LINES;
		}
		/* One aligned word: never seen half written. */
		WRITE_ONCE(*(u32 *)(sites[i] + alias_delta), encode(sites[i], target, kind));
	}
	site_line = line;
	nr_lines = noted;
	patch_stats.sites += i;
	patch_stats.dcache_clean += cleaned;
	return i == n ? 0 : -EINVAL;
}

notrace int arch_patch_write_calls(const unsigned long *sites, size_t n, unsigned long target)
{
	return write_sites(sites, n, target, PATCH_CALL);
}

/* Not probed, as the next one: it may write what it executes. */
__kprobes int arch_patch_write(unsigned long site, unsigned long target, enum patch_kind kind)
{
	return write_sites(&site, 1, target, kind);
}

__kprobes void arch_patch_copy(unsigned long at, const void *from, unsigned len)
{
	for (unsigned i = 0; i < len; i += 4)
		arch_patch_write(at + i, *(const u32 *)(from + i), PATCH_WORD);
}

/*
 * One line after the other. When there are more lines than were kept, or the instruction cache is not tagged by
 * physical address (CTR_EL0.L1Ip is not PIPT), everything is invalidated.
 */
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

/*
 * All that was written becomes what CPUs execute. The order is the architecture's (Arm ARM, concurrent modification and
 * execution of instructions): clean the data cache to where instructions are fetched from, wait, invalidate the
 * instruction caches, wait. Then the aliases go, so text cannot be written any more, and ISB makes this CPU fetch
 * again; other CPUs do the same when they leave the stop.
 */
notrace void arch_patch_end(void)
{
	if (site_line != NO_LINE) {
		clean_line(site_line);
		patch_stats.dcache_clean++;
	}
	dsb(ish);
	if (nr_lines) {
		invalidate_icache();
		dsb(ish);
	}
	if (last_slot)
		clear_fixmaps(first_slot, last_slot);
	if (module_alias)
		set_fixmap(FIX_PATCH, 0, __pgprot(0));
	alias_page = 0;
	patch_stats.syncs++;
	isb();
	nmi_allow();
}

notrace void arch_sync_core(void)
{
	isb();
}

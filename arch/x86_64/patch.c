/*
 * Writing kernel text: through an alias that is never executed, with the serialisation that other bytes at the same
 * place demand.
 *
 * A site is five bytes at any alignment, so it may lie in two cache lines and in two pages: no store writes
 * it at once, and a CPU that fetched it meanwhile could see half of each (SDM vol. 3, 8.1.3, "cross-modifying
 * code"). Here no CPU can: all others wait in the loop of stop_machine, which has no sites, and call
 * arch_sync_core() before they leave it. The caches of this machine are coherent with its fetches; what must
 * be thrown away is what was fetched already, and any serialising instruction does that.
 */
#include <arch/fixmap.h>
#include <arch/patch.h>
#include <arch/pgtable.h>
#include <asm/barrier.h>
#include <asm/page.h>
#include <kernel/nmi.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/fixmap.h>
#include <mm/page.h>
#include <mm/vmalloc.h>
#include <trace/kprobes.h>

#include "exception.h"

#define SITE_SIZE   5
#define OPCODE_CALL 0xe8
#define OPCODE_JMP  0xe9

/* The five bytes of a site as the low bytes of a word. */
#define SITE_MASK 0xffffffffffUL
#define SITE_NOP  0x0000441f0fUL /* nopl 0(%rax,%rax,1): 0f 1f 44 00 00 (SDM vol. 2, NOP) */

/* Four bytes at any alignment. */
typedef u32 unaligned_u32 __attribute__((aligned(1)));

struct patch_stats patch_stats;
extern const char _stext[], _etext[];

/*
 * The aliases of the image's pages stay until the end of the change, each in its slot (FIX_TEXT): a slot never shows
 * another page, so nothing has to be forgotten before it is used, and everything at once in the end. Pages of modules
 * are shown by FIX_PATCH, one after the other. [who patches: one at a time]
 */
static unsigned long alias_page;       /* the page that was asked for last; 0: none */
static unsigned long alias_delta;      /* from it to its alias */
static unsigned first_slot, last_slot; /* of FIX_TEXT, that are mapped; last_slot 0: none */
static bool module_alias;	       /* FIX_PATCH is in use */
static unsigned long next_page;	       /* the page that was mapped last; 0: none */

static __always_inline bool is_module_text(unsigned long site)
{
	return site >= MODULES_VADDR && site < MODULES_END - SITE_SIZE;
}

static __always_inline bool is_text(unsigned long site)
{
	return likely(site - (unsigned long)_stext <= (unsigned long)(_etext - _stext) - SITE_SIZE) ||
	       is_module_text(site);
}

/* The displacement is signed, 32 bits, and counts from the next instruction. */
static __always_inline bool in_reach(unsigned long site, unsigned long target)
{
	long offset = target - (site + SITE_SIZE);

	return offset == (int)offset;
}

/* The bytes for this site, if the target is in reach. */
static __always_inline u64 encode(unsigned long site, unsigned long target, enum patch_kind kind)
{
	if (!target)
		return SITE_NOP;
	return (kind == PATCH_CALL ? OPCODE_CALL : OPCODE_JMP) | (u64)(u32)(target - (site + SITE_SIZE)) << 8;
}

static __always_inline u64 site_bytes(unsigned long site)
{
	return *(const unaligned_u32 *)site | (u64) * (const u8 *)(site + 4) << 32;
}

/* Sites ascend: what is in reach of the first and of the last is so of all between them. */
static __always_inline bool all_in_reach(const unsigned long *sites, size_t n, unsigned long target)
{
	return !n || !target || (in_reach(sites[0], target) && in_reach(sites[n - 1], target));
}

static __always_inline bool all_text(const unsigned long *sites, size_t n)
{
	return !n ||
	       (is_text(sites[0]) && is_text(sites[n - 1]) && is_module_text(sites[0]) == is_module_text(sites[n - 1]));
}

notrace size_t arch_patch_verify_calls(const unsigned long *sites, size_t n, unsigned long target)
{
	if (!all_in_reach(sites, n, target))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!is_text(sites[i]) || site_bytes(sites[i]) != encode(sites[i], target, PATCH_CALL))
			return i;
	return n;
}

notrace void arch_patch_begin(void)
{
	nmi_hold_off(); /* the one thing that parked CPUs may still run */
	alias_page = 0;
	first_slot = FIX_TEXT_END;
	last_slot = 0;
	next_page = 0;
	module_alias = false;
}

static __always_inline unsigned text_slot(unsigned long page)
{
	return FIX_TEXT + ((page - ((unsigned long)_stext & PAGE_MASK)) >> PAGE_SHIFT);
}

static notrace void map_text(unsigned long page)
{
	unsigned slot = text_slot(page);

	next_page = page;
	set_fixmap_again(slot, __pa_symbol(page), PAGE_KERNEL);
	first_slot = min(first_slot, slot);
	last_slot = max(last_slot, slot);
}

static notrace void map_module(unsigned slot, unsigned long page)
{
	set_fixmap(slot, page_to_phys(vmalloc_to_page((void *)page)), PAGE_KERNEL);
	module_alias = true;
}

/*
 * With the next page, which the last site may reach into. Only this CPU ever uses the alias: only its TLB is flushed.
 * Returns alias_delta.
 */
static noinline notrace unsigned long map_alias(unsigned long page)
{
	bool module = is_module_text(page), next = is_text(page + PAGE_SIZE);

	alias_page = page;
	alias_delta = fix_to_virt(module ? FIX_PATCH : text_slot(page)) - page;
	patch_stats.alias_maps++;
	if (module) {
		map_module(FIX_PATCH, page);
		if (next)
			map_module(FIX_PATCH_NEXT, page + PAGE_SIZE);
	} else {
		if (page != next_page)
			map_text(page);
		if (next)
			map_text(page + PAGE_SIZE);
	}
	return alias_delta;
}

/*
 * Four bytes, and the fifth where it changes: it is 0 in the nop and in calls of what stands behind all sites, as what
 * sites call does (linker.ld). For an emulator a write to code is work: it throws away what it has translated there.
 */
static __always_inline void write_site(unsigned long alias, u64 bytes)
{
	*(volatile unaligned_u32 *)alias = bytes;
	if (unlikely(*(const volatile u8 *)(alias + 4) != (u8)(bytes >> 32)))
		*(volatile u8 *)(alias + 4) = bytes >> 32;
}

/* Only the locals change from site to site: for all else, memory is looked at once. */
static __always_inline int write_sites(const unsigned long *sites, size_t n, unsigned long target, enum patch_kind kind)
{
	unsigned long page = alias_page, delta = alias_delta;

	if (!all_text(sites, n))
		return -EINVAL;
	if (!all_in_reach(sites, n, target))
		return -ERANGE;
	for (size_t i = 0; i < n; i++) {
		unsigned long site = sites[i];

		if (unlikely((site & PAGE_MASK) != page)) {
			page = site & PAGE_MASK;
			delta = map_alias(page);
		}
		write_site(site + delta, encode(site, target, kind));
	}
	patch_stats.sites += n;
	return 0;
}

notrace int arch_patch_write_calls(const unsigned long *sites, size_t n, unsigned long target)
{
	return write_sites(sites, n, target, PATCH_CALL);
}

notrace int arch_patch_write(unsigned long site, unsigned long target, enum patch_kind kind)
{
	return write_sites(&site, 1, target, kind);
}

/* Not probed: it may write what it executes. */
__kprobes void arch_patch_copy(unsigned long at, const void *from, unsigned len)
{
	if ((at & PAGE_MASK) != alias_page)
		map_alias(at & PAGE_MASK);
	for (unsigned i = 0; i < len; i++)
		*(volatile u8 *)(at + alias_delta + i) = ((const u8 *)from)[i];
	patch_stats.sites++;
}

notrace void arch_patch_end(void)
{
	if (last_slot)
		clear_fixmaps(first_slot, last_slot);
	if (module_alias) {
		set_fixmap(FIX_PATCH, 0, __pgprot(0));
		set_fixmap(FIX_PATCH_NEXT, 0, __pgprot(0));
	}
	alias_page = 0;
	patch_stats.syncs++;
	arch_sync_core();
	nmi_allow();
}

notrace void arch_sync_core(void)
{
	serialize();
}

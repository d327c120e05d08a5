/*
 * Writing kernel text: through an alias that nobody executes, with the serialisation that other bytes at the same
 * place demand.
 *
 * A site is five bytes at any alignment, so it may lie in two cache lines and in two pages: no store writes
 * it at once, and a CPU that fetched it meanwhile could see half of each (SDM vol. 3, 8.1.3, "cross-modifying
 * code"). Here no CPU can: all others wait in the loop of stop_machine, which has no sites, and call
 * arch_sync_core() before they leave it. The caches of this machine are coherent with its fetches; what must
 * be thrown away is what was fetched already, and any serialising instruction does that.
 */
#include <asm/fixmap.h>
#include <asm/msr.h>
#include <asm/page.h>
#include <asm/patch.h>
#include <asm/pgtable.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/vmalloc.h>

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

/* [who patches: one at a time] page that FIX_PATCH shows, with the next one behind it; 0: none */
static unsigned long alias_page;

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

/* What `site` shall hold, when target is in reach. */
static __always_inline u64 encode(unsigned long site, unsigned long target, enum patch_kind kind)
{
	if (!target)
		return SITE_NOP;
	return (kind == PATCH_CALL ? OPCODE_CALL : OPCODE_JMP) | (u64)(u32)(target - (site + SITE_SIZE)) << 8;
}

static __always_inline u64 site_bytes(unsigned long site)
{
	return *(const unaligned_u32 *)site | (u64)*(const u8 *)(site + 4) << 32;
}

/* Sites ascend: what is in reach of the first and of the last is so of all between them. */
static __always_inline bool all_in_reach(const unsigned long *sites, size_t n, unsigned long target)
{
	return !n || !target || (in_reach(sites[0], target) && in_reach(sites[n - 1], target));
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

notrace int arch_patch_verify(unsigned long site, unsigned long target, enum patch_kind kind)
{
	if (!is_text(site))
		return -EINVAL;
	if (target && !in_reach(site, target))
		return -ERANGE;
	return site_bytes(site) == encode(site, target, kind) ? 0 : -EINVAL;
}

notrace void arch_patch_begin(void)
{
	nmi_hold_off(); /* the one thing that parked CPUs may still run */
	alias_page = 0;
}

static notrace phys_addr_t text_phys(unsigned long page)
{
	if (is_module_text(page))
		return page_to_phys(vmalloc_to_page((void *)page));
	return __pa_symbol(page);
}

/* Only this CPU ever uses the alias, so only its TLB is flushed (set_fixmap). */
static noinline notrace void map_alias(unsigned long page)
{
	alias_page = page;
	set_fixmap(FIX_PATCH, text_phys(page), PAGE_KERNEL);
	if (is_text(page + PAGE_SIZE))
		set_fixmap(FIX_PATCH_NEXT, text_phys(page + PAGE_SIZE), PAGE_KERNEL);
	patch_stats.alias_maps++;
}

static __always_inline int write_sites(const unsigned long *sites, size_t n, unsigned long target,
				       enum patch_kind kind)
{
	size_t i;

	if (!all_in_reach(sites, n, target))
		return -ERANGE;
	for (i = 0; i < n; i++) {
		unsigned long to;
		u64 bytes;

		if (unlikely(!is_text(sites[i])))
			break;
		if (unlikely((sites[i] & PAGE_MASK) != alias_page))
			map_alias(sites[i] & PAGE_MASK);
		to = fix_to_virt(FIX_PATCH) + (sites[i] & ~PAGE_MASK);
		bytes = encode(sites[i], target, kind);
		*(volatile unaligned_u32 *)to = bytes;
		*(volatile u8 *)(to + 4) = bytes >> 32;
	}
	patch_stats.sites += i;
	return i == n ? 0 : -EINVAL;
}

notrace int arch_patch_write_calls(const unsigned long *sites, size_t n, unsigned long target)
{
	return write_sites(sites, n, target, PATCH_CALL);
}

notrace int arch_patch_write(unsigned long site, unsigned long target, enum patch_kind kind)
{
	return write_sites(&site, 1, target, kind);
}

notrace void arch_patch_end(void)
{
	if (alias_page) {
		set_fixmap(FIX_PATCH, 0, __pgprot(0));
		set_fixmap(FIX_PATCH_NEXT, 0, __pgprot(0));
	}
	alias_page = 0;
	patch_stats.syncs++;
	arch_sync_core();
	nmi_allow();
}

/* CPUID serialises (SDM vol. 3, 8.3): all that follows is fetched after it. */
notrace void arch_sync_core(void)
{
	cpuid(0, 0);
}

/*
 * Changing instructions of the kernel (arch/<machine>/patch.c). Text is read-only in every permanent mapping: sites are
 * written through a temporary alias that cannot be executed.
 *
 *     arch_patch_begin();
 *     err = arch_patch_write(site, target, PATCH_CALL);   // any number
 *     arch_patch_end();                                   // now all are in force
 *
 * Context: every other CPU is parked in a loop that is not patched, or not started yet; interrupts off.
 * <asm/patch.h> has what a machine can write (enum patch_kind) and what it counts (patch_stats).
 *
 * Why every other CPU is parked. arm64 allows B, BL and NOP to be exchanged while other CPUs execute them (Arm ARM
 * B2.2.5, concurrent modification and execution), and x86 has its int3 protocol. We stop the machine all the same,
 * because of what QEMU's parallel TCG does: it drops its translations of a page before the store that changes it lands.
 * A CPU running the site at that moment translates the old bytes again and keeps them. With the other CPUs parked
 * outside the page this cannot happen. All sites of a change go into one stop, so the price is paid once: some 2,300
 * instructions for each other CPU (docs/benchmarks.md), against about a hundred for each site.
 *
 * The parking loop (multi_cpu_stop) lies in .noinstr.text: pages with no site and no static branch, so it is neither
 * patched nor translated together with what is.
 *
 * On the way out each parked CPU executes arch_sync_core() (isb; CPUID on x86_64): instructions fetched before the
 * change are discarded.
 *
 * On x86_64 there is a second reason. A site is five bytes at any alignment: it may lie in two cache lines and in two
 * pages, no store writes it at once, and a CPU that fetched it meanwhile could see half of each value. The manual calls
 * that cross-modifying code and demands what we do (SDM vol. 3, 8.1.3): no CPU executes the site while it is written,
 * and a CPU that executes it next has executed a serialising instruction in between. The CPU that writes does so in
 * arch_patch_end(). Caches need nothing: fetches are coherent with stores, through whatever address they are made.
 *
 * Only the CPU that changes text uses the aliases through which sites are written. When they are unmapped, it flushes
 * its own TLB and no other CPU's. Another CPU can hold a translation of such an address only by speculation, from a
 * time at which it was mapped. That does no harm: a slot of FIX_TEXT always shows the same page with the same rights,
 * so what such a CPU holds is what it will need when it writes there itself. For the same reason nothing is flushed
 * when a slot is mapped, and pages stay mapped until the change is over; then one flush of the whole TLB takes away
 * more than eight pages. (A flush costs more than it seems to: QEMU drops all of a CPU's translations at each flush as
 * soon as the kernel has a large page, twice for each page of text, and a broadcast stops all virtual CPUs.) FIX_PATCH
 * shows one page of a module after the other, so it is flushed at each change, and its old entry is removed before the
 * new one is written.
 *
 * On x86_64 a site's fifth byte is written only where it changes. It is 0 in the nop, and 0 in a call of what stands
 * behind the site, less than 16 MiB away: so linker.ld puts what sites call behind all of them. An emulator looks at
 * each write to a page of code, so this is a fourth to a third of a switch's time there.
 */
#pragma once

#include <asm/patch.h>
#include <lib/types.h>

extern struct patch_stats patch_stats; /* [written in the context above] */

/*
 * Before the first write of a change, and after the last: makes all written sites visible to instruction fetch, removes
 * the alias, synchronises this CPU.
 */
void arch_patch_begin(void);
void arch_patch_end(void);
/*
 * 0; -ERANGE: the branch does not reach the target; -EINVAL: the site is not in kernel or module text, or not aligned.
 * Nothing is written on error. PATCH_CALL and PATCH_JUMP with target 0 make a nop.
 */
int arch_patch_write(unsigned long site, unsigned long target, enum patch_kind kind);
/* Any bytes, whole instructions, which may reach into the next page. `at`: as above. */
void arch_patch_copy(unsigned long at, const void *from, unsigned len);
/*
 * The same for many calls at a time, sites ascending. verify: how many of them, from the first on, hold a call to
 * `target` (0: a nop); n when all do. write: errors as of arch_patch_write; at -EINVAL the sites before it are written.
 */
size_t arch_patch_verify_calls(const unsigned long *sites, size_t n, unsigned long target);
int arch_patch_write_calls(const unsigned long *sites, size_t n, unsigned long target);
/* Discard instructions fetched before: each parked CPU calls it before it goes on. */
void arch_sync_core(void);

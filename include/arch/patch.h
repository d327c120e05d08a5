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
 */
#pragma once

#include <asm/patch.h>
#include <lib/types.h>

/*
 * Does `site` hold a call or jump to `target` (0: a nop)? 0, -EINVAL: something else, -ERANGE: out of a branch's reach.
 */
int arch_patch_verify(unsigned long site, unsigned long target, enum patch_kind kind);
/* Before the first write of a change, and after the last: makes all written sites visible to instruction fetch, removes
 * the alias, synchronises this CPU. */
void arch_patch_begin(void);
void arch_patch_end(void);
/* 0, -ERANGE as above, -EINVAL: not in kernel or module text, or not aligned. Nothing is written on error. */
int arch_patch_write(unsigned long site, unsigned long target, enum patch_kind kind);
/*
 * The same for many calls at a time, sites ascending. verify: how many of them, from the first on, hold a call to
 * `target` (0: a nop); n when all do. write: errors as of arch_patch_write; at -EINVAL the sites before it are written.
 */
size_t arch_patch_verify_calls(const unsigned long *sites, size_t n, unsigned long target);
int arch_patch_write_calls(const unsigned long *sites, size_t n, unsigned long target);
/* Discard instructions fetched before: each parked CPU calls it before it goes on. */
void arch_sync_core(void);

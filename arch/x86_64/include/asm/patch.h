/*
 * Changing instructions of the kernel. Text is read-only in every permanent mapping: sites are written
 * through a temporary alias that cannot be executed.
 *
 *     arch_patch_begin();
 *     err = arch_patch_write(site, target, PATCH_CALL);   // any number
 *     arch_patch_end();                                   // now all are in force
 *
 * Context: every other CPU is parked in a loop that is not patched, or not started yet; interrupts off.
 */
#pragma once

#include <lib/types.h>

enum patch_kind {
	PATCH_CALL, /* CALL rel32 */
	PATCH_JUMP, /* JMP rel32 */
};

/* Does `site` hold a call or jump to `target` (0: a nop)? 0, -EINVAL: something else, -ERANGE: out of a
 * branch's reach. */
int arch_patch_verify(unsigned long site, unsigned long target, enum patch_kind kind);
void arch_patch_begin(void);
/* 0, -ERANGE as above, -EINVAL: not in kernel or module text. Nothing is written on error. */
int arch_patch_write(unsigned long site, unsigned long target, enum patch_kind kind);
/*
 * The same for many calls at a time, sites ascending. verify: how many of them, from the first on, hold a call to
 * `target` (0: a nop); n when all do. write: errors as of arch_patch_write.
 */
size_t arch_patch_verify_calls(const unsigned long *sites, size_t n, unsigned long target);
int arch_patch_write_calls(const unsigned long *sites, size_t n, unsigned long target);
/* Removes the alias and serialises this CPU. */
void arch_patch_end(void);
/* Discard instructions fetched before: each parked CPU calls it before it goes on. */
void arch_sync_core(void);

/* What has been done so far, for a test to hold against the number of sites. [written under the context
 * above] */
struct patch_stats {
	u64 sites;	/* instructions written */
	u64 alias_maps; /* times the alias was pointed at a page of text */
	u64 syncs;	/* arch_patch_end calls */
};
extern struct patch_stats patch_stats;

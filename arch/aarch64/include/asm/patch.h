/* What this machine can write into text, and what it counts; how it is done stands in <arch/patch.h>. */
#pragma once

#include <lib/types.h>

#define PATCH_SITE_SIZE 4 /* bytes of a call site or a static branch */

enum patch_kind {
	PATCH_CALL, /* BL */
	PATCH_JUMP, /* B */
	PATCH_WORD, /* `target` is the instruction itself: the machine layer's, at boot */
};

/*
 * What has been done so far, for a test to hold against the number of sites. [written in the context of <arch/patch.h>]
 */
struct patch_stats {
	u64 sites;	  /* instructions written */
	u64 alias_maps;	  /* times the alias was pointed at a page of text */
	u64 syncs;	  /* arch_patch_end calls */
	u64 dcache_clean; /* DC CVAU issued */
	u64 icache_inval; /* IC IVAU (or IC IALLUIS) issued */
};

/* The bootconfig of this boot (docs/bootconfig.md): what stands behind the initramfs, if the command line wants it. */
#pragma once

#include <lib/bootconfig.h>

extern struct bootconfig boot_config; /* [I] nr 0: there is none */
extern size_t boot_config_bytes;      /* [I] bytes at the end of the initrd that are its, used or not */

/*
 * Look for it and make the tree, and pass the keys kernel.* and init.* to the command line. Boot, between
 * parse_early_params() and parse_params(), while memblock_alloc() may be called. What is wrong is reported in one line,
 * and the boot goes on without it.
 */
void bootconfig_init(void);

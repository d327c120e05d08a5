/* The bootconfig of this boot (docs/bootconfig.md): what stands behind the initramfs, if the command line wants it. */
#pragma once

#include <lib/bootconfig.h>

extern struct bootconfig boot_config; /* [I] after boot; without a bootconfig nr is 0 */

/* From boot/arm64_head.S to C. */
#pragma once

#include <lib/types.h>

/* On the boot stack, MMU on: fdt is a physical address, entry_time the counter, entry_el CurrentEL as it was.
 */
void arm64_boot(phys_addr_t fdt, u64 entry_time, u64 entry_el);

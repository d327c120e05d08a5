/* From boot/arm64_head.S to C. */
#pragma once

#include <lib/types.h>

/*
 * Fill boot_info and boot_command_line. `fdt` is a physical address, `entry_time` the counter at
 * entry, `entry_el` CurrentEL as it was then. Context: boot CPU, on the boot stack, MMU on,
 * interrupts off. Panics without a usable FDT.
 */
void arm64_boot(phys_addr_t fdt, u64 entry_time, u64 entry_el);

/* Ending the machine. */
#pragma once

#include <lib/types.h>

/*
 * Off. status 0: ACPI's soft-off, S5; else (1 to 127) QEMU exits with (status << 1) | 1 where it has the
 * device isa-debug-exit at port 0xf4, and S5 follows. A machine that does neither stops. Any context.
 */
void arch_power_off(int status) __noreturn;
/* The FADT's reset register, then what PCs have had before there was one. */
void arch_restart(void) __noreturn;

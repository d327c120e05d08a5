/* Ending the machine (arch/<machine>/poweroff.c). */
#pragma once

#include <lib/types.h>

/*
 * Switch the machine off. A status other than 0 (1 to 127) is for QEMU, which ends with it where it has a way to be
 * told: semihosting on aarch64; on x86_64 the device isa-debug-exit at port 0xf4, where its own status is (status << 1)
 * | 1. Without one the machine is off all the same (PSCI SYSTEM_OFF, ACPI's S5), or this CPU stops. Any context.
 */
void arch_power_off(int status) __noreturn;
/*
 * Begin again as after power-on: PSCI SYSTEM_RESET; the FADT's reset register, or what PCs had before it. Any context.
 */
void arch_restart(void) __noreturn;

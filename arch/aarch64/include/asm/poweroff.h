/* Ending the machine. */
#pragma once

#include <lib/types.h>

/* Off. status 0: PSCI SYSTEM_OFF; else QEMU exits with it where semihosting is on, and PSCI follows. Any
 * context. */
void arch_power_off(int status) __noreturn;
/* PSCI SYSTEM_RESET. */
void arch_restart(void) __noreturn;

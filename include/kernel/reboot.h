/* Ending the machine in an orderly way: messages out, other CPUs stopped. Thread context. */
#pragma once

#include <lib/types.h>

void kernel_power_off(int status) __noreturn; /* status: see arch_power_off */
void kernel_restart(void) __noreturn;
void kernel_halt(void) __noreturn;

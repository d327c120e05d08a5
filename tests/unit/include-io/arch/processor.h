/* Spinning on the host. */
#pragma once

#define cpu_relax() __asm__ volatile("" ::: "memory")

void arch_halt(void) __attribute__((noreturn));

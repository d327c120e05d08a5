/* What execve and the auxiliary vector need to know of this machine. */
#pragma once

#include <asm/page.h>

#define ELF_MACHINE  183 /* EM_AARCH64 */
#define ELF_PLATFORM "aarch64"
/* AT_HWCAP: bits as Linux numbers them, by what the boot CPU's ID registers say. */
#define ELF_HWCAP	arch_elf_hwcap()
#define ELF_ET_DYN_BASE (2 * TASK_SIZE / 3)
/* The signal trampoline's page, the last but one of user space; the stack grows down from one page below it. */
#define SIGPAGE	  (TASK_SIZE - 2 * PAGE_SIZE)
#define STACK_TOP (SIGPAGE - PAGE_SIZE)

/* AT_HWCAP for a new program: Linux's bits, from the ID registers of this CPU. Any context. */
unsigned long arch_elf_hwcap(void);

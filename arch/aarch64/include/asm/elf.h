/* What execve and the auxiliary vector need to know of this machine. */
#pragma once

#include <asm/page.h>

#define ELF_MACHINE	   183 /* EM_AARCH64 */
#define ELF_PLATFORM	   "aarch64"
#define COMPAT_UTS_MACHINE "armv8l"
#define ELF_HWCAP	   arch_elf_hwcap(false)
#define ELF_HWCAP2	   arch_elf_hwcap(true)
#define ELF_ET_DYN_BASE	   (2 * TASK_SIZE / 3)
/*
 * The last pages of user space, from above: one that is never mapped, the vDSO's code, its data, and below them the
 * stack, which grows down.
 */
#define VDSO_BASE (TASK_SIZE - 2 * PAGE_SIZE)
#define VVAR_BASE (VDSO_BASE - PAGE_SIZE)
#define STACK_TOP VVAR_BASE
/* How far down from their fixed places exec moves a position-independent program and its stack, pages, powers of 2. */
#define ELF_RANDOM_PAGES   BIT(18)
#define STACK_RANDOM_PAGES BIT(18)

/* AT_HWCAP and (second) AT_HWCAP2 for a new program: Linux's bits, from the boot CPU's ID registers. Any context. */
unsigned long arch_elf_hwcap(bool second);

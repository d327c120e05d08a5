/* What execve and the auxiliary vector need to know of this machine. */
#pragma once

#include <asm/cpufeature.h>
#include <asm/page.h>

#define ELF_MACHINE	   62 /* EM_X86_64 */
#define ELF_PLATFORM	   "x86_64"
#define COMPAT_UTS_MACHINE "i686"
#define ELF_HWCAP	   ((unsigned long)cpu_features.hwcap) /* AT_HWCAP: EDX of CPUID leaf 1, as Linux has it */
#define ELF_HWCAP2	   0UL /* what the kernel has to switch on for programs, such as FSGSBASE */
#define ELF_ET_DYN_BASE	   (TASK_SIZE / 3 * 2)
/*
 * The last pages of user space, from above: one that is never mapped, the vDSO's code, its data, and below them the
 * stack, which grows down.
 */
#define VDSO_BASE (TASK_SIZE - 2 * PAGE_SIZE)
#define VVAR_BASE (VDSO_BASE - PAGE_SIZE)
#define STACK_TOP VVAR_BASE
/* How far down from their fixed places exec moves a position-independent program and its stack, pages, powers of 2. */
#define ELF_RANDOM_PAGES   BIT(28)
#define STACK_RANDOM_PAGES BIT(22)

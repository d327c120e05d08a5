/* What execve and the auxiliary vector need to know of this machine. */
#pragma once

#include <asm/cpufeature.h>
#include <asm/page.h>

#define ELF_MACHINE	62 /* EM_X86_64 */
#define ELF_PLATFORM	"x86_64"
#define ELF_HWCAP	((unsigned long)cpu_features.hwcap) /* AT_HWCAP: EDX of CPUID leaf 1, as Linux has it */
#define ELF_ET_DYN_BASE (TASK_SIZE / 3 * 2)
/* The signal trampoline's page, the last but one of user space; the stack grows down from one page below it. */
#define SIGPAGE	  (TASK_SIZE - 2 * PAGE_SIZE)
#define STACK_TOP (SIGPAGE - PAGE_SIZE)

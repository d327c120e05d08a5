/* Stand-in: what arch/aarch64/prologue.c defines. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;

struct pt_regs;
bool arch_ftrace_can_redirect(unsigned long ip);
void arch_ftrace_redirect(unsigned long ip, struct pt_regs *regs);

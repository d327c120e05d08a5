/* Loads and stores of memory that are exclusive (exclusive.c). */
#pragma once

#include <lib/types.h>

/*
 * Is the exclusive monitor set when the instruction at addr is executed, or may it be? read() gives the instructions
 * before it, not below `start`, and returns false for one that it cannot read.
 */
bool monitor_may_be_set(unsigned long addr, unsigned long start, bool (*read)(unsigned long addr, u32 *insn, void *arg),
			void *arg);

/* A trap instruction of our own: BRK with a comment the exception handler knows, reported through die(). */
#pragma once

#define BUG_BRK_IMM    0x800
#define KPROBE_BRK_IMM 0x004 /* the breakpoint of a kprobe, as on Linux */

#define BUG_OOPS "Oops - BUG" /* what a report calls it, as on Linux */

#define arch_bug()                                               \
	do {                                                     \
		__asm__ volatile("brk %0" : : "i"(BUG_BRK_IMM)); \
		__builtin_unreachable();                         \
	} while (0)

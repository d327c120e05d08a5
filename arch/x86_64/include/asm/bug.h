/* A trap instruction of our own: UD2 with a mark behind it that the exception handler knows, reported through die(). */
#pragma once

/* gcc's own UD2 (what it takes for unreachable) has no such mark. */
#define BUG_UD2	     0x0b0f
#define BUG_MARK     0xb6b6
#define BUG_INSN_LEN 4 /* both: where a report that returns goes on */

#define BUG_OOPS "Oops: invalid opcode" /* what a report calls it, as on Linux */

#define arch_bug()                                                       \
	do {                                                             \
		__asm__ volatile("ud2\n\t.short %c0" : : "i"(BUG_MARK)); \
		__builtin_unreachable();                                 \
	} while (0)

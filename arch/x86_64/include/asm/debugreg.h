/* Debug registers (SDM vol. 3, 18.2). */
#pragma once

#define DR7_RESET 0x400 /* the bit that reads as one */

#ifndef __ASSEMBLY__
#include <lib/types.h>

#define DR6_B	  0xf	     /* by a breakpoint register: bit n for DRn */
#define DR6_BS	  (1 << 14)  /* by single step */
#define DR6_RESET 0xffff0ff0 /* the bits that read as one */

#define DR7_GLOBAL(n)	  (2UL << ((n)*2))	/* DRn is on, in every task */
#define DR7_CONTROL(n, v) ((v) << (16 + (n)*4)) /* type in bits 0-1, length in bits 2-3 */

/* What a debugger may set of DR7: which are on, for the task or for all, and the controls. */
#define DR7_USER	       0xffff00ffUL
#define DR7_CONTROL_OF(dr7, n) ((dr7) >> (16 + (n)*4) & 0xf)
#define DR7_ENABLED(dr7, n)    (!!((dr7)&3UL << (n)*2))
#define NR_DEBUG_REGISTERS     4

/* read_dr(6), write_dr(7, v). Writes are compiler barriers. */
#define read_dr(n)                                                               \
	({                                                                       \
		u64 _dr;                                                         \
		__asm__ volatile("mov %%dr" #n ", %0" : "=r"(_dr) : : "memory"); \
		_dr;                                                             \
	})
#define write_dr(n, v) __asm__ volatile("mov %0, %%dr" #n : : "r"((u64)(v)) : "memory")

struct user_debug;

/* A task's debugger sets DR0 to DR3 and DR7 of a task that stands still: 0, -EINVAL, -ENOSPC. Thread context. */
int debug_set_user(struct user_debug *user, const struct user_debug *new);

/* No breakpoint is reported on this CPU until DR7 gets the returned value back. */
static __always_inline u64 debug_registers_silence(void)
{
	u64 dr7 = read_dr(7);

	write_dr(7, DR7_RESET);
	return dr7;
}
#endif

/*
 * The bits of personality(2). All are taken and shown, as on Linux. These have an effect here: UNAME26,
 * ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC, STICKY_TIMEOUTS and PER_LINUX32. The others have none: most of them are for
 * programs of other systems, which do not run; nothing is ever mapped at address 0 (MMAP_PAGE_ZERO), which Linux
 * refuses to all but root; and mmap always places areas from above (ADDR_COMPAT_LAYOUT).
 */
#pragma once

#define UNAME26		   0x0020000u /* uname(2) says release 2.6.N, for programs that cannot read a higher one */
#define ADDR_NO_RANDOMIZE  0x0040000u /* nothing of an exec is random */
#define MMAP_PAGE_ZERO	   0x0100000u
#define ADDR_COMPAT_LAYOUT 0x0200000u
#define READ_IMPLIES_EXEC  0x0400000u /* memory that can be read can be executed; an exec clears it */
#define STICKY_TIMEOUTS	   0x4000000u /* select(2) and its like leave the caller's time-out as it was */

#define PER_QUERY   0xffffffffu /* changes nothing */
#define PER_MASK    0xffu	/* which personality */
#define PER_LINUX32 0x08u	/* uname(2) names the 32-bit machine */

/* What a program that has more rights than its caller does not take from it. */
#define PER_CLEAR_ON_SETID (READ_IMPLIES_EXEC | ADDR_NO_RANDOMIZE | ADDR_COMPAT_LAYOUT | MMAP_PAGE_ZERO)

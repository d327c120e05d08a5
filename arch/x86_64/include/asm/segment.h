/* Segment selectors. Also read by assembly: macros only. */
#pragma once

/*
 * The order is SYSCALL's and SYSRET's (SDM vol. 2, SYSRET): STAR[47:32] = __KERNEL_CS and the next is the
 * kernel's SS; STAR[63:48] = B gives user SS = B + 8 and user CS = B + 16 for 64-bit code.
 */
#define __KERNEL_CS 0x08
#define __KERNEL_DS 0x10
#define __USER32_CS 0x1b /* STAR[63:48]; not usable: no 32-bit programs */
#define __USER_DS   0x23
#define __USER_CS   0x2b
#define GDT_TSS	    0x30 /* two entries */
#define __CPU_SEG   0x43 /* no memory: its limit is the number of the CPU, which user mode reads by LSL */
#define GDT_ENTRIES 9

/* Macros for assembly files: functions, addresses, exception table entries. */
#pragma once

/* clang-format off */

#include <asm/linker.h>

/* A global function; FUNC_END gives it the size that the symbol table and gdb want. */
.macro FUNC name
	.globl	\name
	.type	\name, %function
	.balign	4
\name:
.endm

.macro FUNC_END name
	.size	\name, . - \name
.endm

/* x2 to x29 to the struct pt_regs at sp, and back. */
.macro save_x2_to_x29
	stp	x2, x3, [sp, #16 * 1]
	stp	x4, x5, [sp, #16 * 2]
	stp	x6, x7, [sp, #16 * 3]
	stp	x8, x9, [sp, #16 * 4]
	stp	x10, x11, [sp, #16 * 5]
	stp	x12, x13, [sp, #16 * 6]
	stp	x14, x15, [sp, #16 * 7]
	stp	x16, x17, [sp, #16 * 8]
	stp	x18, x19, [sp, #16 * 9]
	stp	x20, x21, [sp, #16 * 10]
	stp	x22, x23, [sp, #16 * 11]
	stp	x24, x25, [sp, #16 * 12]
	stp	x26, x27, [sp, #16 * 13]
	stp	x28, x29, [sp, #16 * 14]
.endm
.macro load_x2_to_x29
	ldp	x2, x3, [sp, #16 * 1]
	ldp	x4, x5, [sp, #16 * 2]
	ldp	x6, x7, [sp, #16 * 3]
	ldp	x8, x9, [sp, #16 * 4]
	ldp	x10, x11, [sp, #16 * 5]
	ldp	x12, x13, [sp, #16 * 6]
	ldp	x14, x15, [sp, #16 * 7]
	ldp	x16, x17, [sp, #16 * 8]
	ldp	x18, x19, [sp, #16 * 9]
	ldp	x20, x21, [sp, #16 * 10]
	ldp	x22, x23, [sp, #16 * 11]
	ldp	x24, x25, [sp, #16 * 12]
	ldp	x26, x27, [sp, #16 * 13]
	ldp	x28, x29, [sp, #16 * 14]
.endm

/* Address of a symbol, right whether the MMU is on or off: relative to pc. */
.macro adr_l reg, sym
	adrp	\reg, \sym
	add	\reg, \reg, :lo12:\sym
.endm

/* Address of this CPU's copy of a per-CPU variable. */
.macro adr_this_cpu reg, sym, tmp
	adr_l	\reg, \sym
	mrs	\tmp, tpidr_el1
	add	\reg, \reg, \tmp
.endm

/*
 * PAN: user memory may be touched between USER_ACCESS_ON and USER_ACCESS_OFF only. CPUs without it do not know MSR PAN,
 * so both are nops until boot has found it and writes them in (arch/aarch64/mm/pan.c reads the list: struct
 * alternative). The word: Arm ARM C6.2.230, MSR (immediate).
 */
.macro PAN_SITE value
771:	nop
	.pushsection __alternatives, "a"
	.balign	4
	.long	771b - .
	.long	0xd500409f | \value << 8	/* msr pan, #value */
	.popsection
.endm
.macro USER_ACCESS_ON
	PAN_SITE 0
.endm
.macro USER_ACCESS_OFF
	PAN_SITE 1
.endm

/* A fault at `from` goes on at `to`: two offsets relative to their own place (struct extable_entry). */
.macro EX_TABLE from, to
	.pushsection __ex_table, "a"
	.balign	4
	.long	(\from) - .
	.long	(\to) - .
	.popsection
.endm

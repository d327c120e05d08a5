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
 * so both are nops until boot has found it and writes them in (arch/aarch64/pan.c reads the list: struct alternative).
 * The word: Arm ARM C6.2.230, MSR (immediate).
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

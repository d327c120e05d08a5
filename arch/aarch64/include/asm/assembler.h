/* Macros for assembly files: functions, addresses, exception table entries. */
#pragma once

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

/* A fault at `from` goes on at `to`: two offsets relative to their own place (struct extable_entry). */
.macro EX_TABLE from, to
	.pushsection __ex_table, "a"
	.balign	4
	.long	(\from) - .
	.long	(\to) - .
	.popsection
.endm

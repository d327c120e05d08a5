/* Macros for assembly files: functions, exception table entries, opening and closing user memory. */
#pragma once

/* clang-format off */

#include <asm/linker.h>

/* A global function; FUNC_END gives it the size that the symbol table and gdb want. */
.macro FUNC name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
.endm

.macro FUNC_END name
	.size	\name, . - \name
.endm

/* What each instruction moves is told to gdb, so that its backtrace is complete at every one of them. */
.macro push_cfi what:vararg
	pushq	\what
	.cfi_adjust_cfa_offset 8
.endm
.macro pop_cfi what
	popq	\what
	.cfi_adjust_cfa_offset -8
.endm

/* Address of this CPU's copy of a per-CPU variable. */
.macro adr_this_cpu reg, sym
	mov	$\sym, \reg
	add	%gs:this_cpu_off, \reg
.endm

/* A fault at `from` goes on at `to`: two offsets relative to their own place (struct extable_entry). */
.macro EX_TABLE from, to
	.pushsection __ex_table, "a"
	.balign	4
	.long	(\from) - .
	.long	(\to) - .
	.popsection
.endm

/*
 * SMAP: user memory may be touched between STAC and CLAC only. CPUs without it do not know the two instructions, so
 * they are nops of the same length until boot has found SMAP and writes them in (arch/x86_64/processor.c reads the
 * list: struct alternative).
 */
.macro SMAP_SITE last_byte
771:	.byte	0x0f, 0x1f, 0x00		/* nopl (%rax) */
	.pushsection __alternatives, "a"
	.balign	4
	.long	771b - .
	.byte	0x0f, 0x01, \last_byte, 0
	.popsection
.endm
.macro CLAC
	SMAP_SITE 0xca
.endm
.macro STAC
	SMAP_SITE 0xcb
.endm

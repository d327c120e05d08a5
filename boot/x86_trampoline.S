/*
 * Where other CPUs start: from real mode to long mode, in a page below 1 MiB.
 *
 * x86_trampoline_prepare() copies what stands here to x86_trampoline_page; here it is never executed. A
 * start-up interrupt (SDM vol. 3, 9.4.3) with the page's number makes the CPU begin at the copy's first byte:
 *
 *     at entry   real mode, cs = page's address / 16, ip = 0, interrupts and caches off, all else as INIT left it
 *     ebx	  physical address of the copy, throughout
 *     at the end long mode at link addresses (secondary_switched), rsp, GS base, r12 and r13 loaded from the data slot
 *
 * The copy does not know where it lies, so every address in it is the offset in the copy (OFF) plus ebx; what
 * the CPU wants as a whole (two far pointers, the GDT's base) is completed first. While paging is off the
 * page can be written; later it is r-x.
 */
#include <asm/assembler.h>
#include <asm/msr.h>
#include <asm/segment.h>
#include <generated/asm-offsets.h>

#define OFF(sym)	(sym - x86_trampoline_start)
#define DATA(field)	(OFF(x86_trampoline_data) + field)
#define START32_CS	0x18			/* only here: 32-bit code, flat */

	.section .rodata, "a"
	.balign	16
	.globl	x86_trampoline_start, x86_trampoline_data, x86_trampoline_end
	.code16
x86_trampoline_start:
	cli
	cld
	movw	%cs, %ax
	movw	%ax, %ds			/* data at the offsets of the copy */
	movzwl	%ax, %ebx			/* what the segment is the 16th part of */
	shll	$4, %ebx
	leal	OFF(start_gdt)(%ebx), %eax	/* 32-bit addresses of what is in the copy */
	movl	%eax, OFF(start_gdt_base)
	leal	OFF(start_32)(%ebx), %eax
	movl	%eax, OFF(far_32)
	leal	OFF(start_64)(%ebx), %eax
	movl	%eax, OFF(far_64)
	lgdtl	OFF(start_gdt_pointer)		/* lgdt would take 24 bits of the base only */
	movl	$(X86_CR0_PE | X86_CR0_ET), %eax /* and caches on: CD and NW go (SDM vol. 3, 2.5) */
	movl	%eax, %cr0
	ljmpl	*OFF(far_32)

/* Protected mode without paging, as the CPU wants it for going on to long mode (SDM vol. 3, 10.8.5). */
	.code32
start_32:
	movl	$__KERNEL_DS, %eax		/* flat: from here on data is at OFF plus ebx */
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	DATA(SECONDARY_CR4)(%ebx), %eax	/* PAE at least */
	movl	%eax, %cr4
	movl	DATA(SECONDARY_CR3)(%ebx), %eax
	movl	%eax, %cr3
	movl	DATA(SECONDARY_EFER)(%ebx), %eax /* LME and NX at least */
	andl	$~EFER_LMA, %eax		/* the CPU's own to set, when PG comes on */
	xorl	%edx, %edx
	movl	$MSR_EFER, %ecx
	wrmsr
	movl	$(X86_CR0_PE | X86_CR0_MP | X86_CR0_ET | X86_CR0_NE | X86_CR0_WP | X86_CR0_PG), %eax
	movl	%eax, %cr0			/* paging by tables that have this page where it is */
	ljmp	*OFF(far_64)(%ebx)

/* Long mode, at the physical address still. Nothing is pushed before rsp is right; interrupts are off. */
	.code64
start_64:
	movq	DATA(SECONDARY_STACK)(%rbx), %rsp /* the high half of rbx: zero since 32-bit code wrote it */
	movq	DATA(SECONDARY_TASK)(%rbx), %r12
	movq	DATA(SECONDARY_PERCPU_OFFSET)(%rbx), %r13
	movl	%r13d, %eax			/* GS base: per-CPU variables */
	movq	%r13, %rdx
	shrq	$32, %rdx
	movl	$MSR_GS_BASE, %ecx
	wrmsr
	movq	$secondary_switched, %rax	/* absolute: relative would be from here, not from the copy */
	jmp	*%rax

/* Accessed bits are set, for the CPU cannot set them once the page is read-only. */
	.balign	8
start_gdt:
	.quad	0
	.quad	0x00af9b000000ffff		/* __KERNEL_CS: 64-bit code */
	.quad	0x00cf93000000ffff		/* __KERNEL_DS */
	.quad	0x00cf9b000000ffff		/* START32_CS */
start_gdt_end:
start_gdt_pointer:
	.short	start_gdt_end - start_gdt - 1
start_gdt_base:
	.long	0				/* filled in, like the next two addresses */
far_32:	.long	0
	.short	START32_CS
far_64:	.long	0
	.short	__KERNEL_CS

/* The data slot: a struct secondary_data (arch/x86_64/smp.h). */
	.balign	8
x86_trampoline_data:
	.skip	SECONDARY_DATA_SIZE
x86_trampoline_end:

/*
 * memcpy, memmove, memset, copy_page, clear_page. General registers only: the vector registers are user
 * mode's. DF is clear in the kernel (System V ABI, 3.2.1; entry.S sees to it), so string instructions go
 * up.
 *
 * From 32 bytes on REP MOVSQ and REP STOSQ do the work: microcode moves whole lines (SDM vol. 1, 7.3.9.3),
 * and an emulator counts one instruction for eight bytes where a loop of moves has two and more. What does
 * not fill eight bytes is done by a move that overlaps what is done already. Shorter blocks are two halves
 * that overlap: all of it is loaded before the first store, so source and destination may lie over each
 * other in any way.
 */
#include <asm/assembler.h>
#include <asm/page.h>

	.text
/*
 * void *memcpy(void *dst, const void *src, size_t n); also memmove for dst below src, where going up is right.
 *     rax dst, the result    rdi dst    rsi src    rdx n    rcx, r8-r10 data
 */
FUNC memcpy
	mov	%rdi, %rax
	/* Entry for memmove: rdi, rsi, rdx as in C, rax = dst. */
.Lforward:
	cmp	$32, %rdx
	jae	.Lforward_big
	/* 0 to 31 bytes, for memmove as well: loads first, so any overlap is right. edx has all of n. */
.Lsmall:
	cmp	$8, %edx
	jb	2f
	cmp	$16, %edx
	jae	1f
	mov	(%rsi), %rcx			/* 8 to 15 */
	mov	-8(%rsi, %rdx), %r8		/* the last eight, which overlap the first for n < 16 */
	mov	%rcx, (%rdi)
	mov	%r8, -8(%rdi, %rdx)
	ret
1:	mov	(%rsi), %rcx			/* 16 to 31 */
	mov	8(%rsi), %r8			/* the first sixteen, */
	mov	-16(%rsi, %rdx), %r9		/* and the last sixteen */
	mov	-8(%rsi, %rdx), %r10
	mov	%rcx, (%rdi)
	mov	%r8, 8(%rdi)
	mov	%r9, -16(%rdi, %rdx)
	mov	%r10, -8(%rdi, %rdx)
	ret
2:	cmp	$4, %edx
	jb	3f
	mov	(%rsi), %ecx			/* 4 to 7 */
	mov	-4(%rsi, %rdx), %r8d		/* the last four */
	mov	%ecx, (%rdi)
	mov	%r8d, -4(%rdi, %rdx)
	ret
3:	test	%edx, %edx
	jz	4f				/* 0: not even the first byte may be read */
	movzbl	(%rsi), %ecx			/* 1 to 3: first, last, and the one at n / 2 */
	movzbl	-1(%rsi, %rdx), %r8d
	mov	%rdx, %r9			/* n / 2 is 0, 1, 1: a byte that is one of the two, or between */
	shr	%r9d
	movzbl	(%rsi, %r9), %r10d
	mov	%cl, (%rdi)
	mov	%r10b, (%rdi, %r9)
	mov	%r8b, -1(%rdi, %rdx)
4:	ret

	/* 32 bytes and more: eights, then the last eight once more, which completes what does not fill eight. */
.Lforward_big:
	mov	-8(%rsi, %rdx), %r8		/* before a store can reach it */
	lea	-8(%rdi, %rdx), %r9		/* where the last eight go; rdi will have moved */
	mov	%rdx, %rcx
	shr	$3, %rcx			/* eights */
	rep movsq
	mov	%r8, (%r9)			/* over what REP MOVSQ has stored, with the same bytes */
	ret
FUNC_END memcpy

/*
 * void *memmove(void *dst, const void *src, size_t n): from the end when dst lies within [src, src + n).
 *     rax dst, the result    rdi dst    rsi src    rdx bytes left    rcx, r8 data    r9, r10 the first sixteen bytes
 */
FUNC memmove
	mov	%rdi, %rax
	cmp	$32, %rdx
	jb	.Lsmall				/* few enough to be loaded before anything is stored */
	mov	%rdi, %rcx
	sub	%rsi, %rcx			/* how far dst is above src */
	cmp	%rdx, %rcx			/* unsigned: dst below src is a huge number */
	jae	.Lforward_big			/* going up is right */
	mov	(%rsi), %r9			/* the first 16 bytes go last, and may overlap what is done */
	mov	8(%rsi), %r10
	/*
	 * 16 bytes a round, down to where at most 16 are left. String instructions that go down are slow on
	 * hardware.
	 */
1:	mov	-8(%rsi, %rdx), %rcx
	mov	-16(%rsi, %rdx), %r8
	mov	%rcx, -8(%rdi, %rdx)
	mov	%r8, -16(%rdi, %rdx)
	sub	$16, %rdx
	cmp	$16, %rdx
	ja	1b				/* more than 16: another round */
	mov	%r9, (%rdi)			/* 0 to 16 bytes are left at the start: these cover them */
	mov	%r10, 8(%rdi)
	ret
FUNC_END memmove

/*
 * void *memset(void *dst, int c, size_t n)
 *     r8 dst, the result    rax the byte in all eight places    rdi dst    rdx n
 */
FUNC memset
	mov	%rdi, %r8
	movzbl	%sil, %eax			/* C passes an int, and only its low byte counts */
	movabs	$0x0101010101010101, %rcx
	imul	%rcx, %rax			/* the byte times 0x01...01: in all eight places */
	cmp	$32, %rdx
	jb	1f
	mov	%rax, -8(%rdi, %rdx)		/* the last eight, which the eights below may not reach */
	mov	%rdx, %rcx
	shr	$3, %rcx			/* eights */
	rep stosq
	mov	%r8, %rax
	ret
1:	cmp	$8, %edx
	jb	3f
	cmp	$16, %edx
	jb	2f
	mov	%rax, 8(%rdi)			/* 16 to 31 */
	mov	%rax, -16(%rdi, %rdx)
2:	mov	%rax, (%rdi)
	mov	%rax, -8(%rdi, %rdx)
	mov	%r8, %rax
	ret
3:	cmp	$4, %edx
	jb	4f
	mov	%eax, (%rdi)			/* 4 to 7: both ends, which overlap */
	mov	%eax, -4(%rdi, %rdx)
	mov	%r8, %rax
	ret
4:	test	%edx, %edx
	jz	5f
	mov	%al, (%rdi)			/* 1 to 3 */
	mov	%al, -1(%rdi, %rdx)
	shr	%edx				/* n / 2: as in memcpy */
	mov	%al, (%rdi, %rdx)
5:	mov	%r8, %rax
	ret
FUNC_END memset

/*
 * void clear_page(void *page): rdi moves to its end. The count is known and large, which string instructions do best;
 * the page is aligned, so nothing is left over. (A slash begins a comment for the assembler of x86_64-elf.)
 */
FUNC clear_page
	xor	%eax, %eax
	mov	$(PAGE_SIZE >> 3), %ecx
	rep stosq
	ret
FUNC_END clear_page

/* void copy_page(void *to, const void *from): rdi and rsi move to their ends. The pages do not overlap. */
FUNC copy_page
	mov	$(PAGE_SIZE >> 3), %ecx
	rep movsq
	ret
FUNC_END copy_page

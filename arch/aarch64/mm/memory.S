/*
 * memcpy, memmove, memset, copy_page, clear_page. General registers only: the FP registers are user mode's.
 * Unaligned accesses are fine on normal memory; none of these is for device memory.
 */
#include <asm/assembler.h>
#include <asm/page.h>

/*
 * How the copies are shaped: a loop moves 64 bytes a round, and what is left is moved by at most one step of each
 * smaller size. The loop counts down past zero: n - 64, n - 128, ... until it borrows. Then x2 is what is left minus
 * 64, and since 64 is a power of two its low six bits are exactly those of what is left. So each step of the tail tests
 * one bit and needs no arithmetic.
 */
	.text
/*
 * void *memcpy(void *dst, const void *src, size_t n); also memmove's forward half.
 *     x0 dst, kept for the result    x3 dst, moves on    x1 src, moves on    x2 bytes left
 * Every step loads all before it stores, so it is also right for overlap with dst below src.
 */
FUNC memcpy
	mov	x3, x0				/* the result must survive, so another register moves */
.Lforward:
	/* Entry for memmove: x0, x1, x2 as in C, x3 = dst. */
	subs	x2, x2, #64
	b.lo	2f				/* fewer than 64: the tail alone */
	/* Eight registers are filled before the first of them is stored: see above, overlap. */
1:	ldp	x4, x5, [x1]
	ldp	x6, x7, [x1, #16]
	ldp	x8, x9, [x1, #32]
	ldp	x10, x11, [x1, #48]
	add	x1, x1, #64
	stp	x4, x5, [x3]
	stp	x6, x7, [x3, #16]
	stp	x8, x9, [x3, #32]
	stp	x10, x11, [x3, #48]
	add	x3, x3, #64
	subs	x2, x2, #64
	b.hs	1b				/* another whole round fits */
2:	tbz	x2, #5, 3f			/* tail: 32 */
	ldp	x4, x5, [x1]
	ldp	x6, x7, [x1, #16]
	add	x1, x1, #32
	stp	x4, x5, [x3]
	stp	x6, x7, [x3, #16]
	add	x3, x3, #32
3:	tbz	x2, #4, 4f			/* 16 */
	ldp	x4, x5, [x1], #16
	stp	x4, x5, [x3], #16
4:	tbz	x2, #3, 5f			/* 8 */
	ldr	x4, [x1], #8
	str	x4, [x3], #8
5:	tbz	x2, #2, 6f			/* 4 */
	ldr	w4, [x1], #4
	str	w4, [x3], #4
6:	tbz	x2, #1, 7f			/* 2 */
	ldrh	w4, [x1], #2
	strh	w4, [x3], #2
7:	tbz	x2, #0, 8f			/* the last byte */
	ldrb	w4, [x1]
	strb	w4, [x3]
8:	ret
FUNC_END memcpy

/*
 * void *memmove(void *dst, const void *src, size_t n): from the end when dst lies within [src, src + n).
 *     x0 dst, the result    x1, x3 ends of what is left of src and dst, move down    x2 bytes left, less 32 in the loop
 * A round loads 32 bytes before it stores any, so a store can only reach bytes of src that have been read: they lie
 * above the round's own. The tail has the shape of memcpy's, downwards.
 */
FUNC memmove
	mov	x3, x0
	sub	x4, x0, x1			/* how far dst is above src */
	cmp	x4, x2				/* unsigned: dst below src is a huge number */
	b.hs	.Lforward			/* they do not overlap so that going up would hurt */
	add	x1, x1, x2			/* from here on both point behind the last byte */
	add	x3, x3, x2
	subs	x2, x2, #32
	b.lo	2f				/* fewer than 32: the tail alone */
1:	ldp	x4, x5, [x1, #-16]
	ldp	x6, x7, [x1, #-32]!		/* pre-indexed: x1 comes to the start of this round */
	stp	x4, x5, [x3, #-16]
	stp	x6, x7, [x3, #-32]!
	subs	x2, x2, #32
	b.hs	1b				/* another whole round fits */
2:	tbz	x2, #4, 3f			/* tail: 16 */
	ldp	x4, x5, [x1, #-16]!
	stp	x4, x5, [x3, #-16]!
3:	tbz	x2, #3, 4f			/* 8 */
	ldr	x4, [x1, #-8]!
	str	x4, [x3, #-8]!
4:	tbz	x2, #2, 5f			/* 4 */
	ldr	w4, [x1, #-4]!
	str	w4, [x3, #-4]!
5:	tbz	x2, #1, 6f			/* 2 */
	ldrh	w4, [x1, #-2]!
	strh	w4, [x3, #-2]!
6:	tbz	x2, #0, 7f			/* the first byte, which needs no step */
	ldrb	w4, [x1, #-1]
	strb	w4, [x3, #-1]
7:	ret
FUNC_END memmove

/*
 * void *memset(void *dst, int c, size_t n)
 *     x3 dst, moves on    x1 the byte in all eight places    x2 bytes left
 */
FUNC memset
	mov	x3, x0
	and	x1, x1, #0xff			/* C passes an int, and only its low byte counts */
	orr	x1, x1, x1, lsl #8		/* two bytes alike, */
	orr	x1, x1, x1, lsl #16		/* four, */
	orr	x1, x1, x1, lsl #32		/* eight: every store below takes as many as it needs */
	subs	x2, x2, #64
	b.lo	2f				/* fewer than 64: the tail alone */
1:	stp	x1, x1, [x3]
	stp	x1, x1, [x3, #16]
	stp	x1, x1, [x3, #32]
	stp	x1, x1, [x3, #48]
	add	x3, x3, #64
	subs	x2, x2, #64
	b.hs	1b				/* another whole round fits */
2:	tbz	x2, #5, 3f			/* tail, as in memcpy: 32 */
	stp	x1, x1, [x3]
	stp	x1, x1, [x3, #16]
	add	x3, x3, #32
3:	tbz	x2, #4, 4f			/* 16 */
	stp	x1, x1, [x3], #16
4:	tbz	x2, #3, 5f			/* 8 */
	str	x1, [x3], #8
5:	tbz	x2, #2, 6f			/* 4 */
	str	w1, [x3], #4
6:	tbz	x2, #1, 7f			/* 2 */
	strh	w1, [x3], #2
7:	tbz	x2, #0, 8f			/* the last byte */
	strb	w1, [x3]
8:	ret
FUNC_END memset

/*
 * void clear_page(void *page): DC ZVA zeroes a naturally aligned block of 4 << DCZID_EL0.BS bytes (Arm ARM D19.2.33),
 * at most 2 KiB; where DZP forbids it, by pairs. It writes whole blocks without reading them first.
 *     x0 where to clear next    x2 bytes in a block    x3 end of the page
 */
FUNC clear_page
	mrs	x1, dczid_el0
	add	x3, x0, #PAGE_SIZE
	tbnz	x1, #4, 2f			/* DZP: the instruction is not permitted here */
	mov	x2, #4
	and	x1, x1, #0xf
	lsl	x2, x2, x1			/* BS counts words of four bytes, as a power of two */
	cmp	x2, #PAGE_SIZE / 8
	b.hi	3f				/* eight such blocks are more than a page */
1:
	.rept	8				/* eight blocks a round: they divide a page */
	dc	zva, x0
	add	x0, x0, x2
	.endr
	cmp	x0, x3
	b.lo	1b
	ret
3:	dc	zva, x0				/* blocks of 1 or 2 KiB */
	add	x0, x0, x2
	cmp	x0, x3
	b.lo	3b
	ret
	/* Without DC ZVA: 64 bytes a round. */
2:	stp	xzr, xzr, [x0]
	stp	xzr, xzr, [x0, #16]
	stp	xzr, xzr, [x0, #32]
	stp	xzr, xzr, [x0, #48]
	add	x0, x0, #64
	cmp	x0, x3
	b.lo	2b
	ret
FUNC_END clear_page

/*
 * void copy_page(void *to, const void *from): 128 bytes a round, which divides a page. x2 = end of `from`. x18 is an
 * ordinary register here: the kernel is built without a shadow call stack, and AAPCS64 (6.1.1) leaves it to us. The
 * pages do not overlap, so the order of loads and stores is free: all loads first gives the memory system the most to
 * do at once.
 */
FUNC copy_page
	add	x2, x1, #PAGE_SIZE
1:	ldp	x3, x4, [x1], #128		/* x1 moves on, so the rest lies below it */
	ldp	x5, x6, [x1, #-112]
	ldp	x7, x8, [x1, #-96]
	ldp	x9, x10, [x1, #-80]
	ldp	x11, x12, [x1, #-64]
	ldp	x13, x14, [x1, #-48]
	ldp	x15, x16, [x1, #-32]
	ldp	x17, x18, [x1, #-16]
	/* The loads above are still on their way when the first store is issued. */
	stp	x3, x4, [x0], #128
	stp	x5, x6, [x0, #-112]
	stp	x7, x8, [x0, #-96]
	stp	x9, x10, [x0, #-80]
	stp	x11, x12, [x0, #-64]
	stp	x13, x14, [x0, #-48]
	stp	x15, x16, [x0, #-32]
	stp	x17, x18, [x0, #-16]
	cmp	x1, x2
	b.lo	1b
	ret
FUNC_END copy_page

/*
 * Loads and stores that may fault. Each has an entry in __ex_table right where it stands, so the table is
 * ascending.
 *
 * User pages are reached with ordinary loads and stores, between STAC and CLAC where the CPU has SMAP (else
 * these are nops); CR0.WP makes a page that user mode may not write read-only here too. The string
 * instructions: see memory.S.
 */
#include <asm/assembler.h>
#include <asm/page.h>
#include <generated/asm-offsets.h>

/*
 * \insn may fault; then go on at \to. What the fix-up finds: registers as they were before \insn, except that a string
 * instruction stops between two elements, with rdi, rsi and rcx at the one that faulted.
 */
.macro try to, insn:vararg
9999:	\insn
	EX_TABLE 9999b, \to
.endm

	.text
/*
 * unsigned long __copy_user(void *to, const void *from, unsigned long n): returns the bytes not copied.
 *
 *     rdi to, moves on     rdx n, then the bytes left behind the eights
 *     rsi from, moves on   rcx eights left
 *
 * A faulting string instruction leaves rdi, rsi and rcx at the element that it could not do; the byte loop
 * at the end then finds the exact place.
 */
FUNC __copy_user
	STAC
	cmp	$8, %rdx
	jb	1f				/* rdx = n, less than eight: the steps below do it all */
	mov	%rdx, %rcx
	shr	$3, %rcx			/* eights */
	try 5f, rep movsq
	and	$7, %edx			/* what the eights leave over */
	jz	4f				/* a multiple of eight: rdx is 0 and all is copied */
1:	/* Up to seven bytes: a step of each size that has its bit set in n. */
	test	$4, %dl
	jz	2f
	/* A fault here goes to 6 with rdx = what is left: this step is the first of them. */
	try 6f, mov	(%rsi), %ecx
	try 6f, mov	%ecx, (%rdi)
	add	$4, %rsi
	add	$4, %rdi
2:	test	$2, %dl
	jz	3f
	try 7f, movzwl	(%rsi), %ecx		/* a fault here: at most three bytes are left, */
	try 7f, mov	%cx, (%rdi)
	add	$2, %rsi
	add	$2, %rdi
3:	test	$1, %dl
	jz	4f
	try 8f, movzbl	(%rsi), %ecx		/* and here one */
	try 8f, mov	%cl, (%rdi)
4:	CLAC					/* all copied; RET must not leave user memory open */
	xor	%eax, %eax
	ret
	/* Something faulted. rdx = bytes left; then byte by byte up to the place. */
5:	and	$7, %edx
	lea	(%rdx, %rcx, 8), %rdx		/* eights not done, and what is behind them */
	jmp	6f
7:	and	$3, %edx
6:	try 9f, movzbl	(%rsi), %ecx
	try 9f, mov	%cl, (%rdi)
	inc	%rsi
	inc	%rdi				/* rsi and rdi are at the byte that rdx counts down from */
	dec	%rdx
	jnz	6b				/* zero: the page has come meanwhile, and all is copied */
	jmp	9f
8:	mov	$1, %edx
9:	CLAC
	mov	%rdx, %rax			/* bytes not copied */
	ret
FUNC_END __copy_user

/*
 * unsigned long __clear_user(void *to, unsigned long n): returns the bytes not cleared. rcx as above, rsi = n, rax the
 * zeroes that are stored. A fault among the eights goes on byte by byte, to the exact place.
 */
FUNC __clear_user
	STAC
	xor	%eax, %eax
	mov	%rsi, %rcx
	shr	$3, %rcx			/* eights */
	try 1f, rep stosq
	mov	%esi, %ecx
	and	$7, %ecx			/* rdi has come to the last up to seven bytes */
	try 2f, rep stosb
	CLAC
	ret					/* rax is 0 */
1:	and	$7, %esi
	lea	(%rsi, %rcx, 8), %rcx		/* eights not done, and what is behind them */
	try 2f, rep stosb
2:	CLAC
	mov	%rcx, %rax			/* 0 when the repetition came to the end */
	ret
FUNC_END __clear_user

/*
 * long __strncpy_from_user(char *dst, const char *src, long n): length without the zero, n when there was
 * none, or -EFAULT. What lies behind the zero in the same eight bytes is copied along: dst has room for n.
 *
 *     rax bytes done    rdx n, in the loop of eights n - 8    r8, r9 a one, an eighty in each byte
 *
 * A byte is zero where (v - 0x01...01) & ~v has bit 7 set and no lower byte is zero: a borrow comes from a
 * zero byte only.
 */
FUNC __strncpy_from_user
	STAC
	xor	%eax, %eax
	movabs	$0x0101010101010101, %r8
	movabs	$0x8080808080808080, %r9
	sub	$8, %rdx			/* rax may go up to n - 8 while eights are read */
	jb	3f				/* n < 8: rdx is negative, and 3 makes it n again */
1:	try 3f, mov	(%rsi, %rax), %rcx	/* may touch the page behind the string: then byte by byte */
	mov	%rcx, (%rdi, %rax)		/* dst is the kernel's: it cannot fault */
	mov	%rcx, %r10
	sub	%r8, %r10
	not	%rcx
	and	%rcx, %r10
	and	%r9, %r10
	jnz	2f				/* a zero byte among the eight */
	add	$8, %rax
	cmp	%rdx, %rax
	jbe	1b				/* another eight fit */
	jmp	3f
2:	bsf	%r10, %r10			/* number of its lowest set bit, 8 k + 7 */
	shr	$3, %r10			/* k: the bytes before the zero */
	add	%r10, %rax
	CLAC
	ret
3:	add	$8, %rdx
	cmp	%rdx, %rax
	jae	5f				/* n bytes and no zero: rax is n */
4:	try 6f, movzbl	(%rsi, %rax), %ecx
	mov	%cl, (%rdi, %rax)
	test	%ecx, %ecx			/* the zero is copied, and not counted */
	jz	5f
	inc	%rax
	cmp	%rdx, %rax
	jb	4b
5:	CLAC
	ret
6:	CLAC
	mov	$-EFAULT_ASM, %rax
	ret
FUNC_END __strncpy_from_user

/*
 * struct user_value __get_user_N(const void *p): rax = value, rdx = 0 or -EFAULT. Addresses beyond user
 * space: EFAULT, by a comparison with the exact end, since an access across the end of the lower half would
 * be #GP and not a page fault.
 */
.macro get_user_func size, insn:vararg
FUNC __get_user_\size
	movabs	$(TASK_SIZE - \size), %rdx
	cmp	%rdx, %rdi			/* unsigned: an address of the kernel's half is above, too */
	ja	.Lget_user_far
	STAC
	try .Lget_user_bad, \insn
	CLAC
	xor	%edx, %edx
	ret
FUNC_END __get_user_\size
.endm
	get_user_func 1, movzbl (%rdi), %eax
	get_user_func 2, movzwl (%rdi), %eax
	get_user_func 4, mov (%rdi), %eax
	get_user_func 8, mov (%rdi), %rax
	/* The store or load faulted: user memory is open. The other way in has not opened it. */
.Lget_user_bad:
	CLAC
.Lget_user_far:
	xor	%eax, %eax			/* a value that came from nowhere is not to leak */
	mov	$-EFAULT_ASM, %rdx
	ret

/*
 * long __put_user_N(u64 v, void *p): 0 or -EFAULT. The test is that of __get_user_N, and guards more here: a store into
 * the kernel's half would succeed.
 */
.macro put_user_func size, insn:vararg
FUNC __put_user_\size
	movabs	$(TASK_SIZE - \size), %rdx
	cmp	%rdx, %rsi
	ja	.Lput_user_far
	STAC
	try .Lput_user_bad, \insn
	CLAC
	xor	%eax, %eax
	ret
FUNC_END __put_user_\size
.endm
	put_user_func 1, mov %dil, (%rsi)
	put_user_func 2, mov %di, (%rsi)
	put_user_func 4, mov %edi, (%rsi)
	put_user_func 8, mov %rdi, (%rsi)
.Lput_user_bad:
	CLAC
.Lput_user_far:
	mov	$-EFAULT_ASM, %rax
	ret

/*
 * struct user_value __cmpxchg_user_4(u32 from, u32 to, u32 *p): *p becomes `to` if it is `from`; what it was, and 0 or
 * -EFAULT. The instruction takes `from` from eax and leaves there what it has found.
 */
FUNC __cmpxchg_user_4
	movabs	$(TASK_SIZE - 4), %rcx
	cmp	%rcx, %rdx
	ja	2f				/* not in user space, as in __put_user_N */
	mov	%edi, %eax
	STAC
	try 1f, lock cmpxchg %esi, (%rdx)
	CLAC
	xor	%edx, %edx
	ret
1:	CLAC
2:	xor	%eax, %eax
	mov	$-EFAULT_ASM, %rdx
	ret
FUNC_END __cmpxchg_user_4

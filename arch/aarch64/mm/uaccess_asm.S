/*
 * Loads and stores that may fault. Each has an entry in __ex_table right where it stands, so the table is ascending.
 *
 * User pages are reached with ordinary loads and stores, with PSTATE.PAN clear where the CPU has it (pan.c): a page
 * that user mode may not write is read-only here too, and one that it may not read is invalid. An exception on the way
 * sets PAN, and the return from it brings back what it was: so the code behind a fix-up begins with PAN clear.
 */
#include <asm/assembler.h>
#include <asm/sysreg.h>
#include <generated/asm-offsets.h>

/*
 * \insn may fault; then go on at \to. What the fix-up finds: all registers as they were before \insn, since an
 * instruction that faults has no effect; a pair may have been stored in part, which a repetition cures.
 */
.macro try to, insn:vararg
9999:	\insn
	EX_TABLE 9999b, \to
.endm

	.text
/*
 * unsigned long __copy_user(void *to, const void *from, unsigned long n): returns the bytes not copied.
 *
 *     x0 to, moves on     x2 bytes left, less what the loop's test has taken
 *     x1 from, moves on   x3 end of `to`
 *
 * A step moves the pointers only when all of it is done, so a fault finds them at the first byte not surely copied; the
 * byte loop at the end then finds the exact place.
 */
FUNC __copy_user
	USER_ACCESS_ON
	add	x3, x0, x2			/* it does not move: a fault subtracts from it what was reached */
	subs	x2, x2, #64
	b.lo	2f				/* fewer than 64: the tail alone */
	/* Either side may be the user's (copy_from_user, copy_to_user), so every instruction may fault. */
1:	try 8f, ldp	x4, x5, [x1]
	try 8f, ldp	x6, x7, [x1, #16]
	try 8f, ldp	x8, x9, [x1, #32]
	try 8f, ldp	x10, x11, [x1, #48]
	try 8f, stp	x4, x5, [x0]
	try 8f, stp	x6, x7, [x0, #16]
	try 8f, stp	x8, x9, [x0, #32]
	try 8f, stp	x10, x11, [x0, #48]
	add	x1, x1, #64			/* only now: see above */
	add	x0, x0, #64
	subs	x2, x2, #64
	b.hs	1b				/* another whole round fits */
2:	/* The low six bits of x2 are those of what is left: a step of each size that has its bit set. */
	tbz	x2, #5, 3f
	try 8f, ldp	x4, x5, [x1]
	try 8f, ldp	x6, x7, [x1, #16]
	try 8f, stp	x4, x5, [x0]
	try 8f, stp	x6, x7, [x0, #16]
	add	x1, x1, #32
	add	x0, x0, #32
3:	tbz	x2, #4, 4f			/* 16 */
	try 8f, ldp	x4, x5, [x1]
	try 8f, stp	x4, x5, [x0]
	add	x1, x1, #16
	add	x0, x0, #16
4:	tbz	x2, #3, 5f			/* 8 */
	try 8f, ldr	x4, [x1]
	try 8f, str	x4, [x0]
	add	x1, x1, #8
	add	x0, x0, #8
5:	tbz	x2, #2, 6f			/* 4 */
	try 8f, ldr	w4, [x1]
	try 8f, str	w4, [x0]
	add	x1, x1, #4
	add	x0, x0, #4
6:	tbz	x2, #1, 7f			/* 2 */
	try 8f, ldrh	w4, [x1]
	try 8f, strh	w4, [x0]
	add	x1, x1, #2
	add	x0, x0, #2
7:	tbz	x2, #0, 10f			/* 1; the pointers need not follow, nobody looks at them */
	try 8f, ldrb	w4, [x1]
	try 8f, strb	w4, [x0]
10:	USER_ACCESS_OFF
	mov	x0, #0				/* all copied */
	ret
8:	/* Something faulted: byte by byte up to the place. */
	cmp	x0, x3
	b.hs	9f				/* at the end after all: the page has come meanwhile */
	try 9f, ldrb	w4, [x1]
	try 9f, strb	w4, [x0]
	add	x1, x1, #1
	add	x0, x0, #1
	b	8b
9:	USER_ACCESS_OFF
	sub	x0, x3, x0			/* bytes between the place and the end */
	ret
FUNC_END __copy_user

/*
 * unsigned long __clear_user(void *to, unsigned long n): returns the bytes not cleared.
 *     x0 to, moves on    x1 bytes left, less 16 in the loop    x2 end of `to`
 * Pairs first. The byte loop does what is left of n, and it is also where a fault of a pair goes: it comes to the exact
 * place and faults there again.
 */
FUNC __clear_user
	USER_ACCESS_ON
	add	x2, x0, x1
	subs	x1, x1, #16
	b.lo	2f				/* fewer than 16 */
1:	try 3f, stp	xzr, xzr, [x0]
	add	x0, x0, #16
	subs	x1, x1, #16
	b.hs	1b				/* another pair fits */
2:	cmp	x0, x2
	b.hs	4f				/* done: nothing left is also a result */
3:	try 4f, strb	wzr, [x0]
	add	x0, x0, #1
	b	2b
4:	USER_ACCESS_OFF
	sub	x0, x2, x0			/* 0 when the loop came to the end */
	ret
FUNC_END __clear_user

/*
 * long __strncpy_from_user(char *dst, const char *src, long n): length without the zero, n when there was none, or
 * -EFAULT.
 *     x0 dst    x1 src    x2 n, at least 1    x3 bytes done    w4 the byte
 * Byte by byte, so that nothing behind the zero is touched: the next page may not be there.
 */
FUNC __strncpy_from_user
	USER_ACCESS_ON
	mov	x3, #0
1:	try 3f, ldrb	w4, [x1, x3]
	strb	w4, [x0, x3]			/* dst is the kernel's: it cannot fault */
	cbz	w4, 2f				/* the zero is copied, and not counted */
	add	x3, x3, #1
	cmp	x3, x2
	b.lo	1b				/* n bytes and no zero: x3 is n now */
2:	USER_ACCESS_OFF
	mov	x0, x3
	ret
3:	USER_ACCESS_OFF
	mov	x0, #-EFAULT_ASM
	ret
FUNC_END __strncpy_from_user

/*
 * struct user_value __get_user_N(const void *p): x0 = value, x1 = 0 or -EFAULT. Addresses beyond user space: EFAULT. An
 * address in the kernel's half would be loaded without any fault, so the test must come first. A program's address with
 * a tag in its top byte is beyond user space, too.
 */
.macro get_user_func size, insn:vararg
FUNC __get_user_\size
	lsr	x1, x0, #VA_BITS		/* what is left of an address of the lower half is 0 */
	cbnz	x1, .Lget_user_bad
	USER_ACCESS_ON
	try .Lget_user_bad, \insn
	USER_ACCESS_OFF
	ret					/* x1 is 0 */
FUNC_END __get_user_\size
.endm
	get_user_func 1, ldrb	w0, [x0]
	get_user_func 2, ldrh	w0, [x0]
	get_user_func 4, ldr	w0, [x0]
	get_user_func 8, ldr	x0, [x0]
.Lget_user_bad:					/* PAN is set already when it was the address */
	USER_ACCESS_OFF
	mov	x0, #0				/* a value that came from nowhere is not to leak */
	mov	x1, #-EFAULT_ASM
	ret

/*
 * long __put_user_N(u64 v, void *p): 0 or -EFAULT. The test is that of __get_user_N, and guards more here: a store into
 * the kernel's half would succeed.
 */
.macro put_user_func size, insn:vararg
FUNC __put_user_\size
	lsr	x2, x1, #VA_BITS
	cbnz	x2, .Lput_user_bad
	USER_ACCESS_ON
	try .Lput_user_bad, \insn
	USER_ACCESS_OFF
	mov	x0, #0
	ret
FUNC_END __put_user_\size
.endm
	put_user_func 1, strb	w0, [x1]
	put_user_func 2, strh	w0, [x1]
	put_user_func 4, str	w0, [x1]
	put_user_func 8, str	x0, [x1]
	/*
	 * Reached from the test, where PAN is set already, and from the store, where it is not. Setting it twice is
	 * right.
	 */
.Lput_user_bad:
	USER_ACCESS_OFF
	mov	x0, #-EFAULT_ASM
	ret

/*
 * struct user_value __cmpxchg_user_4(u32 from, u32 to, u32 *p): *p becomes `to` if it is `from`; what it was, and 0 or
 * -EFAULT. The store fails when another CPU has written there since the load, or when it has faulted on the way: again.
 */
FUNC __cmpxchg_user_4
	lsr	x3, x2, #VA_BITS
	cbnz	x3, 3f				/* not in user space, as in __put_user_N */
	USER_ACCESS_ON
1:	try 3f, ldaxr	w3, [x2]
	cmp	w3, w0
	b.ne	2f
	try 3f, stlxr	w4, w1, [x2]
	cbnz	w4, 1b
2:	USER_ACCESS_OFF
	mov	w0, w3
	mov	x1, #0
	ret
3:	USER_ACCESS_OFF
	mov	x0, #0
	mov	x1, #-EFAULT_ASM
	ret
FUNC_END __cmpxchg_user_4

/*
 * long semihosting_call(long op, const void *arg): HLT 0xf000 asks the debugger or emulator (Arm semihosting,
 * A64). Where nobody listens it is an undefined instruction, which has a fix-up like a faulting load: -1.
 */
FUNC semihosting_call
	try 1f, hlt	#0xf000			/* op, arg and the result are where C has them */
	ret
1:	mov	x0, #-1
	ret
FUNC_END semihosting_call

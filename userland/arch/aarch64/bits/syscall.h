/* How aarch64 enters the kernel. */
#ifndef VT_BITS_SYSCALL_H
#define VT_BITS_SYSCALL_H

/*
 * Make system call nr. Arguments beyond those the call takes may be anything. The kernel keeps every register
 * but x0. Returns what the kernel returned: a value, or -errno in -4095..-1.
 */
static inline long vt_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
	return x0;
}

/* A kernel result as C callers expect it: -1 with errno for -4095..-1, else the value (syscalls.c). */
long vt_result(long result);

#endif

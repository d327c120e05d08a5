/* How x86_64 enters the kernel. */
#ifndef VT_BITS_SYSCALL_H
#define VT_BITS_SYSCALL_H

/*
 * Make system call nr. Arguments beyond those the call takes may be anything. The instruction itself spoils
 * rcx and r11. Returns what the kernel returned: a value, or -errno in -4095..-1.
 */
static inline long vt_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "+a"(nr)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory", "cc");
	return nr;
}

/* A kernel result as C callers expect it: -1 with errno for -4095..-1, else the value (syscalls.c). */
long vt_result(long result);

#endif

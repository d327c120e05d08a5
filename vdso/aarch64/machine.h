/* The vDSO's part of aarch64: names, the counter, system calls (vdso(7), syscall(2)). */
#pragma once

#define VDSO(name)	 __kernel_##name
#define NR_clock_gettime 113
#define NR_clock_getres	 114
#define NR_gettimeofday	 169

/* The virtual counter, in its place: the ISB keeps it from being read early (Arm ARM D12.2.1). */
static __always_inline u64 vdso_counter(void)
{
	u64 cycles;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(cycles) : : "memory");
	return cycles;
}

static __always_inline long vdso_syscall(long number, long first, long second)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = first;
	register long x1 __asm__("x1") = second;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
	return x0;
}

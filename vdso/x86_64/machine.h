/* The vDSO's part of x86_64: names, the counter, system calls (vdso(7), syscall(2)). */
#pragma once

#define VDSO(name)	 __vdso_##name
#define NR_gettimeofday	 96
#define NR_clock_gettime 228
#define NR_clock_getres	 229

/* The time stamp counter, in its place: RDTSC may be taken before earlier loads are done (SDM vol. 2, RDTSC). */
static __always_inline u64 vdso_counter(void)
{
	u64 low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return high << 32 | low;
}

static __always_inline long vdso_syscall(long number, long first, long second)
{
	__asm__ volatile("syscall" : "+a"(number) : "D"(first), "S"(second) : "rcx", "r11", "memory");
	return number;
}

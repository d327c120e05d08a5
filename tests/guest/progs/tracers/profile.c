/*
 * profile N: N rounds of 70, 20 and 10 percent of the instructions in seventy(), twenty() and ten(). What is outside of
 * them is less than one instruction in a thousand.
 */
#include <stdio.h>
#include <stdlib.h>

/* Two instructions, n times. */
#if defined(__aarch64__)
#define TURN_ROUND(n) __asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(n) : : "cc")
#else
#define TURN_ROUND(n) __asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc")
#endif

static __attribute__((noinline)) void seventy(void)
{
	unsigned long n = 7000;

	TURN_ROUND(n);
}

static __attribute__((noinline)) void twenty(void)
{
	unsigned long n = 2000;

	TURN_ROUND(n);
}

static __attribute__((noinline)) void ten(void)
{
	unsigned long n = 1000;

	TURN_ROUND(n);
}

int main(int argc, char **argv)
{
	for (long n = argc > 1 ? atol(argv[1]) : 1; n > 0; n--) {
		seventy();
		twenty();
		ten();
	}
	return 0;
}

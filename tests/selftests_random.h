/*
 * Random bytes for Linux's tests (tests/guest/debian/test_selftests.py). A test that fills 40 MB byte by byte spends
 * nearly all of its time in the rand() of the C library. Here it is Knuth's linear congruential generator (MMIX),
 * inline. What a test does with the bytes stays its own.
 */
#include <stdlib.h>

static unsigned long long random_state;

static inline int quick_rand(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 33;
}

#define rand()	    quick_rand()
#define srand(seed) (random_state = (seed))

/*
 * Decimal digits, two at a time: lines of traces consist of numbers, and this is their hot path. A table of the hundred
 * pairs halves the number of divisions by a constant, which the compiler turns into multiplications. dec_width()
 * computes the length first, so the digits are stored at their final place from right to left and need no reversal.
 */
#include <lib/printf.h>

static const char digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
				     "25262728293031323334353637383940414243444546474849"
				     "50515253545556575859606162636465666768697071727374"
				     "75767778798081828384858687888990919293949596979899";

/*
 * How many digits v has. Steps of four digits keep the loop short for large numbers; the comparisons at the end have no
 * branches.
 */
static unsigned dec_width(u64 v)
{
	unsigned n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

/* Two digits for each division by 100; what remains in the end has one or two. */
char *put_dec(char *p, u64 v, int width, char pad)
{
	int n = dec_width(v);
	char *end, *q;

	for (; width > n; width--)
		*p++ = pad;
	q = end = p + n;
	for (; v >= 100; v /= 100) {
		const char *pair = digit_pairs + 2 * (v % 100);

		*--q = pair[1];
		*--q = pair[0];
	}
	if (v >= 10) {
		*--q = digit_pairs[2 * v + 1];
		*--q = digit_pairs[2 * v];
	} else {
		*--q = '0' + v;
	}
	return end;
}

/*
 * seq [-w] [-s SEPARATOR] [FIRST [STEP]] LAST: numbers in order, in decimal fractions where asked
 * for.
 *
 * All is done on integers, scaled by the longest fraction: 0.1 has no binary form, and 0.1 added
 * ten times would miss 1. Left out: -f, exponents, more than nine digits behind the point.
 */
#include <vt.h>
#include <ctype.h>

/*
 * A decimal number as an integer, and how many of its digits stand behind the point: "1.25" is 125 and
 * 2. Returns false for anything else, and for a number with too many digits.
 */
static bool parse(const char *text, int64_t *value, int *digits)
{
	bool negative = *text == '-', point = false, any = false;

	*value = 0;
	*digits = 0;
	for (text += *text == '-' || *text == '+'; *text; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*text) || *value > INT64_MAX / 100 || *digits > 9)
			return false;
		*value = *value * 10 + (*text - '0');
		*digits += point;
		any = true;
	}
	if (negative)
		*value = -*value;
	return any;
}

/* n is at most 10: the result fits. */
static int64_t power10(int n)
{
	return n > 0 ? 10 * power10(n - 1) : 1;
}

/*
 * Write the scaled number to `to`, which has room for 32 bytes, with its point. Returns the length.
 * The sign is written apart, as -0.5 has a whole part of 0, which has none.
 */
static int format(char *to, int64_t value, int digits)
{
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value, unit = (uint64_t)power10(digits);
	const char *sign = value < 0 ? "-" : "";

	if (!digits)
		return sprintf(to, "%s%lu", sign, (unsigned long)magnitude);
	return sprintf(to, "%s%lu.%0*lu", sign, (unsigned long)(magnitude / unit), digits,
		       (unsigned long)(magnitude % unit));
}

int main(int argc, char **argv)
{
	int64_t number[3] = {1, 1, 0}; /* first, step, last */
	int digits[3] = {0}, count, most = 0, i = 1, width = 0, n;
	const char *separator = "\n";
	char text[32];
	bool padded = false, first = true;

	/* Options are taken by hand: -5 is a number here. */
	for (; i < argc && argv[i][0] == '-' && argv[i][1] && !isdigit((unsigned char)argv[i][1]) && argv[i][1] != '.';
	     i++) {
		if (!strcmp(argv[i], "-w"))
			padded = true;
		else if (!strncmp(argv[i], "-s", 2) && (argv[i][2] || i + 1 < argc))
			separator = argv[i][2] ? argv[i] + 2 : argv[++i];
		else if (!strcmp(argv[i], "--help"))
			return printf("Usage: seq [-w] [-s SEPARATOR] [FIRST [STEP]] LAST\n"), vt_finish(0);
		else
			vt_die(1, "unknown option '%s' (try seq --help)", argv[i]);
	}
	count = argc - i;
	if (count < 1 || count > 3)
		vt_die(1, "Usage: seq [-w] [-s SEPARATOR] [FIRST [STEP]] LAST");
	for (int arg = 0; arg < count; arg++) {
		int at = arg == count - 1 ? 2 : arg;

		if (!parse(argv[i + arg], &number[at], &digits[at]))
			vt_die(1, "invalid number '%s'", argv[i + arg]);
		if (at < 2 && digits[at] > most)
			most = digits[at];
	}
	if (digits[2] > most)
		most = digits[2];
	/* All three get the same scale: with 0.5 and 2 the numbers become 5 and 20, each a tenth. */
	for (int at = 0; at < 3; at++)
		number[at] *= power10(most - digits[at]);
	if (number[1] == 0)
		vt_die(1, "the step must not be 0");
	/* -w: the widest number is one of the two ends. */
	for (int at = 0; padded && at < 3; at += 2) {
		n = format(text, number[at], most);
		width = n > width ? n : width;
	}
	/* Counting by integers, the last number is met exactly. */
	for (int64_t at = number[0]; number[1] > 0 ? at <= number[2] : at >= number[2]; at += number[1]) {
		n = format(text, at, most);
		printf("%s%s%.*s%s", first ? "" : separator, at < 0 ? "-" : "", width > n ? width - n : 0,
		       "00000000000000000000", text + (at < 0));
		first = false;
	}
	if (!first)
		printf("\n");
	return vt_finish(0);
}

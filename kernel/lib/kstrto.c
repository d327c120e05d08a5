/*
 * Numbers from text, in two manners. The kstrto* functions are strict and serve what users write to files: the whole
 * text must be one number, with at most one newline behind it. simple_strtoull() and memparse() are lenient and serve
 * the command line: they stop where the number ends and tell where that is.
 *
 * All of them rest on parse_digits(). They keep no state and may be called in any context.
 */
#include <kernel/export.h>
#include <lib/errno.h>
#include <lib/string.h>

/*
 * Skip the prefix that `base` allows. For base 0 the prefix decides and *base is set: "0x" before a hexadecimal digit
 * means 16, another leading 0 means 8 (the 0 stays, as a digit), and everything else means 10.
 */
static const char *skip_prefix(const char *s, unsigned *base)
{
	bool hex = s[0] == '0' && (s[1] | 32) == 'x' && isxdigit(s[2]);

	if (*base == 0)
		*base = hex ? 16 : s[0] == '0' ? 8 : 10;
	return *base == 16 && hex ? s + 2 : s;
}

/*
 * Read the digits from s on. Returns where they end; *res is their value and *overflow tells whether it needs more than
 * 64 bits. The digits are read to the end in that case too, so that a malformed text is reported as such and not as a
 * large number.
 */
static const char *parse_digits(const char *s, unsigned base, u64 *res, bool *overflow)
{
	u64 v = 0;
	unsigned d;

	*overflow = false;
	for (; (d = digit_value(*s)) < base; s++) {
		*overflow |= __builtin_mul_overflow(v, base, &v);
		*overflow |= __builtin_add_overflow(v, d, &v);
	}
	*res = v;
	return s;
}

/*
 * The common part of the strict functions: prefix, at least one digit, at most one newline, and nothing else. Returns
 * 0, -EINVAL, or -ERANGE for more than 64 bits; *res is set only on success.
 */
static int parse_whole(const char *s, unsigned base, u64 *res)
{
	const char *start = skip_prefix(s, &base), *end;
	bool overflow;
	u64 v;

	end = parse_digits(start, base, &v, &overflow);
	if (end == start)
		return -EINVAL;
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	if (overflow)
		return -ERANGE;
	*res = v;
	return 0;
}

int kstrtoull(const char *s, unsigned base, u64 *res)
{
	return parse_whole(s + (*s == '+'), base, res);
}
EXPORT_SYMBOL(kstrtoull);

/* The magnitude may be one larger for a negative number: -2^63 fits. */
int kstrtoll(const char *s, unsigned base, s64 *res)
{
	bool negative = *s == '-';
	u64 v;
	int ret = parse_whole(s + (*s == '+' || negative), base, &v);

	if (ret)
		return ret;
	if (v > (u64)S64_MAX + negative)
		return -ERANGE;
	*res = negative ? (s64)-v : (s64)v;
	return 0;
}
EXPORT_SYMBOL(kstrtoll);

int kstrtoul(const char *s, unsigned base, unsigned long *res)
{
	u64 v;
	int ret = kstrtoull(s, base, &v);

	if (!ret)
		*res = v;
	return ret;
}
EXPORT_SYMBOL(kstrtoul);

int kstrtol(const char *s, unsigned base, long *res)
{
	s64 v;
	int ret = kstrtoll(s, base, &v);

	if (!ret)
		*res = v;
	return ret;
}
EXPORT_SYMBOL(kstrtol);

int kstrtouint(const char *s, unsigned base, unsigned *res)
{
	u64 v;
	int ret = kstrtoull(s, base, &v);

	if (ret)
		return ret;
	if (v > U32_MAX)
		return -ERANGE;
	*res = v;
	return 0;
}
EXPORT_SYMBOL(kstrtouint);

int kstrtoint(const char *s, unsigned base, int *res)
{
	s64 v;
	int ret = kstrtoll(s, base, &v);

	if (ret)
		return ret;
	if (v != (int)v)
		return -ERANGE;
	*res = v;
	return 0;
}
EXPORT_SYMBOL(kstrtoint);

/* Only the first letter counts, as on Linux, but for "on" and "off", where the second one decides. */
int kstrtobool(const char *s, bool *res)
{
	char c = *s | 32;

	if (c == 'o') {
		c = s[1] | 32;
		if (c != 'n' && c != 'f')
			return -EINVAL;
		*res = c == 'n';
		return 0;
	}
	if (*s == '1' || c == 'y' || c == 't')
		*res = true;
	else if (*s == '0' || c == 'n' || c == 'f')
		*res = false;
	else
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL(kstrtobool);

/* What does not fit is the largest number: callers compare the result with a limit, and so reject it. */
u64 simple_strtoull(const char *s, char **end, unsigned base)
{
	const char *start = skip_prefix(s, &base);
	bool overflow;
	u64 v;

	start = parse_digits(start, base, &v, &overflow);
	if (end)
		*end = (char *)start;
	return overflow ? U64_MAX : v;
}
EXPORT_SYMBOL(simple_strtoull);

/* A number that is too large for its unit gives U64_MAX. Callers compare the result with a limit, and so reject it. */
u64 memparse(const char *s, char **end)
{
	static const char units[] = "kmgtpe";
	char *rest;
	u64 v = simple_strtoull(s, &rest, 0);
	const char *unit = *rest ? strchr(units, *rest | 32) : NULL;

	if (unit) {
		unsigned shift = 10 * (unit - units + 1);

		v = v <= U64_MAX >> shift ? v << shift : U64_MAX;
		rest++;
	}
	if (end)
		*end = rest;
	return v;
}
EXPORT_SYMBOL(memparse);

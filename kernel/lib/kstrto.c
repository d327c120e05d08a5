/* Numbers from text: strict for what users write, lenient for command-line sizes. */
#include <lib/errno.h>
#include <lib/string.h>

static unsigned digit_value(char c)
{
	if (isdigit(c))
		return c - '0';
	return isalpha(c) ? (c | 32) - 'a' + 10 : 255;
}

/* Skip what `base` allows as prefix, and settle base 0: 0x before a hex digit is 16, another leading 0 is 8.
 */
static const char *skip_prefix(const char *s, unsigned *base)
{
	bool hex = s[0] == '0' && (s[1] | 32) == 'x' && isxdigit(s[2]);

	if (*base == 0)
		*base = hex ? 16 : s[0] == '0' ? 8 : 10;
	return *base == 16 && hex ? s + 2 : s;
}

/* Digits from s on: where they end, their value, and whether it was too large for 64 bits. */
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

int kstrtoul(const char *s, unsigned base, unsigned long *res)
{
	u64 v;
	int ret = kstrtoull(s, base, &v);

	if (!ret)
		*res = v;
	return ret;
}

int kstrtol(const char *s, unsigned base, long *res)
{
	s64 v;
	int ret = kstrtoll(s, base, &v);

	if (!ret)
		*res = v;
	return ret;
}

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

u64 simple_strtoull(const char *s, char **end, unsigned base)
{
	const char *start = skip_prefix(s, &base);
	bool overflow;
	u64 v;

	start = parse_digits(start, base, &v, &overflow);
	if (end)
		*end = (char *)start;
	return v;
}

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

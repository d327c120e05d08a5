/*
 * Sets of CPUs in filters: field & CPUS{0-3,8}. The words are those of Linux's lists of CPUs: numbers, ranges, "all", N
 * for the last CPU, and groups n-m:used/of. Examples, with NR_CPUS 64:
 *
 *	0-3,8		CPUs 0, 1, 2, 3 and 8
 *	0-15:2/4	the first two of each four: 0, 1, 4, 5, 8, 9, 12, 13
 *	all		every CPU that there can be
 */
#include <lib/string.h>

#include "filter.h"

/*
 * Reads a number at *at, which moves behind it; N is the last CPU that there can be. The loop ends before the number
 * can overflow. False: there is no number, or it is far too large.
 */
static bool parse_cpu(const char **at, unsigned *cpu)
{
	if (**at == 'N') {
		++*at;
		*cpu = NR_CPUS - 1;
		return true;
	}
	if (!isdigit(**at))
		return false;
	for (*cpu = 0; isdigit(**at); ++*at)
		if ((*cpu = *cpu * 10 + (**at - '0')) > NR_CPUS * NR_CPUS)
			return false;
	return true;
}

/*
 * Reads a number behind `mark`. Without the mark *number keeps its value. False: the mark stands there without a
 * number.
 */
static bool parse_after(const char **at, char mark, unsigned *number)
{
	if (**at != mark)
		return true;
	++*at;
	return parse_cpu(at, number);
}

/*
 * One word of the list, which is added to *cpus: "n", "n-m" or "n-m:used/of", which means of each `of` CPUs from n to m
 * the first `used`.
 */
static bool parse_range(const char **at, u64 *cpus)
{
	unsigned first, last, used = 1, of = 1;

	if (!strncmp(*at, "all", 3)) {
		*at += 3;
		first = 0;
		last = NR_CPUS - 1;
	} else {
		if (!parse_cpu(at, &first))
			return false;
		last = first;
		if (!parse_after(at, '-', &last))
			return false;
	}
	if (**at == ':' && (!parse_after(at, ':', &used) || **at != '/' || !parse_after(at, '/', &of)))
		return false;
	if (last >= NR_CPUS || first > last || !of || used > of)
		return false;
	for (unsigned cpu = first; cpu <= last; cpu++)
		if ((cpu - first) % of < used)
			*cpus |= BIT(cpu);
	return true;
}

/*
 * The list between the braces, from `at` up to `end`, as bits. False: it is no list, or names a CPU that there can
 * never be. An empty list is good and matches nothing.
 */
bool filter_parse_cpus(const char *at, const char *end, u64 *cpus)
{
	*cpus = 0;
	while (at < end) {
		if (isspace(*at) || *at == ',') {
			at++;
			continue;
		}
		if (!parse_range(&at, cpus) || at > end || (at < end && !isspace(*at) && *at != ','))
			return false;
	}
	return true;
}

/* Is a trace in order? Times, who runs, calls and their returns, interrupts; formats; and what the kernel
 * counted. */
#include "vtrace.h"

#define MAX_LINES 20 /* what follows a fault is often its consequence */

static unsigned faults;

static void fault(int cpu, uint64_t ts, const char *text)
{
	if (++faults <= MAX_LINES)
		printf("CPU %d, %llu.%09llu: %s\n", cpu, (unsigned long long)(ts / 1000000000),
		       (unsigned long long)(ts % 1000000000), text);
}

/* One buffer: a model of more than one would mix them up. */
int check(const struct dat *d, const struct buffer *b)
{
	static const struct sink nothing;
	const struct totals *t;

	if (d->formats_failed) {
		printf("%u formats of events are not understood\n", d->formats_failed);
		faults++;
	}
	if (b->is_text) {
		puts(faults ? "faults" : "text, and nothing to check in it");
		return faults != 0;
	}
	t = convert(d, b, &nothing, fault);
	if (faults > MAX_LINES)
		printf("and %u more\n", faults - MAX_LINES);
	printf("%s: %llu records of %d CPUs", faults ? "not in order" : "in order",
	       (unsigned long long)t->records, b->nr_cpus);
	if (t->gaps)
		printf(", %llu lost in %llu gaps", (unsigned long long)t->lost, (unsigned long long)t->gaps);
	if (t->unfinished)
		printf(", %llu calls without their ends", (unsigned long long)t->unfinished);
	putchar('\n');
	return faults != 0;
}

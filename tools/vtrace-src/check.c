/* Is a trace in order? Times, who runs, calls and their returns, interrupts; formats; and what the kernel
 * counted. */
#include "vtrace.h"

#define MAX_LINES 20 /* what follows a fault is often its consequence */

static const struct dat *dat;
static const struct buffer *buffer;
static unsigned faults; /* of the buffer */

/* Which buffer a line is about goes without saying where there is one. */
static void say_which(void)
{
	if (dat->nr_buffers > 1)
		printf("%s%s: ", *buffer->name ? "instance " : "buffer", buffer->name);
}

static void fault(int cpu, uint64_t ts, const char *text)
{
	if (++faults > MAX_LINES)
		return;
	say_which();
	printf("CPU %d, ", cpu);
	print_time(buffer, ts);
	printf(": %s\n", text);
}

/* The lines of faults come while the records are read, the sentence about the whole after them. */
static void check_buffer(void)
{
	static const struct sink nothing;
	const struct totals *t;

	faults = 0;
	if (buffer->is_text) {
		say_which();
		puts("text, and nothing to check in it");
		return;
	}
	t = convert(dat, buffer, &nothing, fault);
	if (faults > MAX_LINES) {
		say_which();
		printf("and %u more\n", faults - MAX_LINES);
	}
	say_which();
	printf("%s: %llu records of %d CPUs", faults ? "not in order" : "in order", (unsigned long long)t->records,
	       buffer->nr_cpus);
	if (t->gaps)
		printf(", %llu lost in %llu gaps", (unsigned long long)t->lost, (unsigned long long)t->gaps);
	if (t->unfinished)
		printf(", %llu calls without their ends", (unsigned long long)t->unfinished);
	putchar('\n');
}

/* One buffer after the other: a model of more than one would mix them up. */
int check(const struct dat *d, const struct buffer *only)
{
	int status = 0;

	dat = d;
	if (d->formats_failed) {
		printf("%u formats of events are not understood\n", d->formats_failed);
		status = 1;
	}
	for (int i = 0; i < d->nr_buffers; i++) {
		buffer = &d->buffers[i];
		if (only && buffer != only)
			continue;
		check_buffer();
		status |= faults != 0;
	}
	return status;
}

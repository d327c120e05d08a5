/* vtrace [FORMAT] FILE [-o OUT] [-B NAME] [-e PROGRAM]: see usage below. */
#include "vtrace.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASHES 4096

FILE *out;
static const char *file = "", *output;

/* Half a file would be taken for a whole one. A device or a link stays: it was there before us. */
static void remove_output(void)
{
	struct stat st;

	if (output && out && !lstat(output, &st) && S_ISREG(st.st_mode))
		remove(output);
}

void die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "vtrace: %s: ", file);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	remove_output();
	exit(1);
}

void *get_memory(void *old, size_t size)
{
	void *p = realloc(old, size);

	if (!p)
		die("no memory");
	return p;
}

/* ---- Texts, each once */

static struct interned {
	struct interned *chain;
	unsigned number;
	char text[];
} * *by_number, *hashes[HASHES];
static unsigned nr_texts;

/* The same text gives the same pointer and number each time, so callers compare pointers and never free one. */
const char *intern(const char *text, unsigned *number)
{
	unsigned hash = 5381;
	struct interned *t;

	for (const char *c = text; *c; c++)
		hash = hash * 33 ^ (unsigned char)*c;
	for (t = hashes[hash % HASHES]; t && strcmp(t->text, text); t = t->chain)
		;
	if (!t) {
		t = get_memory(NULL, sizeof(*t) + strlen(text) + 1);
		*t = (struct interned){.chain = hashes[hash % HASHES], .number = nr_texts};
		strcpy(t->text, text);
		hashes[hash % HASHES] = t;
		by_number = get_memory(by_number, (nr_texts + 1) * sizeof(*by_number));
		by_number[nr_texts++] = t;
	}
	if (number)
		*number = t->number;
	return t->text;
}

const char *interned(unsigned number)
{
	return number < nr_texts ? by_number[number]->text : NULL;
}

/* ---- What the file holds, in words */

void print_time(const struct buffer *b, uint64_t ts)
{
	if (in_ns(b))
		printf("%llu.%09llu", (unsigned long long)(ts / 1000000000), (unsigned long long)(ts % 1000000000));
	else
		printf("%llu", (unsigned long long)ts);
}

static void print_times(const struct buffer *b, const struct totals *t)
{
	const char *unit = in_ns(b) ? " s" : "";

	print_time(b, t->first);
	printf("%s to ", unit);
	print_time(b, t->last);
	fputs(unit, stdout);
	if (!*unit)
		printf(" of the clock %s, which does not count nanoseconds", b->clock);
}

/* What writers cannot show. Returns the exit status. */
static int complain(const struct totals *t)
{
	if (!t->faults)
		return 0;
	fflush(stdout);
	fprintf(stderr, "vtrace: %s: broken: %s", file, t->fault);
	if (t->faults > 1)
		fprintf(stderr, ", and %llu more", (unsigned long long)t->faults - 1);
	fputc('\n', stderr);
	return 1;
}

/* vtrace info: what one buffer holds, by converting it for a sink that does nothing. Returns the exit status. */
static int print_totals(const struct dat *d, const struct buffer *b)
{
	static const struct sink nothing;
	const struct totals *t;

	printf("%s%s%s: ", *b->name ? "instance " : "buffer", b->name, b->is_text ? " (text of a latency tracer)" : "");
	if (b->is_text) {
		puts("trace-cmd report shows it");
		return 0;
	}
	t = convert(d, b, &nothing, NULL);
	printf("%llu records of %d CPUs, ", (unsigned long long)t->records, b->nr_cpus);
	print_times(b, t);
	printf(", %llu lost in %llu gaps\n", (unsigned long long)t->lost, (unsigned long long)t->gaps);
	for (int i = 0; i < 65536; i++) {
		struct tep_event *event = t->of_type[i] ? tep_find_event(d->tep, i) : NULL;

		if (t->of_type[i])
			printf("%12llu  %s:%s\n", (unsigned long long)t->of_type[i], event ? event->system : "?",
			       event ? event->name : "?");
	}
	return complain(t);
}

static int info(const struct dat *d, const struct buffer *chosen)
{
	printf("%s: trace.dat version %d of %s, %d CPUs\n", file, d->version,
	       d->uname ? d->uname : "an unknown machine", d->nr_cpus);
	for (int i = 0; i < d->nr_buffers; i++)
		if (chosen != &d->buffers[i])
			printf("%s%s\n",
			       *d->buffers[i].name ? "also: instance " : "also: the buffer that is always there",
			       d->buffers[i].name);
	return print_totals(d, chosen);
}

/* ---- The command line */

static const char usage[] =
	"usage: vtrace [info] FILE               what a trace.dat holds\n"
	"       vtrace check FILE                are all its buffers in order? says what is not\n"
	"       vtrace chrome|perfetto|speedscope|folded FILE\n"
	"                                        the same as that tool's file: CPUs, interrupts and tasks as tracks,\n"
	"                                        who runs and what is called as slices, all else as moments\n"
	"  -o OUT   in place of standard output\n"
	"  -B NAME  of this instance, in place of the buffer that is always there\n"
	"  -e FILE  an ELF file with symbols: names of functions in samples of the program FILE; repeatable\n";

static const struct {
	const char *name;
	const struct sink *sink;
} formats[] = {
	{"chrome", &chrome_sink},
	{"perfetto", &perfetto_sink},
	{"speedscope", &speedscope_sink},
	{"folded", &folded_sink},
};

static const struct buffer *find_buffer(const struct dat *d, const char *name)
{
	for (int i = 0; i < d->nr_buffers; i++)
		if (!strcmp(d->buffers[i].name, name))
			return &d->buffers[i];
	if (*name)
		die("no instance '%s'", name);
	return &d->buffers[0];
}

/* Opening the output makes it empty, so it must not be what we read. */
static void refuse_own_input(const struct dat *d)
{
	struct stat from, to;

	if ((output ? stat(output, &to) : fstat(STDOUT_FILENO, &to)) || fstat(d->fd, &from))
		return;
	if (from.st_dev == to.st_dev && from.st_ino == to.st_ino)
		die("it is the output as well");
}

/* What is said on standard output is said, or the status is 1. */
static int finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "vtrace: standard output: %s\n", strerror(errno));
	return 1;
}

/*
 * Write a buffer in another tool's form. A file that could not be written to its end is removed. One that was cut short
 * by a fault in the trace stays, since what came before the fault is right; the status is 1. Returns the exit status.
 */
static int write_as(const struct sink *sink, const struct dat *d, const struct buffer *b)
{
	const struct totals *t;

	if (b->is_text)
		die("the text of a latency tracer, not records");
	refuse_own_input(d);
	out = output ? fopen(output, "wb") : stdout;
	if (!out) {
		fprintf(stderr, "vtrace: %s: %s\n", output, strerror(errno));
		return 1;
	}
	if (!in_ns(b))
		fprintf(stderr, "vtrace: %s: the clock %s does not count nanoseconds: times are its counts\n", file,
			b->clock);
	t = convert(d, b, sink, NULL);
	if (fflush(out) || ferror(out) || (output && fclose(out))) {
		fprintf(stderr, "vtrace: %s: %s\n", output ? output : "standard output", strerror(errno));
		remove_output();
		return 1;
	}
	return complain(t);
}

int main(int argc, char **argv)
{
	const char *name = "", *command = "info";
	static struct dat d;
	int c, status = 0;

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	while ((c = getopt(argc, argv, "o:B:e:h")) != -1) {
		if (c == 'o')
			output = optarg;
		else if (c == 'B')
			name = optarg;
		else if (c == 'e')
			elf_add(optarg);
		else {
			fputs(usage, c == 'h' ? stdout : stderr);
			return c != 'h';
		}
	}
	if (argc - optind == 2)
		command = argv[optind++];
	if (argc - optind != 1) {
		fputs(usage, stderr);
		return 1;
	}
	file = argv[optind];
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (strcmp(command, formats[i].name))
			continue;
		dat_open(&d, file);
		return write_as(formats[i].sink, &d, find_buffer(&d, name));
	}
	if (strcmp(command, "check") && strcmp(command, "info")) {
		fprintf(stderr, "vtrace: no command '%s'\n%s", command, usage);
		return 1;
	}
	if (output) {
		fprintf(stderr, "vtrace: %s writes no file: -o is for chrome, perfetto, speedscope and folded\n",
			command);
		return 1;
	}
	dat_open(&d, file);
	if (!strcmp(command, "check"))
		status = check(&d, *name ? find_buffer(&d, name) : NULL);
	else
		status = info(&d, find_buffer(&d, name));
	return finish_output() ? 1 : status;
}

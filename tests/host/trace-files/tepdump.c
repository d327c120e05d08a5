/*
 * tepdump: raw pages of trace_pipe_raw as text, by Debian's libtraceevent: what trace-cmd would make of them.
 *
 *     tepdump FOLDER CPUS
 *
 * FOLDER holds header_page, kallsyms, saved_cmdlines, printk_formats, formats (all format files, one behind the other)
 * and cpu0, cpu1...: pages. A line a record: cpu, ns, pid, comm, flags, system, event, its text, with tabs between; in
 * the text newlines are \n. Behind a page before which records were lost: "cpu LOST n". What does not parse ends it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/kbuffer.h>

#define PAGE	 4096
#define MAX_SIZE 4096 /* of a record; behind it zeros, so that fields beyond its end read as such */

static struct tep_handle *tep;
static char folder[512];

static void die(const char *what, const char *name)
{
	fprintf(stderr, "tepdump: %s: %s\n", name, what);
	exit(1);
}

static char *slurp(const char *name, size_t *size)
{
	char path[600], *text = NULL;
	size_t n = 0, got;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "rb");
	if (!f)
		die(strerror(errno), path);
	do {
		text = realloc(text, n + (1 << 20) + 1);
		got = fread(text + n, 1, 1 << 20, f);
		n += got;
	} while (got);
	fclose(f);
	text[n] = '\0';
	if (size)
		*size = n;
	return text;
}

/* Like trace-cmd's: as many callers as the record says. A return address may be the next function's: both names. */
static int stack_text(struct trace_seq *s, struct tep_record *record, struct tep_event *event, void *context)
{
	struct tep_format_field *caller = tep_find_any_field(event, "caller");
	unsigned long long size;

	if (!caller || tep_get_field_val(s, event, "size", record, &size, 1))
		return -1;
	for (unsigned i = 0; i < size; i++) {
		unsigned long long ip = tep_read_number(tep, (char *)record->data + caller->offset + 8 * i, 8);
		const char *exact = tep_find_function(tep, ip), *before = tep_find_function(tep, ip - 1);

		trace_seq_printf(s, " => %s|%s\n", exact ? exact : "?", before ? before : "?");
	}
	return 0;
}

/* Every field as a number, then what its format's text makes of them. */
static int fields_text(struct trace_seq *s, struct tep_record *record, struct tep_event *event, void *context)
{
	unsigned long long value;

	for (struct tep_format_field *field = event->format.fields; field; field = field->next) {
		if (tep_read_number_field(field, record->data, &value))
			return -1;
		trace_seq_printf(s, "%s=%llx ", field->name, value);
	}
	trace_seq_puts(s, "| ");
	return 1;
}

/* "@system" lines stand before the formats of a system: the files themselves do not name it. */
static void read_formats(void)
{
	static const char *const with_fields[] = {"funcgraph_entry", "funcgraph_exit", "context_switch", "wakeup",
						  "func_repeats"};
	char *text = slurp("formats", NULL), *at = text, system[64] = "";

	while (*at) {
		char *end = strstr(at, "\n@"), name[64];

		if (sscanf(at, "@%63s\n", system) != 1)
			die(at, "formats");
		at = strchr(at, '\n') + 1;
		end = end ? end + 1 : at + strlen(at);
		if (sscanf(at, "name: %63s", name) != 1)
			die(at, "formats");
		if (tep_parse_event(tep, at, end - at, system))
			die("its format does not parse", name);
		at = end;
	}
	tep_register_event_handler(tep, -1, "ftrace", "kernel_stack", stack_text, NULL);
	for (size_t i = 0; i < sizeof(with_fields) / sizeof(*with_fields); i++)
		tep_register_event_handler(tep, -1, "ftrace", with_fields[i], fields_text, NULL);
	free(text);
}

static void read_symbols(void)
{
	char *text = slurp("kallsyms", NULL), *at = text, name[256], type;
	unsigned long long ip;

	for (char *line; (line = strsep(&at, "\n")) && *line;) {
		if (sscanf(line, "%llx %c %255s", &ip, &type, name) != 3)
			die(line, "kallsyms");
		tep_register_function(tep, name, ip, NULL);
	}
	free(text);
	at = text = slurp("saved_cmdlines", NULL);
	for (char *line; (line = strsep(&at, "\n")) && *line;) {
		char *comm = strchr(line, ' ');

		if (!comm)
			die(line, "saved_cmdlines");
		tep_register_comm(tep, comm + 1, atoi(line));
	}
	free(text);
	at = text = slurp("printk_formats", NULL);
	for (char *line; (line = strsep(&at, "\n")) && *line;) {
		char *quote = strchr(line, '"');

		if (!quote)
			die(line, "printk_formats");
		tep_register_print_string(tep, quote, strtoull(line, NULL, 16)); /* takes the quotes off */
	}
	free(text);
}

static void print_text(const char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == '\n')
		n--;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n')
			fputs("\\n", stdout);
		else if (text[i] == '\t')
			fputs("\\t", stdout);
		else
			putchar(text[i]);
	}
}

static void print_record(int cpu, unsigned long long ts, void *data, int size)
{
	static char copy[2 * MAX_SIZE];
	struct tep_record record = {.ts = ts, .data = copy, .size = size, .cpu = cpu};
	struct tep_event *event;
	struct trace_seq s;

	if (size > MAX_SIZE)
		die("a record is too long", "page");
	memset(copy, 0, sizeof(copy));
	memcpy(copy, data, size);
	event = tep_find_event_by_record(tep, &record);
	if (!event)
		die("a record of no known type", "page");
	trace_seq_init(&s);
	tep_print_event(tep, &s, &record, "%d\t%s\t%s", TEP_PRINT_PID, TEP_PRINT_COMM, TEP_PRINT_LATENCY);
	trace_seq_terminate(&s);
	printf("%d\t%llu\t%s\t%s\t%s\t", cpu, ts, s.buffer, event->system, event->name);
	trace_seq_reset(&s);
	tep_print_event(tep, &s, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	print_text(s.buffer);
	putchar('\n');
	trace_seq_destroy(&s);
}

/* Bytes of what trace_pipe_raw hands out, by header_page: the data, and the 16 bytes in front. */
static size_t subbuf;

static size_t subbuf_of(const char *header_page)
{
	const char *at = strstr(header_page, "char data;");

	at = at ? strstr(at, "size:") : NULL;
	if (!at)
		die("has no data", "header_page");
	return strtoul(at + 5, NULL, 10) + 16;
}

static void print_cpu(int cpu)
{
	struct kbuffer *kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	unsigned long long ts;
	char name[16], *pages;
	size_t size;
	void *data;

	snprintf(name, sizeof(name), "cpu%d", cpu);
	pages = slurp(name, &size);
	if (size % subbuf)
		die("not whole pages", name);
	for (size_t at = 0; at < size; at += subbuf) {
		if (kbuffer_load_subbuffer(kbuf, pages + at))
			die("a page does not parse", name);
		if (kbuffer_missed_events(kbuf))
			printf("%d\tLOST\t%d\n", cpu, kbuffer_missed_events(kbuf));
		for (data = kbuffer_read_event(kbuf, &ts); data; data = kbuffer_next_event(kbuf, &ts))
			print_record(cpu, ts, data, kbuffer_event_size(kbuf));
	}
	kbuffer_free(kbuf);
	free(pages);
}

int main(int argc, char **argv)
{
	char *text;
	size_t size;

	if (argc != 3)
		die("usage: tepdump FOLDER CPUS", "arguments");
	snprintf(folder, sizeof(folder), "%s", argv[1]);
	tep = tep_alloc();
	tep_set_long_size(tep, 8);
	tep_set_page_size(tep, PAGE);
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	text = slurp("header_page", &size);
	if (tep_parse_header_page(tep, text, size, 8))
		die("does not parse", "header_page");
	subbuf = subbuf_of(text);
	free(text);
	read_formats();
	read_symbols();
	for (int cpu = 0; cpu < atoi(argv[2]); cpu++)
		print_cpu(cpu);
	return 0;
}

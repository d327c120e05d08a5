/* The file's head: formats, names and where the pages are. Versions 6 and 7, not compressed, the lowest byte
 * first. */
#include "vtrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../include/uapi/trace_dat.h"

#define MAX_SECTIONS 1000 /* of options, else they go round in a circle */
#define MAX_CPUS     65536

/* Bytes of the file that are still to be read. */
struct bytes {
	const char *at, *end;
};

static const char *file_start;
static struct dat *dat;
static const char *main_clock = ""; /* what the option of the file says */

static const char *take(struct bytes *b, uint64_t n)
{
	const char *at = b->at;

	if (n > (uint64_t)(b->end - b->at))
		die("cut off: %llu bytes are wanted at %lld", (unsigned long long)n, (long long)(at - file_start));
	b->at += n;
	return at;
}

static uint64_t number(struct bytes *b, int size)
{
	uint64_t value = 0;

	memcpy(&value, take(b, size), size);
	return value;
}

static const char *text(struct bytes *b)
{
	const char *at = b->at, *end = memchr(at, '\0', b->end - at);

	if (!end)
		die("cut off within a text at %lld", (long long)(at - file_start));
	b->at = end + 1;
	return at;
}

static void expect(struct bytes *b, const char *word, size_t size)
{
	if (memcmp(take(b, size), word, size))
		die("no '%s' at %lld, where it belongs", word, (long long)(b->at - size - file_start));
}

static struct bytes from(uint64_t offset)
{
	if (offset > dat->size)
		die("cut off: a part would begin at %llu", (unsigned long long)offset);
	return (struct bytes){file_start + offset, file_start + dat->size};
}

/* ---- What is in the parts, the same in both versions */

static void read_headers(struct bytes *b)
{
	uint64_t size;
	const char *page;

	expect(b, "header_page", 12);
	size = number(b, 8);
	page = take(b, size);
	/* libtraceevent only reads it. */
	if (memchr(page, '\0', size) || tep_parse_header_page(dat->tep, (char *)page, size, dat->long_size))
		die("its header_page says nothing that can be understood");
	expect(b, "header_event", 13);
	take(b, number(b, 8));
}

/* libtraceevent reads a field wherever its format says that it is. */
static void check_fields(const struct tep_event *event, const struct tep_format_field *f)
{
	for (; f; f = f->next)
		if (f->offset < 0 || f->size < 0 || f->offset > MAX_RECORD || f->size > MAX_RECORD - f->offset)
			die("%s has a field %s beyond its end", event->name, f->name);
}

static void read_formats(struct bytes *b, const char *system)
{
	for (uint64_t n = number(b, 4); n; n--) {
		uint64_t size = number(b, 8);
		struct tep_event *event = NULL;

		tep_parse_format(dat->tep, &event, take(b, size), size, system);
		if (!event || event->flags & TEP_EVENT_FL_FAILED)
			dat->formats_failed++;
		if (event) {
			check_fields(event, event->format.common_fields);
			check_fields(event, event->format.fields);
		}
	}
}

static void read_systems(struct bytes *b)
{
	for (uint64_t n = number(b, 4); n; n--) {
		const char *system = text(b);

		read_formats(b, system);
	}
}

/* Lines of a part that is so many bytes long, each by itself. */
static void each_line(struct bytes *b, int length_size, void (*work)(char *line))
{
	uint64_t size = number(b, length_size);
	char *copy = strndup(take(b, size), size), *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			work(line);
	free(copy);
}

static void read_symbol(char *line)
{
	char name[256], module[256] = "", type;
	unsigned long long at;
	int got = sscanf(line, "%llx %c %255s [%255[^]]", &at, &type, name, module);

	if (got >= 3)
		tep_register_function(dat->tep, name, at, got == 4 ? module : NULL);
}

/* libtraceevent takes the quotes away, and the \n that may be before the last; for which it looks at as many
 * characters, also where there are fewer. So a short text gets one. */
static void read_printk(char *line)
{
	char *quote = strchr(line, '"'), longer[8];

	if (quote && strlen(quote) < 4) {
		snprintf(longer, sizeof(longer), "\"%.*s\\n\"", (int)strcspn(quote + 1, "\""), quote + 1);
		quote = longer;
	}
	if (quote)
		tep_register_print_string(dat->tep, quote, strtoull(line, NULL, 16));
}

static void read_comm(char *line)
{
	char *comm;
	long pid = strtol(line, &comm, 10);

	if (*comm == ' ')
		tep_register_comm(dat->tep, comm + 1, (int)pid);
}

/* ---- Buffers */

static struct buffer *add_buffer(const char *name, const char *clock, int nr_cpus)
{
	struct buffer *b;

	if (nr_cpus < 0 || nr_cpus > MAX_CPUS)
		die("it claims %d CPUs", nr_cpus);
	dat->buffers = get_memory(dat->buffers, (dat->nr_buffers + 1) * sizeof(*b));
	b = &dat->buffers[dat->nr_buffers++];
	*b = (struct buffer){.name = name, .clock = clock, .nr_cpus = nr_cpus};
	b->cpus = get_memory(NULL, (nr_cpus + 1) * sizeof(*b->cpus));
	return b;
}

/* Numbers index tables, and each page is of one CPU: a small file cannot make much work. */
static void read_cpu(struct bytes *b, struct cpu_data *c, unsigned cpu)
{
	static int of_buffer[MAX_CPUS]; /* the last that has this CPU, from 1 */
	static uint64_t sum;

	if (cpu >= MAX_CPUS)
		die("it claims to have a CPU %u", cpu);
	if (of_buffer[cpu] == dat->nr_buffers)
		die("CPU %u is twice in one buffer", cpu);
	of_buffer[cpu] = dat->nr_buffers;
	c->cpu = (int)cpu;
	c->offset = number(b, 8);
	c->size = number(b, 8);
	if (c->offset > dat->size || c->size > dat->size - c->offset)
		die("cut off: CPU %u's pages would end at %llu, the file ends at %llu", cpu,
		    (unsigned long long)(c->offset + c->size), (unsigned long long)dat->size);
	if (c->size % dat->page_size)
		die("CPU %u has no whole pages", cpu);
	sum += c->size;
	if (sum > dat->size)
		die("CPU %u's pages are another's as well", cpu);
}

/*
 * An option that describes a buffer: the offset of its section, which is not needed, its name and clock, and, if it
 * holds pages and not text, how large a page is and where each CPU's are.
 */
static void read_buffer_v7(struct bytes *b, bool is_text)
{
	const char *name, *clock;
	struct buffer *buffer;
	unsigned page;

	number(b, 8);
	name = text(b);
	clock = text(b);
	page = is_text ? dat->page_size : number(b, 4);
	if (page != dat->page_size)
		die("pages of %u bytes in a file of pages of %u", page, dat->page_size);
	buffer = add_buffer(name, clock, is_text ? 0 : (int)number(b, 4));
	buffer->is_text = is_text;
	for (int i = 0; i < buffer->nr_cpus; i++) {
		unsigned cpu = (unsigned)number(b, 4);

		read_cpu(b, &buffer->cpus[i], cpu);
	}
}

static void read_table_v6(struct bytes *b, const char *name)
{
	struct buffer *buffer = add_buffer(name, "", dat->nr_cpus);

	for (int cpu = 0; cpu < dat->nr_cpus; cpu++)
		read_cpu(b, &buffer->cpus[cpu], cpu);
}

/* ---- Version 7 */

/*
 * A section's head says what it is and how long. The cursor is set to its content, and its end is the content's, so no
 * reader goes on into what follows. A file that leads to one section twice would fill the tables twice: it is refused.
 */
static void read_section(uint64_t offset, int id)
{
	static bool seen[OPT_CMDLINES + 1];
	struct bytes b = from(offset);
	int got = (int)number(&b, 2);
	uint64_t flags = number(&b, 2), size;

	number(&b, 4);
	size = number(&b, 8);
	if (got != id)
		die("section %d where section %d belongs", got, id);
	if (seen[id])
		die("section %d a second time", id);
	seen[id] = true;
	if (flags & 1)
		die("section %d is compressed", id);
	b.end = take(&b, size) + size;
	b.at = b.end - size;
	if (id == OPT_HEADER_INFO)
		read_headers(&b);
	else if (id == OPT_FTRACE_EVENTS)
		read_formats(&b, "ftrace");
	else if (id == OPT_EVENT_FORMATS)
		read_systems(&b);
	else if (id == OPT_KALLSYMS)
		each_line(&b, 4, read_symbol);
	else if (id == OPT_PRINTK)
		each_line(&b, 4, read_printk);
	else if (id == OPT_CMDLINES)
		each_line(&b, 8, read_comm);
}

/* Text of trace_clock: the one in brackets. It need not have an end. */
static void read_clock(struct bytes b)
{
	const char *from = memchr(b.at, '[', b.end - b.at), *to = from ? memchr(from, ']', b.end - from) : NULL;

	if (to)
		main_clock = strndup(from + 1, to - from - 1);
}

/* Where the buffer itself tells of none, as in version 6, it is the file's. */
static void find_clocks(void)
{
	for (int i = 0; i < dat->nr_buffers; i++)
		if (!*dat->buffers[i].clock)
			dat->buffers[i].clock = main_clock;
}

bool in_ns(const struct buffer *b)
{
	static const char *const clocks[] = {"", "local", "global", "perf", "mono", "mono_raw", "boot", "tai"};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (!strcmp(b->clock, clocks[i]))
			return true;
	return false;
}

static void read_option(int id, struct bytes data)
{
	if (id == OPT_UNAME)
		dat->uname = text(&data);
	else if (id == OPT_TRACECLOCK)
		read_clock(data);
	else if (id == OPT_CPUCOUNT)
		dat->nr_cpus = (int)number(&data, 4);
	else if (dat->version == 7 && id >= OPT_HEADER_INFO && id <= OPT_CMDLINES)
		read_section(number(&data, 8), id);
	else if (dat->version == 7 && (id == OPT_BUFFER || id == OPT_BUFFER_TEXT))
		read_buffer_v7(&data, id == OPT_BUFFER_TEXT);
}

/*
 * Everything hangs on sections of options. The last option of a section has id 0 and leads to the next section, or has
 * offset 0. A broken file may have a ring of them, so they are counted.
 */
static void read_v7(struct bytes *b)
{
	const char *compression = text(b);
	uint64_t next;

	text(b);
	if (strcmp(compression, "none"))
		die("compressed by %s: trace-cmd convert --compression none makes one that is not", compression);
	next = number(b, 8);
	for (int n = 0; next; n++) {
		struct bytes s = from(next), data;
		uint64_t size;
		int id;

		if (n == MAX_SECTIONS)
			die("its sections of options have no end");
		if (number(&s, 2) != OPT_DONE)
			die("no options at %llu", (unsigned long long)next);
		take(&s, 6);
		size = number(&s, 8);
		s.end = take(&s, size) + size;
		s.at = s.end - size;
		do {
			id = (int)number(&s, 2);
			size = number(&s, 4);
			data.at = take(&s, size);
			data.end = s.at;
			if (id != OPT_DONE)
				read_option(id, data);
		} while (id != OPT_DONE);
		next = number(&data, 8);
	}
}

/* ---- Version 6 */

#define WORD_SIZE 10

/*
 * The parts follow each other in a fixed order. Instances are options that lead to tables of their own; the buffer that
 * is always there comes last. The words between the parts are ten bytes long with their zeros.
 */
static void read_v6(struct bytes *b)
{
	const char *word;

	read_headers(b);
	read_formats(b, "ftrace");
	read_systems(b);
	each_line(b, 4, read_symbol);
	each_line(b, 4, read_printk);
	each_line(b, 8, read_comm);
	dat->nr_cpus = (int)number(b, 4);
	word = take(b, WORD_SIZE);
	if (!memcmp(word, "options  ", WORD_SIZE)) {
		for (int id; (id = (int)number(b, 2)) != OPT_DONE;) {
			uint64_t size = number(b, 4);
			struct bytes data = {take(b, size), b->at};

			if (id != OPT_BUFFER) {
				read_option(id, data);
				continue;
			}
			struct bytes table = from(number(&data, 8));
			expect(&table, "flyrecord", WORD_SIZE);
			read_table_v6(&table, text(&data));
		}
		word = take(b, WORD_SIZE);
	}
	if (!memcmp(word, "latency  ", WORD_SIZE))
		add_buffer("", "", 0)->is_text = true;
	else if (!memcmp(word, "flyrecord", WORD_SIZE))
		read_table_v6(b, "");
	else
		die("neither pages nor text behind its options");
}

/*
 * Map the file and read all but the records. Whatever is wrong ends the program with a sentence, so nothing is given
 * back here. Only files of machines with 64 bits and the lowest byte first are understood: those of this kernel.
 */
void dat_open(struct dat *d, const char *path)
{
	struct stat st;
	struct bytes b;
	const char *version;

	dat = d;
	d->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for who writes */
	if (d->fd < 0 || fstat(d->fd, &st) < 0)
		die("%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		die("no regular file");
	if (!st.st_size)
		die("empty");
	d->size = st.st_size;
	file_start = mmap(NULL, d->size, PROT_READ, MAP_PRIVATE, d->fd, 0);
	if (file_start == MAP_FAILED)
		die("%s", strerror(errno));
	b = from(0);
	if (d->size < 10 || memcmp(take(&b, 10), "\x17\x08\x44tracing", 10))
		die("no trace.dat");
	version = text(&b);
	if (strcmp(version, "6") && strcmp(version, "7"))
		die("version %.20s of the format: 6 and 7 are understood", version);
	d->version = *version - '0';
	if (number(&b, 1))
		die("its numbers have the highest byte first");
	d->long_size = (int)number(&b, 1);
	d->page_size = (unsigned)number(&b, 4);
	if (d->long_size != 8 || d->page_size < 64 || d->page_size > 1 << 20)
		die("longs of %d bytes in pages of %u", d->long_size, d->page_size);
	d->tep = tep_alloc();
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(d->tep, d->long_size);
	tep_set_page_size(d->tep, (int)d->page_size);
	tep_set_file_bigendian(d->tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(d->tep, TEP_LITTLE_ENDIAN);
	if (d->version == 7)
		read_v7(&b);
	else
		read_v6(&b);
	if (!d->nr_buffers)
		die("it has no buffer");
	find_clocks();
}

/*
 * A trace.dat taken apart: versions 6 and 7, not compressed, numbers with the lowest byte first;
 * tracedat.c draws both. The file is mapped, and records stay where they are. The file is not
 * trusted: every piece is taken through a cursor that checks it against the file's end, and a place
 * that lies outside ends the program, naming the file.
 */
#include <vt_report.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <uapi/trace_dat.h>

/*
 * Where reading is; an end that is not the file's bounds a section. A cursor is passed by value where
 * a section is read elsewhere in the file: the reader then goes on where it was.
 */
struct cursor {
	const struct vt_dat_file *f;
	size_t at;
};

/* The file says something that cannot be. Does not return. */
static void broken(const struct vt_dat_file *f, size_t at) __attribute__((noreturn));
static void broken(const struct vt_dat_file *f, size_t at)
{
	vt_die(1, "%s: broken at %lu", f->path, (unsigned long)at);
}

/* The next n bytes, stepped over; ends the program when the file does not have them. */
static const unsigned char *take(struct cursor *c, unsigned long long n)
{
	const unsigned char *data = c->f->data + c->at;

	if (c->at > c->f->size || n > c->f->size - c->at)
		broken(c->f, c->at);
	c->at += (size_t)n;
	return data;
}

/* Byte by byte, so that a number may lie at any address: options and tables are not aligned. */
unsigned long long vt_take_number(const unsigned char *data, size_t size)
{
	unsigned long long n = 0;

	while (size--)
		n = n << 8 | data[size];
	return n;
}

static unsigned long long number(struct cursor *c, size_t size)
{
	return vt_take_number(take(c, size), size);
}

/* The next text, stepped over with its zero. */
static const char *text(struct cursor *c)
{
	const char *s = (const char *)c->f->data + c->at;
	const char *end = c->at < c->f->size ? memchr(s, '\0', c->f->size - c->at) : NULL;

	if (!end)
		broken(c->f, c->at);
	c->at += (size_t)(end - s) + 1;
	return s;
}

/* ---- Tables of names */

/* For qsort() and bsearch(). Names of one address stay in the order of the text; a key has no name. */
static int by_address(const void *a, const void *b)
{
	const struct vt_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name && y->name ? x->name < y->name ? -1 : x->name > y->name : 0;
}

/*
 * Read a table of lines, each a number in this base, `skip` words that are not kept, and a name. Three
 * files have this form:
 *
 *     ffff000040080000 T _text              kallsyms: base 16, the type is skipped
 *     0xffff000040912345 : "loop %d\n"      printk_formats: the colon is skipped
 *     1234 bash                             saved_cmdlines: base 10
 *
 * The lines are copied, since the mapping cannot be written; the names point into that copy. Returns
 * the table sorted by number, with *count entries.
 */
static struct vt_symbol *name_table(const char *s, size_t n, int base, int skip, size_t *count)
{
	struct vt_symbol *table = NULL;
	char *lines = vt_malloc(n + 1), *line;
	size_t room = 0;

	memcpy(lines, s, n);
	lines[n] = '\0';
	*count = 0;
	for (char *rest = lines; (line = strsep(&rest, "\n"));) {
		char *end;
		unsigned long long address = strtoull(line, &end, base);

		if (end == line)
			continue;
		for (int i = 0; i < skip; i++)
			end += strspn(end, " "), end += strcspn(end, " ");
		end += strspn(end, " ");
		if (skip < 2) /* a symbol of a module: "name\t[module]" */
			end[strcspn(end, "\t")] = '\0';
		if (*count == room)
			table = vt_realloc(table, (room = room ? room * 2 : 256) * sizeof(*table));
		table[(*count)++] = (struct vt_symbol){address, end};
	}
	if (*count)
		qsort(table, *count, sizeof(*table), by_address);
	return table; /* its names stay in lines */
}

/* Exact: a format's address is the key, not a place within something. */
const char *vt_find_name(const struct vt_symbol *table, size_t n, unsigned long long address)
{
	const struct vt_symbol key = {address, NULL},
			       *found = n ? bsearch(&key, table, n, sizeof(key), by_address) : NULL;

	return found ? found->name : NULL;
}

/*
 * The function that holds the address: the last symbol at or below it. NULL in front of the first
 * and behind the last one.
 */
const struct vt_symbol *vt_find_symbol(const struct vt_dat_file *f, unsigned long long address)
{
	size_t low = 0, high = f->nr_symbols;

	/*
	 * Invariant: symbols below `low` begin at or below the address, those from `high` on behind
	 * it.
	 */
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (f->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Of several names for one address the first. Behind the last symbol lies no code. */
	while (low > 1 && f->symbols[low - 2].address == f->symbols[low - 1].address)
		low--;
	return low && low < f->nr_symbols ? &f->symbols[low - 1] : NULL;
}

/* ---- Sections */

/* The formats of one system's events, each behind its length. The texts stay in the mapping. */
static void take_formats(struct vt_dat_file *f, struct cursor *c, const char *system)
{
	for (unsigned long long n = number(c, 4); n; n--) {
		unsigned long long size = number(c, 8);
		const unsigned char *format = take(c, size);

		f->events = vt_realloc(f->events, (f->nr_events + 1) * sizeof(*f->events));
		vt_event_parse(&f->events[f->nr_events++], system, (const char *)format, (size_t)size);
	}
}

/*
 * Take from a section what a report needs. The headers (how a page and a record's head are laid out)
 * are stepped over, as tracepages.c knows the layout; so are sections of other kinds.
 */
static void take_section(struct vt_dat_file *f, struct cursor *c, int id)
{
	unsigned long long n;

	switch (id) {
	case OPT_HEADER_INFO:
		for (int i = 0; i < 2; i++) {
			text(c);
			n = number(c, 8);
			take(c, n);
		}
		break;
	case OPT_FTRACE_EVENTS:
		take_formats(f, c, "ftrace");
		break;
	case OPT_EVENT_FORMATS:
		for (n = number(c, 4); n; n--)
			take_formats(f, c, text(c));
		break;
	case OPT_KALLSYMS:
		n = number(c, 4);
		f->symbols = name_table((const char *)take(c, n), (size_t)n, 16, 1, &f->nr_symbols);
		break;
	case OPT_PRINTK:
		n = number(c, 4);
		f->formats = name_table((const char *)take(c, n), (size_t)n, 16, 1, &f->nr_formats);
		break;
	case OPT_CMDLINES:
		n = number(c, 8);
		f->comms = name_table((const char *)take(c, n), (size_t)n, 10, 0, &f->nr_comms);
		break;
	}
}

/*
 * Where the pages of one CPU lie. A size that ends beyond the file, or a CPU that the buffer does not
 * have, ends the program.
 */
static void take_cpu(struct vt_dat_file *f, struct vt_buffer *buffer, unsigned cpu, unsigned long long at,
		     unsigned long long size)
{
	struct cursor c = {f, (size_t)at};
	const unsigned char *pages = take(&c, size);

	if (cpu >= (unsigned)buffer->nr_cpus)
		broken(f, (size_t)at);
	buffer->cpus[cpu] = (struct vt_cpu){.pages = pages, .end = pages + size};
}

/*
 * Add a buffer with n CPUs that have no pages yet. The buffer that is always there has an empty name;
 * it is moved to the first place wherever it comes in the file, so that its records win in a report
 * when two times are equal. More than 4096 CPUs are taken for a broken file: the number decides how
 * much memory is asked for.
 */
static struct vt_buffer *new_buffer(struct vt_dat_file *f, const char *name, unsigned long long n, size_t at)
{
	size_t place = f->nr_buffers;

	if (n < 1 || n > 4096)
		broken(f, at);
	f->buffers = vt_realloc(f->buffers, ++f->nr_buffers * sizeof(*f->buffers));
	if (!*name) {
		memmove(f->buffers + 1, f->buffers, place * sizeof(*f->buffers));
		place = 0;
		f->nr_cpus = (int)n;
	}
	f->buffers[place] = (struct vt_buffer){name, vt_malloc((size_t)n * sizeof(struct vt_cpu)), (int)n};
	memset(f->buffers[place].cpus, 0, (size_t)n * sizeof(struct vt_cpu));
	return &f->buffers[place];
}

/*
 * Version 7: the buffer's place, name, clock, pages' size, and a table of CPUs. A latency tracer
 * leaves a text instead; only the first buffer's is shown. It lies behind its section's head, whose
 * last 8 bytes are its size.
 */
static void take_buffer(struct vt_dat_file *f, struct cursor *c, bool is_text)
{
	unsigned long long place = number(c, 8), n;
	const char *name = text(c);
	struct vt_buffer *buffer;
	unsigned page_size;

	text(c);
	if (is_text && *name)
		return;
	if (is_text) {
		struct cursor to = {f, (size_t)place + 8};

		n = number(&to, 8);
		f->text = (const char *)take(&to, n);
		f->text_size = (size_t)n;
		return;
	}
	page_size = (unsigned)number(c, 4);
	if (f->nr_buffers && page_size != f->page_size)
		vt_die(1, "%s: '%s' has pages of another size", f->path, name);
	f->page_size = page_size;
	n = number(c, 4);
	buffer = new_buffer(f, name, n, c->at);
	for (; n; n--) {
		unsigned cpu = (unsigned)number(c, 4);
		unsigned long long at = number(c, 8);

		take_cpu(f, buffer, cpu, at, number(c, 8));
	}
}

/*
 * Options of version 7 may come in several pieces, each of which says where the next is. The last
 * option of a piece is OPT_DONE, with the place of the next piece or 0. An option of unknown number is
 * stepped over by its length. Pieces that point to each other in a circle are not noticed.
 */
static void take_options_v7(struct vt_dat_file *f, struct cursor *c)
{
	unsigned long long next = number(c, 8);

	while (next) {
		int id;

		/* Pieces follow each other in the file. One that leads back would lead round for ever. */
		if (next < c->at)
			broken(f, c->at);
		c->at = (size_t)next;
		take(c, 16);
		next = 0;
		do {
			struct cursor option, section;

			id = (int)number(c, 2);
			/*
			 * Behind the length. What the option holds is read by cursors of its own: if
			 * it is longer than expected, `c` still stands at the next one.
			 */
			option = section = (struct cursor){f, c->at + 4};
			take(c, number(c, 4));
			if (id == OPT_CPUCOUNT && !f->nr_cpus)
				f->nr_cpus = (int)number(&option, 4);
			else if (id == OPT_BUFFER || id == OPT_BUFFER_TEXT)
				take_buffer(f, &option, id == OPT_BUFFER_TEXT);
			else if (id == OPT_DONE)
				next = number(&option, 8);
			if (id < OPT_HEADER_INFO || id > OPT_CMDLINES)
				continue;
			section.at = (size_t)number(&option, 8) + 16;
			take_section(f, &section, id);
		} while (id != OPT_DONE);
	}
}

/* The table of version 6, behind the word "flyrecord": place and size of each CPU's pages. */
static void take_table(struct vt_dat_file *f, struct vt_buffer *buffer, struct cursor *c)
{
	for (int cpu = 0; cpu < buffer->nr_cpus; cpu++) {
		unsigned long long at = number(c, 8);

		take_cpu(f, buffer, (unsigned)cpu, at, number(c, 8));
	}
}

/* The option of an instance says where its own "flyrecord" and table stand, and its name. */
static void take_instance(struct vt_dat_file *f, struct cursor *option)
{
	struct cursor table = {f, (size_t)number(option, 8)};
	const char *name = text(option);

	if (!*name || strcmp(text(&table), "flyrecord"))
		broken(f, table.at);
	take_table(f, new_buffer(f, name, (unsigned)f->nr_cpus, table.at), &table);
}

/*
 * Read the rest of version 6: the sections in their fixed order, the number of CPUs, the options if
 * there are any, and the word that tells pages ("flyrecord") from text ("latency").
 */
static void take_v6(struct vt_dat_file *f, struct cursor *c)
{
	int id;

	for (id = OPT_HEADER_INFO; id <= OPT_CMDLINES; id++)
		take_section(f, c, id);
	new_buffer(f, "", number(c, 4), c->at);
	if (!strcmp(text(c), "options  ")) {
		while ((id = (int)number(c, 2)) != OPT_DONE) {
			struct cursor option = {f, c->at + 4};

			take(c, number(c, 4));
			if (id == OPT_BUFFER)
				take_instance(f, &option);
		}
		if (!strcmp(text(c), "latency  ")) {
			f->text = (const char *)f->data + c->at;
			f->text_size = f->size - c->at;
			return;
		}
	}
	take_table(f, &f->buffers[0], c);
}

/* For qsort() and bsearch(): each record begins with the id of its event. */
static int by_id(const void *a, const void *b)
{
	const struct vt_event *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

const struct vt_event *vt_find_event(const struct vt_dat_file *f, unsigned id)
{
	const struct vt_event key = {.id = id};

	return f->nr_events ? bsearch(&key, f->events, f->nr_events, sizeof(key), by_id) : NULL;
}

/*
 * Map a file of trace-cmd and read its head: versions 6 and 7, of a machine with our order of bytes. Records are read
 * later. Does not return when the file is of another kind or damaged.
 */
void vt_dat_open(struct vt_dat_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct cursor c = {f, 0};
	struct stat st;

	*f = (struct vt_dat_file){.path = path};
	if (fd < 0 || fstat(fd, &st) < 0)
		vt_die_errno(1, path);
	f->size = (size_t)st.st_size;
	f->data = f->size ? mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	close(fd);
	if (f->data == MAP_FAILED || f->size < 20 || memcmp(f->data, "\x17\x08\x44tracing", 10))
		vt_die(1, "%s: no trace.dat", path);
	c.at = 10;
	f->version = atoi(text(&c));
	if (f->version != 6 && f->version != 7)
		vt_die(1, "%s: version %d of trace.dat, 6 and 7 are read", path, f->version);
	if (number(&c, 1) != 0 || number(&c, 1) != 8)
		vt_die(1, "%s: of a machine with another order of bytes, or of 32 bits", path);
	f->page_size = (unsigned)number(&c, 4);
	if (f->version == 6) {
		take_v6(f, &c);
	} else {
		if (strcmp(text(&c), "none"))
			vt_die(1, "%s: compressed", path);
		text(&c);
		take_options_v7(f, &c);
	}
	if (f->page_size < 64)
		broken(f, c.at);
	if (f->nr_events)
		qsort(f->events, f->nr_events, sizeof(*f->events), by_id);
}

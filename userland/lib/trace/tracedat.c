/*
 * Writing trace.dat, as trace-cmd and KernelShark read it: version 7, in which a section of options
 * says where all others are, and version 6, in which all stand one behind the other.
 *
 *     v7:  magic | options: where is what? | sections: headers, formats, symbols, names | buffers: pages of each CPU
 *     v6:  magic | headers, formats, symbols, names | options, first buffer's table | pages of each CPU
 *
 * All sizes are known before the first byte is written, so the file may be a pipe. Numbers have
 * this machine's order, the lowest byte first; nothing is compressed. Errors while writing are
 * returned as -1 with errno; reading tracefs ends the program if it fails.
 */
#include <vt_trace.h>
#include <sys/utsname.h>
#include <time.h>

#include <uapi/trace_dat.h>

#define FIRST_SECTION OPT_HEADER_INFO
#define LAST_SECTION  OPT_CMDLINES
#define NR_SECTIONS   (LAST_SECTION - FIRST_SECTION + 1)
#define SECTION_HEAD  16

/* A file that is being put together: all but the pages, which stay in files (tracespool.c). */
struct vt_dat {
	int version, nr_cpus, page;	       /* page: bytes of a sub-buffer */
	struct vt_bytes sections[NR_SECTIONS]; /* what is in them */
	struct vt_bytes tgids, fixed;	       /* noted at the end of the recording */
	char **clocks;			       /* of each buffer, the same */
	int fd;
	bool keep;	       /* what is written */
	unsigned long long at; /* bytes written */
};

/* Descriptions of sections, each for the number of its section. */
static const char *const descriptions[] = {"headers",  "ftrace events", "event formats",
					   "kallsyms", "trace_printk",	"saved command lines"};
static const char data_description[] = "trace data", text_description[] = "latency trace";

/* ---- What the file says before the first record */

/*
 * How pages and the heads of records are laid out, in the kernel's own words: a reader needs no
 * knowledge of this kernel's version.
 */
static void put_headers(struct vt_bytes *b, unsigned page)
{
	vt_put_text(b, "header_page");
	vt_put_header_page(b, page);
	vt_put_text(b, "header_event");
	vt_put_tracefs_file(b, "events/header_event", 8);
}

/* The names in a folder, sorted. */
static char **sorted_names(const char *dir, size_t *n)
{
	char **names = vt_names(dir);

	if (!names)
		vt_die_errno(1, dir);
	for (*n = 0; names[*n];)
		++*n;
	/* Sorted names make two recordings of one kernel equal, byte by byte, up to the pages. */
	qsort(names, *n, sizeof(*names), vt_by_name);
	return names;
}

/*
 * Append the formats of all events of one system: their number, then each format file behind its
 * length. They are gathered aside first, as the number stands in front and is known only at the end. A
 * folder of events also has files (enable, filter); only what has a readable `format` is an event.
 * Returns how many there were.
 */
static unsigned put_formats(struct vt_bytes *b, const char *system)
{
	char *folder = vt_tracefs_path(NULL, "events"), *dir = vt_join(folder, system);
	struct vt_bytes formats = {};
	unsigned count = 0;
	size_t n;
	char **names = sorted_names(dir, &n);

	for (size_t i = 0; i < n; i++) {
		char *event = vt_join(dir, names[i]), *path = vt_join(event, "format");

		if (access(path, R_OK) == 0) {
			vt_put_file(&formats, path, 8);
			count++;
		}
		free(path);
		free(event);
	}
	vt_put_number(b, count, 4);
	vt_put(b, formats.data ?: "", formats.n);
	free(formats.data);
	vt_names_free(names);
	free(dir);
	free(folder);
	return count;
}

/*
 * Append the formats of all systems but `ftrace`, which has a section of its own: its events are the
 * tracers' own records, and they have no filter and cannot be enabled.
 *
 *     4 bytes: systems | "sched\0" | 4 bytes: events | 8 bytes: length | text of format | length | text ...
 */
static void put_systems(struct vt_bytes *b)
{
	char *folder = vt_tracefs_path(NULL, "events");
	struct vt_bytes systems = {};
	unsigned count = 0;
	size_t n;
	char **names = sorted_names(folder, &n);

	for (size_t i = 0; i < n; i++) {
		char *dir = vt_join(folder, names[i]), *filter = vt_join(dir, "filter");

		if (access(filter, F_OK) == 0 && strcmp(names[i], "ftrace")) {
			vt_put_text(&systems, names[i]);
			put_formats(&systems, names[i]);
			count++;
		}
		free(filter);
		free(dir);
	}
	vt_put_number(b, count, 4);
	vt_put(b, systems.data ?: "", systems.n);
	free(systems.data);
	vt_names_free(names);
	free(folder);
}

static struct vt_bytes *section(struct vt_dat *d, int id)
{
	return &d->sections[id - FIRST_SECTION];
}

/* Of functions, and the formats of messages. Called a second time, it reads them again. */
static void put_names(struct vt_dat *d)
{
	vt_put_symbols(section(d, OPT_KALLSYMS));
	section(d, OPT_PRINTK)->n = 0;
	vt_put_tracefs_file(section(d, OPT_PRINTK), "printk_formats", 4);
}

struct vt_dat *vt_dat_new(int version, int nr_cpus, unsigned page)
{
	struct vt_dat *d = vt_malloc(sizeof(*d));

	*d = (struct vt_dat){.version = version, .nr_cpus = nr_cpus, .page = page};
	put_headers(section(d, OPT_HEADER_INFO), page);
	put_formats(section(d, OPT_FTRACE_EVENTS), "ftrace");
	put_systems(section(d, OPT_EVENT_FORMATS));
	put_names(d);
	return d;
}

size_t vt_dat_room(const struct vt_dat *d)
{
	size_t n = VT_SEGMENT + d->page + (1 << 16) * (size_t)(1 + d->nr_cpus / 8);

	for (int i = 0; i < NR_SECTIONS; i++)
		n += d->sections[i].n;
	return n;
}

/* ---- Options */

static void put_option(struct vt_bytes *b, int id, const void *data, size_t n)
{
	vt_put_number(b, (unsigned)id, 2);
	vt_put_number(b, n, 4);
	vt_put(b, data, n);
}

static void put_text_option(struct vt_bytes *b, int id, const char *text)
{
	put_option(b, id, text, strlen(text) + 1);
}

/*
 * Append the counters of each CPU of one buffer (per_cpu/cpuN/stats: entries, overruns, bytes), an
 * option for each CPU. The first CPU of an instance names the instance, as trace-cmd has it: a reader
 * prints these texts as they are.
 */
static void put_stats(struct vt_bytes *b, const struct vt_dat *d, const struct vt_dat_buffer *buffer)
{
	struct vt_bytes text = {};

	for (int cpu = 0; cpu < d->nr_cpus; cpu++) {
		char file[48], *stats;

		snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
		stats = vt_tracefs_read_or_die(buffer->instance, file);
		text.n = 0;
		if (buffer->instance && !cpu)
			vt_bytes_printf(&text, "\nBuffer: %s\n\n", buffer->instance);
		vt_bytes_printf(&text, "CPU: %d\n", cpu);
		vt_put_text(&text, stats);
		put_option(b, OPT_CPUSTAT, text.data, text.n);
		free(stats);
	}
	free(text.data);
}

/*
 * Append what the file says of the machine: the clock of the time stamps, the kernel, the number of
 * CPUs, and an id. The id joins recordings that were made together on several machines; it must differ
 * between any two others, so it is made of the time and of the pid.
 */
static void put_machine(struct vt_bytes *b, const struct vt_dat *d)
{
	char text[400], *clock = vt_tracefs_read_or_die(NULL, "trace_clock");
	unsigned long long id;
	struct utsname u;
	struct timespec now;
	unsigned cpus = (unsigned)d->nr_cpus;

	put_text_option(b, OPT_TRACECLOCK, clock);
	free(clock);
	if (uname(&u) < 0)
		vt_die_errno(1, "uname");
	snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release, u.machine);
	put_text_option(b, OPT_UNAME, text);
	put_option(b, OPT_CPUCOUNT, &cpus, sizeof(cpus));
	put_text_option(b, OPT_VERSION, "trace-record of Vitrine");
	clock_gettime(CLOCK_MONOTONIC, &now);
	id = (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
	id ^= (unsigned long long)getpid() << 48;
	put_option(b, OPT_TRACEID, &id, sizeof(id));
	if (d->tgids.n)
		put_option(b, OPT_TGIDS, d->tgids.data, d->tgids.n);
}

/*
 * trace_clock shows all clocks, with the one in use in brackets: "[local] global counter". Returns the
 * word in brackets in new memory.
 */
static char *clock_of(const char *instance)
{
	char *text = vt_tracefs_read_or_die(instance, "trace_clock"), *from = strchr(text, '['), *name;

	if (!from)
		vt_die(1, "trace_clock says '%s'", text);
	from[strcspn(from, "]")] = '\0';
	name = vt_strdup(from + 1);
	free(text);
	return name;
}

/* ---- Where things come to stand */

/*
 * Where a buffer stands in the file. All places are known before anything is written, as the table of
 * CPUs that points to the pages comes before them.
 */
struct place {
	unsigned long long section, data; /* of a buffer: its section, and the first page behind it */
};

/* Pages of a buffer begin at a multiple of their size, so that a reader can map them. */
static unsigned long long page_align(const struct vt_dat *d, unsigned long long at)
{
	return (at + d->page - 1) / d->page * d->page;
}

/* The bytes of a buffer's data in the file: its text, or the pages of all CPUs. */
static unsigned long long size_of(const struct vt_dat *d, const struct vt_dat_buffer *buffer)
{
	unsigned long long pages = 0;

	for (int cpu = 0; cpu < d->nr_cpus && !buffer->text; cpu++)
		pages += buffer->cpus[cpu].pages;
	return buffer->text ? strlen(buffer->text) : pages * VT_TRACE_PAGE;
}

/*
 * Append the table of CPUs: where each one's pages begin, and how many bytes they are. One CPU's pages
 * follow those of the CPU before it, from `at` on.
 *
 *     v7:  cpu (4) | offset (8) | size (8)      v6:  offset (8) | size (8), the position is the CPU's number
 *
 * with_number chooses the layout of version 7.
 */
static void put_table(struct vt_bytes *b, const struct vt_dat *d, const struct vt_dat_buffer *buffer,
		      unsigned long long at, bool with_number)
{
	for (int cpu = 0; cpu < d->nr_cpus; cpu++) {
		unsigned long long size = (unsigned long long)buffer->cpus[cpu].pages * VT_TRACE_PAGE;

		if (with_number)
			vt_put_number(b, (unsigned)cpu, 4);
		vt_put_number(b, at, 8);
		vt_put_number(b, size, 8);
		at += size;
	}
}

/*
 * The option that says where a buffer is. In version 7 it has the clock and the table of CPUs too. In
 * version 6 the table stands behind the word "flyrecord" instead, where the section begins.
 */
static void put_buffer_option(struct vt_bytes *b, const struct vt_dat *d, const struct vt_dat_buffer *buffer,
			      const char *clock, const struct place *place)
{
	struct vt_bytes option = {};

	vt_put_number(&option, place->section, 8);
	vt_put_text(&option, buffer->instance ?: "");
	if (d->version == 7) {
		vt_put_text(&option, clock);
		if (!buffer->text) {
			vt_put_number(&option, d->page, 4);
			vt_put_number(&option, (unsigned)d->nr_cpus, 4);
			put_table(&option, d, buffer, place->data, true);
		}
	}
	put_option(b, buffer->text ? OPT_BUFFER_TEXT : OPT_BUFFER, option.data, option.n);
	free(option.data);
}

/* ---- Writing */

/* Write n bytes. d->at counts them, since a pipe cannot be asked where it is. */
static int put_out(struct vt_dat *d, const void *data, size_t n)
{
	d->at += n;
	return vt_write_all(d->fd, data, n);
}

static int put_out_bytes(struct vt_dat *d, const struct vt_bytes *b)
{
	return put_out(d, b->data ?: "", b->n);
}

/* Zeros up to this place, less than a page of them. */
static int pad_to(struct vt_dat *d, unsigned long long at)
{
	static const char zeros[VT_TRACE_PAGE];
	int ret = 0;

	while (d->at < at && ret == 0)
		ret = put_out(d, zeros, at - d->at < sizeof(zeros) ? (size_t)(at - d->at) : sizeof(zeros));
	return ret;
}

/* A buffer's data: text as it is, pages aligned at `at` and one CPU behind the other. */
static int put_data(struct vt_dat *d, struct vt_dat_buffer *buffer, unsigned long long at)
{
	if (buffer->text)
		return put_out(d, buffer->text, strlen(buffer->text));
	if (pad_to(d, at) < 0)
		return -1;
	for (int cpu = 0; cpu < d->nr_cpus; cpu++) {
		if (vt_spool_give(&buffer->cpus[cpu], d->fd, d->keep) < 0)
			return -1;
		d->at += (unsigned long long)buffer->cpus[cpu].pages * VT_TRACE_PAGE;
	}
	return 0;
}

/*
 * The first bytes: what the file is, its version, order and size of numbers, size of pages; in
 * version 7 also how it is compressed (not at all) and where the options begin.
 */
static int put_magic(struct vt_dat *d)
{
	struct vt_bytes b = {};
	int ret;

	vt_put(&b, "\x17\x08\x44tracing", 10);
	vt_put_text(&b, d->version == 7 ? "7" : "6");
	vt_put_number(&b, 0, 1); /* the lowest byte first */
	vt_put_number(&b, sizeof(long), 1);
	vt_put_number(&b, d->page, 4);
	if (d->version == 7) {
		vt_put_text(&b, "none");
		vt_put_text(&b, "");
		vt_put_number(&b, d->at + b.n + 8, 8); /* options come next */
	}
	ret = put_out_bytes(d, &b);
	free(b.data);
	return ret;
}

/* ---- Version 7 */

/*
 * The 16 bytes in front of each section of version 7: what it is, flags (0: not compressed), where its
 * description stands among the strings, and how many bytes follow.
 */
static void put_section_head(struct vt_bytes *b, int id, unsigned long long description, unsigned long long size)
{
	vt_put_number(b, (unsigned)id, 2);
	vt_put_number(b, 0, 2); /* not compressed */
	vt_put_number(b, description, 4);
	vt_put_number(b, size, 8);
}

/*
 * The section of strings: the descriptions of all sections, one behind the other. at[] takes where
 * each begins; the last two are those of a buffer of pages and of a buffer of text.
 */
static void strings_of(struct vt_bytes *b, size_t at[NR_SECTIONS + 2])
{
	for (int i = 0; i < NR_SECTIONS; i++) {
		at[i] = b->n;
		vt_put_text(b, descriptions[i]);
	}
	at[NR_SECTIONS] = b->n;
	vt_put_text(b, data_description);
	at[NR_SECTIONS + 1] = b->n;
	vt_put_text(b, text_description);
}

/*
 * The options as they are when the sections begin at `at`, and where each buffer will be. Their size
 * does not depend on `at`. Therefore write_v7() calls this twice: with `at` 0 for the size, and again
 * with the real place, which is behind these options.
 */
static void options_v7(struct vt_bytes *b, const struct vt_dat *d, struct vt_dat_buffer *buffers, struct place *places,
		       size_t nr, unsigned long long at)
{
	b->n = 0;
	vt_put(b, d->fixed.data, d->fixed.n);
	for (int id = FIRST_SECTION; id <= LAST_SECTION; id++) {
		put_option(b, id, &at, sizeof(at));
		at += SECTION_HEAD + d->sections[id - FIRST_SECTION].n;
	}
	for (size_t i = 0; i < nr; i++) {
		places[i].section = at;
		places[i].data = buffers[i].text ? at + SECTION_HEAD : page_align(d, at + SECTION_HEAD);
		put_buffer_option(b, d, &buffers[i], d->clocks[i], &places[i]);
		at = places[i].data + size_of(d, &buffers[i]);
	}
	at = 0; /* no more options */
	put_option(b, OPT_DONE, &at, sizeof(at));
}

static int put_section(struct vt_dat *d, int id, size_t description, const struct vt_bytes *content)
{
	struct vt_bytes head = {};
	int ret;

	put_section_head(&head, id, description, content->n);
	ret = put_out_bytes(d, &head) < 0 || put_out_bytes(d, content) < 0 ? -1 : 0;
	free(head.data);
	return ret;
}

/*
 * Write a buffer's section. The zeros between its head and the first page (page_align) count to its
 * size: a reader that steps over the section must step over them as well.
 */
static int put_buffer_v7(struct vt_dat *d, struct vt_dat_buffer *buffer, const struct place *place,
			 const size_t strings[NR_SECTIONS + 2])
{
	unsigned long long size = place->data - place->section - SECTION_HEAD + size_of(d, buffer);
	struct vt_bytes head = {};
	int ret;

	put_section_head(&head, buffer->text ? OPT_BUFFER_TEXT : OPT_BUFFER, strings[NR_SECTIONS + !!buffer->text],
			 size);
	ret = put_out_bytes(d, &head) < 0 ? -1 : put_data(d, buffer, place->data);
	free(head.data);
	return ret;
}

/*
 * Write the rest of a file of version 7, in the order in which the head of this file draws it: the
 * options come first, so that a reader of a pipe knows everything before the pages arrive.
 */
static int write_v7(struct vt_dat *d, struct vt_dat_buffer *buffers, struct place *places, size_t nr)
{
	struct vt_bytes options = {}, strings = {};
	size_t at[NR_SECTIONS + 2];
	int ret = -1;

	strings_of(&strings, at);
	options_v7(&options, d, buffers, places, nr, 0);
	options_v7(&options, d, buffers, places, nr, d->at + SECTION_HEAD + options.n + SECTION_HEAD + strings.n);
	if (put_section(d, OPT_DONE, 0, &options) < 0 || put_section(d, OPT_STRINGS, 0, &strings) < 0)
		goto out;
	for (int i = 0; i < NR_SECTIONS; i++)
		if (put_section(d, FIRST_SECTION + i, at[i], &d->sections[i]) < 0)
			goto out;
	for (size_t i = 0; i < nr; i++)
		if (put_buffer_v7(d, &buffers[i], &places[i], at) < 0)
			goto out;
	ret = 0;
out:
	free(options.data);
	free(strings.data);
	return ret;
}

/* ---- Version 6 */

#define WORD_SIZE 10 /* of the words between parts, with their ending zero */

/*
 * The options, and behind them the word that says what comes next with the first buffer's table. The
 * first buffer has no option, since its table follows here; each further one (an instance) has an
 * option that says where its own "flyrecord" stands.
 */
static void tail_v6(struct vt_bytes *b, const struct vt_dat *d, struct vt_dat_buffer *buffers, struct place *places,
		    size_t nr, unsigned long long at)
{
	size_t table = 16 * (size_t)d->nr_cpus;

	b->n = 0;
	vt_put_number(b, (unsigned)d->nr_cpus, 4);
	vt_put(b, "options  ", WORD_SIZE);
	vt_put(b, d->fixed.data, d->fixed.n);
	for (size_t i = 1; i < nr; i++)
		put_buffer_option(b, d, &buffers[i], d->clocks[i], &places[i]);
	vt_put_number(b, OPT_DONE, 2);
	at += b->n;
	for (size_t i = 0; i < nr; i++) {
		places[i].section = at;
		places[i].data = page_align(d, at + WORD_SIZE + table);
		at = places[i].data + size_of(d, &buffers[i]);
	}
	if (buffers[0].text) {
		vt_put(b, "latency  ", WORD_SIZE);
		return;
	}
	vt_put(b, "flyrecord", WORD_SIZE);
	put_table(b, d, &buffers[0], places[0].data, false);
}

/*
 * Write the rest of a file of version 6. It has no numbers for its sections: their order is the
 * format.
 */
static int write_v6(struct vt_dat *d, struct vt_dat_buffer *buffers, struct place *places, size_t nr)
{
	struct vt_bytes b = {};
	int ret = -1;

	for (int i = 0; i < NR_SECTIONS; i++)
		if (put_out_bytes(d, &d->sections[i]) < 0)
			return -1;
	for (int again = 0; again < 2; again++) /* the second time, instances' options know their places */
		tail_v6(&b, d, buffers, places, nr, d->at);
	if (put_out_bytes(d, &b) < 0 || put_data(d, &buffers[0], places[0].data) < 0)
		goto out;
	for (size_t i = 1; i < nr; i++) {
		b.n = 0;
		vt_put(&b, "flyrecord", WORD_SIZE);
		put_table(&b, d, &buffers[i], places[i].data, false);
		if (put_out_bytes(d, &b) < 0 || put_data(d, &buffers[i], places[i].data) < 0)
			goto out;
	}
	ret = 0;
out:
	free(b.data);
	return ret;
}

/*
 * saved_cmdlines and saved_tgids map pids to names and to processes. They are read at the end, when
 * every task that was recorded has been seen by the tracer; at the beginning they would lack the tasks
 * that the recording is about. So are names, for what modules that came in between brought.
 */
void vt_dat_note(struct vt_dat *d, const struct vt_dat_buffer *buffers, size_t nr)
{
	char *tgids = vt_tracefs_read(NULL, "saved_tgids");

	vt_put_tracefs_file(section(d, OPT_CMDLINES), "saved_cmdlines", 8);
	put_names(d);
	if (tgids && *tgids)
		vt_put_text(&d->tgids, tgids);
	free(tgids);
	put_machine(&d->fixed, d);
	d->clocks = vt_malloc(nr * sizeof(*d->clocks));
	for (size_t i = 0; i < nr; i++) {
		put_stats(&d->fixed, d, &buffers[i]);
		d->clocks[i] = clock_of(buffers[i].instance);
	}
}

int vt_dat_write(struct vt_dat *d, int fd, struct vt_dat_buffer *buffers, size_t nr, bool keep)
{
	struct place *places = vt_malloc(nr * sizeof(*places));
	int ret;

	d->fd = fd;
	d->at = 0;
	d->keep = keep;
	ret = put_magic(d);
	if (ret == 0)
		ret = (d->version == 7 ? write_v7 : write_v6)(d, buffers, places, nr);
	free(places);
	return ret;
}

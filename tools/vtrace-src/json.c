/* Chrome's trace events (chrome://tracing, Perfetto's page) and speedscope's own form: JSON. */
#include "vtrace.h"

#include <stdlib.h>
#include <string.h>

/* A JSON string. utf8() replaces bytes that are no UTF-8, since comms may hold any byte. */
static void put_text(const char *text)
{
	putc('"', out);
	while (*text) {
		size_t n;
		const char *c = utf8(&text, &n);

		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (n == 1 && *c < 32)
			fprintf(out, "\\u%04x", *c);
		else
			fwrite(c, 1, n, out);
	}
	putc('"', out);
}

/* ---- Chrome: a process for each group of tracks, which are its threads. Times are in us. */

static bool some;

static void chrome_head(const char *phase, const struct track *t, uint64_t ts)
{
	fprintf(out, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%u,\"ts\":%llu.%03u", some ? ",\n" : "", phase, t->kind + 1,
		t->number + 1, (unsigned long long)(ts / 1000), (unsigned)(ts % 1000));
	some = true;
}

static void chrome_start(const struct dat *d, const struct buffer *b)
{
	(void)d, (void)b;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	for (int i = 0; i < NR_TRACK_GROUPS; i++)
		fprintf(out, "%s{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}",
			i ? ",\n" : "", i + 1, track_groups[i]);
	some = true;
}

static void chrome_track(struct track *t)
{
	if (t->kind == TRACK_COUNTER)
		return; /* it is known by its name */
	fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":", t->kind + 1,
		t->number + 1);
	put_text(t->name);
	fputs("}}", out);
}

static void chrome_begin(struct track *t, uint64_t ts, const char *name)
{
	chrome_head("B", t, ts);
	fputs(",\"name\":", out);
	put_text(name);
	putc('}', out);
}

static void chrome_instant(struct track *t, uint64_t ts, const char *name, const char *text)
{
	chrome_head("i", t, ts);
	fputs(",\"s\":\"t\",\"name\":", out);
	put_text(name);
	if (text) {
		fputs(",\"args\":{\"text\":", out);
		put_text(text);
		putc('}', out);
	}
	putc('}', out);
}

/* Both ends have the name, and no more: speedscope takes what differs for another slice. So a mark is a
 * moment. */
static void chrome_end(struct track *t, uint64_t ts, const char *name, uint64_t ns, const char *mark)
{
	char text[300];

	(void)ns;
	if (mark) {
		snprintf(text, sizeof(text), "%s: %s", mark, name);
		chrome_instant(t, ts, text, NULL);
	}
	chrome_head("E", t, ts);
	fputs(",\"name\":", out);
	put_text(name);
	putc('}', out);
}

static void chrome_count(struct track *t, uint64_t ts, long long value)
{
	fprintf(out, ",\n{\"ph\":\"C\",\"pid\":%d,\"ts\":%llu.%03u,\"name\":", TRACK_MARK + 1,
		(unsigned long long)(ts / 1000), (unsigned)(ts % 1000));
	put_text(t->name);
	fprintf(out, ",\"args\":{\"value\":%lld}}", value);
}

static void chrome_finish(uint64_t first, uint64_t last)
{
	(void)first, (void)last;
	fputs("\n]}\n", out);
}

const struct sink chrome_sink = {.start = chrome_start,
				 .track = chrome_track,
				 .begin = chrome_begin,
				 .end = chrome_end,
				 .instant = chrome_instant,
				 .finish = chrome_finish,
				 .wants_instants = true,
				 .count = chrome_count};

/* ---- speedscope: a profile for each track, one behind the other. So what comes in the order of time waits
 * in a file, in chunks of one track each that name the next. */

#define CHUNK 500

struct entry {
	uint64_t at;
	uint32_t frame; /* number of its name, times two; odd: it ends */
};

struct waiting {
	struct entry entries[CHUNK];
	int n;
	long *chunks; /* where in the file */
	size_t nr_chunks;
};

static FILE *aside;
static const char *unit;

static void speedscope_start(const struct dat *d, const struct buffer *b)
{
	(void)d;
	unit = in_ns(b) ? "nanoseconds" : "none";
	aside = tmpfile();
	if (!aside)
		die("no room for a temporary file");
}

static void speedscope_track(struct track *t)
{
	t->private_ = get_memory(NULL, sizeof(struct waiting));
	memset(t->private_, 0, sizeof(struct waiting));
}

static void put_aside(struct waiting *w)
{
	w->chunks = get_memory(w->chunks, (w->nr_chunks + 1) * sizeof(*w->chunks));
	fseek(aside, 0, SEEK_END);
	w->chunks[w->nr_chunks++] = ftell(aside);
	if (fwrite(w->entries, sizeof(w->entries), 1, aside) != 1)
		die("no room for a temporary file");
	w->n = 0;
}

static void speedscope_add(struct track *t, uint64_t ts, const char *name, bool end)
{
	struct waiting *w = t->private_;
	unsigned number;

	intern(name, &number);
	w->entries[w->n++] = (struct entry){ts, number * 2 + end};
	if (w->n == CHUNK)
		put_aside(w);
}

static void speedscope_begin(struct track *t, uint64_t ts, const char *name)
{
	speedscope_add(t, ts, name, false);
}

/* Its frames have no place for a mark: the name of a closed one cannot differ from that it began with. */
static void speedscope_end(struct track *t, uint64_t ts, const char *name, uint64_t ns, const char *mark)
{
	(void)ns, (void)mark;
	speedscope_add(t, ts, name, true);
}

static void put_entries(const struct entry *e, int n, bool *comma)
{
	for (; n; n--, e++) {
		fprintf(out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%llu}", *comma ? ",\n" : "",
			e->frame & 1 ? 'C' : 'O', e->frame / 2, (unsigned long long)e->at);
		*comma = true;
	}
}

/* The events of one track: first the chunks that were put aside into a file, then those that are in memory still. */
static void put_profile(const struct track *t, uint64_t first, uint64_t last)
{
	static struct entry entries[CHUNK];
	const struct waiting *w = t->private_;
	bool comma = false;

	fprintf(out, "{\"type\":\"evented\",\"unit\":\"%s\",\"name\":", unit);
	put_text(t->name);
	fprintf(out, ",\"startValue\":%llu,\"endValue\":%llu,\"events\":[\n", (unsigned long long)first,
		(unsigned long long)last);
	for (size_t i = 0; i < w->nr_chunks; i++) {
		fseek(aside, w->chunks[i], SEEK_SET);
		if (fread(entries, sizeof(entries), 1, aside) != 1)
			die("a temporary file cannot be read");
		put_entries(entries, CHUNK, &comma);
	}
	put_entries(w->entries, w->n, &comma);
	fputs("]}", out);
}

/*
 * The form wants all names before the first event, and all events of a track together. So events wait until the trace
 * has ended, and everything is written here.
 */
static void speedscope_finish(uint64_t first, uint64_t last)
{
	bool comma = false;
	const char *name;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"vtrace\",\n", out);
	fputs("\"shared\":{\"frames\":[", out);
	for (unsigned i = 0; (name = interned(i)); i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		put_text(name);
		putc('}', out);
	}
	fputs("]},\n\"profiles\":[", out);
	for (const struct track *t = tracks(); t; t = t->next) {
		const struct waiting *w = t->private_;

		if (!w->n && !w->nr_chunks)
			continue;
		fputs(comma ? ",\n" : "\n", out);
		put_profile(t, first, last);
		comma = true;
	}
	fputs("]}\n", out);
	fclose(aside);
}

const struct sink speedscope_sink = {.start = speedscope_start,
				     .track = speedscope_track,
				     .begin = speedscope_begin,
				     .end = speedscope_end,
				     .finish = speedscope_finish};

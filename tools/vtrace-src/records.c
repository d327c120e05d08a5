/* Records in the order of time: a page of each CPU is in memory at a time. */
#include "vtrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <traceevent/kbuffer.h>
#include <unistd.h>

#define HEAD	      16 /* time and commit */
#define MISSED_EVENTS (1u << 31)
#define SIZE_BITS     0x7ffffff

struct cursor {
	const struct cpu_data *cpu;
	struct kbuffer *kbuf;
	char *page;
	uint64_t next;	       /* page's place among the CPU's bytes */
	unsigned long long ts; /* of the record that is due */
	uint64_t last;	       /* time of the one before */
	void *data;	       /* NULL: there are no more */
	long lost;
};

static const struct dat *dat;
static void (*say)(int cpu, uint64_t ts, const char *text);

/* ---- How far we are, on a terminal */

static uint64_t pages_done, pages_all;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Called with each page. The first line comes after two seconds; it is wiped out at the end. */
static void progress(bool end)
{
	static double began, shown;
	static bool visible;
	double at;

	if (!isatty(STDERR_FILENO))
		return;
	at = now();
	if (!began)
		began = at;
	if (end && visible)
		fprintf(stderr, "\r%30s\r", "");
	if (end || at < began + 2 || at < shown + 0.2)
		return;
	fprintf(stderr, "\rvtrace: %3u %%", (unsigned)(100 * pages_done / (pages_all ? pages_all : 1)));
	shown = at;
	visible = true;
}

/* ---- Pages */

static void fault(const struct cursor *c, uint64_t ts, const char *text)
{
	char line[160];

	snprintf(line, sizeof(line), "the page at %llu: %s",
		 (unsigned long long)(c->cpu->offset + c->next - dat->page_size), text);
	say(c->cpu->cpu, ts, line);
}

/* libtraceevent believes what a page says of its size, and what records in it say of theirs: look first. */
static bool page_is_whole(const struct cursor *c)
{
	uint64_t commit, ts, size;
	size_t at = 0;
	bool records = false; /* or what is left of one that was taken back */

	memcpy(&ts, c->page, 8);
	memcpy(&commit, c->page + 8, 8);
	size = commit & SIZE_BITS;
	if (size > dat->page_size - HEAD) {
		fault(c, ts, "it claims to hold more than a page");
		return false;
	}
	while (at < size) {
		uint32_t head, more = 0;
		uint64_t step;

		memcpy(&head, c->page + HEAD + at, 4);
		if ((head & 31) == 0 || (head & 31) >= 29)
			memcpy(&more, c->page + HEAD + at + 4, at + 8 <= size ? 4 : 0);
		if ((head & 31) == 0 || (head & 31) == 29)
			step = 4 + (uint64_t)more;
		else
			step = (head & 31) >= 30 ? 8 : 4 + 4 * (head & 31);
		if ((head & 31) == 29 && !(head >> 5)) /* the rest of the page */
			step = size - at;
		if (step < 4 || step % 4 || step > size - at) {
			fault(c, ts, "a record goes beyond its end");
			return false;
		}
		at += step;
		records |= (head & 31) < 30;
	}
	if (size && !records) {
		fault(c, ts, "it holds times and no record");
		return false;
	}
	return true;
}

/* The next page with records; false at the end. */
static bool next_page(struct cursor *c)
{
	while (c->next < c->cpu->size) {
		ssize_t got = pread(dat->fd, c->page, dat->page_size, (off_t)(c->cpu->offset + c->next));

		if (got != (ssize_t)dat->page_size)
			die("cannot be read: %s", got < 0 ? strerror(errno) : "it became shorter");
		c->next += dat->page_size;
		pages_done++;
		progress(false);
		if (!page_is_whole(c) || kbuffer_load_subbuffer(c->kbuf, c->page)) {
			c->lost = -1;
			continue;
		}
		if (kbuffer_missed_events(c->kbuf) && !c->lost)
			c->lost = kbuffer_missed_events(c->kbuf);
		c->data = kbuffer_read_event(c->kbuf, &c->ts);
		if (c->data)
			return true;
	}
	c->data = NULL;
	return false;
}

static void advance(struct cursor *c)
{
	c->last = c->ts;
	c->data = kbuffer_next_event(c->kbuf, &c->ts);
	if (!c->data)
		next_page(c);
	if (c->data && c->ts < c->last)
		fault(c, c->ts, "time goes back");
}

/* ---- All CPUs */

static struct cursor *oldest(struct cursor *cursors, int n)
{
	struct cursor *found = NULL;

	for (int i = 0; i < n; i++)
		if (cursors[i].data && (!found || cursors[i].ts < found->ts))
			found = &cursors[i];
	return found;
}

/* The record itself goes into zeros, so that fields beyond its end read as such. */
static void hand_out(struct cursor *c, void (*work)(const struct record *r))
{
	static char copy[4 * MAX_RECORD]; /* what a field says of where its data lie may go so far */
	static int before;
	struct record r = {.cpu = c->cpu->cpu, .ts = c->ts, .data = copy, .lost = c->lost};
	struct tep_record t = {.data = copy};

	r.size = kbuffer_event_size(c->kbuf);
	if (r.size > MAX_RECORD || r.size < 8) {
		fault(c, c->ts, "a record of a size that none has");
		c->lost = -1;
		return;
	}
	memcpy(copy, c->data, r.size);
	if (before > r.size)
		memset(copy + r.size, 0, before - r.size);
	before = r.size;
	t.size = r.size;
	r.type = tep_data_type(dat->tep, &t);
	r.pid = tep_data_pid(dat->tep, &t);
	work(&r);
	c->lost = 0;
}

/* Merge the CPUs' pages by time: each CPU has a cursor at its next record, and the oldest of them is handed out. */
void each_record(const struct dat *d, const struct buffer *b, void (*work)(const struct record *r),
		 void (*fault_work)(int cpu, uint64_t ts, const char *text))
{
	struct cursor *cursors = get_memory(NULL, (b->nr_cpus + 1) * sizeof(*cursors)), *c;

	dat = d;
	say = fault_work;
	pages_done = pages_all = 0;
	for (int i = 0; i < b->nr_cpus; i++) {
		cursors[i] = (struct cursor){.cpu = &b->cpus[i], .page = get_memory(NULL, d->page_size + 8)};
		cursors[i].kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
		pages_all += b->cpus[i].size / d->page_size;
		next_page(&cursors[i]);
	}
	while ((c = oldest(cursors, b->nr_cpus))) {
		hand_out(c, work);
		advance(c);
	}
	for (int i = 0; i < b->nr_cpus; i++) {
		kbuffer_free(cursors[i].kbuf);
		free(cursors[i].page);
	}
	free(cursors);
	progress(true);
}

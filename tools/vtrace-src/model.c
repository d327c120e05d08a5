/*
 * Records as slices on tracks: who runs on a CPU (sched_switch), a CPU's interrupts, what a task does
 * (function_graph), and everything else as moments of the task it happened to. Slices end in the reverse
 * order of their beginning; what has no end in the trace is closed, with the reason.
 */
#include "vtrace.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define HASHES	   1024
#define MAX_FIELDS 5
#define MAX_DEPTH  256	/* of calls: no tracer follows so many, and writers' work grows with the depth */
#define DEAD	   0x30 /* of prev_state: X and Z, a task that will not come back */

enum what {
	WHAT_UNKNOWN,
	WHAT_OTHER,
	WHAT_SWITCH,
	WHAT_ENTRY,
	WHAT_EXIT,
	WHAT_FUNCTION,
	WHAT_IRQ,
	WHAT_IRQ_END,
	WHAT_SOFTIRQ,
	WHAT_SOFTIRQ_END,
	WHAT_SAMPLE,
	WHAT_PRINT
};

static const struct {
	const char *system, *name;
	enum what what;
	const char *fields[MAX_FIELDS];
} kinds[] = {
	{"sched", "sched_switch", WHAT_SWITCH, {"prev_pid", "next_pid", "prev_state", "prev_comm", "next_comm"}},
	{"ftrace", "funcgraph_entry", WHAT_ENTRY, {"func", "depth"}},
	{"ftrace", "funcgraph_exit", WHAT_EXIT, {"func", "depth", "calltime", "rettime"}},
	{"ftrace", "function", WHAT_FUNCTION, {"ip"}},
	{"ftrace", "print", WHAT_PRINT, {"buf"}},
	{"ftrace", "special", WHAT_SAMPLE, {"arg1", "arg2", "arg3"}},
	{"irq", "irq_handler_entry", WHAT_IRQ, {"irq"}},
	{"irq", "irq_handler_exit", WHAT_IRQ_END, {"irq"}},
	{"irq", "softirq_entry", WHAT_SOFTIRQ, {"vec"}},
	{"irq", "softirq_exit", WHAT_SOFTIRQ_END, {"vec"}},
};

/* What a type of record is, looked up when the first of it comes. */
static struct type {
	bool known;
	enum what what;
	struct tep_event *event;
	struct tep_format_field *fields[MAX_FIELDS];
} types[65536];

/* Of a CPU: who runs, as far as is known. */
static struct cpu {
	bool seen, running_known;
	int running, going; /* the one before, which may still make records, or -1 */
	int dying;	    /* the one before, if it will not come back, or 0 */
	uint64_t first, last;
} * cpus;
static int nr_cpus;

static const struct dat *dat;
static const struct sink *sink;
static void (*odd)(int cpu, uint64_t ts, const char *text);
static struct totals totals;
static struct track *hashes[HASHES], *first_track, **last_track = &first_track;
static unsigned nr_tracks;

static void __attribute__((format(printf, 3, 4))) say_odd(int cpu, uint64_t ts, const char *format, ...)
{
	char line[300];
	va_list args;

	if (!odd)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	odd(cpu, ts, line);
}

/* ---- Tracks */

struct track *tracks(void)
{
	return first_track;
}

const char *comm_of(int pid)
{
	return pid ? tep_data_comm_from_pid(dat->tep, pid) : "<idle>";
}

static const char *track_name(enum track_kind kind, int id)
{
	char name[100];

	if (kind == TRACK_TASK && id < 0)
		snprintf(name, sizeof(name), "<idle> of CPU %d", -1 - id);
	else if (kind == TRACK_TASK || kind == TRACK_MARK)
		snprintf(name, sizeof(name), kind == TRACK_TASK ? "%s-%d" : "%s-%d marks", comm_of(id), id);
	else if (kind == TRACK_SPAN || kind == TRACK_COUNTER)
		return interned(id);
	else
		snprintf(name, sizeof(name), kind == TRACK_CPU ? "CPU %d" : "CPU %d interrupts", id);
	return intern(name, NULL);
}

const char *const track_groups[] = {"CPUs", "Interrupts", "Tasks", "Marks", "Marks across tasks"};

/* Find a track, or make it. The number of a new one is its place in the order in which tracks appear. */
static struct track *track(enum track_kind kind, int id)
{
	struct track **slot = &hashes[((unsigned)id * 3 + kind) % HASHES], *t;

	for (t = *slot; t; t = t->chain)
		if (t->kind == kind && t->id == id)
			return t;
	t = get_memory(NULL, sizeof(*t));
	*t = (struct track){.chain = *slot, .kind = kind, .id = id, .cpu = -1, .name = track_name(kind, id)};
	t->number = nr_tracks++;
	*slot = t;
	*last_track = t;
	last_track = &t->next;
	if (sink->track)
		sink->track(t);
	return t;
}

/* All idle tasks have pid 0. */
static struct track *task_track(int pid, int cpu)
{
	return track(TRACK_TASK, pid ? pid : -1 - cpu);
}

static struct frame *begin(struct track *t, uint64_t ts, const char *name)
{
	if (t->nr_frames == t->room) {
		t->room = 2 * t->room + 16;
		t->stack = get_memory(t->stack, t->room * sizeof(*t->stack));
	}
	t->stack[t->nr_frames] = (struct frame){.name = name, .ts = ts};
	if (sink->begin)
		sink->begin(t, ts, name);
	return &t->stack[t->nr_frames++];
}

static void end(struct track *t, uint64_t ts, uint64_t ns, const char *mark)
{
	const struct frame *f = &t->stack[--t->nr_frames];

	totals.unfinished += mark && t->kind == TRACK_TASK;
	if (sink->end)
		sink->end(t, ts, f->name, mark ? ts - f->ts : ns, mark);
}

static void end_all(struct track *t, uint64_t ts, const char *mark)
{
	while (t->nr_frames)
		end(t, ts, 0, mark);
}

static void instant(struct track *t, uint64_t ts, const char *name, const char *text)
{
	if (sink->instant)
		sink->instant(t, ts, name, text);
}

/* ---- Types and fields */

/* A type that lacks a field of its kind is like any other: its records are moments. */
static struct type *type_of(int number)
{
	struct type *t = &types[number & 65535];

	if (t->known)
		return t;
	t->known = true;
	t->event = tep_find_event(dat->tep, number);
	t->what = t->event ? WHAT_OTHER : WHAT_UNKNOWN;
	for (size_t i = 0; t->event && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(t->event->system, kinds[i].system) || strcmp(t->event->name, kinds[i].name))
			continue;
		t->what = kinds[i].what;
		for (int j = 0; j < MAX_FIELDS && kinds[i].fields[j]; j++) {
			t->fields[j] = tep_find_any_field(t->event, kinds[i].fields[j]);
			if (!t->fields[j])
				t->what = WHAT_OTHER;
		}
	}
	return t;
}

static uint64_t field(const struct type *t, int number, const struct record *r)
{
	unsigned long long value = 0;

	tep_read_number_field(t->fields[number], r->data, &value);
	return value;
}

/* The names of functions are asked for again and again. */
const char *function_name(uint64_t ip)
{
	static struct {
		uint64_t ip;
		const char *name;
	} cache[4096];
	size_t slot = (ip >> 2) % 4096;

	if (cache[slot].ip != ip || !cache[slot].name) {
		const char *name = tep_find_function(dat->tep, ip);
		char number[24];

		snprintf(number, sizeof(number), "0x%llx", (unsigned long long)ip);
		cache[slot].ip = ip;
		cache[slot].name = intern(name ? name : number, NULL);
	}
	return cache[slot].name;
}

/* ---- Who runs */

/* One slice of the CPU's track ends and the next begins. At the first switch that is seen, the task that goes is taken
 * to have run since the CPU's first record. The idle task has no slice. */
static void sched_switch(const struct type *t, const struct record *r)
{
	struct cpu *c = &cpus[r->cpu];
	struct track *line = track(TRACK_CPU, r->cpu);
	int prev = (int)field(t, 0, r), next = (int)field(t, 1, r);
	char name[100];

	if (c->running_known && c->running != prev)
		say_odd(r->cpu, r->ts, "%d goes, but it was %d that ran", prev, c->running);
	if (prev != r->pid)
		say_odd(r->cpu, r->ts, "sched_switch by %d of %d", r->pid, prev);
	if (!c->running_known && prev && c->first < r->ts) {
		snprintf(name, sizeof(name), "%s-%d", comm_of(prev), prev);
		begin(line, c->first, intern(name, NULL));
	}
	if (line->nr_frames)
		end(line, r->ts, r->ts - line->stack[line->nr_frames - 1].ts, NULL);
	c->going = prev;
	c->dying = field(t, 2, r) & DEAD ? prev : 0;
	c->running = next;
	c->running_known = true;
	if (next) {
		snprintf(name, sizeof(name), "%s-%d", comm_of(next), next);
		begin(line, r->ts, intern(name, NULL));
	}
}

/* ---- What functions call. The depth is the tracer's: with a filter, lines in between may be missing. */

/* A frame of this depth or a greater one that is still open has lost its return, and is closed first. */
static void graph_entry(const struct type *t, const struct record *r)
{
	struct track *task = task_track(r->pid, r->cpu);
	uint64_t func = field(t, 0, r);
	int depth = (int)field(t, 1, r);
	struct frame *f;

	if (depth < 0 || depth >= MAX_DEPTH) {
		say_odd(r->cpu, r->ts, "%s is called at depth %d", function_name(func), depth);
		instant(task, r->ts, function_name(func), "is called at a depth that no tracer follows");
		return;
	}
	while (task->nr_frames && task->stack[task->nr_frames - 1].depth >= depth) {
		say_odd(r->cpu, r->ts, "%s is called at depth %d, in which %s has not returned", function_name(func),
			depth, task->stack[task->nr_frames - 1].name);
		end(task, r->ts, 0, "no return");
	}
	f = begin(task, r->ts, function_name(func));
	f->func = func;
	f->depth = depth;
}

/*
 * Deeper frames that are still open have lost their returns. If the innermost one is not the function that returns, its
 * call was before the trace or was lost, so the return is only a moment.
 */
static void graph_exit(const struct type *t, const struct record *r)
{
	struct track *task = task_track(r->pid, r->cpu);
	uint64_t func = field(t, 0, r), calltime = field(t, 2, r), rettime = field(t, 3, r);
	int depth = (int)field(t, 1, r);
	const struct frame *f;

	while (task->nr_frames && task->stack[task->nr_frames - 1].depth > depth) {
		say_odd(r->cpu, r->ts, "%s returns, before %s that it called has", function_name(func),
			task->stack[task->nr_frames - 1].name);
		end(task, r->ts, 0, "no return");
	}
	if (rettime < calltime)
		say_odd(r->cpu, r->ts, "%s returned before it was called", function_name(func));
	f = task->nr_frames ? &task->stack[task->nr_frames - 1] : NULL;
	if (f && f->depth == depth && f->func == func) {
		end(task, r->ts, rettime - calltime, NULL);
		return;
	}
	if (f && f->depth == depth) {
		say_odd(r->cpu, r->ts, "%s returns, where %s was called", function_name(func), f->name);
		end(task, r->ts, 0, "no return");
	}
	instant(task, r->ts, function_name(func), "returns; it was called before the trace begins");
}

/* ---- Interrupts */

static const char *interrupt_name(const struct type *t, const struct record *r)
{
	static const char *const softirqs[] = {"HI",	   "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					       "IRQ_POLL", "TASKLET", "SCHED",	"HRTIMER", "RCU"};
	unsigned number = (unsigned)field(t, 0, r);
	bool soft = t->what == WHAT_SOFTIRQ || t->what == WHAT_SOFTIRQ_END;
	char name[40];

	if (soft && number < 10)
		return softirqs[number];
	snprintf(name, sizeof(name), "%s %u", soft ? "softirq" : "irq", number);
	return intern(name, NULL);
}

/* A trace may have all beginnings and no ends. */
static void interrupt_begin(const struct type *t, const struct record *r)
{
	struct track *line = track(TRACK_IRQ, r->cpu);

	if (line->nr_frames < MAX_DEPTH)
		begin(line, r->ts, interrupt_name(t, r));
	else
		instant(line, r->ts, interrupt_name(t, r), "begins; too many have not ended");
}

/* An interrupt may have been interrupted: those that began inside it and have no end are closed with it. */
static void interrupt_end(const struct type *t, const struct record *r)
{
	struct track *line = track(TRACK_IRQ, r->cpu);
	const char *name = interrupt_name(t, r);
	int at = line->nr_frames;

	while (at && strcmp(line->stack[at - 1].name, name))
		at--;
	if (!at) {
		instant(line, r->ts, name, "ends; it began before the trace");
		return;
	}
	while (line->nr_frames > at) {
		say_odd(r->cpu, r->ts, "%s ends, before %s in it has", name, line->stack[line->nr_frames - 1].name);
		end(line, r->ts, 0, "no end");
	}
	end(line, r->ts, r->ts - line->stack[at - 1].ts, NULL);
}

/* ---- Everything else */

/* A record that is no slice. Making its text is slow, so it is made only for a sink that shows texts. */
static void moment(const struct type *t, const struct record *r)
{
	static struct trace_seq text;
	static bool ready;
	struct tep_record record = {.ts = r->ts, .data = r->data, .size = r->size, .cpu = r->cpu};
	struct track *task = task_track(r->pid, r->cpu);

	if (!sink->wants_instants)
		return;
	if (t->what == WHAT_FUNCTION) {
		instant(task, r->ts, function_name(field(t, 0, r)), NULL);
		return;
	}
	if (!ready)
		trace_seq_init(&text);
	ready = true;
	trace_seq_reset(&text);
	tep_print_event(dat->tep, &text, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&text);
	instant(task, r->ts, t->event->name, text.buffer);
}

/* A program's mark. Sections have a track of their own, since they begin and end within functions that the tracer may
 * show. False when the text is none, or ends what has not begun. */
static bool mark(const struct type *t, const struct record *r)
{
	int offset = t->fields[0]->offset;
	struct track *line;
	struct mark m;
	bool begins;

	if (offset >= r->size || !parse_mark((const char *)r->data + offset, (size_t)(r->size - offset), &m))
		return false;
	if (m.letter == 'C' && sink->count)
		sink->count(track(TRACK_COUNTER, m.id), r->ts, m.value);
	if (m.letter == 'I')
		instant(task_track(r->pid, r->cpu), r->ts, m.name, NULL);
	if (m.letter == 'C' || m.letter == 'I')
		return true;
	line = m.letter == 'S' || m.letter == 'F' ? track(TRACK_SPAN, m.id) : track(TRACK_MARK, r->pid);
	begins = m.letter == 'B' || m.letter == 'S';
	if (begins ? line->nr_frames == MAX_DEPTH : !line->nr_frames)
		return false;
	if (begins)
		begin(line, r->ts, m.name);
	else
		end(line, r->ts, r->ts - line->stack[line->nr_frames - 1].ts, NULL);
	return true;
}

/* One record of a sample, whose last one has the whole. */
static void sample(const struct type *t, const struct record *r)
{
	uint64_t args[3] = {field(t, 0, r), field(t, 1, r), field(t, 2, r)};
	const char **names;
	int n = sample_record(r, args, &names);

	if (n > 0)
		sink->sample(task_track(r->pid, r->cpu), names, n);
}

/* Who ran, what was called and which interrupts came after that is not known. */
static void close_cpu(int cpu, uint64_t ts)
{
	end_all(track(TRACK_CPU, cpu), ts, "records lost");
	end_all(track(TRACK_IRQ, cpu), ts, "records lost");
	for (struct track *t = first_track; t; t = t->next)
		if (t->kind == TRACK_TASK && t->cpu == cpu)
			end_all(t, ts, "records lost");
	cpus[cpu].running_known = false;
	cpus[cpu].dying = 0;
}

/*
 * Records were lost before this one. The time between is a slice of its own on the CPU's track; what was open ends
 * where the gap begins. r->lost is how many, or -1 when the buffer does not know.
 */
static void gap(const struct record *r)
{
	struct cpu *c = &cpus[r->cpu];
	struct track *line = track(TRACK_CPU, r->cpu);
	uint64_t since = c->seen ? c->last : r->ts;
	char name[60];

	totals.gaps++;
	totals.lost += r->lost > 0 ? r->lost : 0;
	snprintf(name, sizeof(name), r->lost > 0 ? "%ld records lost" : "records lost", r->lost);
	close_cpu(r->cpu, since);
	if (c->seen) {
		begin(line, since, intern(name, NULL));
		end(line, r->ts, r->ts - since, NULL);
	} else {
		instant(line, r->ts, name, "before the first that is left");
	}
	c->first = r->ts;
}

static struct cpu *cpu_of(int cpu, uint64_t ts)
{
	if (cpu >= nr_cpus) {
		cpus = get_memory(cpus, (cpu + 1) * sizeof(*cpus));
		memset(cpus + nr_cpus, 0, (cpu + 1 - nr_cpus) * sizeof(*cpus));
		nr_cpus = cpu + 1;
	}
	if (!cpus[cpu].seen)
		cpus[cpu].first = ts;
	return &cpus[cpu];
}

/*
 * Every record comes here, in the order of time. First what was lost before it, then the end of a task that died on
 * this CPU, then the record by its kind. A task that was switched away may make a few more records before the next one
 * does (`going`), which is no fault.
 */
static void one(const struct record *r)
{
	const struct type *t = type_of(r->type);
	struct cpu *c = cpu_of(r->cpu, r->ts);

	if (!totals.records++)
		totals.first = r->ts;
	totals.last = r->ts > totals.last ? r->ts : totals.last;
	totals.of_type[r->type & 65535]++;
	if (r->lost)
		gap(r);
	if (c->dying && c->dying != r->pid) {
		end_all(track(TRACK_TASK, c->dying), c->last, "the task has ended");
		c->dying = 0;
	}
	if (c->running == r->pid)
		c->going = -1;
	if (c->running_known && c->running != r->pid && c->going != r->pid && t->what != WHAT_UNKNOWN)
		say_odd(r->cpu, r->ts, "%s by %d, but it is %d that runs", t->event->name, r->pid, c->running);
	if (t->what == WHAT_UNKNOWN)
		say_odd(r->cpu, r->ts, "a record of type %d, which the file does not describe", r->type);
	else if (t->what == WHAT_SWITCH)
		sched_switch(t, r);
	else if (t->what == WHAT_ENTRY)
		graph_entry(t, r);
	else if (t->what == WHAT_EXIT)
		graph_exit(t, r);
	else if (t->what == WHAT_IRQ || t->what == WHAT_SOFTIRQ)
		interrupt_begin(t, r);
	else if (t->what == WHAT_IRQ_END || t->what == WHAT_SOFTIRQ_END)
		interrupt_end(t, r);
	else if (t->what == WHAT_SAMPLE && sink->sample)
		sample(t, r);
	else if (t->what != WHAT_PRINT || !mark(t, r))
		moment(t, r);
	if (t->what != WHAT_UNKNOWN)
		task_track(r->pid, r->cpu)->cpu = r->cpu;
	c->seen = true;
	c->last = r->ts;
}

/* ---- Names: the kernel keeps those of a few tasks, switches tell the others' and which name was the last */

static void learn_name(const struct type *t, int pid_field, int comm_field, const struct record *r)
{
	const struct tep_format_field *f = t->fields[comm_field];
	int pid = (int)field(t, pid_field, r);
	char name[17] = "";

	if (!pid || f->size >= (int)sizeof(name) || f->offset + f->size > r->size)
		return;
	memcpy(name, (const char *)r->data + f->offset, f->size);
	if (strcmp(name, comm_of(pid)))
		tep_override_comm(dat->tep, name, pid);
}

static void learn_names(const struct record *r)
{
	const struct type *t = type_of(r->type);

	if (t->what == WHAT_SWITCH) {
		learn_name(t, 0, 3, r);
		learn_name(t, 1, 4, r);
	}
}

static void ignore(int cpu, uint64_t ts, const char *text)
{
	(void)cpu, (void)ts, (void)text;
}

/* There may be no further record of that CPU. */
static void fault(int cpu, uint64_t ts, const char *text)
{
	const struct cpu *c = cpu_of(cpu, ts);

	if (!totals.faults++)
		snprintf(totals.fault, sizeof(totals.fault), "CPU %d, %s", cpu, text);
	say_odd(cpu, ts, "%s", text);
	if (c->seen)
		close_cpu(cpu, c->last);
}

/* The state of the buffer before: one process converts several buffers one after the other. */
static void forget(void)
{
	while (first_track) {
		struct track *t = first_track;

		first_track = t->next;
		free(t->stack);
		free(t);
	}
	last_track = &first_track;
	memset(hashes, 0, sizeof(hashes));
	nr_tracks = 0;
	free(cpus);
	cpus = NULL;
	nr_cpus = 0;
	memset(&totals, 0, sizeof(totals));
	samples_forget();
}

/*
 * Read a buffer twice: names of tasks are learned from all switches first, because a track is named when it begins. The
 * totals are valid until the next call.
 */
const struct totals *convert(const struct dat *d, const struct buffer *b, const struct sink *to,
			     void (*odd_work)(int cpu, uint64_t ts, const char *text))
{
	dat = d;
	sink = to;
	odd = odd_work;
	forget();
	if (sink->start)
		sink->start(d, b);
	if (sink->end) /* who only counts needs no names */
		each_record(d, b, learn_names, ignore);
	each_record(d, b, one, fault);
	for (struct track *t = first_track; t; t = t->next)
		end_all(t, totals.last, "unfinished");
	if (sink->finish)
		sink->finish(totals.first, totals.last);
	return &totals;
}

/* vtrace: what a trace.dat holds, as other tools' files. The parts and what they tell each other. */
#ifndef VTRACE_H
#define VTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <traceevent/event-parse.h>

/* Say "vtrace: FILE: text" and exit with status 1. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *get_memory(void *old, size_t size);
/* The one copy of a text, which lives for ever; *number (may be NULL) counts them from 0. */
const char *intern(const char *text, unsigned *number);
/* The text with that number, or NULL. */
const char *interned(unsigned number);

/* The next character of a text that is not at its end, as UTF-8 of *n bytes: U+FFFD for a byte of none
 * (utf8.c). */
const char *utf8(const char **text, size_t *n);

#define MAX_RECORD (512 << 10) /* bytes: what the largest sub-buffer takes; no field lies beyond it */

/* --- the file (dat.c) --- */

struct cpu_data {
	int cpu;
	uint64_t offset, size;
};

struct buffer {
	const char *name;  /* of the instance, or "" */
	const char *clock; /* "": the file does not tell */
	struct cpu_data *cpus;
	int nr_cpus;
	bool is_text; /* what a latency tracer kept */
};

struct dat {
	int fd, version, long_size, nr_cpus;
	unsigned page_size;
	uint64_t size;
	struct buffer *buffers;
	int nr_buffers;
	struct tep_handle *tep;
	const char *uname;
	unsigned formats_failed; /* events whose format libtraceevent does not understand */
};

/* Are the buffer's times nanoseconds? If not, they are what its clock counts. */
bool in_ns(const struct buffer *b);
/* Read all but the records. Whatever does not fit ends the program with one line. */
void dat_open(struct dat *d, const char *path);

/* --- records in the order of time (records.c) --- */

struct record {
	int cpu, type, pid, size;
	uint64_t ts;
	void *data;
	long lost; /* before it on its CPU: how many, or -1: nobody knows how many; 0: none */
};

/* Call work for each record of a buffer. Where pages contradict themselves, fault says how. What cannot be
 * read is passed over, and lost before the next record of that CPU. */
void each_record(const struct dat *d, const struct buffer *b, void (*work)(const struct record *r),
		 void (*fault)(int cpu, uint64_t ts, const char *text));

/* --- from records to slices (model.c) --- */

/*
 * TRACK_MARK: sections that a task marked. TRACK_SPAN: one that tasks marked together. TRACK_COUNTER: values of one
 * counter, in the group of marks (marks.c).
 */
enum track_kind {
	TRACK_CPU,
	TRACK_IRQ,
	TRACK_TASK,
	TRACK_MARK,
	TRACK_SPAN,
	NR_TRACK_GROUPS,
	TRACK_COUNTER = NR_TRACK_GROUPS
};

struct frame {
	const char *name;
	uint64_t ts, func;
	int depth; /* as the tracer counts, of slices of a graph */
};

/* A line of the picture: who runs on a CPU, its interrupts, or what a task does. */
struct track {
	struct track *next, *chain; /* in the order they came; of one hash */
	enum track_kind kind;
	int id; /* CPU or pid; idle tasks, which all have pid 0, are -1 - CPU; of a span's or counter's text */
	unsigned number;
	const char *name;
	struct frame *stack;
	int nr_frames, room;
	int cpu;	/* a task: where its last record was made */
	void *private_; /* the sink's */
};

/* Who writes a file. All may be NULL. Times on one track never go back. */
struct sink {
	void (*start)(const struct dat *d, const struct buffer *b);
	void (*track)(struct track *t); /* a new one */
	void (*begin)(struct track *t, uint64_t ts, const char *name);
	/* Of the newest begun. ns: how long it took, as the tracer measured. mark: why it ends here if not by
	 * itself, or NULL */
	void (*end)(struct track *t, uint64_t ts, const char *name, uint64_t ns, const char *mark);
	/* text may be NULL */
	void (*instant)(struct track *t, uint64_t ts, const char *name, const char *text);
	void (*finish)(uint64_t first, uint64_t last);
	bool wants_instants;
	/* A sample of a task, n names from the innermost frame out; NULL: its records are moments like others. */
	void (*sample)(struct track *t, const char *const *names, int n);
	void (*count)(struct track *t, uint64_t ts, long long value);
};

struct track *tracks(void);
/* The kernel's function at an address, or the address; the name of a task. */
const char *function_name(uint64_t ip);
const char *comm_of(int pid);

/* The groups of tracks, by kind, as a reader sees them. */
extern const char *const track_groups[NR_TRACK_GROUPS];

/* --- marks of programs (marks.c) --- */

struct mark {
	char letter; /* B, E, S, F, C or I */
	const char *name;
	unsigned id; /* of the text that names a counter, or a span with its number (intern) */
	long long value;
};

/* Is this text of trace_marker a mark of that form? n: its bytes at most. */
bool parse_mark(const char *text, size_t n, struct mark *m);

/* --- samples of sysprof (samples.c) --- */

/*
 * The next record of three numbers. When it ends a sample: how many frames that has, and *names, from the innermost
 * out, until the next call. Else -1.
 */
int sample_record(const struct record *r, const uint64_t *args, const char ***names);
void samples_forget(void); /* what has begun; another buffer comes */

/* --- functions of programs (elf.c) --- */

void elf_add(const char *path); /* or ends the program with a line */
/* The function at an address of the program that tasks of this name run; NULL: not known. */
const char *elf_function(const char *comm, uint64_t address);

struct totals {
	uint64_t records, lost, gaps, first, last, unfinished;
	uint64_t of_type[65536];
	uint64_t faults; /* contradictions in the file itself */
	char fault[200]; /* the first */
};

/* Make slices of all records, and forget those of the buffer before. odd (may be NULL) is told of what cannot
 * have happened, faults too. */
const struct totals *convert(const struct dat *d, const struct buffer *b, const struct sink *sink,
			     void (*odd)(int cpu, uint64_t ts, const char *text));

/* --- writers --- */

extern FILE *out;
extern const struct sink chrome_sink, speedscope_sink, folded_sink, perfetto_sink;
/* A time of the buffer: seconds, or what its clock counts. */
void print_time(const struct buffer *b, uint64_t ts);
/* Is the buffer in order, or with NULL: are all? Says what is not. Returns the exit status. */
int check(const struct dat *d, const struct buffer *only);

#endif

/* Reading a trace.dat, and its records as text: what `trace-cmd report` is made of. */
#ifndef VT_REPORT_H
#define VT_REPORT_H

#include <vt_trace.h>

/* --- the file (traceread.c) --- */

/* A field of an event's record, as its format says. */
struct vt_field {
	char *name;
	unsigned offset, size;
	bool is_signed;
	bool is_array;	 /* of element bytes, or with is_dynamic of as many as the record says */
	bool is_dynamic; /* __data_loc or __rel_loc: the field holds place and length of what it means */
	bool is_relative;
	bool is_text; /* an array of char */
	unsigned element;
};

struct vt_event {
	unsigned id;
	char *system, *name;
	struct vt_field *fields;
	size_t nr_fields;
	char *print; /* behind "print fmt: " */
};

/* The pages of one CPU, and the record that comes next. */
struct vt_cpu {
	const unsigned char *pages, *end;
	const unsigned char *at, *page_end; /* within a page; at == page_end: the next page begins */
	unsigned long long ts;		    /* of the record at `at`, when there is one */
	const unsigned char *data;	    /* of that record; NULL: no more */
	unsigned size;
	long lost; /* records before it: so many, -1: an unknown number */
};

/* The buffer of an array. */
struct vt_buffer {
	const char *name;
	struct vt_cpu *cpus;
	int nr_cpus;
};

struct vt_dat_file {
	const char *path;
	const unsigned char *data;
	size_t size;
	int version, nr_cpus; /* of the first buffer */
	unsigned page_size;
	struct vt_buffer *buffers; /* the one that is always there is first; its name is empty */
	size_t nr_buffers;
	const char *text; /* of a latency tracer, or NULL */
	size_t text_size;
	struct vt_event *events; /* sorted by id */
	size_t nr_events;
	struct vt_symbol {
		unsigned long long address;
		char *name;
	} * symbols, *formats,
		*comms; /* formats: of bprint, by their address; comms: names of tasks, by pid; all sorted */
	size_t nr_symbols, nr_formats, nr_comms;
};

/* Read all but the records. What is wrong with the file ends the program with status 1. */
void vt_dat_open(struct vt_dat_file *f, const char *path);
/* Step to a CPU's next record. Returns whether there is one. */
bool vt_cpu_next(const struct vt_dat_file *f, struct vt_cpu *cpu);
/* The symbol that an address lies in, or NULL. */
const struct vt_symbol *vt_find_symbol(const struct vt_dat_file *f, unsigned long long address);
/* The name of exactly this number, or NULL. */
const char *vt_find_name(const struct vt_symbol *table, size_t n, unsigned long long number);
const struct vt_event *vt_find_event(const struct vt_dat_file *f, unsigned id);

/* --- formats of events (traceformat.c) --- */

/* Take a format file apart; what is missing stays empty. */
void vt_event_parse(struct vt_event *e, const char *system, const char *text, size_t n);
const struct vt_field *vt_event_field(const struct vt_event *e, const char *name);
/* A number of a record, with its sign. 0 for a field that the record does not have. */
long long vt_record_number(const struct vt_event *e, const char *name, const unsigned char *data, unsigned size);
/* What a field holds: its bytes, and how many. NULL when they lie beyond the record. */
const unsigned char *vt_field_bytes(const struct vt_field *field, const unsigned char *data, unsigned size,
				    unsigned *n);
/* A number of so many bytes, the lowest first. */
unsigned long long vt_take_number(const unsigned char *data, size_t size);

/* --- records as text (traceprint.c, tracetext.c) --- */

/* A record: what it is of, and where it lies. */
struct vt_record {
	const struct vt_dat_file *file;
	const struct vt_event *event;
	const unsigned char *data;
	unsigned size;
	int cpu;
	const struct vt_buffer *buffer;
};

/* Add the text that the event's print format makes of a record. */
void vt_print_format(struct vt_bytes *out, const struct vt_record *r);
/* One conversion of printf, format at its '%'; returns what stands behind it. */
struct vt_value {
	unsigned long long n;
	const char *s;
	size_t length; /* of s */
};
const char *vt_print_one(struct vt_bytes *out, const struct vt_dat_file *f, const char *format,
			 const struct vt_value *value);
/*
 * Add the text as trace-cmd's own plug-ins write it. cpu: where the record lies, as a graph's leaf takes the
 * next record as well. Returns false for an event that has none.
 */
bool vt_print_plugin(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu);

/* --- commands of trace-cmd, each in a file of its own (tracelist.c and the like): argv begins with that name --- */

int vt_list_main(struct vt_options *o, int argc, char **argv);
int vt_report_main(struct vt_options *o, int argc, char **argv);
int vt_stack_main(struct vt_options *o, int argc, char **argv);
int vt_check_events_main(struct vt_options *o, int argc, char **argv);

#endif

/* What parse.c, event.c and record.c share. */
#pragma once

#include <lib/list.h>

#include "dynevents/dynevent.h"
#include "synth.h"

/* A field. Immutable. */
struct synth_field {
	char *type;  /* as in C: "u64", "char[16]", "unsigned long[]" */
	char *shown; /* of the file `format`: the same, with "__data_loc " before a dynamic one */
	char *name;
	u16 size; /* bytes of a number or of a string of fixed length */
	bool is_signed, is_text, is_stack;
	bool is_dynamic; /* it lies behind the fixed part, which has its place and length */
};

/* An array that wants the records. */
struct synth_listener {
	struct synth_listener *next; /* [e, RCU] */
	struct trace_event_file *file;
};

/* Locks: e event_mutex; a atomic; I immutable. */
struct synth_event {
	struct dyn_event dyn;
	char *name;			  /* [I] */
	struct trace_event_call call;	  /* [I] its class is ours, its fields are those of `table` */
	struct trace_event_class class;	  /* [I] */
	struct trace_event_field *table;  /* [I] */
	char *print_fmt;		  /* [I] */
	unsigned pins;			  /* [a] */
	struct synth_listener *listeners; /* [e, RCU; read by probes] */
	unsigned fixed;			  /* [I] bytes of a record without what is dynamic */
	unsigned nr_fields;
	struct synth_field fields[];
};
static inline struct synth_event *synth_of_dyn(const struct dyn_event *ev)
{
	return container_of(ev, struct synth_event, dyn);
}

/* parse.c: the fields of "TYPE NAME[;...]". 0 or -errno, and error_log has been told. */
int synth_parse_fields(struct dyn_command *c, const char *text, struct synth_field *fields, unsigned *nr);
void synth_free_fields(struct synth_field *fields, unsigned nr);
/* How printf writes such a field. */
const char *synth_field_format(const struct synth_field *f);

extern const char synth_bad_command[], synth_bad_name[];

/* record.c */
struct trace_iterator;
struct seq_file;
void synth_event_print(struct seq_file *s, struct trace_iterator *iter);
int synth_event_reg(struct trace_event_file *file, bool on);
struct synth_event *synth_of_call(const struct trace_event_call *call);

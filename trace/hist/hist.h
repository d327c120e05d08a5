/*
 * Histograms: triggers that count the hits of an event by keys. Private to this room.
 *
 *	parse.c    the command, into its parts, and these into fields
 *	expr.c     fields and expressions: what is counted, and by what
 *	vars.c     variables, and references to those of other histograms
 *	action.c   what else is done: onmatch, onmax, onchange
 *	hit.c      the probe's side
 *	map.c      the map from keys to sums
 *	show.c     the files hist and hist_debug; spec.c: the line in the file trigger
 *	command.c  histograms come, pause and go
 *
 * event_mutex is held in all functions but those of hit.c.
 */
#pragma once

#include "triggers/trigger.h"
#include "errors.h"
#include "map.h"

struct seq_file;
struct synth_event;

#define HIST_KEYS_MAX	 3 /* these are Linux's */
#define HIST_VALS_MAX	 3 /* the hitcount, and two more */
#define HIST_SORT_MAX	 2
#define HIST_DEFINED_MAX 16 /* variables that a command defines */
#define HIST_VARS_MAX	 48 /* and those that actions add */
#define HIST_REFS_MAX	 16
#define HIST_ACTIONS_MAX 8
#define HIST_PARAMS_MAX	 16
#define HIST_TEXT	 256 /* bytes of a string in a key or a variable */
#define HIST_STACK_DEPTH 31
#define HIST_KEY_MAX	 (HIST_TEXT + HIST_STACK_DEPTH * sizeof(long))

/* Where a value comes from. */
enum hist_op {
	HIST_COUNT, /* 1 */
	HIST_CONST,
	HIST_NUMBER,	  /* of the record: `field` */
	HIST_TEXT_IN,	  /* a string in the record */
	HIST_TEXT_BEHIND, /* a string behind the record's fixed part */
	HIST_STACK_FIELD, /* an array of addresses there, with .stacktrace */
	HIST_STACK,	  /* the stack of the hit */
	HIST_COMM,	  /* the name of the task that was hit */
	HIST_TIME,
	HIST_CPU,
	HIST_REF, /* a variable: refs[] of the histogram */
	HIST_PLUS,
	HIST_MINUS,
	HIST_TIMES,
	HIST_BY,
	HIST_NEGATE,
};

/* What stands behind the dot: how a key or a value is shown, and for some of them which values count as equal. */
enum hist_form {
	FORM_PLAIN,
	FORM_HEX,
	FORM_SYM,
	FORM_SYM_OFFSET,
	FORM_EXECNAME,
	FORM_SYSCALL,
	FORM_LOG2,
	FORM_BUCKETS,
	FORM_PERCENT,
	FORM_GRAPH,
	FORM_USECS,
	FORM_STACKTRACE,
	NR_HIST_FORMS,
};
extern const char *const hist_form_names[NR_HIST_FORMS];

/* A key, a value, or a part of an expression. Immutable. */
struct hist_field {
	u8 op, form;
	bool is_signed, in_usecs;
	bool is_text,
		is_stack; /* the value is the address of a string; of a number of addresses, and these behind it */
	u16 size;	  /* bytes of the value; of a string with its zero; of a key rounded up to words */
	u16 offset;	  /* of a key in the map's key */
	u16 ref;	  /* HIST_REF: number in refs[] */
	const struct trace_event_field *field; /* NULL: not of the record */
	struct hist_field *operand[2];
	u64 number; /* HIST_CONST; FORM_BUCKETS: their size */
	const char *type;
	char *name; /* as a person writes it, without what stands behind the dot */
};

/* Why there is a variable. */
enum hist_var_kind {
	VAR_DEFINED, /* by "name=value" */
	VAR_PARAM,   /* a field that is handed to a synthetic event */
	VAR_SAVED,   /* by save() */
	VAR_TRACKED, /* the greatest or last value of onmax() and onchange() */
};
struct hist_var {
	char *name;
	struct hist_field *value; /* NULL: VAR_TRACKED */
	u8 kind;
	s16 text; /* its number among the element's texts; -1: a number, or what lies in another histogram's element */
};

struct hist;
/* A variable's value that this histogram needs when it is hit. */
struct hist_ref {
	struct hist *owner; /* held, and its event's module too, unless it is ourselves */
	u16 var;
	bool once; /* reading it uses it up */
};

/* When an action is carried out, and what it does: the head of action.c. */
enum hist_handler { ONMATCH, ONMAX, ONCHANGE };
enum hist_action_kind { ACTION_SAVE, ACTION_TRACE, ACTION_SNAPSHOT };

/* The snapshot of an action, and what it was taken for. Locks: b whoever has set `busy`. */
struct hist_snapshot {
	u32 busy;		   /* [a] */
	bool taken;		   /* [b] */
	u64 value;		   /* [b] */
	char comm[16];		   /* [b] */
	u64 key[HIST_KEY_MAX / 8]; /* [b] */
};

/* An action of the command: texts, and what they mean once hist_create_actions() has looked them up. Immutable then. */
struct hist_action {
	u8 handler, kind;
	bool by_keyword;      /* trace(NAME, ...) and not NAME(...) */
	char *system, *event; /* ONMATCH */
	char *tracked;	      /* the others: "$var" */
	char *name;	      /* of the action, or of the synthetic event that it records */
	char *params[HIST_PARAMS_MAX];
	u8 nr_params;
	u16 tracked_ref;		/* number in refs[]: what the hit has in $var */
	u16 track_var;			/* number in vars[]: the greatest or last value so far */
	u16 refs[HIST_PARAMS_MAX];	/* ACTION_TRACE: one a parameter */
	struct synth_event *synth;	/* held */
	struct hist_snapshot *snapshot; /* ACTION_SNAPSHOT */
	struct trace_array *armed;	/* the array that may be asked for snapshots, or NULL */
};

/* One part of the order of lines; equal lines are told apart by the next part. */
struct hist_sort {
	u8 field; /* 0: hitcount; then values, then keys */
	bool descending;
};

/* Locks: e event_mutex; a atomic; I immutable when the first hit can come. */
struct hist {
	struct list_head list;	       /* [e] of all that are in force */
	struct trace_event_file *file; /* [I] the event that it was made on */
	unsigned users;		       /* [e] triggers: one, or several that share the name */
	unsigned ref_users;	       /* [e] references of other histograms */
	bool listed;		       /* [e] */
	bool automatic;		       /* [I] made for a parameter of another histogram; goes with it */
	bool stopped;		       /* [e; read by hits] it, or one whose variables it reads, is being emptied */
	char *name;		       /* [I] "name=..." or NULL */
	char *clock;		       /* [I] */
	bool uses_time, no_hitcount;   /* [I] */
	bool plain;		       /* [I] a number of the record is the key, others are summed, and that is all */
	u8 nr_keys, nr_vals, nr_vars, nr_refs, nr_actions, nr_sort, nr_texts; /* [I] */
	u8 has_comm;							      /* [I] */
	u16 key_size;							      /* [I] bytes */
	unsigned bits;							      /* [I] room for 1 << bits keys */
	struct hist_field *keys[HIST_KEYS_MAX];				      /* [I] */
	struct hist_field *vals[HIST_VALS_MAX];				      /* [I] the first is the hitcount */
	struct hist_var vars[HIST_VARS_MAX];				      /* [I] their values are in the map */
	struct hist_ref refs[HIST_REFS_MAX];				      /* [I] variables that a hit reads */
	struct hist_action *actions[HIST_ACTIONS_MAX];			      /* [I] */
	struct hist_sort sort[HIST_SORT_MAX]; /* [I] the order in which lines are shown */
	struct hist_map *map;		      /* [I] */
	u32 snapshots_due;		      /* [a] bit n: action n waits until the record is closed */
};

/* The histogram of an event: a trigger. */
struct hist_trigger {
	struct event_trigger trigger;
	struct hist *hist;
	char *spec; /* [I] what makes it the same as another one: hist_spec_text() */
};
static inline bool trigger_is_hist(const struct event_trigger *t)
{
	return t->command->type == TRIGGER_HIST;
}
#define hist_of(t) (container_of(t, struct hist_trigger, trigger)->hist)

/* ---- An element's data, behind its key, in words: sums, bits of variables that are set, variables, comm, texts */

static inline u64 *hist_sums(const struct hist *h, void *elt)
{
	return (u64 *)((char *)elt + h->key_size);
}
static inline u64 *hist_vars_set(const struct hist *h, void *elt)
{
	return hist_sums(h, elt) + h->nr_vals;
}
static inline u64 *hist_var(const struct hist *h, void *elt, unsigned n)
{
	return hist_vars_set(h, elt) + 1 + n;
}
static inline char *hist_comm(const struct hist *h, void *elt)
{
	return (char *)hist_var(h, elt, h->nr_vars);
}
static inline char *hist_text(const struct hist *h, void *elt, unsigned n)
{
	return hist_comm(h, elt) + (h->has_comm ? 16 : 0) + n * HIST_TEXT;
}
static inline unsigned hist_data_size(const struct hist *h)
{
	return (h->nr_vals + 1 + h->nr_vars) * sizeof(u64) + (h->has_comm ? 16 : 0) + h->nr_texts * HIST_TEXT;
}

/* ---- A command while it is read. Its parts point into `work`, so that an error knows its column. */
struct hist_parse {
	struct trace_event_file *file;
	struct hist *hist;
	bool remove; /* "!": it is compared only */
	bool automatic;
	char *command; /* as error_log shows it */
	char *work;
	char *keys, *vals, *sort, *name, *clock, *filter;
	char *defined[HIST_DEFINED_MAX];
	char *def_names[HIST_DEFINED_MAX], *def_values[HIST_DEFINED_MAX];
	char *actions[HIST_ACTIONS_MAX];
	unsigned nr_defined, nr_defs, nr_actions;
	bool pause, cont, clear;
};
/* Tell error_log, and remember for the explanation. `at` is in p->work, or a copy of a part of it. Returns -EINVAL. */
int hist_error(const struct hist_parse *p, enum hist_err err, const char *at);
/* The same for the explanation alone, where Linux says nothing in error_log. */
int hist_note(const struct hist_parse *p, const char *what, const char *at);

/* parse.c: makes p->hist from the text, which is "keys=...". 0 or -errno. Ends with hist_parse_end. */
int hist_parse(struct hist_parse *p, const char *text);
void hist_parse_end(struct hist_parse *p);
void hist_free(struct hist *h); /* of no trigger, and not referenced */
void hist_put(struct hist *h);	/* frees it when it is neither used nor referenced */

/* expr.c. What a text means, or ERR_PTR; `text` is cut. hist_parse_atom leaves the text as it is. */
struct hist_field *hist_parse_value(struct hist_parse *p, char *text);
struct hist_field *hist_parse_atom(struct hist_parse *p, const char *text);
/* `type` lives as long as the field's event. NULL: no memory. */
struct hist_field *hist_field_new(u8 op, const char *name, unsigned len, const char *type, unsigned size);
void hist_field_free(struct hist_field *f);
/* It is one of this event from now on, which has a field of the same name, type and place for each that it reads. */
void hist_field_move(struct hist_field *f, const struct trace_event_call *call);
bool hist_contains_operator(const char *text); /* is it more than one operand? */
bool hist_has_ref(const struct hist_field *f); /* is a variable anywhere in it? */

/* vars.c */
/* The variable that the command has defined by this name; NULL: there is none. Its number to *n. */
struct hist_var *hist_find_var(struct hist *h, const char *name, unsigned *n);
/* Any variable of this name on the event, by a histogram in force. */
struct hist *hist_find_on_event(const struct trace_event_file *file, const char *name, unsigned *n);
/* Add a variable, which takes over `value`. Its number, or -errno. */
int hist_add_var(struct hist_parse *p, const char *name, struct hist_field *value, enum hist_var_kind kind);
/* The number of a reference to the variable, which is new or there already; -errno. */
int hist_add_ref(struct hist *h, struct hist *owner, unsigned var);
void hist_drop_refs(struct hist *h); /* undoes all hist_add_ref(); no hit of h is under way */
/* "system", "event" (both or neither), "var": the histogram that has it, or NULL; an ambiguous name is told. */
struct hist *hist_resolve(struct hist_parse *p, const char *system, const char *event, const char *var, unsigned *n);
/* "SYSTEM.EVENT.NAME" or "NAME": copies the first two into `buf`. */
struct hist_name {
	char *system, *event; /* NULL */
	const char *name;     /* in the text */
	char buf[160];
};
int hist_split_name(struct hist_name *to, const char *text); /* 0, or -EINVAL: `buf` has no room for it */
/* The event's histogram in force whose keys are like h's, or NULL. */
struct hist_trigger *hist_find_compatible(const struct hist *h, const struct trace_event_file *file);

/* action.c. 0 or -errno, which error_log has an explanation of. */
int hist_parse_actions(struct hist_parse *p);  /* take the texts apart; there are no keys yet */
int hist_create_actions(struct hist_parse *p); /* look up what they mean; p->hist has its fields */
void hist_free_action(struct hist_action *a);

/* hit.c. Any context, preemption off. */
struct hist_hit {
	const char *record;
	u64 *refs, time;
	unsigned long fp;
	struct trace_array *tr;
};
void hist_fire(struct event_trigger *t, const struct trigger_hit *hit); /* count a hit, and carry out actions */
/* A field or an expression as a number, 0 for strings and stacks; a variable's new value in the map's element. */
u64 hist_eval(const struct hist_field *f, const struct hist_hit *hit);
void hist_set_var(struct hist *h, void *elt, unsigned n, const struct hist_hit *hit);

/*
 * action.c, for hits. `open`: the record lies open in the ring, so a snapshot must wait until hist_take_due.
 */
void hist_run_actions(struct hist *h, void *elt, const struct hist_hit *hit, bool open);
void hist_take_due(struct hist *h);

/* spec.c: a histogram's line in the file trigger; a field as it was written. */
void hist_show_trigger(struct seq_file *m, const struct event_trigger *t);
void hist_show_field(struct seq_file *m, const struct hist_field *f);
/* The text of the trigger without size, clock and state: two triggers of an event are the same when it is the same. */
char *hist_spec_text(const struct hist *h, const char *filter);

/* show.c: a key as the file hist shows it. `comm` is the name of the task for .execname. */
void hist_show_key(struct seq_file *m, const struct hist *h, const u64 *key, const char *comm);

/* command.c */
struct hist *hist_first(void);
struct hist *hist_next(const struct hist *h);
#define for_each_hist(h) for ((h) = hist_first(); (h); (h) = hist_next(h))
/* Make a histogram on the event with a variable "synthetic_FIELD", keyed as `like` is. 0 or -errno. */
int hist_add_automatic(struct hist_trigger *like, const char *field);

/*
 * Probe events: what kprobes, uprobes and event probes have in common. An event has one or several probes, which fill
 * its record by the same fetch arguments (fetch.h) at different places. Each array that has the event on gets a record
 * of each hit.
 */
#pragma once

#include <trace/trace_event_probe.h>

#include "dynevent.h"
#include "fetch.h"

struct module;
struct probe;
struct probe_event;

/* The words of a record in front of its arguments. */
enum probe_head {
	PROBE_NO_HEAD,
	PROBE_AT,     /* where it was hit */
	PROBE_RETURN, /* the function, and where it returns to */
};
#define PROBE_HEAD_MAX 2

/* What the events of a kind, or of one half of it, have in common. Immutable. */
struct probe_class {
	char letter; /* the first one of its lines */
	u8 head;     /* enum probe_head */
	bool below;  /* eprobes can be attached to such an event */
	/* NULL: the place is printed as it stands in the line. */
	void (*print_head)(struct seq_file *s, struct trace_iterator *iter, const unsigned long *head);
	/* [e] Every class without a reg needs it. The probe begins, or ceases, to call probe_record(). 0 or -errno. */
	int (*switch_on)(struct probe *p, bool on);
	/* NULL, or in place of probe_files: an array switches the event on or off. As trace_event_class.reg. */
	int (*reg)(struct trace_event_file *file, bool on);
	/* Do two probes of the same event stand at the same place? NULL: an event has one probe alone. */
	bool (*same)(const struct probe *a, const struct probe *b);
	/* [e] NULL, or a module has come, before its init, or memory of it goes (module_frees). module_mutex held. */
	void (*module)(struct probe *p, struct module *mod, bool comes);
	/* [e] It is off, no hit uses it, and no list has it: free what the kind has of it, and *p. */
	void (*free)(struct probe *p);
};

/* The arrays that have the event on. Replaced as a whole. */
struct probe_files {
	unsigned nr;
	struct trace_event_file *files[]; /* NULL: it has left */
};

/* Locks: e event_mutex; I immutable once the event is added; R [e], and read with preemption off. */
struct probe_event {
	struct trace_event_class class;	  /* [I] */
	struct trace_event_call call;	  /* [I] */
	const struct probe_class *pclass; /* [I] of all its probes */
	struct list_head probes;	  /* [e] of struct probe, in the order of their lines */
	struct probe_files *files;	  /* [R] NULL: no array */
	unsigned pins;			  /* [a] call.pins */
	char group[DYN_NAME_MAX], name[DYN_NAME_MAX];
};

/* A probe at one place. It is a member of the kind's own structure. */
struct probe {
	struct dyn_event dev;
	struct list_head list;		  /* [e] of event->probes */
	struct probe_event *event;	  /* [I] */
	const struct probe_class *pclass; /* [I] */
	char *place;			  /* [I] the word of the line that says where it is */
	unsigned maxactive;		  /* [I] as it was written behind the letter; 0: it was not */
	struct fetch_args args;		  /* [I] */
	u8 direct;			  /* [I] RB_WORDS() of a record that can be made the direct way; 0: it cannot */
	bool at_entry;			  /* [I] it is a kprobe at the first instruction of a function */
	bool registers; /* [I] it has the head PROBE_AT, all its arguments are registers, and it is direct */
	struct trace_event_file *quick; /* [R] of such a probe, while one array alone has it on: that one; else NULL */
};
static inline struct probe *probe_of(const struct dyn_event *dev)
{
	return container_of(dev, struct probe, dev);
}

/* ---- Definitions. Thread context; may sleep. The kind frees a probe that is refused. */

/* "r10:": the number behind the letter, if there is one. 0 or -EINVAL. */
int probe_parse_maxactive(struct probe *p, struct dyn_command *c);
/*
 * The words from c->words[2] on. Sets p->pclass, which says what stands in front of the arguments; flags, fields and
 * errors as those of fetch_parse().
 */
int probe_parse_args(struct probe *p, struct dyn_command *c, const struct probe_class *pclass, unsigned flags,
		     const struct trace_event_field *const fields[2]);
/*
 * [e] Make it a probe of the event of this group and name, which is made if there is none. p->args and p->place are
 * set. If the event is on the probe is, too. 0; -EEXIST: there is an event of another kind, or the same probe; -EINVAL:
 * the event has other arguments; both by dyn_refuse(), if possible with the caret under the argument; -ENOMEM, -ENOSPC,
 * an error of switch_on.
 */
int probe_add(struct probe *p, struct dyn_command *c, const char *group, const char *name,
	      const struct dyn_event_kind *kind);
void probe_free_parts(struct probe *p); /* what of *p is in memory of its own */
/* For struct dyn_event_kind. */
void probe_show(struct seq_file *m, struct dyn_event *dev);
const struct trace_event_call *probe_call(struct dyn_event *dev);
int probe_free(struct dyn_event *dev);
bool probe_match(const struct dyn_event *dev, const char *group, const char *event, char **rest);
/* The parts of probe_match(): names, and words of arguments, which may be fewer than the probe has. */
bool probe_names_match(const struct probe *p, const char *group, const char *event);
bool probe_args_match(const struct probe *p, char **words);
bool probe_same_place(const struct probe *a, const struct probe *b); /* for struct probe_class */
/* The class of a probe event, NULL: it is another event. */
const struct probe_class *probe_class_of(const struct trace_event_call *call);
/* Of "MODULE:SYMBOL": the module is not there, and may come. module_mutex held. */
bool probe_waits_for_module(const char *symbol);
/* The event's probe of an event with one probe alone. */
static inline struct probe *probe_only(const struct trace_event_file *file)
{
	return list_first_entry(&container_of(file->call, struct probe_event, call)->probes, struct probe, list);
}
static inline bool probe_event_is_on(const struct probe_event *ev)
{
	return ev->files;
}

/*
 * A hit: record it for each array. `head`: as many words as the class has. fp: where stacks begin, as trace_event_end()
 * has it; 0: at src->regs, which are those of the kernel. Preemption off, once more than in the probed code. Any
 * context.
 */
void probe_record(const struct probe *p, const struct fetch_source *src, const unsigned long *head, unsigned long fp);
/* The same of a probe with PROBE_AT: regs are those of the probed place. Returns 0, as a kprobe's handler does. */
int probe_record_at(const struct probe *p, const struct pt_regs *regs);
/* The same for one array. */
void probe_record_in(struct trace_event_file *file, const struct probe *p, const struct fetch_source *src,
		     const unsigned long *head, unsigned long fp);
/* print_head of kernel text: "(place)", "(where to <- function)". */
void probe_print_at(struct seq_file *s, struct trace_iterator *iter, const unsigned long *head);
void probe_print_return(struct seq_file *s, struct trace_iterator *iter, const unsigned long *head);

/* A module has come, and probes can be put into its text. module_mutex held, before its init. */
void probe_module_came(struct module *mod);

/* Of fprobe events, and of tracepoint probes, which Linux counts among them. */
extern const struct dyn_event_kind fprobe_kind;

/*
 * Probe events: what kprobes, uprobes and event probes have in common. An event has one or several probes, which fill
 * its record by the same fetch arguments (fetch.h) at different places. Each array that has the event on gets a record
 * of each hit.
 */
#pragma once

#include "dynevent.h"
#include "fetch.h"

#define PROBE_HEAD_MAX 2 /* words in a record in front of its arguments: where it was hit, for example */

struct probe_event;

/* What the events of a kind, or of one half of it, have in common. Immutable. */
struct probe_class {
	const struct trace_event_field *head; /* of each record, up to one with name NULL; all of them words */
	const char *fmt, *fmt_args;	      /* of `format`: "(%lx)", ", REC->__probe_ip" */
	void (*print_head)(struct seq_file *s, struct trace_iterator *iter, const unsigned long *head);
	/* [e] The event's first array has it on, or its last one no more. 0 or -errno. */
	int (*switch_on)(struct probe_event *ev, bool on);
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
	const struct probe_class *pclass; /* [I] */
	struct list_head probes;	  /* [e] of struct probe, in the order of their lines */
	struct probe_files *files;	  /* [R] NULL: no array */
	unsigned pins;			  /* [a] call.pins */
	char group[DYN_NAME_MAX], name[DYN_NAME_MAX];
};

/* One place. Part of what its kind has of it. */
struct probe {
	struct dyn_event dev;
	struct list_head list;	   /* [e] of ev->probes */
	struct probe_event *event; /* [I] */
	struct fetch_args args;	   /* [I] */
};
static inline struct probe *probe_of(const struct dyn_event *dev)
{
	return container_of(dev, struct probe, dev);
}

/*
 * [e] Make it a probe of the event of this group and name, which is made if there is none. p->args is parsed; nothing
 * else of p need be set. `same` says whether another probe of the event stands at the same place. 0; -EEXIST: there is
 * an event of another kind, or the same probe; -EINVAL: the event has other arguments; both by dyn_refuse(), if
 * possible with the caret under c->words[first ...], from which on the arguments stand; -ENOMEM, -ENOSPC.
 */
int probe_add(struct probe *p, struct dyn_command *c, unsigned first, const char *group, const char *name,
	      const struct probe_class *pclass, const struct dyn_event_kind *kind,
	      bool (*same)(const struct probe *a, const struct probe *b));
/* [e] -EBUSY: it is the last probe of an event that is busy. 0: the event has lost it, and no hit of it uses it. */
int probe_remove(struct probe *p);
/* For struct dyn_event_kind. */
bool probe_is_busy(struct dyn_event *dev);
/* Names of group and event, and the words of arguments, of which there may be fewer than the probe has. */
bool probe_names_match(const struct probe *p, const char *group, const char *event);
bool probe_args_match(const struct probe *p, char **words);
static inline bool probe_event_is_on(const struct probe_event *ev)
{
	return ev->files;
}

/*
 * A hit: record it for each array. `head`: as many words as the class has. fp: where stacks begin, as trace_event_end()
 * has it. Preemption off, once more than in the probed code. Any context.
 */
void probe_record(const struct probe *p, const struct fetch_source *src, const unsigned long *head, unsigned long fp);

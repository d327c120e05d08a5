/*
 * Dynamic events: events that a user makes by writing a line. Each kind of them (kprobe, uprobe, event probe, synthetic
 * event) plugs in with one struct:
 *
 *	static const struct dyn_event_kind kprobe_kind = {
 *		.file = "kprobe_events", .log = "trace_kprobe",
 *		.create = kprobe_create, .show = ..., .call = ..., .free = ..., .match = ...,
 *	};
 *	REGISTER_DYN_EVENT_KIND(kprobe_kind);
 *	DYN_EVENT_FILE(kprobe_events, "kprobe_events");
 *
 * The file dynamic_events takes lines of every kind, and shows all events in the order in which they were made. A
 * kind's own file takes and shows its kind alone. Opened with O_TRUNC, as the shell's `>` does, either deletes all that
 * it shows first, or none of them if one is busy (EBUSY). A line that begins with "-:" or "!" deletes.
 *
 * Locks: dyn_event_mutex is held while a line is carried out, so there is one at a time. It is outside module_mutex and
 * event_mutex. The list of events changes with event_mutex held, too, so either of the two is enough to walk it.
 */
#pragma once

#include <lib/list.h>
#include <trace/trace_events.h>

#include "core/tracer.h"
#include "tracefs/tracefs.h"
#include "command.h"

#define DYN_LINE_MAX	 4096 /* bytes of a line with its end, as in Linux */
#define DYN_LINE_LONGEST 4094 /* the bound that Linux names to users, two less */
#define DYN_NOT_MINE	 1    /* of create: the line is of another kind */

/* Why a line or a file was refused. The owner's alone. */
struct dyn_why {
	char text[256];
};

/* An event, or one of the probes of an event. It is a member of the kind's own structure. */
struct dyn_event {
	struct list_head list; /* [dyn_event_mutex and event_mutex] */
	const struct dyn_event_kind *kind;
};

/*
 * All functions run in thread context with dyn_event_mutex held, and may sleep; [e]: with event_mutex held, too.
 * Immutable.
 */
struct dyn_event_kind {
	const char *file; /* its own file; NULL: none */
	const char *log;  /* what error_log calls it */
	/*
	 * Make the event that the line describes: parse it, fill in a struct trace_event_call, and with event_mutex
	 * held call trace_late_event_add(), trace_late_events_ready() (trace/events/event_file.h) and dyn_event_add().
	 * 0; DYN_NOT_MINE: the line is of another kind, and nothing has been said; -errno, if possible by
	 * dyn_refuse().
	 */
	int (*create)(struct dyn_command *c);
	/* [e] The line that would make it, with its newline. */
	void (*show)(struct seq_file *m, struct dyn_event *ev);
	/* [e] Its event, which cannot go while trace_late_event_is_busy(). NULL: is_busy is asked. */
	const struct trace_event_call *(*call)(struct dyn_event *ev);
	bool (*is_busy)(struct dyn_event *ev);
	/*
	 * [e] Delete it: trace_late_events_remove(), dyn_event_remove(), synchronize_rcu(), and give its memory back.
	 * 0; -EBUSY and nothing has changed.
	 */
	int (*free)(struct dyn_event *ev);
	/*
	 * [e] Does a line that deletes mean this one? group NULL: any; event "": any of the group. `rest` are the words
	 * behind the name, which end with NULL; what stands there must be as in the line that would make the event.
	 */
	bool (*match)(const struct dyn_event *ev, const char *group, const char *event, char **rest);
	/*
	 * NULL, unless the lines of the kind's own file have another form. Then run carries out a line, without its
	 * comment (0 or -errno; *why as of dyn_event_run(); it takes the mutexes itself), and show_own is used in place
	 * of show.
	 */
	int (*run)(const char *line, struct dyn_why *why);
	void (*show_own)(struct seq_file *m, struct dyn_event *ev);
};
DECLARE_TABLE(dyn_event_kinds, const struct dyn_event_kind);
#define REGISTER_DYN_EVENT_KIND(kind) REGISTER_IN(dyn_event_kinds, kind)

extern const struct file_operations dyn_event_fops;
#define DYN_EVENT_FILE(id, name) TRACEFS_FILE(id, name, 0640, TRACEFS_TOP, &dyn_event_fops)

/* Lines of kprobe_event=, which trace/boot carries out. [boot] */
extern char dyn_event_boot_lines[512];
extern struct mutex dyn_event_mutex;
extern struct list_head dyn_events;
#define for_each_dyn_event(ev) list_for_each_entry(ev, &dyn_events, list)

/* Put an event at the end of the list, and take it out. Both mutexes held. */
void dyn_event_add(struct dyn_event *ev, const struct dyn_event_kind *kind);
void dyn_event_remove(struct dyn_event *ev);

/*
 * Carry out one line, of this kind alone (NULL: any). For the files and for the kernel command line. 0; or -errno, of
 * which *why has the reason, and error_log with the line, too. Thread context; takes dyn_event_mutex and event_mutex.
 */
int dyn_event_run(const char *line, const struct dyn_event_kind *only, struct dyn_why *why);
/*
 * Delete all of a kind (NULL: of every kind). 0; -EBUSY: one of them is busy, *why says which, and nothing has changed.
 * The same.
 */
int dyn_event_release_all(const struct dyn_event_kind *only, struct dyn_why *why);
/* The reason for -EBUSY of an event that cannot go. For kinds. Both mutexes held. */
void dyn_event_why_busy(struct dyn_event *ev, struct dyn_why *why);

/*
 * What parse.c, event.c, programs.c and file.c share.
 *
 * Locks, the outer ones first: dyn_event_mutex, event_mutex, mmap_lock of one program, user_programs_lock.
 */
#pragma once

#include <irq/workqueue.h>
#include <lib/atomic.h>
#include <lib/list.h>
#include <uapi/user_events.h>

#include "dynevents/dynevent.h"

#define USER_EVENT_TEXT_MAX 512 /* bytes of a description with its zero, as in Linux */

/* An array that wants the records. */
struct user_event_listener {
	struct user_event_listener *next; /* [e, RCU] */
	struct trace_event_file *file;
};

/*
 * An event, as long as something uses it or it is to stay (USER_EVENT_REG_PERSIST).
 *
 * Locks: e event_mutex; a atomic; I immutable.
 */
struct user_event {
	struct dyn_event dyn;
	struct trace_event_call call;	       /* [I] its class is ours, its fields are those of `table` */
	struct trace_event_class class;	       /* [I] */
	char *reg_name;			       /* [I] what programs call it */
	char *name;			       /* [I] in tracefs: the same, or with a number (MULTI_FORMAT) */
	char *words;			       /* [I] the types and names of `table` lie in it */
	char *definition;		       /* [I] "u32 a; struct b c 20" */
	char *print_fmt;		       /* [I] */
	struct trace_event_field *table;       /* [I] the last one has no name */
	unsigned min_size;		       /* [I] bytes of the fields */
	u16 flags;			       /* [I] USER_EVENT_REG_* */
	unsigned pins;			       /* [a] */
	atomic_t refs;			       /* [a] files, places in programs, listeners. 0 lasts while e is held */
	struct user_event_listener *listeners; /* [e, RCU; read by records] */
};

static inline bool user_event_is_on(const struct user_event *e)
{
	return READ_ONCE(e->listeners);
}

/* ---- parse.c. Thread context; may sleep */

/*
 * The words of a text with one blank between them, a blank behind each semicolon, and none at the end. Two descriptions
 * mean the same fields when these texts of theirs are equal. kfree; NULL: out of memory.
 */
char *user_event_canonical(const char *text);
/* The fields of "TYPE NAME [SIZE][; ...]": words, definition, print_fmt, table and min_size. 0, -EINVAL, -ENOMEM. */
int user_event_parse_fields(struct user_event *e, const char *text);
/* Does the text have printable characters only, and none of those in `not`? tracefs shows it as one word then. */
bool user_event_is_clean(const char *text, const char * not );
/* Is what the program has written of these fields' form? Then a reader finds each string within the record. */
bool user_event_is_valid(const struct user_event *e, const char *payload, size_t n);

/* ---- event.c */

/*
 * Find or make the event "NAME [FIELDS]", with a reference for the caller. dyn_event_mutex held; takes event_mutex.
 * 0; -EINVAL; -EPERM; -EADDRINUSE: the name is in use for other fields; -EMFILE, -ENOSPC: too many; -ENOMEM.
 */
int user_event_open(const char *text, u16 flags, struct user_event **found);
/* A reference less; the event may go soon after. event_mutex held. */
void user_event_put(struct user_event *e);
/* Delete all of this name. Locks as user_event_open. 0; -ENOENT, -EBUSY, -EPERM. */
int user_event_delete(const char *name);
/* What nothing uses is deleted soon, from a work. Any context but nmi. */
void user_events_reap_later(void);
/* Of this room, with a thread of its own: its works wait for disks, and for event_mutex. There with the first event. */
extern struct workqueue_struct *user_events_wq;
/* Record what a program has written, in each array that wants it. False: none does. Thread context. */
bool user_event_record(const struct user_event *e, const char *payload, size_t n);
extern const struct dyn_event_kind user_event_kind;
static inline struct user_event *user_event_of(const struct dyn_event *ev)
{
	return container_of(ev, struct user_event, dyn);
}

/* ---- programs.c */

/* The event went on or off: set or clear its bits in all programs. event_mutex held. */
void user_programs_update(const struct user_event *e);
/*
 * The current program's word shows from now on whether the event is on; a reference is taken. dyn_event_mutex held.
 * 0; -EADDRINUSE: the bit is in use; -EFAULT; -ENOMEM.
 */
int user_program_register(const struct user_reg *reg, struct user_event *e);
/* End that, and clear the bit. dyn_event_mutex held. 0; -ENOENT: no event has this bit; -EFAULT: it is not cleared. */
int user_program_unregister(const struct user_unreg *reg);
/* Can the current program write there? A fault is made. No lock held. */
bool user_program_may_write(unsigned long addr);
/* Free what ended programs have left. event_mutex held. */
void user_programs_reap(void);

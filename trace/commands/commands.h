/* Which functions have a function command: probe.c, for command.c. Private to trace/commands. */
#pragma once

#include <trace/ftrace.h>

struct func_probe;
struct trace_array;
struct trace_event_file;

/*
 * The event of enable_event or disable_event. All functions that one write named share it, and its count, as in Linux.
 */
struct event_switch {
	struct trace_event_file *file; /* [I] */
	unsigned long count;	       /* [a] TRIGGER_UNLIMITED */
	unsigned functions;	       /* [e] how many functions have it; it is freed with the last one */
};

/* What one function of a probe has: a count, or, with a command for an event, that event. */
union func_slot {
	unsigned long count;	    /* [a] left */
	struct event_switch *event; /* [e; read by the callback] */
};

/* A command by its name, and what happens when a function that has it is called. */
struct func_command {
	const char *name;
	bool on;				   /* of two opposite commands: does this one switch on? */
	bool of_event;				   /* the parameters begin with an event */
	bool once;				   /* its count is always 1, whatever the parameter says */
	bool never;				   /* it has no count, whatever the parameter says */
	int (*prepare)(struct trace_array *tr);	   /* NULL, or before the first call. 0 or -errno */
	void (*unprepare)(struct trace_array *tr); /* the other way round, when no function has the command any more */
	/*
	 * The function was called. Any context in which functions are traced, preemption off; it must not lock or
	 * allocate. slot: NULL without count and event.
	 */
	void (*fire)(struct func_probe *probe, union func_slot *slot, struct ftrace_regs *fregs);
};

/* Locks: e event_mutex; I immutable. */
struct func_probe {
	struct func_probe *next;	    /* [e] tr->func_probes, the newest first */
	struct trace_array *tr;		    /* [I] */
	const struct func_command *command; /* [I] */
	bool counted;			    /* [I] */
	bool prepared;			    /* [e] command->prepare has done its work */
	struct ftrace_ops ops;		    /* [e] its filter: the functions */
	union func_slot *slots; /* [I] one a record of ftrace; those in the filter mean something. NULL: not needed */
};

/* Those functions of an array that have the same command, with counts or without. */
struct func_users {
	struct trace_array *tr;
	const struct func_command *command;
	bool counted;
	const char **why; /* gets the reason of an error that the pattern and the errno do not show */
};

/*
 * The functions that match the pattern get the command, or lose it; an empty pattern takes it from all that have it.
 * Changes are collected, and come in force at func_probes_commit(): event_mutex must be held from the first one until
 * then. After an error `slot` is still the caller's. 0. -EINVAL: the pattern matches nothing, or nothing that is not
 * so already. -ENODEV: no function has the command that is to go. -ENOMEM. Or an error of changes of another kind,
 * which had been collected and come in force first.
 */
int func_probes_add(const struct func_users *users, const char *glob, union func_slot slot);
int func_probes_remove(const struct func_users *users, const char *glob);
/* What was collected comes in force. 0; or -errno, and nothing of it is in force. event_mutex held; sleeps. */
int func_probes_commit(void);

/* Take a command away from all functions of all arrays. Takes event_mutex. command.c */
void ftrace_remove_command(const char *name);

/* The users of hooked returns, shared by the hot paths and what registers them. */
#pragma once

#include <trace/fgraph.h>

/* [ftrace_lock, all other CPUs parked; read with preemption off] */
extern struct fgraph_ops *fgraph_users[FGRAPH_USERS]; /* by bit; NULL: free */
extern u32 fgraph_mask;				      /* bits of the users that are there, or were a moment ago */
extern unsigned fgraph_nr_users;
extern bool fgraph_sets_differ; /* not all users want every site that calls; or users are changing */
extern u64 fgraph_epoch;	/* goes up with every change of users */
extern u64 fgraph_profiled_key; /* key of frames that the tracer makes for the profiler, too; 0: it makes none */
extern bool fgraph_was_used;	/* there may be hooked returns, for ever from the first user on */

extern u64 fgraph_mismatches; /* [a] returns that were not the innermost call's */

/* Bring what the handlers call in line with fgraph_users. All other CPUs parked. */
void fgraph_choose(void);

/* fgraph_users.c: fn for each task there is, idle ones included, tasklist_lock held; false as soon as fn says so. */
bool fgraph_with_all_tasks(bool (*fn)(struct task_struct *task, void *data), void *data);

/* fgraph_sleep.c: does time asleep count in fgraph_stack.slept? trace_types_lock held. 0 or -errno. */
int fgraph_count_sleep(bool on);

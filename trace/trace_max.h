/*
 * What is set aside: the buffer that led to the longest latency so far, or that `echo 1 > snapshot` took.
 *
 * A latency tracer measures sections (interrupts off, preemption off, a wake-up) and writes its records to the
 * array's buffer. When one is longer than all before, trace_max_take() exchanges contents with the buffer set
 * aside, in constant time, and keeps what the header of `trace` says of it. Which records belong to it is told by
 * CPU and time (cpus, time_start, time_end): nothing is cleared when a section begins.
 *
 * A CPU's part can only be exchanged on that CPU, and not while the code that was interrupted there writes a
 * record. Then it is left pending, and done before the tracer writes its next record there (trace_max_begin) or
 * by an interrupt that a reader sends. So no maximum is lost and none is torn.
 *
 * A reader holds the object that it shows (trace_snapshot_get). A maximum that comes meanwhile goes to a spare
 * one, which the first reader's open has allocated: whoever has `trace` open sees one section from head to end.
 */
#pragma once

#include <kernel/smp.h>
#include <lib/types.h>
#include <sched/task.h>

struct trace_array;
struct trace_buffer;

/*
 * One buffer set aside. Locks: m its array's max lock (interrupts off; not taken in an nmi); while a reader holds
 * it nothing changes but the pending exchanges, which the reader's open has waited for.
 */
struct trace_snapshot {
	struct trace_buffer *buffer;  /* [I] as large as the array's own */
	struct cpumask cpus;          /* [m] whose records belong to it; empty: nothing was taken yet */
	struct cpumask pending;       /* [m] of these not exchanged yet */
	u64 time_start, time_end;     /* [m] stamps of tr->clock: records outside are left out */
	u64 latency;                  /* [m] ns; 0: not a latency tracer's */
	unsigned long critical_start; /* [m] "=> started at", 0: none */
	unsigned long critical_end;   /* [m] "=> ended at" */
	int cpu;                      /* [m] where it ended */
	pid_t pid;                    /* [m] the task, as the header shows it */
	char comm[TASK_COMM_LEN];     /* [m] */
	u32 uid, policy, rt_priority; /* [m] */
	int nice;                     /* [m] */
	unsigned readers;             /* [m] who show it */
};

/* What a latency tracer says of a section that has just ended on this CPU. */
struct trace_section {
	u64 start, end;                         /* stamps of tr->clock */
	unsigned long critical_start, critical_end; /* 0: none */
	struct task_struct *task;               /* for the header */
	struct cpumask cpus;                    /* on which its records were written; this CPU is among them */
};

/* A tracer's init and reset: get and give back what trace_max_take needs. trace_types_lock. 0, -ENOMEM, -EBUSY. */
int trace_max_start(struct trace_array *tr);
void trace_max_stop(struct trace_array *tr);

/* Is a section of so many ns longer than all before, or than tracing_thresh when that is set? Any context. */
bool trace_max_wanted(struct trace_array *tr, u64 ns);
/* Keep it, if it still is wanted. Interrupts off, not in an nmi; may be called with runqueue locks held. */
void trace_max_take(struct trace_array *tr, const struct trace_section *section);
/* Before the first record of a section on this CPU. Interrupts off. A load when nothing is pending. */
void trace_max_begin(struct trace_array *tr);

/*
 * What `trace` of a latency tracer, or `snapshot`, shows now, held until put; the exchanges that it waited for are
 * done. NULL: nothing is allocated; ERR_PTR(-ENOMEM). trace_types_lock; sleeps.
 */
struct trace_snapshot *trace_snapshot_get(struct trace_array *tr);
void trace_snapshot_put(struct trace_array *tr, struct trace_snapshot *snapshot);

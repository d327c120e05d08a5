/*
 * What is set aside: the buffer that led to the longest latency so far, or that `echo 1 > snapshot` took.
 *
 * A latency tracer measures sections (interrupts off, preemption off, a wake-up) and writes its records to the
 * array's buffer. When one is longer than all before, trace_max_take() exchanges contents with the buffer set
 * aside, in constant time, and keeps what the header of `trace` says of it. CPU and time tell which records belong to
 * the section (cpus, time_start, time_end), so nothing need be cleared when a section begins.
 *
 * A CPU's part can only be exchanged on that CPU, and not while the code that was interrupted there writes a
 * record. Then it is left pending, and done before the tracer writes its next record there (trace_max_begin). A
 * reader that comes first gets a copy of that part. So no maximum is lost and none is torn, neither the one that
 * is shown nor the one that is being measured.
 *
 * A snapshot goes the same way when it is taken where no task can wait for other CPUs (core/snapshot_now.c). Then the
 * buffer goes on empty, and the parts that are pending are exchanged by the next writer on their CPU, or before a
 * reader opens.
 *
 * A reader holds the object that it shows (trace_snapshot_get). A maximum that comes meanwhile goes to a spare
 * one, which the first reader has allocated: it sees one section from head to end.
 *
 * Why this is safe: the head of trace/core/aside.c.
 */
#pragma once

#include <irq/irqflags.h>
#include <kernel/smp.h>
#include <lib/types.h>
#include <sched/spinlock.h>
#include <sched/task.h>

#include "array.h"

/*
 * One buffer set aside. Locks: m its array's max lock; t trace_types_lock. While a reader holds it nothing
 * changes, but by per_cpu/cpuN/snapshot, and by snapshot_raw, which takes records away.
 */
struct trace_snapshot {
	struct trace_buffer *buffer; /* [I] as large as the array's own */
	struct cpumask cpus;	     /* [m] whose records belong to it; empty: nothing was taken yet */
	/*
	 * [m] Stamps of tr->clock. Of a maximum, and of a part that is copied, records outside of these are not shown.
	 */
	u64 time_start, time_end;
	u64 time_zero;		      /* [m] what the latency format counts from */
	u64 latency;		      /* [m] ns; 0: a snapshot, not a maximum */
	unsigned long critical_start; /* [m] "=> started at", 0: none */
	unsigned long critical_end;   /* [m] "=> ended at" */
	int cpu;		      /* [m] where it ended */
	pid_t pid;		      /* [m] the task, as the header shows it */
	char comm[TASK_COMM_LEN];     /* [m] */
	u32 uid, policy, rt_priority; /* [m] */
	int nice;		      /* [m] */
	unsigned readers;	      /* [m, t to raise it] how many readers hold it */
	unsigned clock_id;	      /* [t] what its records were stamped with since its rings were reset */
};

/*
 * What a latency tracer says of a section that has just ended on this CPU. Its records end where trace_max_take() is
 * called, so that the closing stack belongs to it and still counts for nothing in the latency.
 */
struct trace_section {
	u64 start, end; /* stamps of tr->clock, in ns; the latency is what is between */
	u64 first;	/* stamp before its first record, when that is not `start`; 0: `start` */
	unsigned long critical_start, critical_end; /* 0: none */
	struct task_struct *task;		    /* for the header */
	struct cpumask cpus;			    /* on which its records were written; this CPU is among them */
};

/* Locks: m lock, taken with interrupts off and not in an nmi; t trace_types_lock; a atomic. */
struct trace_max {
	spinlock_t lock;
	u64 latency;		       /* [m; read by anybody] ns: tracing_max_latency */
	u64 epoch;		       /* [a] sections that began under another number were not recorded as a whole */
	struct cpumask pending;	       /* [m; read by its CPU] parts of `newest` that are not exchanged yet */
	struct trace_snapshot *newest; /* [m] what is shown; NULL: nothing is allocated [t] */
	struct trace_snapshot *spare;  /* [m] there is one whenever readers hold `newest` */
	bool active;		       /* [t; read under m] between trace_max_start and trace_max_stop */
	bool held_off;		       /* [m] a reader copies, and newer ones come too fast: see trace_snapshot_get */
	u64 saved_flags;	       /* [t] the array's options before trace_max_start */
	unsigned armed;		       /* [m] triggers, commands and calls that may take a snapshot */
	unsigned mapped;	       /* [m] mappings of the array's rings, which cannot be exchanged meanwhile */
};

extern u64 tracing_thresh; /* [a] ns; not 0: every section as long is taken */
/* Change it, and tell each part of each array that depends on it. trace_types_lock held. */
void trace_set_thresh(u64 ns);

/* Microseconds in decimal, to nanoseconds. 0; -EINVAL, -ERANGE and nothing is changed. */
int trace_parse_us(const char *text, u64 *ns);

/*
 * A tracer's init and reset: get and give back what trace_max_take needs, record tasks' names, set the options
 * overwrite (a full buffer must make room for a maximum; trace_keep_overwrite keeps it on) and latency-format and put
 * them back, forget the maximum. trace_types_lock. 0, -EINVAL with a clock whose differences are no times, -ENOMEM.
 * When the tracer calls stop no section may be under way any more. Names are recorded from the next tracepoint_switch()
 * on, or the next change of functions: the tracer's own.
 */
int trace_max_start(struct trace_array *tr);
void trace_max_stop(struct trace_array *tr);
/* Between the two: forget the maximum and all records; sections under way are left out. trace_types_lock. */
void trace_max_restart(struct trace_array *tr);

/*
 * tracing_reset() of all CPUs while any tracer may be selected: a section that is under way has lost its beginning, so
 * it is left out. trace_types_lock.
 */
void trace_max_reset_live(struct trace_array *tr);

/* Sections must be longer than this to be a maximum; 0: any. Thread context. */
void trace_max_set_latency(struct trace_array *tr, u64 ns);

/* Raise it to `ns`, if it is less: for tracers that keep no buffer of the longest. Any context but NMI. */
void trace_max_raise(struct trace_array *tr, u64 ns);

/* Is a section of so many ns longer than all before, or as long as tracing_thresh when that is set? Any context. */
static __always_inline bool trace_max_wanted(struct trace_array *tr, u64 ns)
{
	u64 thresh = READ_ONCE(tracing_thresh);

	return thresh ? ns >= thresh : ns > READ_ONCE(tr->max->latency);
}

/*
 * Keep the section as the maximum, if it still is the longest and was recorded as a whole. Interrupts off, not in an
 * NMI; may be called with runqueue locks held. Call it before the tracer's next trace_max_begin on this CPU.
 */
void trace_max_take(struct trace_array *tr, const struct trace_section *section);

/* Exchange this CPU's part if it is pending. 0, or the error of ring_buffer_swap_cpu(): then it stays pending. */
int trace_max_exchange_pending(struct trace_array *tr);
/* Exchange this CPU's part for that of `snapshot`. Under the max lock. 0, or an error as above. */
int trace_max_exchange_here(struct trace_array *tr, struct trace_snapshot *snapshot);
/* The same for all parts that are pending of CPUs that are not online. Under the max lock. */
void trace_max_exchange_absent(struct trace_array *tr, struct trace_snapshot *snapshot);

/*
 * The steps of trace_max_begin one by one, for a caller whose usual case calls nothing. It asks whether anything is
 * pending on its own CPU, reads the epoch, reserves its record (so recording was on after that), and notes the epoch.
 */
static __always_inline bool trace_max_is_pending(const struct trace_max *max, unsigned cpu)
{
	return cpumask_test_cpu(cpu, &max->pending);
}
static __always_inline u64 trace_max_epoch(const struct trace_max *max)
{
	return smp_load_acquire(&max->epoch);
}
static __always_inline void trace_max_note_epoch(struct trace_array_cpu *data, u64 epoch)
{
	data->max_epoch = epoch;
}

/*
 * Call it on each CPU before the section's first record there, once. Interrupts off, not in an NMI. It takes a few
 * loads and a store when nothing is pending.
 */
static __always_inline void trace_max_begin(struct trace_array *tr)
{
	unsigned cpu = smp_processor_id();
	struct trace_array_cpu *data = &tr->cpu_data[cpu];
	u64 epoch;

	if (unlikely(trace_max_is_pending(tr->max, cpu)))
		trace_max_exchange_pending(tr);
	/* The order matters: the head of core/aside.c argues it. */
	epoch = trace_max_epoch(tr->max);
	trace_max_note_epoch(data, ring_buffer_cpu_is_on(data->buffer) ? epoch : 0);
}

/*
 * Recording has just been stopped, for one CPU or all: sections under way are not whole. Call it before recording goes
 * on again. Any context.
 */
void trace_max_break(struct trace_array *tr);
/* Around operations that keep writers out for a moment: resizing or resetting the array's buffer. [t] */
void trace_max_pause(struct trace_array *tr);
void trace_max_resume(struct trace_array *tr);
/* Resize the array's buffer and what is set aside, all or nothing; `cpu` or RING_BUFFER_ALL_CPUS. [t] */
int trace_max_resize(struct trace_array *tr, unsigned long bytes, int cpu);
/* Another size of pages for all of them, as ring_buffer_set_order_together. [t] */
int trace_max_set_order(struct trace_array *tr, unsigned order);

/*
 * This CPU holds a max lock, or waits for one. What a debug exception records meanwhile (hw-branch-tracer steps through
 * this code, too) must not wait for any: see exchange_at_write(). [its CPU, interrupts off]
 */
extern unsigned max_locks[NR_CPUS];

static inline unsigned long max_lock(struct trace_max *max)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	max_locks[smp_processor_id()]++;
	barrier();
	arch_spin_lock(&max->lock);
	return flags;
}

static inline void max_unlock(struct trace_max *max, unsigned long flags)
{
	arch_spin_unlock(&max->lock);
	barrier();
	max_locks[smp_processor_id()]--;
	raw_local_irq_restore(flags);
}

/*
 * May a snapshot, or a section beyond tracing_thresh, be taken now? Not while a reader copies that has been overtaken
 * again and again: the next one is as good. Under the max lock.
 */
static inline bool trace_max_may_take_any(const struct trace_max *max)
{
	return !max->held_off;
}

/*
 * The object that the next maximum or snapshot goes to: `newest`, or the spare one in its place if a reader holds
 * `newest`. NULL: nothing is allocated. Under the max lock.
 */
struct trace_snapshot *trace_max_unheld(struct trace_max *max);

/* Make tr->max with the array (0, -ENOMEM), and free it with all that is set aside, which has no readers then. */
int trace_max_init(struct trace_array *tr);
void trace_max_exit(struct trace_array *tr);
/* Allocate `newest`, if it is not there: 0, -ENOMEM. The second frees it, unless readers hold it. [t] */
int trace_max_alloc(struct trace_array *tr);
void trace_max_free(struct trace_array *tr);
/* Forget what was taken, of `cpu` or of all CPUs (RING_BUFFER_ALL_CPUS_FILE). A maximum goes as a whole. [t] */
void trace_max_clear(struct trace_array *tr, int cpu);
/* The same, and empty the buffers. No maximum may come meanwhile (trace_max_pause). [t] */
void trace_max_reset(struct trace_array *tr);
/*
 * core/snapshot_now.c: begin a snapshot of all CPUs, all parts of it pending; trace_max_exchange_here follows. The
 * header names the task. Under the max lock; NULL: nothing is allocated.
 */
struct trace_snapshot *trace_snapshot_begin(struct trace_array *tr, const struct task_struct *task);
/*
 * A snapshot of an array for which one is allocated. Any context but an nmi. False: a latency tracer has the place, or
 * a program has mapped a ring.
 */
bool trace_snapshot_take_now(struct trace_array *tr);
/*
 * Snapshots and mappings of rings exclude each other. arm: snapshots may be taken until disarm; -EBUSY while a ring is
 * mapped. forbid: a ring may be mapped until allow; -EBUSY while armed, and while a snapshot is not complete. Thread.
 */
int trace_snapshot_arm(struct trace_array *tr);
void trace_snapshot_disarm(struct trace_array *tr);
int trace_snapshot_forbid(struct trace_array *tr);
void trace_snapshot_allow(struct trace_array *tr);
extern const char trace_rings_are_mapped[]; /* the reason that arm gives, for error_log */
/*
 * For a trigger or a command: arm, and allocate what a snapshot needs, so that trace_snapshot_take_now can follow. 0,
 * -EBUSY, -ENOMEM. The second completes what was taken, and disarms. Both take trace_types_lock.
 */
int tracing_arm_snapshot(struct trace_array *tr);
void tracing_disarm_snapshot(struct trace_array *tr);
/*
 * The shape of the arrays' rings: what changes it, or maps a ring. A mutex inside trace_types_lock and inside any
 * mmap_lock; nothing that may fault is done with it held.
 */
extern struct mutex trace_shape_lock;
/* Exchange what is pending of a snapshot, as far as that can be done now. trace_types_lock; thread. */
void trace_snapshot_settle(struct trace_array *tr);
/* Boot, or the array is made: its buffer calls us when a part is pending. */
void trace_snapshot_setup(struct trace_array *tr);
/* Note the task that the header will name. */
void trace_max_describe(struct trace_snapshot *snapshot, const struct task_struct *task);

/*
 * What `trace` of a latency tracer, or `snapshot`, shows now, held until put; it is complete. NULL: nothing is
 * allocated; ERR_PTR(-ENOMEM). trace_types_lock; sleeps.
 */
struct trace_snapshot *trace_snapshot_get(struct trace_array *tr);
void trace_snapshot_put(struct trace_array *tr, struct trace_snapshot *snapshot);
/*
 * A look: is so much of a CPU's part of the snapshot filled (ring_buffer_filled), or is it about to be? Any context but
 * NMI.
 */
bool trace_snapshot_filled(struct trace_array *tr, unsigned cpu, unsigned percent);

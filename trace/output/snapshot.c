/*
 * snapshot: the buffer as it is at one moment, kept while tracing goes on. Also the two numbers by which latency
 * tracers decide what to keep by themselves: tracing_max_latency, tracing_thresh.
 *
 * A snapshot exchanges the CPUs' rings for empty ones, so each record is in exactly one of the two buffers:
 *
 *     tr->buffer          CPU 0: [records]  CPU 1: [records]
 *                             |  exchange       |  exchange
 *     snapshot->buffer    CPU 0: [empty]    CPU 1: [empty]
 *
 * While a latency tracer is selected, the buffer set aside is its own, and the file refuses with EBUSY. Order of
 * locks: trace_types_lock, then the max lock (interrupts off).
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "core/aside.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "tracers/graph/graph.h"
#include "iter.h"

/* ---- snapshot */

/* What is to be done on each CPU, and how it went on one. */
struct exchange {
	struct trace_array *tr;
	const struct task_struct *task; /* the task that asks */
	bool begun;			/* [max lock] the first CPU to come has begun a snapshot */
	int err;			/* of the last try on one CPU */
};

/*
 * On each CPU, interrupts off, while all others are parked or do the same. No write is under way, and trace_types_lock
 * keeps resizing out, so the exchange cannot fail.
 */
static void take_part(void *arg)
{
	struct exchange *x = arg;
	unsigned long flags = max_lock(x->tr->max);

	if (!x->begun) {
		trace_snapshot_begin(x->tr, x->task);
		trace_max_exchange_absent(x->tr, x->tr->max->newest);
	}
	x->begun = true;
	x->err = x->err ?: trace_max_exchange_here(x->tr, x->tr->max->newest);
	max_unlock(x->tr->max, flags);
}

/* All CPUs at one moment: they are stopped together, so the parts fit each other. May sleep; trace_types_lock held. */
static int take_all(struct trace_array *tr)
{
	struct exchange x = {.tr = tr, .task = current};

	stop_machine_each(take_part, &x);
	WARN_ON_ONCE(x.err);
	return x.err;
}

/*
 * On the one CPU, in its interrupt. The first snapshot begins with this CPU alone; another one keeps what it has of
 * the other CPUs. latency is set to 0 before the exchange, because that says "empty the ring that comes in".
 */
static void take_only_part(void *arg)
{
	struct exchange *x = arg;
	struct trace_array *tr = x->tr;
	unsigned long flags = max_lock(tr->max);
	struct trace_snapshot *snapshot = tr->max->newest;
	unsigned cpu = smp_processor_id();

	snapshot->latency = 0;
	x->err = trace_max_exchange_here(tr, snapshot);
	if (!x->err) {
		trace_func_repeats_forget(tr);
		if (cpumask_empty(&snapshot->cpus))
			snapshot->time_zero = snapshot->time_start = tr->time_start;
		cpumask_set_cpu(cpu, &snapshot->cpus);
		snapshot->time_end = U64_MAX;
		snapshot->critical_start = snapshot->critical_end = 0;
		snapshot->cpu = cpu;
		trace_max_describe(snapshot, x->task);
	}
	max_unlock(tr->max, flags);
}

/*
 * per_cpu/cpuN/snapshot: one CPU by a call to it; the others are not stopped. 0, -ENODEV when the CPU is not
 * online. May sleep; trace_types_lock held.
 */
static int take_one(struct trace_array *tr, int cpu)
{
	struct exchange x = {.tr = tr, .task = current};

	do {
		/* Our interrupt may have come into the middle of a write: that takes a few instructions more. */
		if (smp_call_function_single(cpu, take_only_part, &x, true))
			return -ENODEV;
	} while (x.err == -EBUSY);
	WARN_ON_ONCE(x.err);
	return x.err;
}

/*
 * Memory first: the live buffer gets its full size, and then a second buffer of the same size is made. Only buffers
 * of equal size can be exchanged. 0, -EBUSY while a program has mapped a ring, -ENOMEM, -ENODEV.
 */
static int take_snapshot(struct trace_array *tr, int cpu, const char **why)
{
	int ret = trace_snapshot_arm(tr);

	if (ret) {
		*why = trace_rings_are_mapped;
		return ret;
	}
	ret = tracing_expand(tr);
	if (!ret)
		ret = trace_max_alloc(tr);
	if (!ret)
		ret = cpu == RING_BUFFER_ALL_CPUS_FILE ? take_all(tr) : take_one(tr, cpu);
	trace_snapshot_disarm(tr);
	return ret;
}

/*
 * What a number written to the file does: 0 frees, 1 takes, any other clears. The memory is one for all CPUs, so
 * the file of a single CPU cannot free it. trace_types_lock held.
 */
static int snapshot_command(struct trace_array *tr, int cpu, unsigned long command, const char **why)
{
	if (tr->current_trace->use_max_tr)
		return -EBUSY;
	switch (command) {
	case 0:
		if (cpu != RING_BUFFER_ALL_CPUS_FILE)
			return -EINVAL;
		trace_max_free(tr);
		return 0;
	case 1:
		return take_snapshot(tr, cpu, why);
	default:
		trace_max_clear(tr, cpu);
		return 0;
	}
}

/* The number is parsed before the lock is taken: a wrong word delays no other task. */
static int snapshot_store(char *text, void *data, const char **why)
{
	struct trace_array *tr = trace_file_array(data);
	int cpu = trace_file_cpu(data);
	unsigned long command;
	int ret = kstrtoul(text, 10, &command);

	if (ret)
		return ret;
	mutex_lock(&trace_types_lock);
	ret = snapshot_command(tr, cpu, command, why);
	mutex_unlock(&trace_types_lock);
	return ret;
}

/* Opening for writing alone is always allowed; the write itself refuses, and its reason then stands in error_log. */
static int snapshot_open(struct inode *inode, struct file *file)
{
	bool busy;

	if (!(file->f_mode & FMODE_READ))
		return 0;
	mutex_lock(&trace_types_lock);
	busy = tracefs_array(file)->current_trace->use_max_tr;
	mutex_unlock(&trace_types_lock);
	return busy ? -EBUSY : trace_open_for_reading(file, TRACE_OPEN_SNAPSHOT);
}

/* It reads as `trace` does, and takes a number as every text file. */
static const struct file_operations snapshot_fops = {
	.open = snapshot_open,
	.read = seq_read,
	.write = text_file_write,
	.llseek = tracing_lseek,
	.release = tracing_release,
};
#define SNAPSHOT_TEXT .store_why = snapshot_store, .exact = true, .kind = &tracefs_text
REGISTER_TRACEFS(snapshot, TRACEFS_ARRAY | TRACEFS_PER_CPU,
		 {.path = "snapshot", .mode = 0640, .fop = &snapshot_fops, SNAPSHOT_TEXT});

/* What an empty snapshot shows in place of records: Linux's text, word by word, since scripts search for it. */
void trace_snapshot_help(struct seq_file *m, struct trace_iterator *iter)
{
	bool allocated = iter->tr->max->newest;

	seq_printf(m, "# tracer: %s\n#\n#\n# * Snapshot is %s *\n#\n# Snapshot commands:\n", iter->trace->name,
		   allocated ? "allocated" : "freed");
	if (iter->cpu_file == RING_BUFFER_ALL_CPUS_FILE)
		seq_puts(m, "# echo 0 > snapshot : Clears and frees snapshot buffer\n"
			    "# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.\n"
			    "#                      Takes a snapshot of the main buffer.\n"
			    "# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or free)\n");
	else
		seq_puts(m, "# echo 0 > snapshot : Invalid for per_cpu snapshot file.\n"
			    "# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.\n"
			    "#                      Takes a snapshot of the main buffer for this cpu.\n"
			    "# echo 2 > snapshot : Clears this cpu's snapshot buffer (but does not allocate)\n");
	seq_puts(m, "#                      (Doesn't have to be '2' works with any number that\n"
		    "#                       is not a '0' or '1')\n");
}

/* ---- Microseconds in the files, nanoseconds inside */

/* Rounded by the remainder and not by adding 500: a value near the largest u64 must not wrap. */
static void show_us(struct seq_file *m, u64 ns)
{
	u64 us = ns / 1000 + (ns % 1000 >= 500);

	seq_printf(m, "%llu\n", (unsigned long long)us);
}

/* Microseconds of text as nanoseconds. -ERANGE when they do not fit into 64 bits as nanoseconds. */
int trace_parse_us(const char *text, u64 *ns)
{
	u64 us;
	int ret = kstrtoull(text, 10, &us);

	if (ret)
		return ret;
	if (us > U64_MAX / 1000)
		return -ERANGE;
	*ns = us * 1000;
	return 0;
}

static int tracing_max_latency_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);

	show_us(m, READ_ONCE(tr->max->latency));
	return 0;
}

/* Writing 0 makes the next section the longest; a larger number leaves out every section up to that length. */
static int tracing_max_latency_store(char *text, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	u64 ns;
	int ret = trace_parse_us(text, &ns);

	if (!ret)
		trace_max_set_latency(tr, ns);
	return ret;
}
TRACEFS_NUMBER_FILE(tracing_max_latency, "tracing_max_latency", 0640, TRACEFS_ARRAY, tracing_max_latency_show,
		    tracing_max_latency_store);
TRACEFS_TAKES(tracing_max_latency, "tracing_max_latency", "a number of microseconds; 0 begins again");

static int tracing_thresh_show(struct seq_file *m, void *data)
{
	show_us(m, READ_ONCE(tracing_thresh));
	return 0;
}

static int tracing_thresh_store(char *text, void *data)
{
	u64 ns;
	int ret = trace_parse_us(text, &ns);

	if (ret)
		return ret;
	mutex_lock(&trace_types_lock);
	trace_set_thresh(ns);
	mutex_unlock(&trace_types_lock);
	return 0;
}
TRACEFS_NUMBER_FILE(tracing_thresh, "tracing_thresh", 0640, TRACEFS_TOP, tracing_thresh_show, tracing_thresh_store);
TRACEFS_TAKES(tracing_thresh, "tracing_thresh", "a number of microseconds; 0: no threshold");

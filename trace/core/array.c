/*
 * Trace arrays: the selected tracer, the switches, and the common part of every record.
 *
 * There are two switches. tracing_on stops the recording into one array's buffer and nothing else: callbacks run and
 * find the buffer off. The tracer's start() and stop() are called, so that it does not measure across the gap.
 * tracing_enabled stops the tracer itself: its call sites become nops again. Locks: trace_types_lock for everything
 * that changes an array; recording takes no lock.
 */
#include <arch/ftrace.h>
#include <irq/irqflags.h>
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <time/clock.h>

#include "ftrace/early.h"
#include "tracefs/error_log.h"
#include "aside.h"
#include "record.h"
#include "tracer.h"

DEFINE_MUTEX(trace_types_lock);
DEFINE_MUTEX(event_mutex);

struct trace_array global_trace = {
	.list = LIST_HEAD_INIT(global_trace.list),
	.current_trace = &nop_trace,
	.trace_flags = TRACE_DEFAULT_FLAGS | TRACE_ITER(PRINTK_DEST),
	.tracing_enabled = true,
	.wait = __WAIT_QUEUE_HEAD_INIT(global_trace.wait),
};

struct trace_array *printk_trace = &global_trace;

/* Before anything traces, a buffer has two pages a CPU; selecting a tracer or writing a size gives it this size. */
unsigned long trace_buf_size = TRACE_BUF_SIZE_DEFAULT; /* bytes a CPU; trace_buf_size= [boot] */

/*
 * Room for a record of `type` with its common part filled in, and *event to commit it by; NULL when the buffer is off
 * or full. Between the two calls the caller must not sleep or leave the CPU. Context: any, preemption off.
 */
void *trace_reserve(struct trace_array *tr, struct ring_buffer_event **event, int type, unsigned long len)
{
	struct ring_buffer_per_cpu *cpu_buffer = tr->cpu_data[smp_processor_id()].buffer;
	void *entry;

	*event = ring_buffer_reserve(cpu_buffer, len, trace_clock_now(tr));
	if (!*event)
		return NULL;
	entry = ring_buffer_event_data(*event);
	trace_fill_entry(entry, type, current, arch_local_save_flags());
	return entry;
}

void trace_commit(struct trace_array *tr)
{
	ring_buffer_commit(tr->cpu_data[smp_processor_id()].buffer);
}

/* Old tutorials use names that a tracer had in Linux once, so a tracer is found by its former name as well. */
const struct tracer *find_tracer(const char *name)
{
	const struct tracer *t;

	for_each_in_table(tracers, t)
		if (!strcmp(t->name, name) || (t->former_name && !strcmp(t->former_name, name)))
			return t;
	return NULL;
}

void trace_tell_tracers(const struct trace_array *tr, void (*tell)(void *to, const char *name), void *to)
{
	const struct tracer *t;

	for_each_in_table(tracers, t)
		if (t != &nop_trace && tracer_is_for(t, tr))
			tell(to, t->name);
	tell(to, nop_trace.name);
}

/* Empties one CPU's buffer, or all. Records that come while this runs may stay. [t] */
void tracing_reset(struct trace_array *tr, int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS) {
		ring_buffer_reset(tr->buffer);
		tr->time_start = trace_clock_now(tr);
	} else {
		ring_buffer_reset_cpu(tr->buffer, cpu);
	}
	trace_func_repeats_forget(tr);
}

/*
 * `bytes` for each CPU, or for one. The buffer set aside for maxima follows, so that the two can change places. 0,
 * -ENOMEM. [t]
 */
int tracing_resize(struct trace_array *tr, unsigned long bytes, int cpu)
{
	int ret = trace_max_resize(tr, bytes, cpu);

	if (ret < 0)
		return ret;
	tr->buffer_expanded = true;
	return 0;
}

/*
 * Pages of 4 KiB << order, for the array's buffer and what is set aside. With another order than before all records are
 * forgotten. 0, -EBUSY while the file trace or snapshot is open, -ENOMEM. [t]
 */
int tracing_set_order(struct trace_array *tr, unsigned order)
{
	int ret = 0;

	if (ring_buffer_order(tr->buffer) != order) {
		ret = trace_max_set_order(tr, order);
		if (!ret) {
			tr->time_start = trace_clock_now(tr);
			trace_func_repeats_forget(tr);
		}
	}
	return ret;
}

/* The small buffers of the boot get their full size when something is to be recorded. 0, -ENOMEM. [t] */
int tracing_expand(struct trace_array *tr)
{
	if (tr->buffer_expanded)
		return 0;
	return tracing_resize(tr, trace_buf_size, RING_BUFFER_ALL_CPUS);
}

bool tracer_tracing_is_on(struct trace_array *tr)
{
	return ring_buffer_record_is_set_on(tr->buffer);
}

/*
 * Are the tracer's init and reset to be called? What a latency tracer has found must stay readable, so
 * tracing_enabled stops its recording only, and the tracer itself runs on.
 */
static bool tracer_runs(const struct trace_array *tr, const struct tracer *t)
{
	return tr->tracing_enabled || t->use_max_tr;
}

/*
 * By a person: the tracer is told, too, unless tracing_enabled has stopped it, since it has given up by then what its
 * start() relies on. The kernel's own tracing_off() and triggers use tracer_tracing_off(), which may run in any context
 * and so cannot tell a tracer. [t]
 */
void tracing_set_on(struct trace_array *tr, bool on)
{
	const struct tracer *t = tr->current_trace;
	bool runs = tracer_runs(tr, t);

	if (on == tracer_tracing_is_on(tr))
		return;
	(on ? tracer_tracing_on : tracer_tracing_off)(tr);
	if (on && runs && t->start)
		t->start(tr);
	if (!on && runs && t->stop)
		t->stop(tr);
}

void tracer_tracing_on(struct trace_array *tr)
{
	ring_buffer_record_on(tr->buffer);
}

/*
 * The order matters: a section that is under way must find either the buffer off or another epoch (section_is_whole).
 */
void tracer_tracing_off(struct trace_array *tr)
{
	ring_buffer_record_off(tr->buffer);
	trace_max_break(tr);
}

/* May be called before trace_init(): there is no buffer then, and nothing happens. */
void tracing_on(void)
{
	if (global_trace.buffer)
		tracer_tracing_on(&global_trace);
}
EXPORT_SYMBOL(tracing_on);

void tracing_off(void)
{
	if (global_trace.max)
		tracer_tracing_off(&global_trace);
}
EXPORT_SYMBOL(tracing_off);

static int set_why(const char **why, int ret, const char *reason)
{
	if (why)
		*why = reason;
	return ret;
}

/*
 * The switch of Linux 2.6. Unlike tracing_on it stops the tracer itself: none of its callbacks runs any more, and the
 * buffer takes no other records either.
 */
int tracing_set_enabled(struct trace_array *tr, bool on, const char **why)
{
	const struct tracer *t = tr->current_trace;
	int ret = 0;

	if (on == tr->tracing_enabled)
		return 0;
	if (on) {
		ret = t->use_max_tr ? 0 : t->init(tr);
		if (!ret)
			ring_buffer_record_enable(tr->buffer);
	} else {
		ring_buffer_record_disable(tr->buffer);
		trace_max_break(tr);
		if (t->reset && !t->use_max_tr)
			t->reset(tr);
	}
	if (!ret)
		tr->tracing_enabled = on;
	return ret == -EBUSY ? set_why(why, ret, t->busy) : ret;
}

/*
 * The tracer begins with an empty buffer, so that no record of the previous tracer is shown as one of its own. While
 * tracing_enabled is 0 the tracer is only noted, and begins when that becomes 1. 0 or init()'s error. [t]
 */
static int tracer_begin(struct trace_array *tr, const struct tracer *t)
{
	int ret = 0;

	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
	if (tracer_runs(tr, t))
		ret = t->init(tr);
	if (!ret)
		tr->current_trace = t;
	return ret;
}

/* Afterwards nothing calls the tracer any more: its reset() has waited for the last callback. [t] */
static void tracer_end(struct trace_array *tr)
{
	if (tracer_runs(tr, tr->current_trace) && tr->current_trace->reset)
		tr->current_trace->reset(tr);
	tr->current_trace = &nop_trace;
}

/*
 * The old tracer ends before the new one begins, so that no callback of one meets the data of the other. When init()
 * fails, the tracer is nop. An open trace_pipe holds its tracer: -EBUSY. Readers that wait are woken, because for them
 * this is the end. [t]
 */
int tracing_set_tracer(struct trace_array *tr, const char *name, const char **why)
{
	const struct tracer *t = find_tracer(name);
	int ret;

	if (!t || !tracer_is_for(t, tr))
		return -EINVAL;
	if (t == tr->current_trace)
		return 0;
	if (READ_ONCE(tr->trace_ref) && t != &nop_trace)
		return set_why(why, -EBUSY, "trace_pipe is being read, and only nop can be set meanwhile");
	if (t != &nop_trace) {
		ret = tracing_expand(tr);
		if (ret)
			return ret;
	}
	tracer_end(tr);
	ret = tracer_begin(tr, t);
	wake_up_all(&tr->wait);
	return ret == -EBUSY ? set_why(why, ret, t->busy) : ret;
}

/* nop: records nothing by itself; markers and events still go to the buffer. */
static int nop_trace_init(struct trace_array *tr)
{
	return 0;
}

/* As in Linux, two options that only change, or refuse to: they show what an option of a tracer looks like. */
#define NOP_ACCEPT 1u
#define NOP_REFUSE 2u
static const struct tracer_opt nop_opts[] = {
	{"test_nop_accept", NOP_ACCEPT},
	{"test_nop_refuse", NOP_REFUSE},
	{},
};
static struct tracer_flags nop_flags = {.opts = nop_opts};

static int nop_set_flag(struct trace_array *tr, u32 bit, bool set)
{
	bool refused = bit == NOP_REFUSE;

	pr_debug("nop: %s set to %d is %s\n", nop_opts[refused].name, set, refused ? "refused" : "accepted");
	return refused ? -EINVAL : 0;
}

const struct tracer nop_trace = {
	.name = "nop",
	.former_name = "none", /* until 2.6.27 */
	.allow_instances = true,
	.init = nop_trace_init,
	.flags = &nop_flags,
	.set_flag = nop_set_flag,
};
REGISTER_TRACER(nop_trace);

/* ---- Parts */

/* Tells each part that keeps something which follows from the array's settings. */
void trace_array_changed(struct trace_array *tr, enum trace_change what)
{
	const struct trace_part *part;

	for_each_in_table(trace_parts, part)
		if (part->changed)
			part->changed(tr, what);
}

/* There is one threshold for all arrays, so an array that has another tracer must know of it, too. */
void trace_set_thresh(u64 ns)
{
	struct trace_array *tr;

	WRITE_ONCE(tracing_thresh, ns);
	for_each_trace_array(tr)
		trace_array_changed(tr, TRACE_CHANGED_THRESH);
}

/* After an error free_parts() undoes all, so a part's free() must cope with what its init() has not made. */
static int init_parts(struct trace_array *tr)
{
	const struct trace_part *part;
	int ret = 0;

	for_each_in_table(trace_parts, part)
		if (part->init && !ret)
			ret = part->init(tr);
	return ret;
}

static void free_parts(struct trace_array *tr)
{
	const struct trace_part *part;

	for_each_in_table(trace_parts, part)
		if (part->free)
			part->free(tr);
}

/* ---- The life of an array */

/* Everything is allocated here, so that recording never allocates. */
int trace_array_init(struct trace_array *tr, unsigned long bytes)
{
	unsigned cpu;

	tr->tracing_cpumask = cpu_possible_mask;
	tr->buffer_percent = 50;
	tr->cpu_data = kcalloc(nr_cpu_ids, sizeof(*tr->cpu_data), GFP_KERNEL);
	tr->buffer = ring_buffer_alloc(bytes, RB_FL_OVERWRITE);
	if (!tr->cpu_data || !tr->buffer || trace_max_init(tr) || init_parts(tr))
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		tr->cpu_data[cpu].buffer = ring_buffer_cpu(tr->buffer, cpu);
	trace_clock_init(tr);
	trace_snapshot_setup(tr);
	return 0;
}

/* The array may be one that trace_array_init() has made only in part. */
void trace_array_free(struct trace_array *tr)
{
	free_parts(tr);
	tracing_clear_errors(tr);
	trace_max_exit(tr);
	if (tr->buffer)
		ring_buffer_free(tr->buffer);
	kfree(tr->cpu_data);
	kfree(tr->files);
}

#define BOOT_BUFFER_SIZE 7000UL /* rounds up to two pages: what Linux shows as 7 KiB */

/*
 * Boot, after the slab and per-CPU areas: the buffers, and what the command line wants traced. Calls that were noted
 * until now are of no use any more when that is not the function tracer.
 */
void trace_init(void)
{
	const struct trace_part *part;

	if (trace_array_init(&global_trace, BOOT_BUFFER_SIZE))
		panic("tracing: no memory for the ring buffer");
	trace_cmdline_init();
	for_each_in_table(trace_parts, part)
		if (part->boot)
			part->boot(&global_trace);
	ftrace_early_drop();
}

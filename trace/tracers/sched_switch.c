/*
 * The sched_switch tracer of Linux 2.6: which task runs after which ("==>") and which task wakes which ("+"), each with
 * pid:priority:state of both sides:
 *
 *	bash-1408  [000]  52.001207:   1408:120:S ==> [000]     9:120:R events/0
 *	bash-1408  [000]  52.001310:   1408:120:R   + [001]    12:  0:S migration/1
 *
 * It needs nothing but two kinds of record and three probes, so it is the pattern for a new tracer: probes, init and
 * reset, struct tracer, and one printer for each record in each format.
 */
#include <lib/errno.h>
#include <sched/sched.h>
#include <trace/events/sched.h>

#include "core/record.h"
#include "output/iter.h"
#include "output/output.h"
#include "sched_switch.h"

/*
 * One record for a switch and for a wake-up: both are two tasks with pid, priority and state. The number of the state
 * is Linux's, which is what programs that read raw records expect. Context: a probe of the scheduler, the runqueue
 * locked, preemption off.
 */
static void record_pair(struct trace_array *tr, int type, struct task_struct *from, unsigned from_state,
			struct task_struct *to, u32 pc, unsigned long flags)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event =
		ring_buffer_reserve(buffer, sizeof(struct ctx_switch_entry), trace_clock_now(tr));
	struct ctx_switch_entry *entry;

	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, type, current, pc, flags);
	entry->prev_pid = from->pid;
	entry->prev_prio = from->prio;
	entry->prev_state = task_state_index(from_state);
	entry->next_pid = to->pid;
	entry->next_prio = to->prio;
	entry->next_state = task_state_index(READ_ONCE(to->state));
	entry->next_cpu = to->cpu;
	ring_buffer_commit(buffer);
}

void tracing_sched_switch_trace(struct trace_array *tr, struct task_struct *prev, unsigned prev_state,
				struct task_struct *next, u32 pc, unsigned long flags)
{
	record_pair(tr, TRACE_CTX, prev, prev_state, next, pc, flags);
}

void tracing_sched_wakeup_trace(struct trace_array *tr, struct task_struct *wakee, u32 pc, unsigned long flags)
{
	record_pair(tr, TRACE_WAKE, current, READ_ONCE(current->state), wakee, pc, flags);
}

/*
 * The preempt_count of the code in which the tracepoint stands. The tracepoint has raised it by one before it called
 * the probe.
 */
static __always_inline u32 probe_pc(void)
{
	return preempt_count() - PREEMPT_OFFSET;
}

/*
 * The switch itself, and with the option sched-tree the runqueue's tree as it is then. Runqueue locked, interrupts
 * off.
 */
static void probe_sched_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			       unsigned prev_state)
{
	struct trace_array *tr = data;
	unsigned long flags = arch_local_save_flags();
	u32 pc = probe_pc();

	tracing_sched_switch_trace(tr, prev, prev_state, next, pc, flags);
	if (unlikely(tr->trace_flags & TRACE_ITER(SCHED_TREE)))
		trace_sched_tree(tr, smp_processor_id(), pc, flags);
	trace_event_stacks(tr, pc, flags);
}

/* A wake-up: the record says which task wakes which, and on which CPU the woken task will run. */
static void probe_sched_wakeup(void *data, struct task_struct *wakee)
{
	struct trace_array *tr = data;
	unsigned long flags = arch_local_save_flags();
	u32 pc = probe_pc();

	tracing_sched_wakeup_trace(tr, wakee, pc, flags);
	/* A task that wakes itself has not left the runqueue yet, and does not lock it (wake_current). */
	if (unlikely(tr->trace_flags & TRACE_ITER(SCHED_TREE)) && wakee != current)
		trace_sched_tree(tr, wakee->cpu, pc, flags);
	trace_event_stacks(tr, pc, flags);
}

static const struct tracepoint_probe sched_switch_probes[] = {
	{&__tracepoint_sched_wakeup, (void *)probe_sched_wakeup},
	{&__tracepoint_sched_wakeup_new, (void *)probe_sched_wakeup},
	{&__tracepoint_sched_switch, (void *)probe_sched_switch},
};

/* 0, -ENOMEM, and then nothing is switched on. Records carry only pids, so names are noted from now on. */
static int sched_switch_trace_init(struct trace_array *tr)
{
	int ret = tracing_start_cmdline_record_later();

	if (ret)
		return ret;
	ret = tracepoint_probes_register(sched_switch_probes, ARRAY_SIZE(sched_switch_probes), tr);
	if (ret)
		tracing_stop_cmdline_record();
	return ret;
}

/* When this returns, no CPU runs one of the probes: unregistering waits for a grace period. */
static void sched_switch_trace_reset(struct trace_array *tr)
{
	tracing_stop_cmdline_record_later();
	tracepoint_probes_unregister(sched_switch_probes, ARRAY_SIZE(sched_switch_probes), tr);
}

static const struct tracer sched_switch_trace = {
	.name = "sched_switch",
	.allow_instances = true,
	.init = sched_switch_trace_init,
	.reset = sched_switch_trace_reset,
};
REGISTER_TRACER(sched_switch_trace);

/* "  1408:120:R ==> [000]     9:120:R events/0", column for column as Linux prints it. */
static void print_pair(struct seq_file *s, struct trace_iterator *iter, const char *delim)
{
	const struct ctx_switch_entry *field = (const void *)iter->ent;
	char comm[TASK_COMM_LEN];

	trace_iter_find_cmdline(iter, field->next_pid, comm);
	seq_printf(s, " %7d:%3d:%c %s [%03d] %7d:%3d:%c %s\n", field->prev_pid, ctx_switch_prio(field->prev_prio),
		   task_index_to_char(field->prev_state), delim, field->next_cpu, field->next_pid,
		   ctx_switch_prio(field->next_prio), task_index_to_char(field->next_state), comm);
}

static void trace_ctx_trace(struct seq_file *s, struct trace_iterator *iter)
{
	print_pair(s, iter, "==>");
}

static void trace_wake_trace(struct seq_file *s, struct trace_iterator *iter)
{
	print_pair(s, iter, "  +");
}

/* `from`: the state of the task that leaves the CPU; for a wake-up it is '+', as the waking task goes on running. */
static void print_pair_raw(struct seq_file *s, struct trace_iterator *iter, char from)
{
	const struct ctx_switch_entry *field = (const void *)iter->ent;

	seq_printf(s, "%d %d %c %d %d %d %c\n", field->prev_pid, ctx_switch_prio(field->prev_prio), from,
		   field->next_cpu, field->next_pid, ctx_switch_prio(field->next_prio),
		   task_index_to_char(field->next_state));
}

/*
 * The letters of the states are printed with an int's width, and so are the numbers that are bytes in the record:
 * programs that read this form know it from Linux.
 */
static void print_pair_hex(struct seq_file *s, struct trace_iterator *iter, char from)
{
	const struct ctx_switch_entry *field = (const void *)iter->ent;
	int to = task_index_to_char(field->next_state);

	TRACE_PUT_HEX(s, field->prev_pid);
	TRACE_PUT_HEX(s, field->prev_prio);
	TRACE_PUT_HEX(s, from);
	TRACE_PUT_HEX(s, field->next_cpu);
	TRACE_PUT_HEX(s, field->next_pid);
	TRACE_PUT_HEX(s, field->next_prio);
	TRACE_PUT_HEX(s, to);
}

/* Both kinds of record in the form of the option `bin`: the fields as they lie in memory, without separators. */
static void print_pair_bin(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ctx_switch_entry *field = (const void *)iter->ent;

	TRACE_PUT_BIN(s, field->prev_pid);
	TRACE_PUT_BIN(s, field->prev_prio);
	TRACE_PUT_BIN(s, field->prev_state);
	TRACE_PUT_BIN(s, field->next_cpu);
	TRACE_PUT_BIN(s, field->next_pid);
	TRACE_PUT_BIN(s, field->next_prio);
	TRACE_PUT_BIN(s, field->next_state);
}

static char prev_state_char(struct trace_iterator *iter)
{
	return task_index_to_char(((const struct ctx_switch_entry *)iter->ent)->prev_state);
}

static void trace_ctx_raw(struct seq_file *s, struct trace_iterator *iter)
{
	print_pair_raw(s, iter, prev_state_char(iter));
}

static void trace_wake_raw(struct seq_file *s, struct trace_iterator *iter)
{
	print_pair_raw(s, iter, '+');
}

static void trace_ctx_hex(struct seq_file *s, struct trace_iterator *iter)
{
	print_pair_hex(s, iter, prev_state_char(iter));
}

static void trace_wake_hex(struct seq_file *s, struct trace_iterator *iter)
{
	print_pair_hex(s, iter, '+');
}

/*
 * How records of each type become text. The output asks by the record's type, not by the tracer, so these lines are
 * readable in any trace that holds such records: the wakeup tracers make them, too.
 */
static const struct trace_event trace_ctx_event = {
	.type = TRACE_CTX,
	.trace = trace_ctx_trace,
	.raw = trace_ctx_raw,
	.hex = trace_ctx_hex,
	.bin = print_pair_bin,
};
static const struct trace_event trace_wake_event = {
	.type = TRACE_WAKE,
	.trace = trace_wake_trace,
	.raw = trace_wake_raw,
	.hex = trace_wake_hex,
	.bin = print_pair_bin,
};
REGISTER_TRACE_EVENT(trace_ctx_event);
REGISTER_TRACE_EVENT(trace_wake_event);

/*
 * The sched_switch tracer of Linux 2.6: who runs after whom ("==>") and who wakes whom ("+"), each with
 * pid:priority:state of both sides.
 */
#include <lib/errno.h>
#include <sched/sched.h>
#include <trace/events/sched.h>

#include "trace.h"

static void record_pair(struct trace_array *tr, int type, struct task_struct *from, unsigned from_state,
			struct task_struct *to)
{
	struct ring_buffer_event *event;
	struct ctx_switch_entry *entry = trace_reserve(tr, &event, type, sizeof(*entry));

	if (!entry)
		return;
	entry->prev_pid = from->pid;
	entry->prev_prio = from->prio;
	entry->prev_state = task_state_index(from_state);
	entry->next_pid = to->pid;
	entry->next_prio = to->prio;
	entry->next_state = task_state_index(READ_ONCE(to->state));
	entry->next_cpu = to->cpu;
	trace_commit(tr);
}

static void probe_sched_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			       unsigned prev_state)
{
	record_pair(data, TRACE_CTX, prev, prev_state, next);
}

static void probe_sched_wakeup(void *data, struct task_struct *wakee)
{
	record_pair(data, TRACE_WAKE, current, READ_ONCE(current->state), wakee);
}

static void sched_switch_trace_unregister(struct trace_array *tr, int registered)
{
	if (registered > 2)
		unregister_trace_sched_switch(probe_sched_switch, tr);
	if (registered > 1)
		unregister_trace_sched_wakeup_new(probe_sched_wakeup, tr);
	if (registered > 0)
		unregister_trace_sched_wakeup(probe_sched_wakeup, tr);
	tracing_stop_cmdline_record();
}

static int sched_switch_trace_init(struct trace_array *tr)
{
	int ret = tracing_start_cmdline_record(), registered = 0;

	if (ret)
		return ret;
	ret = register_trace_sched_wakeup(probe_sched_wakeup, tr);
	if (ret)
		goto unregister;
	registered++;
	ret = register_trace_sched_wakeup_new(probe_sched_wakeup, tr);
	if (ret)
		goto unregister;
	registered++;
	ret = register_trace_sched_switch(probe_sched_switch, tr);
	if (ret)
		goto unregister;
	return 0;
unregister:
	sched_switch_trace_unregister(tr, registered);
	return ret;
}

static void sched_switch_trace_reset(struct trace_array *tr)
{
	sched_switch_trace_unregister(tr, 3);
}

static const struct tracer sched_switch_trace = {
	.name = "sched_switch",
	.init = sched_switch_trace_init,
	.reset = sched_switch_trace_reset,
};
REGISTER_TRACER(sched_switch_trace);

/* "  1408:120:R ==> [000]     9:120:R events/0", column for column as Linux 2.6.33 prints it. */
static void print_pair(struct seq_file *s, struct trace_iterator *iter, const char *delim)
{
	const struct ctx_switch_entry *field = (const void *)iter->ent;
	char comm[TASK_COMM_LEN];

	trace_find_cmdline(field->next_pid, comm);
	seq_printf(s, " %5d:%3d:%c %s [%03d] %5d:%3d:%c %s\n", field->prev_pid, ctx_switch_prio(field->prev_prio),
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

static const struct trace_event trace_ctx_event = { TRACE_CTX, trace_ctx_trace };
static const struct trace_event trace_wake_event = { TRACE_WAKE, trace_wake_trace };
REGISTER_TRACE_EVENT(trace_ctx_event);
REGISTER_TRACE_EVENT(trace_wake_event);

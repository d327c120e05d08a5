/*
 * The initcall tracer of Linux 2.6.28: each initcall of the boot, and each init of a module, as two lines:
 *
 *	[    0.003992120] calling  futex_init+0x0/0x50 @ 1
 *	[    0.003994020] initcall futex_init+0x0/0x50 returned 0 after 0 msecs
 *
 * The number behind "@" is the pid of the caller. Selected on the command line (ftrace=initcall), it sees the whole
 * boot, since the first initcall runs long after trace_boot_start(). The tracer is two probes of the tracepoints
 * initcall_start and initcall_finish, so while it is not selected an initcall costs what those cost.
 */
#include <kernel/init.h>
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <sched/sched.h>
#include <trace/events/initcall.h>

#include "core/record.h"
#include "output/iter.h"
#include "output/output.h"

static_assert(BOOT_FUNC_LEN == KSYM_SYMBOL_LEN);

/*
 * The names are made now and stored, because the function may be a module's: by the time the trace is read its memory
 * may hold something else. Context of both probes: the task that calls the function, preemption off.
 */
static void probe_initcall_start(void *data, initcall_t fn)
{
	struct trace_array *tr = data;
	struct ring_buffer_event *event;
	struct trace_boot_call *entry = trace_reserve(tr, &event, TRACE_BOOT_CALL, sizeof(*entry));

	if (!entry)
		return;
	entry->caller = current->pid;
	sprint_symbol(entry->func, (unsigned long)fn);
	trace_commit(tr);
}

static void probe_initcall_finish(void *data, initcall_t fn, int ret)
{
	struct trace_array *tr = data;
	struct ring_buffer_event *event;
	struct trace_boot_ret *entry = trace_reserve(tr, &event, TRACE_BOOT_RET, sizeof(*entry));

	if (!entry)
		return;
	sprint_symbol(entry->func, (unsigned long)fn);
	entry->result = ret;
	entry->duration = initcall_duration();
	trace_commit(tr);
}

static const struct tracepoint_probe initcall_probes[] = {
	{&__tracepoint_initcall_start, (void *)probe_initcall_start},
	{&__tracepoint_initcall_finish, (void *)probe_initcall_finish},
};

/* 0, or -ENOMEM, and then neither probe is registered. */
static int initcall_trace_init(struct trace_array *tr)
{
	return tracepoint_probes_register(initcall_probes, ARRAY_SIZE(initcall_probes), tr);
}

/* When this returns, no task runs one of the probes: unregistering waits for a grace period. */
static void initcall_trace_reset(struct trace_array *tr)
{
	tracepoint_probes_unregister(initcall_probes, ARRAY_SIZE(initcall_probes), tr);
}

/* ---- Text */

static void trace_boot_call_trace(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_boot_call *field = (const void *)iter->ent;

	seq_printf(s, "calling  %s @ %i\n", field->func, field->caller);
}

static void trace_boot_ret_trace(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_boot_ret *field = (const void *)iter->ent;

	seq_printf(s, "initcall %s returned %d after %lu msecs\n", field->func, field->result,
		   field->duration / NSEC_PER_MSEC);
}

/* The forms for programs: names without blanks, the time in ns. */
static void trace_boot_call_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_boot_call *field = (const void *)iter->ent;

	seq_printf(s, "%d %s\n", field->caller, field->func);
}

static void trace_boot_ret_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_boot_ret *field = (const void *)iter->ent;

	seq_printf(s, "%s %d %lu\n", field->func, field->result, field->duration);
}

/* A name has no form in hexadecimal digits, so `hex` shows these records as `raw` does. */
static void trace_boot_call_bin(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_boot_call *field = (const void *)iter->ent;

	TRACE_PUT_BIN(s, field->caller);
	TRACE_PUT_BIN(s, field->func);
}

static void trace_boot_ret_bin(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_boot_ret *field = (const void *)iter->ent;

	TRACE_PUT_BIN(s, field->func);
	TRACE_PUT_BIN(s, field->result);
	TRACE_PUT_BIN(s, field->duration);
}

static const struct trace_event trace_boot_call_event = {
	.type = TRACE_BOOT_CALL,
	.trace = trace_boot_call_trace,
	.raw = trace_boot_call_raw,
	.hex = trace_boot_call_raw,
	.bin = trace_boot_call_bin,
};
static const struct trace_event trace_boot_ret_event = {
	.type = TRACE_BOOT_RET,
	.trace = trace_boot_ret_trace,
	.raw = trace_boot_ret_raw,
	.hex = trace_boot_ret_raw,
	.bin = trace_boot_ret_bin,
};
REGISTER_TRACE_EVENT(trace_boot_call_event);
REGISTER_TRACE_EVENT(trace_boot_ret_event);

/*
 * The tracer's own lines have no columns for task and CPU, but the time as the kernel's log shows it, so that a tool
 * for boot charts reads `trace` as it reads dmesg. Other records, such as events, keep their usual form. A clock that
 * counts no nanoseconds has a form of its own, and then the usual columns show it.
 */
static bool initcall_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	u16 type = iter->ent->type;

	if ((type != TRACE_BOOT_CALL && type != TRACE_BOOT_RET) || !trace_clock_in_ns(iter->tr))
		return false;
	if (iter->tr->trace_flags & TRACE_ITER(CONTEXT_INFO))
		seq_printf(s, "[%5llu.%09llu] ", (unsigned long long)(iter->ts / NSEC_PER_SEC),
			   (unsigned long long)(iter->ts % NSEC_PER_SEC));
	find_trace_event(iter)->trace(s, iter);
	return true;
}

/* Nothing is printed: the usual titles are for columns that the tracer's lines do not have. */
static void initcall_print_header(struct seq_file *s, struct trace_iterator *iter)
{
	if (!trace_clock_in_ns(iter->tr))
		trace_default_header(s, iter);
}

static const struct tracer initcall_trace = {
	.name = "initcall",
	.allow_instances = true,
	.init = initcall_trace_init,
	.reset = initcall_trace_reset,
	.print_line = initcall_print_line,
	.print_header = initcall_print_header,
};
REGISTER_TRACER(initcall_trace);

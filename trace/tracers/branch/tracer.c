/*
 * The tracer `branch` of kernels that `make branch-arm64` or `make branch-x86_64` builds: each time a likely() or
 * unlikely() is asked, a line says whether the hint was right:
 *
 *	bash-1408  [000] .....  52.001207: [ ok ] vfs_read:read_write.c:112
 *	bash-1408  [000] .....  52.001207: [ MISS ] pipe_read:pipe.c:96
 *
 * Every function of the kernel asks such questions, and so do the functions that record them. Therefore the tracer's
 * own files are built so that their hints are only counted (BRANCH_UNTRACED), and the recursion bits that function
 * hooks use stop inlined functions and exceptions that come in between. How often hints were right is counted whether
 * the tracer is selected or not: trace/tracers/branch/stat.c.
 */
#include <irq/irqflags.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "core/record.h"
#include "output/iter.h"
#include "output/output.h"

static int branch_tracing; /* [t] how many arrays have the tracer; every hint reads it */

#define BRANCH_ARRAYS 8 /* arrays that can have the tracer at the same time */
/*
 * The arrays that have the tracer; NULL: a free place. Locks: t to write; read with preemption off, and a reset waits.
 */
static struct trace_array *branch_arrays[BRANCH_ARRAYS];

/* The part of a path behind the last slash, as Linux shows it. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* One record. Preemption off, in a context that has its recursion bit set. */
static void record_in(struct trace_array *tr, const struct branch_site *site, bool correct, u32 pc, unsigned long flags)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event = ring_buffer_reserve(buffer, sizeof(struct trace_branch), trace_clock_now(tr));
	struct trace_branch *entry;

	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_BRANCH, current, pc, flags);
	entry->line = site->line;
	strscpy(entry->func, site->func, sizeof(entry->func));
	strscpy(entry->file, base_name(site->file), sizeof(entry->file));
	entry->correct = correct;
	entry->constant = 0; /* what the compiler knows is not asked */
	ring_buffer_commit(buffer);
}

/*
 * A hint was asked, in any context, and any of the arrays may want a record. The code around the hint must not notice:
 * only this task's preempt_count is changed, and that is put back. A context that is in a tracer already records
 * nothing.
 */
static noinline void record(const struct branch_site *site, bool correct)
{
	struct task_struct *t = current;
	unsigned long flags = arch_local_save_flags();
	u32 pc = READ_ONCE(t->preempt_count), bit = recursion_bit(pc);
	struct trace_array *tr;

	if (pc & bit)
		return;
	trace_enter(t, pc, bit);
	for (unsigned i = 0; i < BRANCH_ARRAYS; i++) {
		tr = __atomic_load_n(&branch_arrays[i], __ATOMIC_ACQUIRE);
		if (tr)
			record_in(tr, site, correct, pc, flags);
	}
	trace_leave(t, pc);
}

/*
 * Counting comes first, so that nothing that record() does, preemption included, comes between a question and its
 * count. This function has neither an `if` nor a hint, because such a question would be asked, and counted, as often as
 * all others together.
 */
void branch_asked(const struct branch_site *site, bool correct)
{
	branch_count(site, correct);
	__builtin_expect(READ_ONCE(branch_tracing), 0) ? record(site, correct) : (void)0;
}

/* 0, -ENOMEM, or -ENOSPC: too many arrays have the tracer. Records carry only pids, so names are noted from now on. */
static int branch_trace_init(struct trace_array *tr)
{
	int ret = tracing_start_cmdline_record();

	if (ret)
		return ret;
	for (unsigned i = 0; i < BRANCH_ARRAYS; i++) {
		if (branch_arrays[i])
			continue;
		__atomic_store_n(&branch_arrays[i], tr, __ATOMIC_RELEASE);
		WRITE_ONCE(branch_tracing, branch_tracing + 1);
		return 0;
	}
	tracing_stop_cmdline_record();
	return -ENOSPC;
}

/* When this returns, no CPU writes a record of this tracer into the array: the grace period has waited for them. */
static void branch_trace_reset(struct trace_array *tr)
{
	for (unsigned i = 0; i < BRANCH_ARRAYS; i++) {
		if (branch_arrays[i] != tr)
			continue;
		WRITE_ONCE(branch_tracing, branch_tracing - 1);
		WRITE_ONCE(branch_arrays[i], NULL);
	}
	synchronize_rcu();
	tracing_stop_cmdline_record();
}

static const struct tracer branch_trace_tracer = {
	.name = "branch",
	.allow_instances = true,
	.init = branch_trace_init,
	.reset = branch_trace_reset,
};
REGISTER_TRACER(branch_trace_tracer);

/* ---- Text */

static void trace_branch_trace(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_branch *field = (const void *)iter->ent;

	seq_printf(s, "[ %s ] %s:%s:%u\n", field->correct ? "ok" : "MISS", field->func, field->file, field->line);
}

/* The forms for programs; texts have no other form in `hex`. */
static void trace_branch_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_branch *field = (const void *)iter->ent;

	seq_printf(s, "%u %s %s %u\n", field->line, field->func, field->file, field->correct);
}

static void trace_branch_bin(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_branch *field = (const void *)iter->ent;

	TRACE_PUT_BIN(s, field->line);
	TRACE_PUT_BIN(s, field->func);
	TRACE_PUT_BIN(s, field->file);
	TRACE_PUT_BIN(s, field->correct);
	TRACE_PUT_BIN(s, field->constant);
}

static const struct trace_event trace_branch_event = {
	.type = TRACE_BRANCH,
	.trace = trace_branch_trace,
	.raw = trace_branch_raw,
	.hex = trace_branch_raw,
	.bin = trace_branch_bin,
};
REGISTER_TRACE_EVENT(trace_branch_event);

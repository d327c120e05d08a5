/*
 * The function tracer: a record at the entry of every traced function.
 *
 * A site reaches one of several callbacks, and which one is decided when something changes (choose_func), not at each
 * call:
 *
 *	straight_func	from ftrace_caller directly: the top array is the only user of the site
 *	hooked_func	the same while returns are hooked, when the parent's address may be the handler's
 *	func		from trace/ftrace/call.c: instances, and sites with several users
 *
 * ftrace_caller calls function_trace_call with preemption as the traced function has it (core/recursion.h). The usual
 * case (task context, room in the page) calls nothing, so it needs no stack frame; every other case leaves it by a tail
 * call.
 */
#include <arch/ftrace.h>
#include <kernel/percpu.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <trace/fgraph.h>
#include <trace/tracepoint.h>

#include "core/record.h"
#include "core/recursion.h"
#include "ftrace/early.h"
#include "ftrace/internal.h"
#include "output/iter.h"
#include "records/records.h"
#include "tracers/graph/graph.h"
#include "function.h"

/*
 * The record of struct ftrace_entry, stored in as few instructions as the compiler can make of it: this is what every
 * traced call pays.
 */
static __always_inline void fill_function(struct ring_buffer_event *event, u32 head, pid_t pid, unsigned long ip,
					  unsigned long parent_ip)
{
	struct ftrace_entry *entry = (void *)event->array; /* a record this short has no length word of its own */

	*(u32 *)(void *)entry = head;
	entry->ent.pid = pid;
	entry->ip = ip;
	entry->parent_ip = parent_ip;
}

/* The first word of the entry, in any context. */
static u32 entry_head(u32 pc, struct task_struct *t, unsigned long flags)
{
	struct trace_entry ent;
	u32 head;

	trace_fill(&ent, TRACE_FN, t, pc, flags);
	memcpy(&head, &ent, sizeof(head));
	return head;
}

/*
 * Record a call in array tr. Any context, preemption off, the context's recursion bit set. False when the ring took
 * no record.
 */
bool trace_function(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc, unsigned long flags)
{
	struct task_struct *t = current;
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[t->cpu].buffer;
	struct ring_buffer_event *event = ring_buffer_reserve(buffer, sizeof(struct ftrace_entry), trace_clock_now(tr));

	if (!event)
		return false;
	fill_function(event, entry_head(pc, t, flags), t->pid, ip, fgraph_true_ret(parent_ip));
	ring_buffer_commit(buffer);
	return true;
}

/* What the general path must look at besides the record: lists of pids; options that ask for more. */
#define FUNCTION_PIDS	 1
#define FUNCTION_OPTIONS 2

/* The tracer's own options. */
#define FUNC_OPT_STACK	    0x1
#define FUNC_OPT_NO_REPEATS 0x2
static const struct tracer_opt function_opts[] = {
	{"func_stack_trace", FUNC_OPT_STACK},
	{"func-no-repeats", FUNC_OPT_NO_REPEATS},
	{},
};
static struct tracer_flags function_flags = {.opts = function_opts};

/*
 * Record a call, with what the options of the tracer and of the array ask for: repetitions are counted, stacks added.
 */
static void record_with_options(struct trace_array *tr, unsigned long ip, unsigned long parent_ip,
				const struct ftrace_regs *fregs, u32 pc)
{
	u32 options = READ_ONCE(function_flags.val);
	unsigned long flags = arch_local_save_flags();

	parent_ip = fgraph_true_ret(parent_ip);
	if (!(options & FUNC_OPT_NO_REPEATS))
		trace_function(tr, ip, parent_ip, pc, flags);
	else if (!trace_function_no_repeats(tr, ip, parent_ip, pc, flags))
		return;
	if ((options & FUNC_OPT_STACK) && !(READ_ONCE(tr->trace_flags) & TRACE_ITER(STACKTRACE)))
		trace_stack_from(tr, pc, flags, 0, ftrace_regs_frame(fregs));
	trace_stacks_from(tr, pc, flags, 0, ftrace_regs_frame(fregs));
}

/*
 * Record a call of a function that this array traces, unless the tracer is off or the lists of pids leave the task out.
 * `wants` (FUNCTION_*) is a constant, so a caller that wants nothing special pays for no question.
 */
static __always_inline void record_wanted(struct trace_array *tr, unsigned long ip, unsigned long parent_ip,
					  const struct ftrace_regs *fregs, u32 pc, unsigned wants)
{
	if (!READ_ONCE(tr->function_enabled))
		return;
	if ((wants & FUNCTION_PIDS) && trace_pids_ignore(&tr->function_pids, current->pid))
		return;
	if (wants & FUNCTION_OPTIONS)
		record_with_options(tr, ip, parent_ip, fregs, pc);
	else
		trace_function(tr, ip, parent_ip, pc, arch_local_save_flags());
}

/* The call from any context, with any preemption count, clock, lists of pids and options. */
static noinline void function_trace_general(struct trace_array *tr, unsigned long ip, unsigned long parent_ip,
					    const struct ftrace_regs *fregs, unsigned wants)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), bit = recursion_bit(pc);

	if (pc & bit)
		return;
	trace_enter(t, pc, bit);
	record_wanted(tr, ip, parent_ip, fregs, pc, wants);
	trace_leave(t, pc);
}

/* The fast path found no room where it looked; preemption is off and the writer counted. */
static noinline void function_reserve_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t, u32 pc, u64 ts,
					   unsigned long ip, unsigned long parent_ip)
{
	struct ring_buffer_event *event = rb_reserve_slow(buffer, sizeof(struct ftrace_entry), ts);

	if (event) {
		fill_function(event, entry_head(pc, t, arch_local_save_flags()), t->pid, ip, parent_ip);
		ring_buffer_commit(buffer);
	}
	trace_leave(t, pc);
}

/*
 * The record is written, and rb_try_close() has said that `commit` must be called: writers that nested inside have left
 * their commits to this one.
 */
static noinline void function_commit_slow(struct ring_buffer_per_cpu *buffer, struct task_struct *t, u32 pc,
					  void (*commit)(struct ring_buffer_per_cpu *))
{
	commit(buffer);
	trace_leave(t, pc);
}

/*
 * The buffer into which a CPU's calls are recorded by the fast path. NULL while the tracer is off, or the clock is not
 * the usual one. [t to write; read with preemption off]
 */
static DEFINE_PER_CPU(struct ring_buffer_per_cpu *, fast_buffer);

/*
 * [trace_types_lock] The tracer or the clock has changed: decide again whether calls may take the fast path. A call
 * then needs one load: the CPU's buffer, or NULL when it must take the general path.
 */
static void trace_update_fast(struct trace_array *tr)
{
	bool fast = tr->function_enabled && !tr->clock;
	int cpu;

	graph_update_fast(tr);
	if (!trace_array_is_top(tr))
		return;
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(fast_buffer, cpu), fast ? tr->cpu_data[cpu].buffer : NULL);
}

/*
 * A call straight from ftrace_caller, which hands over no user: the record goes to the top array (FTRACE_OPS_FL_CORE).
 * The preemption count is raised before the CPU is looked at, so the task stays on it, and is put back to exactly what
 * it was. Each step that is not usual ends in a tail call; so the usual way calls nothing and needs no stack frame.
 */
static __always_inline void record_call(unsigned long ip, unsigned long parent_ip)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), head;
	void (*commit)(struct ring_buffer_per_cpu *);
	struct ring_buffer_per_cpu *buffer;
	struct rb_claimed claimed;
	u64 ts;

	if (unlikely(!trace_is_usual(pc))) {
		function_trace_general(&global_trace, ip, parent_ip, NULL, 0);
		return;
	}
	trace_enter(t, pc, RECURSION_TASK);
	/* Asked with preemption off: what function_trace_reset waits for. */
	buffer = READ_ONCE(this_cpu(fast_buffer));
	if (unlikely(!buffer)) {
		WRITE_ONCE(t->preempt_count, pc);
		function_trace_general(&global_trace, ip, parent_ip, NULL, 0);
		return;
	}
	ts = sched_clock();
	claimed = rb_try_open(buffer, RB_WORDS(sizeof(struct ftrace_entry)), ts);
	if (unlikely(!claimed.event)) {
		function_reserve_slow(buffer, t, pc, ts, ip, parent_ip);
		return;
	}
	head = TRACE_FN | pc << 24 | (u32)arch_irqs_disabled_flags(arch_local_save_flags()) << 16;
	/* Plain accesses to the flags, between barriers: one instruction, where that can test memory. */
	if (unlikely(t->thread_flags & _TIF_NEED_RESCHED)) {
		barrier(); /* a branch that is not taken, instead of computing both */
		head |= (TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED) << 16;
	}
	fill_function(claimed.event, head, t->pid, ip, parent_ip);
	commit = rb_try_close(buffer, claimed);
	if (unlikely(commit)) {
		function_commit_slow(buffer, t, pc, commit);
		return;
	}
	trace_leave(t, pc);
}

static void function_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				struct ftrace_regs *fregs)
{
	record_call(ip, parent_ip);
}

/* The same once returns have been hooked: a function that is reached by a jump has the handler for its parent. */
static void function_trace_hooked_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				       struct ftrace_regs *fregs)
{
	record_call(ip, fgraph_true_ret(parent_ip));
}

/* The callbacks below are chosen while something more is asked for: pids, stacks, no repetitions. */
static void function_pids_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				     struct ftrace_regs *fregs)
{
	function_trace_general(&global_trace, ip, parent_ip, fregs, FUNCTION_PIDS);
}

/*
 * Chosen for stacks behind entries, or for func-no-repeats. It looks at pids as well, whether there is a list or not.
 */
static void function_options_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
					struct ftrace_regs *fregs)
{
	function_trace_general(&global_trace, ip, parent_ip, fregs, FUNCTION_PIDS | FUNCTION_OPTIONS);
}

/*
 * A call from trace/ftrace/call.c, which hands over the user: all calls for instances, and those for the top array from
 * sites that it shares. Preemption is counted once more than in the traced function, and the parent is the true one.
 */
static __always_inline void record_counted(struct ftrace_ops *op, unsigned long ip, unsigned long parent_ip,
					   struct ftrace_regs *fregs, unsigned wants)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), bit = recursion_bit(pc);

	if (pc & bit)
		return;
	WRITE_ONCE(t->preempt_count, pc + bit);
	barrier();
	record_wanted(op->private, ip, parent_ip, fregs, pc - PREEMPT_OFFSET, wants);
	barrier();
	WRITE_ONCE(t->preempt_count, pc);
}

static void counted_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	record_counted(op, ip, parent_ip, fregs, 0);
}

static void counted_pids_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				    struct ftrace_regs *fregs)
{
	record_counted(op, ip, parent_ip, fregs, FUNCTION_PIDS);
}

static void counted_options_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				       struct ftrace_regs *fregs)
{
	record_counted(op, ip, parent_ip, fregs, FUNCTION_PIDS | FUNCTION_OPTIONS);
}

static struct ftrace_ops global_ops = {
	.func = counted_trace_call,
	.straight_func = function_trace_call,
	.hooked_func = function_trace_hooked_call,
	.flags = FTRACE_OPS_FL_CORE | FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_TRUE_PARENT,
	.name = "global_ops",
	.private = &global_trace,
};

/* Only the top array's user can be called straight, so only it has three callbacks. */
static void set_funcs(struct trace_array *tr, ftrace_func_t func, ftrace_func_t straight, ftrace_func_t hooked)
{
	if (trace_array_is_top(tr))
		ftrace_ops_set_funcs(tr->ops, func, straight, hooked);
	else
		ftrace_ops_set_func(tr->ops, func);
}

/*
 * Chooses the callback by what the options and pids ask for, so that a call pays for nothing else. Calls that are on
 * their way may still use the old callback, which records correctly, except for what has just been asked for.
 */
static void choose_func(struct trace_array *tr, u64 options, u32 own_options)
{
	if ((options & TRACE_STACK_OPTIONS) || own_options)
		set_funcs(tr, counted_options_trace_call, function_options_trace_call, function_options_trace_call);
	else if (trace_pids_any(&tr->function_pids))
		set_funcs(tr, counted_pids_trace_call, function_pids_trace_call, function_pids_trace_call);
	else
		set_funcs(tr, counted_trace_call, function_trace_call, function_trace_hooked_call);
}

/* set_ftrace_pid has changed. trace_types_lock held, as in the two functions below. */
static void function_trace_update_pids(struct trace_array *tr)
{
	choose_func(tr, tr->trace_flags, function_flags.val);
}

static int function_trace_flag_changed(struct trace_array *tr, u64 mask, bool set)
{
	if (mask & TRACE_STACK_OPTIONS)
		choose_func(tr, set ? tr->trace_flags | mask : tr->trace_flags & ~mask, function_flags.val);
	return 0;
}

/*
 * An option of the tracer itself. It is one for all arrays, as in Linux, so every array that has the tracer selected
 * chooses again.
 */
static int function_set_flag(struct trace_array *unused, u32 bit, bool set)
{
	struct trace_array *tr;

	for_each_trace_array(tr) {
		if (bit == FUNC_OPT_NO_REPEATS)
			trace_func_repeats_forget(tr);
		if (tr->function_enabled)
			choose_func(tr, tr->trace_flags, set ? function_flags.val | bit : function_flags.val & ~bit);
	}
	return 0;
}

/*
 * The tracer is selected. Names of tasks are noted from now on; calls that were noted before ftrace was there come
 * first; then the call sites are switched. 0 or -errno, and then nothing is on.
 */
static int function_trace_init(struct trace_array *tr)
{
	int ret = tracing_start_cmdline_record_later(); /* the stop that changes our sites completes it */

	if (ret)
		return ret;
	function_trace_update_pids(tr);
	tr->function_enabled = true;
	trace_update_fast(tr);
	if (trace_array_is_top(tr))
		ftrace_early_move(tr);
	ret = register_ftrace_function(tr->ops);
	if (ret) {
		tr->function_enabled = false;
		trace_update_fast(tr);
		tracing_stop_cmdline_record_later();
	}
	tracepoint_switch();
	return ret;
}

/*
 * A task preempted inside ftrace_caller can still arrive in function_trace_call after this: function_enabled turns it
 * away. The stop that changes the sites waits for calls that are past that check.
 */
static void function_trace_reset(struct trace_array *tr)
{
	tr->function_enabled = false;
	trace_update_fast(tr);
	tracing_stop_cmdline_record_later();
	unregister_ftrace_function(tr->ops);
	tracepoint_switch();
}

/* Linux begins with an empty buffer when tracing_on is written under this tracer, and programs rely on it. */
static void function_trace_start(struct trace_array *tr)
{
	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
}

static const struct tracer function_trace = {
	.name = "function",
	.former_name = "ftrace", /* in 2.6.27 */
	.allow_instances = true,
	.init = function_trace_init,
	.reset = function_trace_reset,
	.start = function_trace_start,
	.update_pids = function_trace_update_pids,
	.flag_changed = function_trace_flag_changed,
	.flags = &function_flags,
	.set_flag = function_set_flag,
};
REGISTER_TRACER(function_trace);

/*
 * The user follows set_ftrace_filter and set_ftrace_notrace of the top array from now on, in place of sets of its own.
 */
void ftrace_ops_set_global_filter(struct ftrace_ops *ops)
{
	if (WARN_ON(ops->flags & FTRACE_OPS_FL_ENABLED))
		return;
	ftrace_free_filter(ops);
	ops->sets_of = &global_ops;
}

/*
 * A user of function tracing for the array. The top array's is global_ops, whose function is called straight; others
 * are called with themselves as argument. 0 or -ENOMEM.
 */
static int function_trace_setup(struct trace_array *tr)
{
	if (trace_array_is_top(tr)) {
		tr->ops = &global_ops;
		return 0;
	}
	tr->ops = kzalloc(sizeof(*tr->ops), GFP_KERNEL);
	if (!tr->ops)
		return -ENOMEM;
	tr->ops->func = counted_trace_call;
	tr->ops->flags = FTRACE_OPS_FL_RECURSION;
	tr->ops->name = tr->name;
	tr->ops->private = tr;
	return 0;
}

static void function_trace_free(struct trace_array *tr)
{
	if (tr->ops)
		ftrace_free_filter(tr->ops);
	kfree(tr->ops);
}

static void function_trace_changed(struct trace_array *tr, enum trace_change what)
{
	if (what == TRACE_CHANGED_CLOCK)
		trace_update_fast(tr);
}

static const char *function_trace_left(const struct trace_array *tr)
{
	const struct ftrace_ops *op;
	const char *left = NULL;

	mutex_lock(&ftrace_lock);
	for_each_ftrace_op(op)
		if (op->private == tr || op == tr->ops)
			left = op->name;
	mutex_unlock(&ftrace_lock);
	return left;
}

static const struct trace_part function_part = {
	.init = function_trace_setup,
	.changed = function_trace_changed,
	.left = function_trace_left,
	.free = function_trace_free,
};
REGISTER_TRACE_PART(function_part);

void trace_print_function(struct seq_file *s, struct trace_array *tr, unsigned long ip, unsigned long parent_ip)
{
	seq_print_ip_sym(s, tr, ip);
	if (tr->trace_flags & TRACE_ITER(PRINT_PARENT)) {
		seq_puts(s, " <-");
		seq_print_ip_sym(s, tr, parent_ip);
	}
}

static void trace_fn_trace(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_entry *field = (const void *)iter->ent;

	trace_print_function(s, iter->tr, field->ip, field->parent_ip);
	seq_putc(s, '\n');
}

static void trace_fn_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_entry *field = (const void *)iter->ent;

	seq_printf(s, "%lx %lx\n", field->ip, field->parent_ip);
}

static void trace_fn_hex(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_entry *field = (const void *)iter->ent;

	TRACE_PUT_HEX(s, field->ip);
	TRACE_PUT_HEX(s, field->parent_ip);
}

static void trace_fn_bin(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_entry *field = (const void *)iter->ent;

	TRACE_PUT_BIN(s, field->ip);
	TRACE_PUT_BIN(s, field->parent_ip);
}

static const struct trace_event trace_fn_event = {
	.type = TRACE_FN,
	.trace = trace_fn_trace,
	.raw = trace_fn_raw,
	.hex = trace_fn_hex,
	.bin = trace_fn_bin,
};
REGISTER_TRACE_EVENT(trace_fn_event);

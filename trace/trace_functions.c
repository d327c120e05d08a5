/*
 * The function tracer: a record at the entry of every traced function.
 *
 * ftrace_caller calls function_trace_call with preemption as the traced function has it. Everything called from here
 * is built without -pg, so it cannot call us again; what can is an exception it takes (a fault handler is traced), which
 * the recursion bits stop: one bit a context, as a handler in an interrupt may well trace while we are interrupted.
 */
#include <asm/ftrace.h>
#include <lib/errno.h>
#include <sched/sched.h>
#include <time/clock.h>

#include "trace.h"
#include "trace_record.h"

/* Bit of task->trace_recursion for the context we are in. */
static __always_inline unsigned long recursion_bit(u32 pc)
{
	if (likely(!(pc & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))))
		return 1;
	return pc & NMI_MASK ? 8 : pc & HARDIRQ_MASK ? 4 : 2;
}

static __always_inline void record_function(struct trace_array *tr, struct trace_array_cpu *cpu, struct task_struct *t,
					    u32 pc, unsigned long ip, unsigned long parent_ip)
{
	struct ring_buffer_per_cpu *cpu_buffer = cpu->buffer;
	struct ring_buffer_event *event;
	struct ftrace_entry *entry;

	event = ring_buffer_reserve(cpu_buffer, sizeof(*entry), trace_clock_now(tr));
	if (unlikely(!event))
		return;
	entry = (void *)event->array; /* a record this short has no length word of its own */
	trace_fill(&entry->ent, TRACE_FN, t, pc, arch_local_save_flags());
	entry->ip = ip;
	entry->parent_ip = parent_ip;
	ring_buffer_commit(cpu_buffer);
}

/* The count is raised before the CPU is looked at, so we stay on it; restored exactly, as interrupts do too. */
static __always_inline void trace_function(struct trace_array *tr, unsigned long ip, unsigned long parent_ip,
					   bool filter_pids)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count);
	unsigned long bit = recursion_bit(pc);
	struct trace_array_cpu *cpu;

	if (unlikely((t->trace_recursion & bit) || !READ_ONCE(tr->function_enabled)))
		return;
	WRITE_ONCE(t->preempt_count, pc + PREEMPT_OFFSET);
	t->trace_recursion |= bit;
	barrier();
	cpu = &tr->cpu_data[t->cpu];
	if (!filter_pids || !cpu->ignore_pid)
		record_function(tr, cpu, t, pc, ip, parent_ip);
	barrier();
	t->trace_recursion &= ~bit;
	WRITE_ONCE(t->preempt_count, pc);
	if (unlikely(READ_ONCE(t->thread_flags) & _TIF_NEED_RESCHED) && !pc)
		preempt_schedule_notrace();
}

/* Called straight from ftrace_caller: whichever user it hands over, it is the top array's (see function_trace_op). */
static void function_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				struct ftrace_regs *fregs)
{
	trace_function(&global_trace, ip, parent_ip, false);
}

static void function_pids_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				     struct ftrace_regs *fregs)
{
	trace_function(&global_trace, ip, parent_ip, true);
}

static struct ftrace_ops global_ops = {
	.func = function_trace_call,
	.name = "global_ops",
	.private = &global_trace,
};

static void function_trace_update_pids(struct trace_array *tr)
{
	ftrace_ops_set_func(tr->ops, trace_array_filters_pids(tr) ? function_pids_trace_call : function_trace_call);
}

static int function_trace_init(struct trace_array *tr)
{
	int ret = tracing_start_cmdline_record();

	if (ret)
		return ret;
	function_trace_update_pids(tr);
	tr->function_enabled = true;
	ret = register_ftrace_function(tr->ops);
	if (ret) {
		tr->function_enabled = false;
		tracing_stop_cmdline_record();
	}
	return ret;
}

/*
 * A task preempted inside ftrace_caller can still arrive in function_trace_call after this: function_enabled turns it
 * away, and the grace period waits for whoever is past that check.
 */
static void function_trace_reset(struct trace_array *tr)
{
	tr->function_enabled = false;
	unregister_ftrace_function(tr->ops);
	tracing_stop_cmdline_record();
}

/* Linux begins with an empty buffer when tracing_on is written under this tracer. */
static void function_trace_start(struct trace_array *tr)
{
	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
}

static const struct tracer function_trace = {
	.name = "function",
	.init = function_trace_init,
	.reset = function_trace_reset,
	.start = function_trace_start,
	.update_pids = function_trace_update_pids,
};
REGISTER_TRACER(function_trace);

void function_trace_setup(struct trace_array *tr)
{
	tr->ops = &global_ops;
}

static void trace_fn_trace(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ftrace_entry *field = (const void *)iter->ent;

	seq_print_ip_sym(s, iter->tr, field->ip);
	if (iter->tr->trace_flags & TRACE_ITER(PRINT_PARENT)) {
		seq_puts(s, " <-");
		seq_print_ip_sym(s, iter->tr, field->parent_ip);
	}
	seq_putc(s, '\n');
}

static const struct trace_event trace_fn_event = { TRACE_FN, trace_fn_trace };
REGISTER_TRACE_EVENT(trace_fn_event);

/*
 * irqsoff, preemptoff, preemptirqsoff: the longest time that interrupts, preemption, or one of the two were off.
 * Sections begin and end in tracers/preemptirq.c. This file takes a section that is long enough, records the function
 * entries inside sections, and selects the tracers.
 */
#include <irq/irqflags.h>
#include <lib/errno.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

#include "core/aside.h"
#include "output/iter.h"
#include "tracers/graph/latency.h"
#include "irqsoff.h"

/* Writes where the section is now: as a function entry, or with display-graph as a call that took no time. */
static void record_place(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc, unsigned long flags)
{
	if (critical_tracer.graph)
		trace_graph_function(tr, ip, pc, flags);
	else
		trace_function(tr, ip, parent_ip, pc, flags);
}

/*
 * A section has ended and is the longest so far: its last records are written and the buffers exchanged
 * (core/aside.c). Interrupts off.
 */
static __always_inline void take_section(unsigned long hook, unsigned long ip, unsigned long fp, unsigned long flags,
					 struct trace_array *tr, u64 end, unsigned long last)
{
	struct critical *c = this_cpu_ptr(&critical_section);
	struct critical_names names = critical_names(hook, ip, fp);
	u32 pc = preempt_count();
	struct trace_section section = {
		.start = c->start,
		.end = end,
		.first = c->first,
		.critical_start = c->place,
		.critical_end = names.parent_ip,
		.task = current,
	};

	critical_set_state(c, CRITICAL_BUSY);
	record_place(tr, names.ip, names.parent_ip, pc, flags);
	record_place(tr, last, names.parent_ip, pc, flags);
	trace_stack_from(tr, pc, flags, 0, fp);
	cpumask_set_cpu(smp_processor_id(), &section.cpus);
	trace_max_take(tr, &section);
	critical_ended(c);
}

/* The two ends differ in the names that the trace shows: which hook ended the section, and which function took it. */
void tracer_hardirqs_on(unsigned long ip, unsigned long fp, unsigned long flags, struct trace_array *tr, u64 end)
{
	take_section((unsigned long)trace_hardirqs_on, ip, fp, flags, tr, end, (unsigned long)tracer_hardirqs_on);
}

void tracer_preempt_on(unsigned long ip, unsigned long fp, unsigned long flags, struct trace_array *tr, u64 end)
{
	take_section((unsigned long)trace_preempt_on, ip, fp, flags, tr, end, (unsigned long)tracer_preempt_on);
}

/* ---- Function entries */

/*
 * A function call within a section, while the option `function-trace` is on. The state says busy meanwhile, so that
 * what the recording itself turns off and on is no section.
 */
static noinline void record_function(unsigned long ip, unsigned long parent_ip)
{
	struct trace_array *tr = READ_ONCE(critical_tracer.tr);
	struct critical *c;
	unsigned long flags;

	raw_local_irq_save(flags);
	c = this_cpu_ptr(&critical_section);
	if (tr && c->state == CRITICAL_OFF && !in_nmi() && !trace_pids_ignore(&tr->function_pids, current->pid)) {
		critical_set_state(c, CRITICAL_BUSY);
		trace_function(tr, ip, parent_ip, preempt_count(), flags);
		critical_set_state(c, CRITICAL_OFF);
	}
	raw_local_irq_restore(flags);
}

/*
 * Interrupts are on here when no section is under way, so this may move to another CPU between the two instructions.
 * So the state that is read is only a hint: record_function() asks again with interrupts off.
 */
static void critical_function(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			      struct ftrace_regs *fregs)
{
	if (unlikely(READ_ONCE(this_cpu(critical_section).state) == CRITICAL_OFF))
		record_function(ip, parent_ip);
}

/* ---- With display-graph: calls and returns */

/* The functions of struct latency_graph, by the state of this CPU. */
static bool critical_graph_concerned(void)
{
	return READ_ONCE(this_cpu(critical_section).state) == CRITICAL_OFF;
}

/*
 * May this CPU record a call of function_graph for the section that is under way? Then it is busy until
 * critical_graph_end().
 */
static bool critical_graph_begin(struct trace_array *tr)
{
	struct critical *c = this_cpu_ptr(&critical_section);

	if (!READ_ONCE(critical_tracer.tr) || c->state != CRITICAL_OFF || in_nmi())
		return false;
	critical_set_state(c, CRITICAL_BUSY);
	return true;
}

static void critical_graph_end(void)
{
	critical_set_state(this_cpu_ptr(&critical_section), CRITICAL_OFF);
}

static const struct latency_graph critical_graph = {critical_graph_concerned, critical_graph_begin, critical_graph_end};

/* Registers the function entries, or the calls and returns, whichever critical_tracer.graph says. 0 or -errno. */
static int trace_functions(struct trace_array *tr)
{
	if (critical_tracer.graph)
		return latency_graph_start(tr, &critical_graph);
	ftrace_ops_set_func(tr->ops, critical_function);
	return register_ftrace_function(tr->ops);
}

static int untrace_functions(struct trace_array *tr)
{
	return critical_tracer.graph ? latency_graph_stop() : unregister_ftrace_function(tr->ops);
}

/* ---- Selecting. trace_types_lock held. */

static bool functions; /* [t] entries are recorded */

/* The hooks' static keys: which of the two kinds of hooks are calls and which are nops. */
static void change_keys(u32 kinds, void (*change)(struct static_key *key))
{
	if (kinds & CRITICAL_IRQS)
		change(&trace_irqs_key);
	if (kinds & CRITICAL_PREEMPT)
		change(&trace_preempt_key);
}

/* All CPUs begin in the state CRITICAL_NONE, in which an end ends nothing. No hook is on yet that could write this. */
static void forget_sections(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu)
		*per_cpu_ptr(&critical_section, cpu) = (struct critical){};
}

/*
 * Selects one of the tracers. critical_tracer.tr is set last, when every hook is on. Sections that began before are
 * left out: the state of their CPUs is not known, so their ends end nothing. 0 or -errno, and then nothing is on.
 */
static int critical_init(struct trace_array *tr, u32 kinds)
{
	int ret = trace_max_start(tr);

	if (ret)
		return ret;
	forget_sections();
	functions = tr->trace_flags & TRACE_ITER(FUNCTION);
	critical_tracer.graph = tr->trace_flags & TRACE_ITER(DISPLAY_GRAPH);
	ret = functions ? trace_functions(tr) : 0;
	if (ret) {
		trace_max_stop(tr);
		return ret;
	}
	critical_tracer.kinds = kinds;
	change_keys(kinds, static_key_inc_later);
	tracepoint_switch();
	smp_store_release(&critical_tracer.tr, tr);
	return 0;
}

/*
 * The hooks are turned off in the reverse order. The array goes first: a hook that finds no array does nothing, even
 * one in a task that was preempted on its way into trace_hardirqs_disable and arrives after the hooks are off. (If
 * another one of the three tracers is selected by then, the hook asks for the kind that this tracer measures.) A hook
 * that has found the array has interrupts or preemption off until it is done, and the grace period waits for it.
 */
static void critical_reset(struct trace_array *tr)
{
	if (!critical_tracer.tr)
		return;
	WRITE_ONCE(critical_tracer.tr, NULL);
	change_keys(critical_tracer.kinds, static_key_dec_later);
	static_key_switch();
	critical_tracer.kinds = 0;
	if (functions)
		untrace_functions(tr);
	functions = false;
	synchronize_rcu();
	trace_max_stop(tr);
}

/*
 * From now on records have the other form, in an empty buffer. A section that has begun is dropped. The grace period
 * makes sure that every CPU that finds the buffer restarted finds the new form, too. On an error the old form is kept;
 * if even that cannot be registered again, entries are not recorded any more.
 */
static int change_form(struct trace_array *tr, bool graph)
{
	int ret = 0;

	if (functions)
		untrace_functions(tr);
	WRITE_ONCE(critical_tracer.graph, graph);
	if (functions)
		ret = trace_functions(tr);
	if (ret) {
		WRITE_ONCE(critical_tracer.graph, !graph);
		functions = !trace_functions(tr);
		return ret;
	}
	synchronize_rcu();
	trace_max_restart(tr);
	return 0;
}

/*
 * An option of the array changes while one of these tracers is selected. 0, or -EINVAL for an option that they need as
 * it is.
 */
static int critical_flag_changed(struct trace_array *tr, u64 mask, bool set)
{
	int ret;

	if (!critical_tracer.tr)
		return 0; /* our own changes */
	if (mask & TRACE_ITER(DISPLAY_GRAPH))
		return change_form(tr, set);
	ret = trace_keep_overwrite(mask, set);
	if (ret || !(mask & TRACE_ITER(FUNCTION)))
		return ret;
	ret = set ? trace_functions(tr) : untrace_functions(tr);
	if (!ret)
		functions = set;
	return ret;
}

static void critical_print_header(struct seq_file *s, struct trace_iterator *iter)
{
	latency_graph_header(s, iter, LATENCY_GRAPH_PRINT);
}

static bool critical_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	return latency_graph_line(s, iter, LATENCY_GRAPH_PRINT);
}

#define CRITICAL_TRACER(tracer_name, which)                   \
	static int tracer_name##_init(struct trace_array *tr) \
	{                                                     \
		return critical_init(tr, which);              \
	}                                                     \
	static const struct tracer tracer_name##_tracer = {   \
		.name = #tracer_name,                         \
		.init = tracer_name##_init,                   \
		.reset = critical_reset,                      \
		.flag_changed = critical_flag_changed,        \
		.open = latency_graph_open,                   \
		.close = trace_graph_close,                   \
		.print_header = critical_print_header,        \
		.print_line = critical_print_line,            \
		.use_max_tr = true,                           \
	};                                                    \
	REGISTER_TRACER(tracer_name##_tracer)

CRITICAL_TRACER(irqsoff, CRITICAL_IRQS);
CRITICAL_TRACER(preemptoff, CRITICAL_PREEMPT);
CRITICAL_TRACER(preemptirqsoff, CRITICAL_IRQS | CRITICAL_PREEMPT);

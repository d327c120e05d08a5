/*
 * hw-branch-tracer of Linux 2.6.29 to 2.6.35: every branch that a CPU takes in the kernel.
 *
 *	# CPU#        TO  <-  FROM
 *	   0  panic_store+0x14/0x80	  <-  proc_sys_call+0x4c/0x60
 *
 * Linux had the lines from the CPU itself, from Intel's branch trace store. Here the CPU is stepped through
 * (<arch/single_step.h>), instruction by instruction, and each branch that was taken is a record.
 * That costs some hundred instructions for each one, so it has an end:
 *
 *	set_graph_function empty	each CPU, for hw_branch_window instructions from the selection of the tracer on
 *	functions in it			each call of one of these, from its first instruction behind the hook to its
 *					return, for at most so many instructions
 *
 * Such a section follows its task: while that is off the CPU nothing is stepped, and it goes on where the task does, on
 * whichever CPU. Interrupts on top of the task belong to it. The set is read when the tracer is selected.
 *
 * A step is so dear that a tick may take longer than the time to the next one. So the tracer lets go of a CPU
 *
 *	- that is asked to stop, for a change of kernel code: a window goes on after the stop, and a section ends,
 *	  because its return may come meanwhile
 *	- whose time interrupts take up (<time/irq_share.h>): the window of this CPU ends; where there are sections,
 *	  this one ends, and no other begins.
 *
 * The records go to the array's buffer, so what Linux's fixed ring of 8 KiB a CPU kept is here what buffer_size_kb
 * has room for: the last branches of each CPU.
 */
#include <arch/single_step.h>
#include <asm/ptrace.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/cpuhp.h>
#include <sched/sched.h>
#include <sched/stop.h>
#include <time/irq_share.h>
#include <trace/events/sched.h>
#include <trace/fgraph.h>

#include "core/record.h"
#include "ftrace/internal.h"
#include "output/iter.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "tracers/graph/graph.h"

/* Where records go. Set before the first CPU is stepped, and cleared after the last one. [trace_types_lock] */
static struct trace_array *hw_branch_array;
/* Instructions for each CPU at the next selection, or for each section that begins; 0: WINDOW_MAX. [a] */
static unsigned long hw_branch_window = 1000000;
#define WINDOW_MAX 100000000UL /* some minutes: any window has an end */
/* Sections have been ended because they took a CPU's time: none begins until the next selection. [a] */
static bool sections_ended;

/*
 * A call of a function of set_graph_function. `task` is taken by compare and exchange, and given back by a store; the
 * rest belongs to the task, or the CPU that switches to or from it.
 */
struct section {
	struct task_struct *task; /* whose call it is; NULL: free. [a] */
	unsigned long ip, ret;	  /* the function's site; where it will return to */
	unsigned long slot;	  /* address of the word that holds `ret`: the stack pointer is above it afterwards */
	unsigned long left;	  /* instructions, at least 1 */
	bool inside;		  /* the hook has returned to the function */
};
#define NR_SECTIONS 64 /* tasks in one at a time; a call by one more is not traced */
static struct section sections[NR_SECTIONS];

/* [its CPU] */
struct hw_branch_cpu {
	struct section *section; /* that is under way; NULL: none */
	unsigned long left;	 /* without sections: instructions of this CPU's window */
	bool paused;		 /* the window goes on when a stop is over */
};
static DEFINE_PER_CPU(struct hw_branch_cpu, hw_branch_cpu);

/*
 * Records a branch. Debug exception context: the entry code has raised preempt_count by one, so the record gets the
 * count less one.
 *
 * The stepped code may be the ring buffer's own. A writer that an interrupt's record has overtaken tries again, and so
 * does the outermost one when others have left it their commit. If each branch of such a loop were a record, no try
 * would ever succeed. So branches from the begin to the end of another record in this CPU's buffer are left out.
 */
static void record_branch(struct trace_array *tr, const struct pt_regs *regs, u64 from, u64 to)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event;
	struct hw_branch_entry *entry;

	/* The branches of an oops itself would push out those that have led to it, which are wanted. */
	if (unlikely(READ_ONCE(oops_in_progress)) || READ_ONCE(buffer->committing))
		return;
	event = ring_buffer_reserve(buffer, sizeof(*entry), trace_clock_now(tr));
	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_HW_BRANCHES, current, preempt_count() - PREEMPT_OFFSET, arch_local_save_flags());
	if (interrupts_enabled(regs))
		entry->ent.flags &= ~TRACE_FLAG_IRQS_OFF;
	entry->from = from;
	entry->to = to;
	ring_buffer_commit(buffer);
}

static unsigned long window_length(void)
{
	unsigned long instructions = READ_ONCE(hw_branch_window);

	return instructions && instructions < WINDOW_MAX ? instructions : WINDOW_MAX;
}

/* The section is over, for whatever reason. Its place is free for another call from now on. */
static void free_section(struct hw_branch_cpu *here, struct section *section)
{
	here->section = NULL;
	smp_store_release(&section->task, NULL);
}

/*
 * A step of a section. False: the section has ended. The hook's own code, from its start to its return to the function,
 * is passed over; if it goes on elsewhere than in the function (IPMODIFY), the section ends where that returns. A
 * branch to the return address, or to the handler that replaces it while returns are traced, ends the section if the
 * word that held the address is no longer on the stack. If it still is, an inner call of the same function returns.
 */
static bool section_step(struct hw_branch_cpu *here, struct section *section, const struct pt_regs *regs,
			 unsigned long from, unsigned long to)
{
	bool returns = from && (to == section->ret || to == RETURN_TO_HANDLER_ADDR) &&
		       kernel_stack_pointer(regs) > section->slot && current == section->task;

	if (!section->inside && !returns) {
		section->inside = from && to > section->ip && to <= section->ip + 2 * sizeof(u32);
		return true;
	}
	if (from && section->inside)
		record_branch(hw_branch_array, regs, from, to);
	if (!returns && --section->left)
		return true;
	free_section(here, section);
	return false;
}

/* This CPU is asked to stop. Debug exception context. */
static bool let_go(struct hw_branch_cpu *here)
{
	if (here->section)
		free_section(here, here->section);
	else
		here->paused = true;
	return false;
}

/*
 * An instruction of this CPU has been executed. Debug exception context. False: the window ends, or pauses. A stop is
 * looked for at branches alone, of which there is soon one.
 */
static bool hw_branch_step(struct pt_regs *regs, unsigned long from, unsigned long to)
{
	struct hw_branch_cpu *here = this_cpu_ptr(&hw_branch_cpu);

	if (from && stop_machine_asked())
		return let_go(here);
	if (here->section)
		return section_step(here, here->section, regs, from, to);
	if (from)
		record_branch(hw_branch_array, regs, from, to);
	return --here->left;
}

/* <sched/stop.h>. A CPU that has got breakpoints meanwhile cannot be stepped (x86_64): its window has ended. */
static notrace void hw_branch_stop_over(void)
{
	struct hw_branch_cpu *here = this_cpu_ptr(&hw_branch_cpu);
	unsigned long flags;

	if (likely(!here->paused))
		return;
	raw_local_irq_save(flags);
	if (here->paused)
		arch_single_step_start(hw_branch_step);
	here->paused = false;
	raw_local_irq_restore(flags);
}
static const struct stop_watcher hw_branch_watcher = {.over = hw_branch_stop_over};
REGISTER_STOP_WATCHER(hw_branch_watcher);

/*
 * Interrupts take this CPU's time, which a tracer that multiplies each instruction by 300 has most likely to answer
 * for. Hard interrupt.
 */
static bool hw_branch_end_here(char *what, size_t size)
{
	struct hw_branch_cpu *here = this_cpu_ptr(&hw_branch_cpu);
	struct section *section = here->section;

	if (!arch_single_step_stop())
		return false;
	if (section) {
		WRITE_ONCE(sections_ended, true);
		free_section(here, section);
	}
	snprintf(what, size, "hw-branch-tracer, %s (hw_branch_window)", section ? "its sections" : "on this CPU");
	return true;
}
static const struct irq_burden hw_branch_burden = {.cost = 10000, .end = hw_branch_end_here};
REGISTER_IRQ_BURDEN(hw_branch_burden);

/* ---- Sections */

static struct section *take_section(struct task_struct *task)
{
	for (unsigned i = 0; i < NR_SECTIONS; i++) {
		struct task_struct *none = NULL;

		if (__atomic_compare_exchange_n(&sections[i].task, &none, task, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return &sections[i];
	}
	return NULL;
}

/*
 * A function of the set is entered: a section begins, unless the CPU is in one already, or in an NMI, which cannot be
 * stepped. Preemption off; the call's own recursion is turned away before.
 */
static void section_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct hw_branch_cpu *here = this_cpu_ptr(&hw_branch_cpu);
	struct section *section;
	unsigned long flags;

	raw_local_irq_save(flags);
	section = here->section || in_nmi() || READ_ONCE(sections_ended) ? NULL : take_section(current);
	if (section) {
		section->ip = ip;
		section->ret = parent_ip;
		section->slot = (unsigned long)ftrace_regs_return_slot(fregs);
		section->left = window_length();
		section->inside = false;
		here->section = section;
		if (arch_single_step_start(hw_branch_step))
			free_section(here, section); /* the CPU has breakpoints */
	}
	raw_local_irq_restore(flags);
}
static struct ftrace_ops section_ops = {.func = section_enter, .name = "hw-branch-tracer"};

/*
 * A section pauses when its task leaves the CPU, and goes on when the task comes back, here or on another CPU: the
 * runqueue's lock makes what was written here visible there. A task that dies ends its section, and so does a CPU that
 * a breakpoint has kept from being stepped any more. Interrupts off.
 */
static void section_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			   unsigned prev_state)
{
	struct hw_branch_cpu *here = this_cpu_ptr(&hw_branch_cpu);
	struct section *section = here->section;

	if (section) {
		bool stepped = arch_single_step_stop();

		here->section = NULL;
		if (!stepped || (prev_state & TASK_DEAD))
			free_section(here, section);
	}
	for (unsigned i = 0; i < NR_SECTIONS && !here->section; i++) {
		if (READ_ONCE(sections[i].task) != next)
			continue;
		here->section = &sections[i];
		if (arch_single_step_start(hw_branch_step))
			free_section(here, &sections[i]);
	}
}
static const struct tracepoint_probe section_probes[] = {{&__tracepoint_sched_switch, (void *)section_switch}};

/* The filter becomes what set_graph_function holds now. 0, -ENOMEM. */
static int copy_graph_functions(void)
{
	struct ftrace_set set;
	int err;

	mutex_lock(&ftrace_lock);
	ftrace_set_refresh(&graph_functions.set);
	err = ftrace_set_copy(&set, &graph_functions.set);
	if (!err)
		err = ftrace_ops_replace_set(&section_ops, &section_ops.filter, &set);
	mutex_unlock(&ftrace_lock);
	if (!err)
		ftrace_set_clear(&set);
	return err;
}

/* 0 or -errno, and then nothing is registered. */
static int sections_begin(void)
{
	int err = copy_graph_functions();

	if (err)
		return err;
	err = tracepoint_probes_register(section_probes, ARRAY_SIZE(section_probes), NULL);
	if (err)
		goto free_filter;
	err = register_ftrace_function(&section_ops);
	if (!err)
		return 0;
	tracepoint_probes_unregister(section_probes, ARRAY_SIZE(section_probes), NULL);
free_filter:
	ftrace_free_filter(&section_ops);
	return err;
}

/* ---- Begin and end */

/*
 * Interrupts off, trace_types_lock held. `refused`: atomic_t, CPUs that cannot be stepped. A CPU that is leaving goes
 * without a window: hw_branch_cpu_offline() may be behind it, and then nothing would end the window.
 */
static void begin_on_cpu(void *data)
{
	atomic_t *refused = data;

	if (!cpumask_test_cpu(smp_processor_id(), &cpu_active_mask))
		return;
	this_cpu(hw_branch_cpu).left = window_length();
	if (arch_single_step_start(hw_branch_step))
		atomic_inc(refused);
}

static void end_on_cpu(void *unused)
{
	arch_single_step_stop();
	this_cpu(hw_branch_cpu).section = NULL;
	this_cpu(hw_branch_cpu).paused = false;
}

/*
 * 0 or -errno; -EBUSY: CPUs have hardware breakpoints (x86_64). The buffer begins empty, as with Linux's.
 * [trace_types_lock]
 */
static int hw_branch_init(struct trace_array *tr)
{
	atomic_t refused = {0};
	int err;

	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
	hw_branch_array = tr;
	sections_ended = false;
	if (graph_functions.hash) {
		err = sections_begin();
		if (err)
			hw_branch_array = NULL; /* no section has begun */
		return err;
	}
	on_each_cpu(begin_on_cpu, &refused, true);
	if (!atomic_read(&refused))
		return 0;
	on_each_cpu(end_on_cpu, NULL, true);
	hw_branch_array = NULL;
	return -EBUSY;
}

/* No CPU is stepped when this returns, so no record comes later. */
static void hw_branch_reset(struct trace_array *tr)
{
	if (section_ops.flags & FTRACE_OPS_FL_ENABLED) {
		unregister_ftrace_function(&section_ops);
		tracepoint_probes_unregister(section_probes, ARRAY_SIZE(section_probes), NULL);
		ftrace_free_filter(&section_ops);
	}
	on_each_cpu(end_on_cpu, NULL, true);
	memset(sections, 0, sizeof(sections));
	hw_branch_array = NULL;
}

/* A CPU that comes has a window of its own, if the CPUs have windows; one that cannot be stepped goes without. */
static int hw_branch_cpu_online(unsigned cpu)
{
	atomic_t refused = {0};

	mutex_lock(&trace_types_lock);
	if (hw_branch_array && !(section_ops.flags & FTRACE_OPS_FL_ENABLED))
		smp_call_function_single(cpu, begin_on_cpu, &refused, true);
	mutex_unlock(&trace_types_lock);
	return 0;
}

/* A section of a task that is preempted here goes on elsewhere. */
static int hw_branch_cpu_offline(unsigned cpu)
{
	mutex_lock(&trace_types_lock);
	if (hw_branch_array && !(section_ops.flags & FTRACE_OPS_FL_ENABLED))
		smp_call_function_single(cpu, end_on_cpu, NULL, true);
	mutex_unlock(&trace_types_lock);
	return 0;
}
static const struct cpuhp_step hw_branch_cpus = {
	.name = "trace:hw_branch", .stage = CPUHP_ONLINE, .up = hw_branch_cpu_online, .down = hw_branch_cpu_offline};
REGISTER_CPUHP(hw_branch_cpus);

/*
 * A CPU in trouble is not stepped any more: the dump must show what led to the trouble, and printing is slow enough. A
 * task that dies ends its CPU's window, too.
 */
static void hw_branch_trouble(enum trouble what)
{
	if (what == TROUBLE_WARNING)
		return;
	arch_single_step_stop();
	this_cpu(hw_branch_cpu).paused = false;
}
static const struct panic_notifier hw_branch_notifier = {.name = "hw-branch-tracer", .notify = hw_branch_trouble};
REGISTER_PANIC_NOTIFIER(hw_branch_notifier);

/* ---- Files and text */

static int hw_branch_window_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%lu\n", READ_ONCE(hw_branch_window));
	return 0;
}

static int hw_branch_window_store(char *text, void *data)
{
	unsigned long instructions;
	int err = kstrtoul(text, 10, &instructions);

	if (!err)
		WRITE_ONCE(hw_branch_window, instructions);
	return err;
}
TRACEFS_NUMBER_FILE(hw_branch_window, "hw_branch_window", 0644, TRACEFS_TOP, hw_branch_window_show,
		    hw_branch_window_store);
TRACEFS_TAKES(
	hw_branch_window, "hw_branch_window",
	"the number of instructions that hw-branch-tracer steps each CPU, or each section, for; 0: as many as it may");

static void hw_branch_header(struct seq_file *s, struct trace_iterator *iter)
{
	seq_puts(s, "# CPU#        TO  <-  FROM\n");
}

static void put_branch(struct seq_file *s, const struct trace_iterator *iter)
{
	const struct hw_branch_entry *field = (const void *)iter->ent;

	seq_printf(s, "%pS\t  <-  %pS\n", (void *)(unsigned long)field->to, (void *)(unsigned long)field->from);
}

/* The whole line is ours; other records (markers, stacks) go the usual way. */
static bool hw_branch_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	if (iter->ent->type != TRACE_HW_BRANCHES)
		return false;
	seq_printf(s, "%4d  ", iter->cpu);
	put_branch(s, iter);
	return true;
}

static const struct tracer hw_branch_tracer = {
	.name = "hw-branch-tracer",
	.init = hw_branch_init,
	.busy = "a CPU with hardware breakpoints (ksym_tracer) cannot be stepped",
	.reset = hw_branch_reset,
	.print_header = hw_branch_header,
	.print_line = hw_branch_print_line,
};
REGISTER_TRACER(hw_branch_tracer);

/* In a trace of another tracer, behind the usual columns. */
static void hw_branch_trace(struct seq_file *s, struct trace_iterator *iter)
{
	put_branch(s, iter);
}

/* The forms for programs: addresses, `to` first as in the text. */
static void hw_branch_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct hw_branch_entry *field = (const void *)iter->ent;

	seq_printf(s, "%llx %llx\n", (unsigned long long)field->to, (unsigned long long)field->from);
}

static void hw_branch_hex(struct seq_file *s, struct trace_iterator *iter)
{
	const struct hw_branch_entry *field = (const void *)iter->ent;

	TRACE_PUT_HEX(s, field->to);
	TRACE_PUT_HEX(s, field->from);
}

static void hw_branch_bin(struct seq_file *s, struct trace_iterator *iter)
{
	const struct hw_branch_entry *field = (const void *)iter->ent;

	TRACE_PUT_BIN(s, field->to);
	TRACE_PUT_BIN(s, field->from);
}

static const struct trace_event hw_branch_event = {
	.type = TRACE_HW_BRANCHES,
	.trace = hw_branch_trace,
	.raw = hw_branch_raw,
	.hex = hw_branch_hex,
	.bin = hw_branch_bin,
};
REGISTER_TRACE_EVENT(hw_branch_event);

/*
 * hw-branch-tracer of Linux 2.6.29 to 2.6.35: every branch that a CPU takes in the kernel.
 *
 *	# CPU#        TO  <-  FROM
 *	   0  panic_store+0x14/0x80	  <-  proc_sys_call+0x4c/0x60
 *
 * Linux had the lines from the CPU itself, from Intel's branch trace store. Here the CPU is stepped through
 * (<arch/single_step.h>), instruction by instruction, and each instruction that did not lead to the next one is a record.
 * That costs some hundred instructions for each one, so it has an end: each CPU is stepped for hw_branch_window
 * instructions from the selection of the tracer on.
 *
 * The records go to the array's buffer, so what Linux's fixed ring of 8 KiB a CPU kept is here what buffer_size_kb
 * has room for: the last branches of each CPU.
 */
#include <arch/single_step.h>
#include <asm/ptrace.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <lib/string.h>

#include "core/record.h"
#include "output/iter.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"

/* Where records go. Set before the first CPU is stepped, and cleared after the last one. [trace_types_lock] */
static struct trace_array *hw_branch_array;
/* Instructions for each CPU; 0: no end. For the next selection. [trace_types_lock] */
static unsigned long hw_branch_window = 1000000;

/* Instructions that are left of a CPU's window. [its CPU] */
struct hw_branch_cpu {
	unsigned long left;
};
static DEFINE_PER_CPU(struct hw_branch_cpu, hw_branch_cpu);

/*
 * A branch. Debug exception context: the entry code has raised preempt_count by one, so the record gets what the
 * stepped code has. It may be the ring buffer's own code, which is made for that.
 */
static void record_branch(struct trace_array *tr, const struct pt_regs *regs, u64 from, u64 to)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event;
	struct hw_branch_entry *entry;

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

/* An instruction of this CPU has been executed. Debug exception context. False: the window ends. */
static bool hw_branch_step(struct pt_regs *regs, unsigned long from, unsigned long to)
{
	struct hw_branch_cpu *here = this_cpu_ptr(&hw_branch_cpu);

	if (from)
		record_branch(hw_branch_array, regs, from, to);
	return !here->left || --here->left;
}

/* Interrupts off. */
static void begin_on_cpu(void *unused)
{
	this_cpu(hw_branch_cpu).left = hw_branch_window;
	arch_single_step_start(hw_branch_step);
}

static void end_on_cpu(void *unused)
{
	arch_single_step_stop();
}

/* 0. The buffer begins empty, as with Linux's. */
static int hw_branch_init(struct trace_array *tr)
{
	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
	hw_branch_array = tr;
	on_each_cpu(begin_on_cpu, NULL, true);
	return 0;
}

/* No CPU is stepped when this returns, so no record comes later. */
static void hw_branch_reset(struct trace_array *tr)
{
	on_each_cpu(end_on_cpu, NULL, true);
	hw_branch_array = NULL;
}

/*
 * A CPU in trouble is not stepped any more: what led there is what the dump shall show, and printing is slow enough. A
 * task that dies is the end for its CPU's window, too.
 */
static void hw_branch_trouble(enum trouble what)
{
	if (what != TROUBLE_WARNING)
		arch_single_step_stop();
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
TRACEFS_TEXT_FILE(hw_branch_window, "hw_branch_window", 0644, TRACEFS_TOP, hw_branch_window_show,
		  hw_branch_window_store);
TRACEFS_TAKES(hw_branch_window, "hw_branch_window",
	      "for how many instructions hw-branch-tracer steps each CPU from its selection on; 0: no end");

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

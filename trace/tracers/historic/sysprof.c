/*
 * sysprof of Linux 2.6.28 to 2.6.37: where the time goes. Every sysprof_sample_period microseconds each CPU is
 * interrupted, whatever it masks (<time/sample_timer.h>), and the stack of what it was doing is recorded.
 *
 * A sample is several records of three numbers, "# IDENTIFIER ADDRESS FRAME_POINTER/PID":
 *
 *	# 0 0 pid	it begins
 *	# 1 pc 0	kernel: where it was, then one for each caller
 *	# 2 pc fp	user program: the same, with the frame from which the address was read (0 for the first)
 *	# -1 -1 -1	the stack was deeper than SYSPROF_DEPTH
 *	# 3 pid n	it ends; n frames behind the first of the program
 *
 * The sampler runs in NMI context, in the middle of anything. It takes no lock and calls nothing that is traced, but
 * for a page fault: a program's page that is not there ends the walk, and the fault's own functions may be traced.
 */
#include <arch/mmu.h>
#include <asm/ptrace.h>
#include <kernel/percpu.h>
#include <kernel/stacktrace.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/slab.h>
#include <mm/uaccess.h>
#include <time/sample_timer.h>
#include <trace/uprobe_ops.h>

#include "core/record.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "core/tracer.h"

#define SYSPROF_DEPTH 512 /* frames of a sample at most; Linux's sample_max_depth */

enum { SAMPLE_BEGIN, SAMPLE_KERNEL, SAMPLE_USER, SAMPLE_END };

static u64 sysprof_period = NSEC_PER_MSEC; /* ns [trace_types_lock] */
/* Where records go; NULL: the tracer is not selected. [trace_types_lock; read by samplers, which end before it goes] */
static struct trace_array *sysprof_trace;
static DEFINE_PER_CPU(unsigned long *, sysprof_frames); /* SYSPROF_DEPTH addresses [its CPU's sampler] */

extern const char __entry_text_start[], __entry_text_end[];

/* What the records of one sample have in common: the state of what was interrupted. */
struct sample {
	struct ring_buffer_per_cpu *buffer;
	u64 now;
	u32 pc; /* its preempt_count */
	unsigned long flags;
};

/* False: recording is off, or there is no room. */
static bool record(const struct sample *s, long id, unsigned long address, unsigned long third)
{
	struct ring_buffer_event *event = ring_buffer_reserve(s->buffer, sizeof(struct special_entry), s->now);
	struct special_entry *entry;

	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_SPECIAL, current, s->pc, s->flags);
	if (!s->flags)
		entry->ent.flags &= ~TRACE_FLAG_IRQS_OFF;
	entry->arg1 = id;
	entry->arg2 = address;
	entry->arg3 = third;
	ring_buffer_commit(s->buffer);
	return true;
}

/* A record for each of the kernel's frames, innermost first. Returns how many. */
static unsigned record_kernel(const struct sample *s, const struct pt_regs *regs)
{
	unsigned long *frames = this_cpu(sysprof_frames);
	unsigned n = stack_trace_save_regs(regs, frames, SYSPROF_DEPTH);

	for (unsigned i = 0; i < n; i++)
		record(s, SAMPLE_KERNEL, frames[i], 0);
	return n;
}

/*
 * The program's registers: those that were interrupted, or those with which it has entered the kernel. NULL: the task
 * is the kernel's own; or the page tables in use are another task's, in the middle of a switch or of exec; or the
 * machine's entry code, which an NMI may interrupt on x86_64, has not saved the registers yet.
 */
static const struct pt_regs *program_regs(const struct pt_regs *regs)
{
	const struct mm_struct *mm = READ_ONCE(current->mm);
	unsigned long pc = instruction_pointer(regs);

	if (!mm || !arch_mm_in_use(mm))
		return NULL;
	if (user_mode(regs))
		return regs;
	if (pc >= (unsigned long)__entry_text_start && pc < (unsigned long)__entry_text_end)
		return NULL;
	return task_pt_regs(current);
}

/*
 * A record for each of the program's frames, found by its frame pointers; `depth` frames are recorded already. A page
 * that is not mapped ends the walk. trace_user_stack() says why the reads are safe, and entry.S of x86_64 why they are
 * safe in an NMI. Each frame lies above the one before, so the walk ends. Returns how many frames there are in all.
 */
static unsigned record_user(const struct sample *s, const struct pt_regs *regs, unsigned depth)
{
	unsigned long fp = frame_pointer(regs), low = user_stack_pointer(regs), frame[2];
	const void *cursor = NULL;

	record(s, SAMPLE_USER, uprobe_true_pc(instruction_pointer(regs)), 0);
	while (depth < SYSPROF_DEPTH && fp >= low && fp % sizeof(long) == 0 &&
	       !copy_from_user_nofault(frame, (const void __user *)fp, sizeof(frame)) && frame[1]) {
		record(s, SAMPLE_USER, uprobe_true_return(frame[1], &cursor), fp);
		low = fp + sizeof(frame);
		fp = frame[0];
		depth++;
	}
	return depth;
}

/*
 * Takes a sample. Idle CPUs have no samples, as in Linux. All records of a sample have the same time stamp, so that
 * samples of several CPUs do not mix in the trace. The preempt_count is that of the interrupted code: what the
 * interrupt has added is subtracted.
 */
static void sysprof_sample(const struct pt_regs *regs)
{
	struct trace_array *tr = READ_ONCE(sysprof_trace);
	u32 pc = preempt_count();
	struct sample s = {.pc = pc - (pc & NMI_MASK ? NMI_OFFSET : HARDIRQ_OFFSET)};
	const struct pt_regs *user;
	unsigned depth = 0;

	if (!tr || !current->pid)
		return;
	s.buffer = tr->cpu_data[smp_processor_id()].buffer;
	s.now = trace_clock_now(tr);
	s.flags = interrupts_enabled(regs) ? 0 : arch_local_save_flags();
	if (!record(&s, SAMPLE_BEGIN, 0, current->pid))
		return;
	if (!user_mode(regs))
		depth = record_kernel(&s, regs);
	user = program_regs(regs);
	if (user && depth < SYSPROF_DEPTH)
		depth = record_user(&s, user, depth);
	if (depth == SYSPROF_DEPTH)
		record(&s, -1, -1, -1);
	record(&s, SAMPLE_END, current->pid, depth);
}

static void free_frames(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		kfree(per_cpu(sysprof_frames, cpu));
		per_cpu(sysprof_frames, cpu) = NULL;
	}
}

/* -ENOMEM: some CPUs have theirs, for free_frames(). */
static int alloc_frames(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(sysprof_frames, cpu) = kmalloc(SYSPROF_DEPTH * sizeof(long), GFP_KERNEL);
		if (!per_cpu(sysprof_frames, cpu))
			return -ENOMEM;
	}
	return 0;
}

/* Names of tasks are noted at switches, because a sampler may take no lock. 0 or -errno, and then nothing is on. */
static int sysprof_init(struct trace_array *tr)
{
	int err = alloc_frames();

	if (err)
		goto free_frames;
	err = tracing_start_cmdline_record();
	if (err)
		goto free_frames;
	sysprof_trace = tr;
	err = sample_timer_start(sysprof_sample, sysprof_period);
	if (!err)
		return 0;
	sysprof_trace = NULL;
	tracing_stop_cmdline_record();
free_frames:
	free_frames();
	return err;
}

/* No sampler runs when the timer is stopped. */
static void sysprof_reset(struct trace_array *tr)
{
	sample_timer_stop();
	sysprof_trace = NULL;
	tracing_stop_cmdline_record();
	free_frames();
}

static const struct tracer sysprof = {
	.name = "sysprof",
	.init = sysprof_init,
	.reset = sysprof_reset,
};
REGISTER_TRACER(sysprof);

static int sample_period_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%llu\n", (unsigned long long)READ_ONCE(sysprof_period) / NSEC_PER_USEC);
	return 0;
}

/*
 * Microseconds; below 100 means 100, as in Linux. In force at once. -EINVAL: no number, or more than the timers can
 * wait. The sampler is known to start again: it did before.
 */
static int sample_period_store(char *text, void *data)
{
	unsigned long us;
	int err = kstrtoul(text, 10, &us);

	if (err)
		return err;
	if (us > SAMPLE_PERIOD_MAX / NSEC_PER_USEC)
		return -EINVAL;
	mutex_lock(&trace_types_lock);
	WRITE_ONCE(sysprof_period, max(us * NSEC_PER_USEC, SAMPLE_PERIOD_MIN));
	if (sysprof_trace) {
		sample_timer_stop();
		err = sample_timer_start(sysprof_sample, sysprof_period);
	}
	mutex_unlock(&trace_types_lock);
	return err;
}
TRACEFS_NUMBER_FILE(sysprof_sample_period, "sysprof_sample_period", 0644, TRACEFS_TOP, sample_period_show,
		    sample_period_store);
TRACEFS_TAKES(sysprof_sample_period, "sysprof_sample_period",
	      "microseconds between two samples of a CPU, 100 to 10000000");

/*
 * Walking kernel stacks by frame records, and printing what was found. With frame pointers each function begins by
 * pushing a record of two words, the caller's frame pointer and the return address, and fp points at the newest
 * record:
 *
 *     higher   | ...            |
 *              | return address | record[1]
 *     next fp->| caller's fp    | record[0]
 *              | locals         |
 *              | return address |
 *     fp ----->| caller's fp    |
 *
 * A walk may meet a stack that is damaged or in use by a running task. So each record must lie above the last one and
 * inside a stack that we know: the walk ends whatever the memory holds. It takes no lock and runs in any context, nmi
 * included.
 */
#include <arch/ftrace.h>
#include <arch/stacktrace.h>
#include <asm/ptrace.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <kernel/stacktrace.h>
#include <mm/uaccess.h>
#include <sched/current.h>
#include <sched/preempt.h>
#include <sched/sched.h>
#include <trace/fgraph.h>
#include <trace/uprobe_ops.h>

#define MAX_PRINTED 64
#define WCHAN_DEPTH 16

extern const char _stext[], _etext[], __sched_text_start[], __sched_text_end[];

/*
 * Where a walk stands: the record at fp is next, and it must lie in [low, high) of the stack that the walk is on.
 * `low` rises with every record, so the walk goes outwards and comes to an end.
 */
struct walk {
	const struct task_struct *task;
	unsigned long fp, low, high;
	unsigned hooked; /* position in the task's hooked returns */
};

/*
 * Find the stack that addr lies on, and its bounds. The interrupt and overflow stacks are those of this CPU, so they
 * can belong to the current task only.
 */
static notrace bool find_stack(struct walk *w, unsigned long addr)
{
	unsigned long base = (unsigned long)w->task->stack;

	if (addr >= base && addr < base + THREAD_SIZE) {
		w->low = addr;
		w->high = base + THREAD_SIZE;
		return true;
	}
	w->low = addr;
	return w->task == current && arch_on_irq_stack(addr, &w->high);
}

static notrace bool walk_start(struct walk *w, const struct task_struct *task, unsigned long fp)
{
	w->task = task;
	w->fp = fp;
	w->hooked = FGRAPH_WALK;
	return find_stack(w, fp);
}

/*
 * The frame pointer has left the stack that the walk is on. An interrupt stack leads to the task's stack, once. The
 * task's stack leads nowhere, since its last record holds zeros. So two damaged stacks cannot send the walk round in
 * circles.
 */
static notrace bool change_stack(struct walk *w, unsigned long fp)
{
	bool on_task = w->high == (unsigned long)w->task->stack + THREAD_SIZE;

	return !on_task && find_stack(w, fp);
}

/*
 * Store return addresses, from n on, up to `size`. Tracers walk the stack for every record, so this takes a dozen
 * instructions for each frame, and what the walk stands for is kept in registers. Return addresses that
 * function_graph has replaced by its own are replaced by the real ones. Returns how many are stored.
 */
static notrace unsigned walk_store(struct walk *w, unsigned long *store, unsigned n, unsigned size, unsigned skip)
{
	unsigned long fp = w->fp, low = w->low, high = w->high;

	while (n < size) {
		const unsigned long *record = (const unsigned long *)fp;
		unsigned long ret;

		if (unlikely(fp < low || fp >= high)) {
			if (!change_stack(w, fp))
				break;
			low = w->low;
			high = w->high;
		}
		if (fp % sizeof(long) || fp + 2 * sizeof(long) > high)
			break;
		ret = READ_ONCE(record[1]);
		if (!ret)
			break;
		if (unlikely(ret == RETURN_TO_HANDLER_ADDR))
			ret = fgraph_ret_addr(w->task, &w->hooked, (unsigned long)&record[1]);
		if (skip)
			skip--;
		else
			store[n++] = ret;
		low = fp + 2 * sizeof(long);
		fp = READ_ONCE(record[0]);
	}
	return n;
}

notrace unsigned stack_trace_save_fp(unsigned long fp, unsigned long *store, unsigned size, unsigned skip)
{
	struct walk w;

	return walk_start(&w, current, fp) ? walk_store(&w, store, 0, size, skip) : 0;
}

/* Preemption off, since find_stack() compares with the interrupt stacks of this CPU. */
notrace unsigned stack_trace_save(unsigned long *store, unsigned size, unsigned skip)
{
	unsigned n;

	preempt_disable_notrace(); /* the interrupt stacks are this CPU's */
	n = stack_trace_save_fp(arch_caller_fp(), store, size, skip);
	preempt_enable_notrace();
	return n;
}

/*
 * The callers of a task that does not run. 0 for one that runs elsewhere: its registers are not in memory. skip:
 * innermost entries to leave out. Any context.
 */
notrace unsigned stack_trace_save_tsk(struct task_struct *task, unsigned long *store, unsigned size, unsigned skip)
{
	struct walk w;
	unsigned n = 0;

	if (task == current)
		return stack_trace_save(store, size, skip + 1);
	/*
	 * A task that runs, or starts to run meanwhile, changes its stack while we read it. The trace may then be
	 * wrong, but the walk stays inside the stack. The stack cannot go away: it is freed with the task, to which
	 * the caller has a reference. Its shadow stack can, a grace period after the task has left it, and so
	 * preemption is off.
	 */
	if (READ_ONCE(task->on_cpu) || !task->stack || !size)
		return 0;
	if (skip)
		skip--;
	else
		store[n++] = arch_task_pc(task);
	preempt_disable_notrace();
	if (walk_start(&w, task, arch_task_fp(task)))
		n = walk_store(&w, store, n, size, skip);
	preempt_enable_notrace();
	return n;
}

notrace unsigned stack_trace_save_regs(const struct pt_regs *regs, unsigned long *store, unsigned size)
{
	struct walk w;
	unsigned n = 0;

	if (!size || user_mode(regs))
		return 0;
	store[n++] = instruction_pointer(regs);
	preempt_disable_notrace();
	if (walk_start(&w, current, frame_pointer(regs)))
		n = walk_store(&w, store, n, size, 0);
	preempt_enable_notrace();
	return n;
}

/*
 * The first address that is not the scheduler's own is the function that waits. The task may wake meanwhile; the
 * answer is for people.
 */
unsigned long get_wchan(struct task_struct *task)
{
	unsigned long entries[WCHAN_DEPTH];
	unsigned n;

	if (task == current || READ_ONCE(task->state) == TASK_RUNNING)
		return 0;
	n = stack_trace_save_tsk(task, entries, WCHAN_DEPTH, 0);
	for (unsigned i = 0; i < n; i++)
		if (entries[i] < (unsigned long)__sched_text_start || entries[i] >= (unsigned long)__sched_text_end)
			return entries[i];
	return 0;
}

/*
 * A program's stack is read without faulting pages in, because this runs in any context; the walk ends at a page that
 * is not there. Programs without frame pointers give a short trace.
 */
notrace unsigned stack_trace_save_user(unsigned long *store, unsigned size)
{
	const struct pt_regs *regs = task_pt_regs(current);
	unsigned long fp = frame_pointer(regs), low = user_stack_pointer(regs), record[2];
	const void *cursor = NULL;
	unsigned n = 0;

	if (size)
		store[n++] = uprobe_true_pc(instruction_pointer(regs));
	while (n < size && fp >= low && fp % sizeof(long) == 0 &&
	       !copy_from_user_nofault(record, (const void __user *)fp, sizeof(record)) && record[1]) {
		store[n++] = uprobe_true_return(record[1], &cursor);
		low = fp + sizeof(record);
		fp = record[0];
	}
	return n;
}

/* A backtrace to the log: of registers if there are any, else of a task, NULL for current. Any context. */
void show_stack(struct task_struct *task, struct pt_regs *regs)
{
	unsigned long entries[MAX_PRINTED];
	unsigned n;

	if (regs)
		n = stack_trace_save_regs(regs, entries, MAX_PRINTED);
	else if (task && task != current)
		n = stack_trace_save_tsk(task, entries, MAX_PRINTED, 0);
	else
		n = stack_trace_save(entries, MAX_PRINTED, 0);
	pr_emerg("Call trace:\n");
	for (unsigned i = 0; i < n; i++) {
		/* The first of a register walk is where it stopped; all others are return addresses. */
		if (!i && regs)
			pr_emerg(" %pS\n", (void *)entries[i]);
		else
			pr_emerg(" %pB\n", (void *)entries[i]);
	}
}

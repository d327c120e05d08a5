/*
 * The stack tracer: at every traced function it looks how much of the stack is in use. The largest use that was found
 * stays in stack_max_size, and the functions whose frames make it up stay in stack_trace.
 *
 * A task's stack and a CPU's interrupt stack are measured separately: what Linux's files show is the task's, the other
 * is in debugfs. The usual call costs one comparison (stack_trace_call); the work is done only when a new maximum is
 * found, which becomes rare soon.
 */
#include <arch/ftrace.h>
#include <arch/stacktrace.h>
#include <fs/libfs.h>
#include <irq/irqflags.h>
#include <kernel/cmdline.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <trace/fgraph.h>

#include "core/array.h"
#include "core/recursion.h"
#include "tracers/function_filter.h"

#define STACK_MAX_FRAMES 128 /* frames beyond are left out */

/* The largest use of one kind of stack. [stack_max_lock; size is read by anybody] */
struct stack_max {
	unsigned long size;
	unsigned nr;
	unsigned long ips[STACK_MAX_FRAMES]; /* innermost first */
	u32 depths[STACK_MAX_FRAMES];	     /* bytes in use where that function's frame ends, its own among them */
};
static struct stack_max task_max, irq_max;
static DEFINE_SPINLOCK(stack_max_lock);	 /* arch_spin_lock, interrupts off; not in NMIs */
static DEFINE_MUTEX(stack_tracer_mutex); /* switching; inside it: ftrace_lock */
static int stack_tracer_enabled;	 /* [stack_tracer_mutex] as written, any number */

/* The caller has made sure that there is room. stack_max_lock held. */
static void add_frame(struct stack_max *max, unsigned long ip, unsigned long depth)
{
	max->ips[max->nr] = ip;
	max->depths[max->nr++] = depth;
}

/*
 * The frames of a stack that ends at `end`, from the function on that has just been entered with `sp`. A frame begins
 * where the next inner one ends: behind the return address where records are the frame's end, at the record where they
 * are its beginning (asm/stacktrace.h).
 */
static void save_frames(struct stack_max *max, unsigned long ip, unsigned long sp, unsigned long end,
			const struct ftrace_regs *fregs)
{
	unsigned long fp = *(const unsigned long *)ftrace_regs_frame(fregs);
	unsigned long slot = (unsigned long)ftrace_regs_return_slot(fregs);
	unsigned hooked = FGRAPH_WALK;

	max->nr = 0;
	add_frame(max, ip, end - sp);
	while (max->nr < STACK_MAX_FRAMES) {
		const unsigned long *record = (const unsigned long *)fp;
		unsigned long ret = READ_ONCE(record[1]), outer = READ_ONCE(record[0]);

		if (ret == RETURN_TO_HANDLER_ADDR)
			ret = fgraph_ret_addr(current, &hooked, slot);
		/* The last records of a stack lead to zeros, or to the stack that an interrupt came from. */
		if (!ret || outer <= fp || outer > end - 2 * sizeof(long) || outer % sizeof(long))
			break;
		add_frame(max, ret, end - (FRAME_RECORD_AT_END ? slot + sizeof(long) : outer));
		fp = outer;
		slot = fp + sizeof(long);
	}
}

/*
 * The stack tracer's lock is taken from any traced function.
 *
 * check_stack runs at the entry of whatever is traced, under whatever locks that code holds, and takes a lock of its
 * own. That is safe because only check_stack and the files here take it, with interrupts off. So only two things can
 * interrupt the holder on its CPU: an NMI, which returns before it asks for the lock, and an exception of the holder
 * itself, which the context's recursion bit turns away. What the holder calls is not traced and takes no other lock.
 * The comparison at every call comes before the lock: if it reads an old size, that only costs one more call of
 * check_stack.
 */
static noinline void check_stack(unsigned long ip, unsigned long sp, const struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), bit = recursion_bit(pc);
	unsigned long flags, end;
	struct stack_max *max;

	/* An NMI, or an exception of this very function's, may have come while its CPU holds the lock. */
	if (pc & (NMI_MASK | bit))
		return;
	trace_enter(t, pc, bit);
	raw_local_irq_save(flags);
	end = (unsigned long)current->stack + THREAD_SIZE;
	max = end - sp <= THREAD_SIZE ? &task_max : arch_on_irq_stack(sp, &end) ? &irq_max : NULL;
	if (max && end - sp > READ_ONCE(max->size)) {
		arch_spin_lock(&stack_max_lock);
		if (end - sp > max->size) {
			WRITE_ONCE(max->size, end - sp);
			save_frames(max, ip, sp, end, fregs);
		}
		arch_spin_unlock(&stack_max_lock);
	}
	raw_local_irq_restore(flags);
	trace_leave(t, pc);
}

/*
 * The callback at every traced function. On an interrupt stack the difference below is larger than any stack, in
 * whichever direction that stack lies. So check_stack() is called, and looks which stack this is.
 */
static void stack_trace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			     struct ftrace_regs *fregs)
{
	unsigned long sp = ftrace_regs_sp(fregs), used = (unsigned long)current->stack + THREAD_SIZE - sp;

	if (unlikely(used > READ_ONCE(task_max.size)))
		check_stack(ip, sp, fregs); /* more than ever, or not the task's stack */
}

static struct ftrace_ops stack_trace_ops = {
	.func = stack_trace_call,
	.hooked_func = stack_trace_call, /* it does not look at parent_ip */
	.flags = FTRACE_OPS_FL_CORE | FTRACE_OPS_FL_RECURSION,
	.name = "stack_trace",
};

/*
 * 0 is off, anything else on. Only a change between off and on registers or unregisters; the number itself is just
 * kept, as Linux shows it again. Thread context. 0 or -errno.
 */
static int stack_tracer_set(int value)
{
	int ret = 0;

	mutex_lock(&stack_tracer_mutex);
	if (!value != !stack_tracer_enabled)
		ret = value ? register_ftrace_function(&stack_trace_ops) : unregister_ftrace_function(&stack_trace_ops);
	if (!ret)
		stack_tracer_enabled = value;
	mutex_unlock(&stack_tracer_mutex);
	return ret;
}

/* ---- Files */

static int stack_tracer_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", READ_ONCE(stack_tracer_enabled));
	return 0;
}

static int stack_tracer_store(char *text, void *data)
{
	int val, ret = kstrtoint(text, 10, &val);

	return ret ? ret : stack_tracer_set(val);
}

static const struct text_file stack_tracer_proc = {
	.path = "sys/kernel/stack_tracer_enabled",
	.mode = 0644,
	.show = stack_tracer_show,
	.store = stack_tracer_store,
};
REGISTER_PROC(stack_tracer_proc);

/* A consistent copy, so that the lock is not held while text is made. [thread context; interrupts may be on] */
static void copy_max(struct stack_max *to, const struct stack_max *from)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_spin_lock(&stack_max_lock);
	*to = *from;
	arch_spin_unlock(&stack_max_lock);
	raw_local_irq_restore(flags);
}

/*
 * The table of one maximum, from the innermost frame outwards. "Size" of a frame is the difference between its depth
 * and the next outer one's; the copy is on the heap because it is larger than a frame on the stack should be.
 */
static int show_max(struct seq_file *m, const struct stack_max *from)
{
	struct stack_max *max = kzalloc(sizeof(*max), GFP_KERNEL);

	if (!max)
		return -ENOMEM;
	copy_max(max, from);
	seq_printf(m, "        Depth    Size   Location    (%u entries)\n        -----    ----   --------\n", max->nr);
	if (!READ_ONCE(stack_tracer_enabled) && !max->nr)
		seq_puts(m, "#\n#  Stack tracer disabled\n#\n"
			    "# To enable the stack tracer, either add 'stacktrace' to the\n"
			    "# kernel command line\n# or 'echo 1 > /proc/sys/kernel/stack_tracer_enabled'\n#\n");
	for (unsigned i = 0; i < max->nr; i++)
		seq_printf(m, "%3u) %8u   %5u   %pS\n", i, max->depths[i],
			   max->depths[i] - (i + 1 < max->nr ? max->depths[i + 1] : 0), (void *)max->ips[i]);
	kfree(max);
	return 0;
}

static int stack_trace_show(struct seq_file *m, void *data)
{
	return show_max(m, &task_max);
}
TRACEFS_TEXT_FILE(stack_trace, "stack_trace", 0440, TRACEFS_TOP, stack_trace_show, NULL);

static int stack_max_size_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%lu\n", READ_ONCE(task_max.size));
	return 0;
}

/* From now on what is larger than `val` counts; 0 forgets all that was found. */
static int stack_max_size_store(char *text, void *data)
{
	unsigned long val, flags;
	int ret = kstrtoul(text, 10, &val);

	if (ret)
		return ret;
	raw_local_irq_save(flags);
	arch_spin_lock(&stack_max_lock);
	WRITE_ONCE(task_max.size, val);
	WRITE_ONCE(irq_max.size, val);
	if (!val)
		task_max.nr = irq_max.nr = 0;
	arch_spin_unlock(&stack_max_lock);
	raw_local_irq_restore(flags);
	return 0;
}
TRACEFS_NUMBER_FILE(stack_max_size, "stack_max_size", 0640, TRACEFS_TOP, stack_max_size_show, stack_max_size_store);
TRACEFS_TAKES(stack_max_size, "stack_max_size", "a number of bytes; 0 begins again");

/* debugfs: stack_tracer/irq_stack_trace. Linux has no such file, as it does not look at interrupt stacks. */
static int irq_stack_show(struct seq_file *m, void *v)
{
	return show_max(m, &irq_max);
}

static const struct text_file irq_stack_file = {
	.path = "stack_tracer/irq_stack_trace", .mode = 0400, .show = irq_stack_show};
REGISTER_DEBUGFS(irq_stack_file);

FILTER_FILE(stack_trace_filter, TRACEFS_TOP, &stack_trace_ops, false, NULL);

/* ---- The kernel command line */

static char boot_filter[512]; /* [boot] words of stacktrace_filter=, with commas between them */
static bool boot_stacktrace;  /* [boot] the stack tracer is wanted: stacktrace or stacktrace_filter= was given */

/* Whatever value follows, as in Linux. */
static int set_boot_stacktrace(const char *value)
{
	boot_stacktrace = true;
	return 0;
}
__setup("stacktrace", set_boot_stacktrace);

static int set_boot_filter(const char *value)
{
	boot_stacktrace = true;
	return param_keep(boot_filter, sizeof(boot_filter), value);
}
__setup("stacktrace_filter=", set_boot_filter);

/* trace_part.boot. A refused word is explained as a refused write to the file, and the others count. */
static void stack_boot(struct trace_array *tr)
{
	char *rest = boot_filter, *word;
	int ret;

	while ((word = strsep(&rest, ","))) {
		ret = *word ? ftrace_set_filter(&stack_trace_ops, (unsigned char *)word, strlen(word), false) : 0;
		if (ret)
			pr_warn("stacktrace_filter: '%s' ignored: %s\n", word,
				trace_boot_why(tr, "stack_trace_filter", word, ret));
	}
	ret = boot_stacktrace ? stack_tracer_set(1) : 0;
	if (ret)
		pr_warn("ftrace: cannot start the stack tracer: %s\n", errno_text(-ret));
}
static const struct trace_part stack_part = {.boot = stack_boot};
REGISTER_TRACE_PART(stack_part);

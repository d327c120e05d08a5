/*
 * Stacks of user programs as records: where in its own code a program was when the kernel came to the event. Frames
 * are found by the program's frame pointers (ours are built with them); a program that has none shows its pc at least.
 */
#include <arch/mmu.h>
#include <fs/libfs.h>
#include <kernel/percpu.h>
#include <kernel/stacktrace.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <proc/fork.h>
#include <sched/sched.h>

#include "core/record.h"
#include "output/iter.h"

/*
 * A user stack is being read. Reading may fault, and the code of the fault is traced and has events: these get no
 * stack, or there would be no end. [this CPU, preemption off; contexts above a task's do not read user stacks]
 */
static DEFINE_PER_CPU(bool, reading_user_stack);

static void record_user_stack(struct trace_array *tr, u32 pc, unsigned long flags, const unsigned long *callers)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event =
		ring_buffer_reserve(buffer, sizeof(struct userstack_entry), trace_clock_now(tr));
	struct userstack_entry *entry;

	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_USER_STACK, current, pc, flags);
	entry->tgid = current->tgid;
	memcpy(entry->caller, callers, sizeof(entry->caller));
	ring_buffer_commit(buffer);
}

/* Can the task's own memory be read here? In the middle of a switch or of exec the page tables are another task's. */
static bool has_user_stack(u32 pc)
{
	const struct mm_struct *mm = READ_ONCE(current->mm);

	return !(pc & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) && mm && arch_mm_in_use(mm);
}

/*
 * This may read the program's memory in the scheduler, with runqueues locked, or at the first instruction of a fault
 * handler. It does no harm, because:
 *
 * - The load has a fix-up, and preemption is off: do_page_fault() then takes no lock and brings no page into memory,
 * but
 *   goes to the fix-up at once. A frame in a page that is not there ends the walk.
 * - Each address is compared with TASK_SIZE first, so a frame pointer into the kernel is never followed.
 * - The page tables in use are the task's own (arch_mm_in_use asks the hardware). In the middle of a switch `current`
 * is
 *   still the old task while user addresses already mean the next task's memory; in exec the new mm is current->mm
 *   before it is loaded. Functions traced there have no user stack.
 * - Every frame lies above the one before, so a circle ends the walk, and there are eight frames at most.
 * - A fault on the way runs traced code, which would ask for a user stack and fault again: reading_user_stack turns
 * that
 *   away. In the function tracer the recursion bit does so before; events have no such bit.
 * - On x86_64 the fault overwrites CR2. exc_handler() reads CR2 before anything that can be traced, and no user stack
 * is
 *   taken in an NMI.
 *
 * Addresses are looked up when the record is shown, by tgid, as in Linux: a process that has ended leaves plain
 * addresses, and if a process has replaced its program since, names of the new program are shown.
 */
void trace_user_stack(struct trace_array *tr, u32 pc, unsigned long flags)
{
	unsigned long callers[USER_STACK_FRAMES] = {};
	bool *reading = this_cpu_ptr(&reading_user_stack);

	if (READ_ONCE(*reading) || !has_user_stack(pc))
		return;
	WRITE_ONCE(*reading, true);
	barrier();
	stack_trace_save_user(callers, USER_STACK_FRAMES);
	barrier();
	WRITE_ONCE(*reading, false);
	record_user_stack(tr, pc, flags, callers);
}

/* ---- Printing */

/* The address space to look addresses up in, with a reference; NULL: the process is gone, or we may not sleep. */
static struct mm_struct *find_mm(struct trace_iterator *iter, pid_t tgid)
{
	struct mm_struct *mm = NULL;
	struct task_struct *task;

	if (iter->atomic || !(iter->tr->trace_flags & TRACE_ITER(SYM_USEROBJ)))
		return NULL;
	task = find_get_task(tgid);
	if (task) {
		mm = get_task_mm(task);
		put_task_struct(task);
	}
	return mm;
}

/* "/bin/sh[+0x1234]", the distance from the beginning of the area. False: nothing of a file is mapped there. */
static bool print_object(struct seq_file *s, struct mm_struct *mm, unsigned long ip, char *path)
{
	const struct vm_area_struct *vma;
	const char *name = NULL;

	mutex_lock(&mm->mmap_lock);
	vma = find_vma_intersection(mm, ip, ip + 1);
	if (vma && vma->vm_file)
		name = dentry_path(vma->vm_file->f_dentry, path, PAGE_SIZE);
	if (name && !IS_ERR(name))
		seq_printf(s, "%s[+0x%lx]", name, ip - vma->vm_start);
	mutex_unlock(&mm->mmap_lock);
	return name && !IS_ERR(name);
}

static void print_user_ip(struct seq_file *s, struct trace_array *tr, struct mm_struct *mm, unsigned long ip,
			  char *path)
{
	bool object = mm && path && print_object(s, mm, ip, path);

	if (!object || (tr->trace_flags & TRACE_ITER(SYM_ADDR)))
		seq_printf(s, " <%016lx>", ip);
}

/*
 * Addresses of a program are resolved when they are printed, by its mappings, if it still lives. Thread context; takes
 * the mm's lock.
 */
static void trace_user_stack_print(struct seq_file *s, struct trace_iterator *iter)
{
	const struct userstack_entry *field = (const void *)iter->ent;
	struct mm_struct *mm = find_mm(iter, field->tgid);
	char *path = mm ? get_free_page(GFP_KERNEL) : NULL;

	seq_puts(s, "<user stack trace>\n");
	for (int i = 0; i < USER_STACK_FRAMES && field->caller[i]; i++) {
		seq_puts(s, " => ");
		print_user_ip(s, iter->tr, mm, field->caller[i], path);
		seq_putc(s, '\n');
	}
	if (path)
		free_page(path);
	if (mm)
		mmput(mm);
}

static const struct trace_event trace_user_stack_event = {.type = TRACE_USER_STACK, .trace = trace_user_stack_print};
REGISTER_TRACE_EVENT(trace_user_stack_event);

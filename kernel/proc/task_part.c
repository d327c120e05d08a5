/* Asking the rooms that keep something for tasks (<proc/task_part.h>). */
#include <proc/task_part.h>

/* Those that have given the child something before an error take it back. */
int task_parts_fork(struct task_struct *child, u64 flags)
{
	const struct task_part *part, *failed;
	int err = 0;

	for_each_in_table(task_parts, part) {
		err = part->fork ? part->fork(child, flags) : 0;
		if (err)
			break;
	}
	if (likely(!err))
		return 0;
	failed = part;
	for_each_in_table(task_parts, part) {
		if (part == failed)
			break;
		if (part->release)
			part->release(child);
	}
	return err;
}

void task_parts_release(struct task_struct *t)
{
	const struct task_part *part;

	for_each_in_table(task_parts, part)
		if (part->release)
			part->release(t);
}

void task_parts_tid_cleared(u32 __user *tid)
{
	const struct task_part *part;

	for_each_in_table(task_parts, part)
		if (part->tid_cleared)
			part->tid_cleared(tid);
}

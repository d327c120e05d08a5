/* Asking the rooms that keep something for tasks (<proc/task_part.h>). */
#include <proc/task_part.h>

#include <lib/string.h>

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

void task_parts_release_process(void)
{
	const struct task_part *part;

	for_each_in_table(task_parts, part)
		if (part->release_process)
			part->release_process();
}

void task_parts_resume(struct pt_regs *regs)
{
	const struct task_part *part;

	for_each_in_table(task_parts, part)
		if (part->resume)
			part->resume(regs);
}

void task_parts_cpu_time_due(struct signal_struct *sig)
{
	const struct task_part *part;

	for_each_in_table(task_parts, part)
		if (part->cpu_time_due)
			part->cpu_time_due(sig);
}

void task_parts_timer_taken(struct k_itimer *t, struct siginfo *info)
{
	const struct task_part *part;

	for_each_in_table(task_parts, part)
		if (part->timer_taken)
			part->timer_taken(t, info);
}

unsigned task_parts_auxv(u64 *auxv, unsigned n, unsigned max)
{
	const struct task_part *part;

	for_each_in_table(task_parts, part)
		for (const u64(*pair)[2] = part->auxv; pair && (*pair)[0] && n + 2 <= max; pair++, n += 2)
			memcpy(auxv + n, *pair, sizeof(*pair));
	return n;
}

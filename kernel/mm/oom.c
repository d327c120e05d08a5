/*
 * Memory is full. The room kernel/mm/oom then kills the process whose end gives most memory back; without it the one
 * that needs memory pays: its request fails, and a fault, which has no other way to tell, ends the task.
 */
#include <mm/oom.h>

#include <kernel/printk.h>
#include <proc/signal.h>
#include <sched/sched.h>

/* The task will give its own memory back, so it must not wait. */
bool current_is_dying(void)
{
	return current->flags & PF_EXITING || fatal_signal_pending(current);
}

bool out_of_memory(gfp_t gfp, unsigned order)
{
	const struct oom_killer *killer;

	if (current_is_dying())
		return false;
	for_each_in_table(oom_killers, killer)
		return killer->make_room(gfp, order);
	if (gfp & __GFP_NOWARN && !(current->flags & PF_KTHREAD)) {
		pr_err("Out of memory: Killed process %d (%s), which needed a page\n", current->pid, current->comm);
		send_sig(SIGKILL, current, 1);
	}
	return false;
}

void oom_victim_gone(struct mm_struct *mm)
{
	const struct oom_killer *killer;

	for_each_in_table(oom_killers, killer)
		killer->victim_gone(mm);
}

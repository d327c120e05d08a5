/*
 * Changing kernel code while it runs. Another CPU must never execute an instruction that is half written, and it may
 * have fetched the old one already. So all other CPUs are parked in a loop with interrupts off (stop_machine) while
 * one CPU writes; afterwards each of them discards what it has fetched. Each machine says in arch_patch_begin() and
 * arch_patch_end() what that takes. Lock: text_mutex, a mutex, because waiting for all CPUs sleeps.
 */
#include <arch/patch.h>
#include <kernel/jump_label.h>
#include <kernel/text_patch.h>
#include <sched/sched.h>

DEFINE_MUTEX(text_mutex);

struct patch_job {
	void (*fn)(void *data);
	void *data;
};

/*
 * This is the only code that runs on any CPU at this moment, besides the loop that the others are parked in. Neither
 * of the two may be traced or hold a site, or it would execute what is being written. Static branches that are behind
 * are switched with every job, since the expensive part, the stop, is paid for already.
 */
static notrace int run_patch_job(void *arg)
{
	const struct patch_job *job = arg;

	arch_patch_begin();
	jump_label_switch_stopped();
	job->fn(job->data);
	arch_patch_end();
	return 0;
}

void text_patch_stopped(void (*fn)(void *data), void *data)
{
	struct patch_job job = {fn, data};

	stop_machine(run_patch_job, &job);
}

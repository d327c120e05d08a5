/* Changing kernel code while it runs. */
#include <arch/patch.h>
#include <kernel/jump_label.h>
#include <kernel/text_patch.h>
#include <sched/sched.h>

DEFINE_MUTEX(text_mutex);

struct patch_job {
	void (*fn)(void *data);
	void *data;
};

/* The only code that runs on any CPU at this moment, besides the parking loop: neither is traced or patched. */
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

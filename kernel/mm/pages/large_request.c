/*
 * Requests for many pages, which root makes by a write to a file: the size of a trace buffer, of a table. They take no
 * more than what is available beside the reserve, so one that is too large fails and takes nothing from others. Memory
 * may become full all the same, by others at the same time: then the OOM killer takes first the process that asks.
 */
#include <lib/errno.h>
#include <mm/oom.h>
#include <mm/page.h>
#include <proc/signal.h>
#include <sched/sched.h>

/* What threads of the kernel ask for is not worth a process: they share one signal_struct, and are never chosen. */
int large_request_begin(unsigned long pages)
{
	if (pages > si_mem_available())
		return -ENOMEM;
	atomic_inc(&current->signal->oom_origin);
	return 0;
}

bool large_request_dead(void)
{
	return fatal_signal_pending(current);
}

void large_request_end(void)
{
	atomic_dec(&current->signal->oom_origin);
}

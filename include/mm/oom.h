/* Memory is full: a process is killed, or the request fails. */
#pragma once

#include <lib/types.h>
#include <mm/gfp.h>

struct mm_struct;

/*
 * A request of 2^order pages found none: kill a process, or wait for the last victim to give its memory back. True: try
 * again. False: the request must fail, since the caller itself is being killed, or memory is not full but in pieces
 * that are too small, or no process can be killed. For a page fault (GFP_USER), whose failure no return value could
 * tell, the last is a panic. Without the room that kills processes a request fails, and a page fault kills the task
 * that needs the page. Context: thread, interrupts on; sleeps. The caller may hold mutexes; a page fault no mmap_lock.
 */
bool out_of_memory(gfp_t gfp, unsigned order);
/* Is the current task being killed? A request of such a task fails, and that needs no message. Thread context. */
bool current_is_dying(void);

/*
 * A request of the current process for many pages, which nothing gives back before it is undone: a trace buffer, a
 * large table. It begins only if so many pages are available, leaving the reserve (si_mem_available()), and until
 * large_request_end() the process is the first that the OOM killer takes. While it takes the pages the caller looks
 * at large_request_dead(): then it has been killed, or is about to be, and must give all back. 0 or -ENOMEM. Thread
 * context.
 */
int large_request_begin(unsigned long pages);
bool large_request_dead(void);
void large_request_end(void);

/* The room kernel/mm/oom, which chooses a process that must end; one at most registers itself. */
struct oom_killer {
	/* The work of out_of_memory(), for a task that is not being killed itself. */
	bool (*make_room)(gfp_t gfp, unsigned order);
	/* The memory of a victim (mm->oom_victim) is given back. Any context. */
	void (*victim_gone)(struct mm_struct *mm);
};
#define REGISTER_OOM_KILLER(killer) REGISTER_IN(oom_killers, killer)
DECLARE_TABLE(oom_killers, const struct oom_killer);

/* victim_gone of the room, which has set mm->oom_victim. Any context. */
void oom_victim_gone(struct mm_struct *mm);

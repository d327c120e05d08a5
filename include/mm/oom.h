/* Memory is full: which process is killed, and the points by which it is chosen. */
#pragma once

#include <lib/types.h>
#include <mm/gfp.h>

#define OOM_SCORE_ADJ_MIN (-1000) /* the process is never killed */
#define OOM_SCORE_ADJ_MAX 1000	  /* the process counts as if it had all of memory */

struct mm_struct;
struct task_struct;

/*
 * A request of 2^order pages found none: kill a process, or wait for the last victim to give its memory back. True: try
 * again. False: the request must fail, since the caller itself is being killed, or memory is not full but in pieces
 * that are too small, or no process can be killed. For a page fault (GFP_USER), which nobody could tell of a failure,
 * the last is a panic. Context: thread, interrupts on; sleeps. The caller may hold mutexes; a page fault no mmap_lock.
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

/*
 * How bad a process is: its pages, plus oom_score_adj thousandths of `totalpages`. LONG_MIN: it must not be killed.
 * Thread context; takes tasklist_lock.
 */
long oom_badness(struct task_struct *p, unsigned long totalpages);
/*
 * Set oom_score_adj of p's process and of the processes that share its memory. `legacy`: the value comes in oom_adj's
 * scale, whose rule is that only root lowers it. 0 or -EACCES. Thread context.
 */
int oom_set_score_adj(struct task_struct *p, int adj, bool legacy);
/* The memory of a victim (mm->oom_victim) is given back. Any context. */
void oom_victim_gone(struct mm_struct *mm);
/*
 * Take the private memory of a victim away if its processes have not ended in two seconds: one of them may sleep in the
 * kernel. Thread context; the caller holds a reference to the memory.
 */
void oom_reap_later(struct mm_struct *mm);

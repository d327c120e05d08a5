/* Memory is full: which process is killed, and the points by which it is chosen. */
#pragma once

#include <lib/types.h>

#define OOM_SCORE_ADJ_MIN (-1000) /* the process is never killed */
#define OOM_SCORE_ADJ_MAX 1000	  /* the process counts as if it had all of memory */

struct mm_struct;
struct task_struct;

/*
 * A page fault found no page: kill a process, or wait for the last victim to give its memory back. True: try again.
 * False: the caller itself is being killed, so its fault must fail. Panics when nothing can be killed. Context: thread,
 * interrupts on; sleeps. The caller may hold mutexes (a system call that faults on user memory), but no mmap_lock.
 */
bool out_of_memory(void);

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

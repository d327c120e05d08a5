/* What the files of the room share: points of processes, and the memory of a victim. */
#pragma once

#include <lib/types.h>

#define OOM_SCORE_ADJ_MIN (-1000) /* the process is never killed */
#define OOM_SCORE_ADJ_MAX 1000	  /* the process counts as if it had all of memory */

struct mm_struct;
struct task_struct;

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
/*
 * Take the private memory of a victim away if its processes have not ended in two seconds: one of them may sleep in the
 * kernel. Thread context; the caller holds a reference to the memory.
 */
void oom_reap_later(struct mm_struct *mm);

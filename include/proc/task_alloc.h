/* Memory of tasks, between the files that make and end them. */
#pragma once

struct sighand_struct;
struct signal_struct;
struct task_struct;

#define MIN_THREADS 20	       /* as Linux bounds what it takes from the memory there is */
#define MAX_THREADS 0x3fffffff /* as many as a futex's word can tell apart */
extern unsigned max_threads;   /* /proc/sys/kernel/threads-max; a word is read whole */

/* All return NULL when out of memory; thread context. */
struct task_struct *dup_task_struct(struct task_struct *orig); /* usage 2 */
struct signal_struct *alloc_signal(void);		       /* zeroed */
struct sighand_struct *alloc_sighand(void);		       /* contents undefined */

void free_task(struct task_struct *t);	    /* struct and stack of a task that was never to be found */
void put_signal(struct signal_struct *sig); /* any context but nmi */
void put_sighand(struct sighand_struct *sighand);
void count_tasks(int processes, int threads); /* changes of their numbers [tasklist_lock] */
void signals_init(void);		      /* boot: the cache of queued signals */

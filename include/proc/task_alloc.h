/* Memory of tasks, between the files that make and end them. */
#pragma once

struct sighand_struct;
struct signal_struct;
struct task_struct;

#define RESERVED_THREADS 64  /* pids that fork leaves for exec's and the kernel's needs */
extern unsigned max_threads; /* [immutable after fork_init] */

/* All return NULL when out of memory; thread context. */
struct task_struct *dup_task_struct(struct task_struct *orig); /* usage 2 */
struct signal_struct *alloc_signal(void);                      /* zeroed */
struct sighand_struct *alloc_sighand(void);                    /* contents undefined */

void free_task(struct task_struct *t);      /* struct and stack of a task that nobody has seen */
void put_signal(struct signal_struct *sig); /* any context but nmi */
void put_sighand(struct sighand_struct *sighand);
void count_tasks(int processes, int threads); /* changes of their numbers [tasklist_lock] */
void signals_init(void);                      /* boot: the cache of queued signals */

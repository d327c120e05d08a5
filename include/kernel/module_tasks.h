/*
 * kernel/module/tasks.c: how modules walk over tasks. The loops for_each_process() and for_each_thread() stand in
 * <linux/sched.h>.
 */
#pragma once

#include <lib/types.h>

struct task_struct;
/* The boot CPU's idle task, pid 0. It is in no list; next_task() acts as if it stood before the first process. */
extern struct task_struct init_task;
/*
 * The process after p, by the time of its birth; init_task after the last one. A process that has gone counts as the
 * last one: it is looked for by its address, so p may be a pointer that leads nowhere. Any context.
 */
struct task_struct *next_task(struct task_struct *p);
/* The process with the lowest number from *nr on, NULL: there is none. *nr is then the number after it. Any context. */
struct task_struct *process_from(pid_t *nr);
/* The same for the threads of the process whose leader this is; a process that has gone has none. Any context. */
struct task_struct *thread_from(struct task_struct *leader, pid_t *nr);

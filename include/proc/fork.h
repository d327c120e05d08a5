/*
 * Making, replacing and ending processes.
 *
 * Locking order, outermost first; a lock may be taken while holding any that stand left of it:
 *
 *     tasklist_lock > sighand->siglock > wait queue lock > task->pi_lock > runqueue lock
 *
 * tasklist_lock: parents, children, thread groups, the list and hash of tasks, process groups, exit states.
 * siglock: signals of a process, and (together with tasklist_lock for changes) the list of its threads, so
 * that either of the two suffices to walk it. All are taken with interrupts off, since signals are sent from
 * interrupts. mmap_lock and other mutexes are outside all of them.
 */
#pragma once

#include <lib/list.h>
#include <lib/types.h>
#include <sched/task.h>
#include <uapi/sched.h>

struct pt_regs;

struct kernel_clone_args {
	u64 flags; /* CLONE_* without the signal */
	int exit_signal;
	unsigned long stack; /* user stack of the child, 0: the parent's */
	unsigned long tls;
	int *parent_tid, *child_tid; /* user addresses */
	int (*fn)(void *);	     /* kernel threads: what to run */
	void *fn_arg;
};
/* fork, vfork, clone, kernel threads. Returns the child's pid or -errno (-EAGAIN, -ENOMEM, -EINVAL). Thread
 * context. */
pid_t kernel_clone(struct kernel_clone_args *args);
/* The same, not yet woken; ERR_PTR. For kthread_create and the idle tasks. */
struct task_struct *copy_process(struct kernel_clone_args *args);
/* The idle task of another CPU: pid 0, on no list. ERR_PTR(-ENOMEM). Boot. */
struct task_struct *fork_idle(int cpu);
/* exec and exit: the user memory the task had is no longer its own. Wakes who joins it, and a vfork
 * parent. */
void mm_release(struct task_struct *t);

void do_exit(long code) __noreturn; /* code as wait(2) shows it */
void do_group_exit(int code) __noreturn;
void release_task(struct task_struct *p); /* reaped: exit_state must be EXIT_DEAD, set under tasklist_lock */
/* The end of a task whose kernel code failed: like do_exit where that is safe, panics where it is not. Any
 * context. */
void make_task_dead(int signr) __noreturn;

/* argv, envp: kernel arrays. Replaces the current program; returns only on error (or, from a kernel thread,
 * 0: the thread returns from its function into user mode). */
int kernel_execve(const char *path, const char *const *argv, const char *const *envp);
/* Become the first user program: init= or the usual places; panics when there is none. Returns 0 as
 * kernel_execve. */
int run_init_process(void);
extern const char *init_argv[32], *init_envp[32];

/* Look-up by pid: the caller gets a reference; NULL. Any context. */
struct task_struct *find_get_task(pid_t pid);
/* The same without a reference: valid while tasklist_lock or rcu_read_lock is held. */
struct task_struct *find_task_by_pid(pid_t pid);
/* Iterate over processes in pid order: the first with pid >= from, with a reference; NULL at the end. */
struct task_struct *next_process(pid_t from);
#define EVERY_PROCESS (-1)
/*
 * Call fn for each process of a group (0 is one, too: init's) or for EVERY_PROCESS, its leader given, with
 * tasklist_lock held, which is let go now and then: a process that is there all the time is met once, one that comes
 * meanwhile is met. Thread context.
 */
void walk_processes(pid_t pgrp, void (*fn)(struct task_struct *p, void *arg), void *arg);
extern spinlock_t tasklist_lock;    /* irqsave; the order is above */
extern struct list_head init_tasks; /* all processes by task->tasks [tasklist_lock] */
#define for_each_process(p) list_for_each_entry(p, &init_tasks, tasks)
/* The threads of a process; `leader` is first [tasklist_lock or siglock]. thread_group links a ring of all of
 * them. */
#define for_each_thread(leader, t)                                        \
	for (bool _first = (t = (leader), true); _first || t != (leader); \
	     _first = false, t = list_next_entry(t, thread_group))
static inline bool thread_group_empty(const struct task_struct *p)
{
	return list_empty(&p->thread_group);
}
static inline bool thread_group_leader(const struct task_struct *p)
{
	return p == p->group_leader;
}
extern struct task_struct init_task;	 /* the boot CPU's idle task, pid 0 */
extern struct task_struct *child_reaper; /* pid 1 */
#define PID_MAX 32768			 /* numbers are below */

/*
 * Groups of processes and sessions (signal->pgrp, signal->session). All [T]. A process joins when it is published and
 * leaves when it is reaped.
 */
struct signal_struct;
void join_groups(struct signal_struct *sig, pid_t pgrp, pid_t session);
void change_group(struct signal_struct *sig, enum pid_type type, pid_t nr);
/* p is reaped: it leaves its groups, if it is a leader, and the numbers that nothing has any more are free. p is not
 * found by its number any more. */
void leave_groups(struct task_struct *p);
/* The process after `sig` (NULL: the first) in the order of joining; NULL: that was the last. */
struct signal_struct *next_in_group(enum pid_type type, pid_t nr, struct signal_struct *sig);
#define for_each_in_group(type, nr, sig) \
	for (sig = next_in_group(type, nr, NULL); sig; sig = next_in_group(type, nr, sig))
void pid_init(void);			/* boot, before the first fork */
pid_t alloc_pid(struct task_struct *p); /* sets p->pid; -EAGAIN when all are taken */
void free_pid(pid_t pid);
void attach_pid(struct task_struct *p); /* find_get_task finds it from now on [tasklist_lock] */
void detach_pid(struct task_struct *p); /* [tasklist_lock] */
/* exec in a thread: `p` takes over the number of its old leader, which gets p's. [tasklist_lock and
 * siglock] */
void exchange_pids(struct task_struct *p, struct task_struct *leader);
unsigned nr_processes(void); /* thread groups, zombies included */
unsigned nr_threads(void);   /* all tasks but the idle ones */
u64 total_forks(void);	     /* since boot */
void fork_init(void);	     /* boot: caches, limits */
void set_task_comm(struct task_struct *t, const char *name);

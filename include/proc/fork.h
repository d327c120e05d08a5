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
#include <kernel/module_tasks.h>
#include <sched/task.h>
#include <uapi/sched.h>

struct pt_regs;

/* What clone(2), clone3(2) or a kernel thread's maker asks for. */
struct kernel_clone_args {
	u64 flags; /* CLONE_* without the signal */
	int exit_signal;
	unsigned long stack; /* user stack of the child, 0: the parent's */
	unsigned long tls;
	int *parent_tid, *child_tid; /* user addresses */
	int *pidfd;		     /* user address: CLONE_PIDFD */
	unsigned ptrace_event;	     /* PTRACE_EVENT_* that the debugger has asked for, 0: none */
	int (*fn)(void *);	     /* kernel threads: what to run */
	void *fn_arg;
	const char *name; /* of a kernel thread; NULL: its maker's */
};
/*
 * Make a task and wake it: fork, vfork, clone, and the first kernel threads. With CLONE_VFORK it waits until the
 * child has left the parent's memory. Returns the child's pid, or -errno as copy_process(). Thread context, may
 * sleep.
 */
pid_t kernel_clone(struct kernel_clone_args *args);
/*
 * A new task, complete and known by its number, that is not woken yet: for kernel_clone() and kthread_create().
 * ERR_PTR: -EINVAL for flags that contradict each other, -ENOMEM, -EAGAIN for a limit of the user or of the machine,
 * and -ERESTARTNOINTR when a signal came first, which the caller's system call then takes. Thread context, may sleep.
 */
struct task_struct *copy_process(struct kernel_clone_args *args);
/* The idle task of another CPU: pid 0, on no list. ERR_PTR(-ENOMEM). Boot. */
struct task_struct *fork_idle(int cpu);
/*
 * exec and exit: the current task is about to leave its user memory. Releases its robust futexes, wakes the thread that
 * joins it (clear_child_tid), and wakes a parent that waits in vfork. Thread context, may fault and sleep.
 */
void mm_release(struct task_struct *t);

/* The current thread ends. `code` is the status as wait(2) shows it. Thread context, no lock held. */
void do_exit(long code) __noreturn;
/* The whole process of the current thread ends with this status, unless one was set before. As do_exit(). */
void do_group_exit(int code) __noreturn;
/* Take a dead task off all lists. The caller has set EXIT_DEAD under tasklist_lock, so it is the only one. No locks. */
void release_task(struct task_struct *p);
/*
 * A leader is the last of its process and a zombie: tell who waits for it. True: nobody does, so the caller sets
 * EXIT_DEAD and releases it. tasklist_lock held.
 */
bool announce_zombie(struct task_struct *leader);
/*
 * The end of a task whose kernel code has failed: as do_exit() where that is safe, and a panic where it is not (in an
 * interrupt, in the idle task). Any context.
 */
void make_task_dead(int signr) __noreturn;

/*
 * wait4(2) for the kernel: upid -1 any child, 0 the caller's group, below -1 a group, else one child. options: WNOHANG
 * and its like; usage: NULL, or what the child has used. Returns the child's number with its status in *wstatus, 0 with
 * WNOHANG while all children run, or -ECHILD, -EINVAL, -ESRCH, -ERESTARTSYS. A kernel thread sets PF_AWAITS_CHILDREN
 * before it makes the child. Thread context, sleeps.
 */
struct rusage;
long kernel_wait4(pid_t upid, int *wstatus, unsigned options, struct rusage *usage);

/*
 * Replace the current program; argv and envp are arrays of the kernel. Returns -errno, or 0 in a kernel thread, which
 * enters the program when it returns from its function. Thread context, may sleep.
 */
int kernel_execve(const char *path, const char *const *argv, const char *const *envp);
/*
 * Become the first user program: that of init=, or of the usual places. Panics without one; returns 0 as
 * kernel_execve().
 */
int run_init_process(void);
extern const char *init_argv[32], *init_envp[32];

/* Look-up by pid: the caller gets a reference; NULL. Any context. */
struct task_struct *find_get_task(pid_t pid);
/* The same without a reference: valid while tasklist_lock or rcu_read_lock is held. */
struct task_struct *find_task_by_pid(pid_t pid);
/* Iterate over processes in pid order: the first with pid >= from, with a reference; NULL at the end. */
struct task_struct *next_process(pid_t from);
/* The same for the threads of the process whose leader this is. */
struct task_struct *next_thread(struct task_struct *leader, pid_t from);
#define EVERY_PROCESS (-1)
/*
 * Call fn with the leader of each process of a group (0 is a group, too: that of init), or of EVERY_PROCESS. fn runs
 * with tasklist_lock held and interrupts off. The lock is released now and then: a process that exists all the time
 * is met once, and so is one that comes to the list meanwhile. Thread context, no lock held.
 */
void walk_processes(pid_t pgrp, void (*fn)(struct task_struct *p, void *arg), void *arg);
extern spinlock_t tasklist_lock;    /* irqsave; the order is above */
extern struct list_head init_tasks; /* all processes by task->tasks [tasklist_lock] */
#ifndef MODULE			    /* <linux/sched.h> has loops for modules, which cannot take the lock */
#define for_each_process(p) list_for_each_entry(p, &init_tasks, tasks)
/* The threads of a process, any one given first: thread_group links all in a ring. [tasklist_lock or siglock] */
#define for_each_thread(leader, t)                                        \
	for (bool _first = (t = (leader), true); _first || t != (leader); \
	     _first = false, t = list_next_entry(t, thread_group))
#endif
static inline bool thread_group_empty(const struct task_struct *p)
{
	return list_empty(&p->thread_group);
}
static inline bool thread_group_leader(const struct task_struct *p)
{
	return p == p->group_leader;
}
extern struct task_struct *child_reaper; /* pid 1 */
#define PID_MAX 32768			 /* numbers are below */

/*
 * Groups of processes and sessions (signal->pgrp, signal->session). All [T]. A process joins when it is published and
 * leaves when it is reaped.
 */
struct signal_struct;
void join_groups(struct signal_struct *sig, pid_t pgrp, pid_t session);
void change_group(struct signal_struct *sig, enum pid_type type, pid_t nr);
/*
 * p is reaped: if it is a leader it leaves its group and its session. Numbers that no task, group or session has any
 * more become free. Comes after detach_pid().
 */
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
/* exec in a thread: p and its old leader exchange their numbers. [tasklist_lock and siglock] */
void exchange_pids(struct task_struct *p, struct task_struct *leader);
unsigned nr_processes(void); /* thread groups, zombies included */
unsigned nr_threads(void);   /* all tasks but the idle ones */
u64 total_forks(void);	     /* since boot */
void fork_init(void);	     /* boot: caches, limits */
/* Name a task; 15 bytes are kept. A reader may see a mix of both names while it changes. Any context. */
void set_task_comm(struct task_struct *t, const char *name);

/* Making, replacing and ending processes. */
#pragma once

#include <lib/types.h>

struct pt_regs;
struct task_struct;
struct seq_file;

#define CLONE_VM             0x00000100
#define CLONE_FS             0x00000200
#define CLONE_FILES          0x00000400
#define CLONE_SIGHAND        0x00000800
#define CLONE_VFORK          0x00004000
#define CLONE_PARENT         0x00008000
#define CLONE_THREAD         0x00010000
#define CLONE_SETTLS         0x00080000
#define CLONE_PARENT_SETTID  0x00100000
#define CLONE_CHILD_CLEARTID 0x00200000
#define CLONE_CHILD_SETTID   0x01000000

struct kernel_clone_args {
	u64 flags;               /* CLONE_* without the signal */
	int exit_signal;
	unsigned long stack;     /* user stack of the child, 0: the parent's */
	unsigned long tls;
	int *parent_tid, *child_tid; /* user addresses */
	int (*fn)(void *);       /* kernel threads: what to run */
	void *fn_arg;
};
/* fork, vfork, clone, kernel threads. Returns the child's pid or -errno (-EAGAIN, -ENOMEM, -EINVAL). Thread context. */
pid_t kernel_clone(struct kernel_clone_args *args);
/* The same, not yet woken; ERR_PTR. For kthread_create and the idle tasks. */
struct task_struct *copy_process(struct kernel_clone_args *args);
struct task_struct *fork_idle(int cpu);

void do_exit(long code) __noreturn;       /* code as wait(2) shows it */
void do_group_exit(int code) __noreturn;
void release_task(struct task_struct *p); /* reaped */

/* argv, envp: kernel arrays. Replaces the current program; returns only on error. */
int kernel_execve(const char *path, const char *const *argv, const char *const *envp);
extern const char *init_argv[32], *init_envp[32];

/* Look-up by pid: the caller gets a reference; NULL. */
struct task_struct *find_get_task(pid_t pid);
/* Iterate over processes in pid order: the first with pid >= from, with a reference; NULL at the end. */
struct task_struct *next_process(pid_t from);
extern spinlock_t tasklist_lock; /* irqsave; inside it: siglock, runqueue locks */
extern struct task_struct init_task; /* the boot CPU's idle task, pid 0 */
extern struct task_struct *child_reaper; /* pid 1 */
pid_t alloc_pid(struct task_struct *p); /* -EAGAIN */
unsigned nr_processes(void);
void fork_init(void); /* boot */
void set_task_comm(struct task_struct *t, const char *name);

/*
 * Looking into other processes: who may (the rule that /proc, prlimit and debuggers share), and what a debugger does to
 * the task that it traces, its tracee (kernel/proc/ptrace). Numbers and names are those of ptrace(2).
 */
#pragma once

#include <lib/types.h>

struct list_head;
struct mm_struct;
struct pt_regs;
struct siginfo;
struct task_struct;

/* What for. */
#define PTRACE_MODE_READ   0x01u
#define PTRACE_MODE_ATTACH 0x02u
/* The ids that are compared: those that count for files (/proc), or the real ones (system calls). One of the two. */
#define PTRACE_MODE_FSCREDS	     0x08u
#define PTRACE_MODE_REALCREDS	     0x10u
#define PTRACE_MODE_READ_FSCREDS     (PTRACE_MODE_READ | PTRACE_MODE_FSCREDS)
#define PTRACE_MODE_ATTACH_FSCREDS   (PTRACE_MODE_ATTACH | PTRACE_MODE_FSCREDS)
#define PTRACE_MODE_READ_REALCREDS   (PTRACE_MODE_READ | PTRACE_MODE_REALCREDS)
#define PTRACE_MODE_ATTACH_REALCREDS (PTRACE_MODE_ATTACH | PTRACE_MODE_REALCREDS)

/* Are the real, effective and saved ids of `task` all these? It is held by a reference or RCU. Any context. */
bool ids_match(const struct task_struct *task, u32 uid, u32 gid);

/*
 * May the current task look into `task` (mode: PTRACE_MODE_*)? Threads of one process always may, and root; others
 * when all ids of `task` are theirs and its memory is dumpable, which it is not once it has run a set-user-id program.
 * The answer holds for what `task` was at that moment: it may exec a set-user-id program right after it. So a caller
 * first takes what it is going to show (a reference, a text) and asks then; for memory there is mm_access().
 * `task` is held by a reference or RCU. Takes its pi_lock; any context but nmi.
 */
bool ptrace_may_access(struct task_struct *task, unsigned mode);

/*
 * The address space of `task` with a reference (mmput), if the current task may look into that very one. NULL: it has
 * none (a kernel thread, or it has exited); ERR_PTR(-EACCES). Thread context: it may sleep.
 */
struct mm_struct *mm_access(struct task_struct *task, unsigned mode);

/* ---- Debuggers. Locks: T tasklist_lock, S the siglock of the tracee. */

/* task->ptrace. From PT_OPT_SHIFT on there are the options PTRACE_O_*. */
#define PT_PTRACED   0x1u
#define PT_SEIZED    0x2u /* by PTRACE_SEIZE, whose stops can be told apart */
#define PT_CAP	     0x4u /* the debugger was root when it came, so set-user-id programs get their rights */
#define PT_OPT_SHIFT 3

#define PTRACE_EVENT_FORK	1
#define PTRACE_EVENT_VFORK	2
#define PTRACE_EVENT_CLONE	3
#define PTRACE_EVENT_EXEC	4
#define PTRACE_EVENT_VFORK_DONE 5
#define PTRACE_EVENT_EXIT	6
#define PTRACE_EVENT_STOP	128

/* Is the current task traced, and has its debugger asked for this event? Its own flags: no lock, may be old. */
bool ptrace_event_wanted(unsigned event);
/* Stop for this event if the debugger wants it; `message` is what it gets to read. Thread context, no lock. */
void ptrace_event(unsigned event, unsigned long message);
/* execve has succeeded; before, the task had this number. As ptrace_event(). */
void ptrace_exec(pid_t old_pid);
/* The current task is about to end with this status, and has all that it had. As ptrace_event(). */
void ptrace_exit_event(long code);
/* Does current have a debugger that must not see it take the rights of a set-user-id program? exec_guard held. */
bool ptrace_forbids_setid(void);

/* get_signal() takes this signal for current; the debugger may change it. 0: none. [S, released meanwhile] */
int ptrace_signal(int sig, struct siginfo *info);
/* A stop of the process or of the debugger's is due for current, which is traced. [S, released meanwhile] */
void ptrace_trap(void);
/* A stop of the process of t begins or ends, and t is seized. [S] */
void ptrace_trap_notify(struct task_struct *t);

/*
 * A system call of a task with TIF_SYSCALL_TRACE, before it, and also with TIF_SINGLESTEP, after it. enter: the number
 * that is to be called, NO_SYSCALL: none, and regs hold the result. Thread context.
 */
int ptrace_syscall_enter(struct pt_regs *regs);
void ptrace_syscall_exit(struct pt_regs *regs);

/* A single step has ended in a signal handler. Thread context, no lock. */
void ptrace_stepped(void);

/* fork: the child begins untraced, not visible yet. */
void ptrace_reset(struct task_struct *child);
/* It gets the debugger of current, if `attach`. [T, and S of current; before it can be found] */
void ptrace_fork(struct task_struct *child, bool attach);
/* Is t traced by another process than the one that is its parent? [T] */
bool ptrace_reparented(const struct task_struct *t);
/* The debugger of t is gone, or t is. [T, not S] */
void ptrace_unlink(struct task_struct *t);
/*
 * Another process's debugger has waited for the end of this leader, whose parent is told now. True: it is still a
 * zombie; false: the parent does not want it. [T]
 */
bool ptrace_detach_zombie(struct task_struct *leader);
/* A debugger ends: its tracees go on, or die with it. Those that nobody waits for are moved to `dead`. [T] */
void ptrace_exit_tracer(struct task_struct *tracer, struct list_head *dead);

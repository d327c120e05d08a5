/*
 * What a debugger does to the task that it traces, its tracee. The room kernel/proc/ptrace lets programs be debuggers;
 * where it is left out, no task ever is a tracee. Numbers and names are those of ptrace(2).
 *
 * The rest of kernel/proc knows a tracee by task->ptrace, which is 0 for any other task. So a task that no program
 * debugs pays for one test where a debugger may want to know of something. Locks: T tasklist_lock, S the siglock of the
 * tracee.
 */
#pragma once

#include <lib/types.h>
#include <sched/current.h>
#include <sched/task.h>

struct list_head;
struct pt_regs;
struct siginfo;

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

/*
 * All members are called for a tracee alone, that is, after task->ptrace was found set; exit_tracer, for a task with
 * tracees. Except under T or S the debugger may have gone meanwhile, and then there is nothing to do. A stop sleeps.
 */
struct debugger_ops {
	/*
	 * One of PTRACE_EVENT_FORK to _EXIT happens to current, which stops if the debugger has asked for the event;
	 * `message` is what the debugger gets to read: a task's number, or the status of an exit. _EXEC: execve has
	 * succeeded, and the number is what the task had before. _EXIT: the task has all that it had. Thread context,
	 * no lock.
	 */
	void (*event)(unsigned event, unsigned long message);
	/* get_signal() takes this signal for current; the debugger may change it. 0: none. [S, released meanwhile] */
	int (*signal)(int sig, struct siginfo *info);
	/* A stop of the process or of the debugger's is due for current. [S, released meanwhile] */
	void (*trap)(void);
	/* A stop of the process of t begins or ends, and t is seized (PT_SEIZED). [S] */
	void (*trap_notify)(struct task_struct *t);
	/*
	 * Before a system call of current, which has TIF_SYSCALL_TRACE. The number that is to be called; NO_SYSCALL: no
	 * call is made, and regs hold the result. Thread context.
	 */
	int (*syscall_enter)(struct pt_regs *regs);
	/* After it, or with TIF_SINGLESTEP alone. Thread context. */
	void (*syscall_exit)(struct pt_regs *regs);
	/* A single step has ended in a signal handler. Thread context, no lock. */
	void (*stepped)(void);
	/* The child of current gets the same debugger. [T, and S of current; before the child can be found] */
	void (*fork)(struct task_struct *child);
	/* The debugger of t is gone, or t is. [T, not S] */
	void (*unlink)(struct task_struct *t);
	/* A debugger ends: its tracees go on, or die with it. Those that no task waits for are moved to `dead`. [T] */
	void (*exit_tracer)(struct task_struct *tracer, struct list_head *dead);
};
/* One room at most registers itself. */
#define REGISTER_DEBUGGER(ops) REGISTER_IN(debuggers, ops)
DECLARE_TABLE(debuggers, const struct debugger_ops);

/* Only for a tracee, without which there may be no such room. Any context. */
static inline const struct debugger_ops *debugger(void)
{
	return __start_ptrs_debuggers[0];
}

/* Is the current task traced, and has its debugger asked for this event? Its own flags: no lock, may be old. */
static inline bool debugger_wants(unsigned event)
{
	return READ_ONCE(current->ptrace) & (1U << event << PT_OPT_SHIFT);
}

/* Does current have a debugger that must not see it take the rights of a set-user-id program? exec_guard held. */
static inline bool debugger_forbids_setid(void)
{
	return (current->ptrace & (PT_PTRACED | PT_CAP)) == PT_PTRACED;
}

/* Is t traced by another process than the one that is its parent? [T] */
static inline bool debugged_by_other(const struct task_struct *t)
{
	return t->ptrace && t->tracer->group_leader != t->group_leader->parent;
}

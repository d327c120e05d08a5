/* Numbers of clone(2) and of the scheduling system calls (Linux's generic ABI). */
#pragma once

/* clone(2), clone3(2). */
#define CLONE_VM	     0x00000100
#define CLONE_FS	     0x00000200
#define CLONE_FILES	     0x00000400
#define CLONE_SIGHAND	     0x00000800
#define CLONE_PIDFD	     0x00001000
#define CLONE_PTRACE	     0x00002000
#define CLONE_VFORK	     0x00004000
#define CLONE_PARENT	     0x00008000
#define CLONE_THREAD	     0x00010000
#define CLONE_SYSVSEM	     0x00040000
#define CLONE_SETTLS	     0x00080000
#define CLONE_PARENT_SETTID  0x00100000
#define CLONE_CHILD_CLEARTID 0x00200000
#define CLONE_DETACHED	     0x00400000
#define CLONE_CLEAR_SIGHAND  0x100000000ULL /* clone3 only */
#define CLONE_UNTRACED	     0x00800000
#define CLONE_CHILD_SETTID   0x01000000
/* Namespaces: a kernel without them refuses these. */
#define CLONE_NEWTIME	0x00000080
#define CLONE_NEWNS	0x00020000
#define CLONE_NEWCGROUP 0x02000000
#define CLONE_NEWUTS	0x04000000
#define CLONE_NEWIPC	0x08000000
#define CLONE_NEWUSER	0x10000000
#define CLONE_NEWPID	0x20000000
#define CLONE_NEWNET	0x40000000
#define CSIGNAL		0x000000ff /* clone(2): low bits of the flags are the signal to the parent */

/* Policies. A program calls the first SCHED_OTHER. */
#define SCHED_NORMAL	    0
#define SCHED_FIFO	    1
#define SCHED_RR	    2
#define SCHED_BATCH	    3
#define SCHED_IDLE	    5
#define SCHED_DEADLINE	    6
#define SCHED_RESET_ON_FORK 0x40000000 /* or'ed into the policy of sched_setscheduler */

/* sched_attr.sched_flags */
#define SCHED_FLAG_RESET_ON_FORK 0x01
#define SCHED_FLAG_DL_OVERRUN	 0x04 /* SIGXCPU when the budget is used up */
#define SCHED_FLAG_KEEP_POLICY	 0x08 /* and reset-on-fork */
#define SCHED_FLAG_KEEP_PARAMS	 0x10
#define SCHED_FLAG_UTIL_CLAMP	 0x60

/* Those that a call may carry. */
#define SCHED_FLAGS_TASK (SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_KEEP_POLICY | SCHED_FLAG_KEEP_PARAMS)
#define SCHED_FLAGS	 (SCHED_FLAGS_TASK | SCHED_FLAG_DL_OVERRUN)

/* struct task_struct: everything the kernel knows of one thread of control. */
#pragma once

#include <arch/thread.h>
#include <lib/atomic.h>
#include <lib/list.h>
#include <lib/rbtree.h>
#include <lib/types.h>
#include <sched/dl_params.h>
#include <sched/spinlock_types.h>
#include <time/hrtimer.h>
#include <uapi/sched.h> /* the policies */

#define TASK_COMM_LEN 16
#define THREAD_SHIFT  14
#define THREAD_SIZE   (1UL << THREAD_SHIFT) /* bytes of kernel stack, with an unmapped guard page below */

/* Task states, with Linux's numbers (sched_switch prints them). */
#define TASK_RUNNING	     0x0000
#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define __TASK_STOPPED	     0x0004
#define __TASK_TRACED	     0x0008
#define EXIT_DEAD	     0x0010
#define EXIT_ZOMBIE	     0x0020
#define TASK_PARKED	     0x0040
#define TASK_DEAD	     0x0080
#define TASK_WAKEKILL	     0x0100
#define TASK_WAKING	     0x0200 /* between a wake-up's decision and the runqueue */
#define TASK_NOLOAD	     0x0400
#define TASK_NEW	     0x0800
#define TASK_KILLABLE	     (TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)
#define TASK_STOPPED	     (TASK_WAKEKILL | __TASK_STOPPED)
#define TASK_TRACED	     __TASK_TRACED /* SIGKILL ends it only where signal_wake_up() says so */
#define TASK_IDLE	     (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)
#define TASK_NORMAL	     (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)

/* thread_flags: set by anybody with atomic operations, looked at on the way to user space and by preempt_enable. */
#define TIF_SIGPENDING	    0
#define TIF_NEED_RESCHED    1
#define TIF_NOTIFY_RESUME   2  /* task work to do */
#define TIF_SINGLESTEP	    3  /* a debugger is told of each instruction */
#define TIF_SYSCALL_TRACE   8  /* a debugger is told of each system call */
#define TIF_POLLING_NRFLAG  16 /* idle and looking at need_resched by itself: no interrupt needed */
#define TIF_FORCED_TF	    24 /* x86_64: the trap flag is the debugger's, and not the program's */
#define _TIF_SIGPENDING	    (1U << TIF_SIGPENDING)
#define _TIF_NEED_RESCHED   (1U << TIF_NEED_RESCHED)
#define _TIF_NOTIFY_RESUME  (1U << TIF_NOTIFY_RESUME)
#define _TIF_SYSCALL_TRACE  (1U << TIF_SYSCALL_TRACE)
#define _TIF_POLLING_NRFLAG (1U << TIF_POLLING_NRFLAG)
#define _TIF_SINGLESTEP	    (1U << TIF_SINGLESTEP)
#define _TIF_WORK_MASK	    (_TIF_SIGPENDING | _TIF_NEED_RESCHED | _TIF_NOTIFY_RESUME)

/* task->flags, written by the task itself (or before it runs). */
#define PF_IDLE		   0x00000002
#define PF_EXITING	   0x00000004
#define PF_WQ_WORKER	   0x00000020
#define PF_FORKNOEXEC	   0x00000040
#define PF_SIGNALED	   0x00000400
#define PF_AWAITS_CHILDREN 0x00000800 /* a kernel thread that calls kernel_wait4() */
#define PF_NPROC_EXCEEDED  0x00001000 /* set_user() found too many tasks: exec looks again */
#define PF_KTHREAD	   0x00200000
#define PF_NO_SETAFFINITY  0x04000000

/*
 * Priorities in the kernel's scale: -1 deadline, 0..99 real time (99 - rt_priority),
 * 100..139 nice.
 */
#define MAX_DL_PRIO  0
#define MAX_RT_PRIO  100
#define MAX_PRIO     140
#define DEFAULT_PRIO 120

/* What a number can be besides a task's. */
enum pid_type { PIDTYPE_PGID, PIDTYPE_SID, NR_PID_TYPES };

struct sched_class;
struct mm_struct;
struct files_struct;
struct fs_struct;
struct signal_struct;
struct sighand_struct;
struct cfs_rq;
struct pi_futex;
struct pi_waiter;
struct completion;
struct file;
struct fgraph_stack;
struct siginfo;
struct uprobe_task;
struct user_struct;

/* A callback after a grace period, see call_rcu() in <sched/sched.h>. */
struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *);
};

/* Fair class. Locks: r the lock of the runqueue the task is on. */
struct sched_entity {
	struct rb_node run_node;   /* [r] */
	u64 vruntime;		   /* [r] weighted ns of CPU */
	u64 exec_start;		   /* [r] clock when last accounted, ns */
	u64 sum_exec_runtime;	   /* [r] ns, all classes */
	u64 prev_sum_exec_runtime; /* [r] sum when the current slice began */
	u64 nr_migrations;	   /* [r] */
	unsigned long weight;	   /* [r] by nice */
	u32 inv_weight;		   /* [r] 2^32 / weight */
	bool on_rq;		   /* [r] */
};
/* For the events sched_stat_*: what it does, and since when; kept only while one of them is on. */
enum sched_stat_kind { SCHED_STAT_NONE, SCHED_STAT_WAIT, SCHED_STAT_SLEEP, SCHED_STAT_BLOCKED };
struct sched_stat {
	u64 since;		   /* [r] ns */
	enum sched_stat_kind kind; /* [r] */
};
struct sched_rt_entity {
	struct list_head run_list; /* [r] */
	s64 time_slice;		   /* [r] RR: ns left */
	u64 timeout;		   /* [r] ns since it last slept, by ticks: RLIMIT_RTTIME */
};

/* The split of CPU time that readers were told last. Locks: l shown_lock (kernel/sched/account/cputime.c). */
struct cputime_shown {
	u64 utime, stime; /* [l] ns */
};

/* What read(2), write(2) and their relatives have done: bytes and calls. Locks: t the task itself. */
struct task_io {
	u64 rchar, wchar, syscr, syscw; /* [t] */
};

/*
 * Deadline class: the task's constant-bandwidth server. Locks: r the lock of the runqueue the task is on, and where it
 * is asleep the pi_lock as well; p pi_lock. What it holds stays when the task leaves the class.
 */
struct sched_dl_entity {
	struct rb_node node;	 /* [r] in the runqueue's tree while `queued` */
	struct dl_params params; /* [p, r] runtime 0: never was in this class */
	u64 bw;			 /* [p, r] runtime / period << 20: its part of the sum that admission counts */
	u64 deadline;		 /* [r] the current one, sched_clock ns; 0: none yet */
	u64 replenish_at;	 /* [r] throttled: when its next period begins */
	s64 left;		 /* [r] ns of budget, negative: used too much */
	u32 flags;		 /* [p, r] SCHED_FLAG_DL_OVERRUN */
	u32 throttles;		 /* [r] how often it was: a waiting that saw it change was for budget */
	bool queued;		 /* [r] in the tree, waiting or running */
	bool throttled;		 /* [r] no budget: `timer` puts it back */
	bool overrun;		 /* [t clears, r sets] SIGXCPU is due */
	struct hrtimer timer;	 /* started with r held */
};

/*
 * The rights of a task, a bit for each capability (<proc/capability.h>). Locks: t the task itself; others read each set
 * whole.
 */
struct task_caps {
	u64 permitted;	 /* [t] what it may make effective */
	u64 effective;	 /* [t] what it acts with */
	u64 inheritable; /* [t] what may pass an exec of a file that asks for it, or of root */
	u64 bounding;	 /* [t] what an exec can give at most */
	u64 ambient;	 /* [t] what an exec of an ordinary file keeps */
	u32 securebits;	 /* [t] SECURE_*: how user 0 is treated */
};

typedef u64 sigset_t;
struct sigpending {
	struct list_head list; /* queued siginfo [sighand->siglock] */
	sigset_t signal;       /* [sighand->siglock] */
};

/*
 * Locks: r runqueue lock; p pi_lock; t the task itself; T tasklist_lock (writes), RCU or T for reads;
 *        S sighand->siglock;
 *        I immutable after fork; a atomic; f the task itself or its creator before it runs.
 * The first fields are what entry code and every preempt_disable touch: one cache line.
 */
struct task_struct {
	u32 thread_flags;  /* [a] TIF_* */
	u32 preempt_count; /* [t] and interrupts on top of it */
	u32 cpu;	   /* [r] where it runs or last ran */
	u32 flags;	   /* [t] PF_* */
	void *stack;	   /* [I] lowest address of its kernel stack */
	u32 state;	   /* [t sets, waker clears with p] */
	s32 on_cpu;	   /* [a] 1 while its context is live on a CPU; released last thing in the switch */
	s32 on_rq;	   /* [r] */
	s32 prio;	   /* [r] effective, -1..139 */
	s32 static_prio;   /* [r] 120 + nice */
	s32 normal_prio;   /* [r] */
	s32 pi_prio;	   /* [r] lent by tasks that wait for its futexes; MAX_PRIO: nothing is lent (futex_pi.c) */
	u32 rt_priority;   /* [r] 1..99 for FIFO and RR, else 0 */
	u32 policy;	   /* [r] SCHED_* */
	const struct sched_class *sched_class; /* [r] */
	struct sched_entity se;		       /* [r] */
	struct sched_rt_entity rt;	       /* [r] */
	struct sched_dl_entity dl;	       /* [r] */
	struct sched_stat stat;		       /* [r] */
	spinlock_t pi_lock;		       /* serialises wake-up against changes of policy and affinity */
	unsigned long cpus_mask[1];	       /* [p, r] allowed CPUs (NR_CPUS <= 64) */
	u32 nr_cpus_allowed;		       /* [p, r] bits in cpus_mask */
	bool contributes_to_load;	       /* [r] asleep uninterruptibly: counted in the load average */
	bool sched_reset_on_fork;	       /* [r] children start as SCHED_NORMAL */
	u64 nvcsw, nivcsw;		       /* [r] voluntary and involuntary switches */
	u64 start_time;			       /* [I] ns since boot */
	u64 utime, stime;		       /* [t] ns */
	struct cputime_shown shown;	       /* by task_cputime_adjusted() */
	u64 min_flt;			       /* [t] page faults; all are minor, since no page waits for a disk */
	struct task_io io;		       /* [t] */

	pid_t pid, tgid;		  /* [I] thread and process id */
	char comm[TASK_COMM_LEN];	  /* [t writes; readers may see a mix while it changes] */
	u32 comm_noted;			  /* [a] tracing knows pid and comm, since its round of this number; 0: not */
	struct task_struct *parent;	  /* [T] who gets SIGCHLD and may wait */
	struct list_head children;	  /* [T] that live, or whose threads do */
	struct list_head zombies;	  /* [T] children that can be waited for, in the order of their deaths */
	struct list_head sibling;	  /* [T] in one of the parent's two */
	struct list_head tasks;		  /* [T] all processes (group leaders) */
	struct list_head thread_group;	  /* [T] threads of this process, the leader's is the head */
	struct task_struct *group_leader; /* [I] */
	struct hlist_node pid_node;	  /* [T] hash by pid */
	atomic_t usage;			  /* references; the last put frees struct and stack */
	struct rcu_head rcu;		  /* frees it after a grace period */
	int exit_state;			  /* [T] 0, EXIT_ZOMBIE, EXIT_DEAD */
	int exit_code;			  /* [t] as wait(2) shows it */
	int exit_signal;		  /* [I] to the parent; -1 for threads that are not leaders */
	u32 *clear_child_tid;		  /* [t] user address, CLONE_CHILD_CLEARTID */
	struct completion *vfork_done;	  /* [t] */

	struct mm_struct *mm;		/* [t, p] NULL: kernel thread, or at its end */
	bool was_dumpable;		/* [p] could others of the same user look into the memory that it had? */
	struct mm_struct *active_mm;	/* [r] address space in use, borrowed by kernel threads */
	struct files_struct *files;	/* [t] */
	struct fs_struct *fs;		/* [t] root, cwd, umask */
	struct signal_struct *signal;	/* [I] shared by the threads of a process */
	struct sighand_struct *sighand; /* [I] */
	sigset_t blocked;		/* [t writes under S] */
	sigset_t saved_sigmask;		/* [t] restored when sigsuspend returns */
	bool restore_sigmask;		/* [t] */
	sigset_t real_blocked;		/* [t writes under S] blocked, but for what sigtimedwait waits for; else 0 */
	struct sigpending pending;	/* [S] to this thread */
	u32 jobctl;			/* [S] JOB_*: stops that are due, and what a debugger does with one */
	unsigned long sas_ss_sp, sas_ss_size;	  /* [t] sigaltstack */
	int sas_ss_flags;			  /* [t] */
	long (*restart_fn)(struct task_struct *); /* [t] restart_syscall's continuation */
	u64 restart_data[4];			  /* [t] its arguments */
	void *kthread_data;			  /* [I] struct kthread */
	u32 uid, euid, gid, egid;		  /* [t] */
	u32 suid, sgid;				  /* [t] saved ids */
	u32 fsuid, fsgid;	    /* [t] those that count for files: euid and egid, but for setfsuid and access */
	struct task_caps caps;	    /* [t] */
	bool no_new_privs;	    /* [t] exec gives no rights, for good */
	u32 self_exec_id;	    /* [t] counts the programs it has executed */
	u32 parent_exec_id;	    /* [I] the parent's at the birth */
	struct user_struct *user;   /* [t, RCU] counts for uid's tasks, with a reference */
	struct group_info *groups;  /* [t] supplementary groups, shared by reference; NULL: none */
	void *robust_list;	    /* [t] user address of the list of held futexes */
	struct pi_futex *pi_owns;   /* [futex_pi_mutex] locks of its that others wait for */
	struct pi_waiter *pi_waits; /* [futex_pi_mutex] the one that it waits for; NULL: none */
	bool pi_closed;		    /* [futex_pi_mutex] it has given up all, and gets no waiters any more */
	void *rseq;		    /* [t] user address of its struct rseq; NULL: not registered */
	u32 rseq_sig;		    /* [t] the word that must stand before the handlers of its sequences */
	u32 personality;	    /* [t] as personality(2) has set it, of any bits */
	u64 timer_slack_ns;	    /* [a] how late its sleeps may end (sched/timerslack.h) */
	u64 default_timer_slack_ns; /* [I] what its creator had */
	int pdeath_signal;	    /* [t] to send when the parent ends, 0 none */
	unsigned fail_nth;	    /* [a] this allocation from now fails (mm/fault_inject.h); 0: it asks for none */
	bool make_it_fail;	    /* [a] faults that go by chance may hit it, where they choose by task */

	/* The debugger (kernel/proc/ptrace). Written with T and S held; one of the two suffices to read. */
	u32 ptrace;		       /* [TS] PT_*; 0: no debugger */
	struct task_struct *tracer;    /* [TS] the thread that may make requests */
	struct list_head ptraced;      /* [T] the tasks that this thread debugs */
	struct list_head ptrace_entry; /* [T] in the list of its tracer */
	int ptrace_code;	       /* [S] in a stop: what a wait will tell, then the signal to go on with */
	unsigned long ptrace_message;  /* [S] in a stop: PTRACE_GETEVENTMSG */
	struct siginfo *ptrace_info;   /* [S] in a stop: its siginfo, on the tracee's stack; NULL: it has none */
	pid_t parent_tid;	       /* [T] the thread of the parent that has made it, or the heir of that one */

	struct uprobe_task
		*utask;	      /* [t] calls of probed functions whose return is hooked (trace/uprobes); NULL: no such */
	u64 uprobe_round;     /* [t] it calls handlers of a uprobe, since this round (trace/uprobes/hits.c); 0: not */
	bool uprobe_stepping; /* [t] it is stepped out of a slot of a uprobe, so that a signal can come */

	struct fgraph_stack *ret_stack; /* [a] calls whose return is traced (trace/fgraph.h); NULL: none is hooked */

	struct thread_struct thread; /* [t, switch] registers while not running (arch) */
};

#include <sched/task_inline.h>

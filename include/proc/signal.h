/* Signals, with Linux's numbers and structures. */
#pragma once

#include <lib/list.h>
#include <lib/types.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <time/hrtimer.h>
#include <sched/wait.h>
#include <uapi/signal.h>

/*
 * task->jobctl. The first three are stops that are due: the task looks at them in get_signal(). The others describe the
 * stop for a debugger in which it stands.
 */
#define JOB_STOP_PENDING 0x01u /* the process stops, and this thread has not stood still yet */
#define JOB_TRAP_STOP	 0x02u /* a debugger wants it to stop */
#define JOB_TRAP_NOTIFY	 0x04u /* a stop of the process begins or ends: the debugger is to know */
#define JOB_PENDING	 0x07u
#define JOB_TRACED	 0x10u /* it stands still for its debugger */
#define JOB_LISTENING	 0x20u /* it does, but news of the process's stop end that: PTRACE_LISTEN */
#define JOB_FROZEN	 0x40u /* a request of its debugger is under way: not even SIGKILL wakes it */
#define JOB_TRAPPING	 0x80u /* a stop of the process is about to become one for the debugger, who waits for it */

#define NSIG	     64
#define SIG_DFL	     ((void *)0)
#define SIG_IGN	     ((void *)1)
#define sigmask(sig) (1UL << ((sig)-1))

/* The user's struct sigaction, as rt_sigaction(2) passes it (the same on both machines). */
struct sigaction {
	void (*sa_handler)(int);
	unsigned long sa_flags;
	void (*sa_restorer)(void);
	sigset_t sa_mask;
};
/* As the ABI has it: 128 bytes. */
typedef struct siginfo {
	int si_signo, si_errno, si_code, pad0;
	union {
		struct {
			pid_t si_pid;
			uid_t si_uid;
			union {
				struct {
					int si_status, si_pad;
					s64 si_utime, si_stime;
				};
				u64 si_value;
			};
		};
		struct {
			void *si_addr;
		};
		struct { /* what a file is ready for */
			s64 si_band;
			int si_fd;
		};
		u8 pad[112];
	};
} siginfo_t;
static_assert(sizeof(siginfo_t) == 128);

/* Handlers; shared with CLONE_SIGHAND. Locks: S siglock, taken with interrupts off. */
struct sighand_struct {
	atomic_t count;
	spinlock_t siglock;
	struct sigaction action[NSIG]; /* [S] */
};
/* The clocks by which a process's CPU time is measured for limits and timers. */
enum cpu_clock {
	CPU_CLOCK_USER, /* in user mode: ITIMER_VIRTUAL */
	CPU_CLOCK_ALL,	/* and in the kernel: ITIMER_PROF, RLIMIT_CPU */
	NR_CPU_CLOCKS,
};
struct cpu_itimer {
	u64 expires;  /* [S, read without it at the tick] time of its clock, ns; 0: stopped */
	u64 interval; /* [S] 0: it ends once */
};
/* What the threads of a process share. */
struct signal_struct {
	atomic_t sigcnt;
	struct sigpending shared_pending; /* [S] */
	wait_queue_head_t wait_chldexit;  /* parents sleep here in wait4 */
	wait_queue_head_t pidfd_wait;	  /* who polls a pidfd of the process */
	int group_exit;			  /* [S] the process is going: code below */
	int group_exit_code;		  /* [S] */
	int stop_code;			  /* [S] signal that stopped it, for wait4; 0 once reported */
	bool stopped, continued;	  /* [S] */
	int nr_threads;			  /* [T] not yet released */
	int live;			  /* [S] threads that have not begun to exit */
	int stop_sig;			  /* [S] with stopped: the signal; stop_code follows when all threads stand */
	int stop_left;			  /* [S] threads that the stop still waits for: those with JOB_STOP_PENDING */
	bool stop_done;			  /* [S] all stood still once, and the parent was told */
	bool stop_dequeued;		  /* [S] a stop signal is being looked at; SIGCONT and SIGKILL take it back */
	int cld_notify;			/* [S] CLD_CONTINUED to be told to the parent by whoever comes to get_signal */
	u32 sent_to_many;		/* [T] signals that came to it as to one of several processes: see fork.c */
	bool child_subreaper;		/* [a] it inherits its descendants' children: prctl(2) */
	bool unkillable;		/* [S] init: signals it does not handle are dropped */
	struct task_struct *group_exec; /* [S, cleared with T] thread that runs exec: all others are to go */
	struct mutex exec_guard;	/* exec takes new ids, or a debugger comes: never both at a time */
	struct task_struct *leader;	/* [T, S] found by way of the signal_struct (timers) */
	union {
		struct {
			pid_t pgrp, session; /* [T] */
		};
		pid_t group_nr[NR_PID_TYPES]; /* [T] the same, by enum pid_type */
	};
	struct list_head group_node[NR_PID_TYPES];  /* [T] among the processes of its group, its session */
	u64 joined;				    /* [T] rises along the group's list */
	u64 birth;				    /* [I] rises along the list of processes */
	struct tty_struct *tty;			    /* [T] controlling terminal */
	pid_t tty_old_pgrp;			    /* [T] a leader's: the foreground of one that was hung up */
	u64 utime, stime;			    /* [S] of threads that ended, ns */
	u64 nvcsw, nivcsw;			    /* [S] likewise: switches */
	u64 min_flt;				    /* [S] likewise: page faults */
	struct task_io io;			    /* [S] likewise */
	u64 cutime, cstime;			    /* [S] of waited-for children, ns */
	u64 cnvcsw, cnivcsw;			    /* [S] */
	u64 cmin_flt;				    /* [S] */
	struct hrtimer real_timer;		    /* setitimer, alarm */
	u64 it_interval;			    /* [S] */
	u64 cpu_clock[NR_CPU_CLOCKS];		    /* [a] CPU time of all threads as the ticks saw it, ns */
	struct cpu_itimer cpu_timer[NR_CPU_CLOCKS]; /* setitimer: ITIMER_VIRTUAL, ITIMER_PROF */
	struct list_head posix_timers;		    /* [S] those of timer_create */
	int next_timer_id;			    /* [S] */
	u64 cpu_timers_due;    /* [S, read without it at the tick] when to look at those of CPU time */
	u64 rlim[16][2];       /* [S] cur, max by RLIMIT_* */
	int oom_score_adj;     /* [a, written under oom_mutex] see <mm/oom.h> */
	int oom_score_adj_min; /* [oom_mutex] what root set last: others may not go below */
	atomic_t oom_origin;   /* [a] how many large requests its threads make now: if any, it is the first victim */
};

/*
 * p->sighand, locked, interrupts off. The caller holds a reference to p (or RCU, or tasklist_lock). A task
 * that shares its handlers gets a new sighand in exec: hence the check under the lock, and never a bare
 * spin_lock.
 */
struct sighand_struct *lock_task_sighand(struct task_struct *p, unsigned long *flags);
void unlock_task_sighand(struct sighand_struct *sighand, unsigned long flags);

/*
 * Send a signal to the process of p; any thread of it may take it. `priv`: the kernel sends it, and even init cannot
 * ignore it; else it comes from the current process, as by kill(2). Returns 0, -EINVAL for a number that is no signal,
 * -EAGAIN when a real-time signal found no room, -ESRCH when the process has been waited for. Takes siglock; any
 * context but nmi, interrupts may be off. The caller may hold tasklist_lock if it has found p under it.
 */
int send_sig(int sig, struct task_struct *p, int priv);
/* The same with a siginfo of the caller's, which is copied. */
int send_sig_info(int sig, struct siginfo *info, struct task_struct *p);
/*
 * The current task has caused a fault: it gets the signal even if it blocks or ignores it, and then dies of it, because
 * the instruction would fault for ever. Thread context.
 */
void force_sig_fault(int sig, int code, unsigned long addr);
/* The same to this thread alone; -ESRCH when it has been released. */
int send_sig_thread(int sig, struct siginfo *info, struct task_struct *p);
/* Send to all processes of a group, as ^C of a terminal does. -ESRCH when it is empty. Takes tasklist_lock. */
int kill_pgrp(pid_t pgrp, int sig);
/* exec, and clone3 that asks for it: handlers become the default, ignored signals stay ignored. [S, or t is new] */
void flush_signal_handlers(struct task_struct *t);
/* Is the task about to be killed, so that a sleep in the kernel must end? No lock. */
bool fatal_signal_pending(struct task_struct *t);
/* Set or clear current's TIF_SIGPENDING by what is pending and not blocked. [S] */
void recalc_sigpending(void);

/* ---- With siglock held [S] */

/* As send_sig_info(), or (group false) send_sig_thread(). */
int send_signal_locked(int sig, struct siginfo *info, struct task_struct *p, bool group);
/*
 * t has a signal to look at: wake it, or interrupt it in user mode. fatal: wake it from TASK_KILLABLE sleeps as well.
 */
void signal_wake_up(struct task_struct *t, bool fatal);
/* The same from a sleep in one of these states, or from one that any signal ends. */
void signal_wake_up_state(struct task_struct *t, unsigned states);
void zap_other_threads(struct task_struct *t); /* SIGKILL for all threads of the process but t */
/*
 * A stop of the process: t is to take part, or does so now. True: t was the last one that the stop waited for, so the
 * parent is to be told. (kernel/proc/signal/signal.c)
 */
void want_group_stop(struct task_struct *t);
bool join_group_stop(struct task_struct *t);
/* Tell the parent that a child stopped or goes on. [T, not S] */
void do_notify_parent_cldstop(struct task_struct *leader, int why);
/* Tell the parent that its child ended. True when the parent will not wait for it. [T, not S] */
bool do_notify_parent(struct task_struct *p, int sig);
void do_notify_tracer(struct task_struct *t, int why); /* CLD_TRAPPED, CLD_STOPPED: t stands in a stop. [T, not S] */
void flush_sigqueue(struct sigpending *q);	       /* [S], or no other task can find it */
/* Is there no process that could continue the group after a stop? [T] */
bool is_orphaned_pgrp(pid_t pgrp, struct task_struct *ignore);
void kill_orphaned_pgrp(struct task_struct *leader, struct task_struct *parent); /* exit: SIGHUP, SIGCONT [T] */
extern atomic_t nr_stopped_groups; /* processes with signal->stopped; 0 spares exit the search for orphans */
/*
 * The thread begins to exit with this code (as wait4 has it): it takes no more signals for its process. True: it is the
 * last one to do so.
 */
bool exit_signals(struct task_struct *t, long code);
void set_current_blocked(sigset_t set); /* SIGKILL and SIGSTOP left out */
/* sigsuspend, ppoll, pselect: block `set` until the call returns to user mode; the old mask comes back
 * then. */
void set_restore_sigmask_to(sigset_t set);
#define signal_group_exit(sig) ((sig)->group_exit || (sig)->group_exec)

/* For ppoll and the like: the end of the call. Interrupted: get_signal's end restores the mask, else this
 * does. */
void restore_saved_sigmask_unless(bool interrupted);

/* Queues of signals (kernel/proc/signal/signal_queue.c), all [S]. */
#define SIG_KERNEL_STOP	  (sigmask(SIGSTOP) | sigmask(SIGTSTP) | sigmask(SIGTTIN) | sigmask(SIGTTOU))
#define SIG_KERNEL_IGNORE (sigmask(SIGCONT) | sigmask(SIGCHLD) | sigmask(SIGWINCH) | sigmask(SIGURG))
#define SIG_KERNEL_CORE                                                                               \
	(sigmask(SIGQUIT) | sigmask(SIGILL) | sigmask(SIGTRAP) | sigmask(SIGABRT) | sigmask(SIGFPE) | \
	 sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGSYS) | sigmask(SIGXCPU) | sigmask(SIGXFSZ))
#define SIG_UNBLOCKABLE (sigmask(SIGKILL) | sigmask(SIGSTOP))
/* Status of a process that this signal ended, with the bit that says "core" where Linux would write one. */
#define signal_exit_code(sig) ((sig) | (sigmask(sig) & SIG_KERNEL_CORE ? 0x80 : 0))
/* What has become of a signal that was sent; Linux's numbers, which the event signal_generate shows. */
enum signal_result {
	SIGNAL_DELIVERED,
	SIGNAL_IGNORED,
	SIGNAL_ALREADY_PENDING,
	SIGNAL_OVERFLOW,  /* the only one that is an error: not queued */
	SIGNAL_LOSE_INFO, /* no memory for its siginfo */
};
/* To t, into its own queue or its process's. */
enum signal_result sigqueue_add(struct task_struct *t, struct sigpending *q, int sig, const struct siginfo *info);
void sigqueue_remove(struct sigpending *q, sigset_t set);
/* Entries of timers: made before they are needed, and used again. */
struct sigqueue;
struct k_itimer;
struct sigqueue *sigqueue_alloc_timer(struct k_itimer *timer);
void sigqueue_add_timer(struct sigqueue *q, struct sigpending *pending, const struct siginfo *info);
void sigqueue_take_back(struct sigqueue *q);
void sigqueue_free(struct sigqueue *q);
/* Send it with this siginfo, to the process of p or (group false) to p. True: sent; false: p ignores it. */
bool send_sigqueue(struct sigqueue *q, struct siginfo *info, struct task_struct *p, bool group);
/* Take a pending signal that is not in `mask`, own ones first; 0: none. For current. */
int dequeue_signal(sigset_t mask, struct siginfo *info);
bool sig_handler_ignored(struct task_struct *p, int sig); /* SIG_IGN, or SIG_DFL for one that does nothing */
void end_group_stop(struct task_struct *p);
/* Fill in for a signal that current sends with kill(2). */
void siginfo_from_user(struct siginfo *info, int sig, int code);

/* Readers of signals (signalfd(2)), which a signal wakes when it is sent. */
extern wait_queue_head_t signalfd_wait;
/* kernel/proc/signal/kill.c: what a program may claim in a siginfo for this process: 0 or -EPERM. */
int check_siginfo(const struct siginfo *info, pid_t target);
/* kill(2) of a process that is held: the right, the number. 0, -EINVAL, -EPERM, -EAGAIN, -ESRCH. Thread context. */
int kill_process(int sig, struct siginfo *info, struct task_struct *p);

/* A signal picked for delivery to a handler. */
struct ksignal {
	struct sigaction ka;
	struct siginfo info;
	int sig;
};
/* Next signal with a handler; performs default actions itself (may not return). Context: on the way to user
 * mode, interrupts on. */
bool get_signal(struct ksignal *ksig);
/* After the frame was set up (or failed: SIGSEGV). */
void signal_setup_done(int failed, struct ksignal *ksig);
/* On the way to user mode with work flags set; called by the arch with interrupts off, returns with them
 * off. */
void do_notify_resume(struct pt_regs *regs, u32 thread_flags);

/* The scheduler's interface to the rest of the kernel. */
#pragma once

#include <lib/errno.h>
#include <sched/current.h>
#include <sched/preempt.h>
#include <sched/task.h>

struct cpumask;

/*
 * Boot, before the first interrupt and after setup_per_cpu_areas: runqueues; init_task becomes the boot CPU's
 * idle task.
 */
void sched_init(void);
/* Make `idle` (from fork_idle) the idle task of `cpu`. Boot, before that CPU runs. */
void init_idle(struct task_struct *idle, int cpu);
void cpu_startup_entry(void) __noreturn; /* becomes this CPU's idle loop (do_idle) */

/*
 * Give up the CPU. State TASK_RUNNING: stays runnable; another state: sleeps until woken, unless a signal is pending
 * for an interruptible sleep. Context: thread, preemption and interrupts on.
 */
void schedule(void);
void schedule_idle(void); /* the idle loop's: preemption stays off, the state is not looked at */
/* The end of a task: sets TASK_DEAD and leaves the CPU for good. Context: do_exit, preemption on. */
void do_task_dead(void) __noreturn;
/* Sleep at most `timeout` ns (clock monotonic); returns what was left, 0 when it ran out. Set the state before. */
s64 schedule_timeout_ns(s64 timeout);
void io_schedule(void);
int cond_resched(void); /* 1 when it scheduled */

#define set_current_state(s)   smp_store_mb(current->state, (s))
#define __set_current_state(s) WRITE_ONCE(current->state, (s))

/*
 * Make a sleeping task runnable if its state is in `mask`. Orders: everything the waker wrote before is visible to
 * the task when it runs on. Context: any but nmi. Returns true when it woke it.
 */
bool try_to_wake_up(struct task_struct *p, unsigned mask);
bool wake_up_process(struct task_struct *p); /* TASK_NORMAL */
bool wake_up_state(struct task_struct *p, unsigned mask);
/* Priority inheritance: the best priority that p is lent, in the kernel's scale; MAX_PRIO: none. Thread context. */
void sched_set_pi_prio(struct task_struct *p, int prio);
/* First time on a runqueue, after fork. */
void wake_up_new_task(struct task_struct *p);
/* Parts of fork: scheduler fields of the child (not yet runnable). */
int sched_fork(struct task_struct *p, u64 clone_flags);
/* p ends: what it was promised others may have, before its parent is told. Context: p itself. */
void sched_exit(struct task_struct *p);
/* After its last switch: drops the scheduler's reference (fork starts with 2). */
void sched_dead(struct task_struct *p);
void schedule_tail(struct task_struct *prev); /* first thing a new task runs: ends the switch that led to it */

/*
 * The flag alone, its runqueue locked; resched_cpu() sets it for what a CPU runs and interrupts that CPU. Any context
 * but nmi.
 */
void set_tsk_need_resched(struct task_struct *p);
void resched_cpu(int cpu);

/* Returns when p runs on an allowed CPU, or will when it runs next. -EINVAL when no online CPU is in mask. Sleeps. */
int sched_setaffinity(struct task_struct *p, const struct cpumask *mask);
void do_sched_yield(void);
void sched_notify_resume(void); /* on the way to user space, for TIF_NOTIFY_RESUME: a deadline task's SIGXCPU */
u64 sched_rr_interval_ns(struct task_struct *p); /* 0: runs as long as it likes (FIFO) */
int task_nice(const struct task_struct *p);
/*
 * For threads of the kernel and of modules: no rights are asked for. set_fifo: priority 50; low: 1; _priority: 1 to 99.
 * Any context but nmi.
 */
void set_user_nice(struct task_struct *p, long nice);
void sched_set_fifo(struct task_struct *p);
void sched_set_fifo_low(struct task_struct *p);
void sched_set_fifo_priority(struct task_struct *p, unsigned priority);
void sched_set_normal(struct task_struct *p, int nice);
/* Is p running on a CPU at this moment (not merely runnable)? */
bool task_curr(const struct task_struct *p);
/* Waits until p, which no longer is runnable, has left its CPU. */
void wait_task_inactive(struct task_struct *p);
/*
 * CPU time so far, ns, exact to now also for a task that runs. The parts are sampled by ticks, their sum is exact, and
 * neither part is ever less than it was for the reader before.
 */
u64 task_sched_runtime(struct task_struct *p);
void task_cputime_adjusted(struct task_struct *p, u64 *utime, u64 *stime);
/*
 * Split `total` in the proportion ut : st of the ticks, so that no part steps back behind what `shown` holds. Any
 * context but an NMI.
 */
void cputime_settle(struct cputime_shown *shown, u64 total, u64 ut, u64 st, u64 *utime, u64 *stime);
unsigned long nr_running(void);
u64 nr_context_switches(void);
u64 cpu_idle_ns(int cpu);
u64 cpu_offline_ns(int cpu); /* for which it was not there, since it first came up. Any context */
void cpu_times_ns(int cpu, u64 *user, u64 *system, u64 *idle); /* for /proc/stat */
void get_avenrun(u64 *loads);				       /* 1, 5, 15 minutes, fixed point 2^16 (as sysinfo(2)) */
void scheduler_tick(void);				       /* from the tick's hrtimer, interrupts off */
/* From the tick that ends, interrupts off: who sleeps now is active until the next tick. */
void calc_global_load_idle(u64 now);

/* The letter of a state in ps, /proc and traces: R S D T t X Z P I. */
char task_state_to_char(const struct task_struct *p);
/*
 * For state bits TASK_* | EXIT_*, such as sched_switch's prev_state: the place of their letter in the row R, S, D, T,
 * t, X, Z, P, I. Trace records keep this number. Any context.
 */
static __always_inline unsigned task_state_index(unsigned state)
{
	if ((state & TASK_IDLE) == TASK_IDLE)
		return 8;
	if (state & TASK_DEAD)
		return 5;
	state &= 0x7f;
	return state ? 32 - __builtin_clz(state) : 0;
}
/* The same as a bit, 0 for R: events keep that. */
static __always_inline unsigned task_state_bit(unsigned state)
{
	unsigned index = task_state_index(state);

	return index ? 1U << (index - 1) : 0;
}
/* The letter at that place. Any context. */
char task_index_to_char(unsigned index);

/* A CPU's idle task; it never changes. Any context. */
struct task_struct *idle_task(int cpu);
struct task_struct *curr_task(int cpu); /* the task that it runs, which cannot change while its runqueue is locked */
/*
 * fn for every runnable task of `cpu` but the idle one, in the order of classes, until it says false. Context: that
 * CPU's runqueue locked (as in the probes of sched_switch and of another task's sched_wakeup), or the machine stopped.
 * Not traced.
 */
void for_each_queued_task(int cpu, bool (*fn)(struct task_struct *p, void *data), void *data);

/*
 * Kernel threads (kernel/sched/kthread.c). A thread that was created has not run yet: wake_up_process starts it.
 * ERR_PTR: no memory, or no pid. May sleep. A thread ends when its function returns, and need not be waited for: it has
 * no exit_signal, so it is reaped by itself.
 */
struct task_struct *kthread_create(int (*fn)(void *), void *data, const char *namefmt, ...) __printf(3, 4);
struct task_struct *kthread_create_on_cpu(int (*fn)(void *), void *data, int cpu, const char *namefmt, ...)
	__printf(4, 5);
/* The same, and woken. */
struct task_struct *kthread_run(int (*fn)(void *), void *data, const char *namefmt, ...) __printf(3, 4);
bool kthread_should_stop(void);
/* Before its first wake-up: the thread runs on this CPU only. */
void kthread_bind(struct task_struct *p, unsigned cpu);
/* Ends the current kernel thread; kthread_stop() returns `result`. */
void kthread_exit(long result) __noreturn;
struct completion;
/* The same, and completes `c` (or NULL): a module that waits for it may go then, as the thread never returns there. */
void kthread_complete_and_exit(struct completion *c, long result) __noreturn;
/* Boot, after init's task: starts kthreadd (pid 2), from which threads are then forked; before it, from the caller. */
void kthreadd_init(void);
void free_kthread_struct(struct task_struct *t); /* by __put_task_struct of a PF_KTHREAD task */
int kthread_stop(struct task_struct *t);	 /* asks, wakes, waits; returns the thread's result */
/*
 * A thread that is bound to a CPU rests while that CPU is not there. kthread_park() asks it to and waits until it
 * sleeps (state P); kthread_unpark() lets it go on. In between no wake-up reaches it. May sleep. The thread calls
 * kthread_parkme() when kthread_should_park() says so, looked at like kthread_should_stop(); no lock may be held.
 */
void kthread_park(struct task_struct *t);
void kthread_unpark(struct task_struct *t);
bool kthread_should_park(void);
void kthread_parkme(void);

/*
 * Run fn(data) on one CPU while every other online CPU spins, untraced, with interrupts off. Returns fn's result. The
 * others have executed an instruction synchronisation when they go on. Context: thread.
 */
int stop_machine(int (*fn)(void *data), void *data);
/*
 * Run fn(data) on every online CPU, interrupts off, at one moment: each begins when all have stopped what they were
 * doing, and goes on with it when all are done. fn must not be traced, nor patch code. Context: thread.
 */
void stop_machine_each(void (*fn)(void *data), void *data);
/*
 * Stop all CPUs and let one of them leave: `leave` runs on it, interrupts off, and takes it out of cpu_online_mask;
 * then its idle task ends it (cpuhp_idle_dead), which tells the others by stop_machine_left(). They go on when the CPU
 * is off. Context: a thread on another CPU that stays there; cpu_hotplug_mutex.
 */
void stop_machine_without(unsigned cpu, void (*leave)(unsigned cpu));
void stop_machine_left(void);
/*
 * Run fn(arg) in the stopper thread (migration/N) of `cpu`, which only hard interrupts disturb. Returns fn's result;
 * -ENODEV when that CPU has no stopper (yet). Thread context; fn must not sleep.
 */
int stop_one_cpu(int cpu, int (*fn)(void *arg), void *arg);
/* The same on all online CPUs but one, all at once; their results are dropped. */
void stop_each_cpu_but(unsigned except, int (*fn)(void *arg), void *arg);
void cpu_stop_init(void); /* smp_init: a stopper thread for every online CPU */

/*
 * Wait until every CPU has passed a point with preemption on: all code that ran with preemption off when this was
 * called is through. For probes and modules. Context: thread.
 */
void synchronize_rcu(void);
/*
 * For a caller that, after its unpublishing, does something that may include such a wait, as every stop_machine does.
 * The first is called before that, in any context; the second after it, by a thread: it waits only if there was no such
 * wait in between.
 */
u64 get_state_synchronize_rcu(void);
void cond_synchronize_rcu(u64 state);
#define rcu_read_lock()	  preempt_disable()
#define rcu_read_unlock() preempt_enable()
/* Call func after a grace period, from a kernel thread. Any context but nmi. */
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *));
/* Wait until all callbacks of earlier call_rcu()s have run, as a module does before its code goes. Thread context. */
void rcu_barrier(void);

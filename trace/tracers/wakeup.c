/*
 * How long the most important waiting task waits, from try_to_wake_up to the switch to it. The tracers of
 * tracers/wakeup_tracers.c measure that; only one of them is selected at a time.
 *
 * One wake-up is followed at a time. One of higher priority takes over, an equal or lower one is ignored; nothing is
 * above a deadline task, so that is followed to its end, even if another deadline task has a nearer deadline (as in
 * Linux). A fair task counts only if it is more important than its waker (as in Linux): behind its equals it waits for
 * its turn, which is time sharing and no latency.
 *
 * THE STATE has one lock, wakeup_lock, taken with interrupts off and innermost but for trace_max's: pi_lock or a
 * runqueue lock, then wakeup_lock, then the max lock. Its holder calls nothing that is traced and takes no lock that
 * traced code can hold. Probes check without the lock whether they are concerned; most of them are not.
 *
 * THE FOLLOWED TASK is runnable and does not run: it becomes followed with its runqueue locked, and the switch to it,
 * under the same lock, ends the following. So it cannot exit or sleep while it is followed, and the reference that we
 * hold is never the last one: putting it back frees nothing. A switch cannot be missed, because its probe comes before
 * those of the wake-ups and goes after them.
 *
 * Which task's wake-up is followed may be asked without a lock.
 *
 * trace/tracers/wakeup.c follows one task, under wakeup_lock. Every wake-up, every switch and every traced function
 * looks first whether it is concerned, without the lock:
 *
 * - Is it this task that is followed? (a switch to p, a move of p). p becomes followed, and stops being followed, with
 *   its own runqueue locked, and the code that asks holds that lock. The one exception is a more important wake-up that
 *   takes over on another CPU: then the answer was yes and is no now, which is asked again under wakeup_lock. It never
 *   becomes yes.
 * - Is there a more important one already? A guess, asked again. The task whose priority is read may have been let go
 *   of meanwhile, but its memory lives as long as preemption is off.
 * - Does it wait on this CPU? A function entry that reads "no" from an old answer misses a record at the edge of a
 *   move. One that reads "yes" counts itself in recorders of its CPU, and looks again; a CPU that follows the next
 *   wake-up has set followed_cpu to none and then waits for all these counts to be zero (each has a full barrier
 *   between its store and its load, so one of the two sees the other). Without that: CPU 0 reads "yes", and its host
 *   thread sleeps; CPU 3 follows another wake-up, empties the set of CPUs, takes the stamp at which its section begins;
 *   CPU 0 goes on, enters itself into the new set, takes a stamp, records: and the next maximum begins with a function
 *   entry of CPU 0 in place of the wake-up. (Seen once in 27,059 traces on an idle host, once a minute on a loaded
 *   one.) A recorder has interrupts off and waits for the max lock at most, whose holder waits for nothing.
 *   followed_cpu is stored last, with release, and loaded with acquire: a CPU that sees the new one sees the set of
 *   CPUs emptied, and so enters its own into it, after trace_max_begin(). The CPU that ends the section reads the set,
 *   then what trace_max_begin() has said on these CPUs.
 *
 * A followed task cannot end: it is runnable and does not run, which only a switch to it changes, and that ends the
 * following under the same runqueue lock. It could be missed only if the probe of sched_switch came later than those of
 * the wake-ups, or went before them.
 *
 * The maximum is taken with wakeup_lock still held. Otherwise another CPU could begin to follow the next task and write
 * its first records before it is told that the contents of its buffer belong to the maximum: these records would go
 * with the maximum.
 */
#include <arch/stacktrace.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <trace/events/sched.h>

#include "core/aside.h"
#include "core/record.h"
#include "tracers/graph/latency.h"
#include "sched_switch.h"
#include "wakeup.h"

#define NO_CPU (-1)

/* What lies at a frame pointer, on both machines (<kernel/stacktrace.h>). */
struct frame_record {
	const struct frame_record *caller;
	unsigned long ret;
};

/*
 * A wake-up between sched_waking and sched_wakeup, which come on the same CPU with interrupts off all the while.
 * [this CPU]
 */
struct waking {
	struct task_struct *task; /* only compared */
	u64 (*clock)(void);	  /* tr->clock then */
	u64 start;		  /* its stamp */
	unsigned long ip;	  /* in try_to_wake_up */
	unsigned long parent_ip;  /* in its caller */
};
static DEFINE_PER_CPU(struct waking, waking);

/* Locks: w wakeup_lock, and read without it as the head of this file says; t trace_types_lock. */
static DEFINE_SPINLOCK(wakeup_lock);
static struct {
	struct task_struct *task; /* [w] referenced; NULL: nothing is followed */
	int prio;		  /* [w] as it was woken with */
	u32 throttles;		  /* [w] of its deadline budget until then: with one more it waits for the next */
	bool enabled;		  /* [w] wake-ups may become followed */
	u64 (*clock)(void);	  /* [w] tr->clock at the start */
	u64 start;		  /* [w] stamp of try_to_wake_up */
	u64 first;		  /* [w] stamp before the first record */
	struct cpumask cpus;	  /* on which there are records [w empties; each CPU adds itself, interrupts off] */
} followed;
/* The CPU on which it waits. Every function entry reads this, so it lies apart from what changes more often. [w] */
static int followed_cpu __cacheline_aligned = NO_CPU;
/*
 * How many function entries are being recorded because the followed task waits on this CPU: one, and one more in an NMI
 * on top of it. [this CPU]
 */
static DEFINE_PER_CPU(unsigned, recorders);

static int prio_limit;	   /* [t] WAKEUP_*, set before the probes are there */
static bool function_busy; /* [t] function entries are switched on */
static bool graph_form;	   /* [t, read by anybody] display-graph: records are of function graph */

static __always_inline u64 stamp(u64 (*clock)(void))
{
	return likely(!clock) ? sched_clock() : clock();
}

/* The preempt_count of the code in which the tracepoint stands: the tracepoint has disabled preemption once. */
static __always_inline u32 probe_pc(void)
{
	return preempt_count() - PREEMPT_OFFSET;
}

/* In a probe: the record with which the tracepoint's iterator returns to the function that the tracepoint stands in. */
static __always_inline const struct frame_record *probe_site(void)
{
	return ((const struct frame_record *)arch_caller_fp())->caller;
}

/*
 * The priority that a wake-up must beat. A followed task that was made less important or throttled meanwhile has
 * nothing to tell any more. Without the lock it is a guess; the task may be gone, but its memory is not, as preemption
 * is off.
 */
static int prio_to_beat(void)
{
	struct task_struct *p = READ_ONCE(followed.task);
	int prio = READ_ONCE(followed.prio);

	if (!p || READ_ONCE(p->prio) > prio || READ_ONCE(p->dl.throttles) != READ_ONCE(followed.throttles))
		return MAX_PRIO;
	return prio;
}

/*
 * Does p wait for its CPU, as one that should have it? Not if it was woken before it slept and just runs on, nor a
 * deadline task that waits for its next budget, nor a fair one whose waker is as important. Its runqueue is locked.
 */
static bool waits(const struct task_struct *p)
{
	if (READ_ONCE(p->on_cpu) || (p->prio < MAX_DL_PRIO && p->dl.throttled))
		return false;
	return p->prio < MAX_RT_PRIO || p->prio < current->prio;
}

/*
 * Call it before each record of the followed wake-up, on the CPU that records, interrupts off. False: an NMI cannot
 * make the first record of a CPU.
 */
static bool begin_records(struct trace_array *tr)
{
	unsigned cpu = smp_processor_id();

	if (likely(cpumask_test_cpu(cpu, &followed.cpus)))
		return true;
	if (in_nmi())
		return false;
	trace_max_begin(tr);
	cpumask_test_and_set_cpu(cpu, &followed.cpus); /* a full barrier: finish() sees the bit after what is above */
	return true;
}

/* A place, as a function entry, or with display-graph as a call. */
static void record_place(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc, unsigned long flags)
{
	if (READ_ONCE(graph_form))
		trace_graph_function(tr, ip, pc, flags);
	else
		trace_function(tr, ip, parent_ip, pc, flags);
}

/* ---- The followed task: all with wakeup_lock held */

/*
 * Nothing is followed now. Wait for CPUs that still record a function entry for the last wake-up: they would take their
 * time stamp when the next one is followed already. A recorder counts itself before it looks at followed_cpu, which was
 * set before we look at the count. It has interrupts off, and waits for nothing that waits for us. On our own CPU there
 * is no recorder.
 */
static void await_recorders(void)
{
	unsigned cpu;

	smp_mb();
	for_each_online_cpu(cpu)
		while (smp_load_acquire(per_cpu_ptr(&recorders, cpu)))
			cpu_relax();
}

static void unfollow(void)
{
	struct task_struct *p = followed.task;

	WRITE_ONCE(followed_cpu, NO_CPU);
	WRITE_ONCE(followed.task, NULL);
	if (p)
		put_task_struct(p);
}

/*
 * Follow p from now on, and write the first records of its wake-up. The last store lets function entries in: all of
 * them come behind these records, and see `cpus` emptied.
 */
static void wakeup_follow(struct trace_array *tr, struct task_struct *p, const struct waking *from,
			  const struct frame_record *site)
{
	unsigned long flags = arch_local_save_flags();
	u32 pc = probe_pc();

	unfollow();
	await_recorders();
	get_task_struct(p);
	WRITE_ONCE(followed.prio, p->prio);
	WRITE_ONCE(followed.throttles, p->dl.throttles);
	WRITE_ONCE(followed.task, p);
	followed.clock = from->clock;
	followed.start = from->start;
	followed.cpus = (struct cpumask){};
	begin_records(tr);
	followed.first = stamp(from->clock);
	tracing_sched_wakeup_trace(tr, p, pc, flags);
	trace_stack_from(tr, pc, flags, 0, (unsigned long)site);
	record_place(tr, from->ip, from->parent_ip, pc, flags);
	smp_store_release(&followed_cpu, p->cpu);
}

/*
 * The followed task is switched to. Does its wake-up count? Nothing that the measurement depends on may have changed.
 */
static bool is_whole(struct trace_array *tr, const struct task_struct *p, u64 (*clock)(void))
{
	return followed.enabled && followed.clock == clock && p->prio <= followed.prio &&
	       p->dl.throttles == followed.throttles && cpumask_test_cpu(p->cpu, &tr->tracing_cpumask);
}

static void record_switch(struct trace_array *tr, struct task_struct *prev, unsigned prev_state,
			  struct task_struct *next, const struct frame_record *site)
{
	unsigned long flags = arch_local_save_flags();
	u32 pc = probe_pc();

	begin_records(tr);
	record_place(tr, site->ret, site->caller->ret, pc, flags);
	tracing_sched_switch_trace(tr, prev, prev_state, next, pc, flags);
	trace_stack_from(tr, pc, flags, 0, (unsigned long)site);
}

/* ---- Probes: interrupts and preemption off */

/* In try_to_wake_up, p->pi_lock held: the wake-up begins. probe_wakeup will need the stamp. */
static void probe_waking(void *data, struct task_struct *p)
{
	struct trace_array *tr = data;
	struct waking *w = this_cpu_ptr(&waking);
	const struct frame_record *site = probe_site();

	if (p->prio >= prio_limit)
		return;
	w->task = p;
	w->clock = READ_ONCE(tr->clock);
	w->start = stamp(w->clock);
	w->ip = site->ret;
	w->parent_ip = site->caller->ret;
}

/*
 * Follow p, if it waits and is more important than the task that is followed now. Both CPUs must be traced, the one on
 * which it is woken and the one on which it waits, or its trace would not be whole. p's runqueue is locked.
 */
static void consider(struct trace_array *tr, struct task_struct *p, const struct waking *from,
		     const struct frame_record *site)
{
	if (p->prio >= prio_to_beat() || !waits(p) || !cpumask_test_cpu(p->cpu, &tr->tracing_cpumask) ||
	    !cpumask_test_cpu(smp_processor_id(), &tr->tracing_cpumask))
		return;
	if (READ_ONCE(tr->trace_flags) & TRACE_ITER(RECORD_CMD))
		tracing_record_cmdline(current);
	arch_spin_lock(&wakeup_lock);
	if (followed.enabled && p->prio < prio_to_beat())
		wakeup_follow(tr, p, from, site);
	arch_spin_unlock(&wakeup_lock);
}

/* The probe of sched_waking comes before this one and goes after it, so it has seen the wake-up of p. */
static void probe_wakeup(void *data, struct task_struct *p)
{
	struct waking *w = this_cpu_ptr(&waking);

	if (w->task != p)
		return;
	w->task = NULL;
	consider(data, p, w, probe_site());
}

/* A new task is not woken by try_to_wake_up: it begins here. */
static void probe_wakeup_new(void *data, struct task_struct *p)
{
	struct trace_array *tr = data;
	const struct frame_record *site = probe_site();
	struct waking w = {.clock = READ_ONCE(tr->clock), .ip = site->ret, .parent_ip = site->caller->ret};

	w.start = stamp(w.clock);
	if (p->prio < prio_limit)
		consider(tr, p, &w, site);
}

/* p moves to another CPU. Whether it is followed can change meanwhile, by another wake-up, so it is asked twice. */
static void probe_migrate_task(void *data, struct task_struct *p, int cpu)
{
	if (READ_ONCE(followed.task) != p)
		return;
	arch_spin_lock(&wakeup_lock);
	if (followed.task == p)
		WRITE_ONCE(followed_cpu, cpu);
	arch_spin_unlock(&wakeup_lock);
}

/* The switch to the followed task at the stamp `now`, with which the latency ends. wakeup_lock held. */
static void finish(struct trace_array *tr, struct task_struct *prev, unsigned prev_state, struct task_struct *next,
		   u64 (*clock)(void), u64 now, const struct frame_record *site)
{
	struct trace_section section = {.start = followed.start, .first = followed.first, .end = now, .task = next};

	WRITE_ONCE(followed_cpu, NO_CPU);
	if (is_whole(tr, next, clock) && trace_max_wanted(tr, now - followed.start)) {
		record_switch(tr, prev, prev_state, next, site);
		section.cpus = followed.cpus;
		smp_rmb(); /* the CPUs before what trace_max_begin has noted on them: see begin_records() */
		trace_max_take(tr, &section);
	}
	unfollow();
}

/*
 * The maximum is taken with the lock held: a wake-up followed next, on another CPU, must not write its first records
 * between this end and the exchange of that CPU's buffer, or they would go with this one's.
 */
static void probe_sched_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			       unsigned prev_state)
{
	struct trace_array *tr = data;
	u64 (*clock)(void);
	u64 now;

	if (likely(READ_ONCE(followed.task) != next))
		return;
	clock = READ_ONCE(tr->clock);
	now = stamp(clock);
	arch_spin_lock(&wakeup_lock);
	if (followed.task == next)
		finish(tr, prev, prev_state, next, clock, now, probe_site());
	arch_spin_unlock(&wakeup_lock);
}

/* ---- Function entries, on the CPU where the followed task waits */

/* May this CPU record for the followed wake-up? True: recorder_leave() must follow. Interrupts off. */
static bool recorder_enter(struct trace_array *tr)
{
	unsigned *n = this_cpu_ptr(&recorders);

	WRITE_ONCE(*n, *n + 1);
	smp_mb(); /* see await_recorders */
	if ((int)current->cpu == smp_load_acquire(&followed_cpu) && begin_records(tr))
		return true;
	smp_store_release(n, *n - 1);
	return false;
}

static void recorder_leave(void)
{
	unsigned *n = this_cpu_ptr(&recorders);

	smp_store_release(n, *n - 1);
}

/*
 * Record a function entry for the followed wake-up. Interrupts are off, so the task stays on the CPU; if it must give
 * up the CPU, that happens when they are on again, so there is no look for it here.
 */
static noinline void wakeup_function(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, bool pids)
{
	struct task_struct *t = current;
	u32 pc = READ_ONCE(t->preempt_count), bit = recursion_bit(pc);
	unsigned long flags;

	if (pc & bit)
		return;
	raw_local_irq_save(flags);
	trace_enter(t, pc, bit);
	if (!(pids && trace_pids_ignore(&tr->function_pids, t->pid)) && recorder_enter(tr)) {
		trace_function(tr, ip, parent_ip, pc, flags);
		recorder_leave();
	}
	barrier();
	WRITE_ONCE(t->preempt_count, pc);
	raw_local_irq_restore(flags);
}

static void wakeup_tracer_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	if (unlikely((int)READ_ONCE(current->cpu) == READ_ONCE(followed_cpu)))
		wakeup_function(&global_trace, ip, parent_ip, false);
}

static void wakeup_pids_tracer_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				    struct ftrace_regs *fregs)
{
	if (unlikely((int)READ_ONCE(current->cpu) == READ_ONCE(followed_cpu)))
		wakeup_function(&global_trace, ip, parent_ip, true);
}

void wakeup_update_pids(struct trace_array *tr)
{
	ftrace_ops_set_func(tr->ops, trace_pids_any(&tr->function_pids) ? wakeup_pids_tracer_call : wakeup_tracer_call);
}

/* ---- With display-graph: calls and returns there */

static bool wakeup_graph_concerned(void)
{
	return (int)READ_ONCE(current->cpu) == READ_ONCE(followed_cpu);
}

static const struct latency_graph wakeup_graph = {wakeup_graph_concerned, recorder_enter, recorder_leave};

/* Registers function entries, or calls and returns, as graph_form says. 0 or -errno. */
static int trace_functions(struct trace_array *tr)
{
	if (graph_form)
		return latency_graph_start(tr, &wakeup_graph);
	wakeup_update_pids(tr);
	return register_ftrace_function(tr->ops);
}

static int untrace_functions(struct trace_array *tr)
{
	return graph_form ? latency_graph_stop() : unregister_ftrace_function(tr->ops);
}

/* A call that is on its way when the entries go off finds nothing followed, or records as it should. */
int wakeup_function_set(struct trace_array *tr, bool on)
{
	int ret;

	if (on == function_busy)
		return 0;
	ret = on ? trace_functions(tr) : untrace_functions(tr);
	if (!ret)
		function_busy = on;
	return ret;
}

/* On an error the old form is kept. The grace period waits for probes that have found the old form. */
int wakeup_set_form(struct trace_array *tr, bool graph)
{
	bool functions = function_busy;
	int ret;

	wakeup_function_set(tr, false);
	WRITE_ONCE(graph_form, graph);
	ret = functions ? wakeup_function_set(tr, true) : 0;
	if (ret) {
		WRITE_ONCE(graph_form, !graph);
		wakeup_function_set(tr, true);
		return ret;
	}
	synchronize_rcu();
	return 0;
}

/* ---- On and off: trace_types_lock held */

void wakeup_set_enabled(bool on)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_spin_lock(&wakeup_lock);
	followed.enabled = on;
	unfollow();
	arch_spin_unlock(&wakeup_lock);
	raw_local_irq_restore(flags);
}

/* The order of registering; unregistering goes back. So no task is followed whose moves or end would not be seen. */
static const struct tracepoint_probe wakeup_probes[] = {
	{&__tracepoint_sched_switch, probe_sched_switch},   {&__tracepoint_sched_migrate_task, probe_migrate_task},
	{&__tracepoint_sched_waking, probe_waking},	    {&__tracepoint_sched_wakeup, probe_wakeup},
	{&__tracepoint_sched_wakeup_new, probe_wakeup_new},
};

int wakeup_register_probes(struct trace_array *tr, int limit)
{
	unsigned cpu;

	prio_limit = limit;
	/* A wake-up may have been under way when the probes went the last time. */
	for_each_possible_cpu(cpu)
		per_cpu_ptr(&waking, cpu)->task = NULL;
	return tracepoint_probes_register(wakeup_probes, ARRAY_SIZE(wakeup_probes), tr);
}

void wakeup_unregister_probes(struct trace_array *tr)
{
	tracepoint_probes_unregister(wakeup_probes, ARRAY_SIZE(wakeup_probes), tr);
}

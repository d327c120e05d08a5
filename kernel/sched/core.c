/*
 * The core of the scheduler: picking the next task and switching to it.
 *
 *	schedule()			the task sets its state before, if it wants to sleep
 *	  __schedule()			runqueue locked; a task that sleeps leaves the queue
 *	    pick_next_task()		the classes are asked from the most important on
 *	    context_switch()		address space, then registers and stack
 *	      finish_task_switch()	on the new task's stack: unlocks what the old task has locked
 *
 * The runqueue lock is taken by one task and released by another. When a task that slept is woken, its state, on_rq and
 * on_cpu tell how far its switch has come; the argument for that is in wakeup.c.
 */
#include "sched.h"

#include <arch/thread.h>
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <mm/mm.h>
#include <proc/signal.h>
#include <trace/kprobes.h>
#include <trace/events/sched.h>
#include <trace/trace_comm.h>

DEFINE_PER_CPU(struct rq, runqueues);
struct cpumask idle_cpus_mask;

/*
 * Take p off rq. The store to on_rq comes after everything the queue does with p, and has release order: a waker that
 * reads 0 may put p on another queue at once, unless p->on_cpu makes it wait (see try_to_wake_up).
 */
static inline void deactivate_task(struct rq *rq, struct task_struct *p, int flags)
{
	dequeue_task(rq, p, flags);
	smp_store_release(&p->on_rq, 0);
}

/*
 * Make rq's CPU look for its next task soon. The flag word of the running task tells in the same atomic
 * operation whether it polls the flag (idle, not yet waiting for interrupts): no interrupt is sent then.
 * Context: rq locked.
 */
void resched_curr(struct rq *rq)
{
	struct task_struct *curr = rq->curr;
	u32 old;

	if (test_tsk_thread_flag(curr, TIF_NEED_RESCHED))
		return;
	old = __atomic_fetch_or(&curr->thread_flags, _TIF_NEED_RESCHED, __ATOMIC_ACQ_REL);
	if (rq->cpu != smp_processor_id() && !(old & (_TIF_NEED_RESCHED | _TIF_POLLING_NRFLAG)))
		smp_send_reschedule(rq->cpu);
}

void set_tsk_need_resched(struct task_struct *p)
{
	set_tsk_thread_flag(p, TIF_NEED_RESCHED);
}

void resched_cpu(int cpu)
{
	unsigned long flags;
	struct rq *rq = rq_lock_irqsave(cpu, &flags);

	resched_curr(rq);
	rq_unlock_irqrestore(rq, flags);
}

/*
 * The slow path of picking: every class is asked from the top. All pulling, which may let the lock go, is done before
 * the first class is asked.
 */
static struct task_struct *pick_from_classes(struct rq *rq, struct task_struct *prev)
{
	const struct sched_class *class;
	struct task_struct *p;

	/* The priority of this CPU falls: what waits behind others elsewhere may be able to run here. */
	if (rt_prio(prev->prio)) {
		prev->sched_class->update_curr(rq); /* it may have used up its budget just now */
		pull_tasks(rq);
	}
	if (!rq->nr_running)
		newidle_balance(rq);
	put_prev_task(rq, prev);
	for_each_class(class) {
		p = class->pick_next_task(rq);
		if (p)
			return p;
	}
	BUG(); /* the idle class always has a task */
}

/* Context: rq locked, clock updated. Returns with the choice made current in its class. */
static inline struct task_struct *pick_next_task(struct rq *rq, struct task_struct *prev)
{
	/* Nearly always all tasks here are fair, and that class can keep or exchange the running entity by itself. */
	if (likely(rq->nr_running && rq->nr_running == rq->cfs.nr_running && !rt_prio(prev->prio)))
		return pick_next_task_fair(rq, prev);
	return pick_from_classes(rq, prev);
}

/*
 * The address space for next. A kernel thread has none of its own and borrows the one that is loaded (active_mm): this
 * spares the switch there and, mostly, back. The loan holds a reference on the structure, dropped after the switch away
 * from the thread. Meanwhile a flush on x86_64 may have taken the borrowed tables off the CPU (asm/mmu.h): then they
 * are loaded again.
 */
static inline void context_switch_mm(struct rq *rq, struct task_struct *prev, struct task_struct *next)
{
	if (!next->mm) {
		next->active_mm = prev->active_mm;
		if (prev->mm)
			mmgrab(prev->active_mm);
		else
			prev->active_mm = NULL; /* the loan is passed on */
		return;
	}
	if (prev->active_mm != next->mm)
		switch_mm(prev->active_mm, next->mm);
	else if (unlikely(!arch_mm_loaded(next->mm)))
		arch_switch_mm(&init_mm, next->mm, smp_processor_id());
	if (!prev->mm) {
		rq->prev_mm = prev->active_mm;
		prev->active_mm = NULL;
	}
}

/*
 * Second half of a switch, on the new task's stack, the runqueue still locked by the task before. The local variables
 * of the caller may date from long ago and from another CPU: only `prev`, which cpu_switch_to returned, is good.
 */
static void finish_task_switch(struct task_struct *prev)
{
	struct rq *rq = this_rq();
	struct mm_struct *mm = rq->prev_mm;
	unsigned prev_state = READ_ONCE(prev->state);

	rq->prev_mm = NULL;
	/*
	 * prev's context is saved; from this store on another CPU may run it, or free it once dead. Release:
	 * the saved registers and the state read above come before it. Pairs with the acquire in
	 * try_to_wake_up.
	 */
	smp_store_release(&prev->on_cpu, 0);
	rq_unlock(rq);
	push_tasks(rq);
	local_irq_enable();
	if (mm)
		mmdrop(mm);
	if (unlikely(prev_state == TASK_DEAD))
		sched_dead(prev);
}

/* Context: rq locked, interrupts off. Returns on next's stack much later, when prev has been chosen again. */
static __always_inline void context_switch(struct rq *rq, struct task_struct *prev, struct task_struct *next)
{
	context_switch_mm(rq, prev, next);
	/* Under the lock: a CPU that finds next off the runqueue later waits for this flag to fall. */
	WRITE_ONCE(next->on_cpu, 1);
	arch_thread_switch(prev, next);
	prev = cpu_switch_to(prev, next);
	barrier();
	finish_task_switch(prev);
}

/* Has a signal come that ends a sleep in `state`? Then the task goes on instead of sleeping. */
static inline bool signal_pending_state(unsigned state, struct task_struct *p)
{
	if (!(state & (TASK_INTERRUPTIBLE | TASK_WAKEKILL)) || !signal_pending(p))
		return false;
	return (state & TASK_INTERRUPTIBLE) || fatal_signal_pending(p);
}

/* prev goes to sleep in `state`. Uninterruptible sleep counts as load, as the task probably waits for a device. */
static inline void block_task(struct rq *rq, struct task_struct *prev, unsigned state)
{
	prev->contributes_to_load = (state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == TASK_UNINTERRUPTIBLE;
	if (prev->contributes_to_load)
		rq->nr_uninterruptible++;
	deactivate_task(rq, prev, DEQUEUE_SLEEP);
}

/*
 * Choose and switch. Context: thread, preempt_count 1 by the caller, interrupts on; returns in the same context.
 * `preempt`: the task did not ask for it; it stays runnable whatever its state says, since it may be between setting
 * the state and testing its condition.
 */
static void noinline __schedule(bool preempt)
{
	struct task_struct *prev = current, *next;
	u64 *switch_count = &prev->nivcsw;
	struct rq *rq;
	unsigned prev_state;

	local_irq_disable();
	rq = this_rq();
	rq_lock(rq);
	/*
	 * set_current_state(); if (cond) ...; schedule() against cond = true; try_to_wake_up(): the sleeper's
	 * store of the state and this load of signal flags and state must not pass each other. The state was
	 * stored with a full barrier by set_current_state; the signal side sets its flag and then wakes under
	 * pi_lock, which reads the state.
	 */
	smp_mb();
	update_rq_clock(rq);
	prev_state = READ_ONCE(prev->state);
	if (!preempt && prev_state) {
		if (unlikely(signal_pending_state(prev_state, prev)))
			WRITE_ONCE(prev->state, TASK_RUNNING);
		else
			block_task(rq, prev, prev_state);
		switch_count = &prev->nvcsw;
	}

	next = pick_next_task(rq, prev);
	clear_tsk_thread_flag(prev, TIF_NEED_RESCHED);
	if (prev != next) {
		rq->nr_switches++;
		++*switch_count;
		WRITE_ONCE(rq->curr, next);
		if (prev->rseq) /* task_part.resume is due before it runs in user mode again */
			set_tsk_thread_flag(prev, TIF_NOTIFY_RESUME);
		if (tracepoint_key_on(&sched_stat_key))
			sched_stat_switch(rq, prev, next, prev_state);
		trace_comm_sched_switch(prev, next);
		trace_sched_switch(preempt, prev, next, prev_state);
		context_switch(rq, prev, next);
		return;
	}
	rq_unlock(rq);
	local_irq_enable();
}

/*
 * schedule() was called with preemption off: maybe under a spinlock that the next task wants. The count is the task's
 * own and comes back with it, so the kernel goes on.
 */
static noinline void __schedule_bug(struct task_struct *prev)
{
	pr_err("BUG: scheduling while atomic: %s/%d/0x%08x\n", prev->comm, prev->pid, preempt_count());
	dump_stack();
}

/* It loops because need_resched may have been set again by the time this task is back. */
void noinline schedule(void)
{
	if (unlikely(preempt_count()))
		__schedule_bug(current);
	do {
		preempt_disable();
		__schedule(false);
		preempt_enable_no_resched();
	} while (need_resched());
}
EXPORT_SYMBOL(schedule);

/*
 * The idle task's schedule(): its preempt_count is 1 already, and it never sleeps. Once, not until need_resched is
 * clear: as soon as it is back here with interrupts on, the tick may find the CPU idle and end, and the task of a
 * wake-up behind that would run without one. The idle loop starts the tick again before it calls this again.
 */
void schedule_idle(void)
{
	__schedule(false);
}

void do_task_dead(void)
{
	preempt_disable();
	/*
	 * A waker that still aims at an older state of ours holds pi_lock: let it finish, or it might undo TASK_DEAD.
	 */
	spin_lock_irq(&current->pi_lock);
	WRITE_ONCE(current->state, TASK_DEAD);
	spin_unlock_irq(&current->pi_lock);
	__schedule(false);
	BUG(); /* a dead task was run again */
}

/* An exiting task gives its bandwidth back at once, so that the next deadline task can be admitted. */
void sched_exit(struct task_struct *p)
{
	unsigned long flags;

	if (likely(!p->dl.bw))
		return;
	spin_lock_irqsave(&p->pi_lock, flags);
	dl_release(p);
	spin_unlock_irqrestore(&p->pi_lock, flags);
}

void sched_dead(struct task_struct *p)
{
	if (unlikely(p->dl.params.runtime))
		dl_task_dead(p);
	put_task_struct(p);
}

/*
 * Not traced: preempt_enable is everywhere, and the tracer's own way in must not recurse. Not probed either: a hit of a
 * kprobe ends with it.
 */
__kprobes void preempt_schedule(void)
{
	if (preempt_count() || irqs_disabled())
		return;
	do {
		preempt_disable();
		__schedule(true);
		preempt_enable_no_resched();
	} while (need_resched());
}
EXPORT_SYMBOL(preempt_schedule);

__kprobes void preempt_schedule_notrace(void)
{
	preempt_schedule();
}
EXPORT_SYMBOL(preempt_schedule_notrace);

/* At the end of an interrupt that came while the kernel was preemptible. Interrupts are off here and on return. */
void preempt_schedule_irq(void)
{
	do {
		preempt_disable();
		local_irq_enable();
		__schedule(true);
		local_irq_disable();
		preempt_enable_no_resched();
	} while (need_resched());
}

int cond_resched(void)
{
	if (likely(!need_resched()) || preempt_count() || irqs_disabled())
		return 0;
	preempt_schedule();
	return 1;
}
EXPORT_SYMBOL(cond_resched);

void io_schedule(void)
{
	schedule();
}
EXPORT_SYMBOL(io_schedule);

/* A new task's first step: it finishes the switch that its parent's CPU began. */
void schedule_tail(struct task_struct *prev)
{
	finish_task_switch(prev);
	preempt_enable();
}

/* Two runqueues are always locked in order of address: two CPUs that want the same pair cannot wait for each other. */
void double_rq_lock(struct rq *a, struct rq *b)
{
	if (a > b)
		swap(a, b);
	rq_lock(a);
	if (a != b)
		rq_lock(b);
}

void double_rq_unlock(struct rq *a, struct rq *b)
{
	rq_unlock(a);
	if (a != b)
		rq_unlock(b);
}

bool double_lock_balance(struct rq *here, struct rq *other)
{
	if (here < other) {
		rq_lock(other);
		return false;
	}
	if (arch_spin_trylock(&other->lock)) {
		preempt_count_add(PREEMPT_OFFSET);
		return false;
	}
	rq_unlock(here);
	rq_lock(other);
	rq_lock(here);
	return true;
}

/* p may be moved while this waits for the lock, so p->cpu is looked at again under it. */
struct rq *__task_rq_lock(struct task_struct *p)
{
	for (;;) {
		struct rq *rq = task_rq(p);

		rq_lock(rq);
		/*
		 * The CPU that moved p held the lock of the old queue while it changed p->cpu. So if it still names
		 * this queue, p is here and stays; acquire of the lock shows what the mover did.
		 */
		if (likely(rq == task_rq(p)))
			return rq;
		rq_unlock(rq);
	}
}

struct rq *task_rq_lock(struct task_struct *p, unsigned long *flags)
{
	spin_lock_irqsave(&p->pi_lock, *flags);
	return __task_rq_lock(p);
}

void task_rq_unlock(struct rq *rq, struct task_struct *p, unsigned long flags)
{
	rq_unlock(rq);
	spin_unlock_irqrestore(&p->pi_lock, flags);
}

/*
 * Stopping CPUs by a stopper thread on each. stop_machine lets one CPU run alone, while all others wait in code that is
 * not patched. A CPU that leaves the machine does so within such a stop.
 */
#include <arch/patch.h>
#include <arch/processor.h>
#include <arch/smp.h>
#include <kernel/export.h>
#include <kernel/smp.h>
#include <sched/cpuhp.h>
#include <sched/mutex.h>
#include <sched/stop.h>
#include <sched/wait.h>

#include "sched.h"

/* A request to a stopper. Locks: s the stopper's lock. */
struct cpu_stop_work {
	struct list_head list; /* [s] */
	int (*fn)(void *);
	void *arg;
	int ret; /* set before `done` */
	struct completion done;
};

/* Locks: s lock, taken with interrupts off; I immutable once `ready`. */
struct cpu_stopper {
	spinlock_t lock;
	struct list_head works;	    /* [s] */
	struct task_struct *thread; /* [I] */
	bool ready;		    /* takes works; falls in the stop in which its CPU leaves */
};
static DEFINE_PER_CPU(struct cpu_stopper, cpu_stopper);

/* Take the oldest request off the stopper's list; NULL: there is none. Any context. */
static struct cpu_stop_work *next_stop_work(struct cpu_stopper *s)
{
	struct cpu_stop_work *w;
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	w = list_first_entry_or_null(&s->works, struct cpu_stop_work, list);
	if (w)
		list_del(&w->list);
	spin_unlock_irqrestore(&s->lock, flags);
	return w;
}

/*
 * The stopper of one CPU. The state is set before the list is looked at, so a request that is queued after the look
 * finds a sleeper and wakes it. Each function runs with preemption off: no other task of this CPU runs before it
 * returns. After complete() the request belongs to the requester again and may be gone.
 */
static int cpu_stopper_thread(void *data)
{
	struct cpu_stopper *s = data;
	struct cpu_stop_work *w;

	for (;;) {
		set_current_state(TASK_IDLE);
		w = next_stop_work(s);
		if (!w) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		preempt_disable();
		w->ret = w->fn(w->arg);
		preempt_enable();
		complete(&w->done);
	}
	return 0;
}

/*
 * Does not wait. False when that CPU has no stopper, or is gone: preemption is off from the look to the wake-up, so the
 * CPU cannot leave in between. Thread context, preemption may be off.
 */
static bool queue_stop_work(int cpu, struct cpu_stop_work *w)
{
	struct cpu_stopper *s = per_cpu_ptr(&cpu_stopper, cpu);
	unsigned long flags;
	bool ready;

	preempt_disable();
	ready = smp_load_acquire(&s->ready);
	if (ready) {
		init_completion(&w->done);
		spin_lock_irqsave(&s->lock, flags);
		list_add_tail(&w->list, &s->works);
		spin_unlock_irqrestore(&s->lock, flags);
		wake_up_state(s->thread, TASK_IDLE);
	}
	preempt_enable();
	return ready;
}

/* The request lies on the caller's stack: it stays there because the caller waits for its completion. */
int stop_one_cpu(int cpu, int (*fn)(void *), void *arg)
{
	struct cpu_stop_work w = {.fn = fn, .arg = arg};

	if (!queue_stop_work(cpu, &w))
		return -ENODEV;
	wait_for_completion(&w.done);
	return w.ret;
}

static DEFINE_MUTEX(stop_each_mutex);
/* Static, so that a grace period allocates nothing; in use until it is done. */
static DEFINE_PER_CPU(struct cpu_stop_work, stop_each_work); /* [stop_each_mutex] */

/* One caller at a time, as there is one work item for each CPU. A CPU that has no stopper yet is left out. */
void stop_each_cpu_but(unsigned except, int (*fn)(void *), void *arg)
{
	struct cpumask asked = {};
	unsigned cpu;

	mutex_lock(&stop_each_mutex);
	for_each_online_cpu(cpu) {
		struct cpu_stop_work *w = per_cpu_ptr(&stop_each_work, cpu);

		w->fn = fn;
		w->arg = arg;
		if (cpu != except && queue_stop_work(cpu, w))
			cpumask_set_cpu(cpu, &asked);
	}
	for_each_cpu(cpu, &asked)
		wait_for_completion(&per_cpu_ptr(&stop_each_work, cpu)->done);
	mutex_unlock(&stop_each_mutex);
}

/*
 * The stop has two steps, and each is over when the last CPU has done it. First all arrive with interrupts on: a CPU
 * that is still on its way may be waiting, with preemption off, for a function call that a CPU that has arrived must
 * answer. Then all mask interrupts. After that the function runs on the initiator's CPU; or on each, and no CPU goes on
 * before all are done.
 */
enum stop_state { STOP_GATHER, STOP_MASKED, STOP_RUN, STOP_DONE };
struct stop_machine_data {
	unsigned others;      /* CPUs to park */
	struct cpumask asked; /* which they are: cpu_online_mask may change in the stop */
	unsigned arrived;     /* [atomic] */
	unsigned masked;      /* [atomic] */
	unsigned ran;	      /* [atomic] */
	u64 asleep;	      /* [atomic] a bit for each CPU that may sleep until `state` changes */
	unsigned waiter;      /* [atomic] the initiator's CPU + 1 while it may sleep until all have arrived; else 0 */
	int state;	      /* enum stop_state, written by the initiator */
	void (*each)(void *data); /* what every CPU runs once all are masked; NULL: the initiator alone runs */
	void *data;
	void (*leave)(unsigned cpu); /* what the CPU runs that leaves (`each` is there, too); NULL: none does */
	unsigned leaver;	     /* that CPU */
};
static DEFINE_MUTEX(stop_machine_mutex);

/*
 * Tells tracers that interrupts went off, on behalf of untraced code below; they name its caller. Nothing is being
 * patched at these moments.
 */
static noinline notrace __lockfunc void parked_irqs_off(unsigned long flags)
{
	trace_hook(trace_irqs_key, !irqs_disabled_flags(flags), trace_hardirqs_off);
}
static noinline notrace __lockfunc void parked_irqs_on(unsigned long flags)
{
	trace_hook(trace_irqs_key, !irqs_disabled_flags(flags), trace_hardirqs_on);
}

/*
 * A parked CPU sleeps. Under an emulator each CPU is a thread of the host, and a CPU that spins takes the host's time
 * from the CPUs that it waits for: a stop of 4 CPUs on a host with 2 would cost milliseconds of waiting for 2,300
 * instructions of work. So a CPU looks STOP_LOOKS times (with QEMU's -icount another CPU has its turn after each look,
 * so that they suffice) and then sleeps:
 *
 * - Until all have arrived (wait_gathered), interrupts are on and no text changes. A CPU masks interrupts,
 *   says in `asleep` that it may sleep, looks again and idles. The initiator does the same
 *   (wait_for_arrivals) and is woken by the last CPU that arrives.
 *
 * - While text changes (wait_masked), interrupts are masked and the wait is arch_parked_wait, in
 *   .noinstr.text. On aarch64, WFI ends for a pending interrupt even when it is masked (Arm ARM D1.6.2);
 *   the interrupt is taken after the stop, behind arch_sync_core. An interrupt that stays pending makes WFI
 *   fall through, and the CPU spins to the end. That would nearly always be the timer, so its interrupt is
 *   held back at the timer during the wait. On x86_64, HLT sleeps through what is masked: see
 *   arch_parked_wait there.
 *
 * - At the end the initiator waits for the completions of the stoppers, as for any other thread.
 *
 * The waker sends an interrupt whose handler does nothing: arch_parked_wake, or smp_send_reschedule to the initiator.
 * None is sent while text changes: the CPU that masks last does not wake the initiator, which spins for these few
 * instructions.
 */
#define STOP_LOOKS 100
static_assert(NR_CPUS <= 64, "a bit for each in `asleep`");

/*
 * Move the stop to its next state and wake the CPUs that sleep until it changes. Context: the initiator,
 * interrupts off.
 *
 * No wake-up is lost. A CPU that waits sets its bit in `asleep`, and then looks at `state` once more before
 * it sleeps. This function stores `state`, and then takes the bits. All four accesses are sequentially
 * consistent, so either the CPU sees the new state or this function sees its bit. An interrupt that arrives
 * between the CPU's last look and its sleep ends the sleep, because the CPU masks interrupts before it
 * looks.
 */
static notrace void set_state(struct stop_machine_data *d, int state)
{
	u64 asleep;

	__atomic_store_n(&d->state, state, __ATOMIC_SEQ_CST);
	for (asleep = __atomic_exchange_n(&d->asleep, 0, __ATOMIC_SEQ_CST); asleep; asleep &= asleep - 1)
		arch_parked_wake(__builtin_ctzll(asleep));
}

/* Until all are to mask interrupts. They are on here: handlers run. Preemption off. */
static notrace void wait_gathered(struct stop_machine_data *d, u64 self)
{
	unsigned long flags;

	for (unsigned looks = 0; __atomic_load_n(&d->state, __ATOMIC_ACQUIRE) < STOP_MASKED; looks++) {
		if (looks < STOP_LOOKS) {
			cpu_relax();
			continue;
		}
		raw_local_irq_save(flags);
		__atomic_fetch_or(&d->asleep, self, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&d->state, __ATOMIC_SEQ_CST) < STOP_MASKED)
			arch_cpu_idle();
		raw_local_irq_restore(flags);
	}
}

/*
 * From the `masked` count to the end of the stop a CPU runs only code of .noinstr.text. Its pages hold no site: so the
 * CPU meets no instruction that is being changed, and runs in no page in which one is changed (see trace/ftrace).
 */
static noinstr void wait_masked(struct stop_machine_data *d, int wanted, u64 self)
{
	for (unsigned looks = 0; __atomic_load_n(&d->state, __ATOMIC_ACQUIRE) < wanted; looks++) {
		if (looks < STOP_LOOKS) {
			cpu_relax();
			continue;
		}
		__atomic_fetch_or(&d->asleep, self, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&d->state, __ATOMIC_SEQ_CST) < wanted)
			arch_parked_wait();
	}
}

/* This CPU has come; the last that comes wakes the initiator. Nothing is patched before this CPU masks interrupts. */
static notrace void arrive(struct stop_machine_data *d)
{
	unsigned waiter;

	if (__atomic_add_fetch(&d->arrived, 1, __ATOMIC_SEQ_CST) != d->others)
		return;
	waiter = __atomic_exchange_n(&d->waiter, 0, __ATOMIC_SEQ_CST);
	if (waiter)
		smp_send_reschedule(waiter - 1);
}

unsigned stop_asked;
DECLARE_TABLE(stop_watchers, struct stop_watcher);

/* What has kept still on this CPU goes on. Preemption off: it is the CPU that has been stopped. */
static notrace void stop_is_over(void)
{
	const struct stop_watcher *w;

	for_each_in_table(stop_watchers, w)
		w->over();
}

/*
 * In the stopper of each other CPU. Neither traced nor patched; from `masked` to STOP_DONE it calls only wait_masked,
 * and `each`, which is there only when nothing is patched.
 */
static noinstr int multi_cpu_stop(void *arg)
{
	struct stop_machine_data *d = arg;
	u64 self = BIT(smp_processor_id());
	unsigned long flags;

	arrive(d);
	wait_gathered(d, self);
	raw_local_irq_save(flags);
	parked_irqs_off(flags);
	__atomic_fetch_add(&d->masked, 1, __ATOMIC_RELEASE);
	wait_masked(d, STOP_RUN, self);
	if (d->each) {
		d->each(d->data);
		if (unlikely(d->leave) && smp_processor_id() == d->leaver)
			goto leave; /* its idle task counts it as through, and does not come back (stop_machine_left) */
		__atomic_fetch_add(&d->ran, 1, __ATOMIC_RELEASE);
	}
	wait_masked(d, STOP_DONE, self);
leave:
	arch_sync_core(); /* what was fetched ahead of the change is forgotten */
	parked_irqs_on(flags);
	raw_local_irq_restore(flags);
	stop_is_over();
	return 0; /* d is the initiator's: it lives until the work is complete */
}

/*
 * Spin until *count is `wanted`. Only for waits of a few instructions: all CPUs counted are running with
 * interrupts masked.
 */
static notrace void wait_for_count(const unsigned *count, unsigned wanted)
{
	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) != wanted)
		cpu_relax();
}

/* The initiator waits until the last CPU has come. Interrupts on, preemption off. */
static notrace void wait_for_arrivals(struct stop_machine_data *d, unsigned self)
{
	unsigned long flags;

	for (unsigned looks = 0; __atomic_load_n(&d->arrived, __ATOMIC_ACQUIRE) != d->others; looks++) {
		if (looks < STOP_LOOKS) {
			cpu_relax();
			continue;
		}
		raw_local_irq_save(flags);
		__atomic_store_n(&d->waiter, self + 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&d->arrived, __ATOMIC_SEQ_CST) != d->others)
			arch_cpu_idle();
		raw_local_irq_restore(flags);
	}
}

/* With the others on their way: gather, mask, run, release. Interrupts stay on until all have come. */
static int run_stopped(struct stop_machine_data *d, unsigned self, int (*fn)(void *), void *data)
{
	unsigned long flags;
	int ret;

	wait_for_arrivals(d, self);
	local_irq_save(flags);
	set_state(d, STOP_MASKED);
	wait_for_count(&d->masked, d->others);
	ret = fn(data);
	arch_sync_core();
	WRITE_ONCE(stop_asked, 0); /* before the others go on, or one of them would keep still for good */
	set_state(d, STOP_DONE);
	local_irq_restore(flags);
	stop_is_over();
	return ret;
}

/* One work for each CPU; only one stop at a time. [stop_machine_mutex] */
static DEFINE_PER_CPU(struct cpu_stop_work, stop_machine_work);

/*
 * Ask every other CPU's stopper to run multi_cpu_stop. Returns how many were asked. [stop_machine_mutex,
 * preemption off]
 */
static unsigned queue_stops(struct stop_machine_data *d, unsigned self)
{
	unsigned cpu, n = 0;

	for_each_online_cpu(cpu) {
		struct cpu_stop_work *w = per_cpu_ptr(&stop_machine_work, cpu);

		if (cpu == self)
			continue;
		w->fn = multi_cpu_stop;
		w->arg = d;
		BUG_ON(!queue_stop_work(cpu, w)); /* online CPUs have one from the moment others can call us */
		cpumask_set_cpu(cpu, &d->asked);
		n++;
	}
	return n;
}

/* With one CPU, or at boot, when there is no other CPU to stop yet. */
static int stop_alone(int (*fn)(void *), void *data)
{
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	ret = fn(data);
	arch_sync_core();
	local_irq_restore(flags);
	return ret;
}

/*
 * The whole stop, with the mutex held over all of it.
 *
 * A stop is a grace period of RCU as well. A reader has preemption off, so once a stopper thread has run on a CPU,
 * every reader that was there is through. The initiator itself was preemptible before, so it was no reader. Therefore
 * the stop takes the number of a grace period (rcu_gp_begin before it, rcu_gp_end after it), and a caller that
 * unpublished something before the stop need not wait again: that second wait would only wake all CPUs once more (see
 * cond_synchronize_rcu). A stop of one CPU (stop_alone) takes no number; synchronize_rcu returns at once then anyway.
 *
 * While the machine is stopped, no task is on its way into a callback of ftrace's users either (see
 * in_ftrace_text in <kernel/entry.h>). So users, their sets and the choice of entries are changed as if
 * there were one CPU.
 */
static int stop_all_cpus(struct stop_machine_data *d, int (*fn)(void *), void *data)
{
	unsigned cpu, self;
	u64 grace_period;
	int ret;

	preempt_disable(); /* where one CPU runs, another one comes up only when this task lets it */
	if (num_online_cpus() == 1) {
		ret = stop_alone(fn, data);
		preempt_enable();
		return ret;
	}
	preempt_enable();
	mutex_lock(&stop_machine_mutex);
	grace_period = rcu_gp_begin(); /* stoppers run on all other CPUs, and no reader on ours: it is one */
	/* Preemption off: nothing comes between the others' arrival and ours, and `self` stays true. */
	preempt_disable();
	self = smp_processor_id();
	d->others = num_online_cpus() - 1;
	WRITE_ONCE(stop_asked, 1);
	queue_stops(d, self);
	ret = run_stopped(d, self, fn, data);
	preempt_enable();
	/* The next stop uses the works again, and d goes: the stoppers must be done with both. */
	for_each_cpu(cpu, &d->asked)
		wait_for_completion(&per_cpu_ptr(&stop_machine_work, cpu)->done);
	rcu_gp_end(grace_period);
	mutex_unlock(&stop_machine_mutex);
	return ret;
}

int noinline stop_machine(int (*fn)(void *), void *data)
{
	struct stop_machine_data d = {0};

	return stop_all_cpus(&d, fn, data);
}
EXPORT_SYMBOL(stop_machine);

/* The initiator's part of stop_machine_each. */
static int stop_run_each(void *arg)
{
	struct stop_machine_data *d = arg;

	set_state(d, STOP_RUN);
	d->each(d->data);
	wait_for_count(&d->ran, d->others);
	return 0;
}

void stop_machine_each(void (*fn)(void *), void *data)
{
	struct stop_machine_data d = {.each = fn, .data = data};

	stop_all_cpus(&d, stop_run_each, &d);
}

/*
 * ---- A CPU leaves. It arrives in the stop like all others, runs `leave`, and then goes its own way: its stopper does
 * what was asked of it before, there is no other task left, and its idle task is the one that counts it as through. The
 * others stand still up to that moment, and until the machine says that the CPU is off.
 */
static struct stop_machine_data leaving; /* [cpu_hotplug_mutex] */

static void leave_if_ours(void *unused)
{
	if (smp_processor_id() != leaving.leaver)
		return;
	WRITE_ONCE(this_cpu(cpu_stopper).ready, false);
	leaving.leave(leaving.leaver);
}

static int stop_run_leave(void *unused)
{
	int ret = stop_run_each(&leaving);

	arch_cpu_wait_dead(leaving.leaver);
	return ret;
}

void stop_machine_without(unsigned cpu, void (*leave)(unsigned cpu))
{
	leaving = (struct stop_machine_data){.each = leave_if_ours, .leave = leave, .leaver = cpu};
	stop_all_cpus(&leaving, stop_run_leave, NULL);
}

noinstr void stop_machine_left(void)
{
	__atomic_fetch_add(&leaving.ran, 1, __ATOMIC_RELEASE);
}

/* Put a task into the stop class, which comes before every priority. Before the task's first run. */
static void set_stop_class(struct task_struct *p, int cpu)
{
	p->policy = SCHED_FIFO;
	p->rt_priority = MAX_RT_PRIO - 1;
	p->prio = p->normal_prio = 0;
	p->sched_class = &stop_sched_class;
	cpu_rq(cpu)->stop = p;
}

/* Make the stopper of one CPU, unless it has one. 0 or -ENOMEM. */
static int make_stopper(unsigned cpu)
{
	struct cpu_stopper *s = per_cpu_ptr(&cpu_stopper, cpu);
	struct task_struct *t;

	if (s->thread)
		return 0;
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->works);
	t = kthread_create_on_cpu(cpu_stopper_thread, s, cpu, "migration/%u", cpu);
	if (IS_ERR(t))
		return PTR_ERR(t);
	s->thread = t;
	set_stop_class(t, cpu);
	return 0;
}

/* From now on it takes works. The release comes last: a CPU that sees `ready` sees the thread and the lock. */
static int ready_stopper(unsigned cpu)
{
	smp_store_release(&per_cpu_ptr(&cpu_stopper, cpu)->ready, true);
	return 0;
}

/* A CPU that comes up takes works in the moment in which it is online. The first one wakes a thread that is new. */
static const struct cpuhp_step stopper_prepare = {.name = "sched:stopper", .stage = CPUHP_PREPARE, .up = make_stopper};
static const struct cpuhp_step stopper_starting = {
	.name = "sched:stopper", .stage = CPUHP_STARTING, .up = ready_stopper};
REGISTER_CPUHP(stopper_prepare);
REGISTER_CPUHP(stopper_starting);

void cpu_stop_init(void)
{
	unsigned cpu;

	for_each_online_cpu(cpu) {
		if (make_stopper(cpu))
			panic("cannot start migration/%u", cpu);
		ready_stopper(cpu);
		wake_up_process(per_cpu_ptr(&cpu_stopper, cpu)->thread);
	}
}

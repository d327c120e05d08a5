/*
 * Softirqs: work that an interrupt leaves for when it is over; and the entry and exit of interrupts.
 *
 * An interrupt handler sets a bit in its CPU's softirq_pending. At the end of the outermost interrupt, with
 * interrupts on again, the function of each set bit runs on the same CPU. So handlers stay short, and softirqs need a
 * lock against other CPUs only. When softirqs come too fast they are left to a thread, ksoftirqd, which the scheduler
 * treats like any other task. preempt_count tells the contexts apart: HARDIRQ_OFFSET in an
 * interrupt, SOFTIRQ_OFFSET in a softirq, SOFTIRQ_DISABLE_OFFSET under local_bh_disable.
 */
#include <fs/libfs.h>
#include <irq/irq.h>
#include <irq/irqflags.h>
#include <irq/softirq.h>
#include <kernel/export.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <sched/cpuhp.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <trace/events/irq.h>

/*
 * The names that /proc/softirqs and the events irq:softirq_* show, in the order of their bits: bit 0 runs
 * first.
 */
const char *const softirq_to_name[NR_SOFTIRQS] = {
	"HI", "TIMER", "TTY", "TRACE", "TASKLET", "SCHED", "HRTIMER", "RCU", "NET_RX",
};

/*
 * How long softirqs may delay the interrupted task before ksoftirqd takes over. Linux has 10 rounds and 2 ms, too.
 */
#define MAX_SOFTIRQ_ROUNDS 10
#define MAX_SOFTIRQ_NS	   (2 * NSEC_PER_MSEC)

static void (*softirq_vec[NR_SOFTIRQS])(void); /* [immutable after boot] */

/* How often each softirq has run on this CPU. Others only read. */
struct softirq_counts {
	u32 served[NR_SOFTIRQS]; /* [its CPU, with preemption off] */
};
static DEFINE_PER_CPU(struct softirq_counts, softirq_counts);
static DEFINE_PER_CPU(u32, softirq_pending);		/* [c] */
static DEFINE_PER_CPU(struct task_struct *, ksoftirqd); /* [immutable once set] */

bool local_softirq_pending(void)
{
	return READ_ONCE(this_cpu(softirq_pending));
}

void open_softirq(int nr, void (*action)(void))
{
	softirq_vec[nr] = action;
}

/*
 * Wake this CPU's ksoftirqd; before there is one, the next interrupt serves what is pending. Context:
 * interrupts off.
 */
static void wakeup_softirqd(void)
{
	struct task_struct *t = this_cpu(ksoftirqd);

	if (t)
		wake_up_process(t);
}

notrace void __raise_softirq_irqoff(int nr)
{
	trace_softirq_raise(nr);
	this_cpu(softirq_pending) |= 1U << nr;
}

/*
 * In an interrupt or with softirqs disabled, the end of that context serves the softirq. A task that raises
 * one has no such end, so it leaves the work to ksoftirqd.
 */
void raise_softirq_irqoff(int nr)
{
	__raise_softirq_irqoff(nr);
	if (!in_interrupt())
		wakeup_softirqd();
}

void raise_softirq(int nr)
{
	unsigned long flags;

	local_irq_save(flags);
	raise_softirq_irqoff(nr);
	local_irq_restore(flags);
}
EXPORT_SYMBOL(raise_softirq);

/*
 * Run what is pending now, once. The bits are cleared before interrupts go on: a bit that is set later
 * belongs to the next round and is not lost. Context: interrupts off; they are on while the functions run.
 */
static void softirq_round(void)
{
	u32 pending = this_cpu(softirq_pending);

	this_cpu(softirq_pending) = 0;
	local_irq_enable();
	while (pending) {
		int nr = __builtin_ctz(pending);

		pending &= pending - 1;
		this_cpu(softirq_counts).served[nr]++;
		trace_softirq_entry(nr);
		softirq_vec[nr]();
		trace_softirq_exit(nr);
	}
	local_irq_disable();
}

/*
 * Rounds until nothing is pending, or the time is over, or another task should run. Context: interrupts
 * off, not in an interrupt or softirq. SOFTIRQ_OFFSET keeps an interrupt that comes meanwhile from starting
 * a second level.
 */
static void noinline __do_softirq(void)
{
	u64 end = sched_clock() + MAX_SOFTIRQ_NS;
	int rounds = MAX_SOFTIRQ_ROUNDS;

	__preempt_count_add(SOFTIRQ_OFFSET);
	trace_hook(trace_preempt_key, true, trace_irq_context_enter);
	do {
		softirq_round();
	} while (this_cpu(softirq_pending) && --rounds && (s64)(sched_clock() - end) < 0 && !need_resched());
	if (this_cpu(softirq_pending))
		wakeup_softirqd();
	trace_hook(trace_preempt_key, true, trace_irq_context_exit);
	__preempt_count_sub(SOFTIRQ_OFFSET);
}

/* Serve what is pending, unless this is an interrupt or a softirq, or softirqs are disabled. Any context but nmi. */
void noinline do_softirq(void)
{
	unsigned long flags;

	if (in_interrupt())
		return;
	local_irq_save(flags);
	if (this_cpu(softirq_pending))
		__do_softirq();
	local_irq_restore(flags);
}

void noinline __lockfunc irq_enter(void)
{
	__preempt_count_add(HARDIRQ_OFFSET);
	trace_hook(trace_preempt_key, true, trace_irq_context_enter);
}

/*
 * The end of an interrupt. Only the outermost one, which interrupted neither a softirq nor a section with
 * softirqs disabled, serves softirqs. Context: interrupts off.
 */
void noinline __lockfunc irq_exit(void)
{
	trace_hook(trace_preempt_key, true, trace_irq_context_exit);
	__preempt_count_sub(HARDIRQ_OFFSET);
	if (unlikely(this_cpu(softirq_pending)) && !in_interrupt())
		__do_softirq();
}

void __lockfunc local_bh_disable(void)
{
	preempt_count_add(SOFTIRQ_DISABLE_OFFSET);
}
EXPORT_SYMBOL(local_bh_disable);

void __lockfunc local_bh_enable(void)
{
	/* Preemption stays off until the softirqs are served, as the pending bits belong to this CPU. */
	__preempt_count_sub(SOFTIRQ_DISABLE_OFFSET - PREEMPT_OFFSET); /* not to zero: tracers need not be told */
	if (unlikely(local_softirq_pending()))
		do_softirq();
	preempt_enable();
}
EXPORT_SYMBOL(local_bh_enable);

/*
 * The thread serves the softirqs that were too many for the ends of interrupts. TASK_IDLE is set before the look, so
 * when a bit is raised after the look, there is a sleeper to wake. With cond_resched it shares the CPU fairly with
 * other tasks.
 */
static int run_ksoftirqd(void *unused)
{
	for (;;) {
		if (unlikely(kthread_should_park()))
			kthread_parkme();
		set_current_state(TASK_IDLE);
		if (!local_softirq_pending() && !kthread_should_park()) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		local_irq_disable();
		if (this_cpu(softirq_pending))
			__do_softirq();
		local_irq_enable();
		cond_resched();
	}
	return 0;
}

/* A CPU's thread, unless there is one: it stays for ever. 0 or -ENOMEM. */
static int make_ksoftirqd(unsigned cpu)
{
	struct task_struct *t;

	if (per_cpu(ksoftirqd, cpu))
		return 0;
	t = kthread_create_on_cpu(run_ksoftirqd, NULL, cpu, "ksoftirqd/%u", cpu);
	if (IS_ERR(t))
		return PTR_ERR(t);
	WRITE_ONCE(per_cpu(ksoftirqd, cpu), t);
	return 0;
}

/* It is new, or parked. */
static int start_ksoftirqd(unsigned cpu)
{
	struct task_struct *t = per_cpu(ksoftirqd, cpu);

	kthread_unpark(t);
	wake_up_process(t);
	return 0;
}

static int park_ksoftirqd(unsigned cpu)
{
	kthread_park(per_cpu(ksoftirqd, cpu));
	return 0;
}

/*
 * What was still pending when the CPU went is this CPU's now: what it is about has been handed over as well, or is
 * global.
 */
static int softirqs_cpu_dead(unsigned cpu)
{
	unsigned long flags;
	u32 pending;

	local_irq_save(flags);
	for (pending = per_cpu(softirq_pending, cpu); pending; pending &= pending - 1)
		raise_softirq_irqoff(__builtin_ctz(pending));
	per_cpu(softirq_pending, cpu) = 0;
	local_irq_restore(flags);
	return 0;
}

static const struct cpuhp_step softirqs_prepare = {
	.name = "irq:softirqs", .stage = CPUHP_PREPARE, .up = make_ksoftirqd, .down = softirqs_cpu_dead};
static const struct cpuhp_step softirqs_online = {
	.name = "irq:ksoftirqd", .stage = CPUHP_ONLINE, .up = start_ksoftirqd, .down = park_ksoftirqd};
REGISTER_CPUHP(softirqs_prepare);
REGISTER_CPUHP(softirqs_online);

/* A thread for each CPU. Before this no softirq is lost: the ends of interrupts serve them. */
static int spawn_ksoftirqd(void)
{
	unsigned cpu;

	for_each_online_cpu(cpu) {
		if (make_ksoftirqd(cpu))
			panic("cannot start ksoftirqd/%u", cpu);
		start_ksoftirqd(cpu);
	}
	return 0;
}
core_initcall(spawn_ksoftirqd);

/* Stands for a softirq whose subsystem does not exist, so that softirq_round need not ask. */
static void softirq_no_action(void)
{
}

u64 kstat_softirqs_cpu(int nr, int cpu)
{
	return READ_ONCE(per_cpu(softirq_counts, cpu).served[nr]);
}

/* /proc/softirqs: a row for each softirq, a column for each CPU. */
static int softirqs_show(struct seq_file *m, void *v)
{
	unsigned cpu;

	seq_printf(m, "%20s", "");
	for_each_possible_cpu(cpu)
		seq_printf(m, "CPU%-8u", cpu);
	seq_putc(m, '\n');
	for (int nr = 0; nr < NR_SOFTIRQS; nr++) {
		seq_printf(m, "%12s:", softirq_to_name[nr]);
		for_each_possible_cpu(cpu)
			seq_printf(m, " %10llu", (unsigned long long)kstat_softirqs_cpu(nr, cpu));
		seq_putc(m, '\n');
	}
	return 0;
}

static const struct text_file softirqs_entry = {.path = "softirqs", .mode = 0444, .show = softirqs_show};
REGISTER_PROC(softirqs_entry);

void softirq_init(void)
{
	for (int i = 0; i < NR_SOFTIRQS; i++)
		if (!softirq_vec[i])
			softirq_vec[i] = softirq_no_action;
}

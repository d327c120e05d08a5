/*
 * The other CPUs: calling functions on them, interrupting them, and starting them at boot.
 *
 * A call is a struct that the sender fills in and pushes onto the target's list, a stack that needs no lock. Only
 * when the list was empty does the sender interrupt the target; otherwise an interrupt is on its way that will find
 * this call as well. Each sender has one struct for each target, so a call allocates nothing; `busy` says whether
 * that struct is in use.
 *
 * A CPU that waits for another one must have interrupts on: if two CPUs called each other with interrupts off,
 * neither would ever run the other's call.
 */
#include <arch/debug_ops.h>
#include <arch/patch.h>
#include <arch/processor.h>
#include <arch/smp.h>
#include <irq/irqflags.h>
#include <kernel/cmdline.h>
#include <kernel/export.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <kernel/stacktrace.h>
#include <lib/errno.h>
#include <proc/fork.h>
#include <sched/cpuhp.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <trace/fgraph.h>
#include <time/hrtimer.h>

#define CREATE_TRACE_POINTS
#include <trace/events/csd.h>

#define CREATE_TRACE_POINTS
#include <trace/events/ipi.h>

unsigned nr_cpu_ids = 1;
EXPORT_SYMBOL(nr_cpu_ids);
struct cpumask cpu_online_mask = {{1}};
EXPORT_SYMBOL(cpu_online_mask);
struct cpumask cpu_active_mask = {{1}};
struct cpumask cpu_possible_mask = {{1}};
EXPORT_SYMBOL(cpu_possible_mask);
struct cpumask cpu_bit_masks[NR_CPUS]; /* immutable after boot */
EXPORT_SYMBOL(cpu_bit_masks);

static int make_bit_masks(void)
{
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		cpumask_set_cpu(cpu, &cpu_bit_masks[cpu]);
	return 0;
}
early_initcall(make_bit_masks);
struct cpumask cpu_backtrace_mask;

const char *const ipi_names[IPI_MAX] __tracepoint_string = {
	[IPI_RESCHEDULE] = "Rescheduling interrupts",
	[IPI_CALL_FUNCTION] = "Function call interrupts",
	[IPI_STOP] = "CPU stop interrupts",
	[IPI_BACKTRACE] = "CPU backtrace interrupts",
};

/*
 * A call on its way to another CPU. `next` links it into the target's list. `busy` is 1 from the queueing until the
 * sender may use the struct again: when the target has run the function, if the sender waits for that, else as soon as
 * the target has copied what to do.
 */
struct call_single_data {
	struct call_single_data *next;
	smp_call_func_t func;
	void *info;
	u32 busy; /* [atomic] */
	bool wait;
};
struct call_data {
	struct call_single_data to[NR_CPUS];
};
/* For each sender one call to each target, so that nothing has to be allocated. [owner, preemption off] */
static DEFINE_PER_CPU(struct call_data, call_data);
/*
 * Calls that a CPU has to run, newest first. Any CPU pushes to the list; its owner takes the whole list in one
 * exchange. So there is no pop of a single entry, and with it no ABA problem. [atomic]
 */
static DEFINE_PER_CPU(struct call_single_data *, call_queue);

struct ipi_counts {
	u32 kind[IPI_MAX];
};
static DEFINE_PER_CPU(struct ipi_counts, ipi_counts);

u64 ipi_count(unsigned kind, int cpu)
{
	return READ_ONCE(per_cpu(ipi_counts, cpu).kind[kind]);
}

/* All interrupts from CPU to CPU go out here, so that the event ipi_raise sees each. */
static void send_ipi(const struct cpumask *mask, enum ipi_kind kind)
{
	trace_ipi_raise(mask, ipi_names[kind]);
	arch_send_ipi(mask, kind);
}

static void send_ipi_single(int cpu, enum ipi_kind kind)
{
	struct cpumask mask = {{0}};

	mask.bits[cpu / 64] = BIT(cpu % 64);
	send_ipi(&mask, kind);
}

void noinline smp_send_reschedule(int cpu)
{
	trace_ipi_send_cpu(cpu, TRUE_RET_ADDR(), NULL);
	send_ipi_single(cpu, IPI_RESCHEDULE);
}

/*
 * Wait until the target is done with the struct. The acquire pairs with its release: what the function wrote is
 * visible afterwards.
 */
static void csd_lock_wait(struct call_single_data *csd)
{
	while (__atomic_load_n(&csd->busy, __ATOMIC_ACQUIRE))
		cpu_relax();
}

/*
 * Push a call onto the list of `cpu`. Returns whether the list was empty, so that the caller must interrupt the
 * target. The release makes the struct's fields visible before the struct can be found. Preemption is off, so `csd`
 * is ours.
 */
static bool queue_call(int cpu, struct call_single_data *csd, smp_call_func_t func, void *info, bool wait)
{
	struct call_single_data **head = per_cpu_ptr(&call_queue, cpu), *old = READ_ONCE(*head);

	csd_lock_wait(csd); /* the last call with this struct may not have been taken yet, if nobody waited for it */
	csd->func = func;
	csd->info = info;
	csd->wait = wait;
	WRITE_ONCE(csd->busy, 1);
	do {
		csd->next = old;
	} while (!__atomic_compare_exchange_n(head, &old, csd, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	return !old;
}

/* Call fn with its events around it. csd NULL: a call of this CPU's own. Interrupts off. */
static __always_inline void csd_do_func(smp_call_func_t fn, void *info, struct call_single_data *csd)
{
	trace_csd_function_entry(fn, csd);
	fn(info);
	trace_csd_function_exit(fn, csd);
}

/* What this CPU calls itself, with interrupts off as in an interrupt, so that fn finds one context. */
static void call_here(smp_call_func_t fn, void *info)
{
	unsigned long flags;

	local_irq_save(flags);
	csd_do_func(fn, info, NULL);
	local_irq_restore(flags);
}

/*
 * Run the calls of this CPU in the order in which they were made: the list has the newest first, so it is turned
 * round. Context: the interrupt.
 */
static void noinline generic_smp_call_function_interrupt(void)
{
	struct call_single_data *list, *ordered = NULL, *next;

	list = __atomic_exchange_n(this_cpu_ptr(&call_queue), NULL, __ATOMIC_ACQUIRE);
	for (; list; list = next) {
		next = list->next;
		list->next = ordered;
		ordered = list;
	}
	for (list = ordered; list; list = next) {
		smp_call_func_t func = list->func;
		void *info = list->info;
		bool wait = list->wait;

		next = list->next; /* once it is not busy the sender may use it again */
		if (!wait)
			smp_store_release(&list->busy, 0);
		csd_do_func(func, info, list);
		if (wait)
			smp_store_release(&list->busy, 0);
	}
}

/* Tell CPUs that they have calls to run. */
static void send_call_ipi(const struct cpumask *mask, unsigned long callsite)
{
	if (trace_ipi_send_cpu_enabled() && cpumask_weight(mask) == 1)
		trace_ipi_send_cpu(cpumask_first(mask), callsite, generic_smp_call_function_interrupt);
	if (trace_ipi_send_cpumask_enabled() && cpumask_weight(mask) > 1)
		trace_ipi_send_cpumask(mask, callsite, generic_smp_call_function_interrupt);
	send_ipi(mask, IPI_CALL_FUNCTION);
}

/* Preemption stays off throughout, so that the structs of this CPU are used by one task at a time. */
int smp_call_function_single(int cpu, smp_call_func_t fn, void *info, bool wait)
{
	struct cpumask one = {{0}};
	struct call_single_data *csd;

	if (cpu < 0 || cpu >= nr_cpu_ids)
		return -ENXIO;
	preempt_disable(); /* from here on a CPU that is online stays so */
	if (!cpu_online(cpu)) {
		preempt_enable();
		return -ENXIO;
	}
	if (cpu == smp_processor_id()) {
		call_here(fn, info);
	} else {
		/* With interrupts off two CPUs that call each other would wait for ever. */
		WARN_ON_ONCE(irqs_disabled());
		csd = &this_cpu(call_data).to[cpu];
		trace_csd_queue_cpu(cpu, TRUE_RET_ADDR(), fn, csd);
		if (queue_call(cpu, csd, fn, info, wait)) {
			one.bits[cpu / 64] = BIT(cpu % 64);
			send_call_ipi(&one, TRUE_RET_ADDR());
		}
		if (wait)
			csd_lock_wait(csd);
	}
	preempt_enable();
	return 0;
}
EXPORT_SYMBOL(smp_call_function_single);

/* All targets are given their calls before the first wait, so that they work at the same time. */
void smp_call_function_many(const struct cpumask *mask, smp_call_func_t fn, void *info, bool wait)
{
	struct cpumask targets, ring = {{0}};
	struct call_data *data;
	unsigned cpu;

	preempt_disable();
	WARN_ON_ONCE(irqs_disabled());
	data = this_cpu_ptr(&call_data);
	cpumask_and(&targets, mask, &cpu_online_mask);
	cpumask_clear_cpu(smp_processor_id(), &targets);
	for_each_cpu(cpu, &targets) {
		trace_csd_queue_cpu(cpu, TRUE_RET_ADDR(), fn, &data->to[cpu]);
		if (queue_call(cpu, &data->to[cpu], fn, info, wait))
			cpumask_set_cpu(cpu, &ring);
	}
	if (!cpumask_empty(&ring))
		send_call_ipi(&ring, TRUE_RET_ADDR());
	if (wait)
		for_each_cpu(cpu, &targets)
			csd_lock_wait(&data->to[cpu]);
	preempt_enable();
}
EXPORT_SYMBOL(smp_call_function_many);

void on_each_cpu(smp_call_func_t fn, void *info, bool wait)
{
	preempt_disable();
	if (num_online_cpus() > 1)
		smp_call_function_many(&cpu_online_mask, fn, info, wait);
	call_here(fn, info);
	preempt_enable();
}
EXPORT_SYMBOL(on_each_cpu);

/* A panic calls this, so it waits for nothing and takes no lock. */
void smp_send_stop(void)
{
	struct cpumask others = cpu_online_mask;

	cpumask_clear_cpu(smp_processor_id(), &others);
	if (!cpumask_empty(&others))
		send_ipi(&others, IPI_STOP);
}

/* IPI_STOP: leave the CPUs that are online, and never come back. */
static void stop_this_cpu(void)
{
	cpumask_clear_cpu(smp_processor_id(), &cpu_online_mask);
	local_irq_disable();
	arch_halt();
}

/*
 * IPI_BACKTRACE: print where this CPU is. Clearing its bit tells the sender that everything has been said; the
 * barrier orders the text before that.
 */
static void cpu_backtrace(void)
{
	unsigned cpu = smp_processor_id();

	if (!cpumask_test_cpu(cpu, &cpu_backtrace_mask))
		return;
	pr_warn("Backtrace of CPU %u:\n", cpu);
	dump_stack();
	smp_mb();
	cpumask_clear_cpu(cpu, &cpu_backtrace_mask);
}

#define BACKTRACE_TIMEOUT_NS (NSEC_PER_SEC / 10)

/*
 * Ask one CPU, and wait until it has answered, so that the lines of several do not mix. A CPU that is stuck with
 * interrupts off may not answer: the wait has an end.
 */
static void request_backtrace(unsigned cpu)
{
	struct cpumask one = {{0}};
	u64 end = sched_clock() + BACKTRACE_TIMEOUT_NS;

	cpumask_set_cpu(cpu, &one);
	cpumask_set_cpu(cpu, &cpu_backtrace_mask);
	send_ipi(&one, IPI_BACKTRACE);
	while (cpumask_test_cpu(cpu, &cpu_backtrace_mask)) {
		if ((s64)(sched_clock() - end) > 0) {
			cpumask_clear_cpu(cpu, &cpu_backtrace_mask);
			pr_warn("CPU %u does not answer\n", cpu);
			return;
		}
		cpu_relax();
	}
	console_flush(); /* a CPU that answers in an NMI only adds to the log, so print it from here */
}

void trigger_all_cpu_backtrace(void)
{
	unsigned cpu, self;

	preempt_disable();
	self = smp_processor_id();
	pr_warn("Backtrace of CPU %u:\n", self);
	dump_stack();
	for_each_online_cpu(cpu)
		if (cpu != self)
			request_backtrace(cpu);
	preempt_enable();
}

/* An interrupt of another CPU's making has come. Context: interrupt, between irq_enter() and irq_exit(). */
void noinline handle_ipi(enum ipi_kind kind)
{
	this_cpu(ipi_counts).kind[kind]++;
	trace_ipi_entry(ipi_names[kind]);
	switch (kind) {
	case IPI_RESCHEDULE:
		break; /* TIF_NEED_RESCHED is set already: the way out of the interrupt looks at it */
	case IPI_CALL_FUNCTION:
		generic_smp_call_function_interrupt();
		break;
	case IPI_STOP:
		stop_this_cpu();
		break;
	case IPI_BACKTRACE:
		cpu_backtrace();
		break;
	case IPI_MAX:
		break;
	}
	trace_ipi_exit(ipi_names[kind]);
}

void smp_setup_boot_cpu(unsigned nr_cpus)
{
	unsigned cpu;

	if (nr_cpus > NR_CPUS)
		pr_warn("smp: %u CPUs, %d can be used\n", nr_cpus, NR_CPUS);
	nr_cpu_ids = min_t(unsigned, max(nr_cpus, 1U), NR_CPUS);
	for_each_possible_cpu(cpu)
		cpumask_set_cpu(cpu, &cpu_possible_mask);
}

/* A CPU that leaves runs what it was still asked to do: after this nobody asks it. Context: <sched/cpuhp.h>, dying. */
static int smp_calls_dying(unsigned cpu)
{
	generic_smp_call_function_interrupt();
	return 0;
}
static const struct cpuhp_step smp_calls_step = {.name = "smp:calls", .stage = CPUHP_STARTING, .down = smp_calls_dying};
REGISTER_CPUHP(smp_calls_step);

static bool smp_up; /* [smp_init] all CPUs that are online have a stopper */

/*
 * How far a CPU has come that is being started. The starter sets WANTED, and GIVEN_UP when its patience ends; the CPU
 * sets ARRIVED, by compare-and-exchange, so that one of the two is told by the other. Then it waits for ADMITTED.
 */
enum arrival_state { ARRIVAL_NONE, ARRIVAL_WANTED, ARRIVAL_ARRIVED, ARRIVAL_ADMITTED, ARRIVAL_GIVEN_UP };
static DEFINE_PER_CPU(u32, arrival); /* [atomic] */

/*
 * A CPU that has arrived waits until the starter has stopped all others. It is not among those that a stop waits for,
 * and text may change meanwhile: so it waits in .noinstr.text, where no site is, and what it has run up to here has no
 * sites either. A CPU that comes too late halts.
 */
static noinstr void wait_for_admission(void)
{
	u32 wanted = ARRIVAL_WANTED;
	u32 *state = this_cpu_ptr(&arrival);

	if (!__atomic_compare_exchange_n(state, &wanted, ARRIVAL_ARRIVED, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		arch_halt();
	while (__atomic_load_n(state, __ATOMIC_ACQUIRE) != ARRIVAL_ADMITTED)
		cpu_relax();
	arch_sync_core(); /* what was fetched ahead of a change is forgotten */
}

/*
 * Where another CPU arrives in C: interrupts are off, current is its idle task, and its per-CPU offset is set. The
 * order of the steps matters:
 *
 *  1. the wait for the moment when all other CPUs stand still. Before that nothing may be traced;
 *  2. the interrupt controller of this CPU, so that it can be interrupted;
 *  3. what rooms have registered as STARTING: its timers and its tick, which the first task that runs here will need;
 *  4. online. From here on other CPUs send it interrupts, put tasks on its queue, and wait for it in stop_machine. All
 *     that comes before must be in place by then, and the atomic operation on the mask orders it before the bit;
 *  5. the breakpoints that the other CPUs have, now that who changes them sees this CPU;
 *  6. interrupts on, and the idle loop, which looks for work at once.
 */
notrace void secondary_start_kernel(void)
{
	unsigned cpu = smp_processor_id();

	wait_for_admission();
	arch_smp_cpu_init();
	cpuhp_starting(cpu);
	__atomic_fetch_or(&cpu_online_mask.bits[cpu / 64], BIT(cpu % 64), __ATOMIC_SEQ_CST);
	if (has_debug_ops())
		debug_ops()->cpu_up();
	local_irq_enable();
	cpu_startup_entry();
}

/* Generous: the host may run our CPUs one after the other. By the counter, which runs whether or not CPUs do. */
#define CPU_START_TIMEOUT_NS (10 * NSEC_PER_SEC)

/* Spin rather than sleep: it takes microseconds, and a sleep would need this CPU's timer to work already. */
static int wait_for_arrival(unsigned cpu)
{
	u32 wanted = ARRIVAL_WANTED;
	u32 *state = per_cpu_ptr(&arrival, cpu);
	u64 end = sched_clock() + CPU_START_TIMEOUT_NS;

	while (__atomic_load_n(state, __ATOMIC_ACQUIRE) == ARRIVAL_WANTED) {
		if ((s64)(sched_clock() - end) > 0 &&
		    __atomic_compare_exchange_n(state, &wanted, ARRIVAL_GIVEN_UP, false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return -ETIMEDOUT;
		cpu_relax();
	}
	return 0;
}

/*
 * Let a CPU in that has arrived, and wait until it is online: a matter of some thousand instructions. Context: all
 * other CPUs are stopped, or are not there yet.
 */
static int admit_cpu(void *data)
{
	unsigned cpu = *(unsigned *)data;

	smp_store_release(per_cpu_ptr(&arrival, cpu), ARRIVAL_ADMITTED);
	while (!cpu_online(cpu))
		cpu_relax();
	smp_mb(); /* what it did before it came online is visible */
	return 0;
}

/* The CPU's idle task, in its first state: a new one for a CPU that was never there. ERR_PTR(-ENOMEM). */
static struct task_struct *fresh_idle(unsigned cpu)
{
	struct task_struct *idle = idle_task(cpu) ?: fork_idle(cpu);

	if (!IS_ERR(idle))
		init_idle(idle, cpu);
	return idle;
}

/*
 * Start one CPU, with an idle task on whose stack it runs from its first instruction. Failing is not fatal: the machine
 * works with the CPUs that it has.
 */
int smp_start_cpu(unsigned cpu)
{
	struct task_struct *idle = fresh_idle(cpu);
	int err;

	if (IS_ERR(idle)) {
		pr_err("smp: CPU%u: no idle task: %ld\n", cpu, PTR_ERR(idle));
		return PTR_ERR(idle);
	}
	smp_store_release(per_cpu_ptr(&arrival, cpu), ARRIVAL_WANTED);
	err = arch_cpu_start(cpu, idle);
	if (!err)
		err = wait_for_arrival(cpu);
	/* The CPU may still come up later and use that stack, so the idle task is not freed. */
	if (err) {
		smp_store_release(per_cpu_ptr(&arrival, cpu), ARRIVAL_GIVEN_UP);
		pr_err("smp: CPU%u did not start: %d\n", cpu, err);
		return err;
	}
	/*
	 * At boot there are no stoppers yet, and nothing that must stand still: text is not changed before smp_init()
	 * ends.
	 */
	if (smp_up)
		stop_machine(admit_cpu, &cpu);
	else
		admit_cpu(&cpu);
	return 0;
}

static unsigned max_cpus = NR_CPUS; /* [immutable after boot] */

/* How many CPUs a boot starts; the others come by cpuN/online. 0 or -EINVAL. */
static int set_max_cpus(const char *value)
{
	return kstrtouint(value, 10, &max_cpus);
}
__setup("maxcpus=", set_max_cpus);

/* The same as maxcpus=0: the CPU that boots is alone. */
static int set_nosmp(const char *value)
{
	max_cpus = 0;
	return 0;
}
__setup("nosmp", set_nosmp);

/* One CPU after the other: on x86_64 there is one page in which CPUs start, with one place for a stack. */
void smp_init(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu) && num_online_cpus() < max_cpus && !smp_start_cpu(cpu))
			cpumask_set_cpu(cpu, &cpu_active_mask);
	cpu_stop_init();
	smp_up = true;
	pr_info("smp: Brought up 1 node, %u CPU%s\n", num_online_cpus(), num_online_cpus() == 1 ? "" : "s");
}

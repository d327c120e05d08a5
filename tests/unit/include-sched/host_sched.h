/*
 * The scheduler on the host: the kernel's own runqueues, classes, timers, tick and softirqs on simulated
 * CPUs. There is one stack: a switch changes who is current, and the test goes on as that task. Code takes no
 * time; the clock goes when host_run() lets it, from one timer interrupt to the next. So what happens when is
 * exact to the nanosecond.
 *
 * Include once; the head of the test says "sources of:" this file.
 */
/* sources: kernel/sched/core.c kernel/sched/fair.c kernel/sched/fair_math.c kernel/sched/rt.c */
/* sources: kernel/sched/rt_balance.c kernel/sched/deadline/deadline.c kernel/sched/deadline/deadline_balance.c */
/* sources: kernel/sched/deadline/deadline_bw.c kernel/sched/stop.c kernel/sched/idle.c kernel/sched/policy.c */
/* sources: kernel/sched/cpuidle.c */
/* sources: kernel/sched/account/queued.c kernel/sched/migrate.c */
/* sources: kernel/sched/balance.c kernel/sched/wakeup.c kernel/sched/init.c */
/* sources: kernel/sched/tick.c kernel/sched/account/loadavg.c kernel/sched/account/cputime.c kernel/lock/spinlock.c */
/* sources: kernel/time/hrtimer.c kernel/time/tick.c kernel/irq/softirq.c */
/* sources: kernel/lib/bitmap.c kernel/lib/rbtree.c */
#pragma once

#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <fs/libfs.h>
#include <irq/irq.h>
#include <irq/softirq.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <mm/mm.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <time/hrtimer.h>
#include <time/irq_share.h>

#include "../../../kernel/sched/sched.h"

#define HOST_TASKS 64
#define HOST_CPUS  8
#define MS	   (1000 * 1000UL)
#define US	   1000UL
#define NEVER	   U64_MAX

struct task_struct init_task, *host_current = &init_task;
struct mm_struct init_mm;
u64 host_clock = 5 * NSEC_PER_SEC, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned long host_irqs_off;
unsigned nr_cpu_ids = 1;
struct cpumask cpu_online_mask, cpu_active_mask, cpu_possible_mask;
unsigned long __per_cpu_offset[NR_CPUS];

static struct task_struct host_tasks[HOST_TASKS], host_idle[HOST_CPUS], host_stoppers[HOST_CPUS];
static unsigned host_nr_tasks;
static u64 host_event[HOST_CPUS]; /* when each CPU's timer interrupts */
static u64 host_ipis;		  /* CPUs that were sent one and have not looked */
static u64 host_ran[HOST_TASKS];  /* by the switches: what each task has run, ended runs only */
static u64 host_since[HOST_CPUS]; /* of the run that is under way */
static unsigned host_xcpu;	  /* SIGXCPU sent */
static bool host_fatal;		  /* a signal that is pending is fatal */
static bool host_in_exit;
static jmp_buf host_dead;
static void (*host_on_relax)(void); /* the test's part when a CPU waits for another */
static void (*host_on_idle)(void);  /* and when one waits for an interrupt, with interrupts off */
static void (*host_on_stop)(void);  /* and once, before a stopper does what it was woken for */

static char host_did[128]; /* what the test did last */

/* What a failed invariant is called: when it was found, and after what. */
#define host_fail(fmt, ...) \
	fail_msg("at %llu us, after %s: " fmt, (unsigned long long)(host_clock / 1000), host_did, ##__VA_ARGS__)
#define host_do(fmt, ...) ((void)snprintf(host_did, sizeof(host_did), fmt, ##__VA_ARGS__))

/* ---- What the kernel calls. */

int printk(const char *fmt, ...)
{
	host_fail("the kernel says: %s", fmt);
	return 0;
}
void cpuhp_idle_dead(void)
{
	host_fail("a CPU leaves");
	abort();
}
/* Threads of the kernel do not rest here. */
bool kthread_should_park(void)
{
	return false;
}
void kthread_parkme(void)
{
}
void kthread_park(struct task_struct *t)
{
}
void kthread_unpark(struct task_struct *t)
{
}
bool printk_wake_pending;
static unsigned host_readers_woken; /* of the log */
/* Tasks of these tests do not hold their CPU. */
void check_soft_lockup(const struct rq *rq, bool user)
{
}
void printk_wake_readers(void)
{
	printk_wake_pending = false;
	host_readers_woken++;
}
s64 schedule_timeout_ns(s64 timeout)
{
	return 0;
}
void dump_stack(void)
{
}
void panic(const char *fmt, ...)
{
	host_fail("panic: %s", fmt);
	abort();
}
void __warn(const char *file, int line, const char *cond)
{
	host_fail("WARN at %s:%d: %s", file, line, cond);
}
void __bug(const char *file, int line, const char *cond)
{
	if (host_in_exit)
		longjmp(host_dead, 1);
	host_fail("BUG at %s:%d: %s", file, line, cond);
	abort();
}
void host_relax(void)
{
	if (!host_on_relax)
		host_fail("CPU %u waits for ever", smp_processor_id());
	host_on_relax();
}
void host_wait(void)
{
	if (host_on_idle)
		host_on_idle();
}
/* Code takes no time here, so a timer that is set to now again and again would run for ever. */
void host_timer_cancelled(void)
{
}
void host_timer_expires(void)
{
	static unsigned runs;
	static u64 at;

	runs = at == host_clock ? runs + 1 : 0;
	at = host_clock;
	if (runs > 10000)
		host_fail("timers run for ever at one moment on CPU %u", smp_processor_id());
}
void __put_task_struct(struct task_struct *t)
{
	host_fail("%s is freed while the test has it", t->comm);
}
int send_sig(int sig, struct task_struct *p, int priv)
{
	host_xcpu += sig == SIGXCPU;
	return 0;
}
bool fatal_signal_pending(struct task_struct *t)
{
	return host_fatal && signal_pending(t);
}
int kstrtoll(const char *s, unsigned base, s64 *res)
{
	*res = strtoll(s, NULL, (int)base);
	return 0;
}
struct task_struct *kthread_create_on_cpu(int (*fn)(void *), void *data, int cpu, const char *namefmt, ...)
{
	return NULL;
}
void smp_send_reschedule(int cpu)
{
	if (cpu == (int)smp_processor_id())
		host_fail("CPU %d sends an interrupt to itself", cpu);
	host_ipis |= BIT(cpu);
}

/* Every switch comes by here. Nobody runs where it may not. */
void host_switched(struct task_struct *prev, struct task_struct *next)
{
	unsigned cpu = prev->cpu;

	if (!task_allowed(next, cpu))
		host_fail("%s is about to run on CPU %u, which it may not use", next->comm, cpu);
	if (next->on_cpu)
		host_fail("%s is about to run on CPU %u and runs already", next->comm, cpu);
	if (prev >= host_tasks && prev < host_tasks + HOST_TASKS)
		host_ran[prev - host_tasks] += host_clock - host_since[cpu];
	host_since[cpu] = host_clock;
}
struct task_struct *cpu_switch_to(struct task_struct *prev, struct task_struct *next)
{
	host_current = next;
	return prev;
}

static void host_set_event(u64 delta)
{
	host_event[smp_processor_id()] = host_clock + delta;
}
static void host_no_event(void)
{
	host_event[smp_processor_id()] = NEVER;
}
static void host_setup_timer(void)
{
}
static const struct clock_event_device host_timer = {"host", host_set_event, host_no_event, host_setup_timer};

/* ---- What the test calls. */

static inline struct task_struct *host_runs(unsigned cpu)
{
	return cpu_rq(cpu)->curr;
}

/* The test goes on as what this CPU runs. */
static inline void host_on(unsigned cpu)
{
	host_current = host_runs(cpu);
	if (host_irqs_off)
		host_fail("interrupts were left off on CPU %u", cpu);
	if (current->preempt_count != (is_idle_task(current) ? 1 : 0))
		host_fail("%s has a preempt_count of %#x", current->comm, current->preempt_count);
}

/* schedule() was called as one task and returned as another, whose own frame would have counted down, or not.
 */
static inline void host_frame(void)
{
	current->preempt_count = is_idle_task(current) ? 1 : 0;
}

static inline void host_reschedule(unsigned cpu)
{
	host_on(cpu);
	if (is_idle_task(current)) {
		tick_nohz_idle_exit();
		schedule_idle();
	} else {
		host_irqs_off = 1;
		preempt_schedule_irq();
		host_irqs_off = 0;
	}
	host_frame();
}

/* Every CPU that was asked to looks for its next task; one of the others must have been sent an interrupt. */
static inline void host_settle(void)
{
	unsigned here = smp_processor_id();
	bool again = true;

	if (need_resched())
		host_reschedule(here);
	while (again) {
		again = false;
		for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++) {
			bool told = host_ipis & BIT(cpu);

			host_ipis &= ~BIT(cpu);
			if (!test_tsk_thread_flag(host_runs(cpu), TIF_NEED_RESCHED))
				continue;
			if (!told)
				host_fail("CPU %u must look for another task, but was sent no interrupt", cpu);
			host_reschedule(cpu);
			again = true;
		}
	}
	host_on(here);
}

#include <host_sched_check.h>

/* Let time pass: timer interrupts come when they are due, on their CPUs. */
static inline void host_run_until(u64 t)
{
	unsigned here = smp_processor_id(), next;

	for (;;) {
		next = 0;
		for (unsigned cpu = 1; cpu < nr_cpu_ids; cpu++)
			if (host_event[cpu] < host_event[next])
				next = cpu;
		if (host_event[next] > t)
			break;
		host_clock = max(host_clock, host_event[next]);
		host_event[next] = NEVER;
		host_do("a timer's interrupt on CPU %u", next);
		host_on(next);
		host_irqs_off = 1;
		irq_enter();
		hrtimer_interrupt();
		irq_exit();
		host_irqs_off = 0;
		host_settle();
		host_check();
	}
	host_clock = t;
	host_on(here);
}
static inline void host_run(u64 ns)
{
	host_run_until(host_clock + ns);
}

/* What p has run, by the switches and not by the scheduler's own account. */
static inline u64 host_time_of(const struct task_struct *p)
{
	u64 ns = host_ran[p - host_tasks];

	return p->on_cpu ? ns + host_clock - host_since[p->cpu] : ns;
}

/* The task that this CPU runs goes to sleep. */
static inline void host_sleep(struct task_struct *p)
{
	host_do("%s has slept", p->comm);
	host_on(p->cpu);
	if (p != current)
		host_fail("%s must sleep and does not run", p->comm);
	set_current_state(TASK_INTERRUPTIBLE);
	schedule();
	host_frame();
	host_settle();
	host_check();
}
static inline void host_wake(struct task_struct *p)
{
	host_do("%s was woken", p->comm);
	if (!wake_up_process(p))
		host_fail("%s was not asleep", p->comm);
	host_settle();
	host_check();
}
static inline void host_yield(struct task_struct *p)
{
	host_do("%s has yielded", p->comm);
	host_on(p->cpu);
	if (p != current)
		host_fail("%s must yield and does not run", p->comm);
	do_sched_yield();
	host_frame();
	host_settle();
	host_check();
}
static inline void host_exit(struct task_struct *p)
{
	host_do("%s has ended", p->comm);
	host_on(p->cpu);
	if (p != current)
		host_fail("%s must end and does not run", p->comm);
	sched_exit(p);
	host_in_exit = true;
	if (!setjmp(host_dead))
		do_task_dead();
	host_in_exit = false;
	host_frame();
	host_settle();
	host_check();
}

/* A child of what runs here, with the parent's policy; a fair task when that is the idle task. */
static inline struct task_struct *host_fork(const char *name)
{
	struct task_struct *p = &host_tasks[host_nr_tasks];

	host_do("%s has forked", current->comm);
	assert_in_range(host_nr_tasks++, 0, HOST_TASKS - 1);
	*p = *current;
	if (is_idle_task(current)) {
		memset(p->cpus_mask, 0xff, sizeof(p->cpus_mask));
		p->nr_cpus_allowed = NR_CPUS;
	}
	p->flags = 0;
	p->pid = (pid_t)host_nr_tasks;
	strncpy(p->comm, name, sizeof(p->comm) - 1);
	atomic_set(&p->usage, 2);
	assert_int_equal(sched_fork(p, 0), 0);
	wake_up_new_task(p);
	host_settle();
	host_check();
	return p;
}

/* Until it is p's turn, looking every so often. */
static inline void host_run_to(struct task_struct *p, u64 step)
{
	for (int i = 0; host_runs(p->cpu) != p; i++) {
		if (i == 10000)
			host_fail("%s does not get its turn", p->comm);
		host_run(step);
	}
}

/* The same when it is p's turn. */
static inline struct task_struct *host_fork_from(struct task_struct *p, const char *name)
{
	host_run_to(p, MS);
	host_on(p->cpu);
	return host_fork(name);
}

static inline int host_set(struct task_struct *p, struct sched_params sp)
{
	int ret;

	host_do("%s of policy %u, priority %d, was set to policy %d, nice %d", p->comm, p->policy, p->prio, sp.policy,
		sp.nice);
	ret = __sched_setscheduler(p, &sp);
	host_settle();
	host_check();
	return ret;
}
static inline int host_set_policy(struct task_struct *p, int policy, unsigned rt_priority)
{
	return host_set(p,
			(struct sched_params){.policy = policy, .rt_priority = rt_priority, .keep = SCHED_KEEP_NICE});
}
static inline int host_set_nice(struct task_struct *p, int nice)
{
	return host_set(p, (struct sched_params){.nice = nice, .keep = SCHED_KEEP_POLICY | SCHED_KEEP_PARAMS});
}
static inline int host_set_deadline(struct task_struct *p, u64 runtime, u64 deadline, u64 period)
{
	return host_set(p, (struct sched_params){.policy = SCHED_DEADLINE, .dl = {runtime, deadline, period}});
}
static inline int host_set_cpus(struct task_struct *p, unsigned long cpus)
{
	struct cpumask mask = {{cpus}};
	int ret;

	host_do("%s has got the mask %#lx", p->comm, cpus);
	ret = sched_setaffinity(p, &mask);
	host_settle();
	host_check();
	return ret;
}

/* The stopper of that CPU runs fn; the caller sleeps if it is the same CPU. */
int stop_one_cpu(int cpu, int (*fn)(void *), void *arg)
{
	struct task_struct *stopper = &host_stoppers[cpu], *caller = current;
	bool sleeps = (int)smp_processor_id() == cpu && !is_idle_task(caller);
	unsigned here = smp_processor_id();
	int ret;

	if (sleeps)
		set_current_state(TASK_UNINTERRUPTIBLE);
	wake_up_state(stopper, TASK_IDLE);
	if (sleeps) {
		schedule();
		host_frame();
	} else {
		host_settle();
	}
	if (host_runs(cpu) != stopper)
		host_fail("CPU %d does not run its stopper at once", cpu);
	if (host_on_stop) {
		void (*then)(void) = host_on_stop;

		host_on_stop = NULL;
		host_on(here);
		then();
	}
	host_on(cpu);
	preempt_disable();
	ret = fn(arg);
	preempt_enable_no_resched();
	if (sleeps)
		wake_up_process(caller);
	set_current_state(TASK_IDLE);
	schedule();
	host_frame();
	host_settle();
	host_on(here);
	return ret;
}

extern char __start_host_percpu[], __stop_host_percpu[];

/* A machine with so many CPUs, on which nothing runs. The clock goes on from where it was. */
static inline void host_boot(unsigned cpus)
{
	static char *copies;
	size_t size = (size_t)(__stop_host_percpu - __start_host_percpu), stride = ALIGN(size, 64) + 64;

	if (!copies)
		copies = aligned_alloc(64, ALIGN(stride * HOST_CPUS, 64));
	memset(host_tasks, 0, sizeof(host_tasks));
	memset(host_idle, 0, sizeof(host_idle));
	memset(host_stoppers, 0, sizeof(host_stoppers));
	memset(host_ran, 0, sizeof(host_ran));
	memset(&init_task, 0, sizeof(init_task));
	memset(&idle_cpus_mask, 0, sizeof(idle_cpus_mask));
	memset(&rt_overloaded_mask, 0, sizeof(rt_overloaded_mask));
	memset(&dl_overloaded_mask, 0, sizeof(dl_overloaded_mask));
	memset(&cpu_online_mask, 0, sizeof(cpu_online_mask));
	host_nr_tasks = host_xcpu = 0;
	host_ipis = host_irqs_off = 0;
	host_on_relax = host_on_stop = host_on_idle = NULL;
	printk_wake_pending = false;
	host_readers_woken = 0;
	host_fatal = false;
	host_current = &init_task;
	nr_cpu_ids = cpus;
	clock_event = &host_timer;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		char *copy = copies + cpu * stride;

		memcpy(copy, __start_host_percpu, size);
		__per_cpu_offset[cpu] = (unsigned long)copy - (unsigned long)__start_host_percpu;
		cpumask_set_cpu(cpu, &cpu_online_mask);
		host_event[cpu] = NEVER;
		host_since[cpu] = host_clock;
	}
	cpu_active_mask = cpu_possible_mask = cpu_online_mask;
	softirq_init();
	hrtimers_init();
	sched_init();
	init_task.preempt_count = 1;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		struct task_struct *idle = cpu ? &host_idle[cpu] : &init_task, *stop = &host_stoppers[cpu];

		if (cpu) {
			idle->se.weight = init_task.se.weight;
			idle->se.inv_weight = init_task.se.inv_weight;
			init_idle(idle, (int)cpu);
		}
		strcpy(idle->comm, "idle");
		strcpy(stop->comm, "stopper");
		stop->sched_class = &stop_sched_class;
		stop->prio = stop->normal_prio = 0;
		stop->state = TASK_IDLE;
		stop->cpu = cpu;
		stop->cpus_mask[0] = BIT(cpu);
		stop->nr_cpus_allowed = 1;
		stop->preempt_count = SCHED_SWITCH_PREEMPT_COUNT;
		cpu_rq(cpu)->stop = stop;
		cpumask_set_cpu(cpu, &idle_cpus_mask);
		host_current = idle;
		hrtimers_init_cpu();
		tick_init_cpu();
	}
	host_on(0);
}

/*
 * Softirqs: where they are served, in which order, how much of them an interrupted task must bear, and what is left to
 * ksoftirqd then. The clock, the interrupt flag and the current task are variables of the test; each softirq adds a
 * letter to a string, so the string is the order in which they were served. Interrupts come when the test calls
 * interrupt().
 */
/* sources: kernel/irq/softirq.c kernel/lib/bitmap.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <fs/libfs.h>
#include <irq/irq.h>
#include <irq/irqflags.h>
#include <irq/softirq.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/sched.h>
#include <time/clock.h>

#define CPUS 2
#define MS   1000000UL

static struct task_struct tasks[CPUS] = {{.cpu = 0}, {.cpu = 1}}, daemons[CPUS] = {{.cpu = 0}, {.cpu = 1}};
struct task_struct *host_current = &tasks[0];
u64 host_clock = 5, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned long host_irqs_off;
unsigned nr_cpu_ids = CPUS;
struct cpumask cpu_possible_mask = {{3}}, cpu_online_mask = {{3}};

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
unsigned long __per_cpu_offset[NR_CPUS];
static char areas[CPUS][4096] __aligned(64);
extern char __start_host_percpu[], __stop_host_percpu[];

static unsigned woken[CPUS];
static int (*daemon_fn)(void *);
static jmp_buf slept;
static char served[256]; /* a letter for each softirq, in order */

void host_relax(void)
{
	fail_msg("waits for ever");
}
void panic(const char *fmt, ...)
{
	fail_msg("panic: %s", fmt);
	abort();
}
void preempt_schedule(void)
{
}
void preempt_schedule_notrace(void)
{
}
struct task_struct *kthread_create_on_cpu(int (*fn)(void *), void *data, int cpu, const char *namefmt, ...)
{
	daemon_fn = fn;
	return &daemons[cpu];
}
bool wake_up_process(struct task_struct *p)
{
	woken[p->cpu]++;
	return true;
}
int cond_resched(void)
{
	return 0;
}
void schedule(void)
{
	longjmp(slept, 1);
}

/* Nothing is pending, nothing was served. The first call gives each CPU its copy of the per-CPU data. */
static void begin(void)
{
	static bool booted;
	size_t size = (size_t)(__stop_host_percpu - __start_host_percpu);

	assert_in_range(size, 1, sizeof(areas[0]));
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		if (!booted)
			memcpy(areas[cpu], __start_host_percpu, size);
		__per_cpu_offset[cpu] = (unsigned long)areas[cpu] - (unsigned long)__start_host_percpu;
	}
	booted = true;
	served[0] = '\0';
	woken[0] = woken[1] = 0;
	host_current = &tasks[0];
	assert_false(local_softirq_pending());
	assert_int_equal(preempt_count(), 0);
	assert_int_equal(host_irqs_off, 0);
}

static void expect(const char *order, unsigned daemons_woken, const char *why)
{
	if (strcmp(served, order))
		fail_msg("served '%s', not '%s': %s", served, order, why);
	if (woken[0] != daemons_woken)
		fail_msg("ksoftirqd was woken %u times, not %u: %s", woken[0], daemons_woken, why);
	assert_int_equal(preempt_count(), 0);
	served[0] = '\0';
	woken[0] = 0;
}

static void note(char c)
{
	if (host_irqs_off)
		fail_msg("a softirq is served with interrupts off");
	if (!in_serving_softirq())
		fail_msg("a softirq does not know that it is one");
	snprintf(served + strlen(served), sizeof(served) - strlen(served), "%c", c);
}

static unsigned again;	 /* how often a timer's softirq raises itself */
static u64 takes;	 /* ns that one takes */
static bool wants_cpu;	 /* a more important task wakes up meanwhile */
static bool interrupted; /* an interrupt comes meanwhile, and raises TTY's */

static void hi(void)
{
	note('h');
}
static void tty(void)
{
	note('y');
}
/*
 * The timer's softirq, which can be told to take time, to raise itself again, to wake a more important task, and to be
 * interrupted.
 */
static void timer(void)
{
	note('t');
	host_clock += takes;
	if (wants_cpu)
		set_tsk_thread_flag(current, TIF_NEED_RESCHED);
	if (interrupted) {
		interrupted = false;
		host_irqs_off = 1;
		irq_enter();
		raise_softirq_irqoff(TTY_SOFTIRQ);
		irq_exit();
		host_irqs_off = 0;
		note('.'); /* not yet: one softirq at a time */
	}
	if (again && again--)
		raise_softirq(TIMER_SOFTIRQ);
}

/* An interrupt that raises these. */
static void interrupt(const int *nrs, unsigned n)
{
	host_irqs_off = 1;
	irq_enter();
	for (unsigned i = 0; i < n; i++)
		raise_softirq_irqoff(nrs[i]);
	if (served[0])
		fail_msg("a softirq is served within the interrupt");
	irq_exit();
	if (!host_irqs_off)
		fail_msg("the end of an interrupt leaves interrupts on");
	host_irqs_off = 0;
}

static void serve_all(void)
{
	do_softirq();
	assert_false(local_softirq_pending());
	served[0] = '\0';
	woken[0] = 0;
}

/* At the end of the interrupt, each once, the lowest number first. */
static void order(void **state)
{
	static const int nrs[] = {TTY_SOFTIRQ, TIMER_SOFTIRQ, HI_SOFTIRQ, TIMER_SOFTIRQ};
	u64 before[3] = {kstat_softirqs_cpu(HI_SOFTIRQ, 0), kstat_softirqs_cpu(TIMER_SOFTIRQ, 0),
			 kstat_softirqs_cpu(TTY_SOFTIRQ, 0)};

	begin();
	interrupt(nrs, 4);
	expect("hty", 0, "each once, by number");
	assert_int_equal(kstat_softirqs_cpu(HI_SOFTIRQ, 0), before[0] + 1);
	assert_int_equal(kstat_softirqs_cpu(TIMER_SOFTIRQ, 0), before[1] + 1);
	assert_int_equal(kstat_softirqs_cpu(TTY_SOFTIRQ, 0), before[2] + 1);
	interrupt(nrs, 0);
	expect("", 0, "nothing is pending");
}

/* Not in nested interrupts, nor where softirqs are off; there as soon as they are on. */
static void nested(void **state)
{
	static const int hi_only[] = {HI_SOFTIRQ};

	begin();
	host_irqs_off = 1;
	irq_enter();
	irq_enter();
	raise_softirq_irqoff(HI_SOFTIRQ);
	irq_exit();
	if (served[0])
		fail_msg("a softirq is served before the last interrupt is over");
	irq_exit();
	host_irqs_off = 0;
	expect("h", 0, "the last interrupt is over");
	local_bh_disable();
	local_bh_disable();
	interrupt(hi_only, 1);
	local_bh_enable();
	if (served[0])
		fail_msg("a softirq is served while they are off");
	local_bh_enable();
	expect("h", 0, "they are on again");
	/* In a softirq, an interrupt raises another: that is served after it, in the next round. */
	interrupted = true;
	raise_softirq(TIMER_SOFTIRQ);
	expect("", 1, "a task leaves it to ksoftirqd");
	do_softirq();
	expect("t.y", 0, "one softirq at a time");
}

/* A task that raises one wakes ksoftirqd; who only marks it wakes nobody; who has them off serves them
 * itself. */
static void from_tasks(void **state)
{
	begin();
	raise_softirq(HI_SOFTIRQ);
	expect("", 1, "a task leaves it to ksoftirqd");
	assert_true(local_softirq_pending());
	serve_all();
	host_irqs_off = 1;
	__raise_softirq_irqoff(HI_SOFTIRQ);
	host_irqs_off = 0;
	expect("", 0, "it is only marked");
	serve_all();
	local_bh_disable();
	raise_softirq(HI_SOFTIRQ);
	if (woken[0] || served[0])
		fail_msg("softirqs are off here, and their end serves it");
	local_bh_enable();
	expect("h", 0, "its end of the section serves it");
	/* Each CPU has its own. */
	raise_softirq(HI_SOFTIRQ);
	host_current = &tasks[1];
	assert_false(local_softirq_pending());
	host_current = &tasks[0];
	serve_all();
}

/* One that raises itself again is served in ten rounds; what is left then is ksoftirqd's. */
static void rounds(void **state)
{
	static const int timer_only[] = {TIMER_SOFTIRQ};

	begin();
	again = 9;
	interrupt(timer_only, 1);
	expect("tttttttttt", 0, "ten rounds are served");
	assert_false(local_softirq_pending());
	again = 10;
	interrupt(timer_only, 1);
	expect("tttttttttt", 1, "the eleventh round is ksoftirqd's");
	assert_true(local_softirq_pending());
	serve_all();
	/* For two ms: a round that begins within them is served. */
	again = 5;
	takes = 1 * MS - 1;
	interrupt(timer_only, 1);
	expect("ttt", 1, "after three rounds two ms are over");
	takes = 0;
	serve_all();
	again = 5;
	takes = 1 * MS;
	interrupt(timer_only, 1);
	expect("tt", 1, "after two rounds two ms are over");
	takes = 0;
	serve_all();
	/* Until somebody wants the CPU: that one goes first, and ksoftirqd is scheduled like any task. */
	again = 5;
	wants_cpu = true;
	interrupt(timer_only, 1);
	expect("t", 1, "a task wants the CPU");
	wants_cpu = false;
	clear_tsk_thread_flag(current, TIF_NEED_RESCHED);
	serve_all();
	/* But what was pending when the round began is served in it. */
	wants_cpu = true;
	interrupt((const int[]){HI_SOFTIRQ, TIMER_SOFTIRQ, TTY_SOFTIRQ}, 3);
	expect("hty", 0, "it is one round");
	wants_cpu = false;
	clear_tsk_thread_flag(current, TIF_NEED_RESCHED);
}

/* ksoftirqd serves what is pending, and sleeps when nothing is. */
static void daemon_serves(void **state)
{
	begin();
	again = 25;
	raise_softirq(TIMER_SOFTIRQ);
	host_current = &daemons[0];
	if (!setjmp(slept))
		daemon_fn(NULL);
	host_current = &daemons[0];
	assert_int_equal(current->state, TASK_IDLE);
	assert_false(local_softirq_pending());
	host_current = &tasks[0];
	if (strlen(served) != 26)
		fail_msg("ksoftirqd has served %zu rounds of 26", strlen(served));
	served[0] = '\0';
}

extern initcall_fn *const __start_ptrs_initcall_core[], *const __stop_ptrs_initcall_core[];

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order),  cmocka_unit_test(nested),	   cmocka_unit_test(from_tasks),
		cmocka_unit_test(rounds), cmocka_unit_test(daemon_serves),
	};

	open_softirq(HI_SOFTIRQ, hi);
	open_softirq(TIMER_SOFTIRQ, timer);
	open_softirq(TTY_SOFTIRQ, tty);
	softirq_init();
	begin();
	for (initcall_fn *const *fn = __start_ptrs_initcall_core; fn < __stop_ptrs_initcall_core; fn++)
		(*fn)();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

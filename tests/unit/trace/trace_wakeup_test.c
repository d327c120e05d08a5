/*
 * The task that the wakeup tracers follow, when another CPU is faster: each probe looks without the lock whether it is
 * concerned, and what it has seen may be over when it gets the lock. One thread plays both CPUs; what the other CPU
 * does in between is done in host_locking().
 */
/* sources: trace/tracers/wakeup.c kernel/lib/bitmap.c */
/* include: tests/unit/include-wakeup -Itests/unit/include-sched -Itests/unit/include-trace */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <sched/sched.h>
#include <sched/spinlock.h>

#include "core/array.h"
#include "core/aside.h"
#include "core/record.h"
#include <trace/ring_buffer_inline.h>
#include "tracers/graph/latency.h"
#include "tracers/sched_switch.h"
#include "tracers/wakeup.h"

/* Priorities of two waiting real-time tasks, the more important one below. */
#define HIGH	   10
#define LOW	   20
#define MAX_PROBES 5

u64 host_clock, clock_mult = 1ULL << CLOCK_SHIFT, tracing_thresh;
unsigned nr_cpu_ids = 2;
struct cpumask cpu_possible_mask = {{3}}, cpu_online_mask = {{3}};
unsigned long __per_cpu_offset[NR_CPUS], host_irqs_off;
struct task_struct *host_current;
struct tracepoint __tracepoint_sched_switch, __tracepoint_sched_migrate_task, __tracepoint_sched_waking,
	__tracepoint_sched_wakeup, __tracepoint_sched_wakeup_new;
struct trace_array global_trace;

static struct trace_max max;
static struct ring_buffer_per_cpu ring; /* on */
static struct trace_array_cpu cpus[2] = {{.buffer = &ring}, {.buffer = &ring}};
static struct ftrace_ops ops;
static struct task_struct running[2]; /* one on each CPU */
static struct task_struct low, high;  /* wait */
static struct tracepoint_probe probes[MAX_PROBES];
static void (*meanwhile)(void);	  /* on the other CPU, before the lock is ours */
static struct task_struct *taken; /* the task of the section that became the maximum */
static u64 latency;		  /* of it, in ns */
static unsigned entries;	  /* function entries that were recorded */

void host_locking(void)
{
	void (*fn)(void) = meanwhile;

	meanwhile = NULL;
	if (fn)
		fn();
}

/* ---- What wakeup.c calls */

void trace_max_take(struct trace_array *tr, const struct trace_section *section)
{
	taken = section->task;
	latency = section->end - section->start;
}

bool trace_function(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc, unsigned long flags)
{
	/* As call() says; other places belong to wake-ups and switches. */
	entries += ip == (unsigned long)trace_function;
	return true;
}

int tracepoint_probes_register(const struct tracepoint_probe *list, unsigned n, void *data)
{
	assert_int_equal(n, MAX_PROBES);
	memcpy(probes, list, sizeof(probes));
	return 0;
}

int register_ftrace_function(struct ftrace_ops *o)
{
	return 0;
}

void ftrace_ops_set_func(struct ftrace_ops *o, ftrace_func_t func)
{
	o->func = func;
}

void __put_task_struct(struct task_struct *t)
{
	fail_msg("the last reference was ours");
}

int unregister_ftrace_function(struct ftrace_ops *o)
{
	return 0;
}
void tracepoint_probes_unregister(const struct tracepoint_probe *list, unsigned n, void *data)
{
}
int trace_max_exchange_pending(struct trace_array *tr)
{
	return 0;
}
void trace_stack_from(struct trace_array *tr, u32 pc, unsigned long flags, unsigned skip, unsigned long fp)
{
}
void tracing_record_cmdline(struct task_struct *t)
{
}
void tracing_sched_switch_trace(struct trace_array *tr, struct task_struct *prev, unsigned prev_state,
				struct task_struct *next, u32 pc, unsigned long flags)
{
}
void tracing_sched_wakeup_trace(struct trace_array *tr, struct task_struct *p, u32 pc, unsigned long flags)
{
}
bool trace_graph_function(struct trace_array *tr, unsigned long ip, u32 pc, unsigned long flags)
{
	return true;
}
int latency_graph_start(struct trace_array *tr, const struct latency_graph *who)
{
	return 0;
}
int latency_graph_stop(void)
{
	return 0;
}
void synchronize_rcu(void)
{
}

/* ---- What the scheduler does */

/* The probe of a tracepoint. */
static void *probe(const struct tracepoint *tp)
{
	for (unsigned i = 0; i < MAX_PROBES; i++)
		if (probes[i].tp == tp)
			return probes[i].probe;
	fail_msg("no such probe");
	return NULL;
}

static void wake(struct task_struct *p, unsigned cpu)
{
	struct task_struct *before = host_current;
	void (*waking)(void *, struct task_struct *) = probe(&__tracepoint_sched_waking);
	void (*wakeup)(void *, struct task_struct *) = probe(&__tracepoint_sched_wakeup);

	host_current = &running[cpu];
	host_clock += 1000;
	waking(&global_trace, p);
	wakeup(&global_trace, p);
	host_current = before;
}

/* To p, on the CPU where it waits. */
static void switch_to_task(struct task_struct *p)
{
	struct task_struct *before = host_current;
	void (*fn)(void *, bool, struct task_struct *, struct task_struct *, unsigned) =
		probe(&__tracepoint_sched_switch);

	host_current = &running[p->cpu];
	host_clock += 1000;
	fn(&global_trace, false, host_current, p, 0);
	host_current = before;
}

static void migrate(struct task_struct *p, int cpu)
{
	void (*fn)(void *, struct task_struct *, int) = probe(&__tracepoint_sched_migrate_task);

	fn(&global_trace, p, cpu);
	p->cpu = cpu;
}

/* A traced function is called on this CPU. Is it recorded? */
static bool call(unsigned cpu)
{
	unsigned before = entries;

	host_current = &running[cpu];
	ops.func((unsigned long)trace_function, 0, &ops, NULL);
	host_current = &running[0];
	return entries != before;
}

static void wake_high(void)
{
	wake(&high, 1);
}

/* ---- Tests */

/* Two CPUs that run tasks of the least importance, and two tasks that wait on them; following is allowed. */
static int setup(void **state)
{
	static const struct task_struct waiting = {.usage = {2}, .on_rq = 1};

	max = (struct trace_max){};
	global_trace = (struct trace_array){.max = &max, .ops = &ops, .tracing_cpumask = {{3}}, .cpu_data = cpus};
	low = high = waiting;
	low.prio = LOW;
	high.prio = HIGH;
	high.cpu = 1;
	running[1].cpu = 1;
	running[0].prio = running[1].prio = MAX_PRIO - 1;
	host_current = &running[0];
	host_clock = 1;
	meanwhile = NULL;
	taken = NULL;
	wakeup_register_probes(&global_trace, WAKEUP_ALL);
	wakeup_function_set(&global_trace, true);
	wakeup_set_enabled(true);
	return 0;
}

/* Nothing is followed any more, and no reference is kept. */
static int teardown(void **state)
{
	wakeup_set_enabled(false);
	assert_int_equal(low.usage.counter, 2);
	assert_int_equal(high.usage.counter, 2);
	return 0;
}

/* The more important of two is followed, whichever comes first. */
static void the_more_important(void **state)
{
	wake(&low, 0);
	assert_true(call(0) && !call(1));
	wake(&high, 1);
	assert_true(call(1) && !call(0));
	wake(&low, 0);
	assert_true(call(1) && !call(0));
	switch_to_task(&low);
	assert_null(taken);
	switch_to_task(&high);
	assert_ptr_equal(taken, &high);
	assert_int_equal(latency, 3000);
}

/* CPU 0 has found nothing that is more important than its own wake-up; then comes CPU 1's. */
static void woken_at_the_same_time(void **state)
{
	meanwhile = wake_high;
	wake(&low, 0);
	assert_true(call(1) && !call(0));
	switch_to_task(&high);
	assert_ptr_equal(taken, &high);
}

/* The followed task moves, and in that moment a more important one takes over: the place is that of the new one. */
static void taken_over_in_a_move(void **state)
{
	wake(&low, 0);
	meanwhile = wake_high;
	high.cpu = 0;
	migrate(&low, 1);
	assert_true(call(0) && !call(1));
}

/* A move takes the entries along, and no other task's move does. */
static void moves(void **state)
{
	wake(&low, 0);
	migrate(&high, 0);
	assert_true(call(0) && !call(1));
	migrate(&low, 1);
	assert_true(call(1) && !call(0));
}

/* The followed task is switched to, and in that moment a more important one takes over: that is followed on. */
static void taken_over_in_a_switch(void **state)
{
	wake(&low, 0);
	meanwhile = wake_high;
	switch_to_task(&low);
	assert_null(taken);
	assert_true(call(1));
	switch_to_task(&high);
	assert_ptr_equal(taken, &high);
}

/* While following is not allowed no wake-up is followed, not even one that has found it allowed. */
static void forbid(void)
{
	wakeup_set_enabled(false);
}

static void forbidden_meanwhile(void **state)
{
	meanwhile = forbid;
	wake(&low, 0);
	assert_false(call(0));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_more_important, setup, teardown),
		cmocka_unit_test_setup_teardown(woken_at_the_same_time, setup, teardown),
		cmocka_unit_test_setup_teardown(taken_over_in_a_move, setup, teardown),
		cmocka_unit_test_setup_teardown(moves, setup, teardown),
		cmocka_unit_test_setup_teardown(taken_over_in_a_switch, setup, teardown),
		cmocka_unit_test_setup_teardown(forbidden_meanwhile, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Timers by jiffies: a function is called in the softirq when its moment has come, and not again in the same turn if
 * it arms its timer for the moment that is. There is one CPU; run_until() lets the clock go on, from one timer
 * interrupt to the next, and serves the softirq after each. Code takes no time.
 */
/* sources: kernel/time/hrtimer.c kernel/lib/rbtree.c kernel/lib/bitmap.c kernel/lock/spinlock.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#define timer_delete k_timer_delete /* the C library has another one */
#include <irq/softirq.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <time/irq_share.h>
#include <time/timer.h>

#include "../../../kernel/time/timer.c"

#define JIFFY TICK_NSEC
#define NEVER U64_MAX

static struct task_struct task;
struct task_struct *host_current = &task;
u64 host_clock, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned long host_irqs_off;
unsigned nr_cpu_ids = 1;
struct cpumask cpu_possible_mask = {{1}};
unsigned long __per_cpu_offset[NR_CPUS];

static u64 event = NEVER;
static bool raised;
static void (*serve)(void);

void open_softirq(int nr, void (*action)(void))
{
	serve = action;
}
void raise_softirq_irqoff(int nr)
{
	raised = true;
}
void local_bh_enable(void)
{
}
void local_bh_disable(void)
{
}
void host_relax(void)
{
	fail_msg("waits for ever");
}
void panic(const char *fmt, ...)
{
	fail_msg("panic: %s", fmt);
	abort();
}
void __warn(const char *file, int line, const char *cond)
{
	fail_msg("WARN_ON(%s)", cond);
}
void preempt_schedule(void)
{
}
void preempt_schedule_notrace(void)
{
}
void host_timer_cancelled(void)
{
}
void host_timer_expires(void)
{
}
static void set_next_event(u64 delta)
{
	event = host_clock + delta;
}
static void no_event(void)
{
	event = NEVER;
}
static void setup_cpu(void)
{
}
static const struct clock_event_device device = {"host", set_next_event, no_event, setup_cpu};

static void run_until(u64 t)
{
	while (event <= t) {
		host_clock = max(host_clock, event);
		event = NEVER;
		host_irqs_off = 1;
		hrtimer_interrupt();
		host_irqs_off = 0;
		if (raised) {
			raised = false;
			serve();
		}
	}
	host_clock = t;
}

static unsigned calls;
static unsigned long last;

static void armed_for_now(struct timer_list *t)
{
	if (calls++ && jiffies == last)
		fail_msg("call %u comes in the same jiffy as the one before", calls);
	last = jiffies;
	mod_timer(t, calls % 2 ? jiffies : jiffies - 5);
}

/* Each jiffy once, however far in the past its function sets it. */
static void once_a_jiffy(void **state)
{
	struct timer_list t;

	timer_setup(&t, armed_for_now, 0);
	calls = 0;
	mod_timer(&t, jiffies + 1);
	run_until(host_clock + 10 * JIFFY);
	assert_int_equal(calls, 10);
	assert_int_equal(timer_delete(&t), 1);
	run_until(host_clock + 10 * JIFFY);
	assert_int_equal(calls, 10);
}

static struct timer_list other;
static char order[8];

static void notes_a(struct timer_list *t)
{
	strcat(order, "a");
	mod_timer(&other, jiffies + 1);
}
static void notes_b(struct timer_list *t)
{
	strcat(order, "b");
}

/* Outside of a turn what is due runs at once, and in a turn the later moments stay as they are. */
static void at_their_moments(void **state)
{
	struct timer_list a;

	order[0] = 0;
	timer_setup(&a, notes_a, 0);
	timer_setup(&other, notes_b, 0);
	mod_timer(&a, jiffies);
	run_until(host_clock);
	assert_string_equal(order, "a");
	run_until(host_clock + JIFFY - 1);
	assert_string_equal(order, "a");
	run_until(host_clock + 1);
	assert_string_equal(order, "ab");
}

static int boot(void **state)
{
	clock_event = &device;
	hrtimers_init();
	host_irqs_off = 1;
	hrtimers_init_cpu();
	host_irqs_off = 0;
	host_clock = 1000 * JIFFY;
	event = NEVER;
	raised = false;
	timers_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(once_a_jiffy, boot),
		cmocka_unit_test(at_their_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * High-resolution timers on two simulated CPUs: a callback runs when its time has come, not a nanosecond before, in
 * the order of times, on the CPU that started the timer; and what start, cancel and restart do while callbacks run.
 * The hardware of each CPU is the time at which it would interrupt; run_until() lets the clock go on and delivers
 * these interrupts. Code takes no time.
 */
/* sources: kernel/time/hrtimer.c kernel/lib/rbtree.c kernel/lib/bitmap.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/irq_share.h>
#include <sched/sched.h>

#define CPUS  2
#define NEVER U64_MAX

static struct task_struct tasks[CPUS] = {{.cpu = 0}, {.cpu = 1}};
struct task_struct *host_current = &tasks[0];
u64 host_clock, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned long host_irqs_off;
unsigned nr_cpu_ids = CPUS;
struct cpumask cpu_possible_mask;
unsigned long __per_cpu_offset[NR_CPUS];
static char areas[CPUS][4096] __aligned(64);
extern char __start_host_percpu[], __stop_host_percpu[];

static u64 event[CPUS];
static unsigned sets, offs; /* how often the hardware was set, and turned off */

static jmp_buf gave_up; /* where a CPU that may wait goes on when it waits */
static bool may_wait;
void host_relax(void)
{
	if (!may_wait)
		fail_msg("waits for ever");
	may_wait = false;
	longjmp(gave_up, 1);
}
void panic(const char *fmt, ...)
{
	fail_msg("panic: %s", fmt);
	abort();
}
/* Code takes no time here: what runs again and again at one moment runs for ever. */
static void at_one_moment(const char *what)
{
	static unsigned n;
	static u64 at;

	n = at == host_clock ? n + 1 : 0;
	at = host_clock;
	if (n > 10000)
		fail_msg("%s for ever", what);
}
static unsigned cancel_events;
void host_timer_cancelled(void)
{
	cancel_events++;
}
void host_timer_expires(void)
{
	at_one_moment("a timer runs");
}
void preempt_schedule(void)
{
}
void preempt_schedule_notrace(void)
{
}

static struct hrtimer *contended; /* the other CPU tries to cancel it while the hardware is set */
static void try_to_cancel(struct hrtimer *t)
{
	may_wait = true;
	if (!setjmp(gave_up)) {
		hrtimer_try_to_cancel(t);
		fail_msg("the other CPU does not wait for the lock");
	}
}
static void set_next_event(u64 delta)
{
	assert_true(host_irqs_off);
	if (contended)
		try_to_cancel(contended);
	event[current->cpu] = host_clock + delta;
	sets++;
}
static void no_event(void)
{
	event[current->cpu] = NEVER;
	offs++;
}
static void setup_cpu(void)
{
}
static const struct clock_event_device device = {"host", set_next_event, no_event, setup_cpu};

static void on(unsigned cpu)
{
	host_current = &tasks[cpu];
}

/* Two CPUs with fresh timers and quiet hardware, at one millisecond. */
static void boot(void)
{
	size_t size = (size_t)(__stop_host_percpu - __start_host_percpu);

	assert_in_range(size, 1, sizeof(areas[0]));
	clock_event = &device;
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		memcpy(areas[cpu], __start_host_percpu, size);
		__per_cpu_offset[cpu] = (unsigned long)areas[cpu] - (unsigned long)__start_host_percpu;
		event[cpu] = NEVER;
	}
	hrtimers_init();
	host_irqs_off = 1;
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		on(cpu);
		hrtimers_init_cpu();
	}
	host_irqs_off = 0;
	on(0);
	host_clock = 1000000;
	sets = offs = 0;
}

static void interrupt(unsigned cpu)
{
	struct task_struct *before = host_current;

	on(cpu);
	event[cpu] = NEVER;
	at_one_moment("interrupts come");
	host_irqs_off = 1;
	hrtimer_interrupt();
	host_irqs_off = 0;
	host_current = before;
}

/* The clock goes to t; the hardware interrupts when it was set to. */
static void run_until(u64 t)
{
	for (;;) {
		unsigned cpu = event[1] < event[0];

		if (event[cpu] > t)
			break;
		host_clock = max(host_clock, event[cpu]);
		interrupt(cpu);
	}
	host_clock = t;
}

struct probe {
	struct hrtimer timer;
	unsigned calls, cpu;
	u64 at;
	unsigned order;
	u64 again;    /* forward by so much and restart */
	bool restart; /* restart at the time that the timer has */
	void (*does)(struct probe *p);
};
static unsigned calls;

/* Notes when, where and as which number it was called, and does what the probe says. */
static enum hrtimer_restart callback(struct hrtimer *t)
{
	struct probe *p = container_of(t, struct probe, timer);

	if ((u64)t->expires > host_clock && !p->does)
		fail_msg("a timer for %lu runs at %lu", (u64)t->expires, host_clock);
	p->calls++;
	p->at = host_clock;
	p->cpu = current->cpu;
	p->order = ++calls;
	if (p->does)
		p->does(p);
	if (p->restart)
		return HRTIMER_RESTART;
	if (!p->again)
		return HRTIMER_NORESTART;
	hrtimer_forward(t, ktime_get(), (ktime_t)p->again);
	return HRTIMER_RESTART;
}

static void probe(struct probe *p)
{
	memset(p, 0, sizeof(*p));
	hrtimer_init(&p->timer, callback);
}

/*
 * 200 timers at random times: each is called once, at its time, after all with earlier times. When none is left the
 * hardware is turned off.
 */
static void on_time(void **state)
{
	struct probe p[200];
	u64 at[200];

	boot();
	for (int i = 0; i < 200; i++) {
		probe(&p[i]);
		at[i] = 2000000 + host_random() % 1000000;
		hrtimer_start(&p[i].timer, (ktime_t)at[i]);
		assert_true(hrtimer_active(&p[i].timer));
	}
	for (u64 t = 2000000; t < 3000000; t += 1 + host_random() % 3000) {
		run_until(t);
		for (int i = 0; i < 200; i++)
			if (p[i].calls != (at[i] <= t))
				fail_msg("at %lu a timer for %lu was called %u times", t, at[i], p[i].calls);
	}
	run_until(3000000);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(p[i].at, at[i]);
		assert_false(hrtimer_active(&p[i].timer));
		for (int j = 0; j < 200; j++)
			if (at[i] < at[j])
				assert_true(p[i].order < p[j].order);
	}
	/* Nothing is left: the hardware is quiet. */
	assert_int_equal(event[0], NEVER);
	if (!offs)
		fail_msg("the hardware is not turned off when no timer is left");
}

/* An interrupt that comes too early runs nothing, and the hardware is set again. */
static void not_early(void **state)
{
	struct probe p;

	boot();
	probe(&p);
	hrtimer_start(&p.timer, 5000000);
	assert_int_equal(event[0], 5000000);
	host_clock = 4999999;
	interrupt(0);
	if (p.calls)
		fail_msg("a timer runs a nanosecond early");
	assert_int_equal(event[0], 5000000);
	host_clock = 5000000;
	interrupt(0);
	if (!p.calls)
		fail_msg("a timer does not run when its time has come");
	/* What is over already runs at once, as soon as an interrupt can come. */
	probe(&p);
	hrtimer_start(&p.timer, 1);
	assert_int_equal(event[0], host_clock);
	run_until(host_clock);
	assert_int_equal(p.calls, 1);
	/* Never is never, also for the hardware. */
	probe(&p);
	hrtimer_start(&p.timer, KTIME_MAX);
	run_until(host_clock + 1000000000);
	assert_int_equal(p.calls, 0);
	assert_int_equal(hrtimer_cancel(&p.timer), 1);
}

/* Among equals the first started comes first. */
static void equals(void **state)
{
	struct probe p[20];

	boot();
	for (int i = 0; i < 20; i++) {
		probe(&p[i]);
		hrtimer_start(&p[i].timer, 2000000);
	}
	hrtimer_start(&p[3].timer, 2000000); /* started again: it is the last now */
	calls = 0;
	run_until(2000000);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(p[i].order, i == 3 ? 20 : i < 3 ? i + 1 : i);
}

/* The hardware is set only for what comes before all others; a start again moves the timer. */
static void hardware(void **state)
{
	struct probe a, b;

	boot();
	probe(&a);
	probe(&b);
	hrtimer_start(&a.timer, 3000000);
	assert_int_equal(sets, 1);
	hrtimer_start(&b.timer, 4000000);
	assert_int_equal(sets, 1);
	hrtimer_start(&b.timer, 2000000);
	assert_int_equal(sets, 2);
	assert_int_equal(event[0], 2000000);
	/* Taken away: the interrupt comes for nothing, and then the next one counts. */
	cancel_events = 0;
	assert_int_equal(hrtimer_try_to_cancel(&b.timer), 1);
	assert_int_equal(hrtimer_try_to_cancel(&b.timer), 0);
	assert_int_equal(cancel_events, 1); /* the event tells of a timer that was armed */
	assert_int_equal(sets, 2);
	run_until(2000000);
	assert_int_equal(b.calls, 0);
	assert_int_equal(event[0], 3000000);
	hrtimer_start(&a.timer, 5000000); /* later than it was */
	run_until(4999999);
	assert_int_equal(a.calls, 0);
	run_until(5000000);
	assert_int_equal(a.calls, 1);
}

/* It runs on the CPU that started it last, and is moved there. */
static void cpus(void **state)
{
	struct probe p;

	boot();
	probe(&p);
	on(1);
	hrtimer_start(&p.timer, 2000000);
	on(0);
	assert_int_equal(event[0], NEVER);
	run_until(2000000);
	assert_int_equal(p.cpu, 1);
	on(1);
	hrtimer_start(&p.timer, 3000000);
	on(0);
	hrtimer_start(&p.timer, 3000000);
	run_until(3000000);
	assert_int_equal(p.calls, 2);
	assert_int_equal(p.cpu, 0);
	assert_int_equal(event[1], NEVER);
}

/* Periods: as many as there were, none too many, and no drift. */
static void periods(void **state)
{
	struct probe p;

	boot();
	probe(&p);
	p.again = 1000;
	hrtimer_start(&p.timer, 2000000);
	for (unsigned n = 0; n < 100; n++) {
		run_until(2000000 + n * 1000 + 999);
		assert_int_equal(p.calls, n + 1);
		assert_int_equal(p.at, 2000000 + n * 1000);
	}
	/* The machine stood still for 10 periods and a half: one call, and then in the old rhythm. */
	host_clock += 10 * 1000 + 500;
	interrupt(0);
	assert_int_equal(p.calls, 101);
	assert_int_equal(p.timer.expires, host_clock / 1000 * 1000 + 1000);
	assert_int_equal(hrtimer_cancel(&p.timer), 1);
	run_until(host_clock + 10000);
	assert_int_equal(p.calls, 101);
	/* Forward counts them. */
	p.timer.expires = 1000;
	assert_int_equal(hrtimer_forward(&p.timer, 999, 100), 0);
	assert_int_equal(p.timer.expires, 1000);
	assert_int_equal(hrtimer_forward(&p.timer, 1000, 100), 1);
	assert_int_equal(hrtimer_forward(&p.timer, 1399, 100), 3);
	assert_int_equal(p.timer.expires, 1400);
}

static int cancelled;
static struct probe victim;
static void cancel_self(struct probe *p)
{
	cancelled = hrtimer_try_to_cancel(&p->timer);
	assert_true(hrtimer_active(&p->timer));
}
static void cancel_other(struct probe *p)
{
	cancelled = hrtimer_cancel(&victim.timer);
}
static void start_elsewhere(struct probe *p)
{
	on(1);
	hrtimer_start(&p->timer, (ktime_t)host_clock + 500);
	on(0);
	p->does = NULL;
}
static void start_self(struct probe *p)
{
	hrtimer_start(&p->timer, (ktime_t)host_clock + 700);
	p->does = NULL;
}
static void start_late(struct probe *p)
{
	if (p->calls < 50)
		hrtimer_start(&p->timer, 1);
}

/*
 * What a callback may do to its own timer and to others: cancel, start again later or in the past, be started from
 * another CPU. None of it may lose a timer, run one twice, or keep others from their turn.
 */
static void while_it_runs(void **state)
{
	struct probe p;

	boot();
	/* Its own callback cannot be cancelled: it runs. */
	probe(&p);
	p.does = cancel_self;
	hrtimer_start(&p.timer, 2000000);
	run_until(2000000);
	assert_int_equal(cancelled, -1);
	/* Another one that is due at the same time can: it does not run then. */
	probe(&p);
	probe(&victim);
	p.does = cancel_other;
	hrtimer_start(&p.timer, 3000000);
	hrtimer_start(&victim.timer, 3000000);
	run_until(4000000);
	assert_int_equal(cancelled, 1);
	assert_int_equal(victim.calls, 0);
	/* Started by its callback, with a later time than a restart would have: that holds. */
	probe(&p);
	p.does = start_self;
	p.again = 0;
	hrtimer_start(&p.timer, 5000000);
	run_until(5000699);
	assert_int_equal(p.calls, 1);
	run_until(5000700);
	assert_int_equal(p.calls, 2);
	/* Started from another CPU while it runs: it stays where it runs, and its hardware is set. */
	probe(&p);
	p.does = start_elsewhere;
	hrtimer_start(&p.timer, 6000000);
	run_until(6000500);
	assert_int_equal(p.calls, 2);
	assert_int_equal(p.at, 6000500);
	assert_int_equal(p.cpu, 0);
	/* One that asks for a time in the past again and again does not keep others from their turn. */
	probe(&p);
	probe(&victim);
	p.does = start_late;
	hrtimer_start(&p.timer, 7000000);
	hrtimer_start(&victim.timer, 7000000);
	run_until(7000000);
	assert_int_equal(p.calls, 50);
	assert_int_equal(victim.calls, 1);
}

/* A callback that has started its own timer and asks for a restart too: the timer is queued once. */
static void started_and_restarted(void **state)
{
	struct hrtimer_view view[3];
	struct probe p;
	unsigned queued;

	boot();
	probe(&p);
	p.does = start_self;
	p.restart = true;
	hrtimer_start(&p.timer, 2000000);
	run_until(2000000);
	p.restart = false;
	queued = hrtimers_waiting(0, view, 3);
	if (queued != 1)
		fail_msg("a timer that its callback has started is queued %u times", queued);
	run_until(3000000);
	assert_int_equal(p.calls, 2);
	assert_int_equal(p.at, 2000700);
}

/* While a timer is started, another CPU that wants to cancel it has to wait. */
static void locked(void **state)
{
	struct probe p;

	boot();
	probe(&p);
	contended = &p.timer;
	hrtimer_start(&p.timer, 3000000);
	contended = NULL;
	assert_int_equal(sets, 1);
	assert_int_equal(hrtimer_cancel(&p.timer), 1);
}

/* What /proc/timer_list shows: in order, as many as are asked for. */
static void views(void **state)
{
	struct hrtimer_view view[3];
	struct probe p[4];

	boot();
	for (int i = 0; i < 4; i++) {
		probe(&p[i]);
		hrtimer_start(&p[i].timer, 3000000 - i * 1000);
	}
	assert_int_equal(hrtimers_waiting(0, view, 3), 3);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(view[i].timer, &p[3 - i].timer);
		assert_int_equal(view[i].expires, 3000000 - (3 - i) * 1000);
	}
	assert_int_equal(hrtimers_waiting(1, view, 3), 0);
	for (int i = 0; i < 4; i++)
		hrtimer_cancel(&p[i].timer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_time),	 cmocka_unit_test(not_early),
		cmocka_unit_test(equals),	 cmocka_unit_test(hardware),
		cmocka_unit_test(cpus),		 cmocka_unit_test(periods),
		cmocka_unit_test(while_it_runs), cmocka_unit_test(started_and_restarted),
		cmocka_unit_test(locked),	 cmocka_unit_test(views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * RCU: a callback runs after a grace period that began after call_rcu(), the oldest first; a grace period asks every
 * CPU but the caller's own, and each of them once. The stop of the other CPUs is a function that counts; the daemon is
 * a thread of the host that runs when the test lets it; the timer goes off when the test calls its function.
 */
/* sources: kernel/lock/rcu.c kernel/sched/wait.c kernel/lib/bitmap.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/smp.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/hrtimer.h>

#include <host_threads.h>

u64 host_clock = 1000, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned nr_cpu_ids = 4;
struct cpumask cpu_online_mask = {{1}};

static struct host_thread *daemon;
static unsigned grace_periods, asked;
static unsigned long spared; /* CPUs that were not asked */
static void (*during)(void); /* what happens during the grace period */
static struct hrtimer *timer;
static u64 timer_at;
static unsigned timer_starts;

void __bug(const char *file, int line, const char *cond)
{
	must(false, "BUG at %s:%d", file, line);
	abort();
}
void panic(const char *fmt, ...)
{
	must(false, "panic: %s", fmt);
	abort();
}
int cond_resched(void)
{
	return 0;
}
void stop_each_cpu_but(unsigned except, int (*fn)(void *), void *arg)
{
	spared |= BIT(except);
	grace_periods++;
	for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (cpu != except && cpu_online(cpu)) {
			fn(arg);
			asked++;
		}
	if (during)
		during();
}
void hrtimer_init(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
	t->function = fn;
	timer = t;
}
void hrtimer_start(struct hrtimer *t, ktime_t expires)
{
	must(t == timer, "a timer that was not made ready");
	timer_at = (u64)expires;
	timer_starts++;
}
static int (*daemon_fn)(void *);
static void run_daemon(void *unused)
{
	daemon_fn(NULL);
}
struct task_struct *kthread_run(int (*fn)(void *), void *data, const char *namefmt, ...)
{
	daemon_fn = fn;
	daemon = host_start("rcu", run_daemon, NULL);
	return &daemon->t;
}

struct item {
	struct rcu_head head;
	unsigned queued_in; /* grace periods that had begun */
};
static struct item items[96];
static unsigned nr_called;

static void called(struct rcu_head *head)
{
	struct item *item = container_of(head, struct item, head);

	must(item == &items[nr_called], "callback %ld runs, not %u: they are called in the order of their queueing",
	     item - items, nr_called);
	must(grace_periods > item->queued_in, "callback %u runs without a grace period", nr_called);
	nr_called++;
	memset(item, 0xaa, sizeof(*item)); /* it may be freed here */
}

static unsigned nr_queued;
static void queue(void)
{
	items[nr_queued].queued_in = grace_periods;
	call_rcu(&items[nr_queued++].head, called);
}

/* The daemon runs as far as it gets. */
static void let_daemon(void)
{
	while (!host_asleep(daemon))
		host_let(daemon);
	host_nr_woken = 0;
}

extern initcall_fn *const __start_ptrs_initcall_core[];

/*
 * Callbacks from before the daemon exists are called when it begins. Ten more start one timer, 4 ms after the first,
 * and share one grace period. A callback that runs without a grace period would free memory that a reader still uses.
 */
static void callbacks(void **state)
{
	/* Before there is a daemon: they wait for it. */
	queue();
	queue();
	must(timer_starts == 0, "the timer is started before there is one");
	cpu_online_mask.bits[0] = 15;
	must(__start_ptrs_initcall_core[0]() == 0, "RCU does not start");
	let_daemon();
	must(nr_called == 2, "%u of the 2 callbacks from early boot were called", nr_called);
	must(daemon->t.state == TASK_IDLE, "it waits, and is no load: state %#x", daemon->t.state);
	/* The first of a batch starts the timer, and all of it has one grace period. */
	for (int i = 0; i < 10; i++) {
		host_clock += 1000;
		queue();
	}
	must(timer_starts == 1, "a batch starts the timer once, not %u times", timer_starts);
	must(timer_at == host_clock - 9000 + 4000000, "4 ms after the first");
	must(host_asleep(daemon) && nr_called == 2, "it waits for the timer");
	grace_periods = asked = 0;
	for (unsigned i = 2; i < 12; i++)
		items[i].queued_in = 0;
	timer->function(timer);
	let_daemon();
	must(nr_called == 12, "%u of 12 callbacks were called", nr_called);
	must(grace_periods == 1, "a batch needs one grace period, and had %u", grace_periods);
	must(asked == 3, "every other CPU is asked once: %u", asked);
}

/* What is queued while a grace period is under way has to wait for another one. */
static void queue_more(void)
{
	during = NULL;
	items[nr_queued].queued_in = grace_periods;
	call_rcu(&items[nr_queued++].head, called);
}
static void during_grace_period(void **state)
{
	unsigned before = grace_periods, starts = timer_starts;

	queue();
	during = queue_more;
	timer->function(timer);
	let_daemon();
	must(timer_starts >= starts + 2, "the second batch has not started the timer");
	timer->function(timer);
	let_daemon();
	must(nr_called == nr_queued, "%u of %u callbacks were called", nr_called, nr_queued);
	must(grace_periods == before + 2, "there were %u grace periods, not 2", grace_periods - before);
}

/* Many are not left to gather for 4 ms: the 24th moves the timer to now, whatever there was in the batch before. */
static void many(void **state)
{
	unsigned starts = timer_starts, called_before = nr_called;

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 1; i <= 30; i++) {
			host_clock += 1000;
			queue();
			must(timer_starts == starts + 2 * round + (i < 24 ? 1 : 2),
			     "the timer was started %u times by %u", timer_starts - starts, i);
			must(i < 24 || timer_at == host_clock - (i - 24) * 1000, "callback %u does not hurry", i);
		}
		timer->function(timer);
		let_daemon();
		must(nr_called == called_before + 30 * (round + 1), "%u were called", nr_called - called_before);
	}
}

/* Only the CPU that the caller is on is spared; alone there is nobody to ask. */
static void synchronize(void **state)
{
	for (unsigned cpu = 0; cpu < 4; cpu++) {
		host_main.cpu = cpu;
		grace_periods = asked = 0;
		spared = 0;
		synchronize_rcu();
		must(grace_periods == 1 && asked == 3 && spared == BIT(cpu), "CPU %u: %u were asked, not %#lx", cpu,
		     asked, spared);
	}
	host_main.cpu = 0;
	cpu_online_mask.bits[0] = 1;
	grace_periods = 0;
	synchronize_rcu();
	must(grace_periods == 0, "there is one CPU");
	cpu_online_mask.bits[0] = 15;
}

/* The caller of cond_synchronize_rcu() has asked for a number before, maybe while a grace period was under way. */
static u64 number;
static void ask_number(void)
{
	number = get_state_synchronize_rcu();
}

/*
 * A grace period that began after the caller's look and has ended is as good as its own. One that had begun before the
 * look is not: it may have passed a reader that sees what the caller unpublishes.
 */
static void conditional(void **state)
{
	ask_number();
	grace_periods = asked = 0;
	cond_synchronize_rcu(number);
	must(grace_periods == 1 && asked == 3, "%u grace periods asked %u CPUs, and there was no other", grace_periods,
	     asked);
	cond_synchronize_rcu(number);
	must(grace_periods == 1, "one has ended since the look");
	during = ask_number;
	synchronize_rcu();
	during = NULL;
	grace_periods = 0;
	cond_synchronize_rcu(number);
	must(grace_periods == 1, "the one that has ended began before the look, and it waits for %u", grace_periods);
	ask_number();
	synchronize_rcu();
	cond_synchronize_rcu(number);
	must(grace_periods == 2, "another caller's has ended since the look");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callbacks),   cmocka_unit_test(during_grace_period), cmocka_unit_test(many),
		cmocka_unit_test(synchronize), cmocka_unit_test(conditional),
	};

	sem_init(&host_stopped, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A workqueue goes: kthread_stop() says so and looks whether the worker sleeps, while the worker is about to sleep and
 * looks whether it is to stop. Two threads of the host do that again and again at the same moment: one of the two must
 * see the other, which needs a full barrier on either side. Where the host has one CPU this finds nothing. Where other
 * programs want to run a round takes milliseconds, so it ends after some seconds as well.
 */
/* sources: kernel/irq/workqueue.c kernel/sched/wait.c kernel/lib/bitmap.c kernel/lib/string.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <time/hrtimer.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "../../../kernel/irq/workqueue.h"

#define ROUNDS	300000
#define SECONDS 2

u64 host_clock = 1, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned long host_irqs_off;
unsigned nr_cpu_ids = 1;
struct cpumask cpu_possible_mask = {{1}}, cpu_online_mask = {{1}}, cpu_bit_masks[1] = {{{1}}};
unsigned long __per_cpu_offset[NR_CPUS];
DECLARE_WAIT_QUEUE_HEAD(own_works_done);

#define OVER (ROUNDS + 1)

static struct task_struct worker; /* the only task there is: the test itself waits for nothing */
struct task_struct *host_current = &worker;
static struct worker_pool pool;
/* Each in a cache line of its own: a store that waits for its line is what a later load may pass. */
static bool should_stop __aligned(64); /* as kthread_stop() sets it */
static unsigned begun __aligned(64);   /* the round that both threads have begun; OVER: there is no other */
static unsigned looked __aligned(64);  /* the last round in which the stopper is through */
static unsigned lost;		       /* rounds in which the worker would sleep for ever */

static unsigned look_at(const unsigned *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* The value, or OVER. The host may have given our CPU to another program. */
static unsigned await(const unsigned *word, unsigned value)
{
	unsigned seen;

	for (unsigned n = 1; (seen = look_at(word)) != value && seen != OVER; n++)
		if (n % 4096 == 0)
			sched_yield();
	return seen;
}

/* ---- What the kernel calls. */

bool kthread_should_stop(void)
{
	return READ_ONCE(should_stop);
}

/* The worker has not seen that it is to stop. It sleeps, unless it was woken. */
void schedule(void)
{
	smp_mb();
	await(&looked, begun);
	if (worker.state != TASK_RUNNING)
		lost++;
	worker.state = TASK_RUNNING;
}
void _raw_spin_lock_irq(spinlock_t *l)
{
	arch_spin_lock(l);
}
void _raw_spin_unlock_irq(spinlock_t *l)
{
	arch_spin_unlock(l);
}
static void not_called(const char *name)
{
	fail_msg("%s is called", name);
	abort();
}
#define NOT_CALLED(type, name, ...) \
	type name(__VA_ARGS__)      \
	{                           \
		not_called(#name);  \
		return (type)0;     \
	}
NOT_CALLED(unsigned long, _raw_spin_lock_irqsave, spinlock_t *l)
NOT_CALLED(bool, try_to_wake_up, struct task_struct *p, unsigned mask)
NOT_CALLED(bool, wake_up_process, struct task_struct *p)
NOT_CALLED(int, cond_resched, void)
NOT_CALLED(bool, queue_work, struct workqueue_struct *wq, struct work_struct *w)
NOT_CALLED(struct worker_pool *, find_own_pool, int number)
NOT_CALLED(struct worker_pool *, own_pool, struct workqueue_struct *wq)
NOT_CALLED(int, hrtimer_cancel, struct hrtimer *t)
NOT_CALLED(int, sched_setaffinity, struct task_struct *p, const struct cpumask *mask)
NOT_CALLED(struct task_struct *, kthread_create_on_cpu, int (*fn)(void *), void *data, int cpu, const char *fmt, ...)
void _raw_spin_lock(spinlock_t *l)
{
	not_called(__func__);
}
void _raw_spin_unlock(spinlock_t *l)
{
	not_called(__func__);
}
void _raw_spin_unlock_irqrestore(spinlock_t *l, unsigned long flags)
{
	not_called(__func__);
}
void hrtimer_init(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
	not_called(__func__);
}
void hrtimer_start(struct hrtimer *t, ktime_t expires)
{
	not_called(__func__);
}
void host_relax(void)
{
}
void preempt_schedule(void)
{
}
void preempt_schedule_notrace(void)
{
}
void panic(const char *fmt, ...)
{
	not_called(__func__);
	abort();
}

/* ---- */

/* kthread_stop(), as far as it goes for the worker. */
static void *stopper(void *unused)
{
	for (unsigned round = 1; await(&begun, round) == round; round++) {
		WRITE_ONCE(should_stop, true);
		smp_mb();
		if (READ_ONCE(worker.state) & TASK_NORMAL)
			WRITE_ONCE(worker.state, TASK_RUNNING);
		__atomic_store_n(&looked, round, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The worker begins each round, and is then late by another number of instructions each time. */
static void stop_is_not_missed(void **state)
{
	time_t end = time(NULL) + SECONDS;
	unsigned rounds;
	pthread_t thread;

	pool_init(&pool, NR_CPUS, "own");
	assert_int_equal(pthread_create(&thread, NULL, stopper, NULL), 0);
	for (rounds = 1; rounds <= ROUNDS && time(NULL) <= end; rounds++) {
		should_stop = false;
		__atomic_store_n(&begun, rounds, __ATOMIC_RELEASE);
		/* The stopper learns of that some time later; in some rounds both are there at the same moment. */
		for (volatile unsigned n = rounds % 256; n; n--)
			;
		worker_thread(&pool);
		await(&looked, rounds);
	}
	__atomic_store_n(&begun, OVER, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	if (lost)
		fail_msg("of %u times the worker has missed %u times that it was to stop", rounds - 1, lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stop_is_not_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

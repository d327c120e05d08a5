/*
 * Works that are waited for and cancelled: each way on which a work stops being queued wakes the tasks that wait for
 * it, and a work that is on its way into a list can be cancelled.
 */
/* sources: kernel/irq/workqueue.c kernel/sched/wait.c kernel/lib/bitmap.c kernel/lib/string.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/sched.h>

#include "../../../kernel/irq/workqueue.h"

#include <host_threads.h>

u64 host_clock = 1, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned nr_cpu_ids = 1;
struct cpumask cpu_possible_mask = {{1}}, cpu_online_mask = {{1}}, cpu_bit_masks[1] = {{{1}}};
unsigned long __per_cpu_offset[NR_CPUS];
DECLARE_WAIT_QUEUE_HEAD(own_works_done);

static struct worker_pool own; /* a second pool, with the first number that is no CPU's */
static struct worker_pool *pools[2];
static struct host_thread *workers[2];
static void (*on_the_way)(void); /* what another CPU does at the moment when the pool `own` is looked for */
static struct work_struct work, slow;
static unsigned runs;
static bool slow_may_end, result;

/* Stands in for the one of workqueue_own.c: the second pool, after what another CPU does at this moment. */
struct worker_pool *find_own_pool(int number)
{
	void (*fn)(void) = on_the_way;
	struct task_struct *self = host_current;
	unsigned long irqs_off = host_irqs_off;

	must(number == own.number, "there is no pool %d", number);
	on_the_way = NULL;
	if (fn) {
		host_irqs_off = 0;
		fn();
		host_irqs_off = irqs_off;
		host_current = self;
	}
	return &own;
}
struct worker_pool *own_pool(struct workqueue_struct *wq)
{
	return &own;
}
struct task_struct *kthread_create_on_cpu(int (*fn)(void *), void *data, int cpu, const char *namefmt, ...)
{
	return NULL;
}
bool kthread_should_stop(void)
{
	return true;
}
int cond_resched(void)
{
	return 0;
}
void panic(const char *fmt, ...)
{
	must(false, "panic: %s", fmt);
	abort();
}
bool queue_work(struct workqueue_struct *wq, struct work_struct *w)
{
	return queue_work_in(&own, w);
}
void hrtimer_init(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
}
void hrtimer_start(struct hrtimer *t, ktime_t expires)
{
}
int hrtimer_cancel(struct hrtimer *t)
{
	return 0;
}

/* ---- */

static void count_run(struct work_struct *w)
{
	runs++;
}
/* Sleeps until the test says that it may end. */
static void sleep_long(struct work_struct *w)
{
	while (!slow_may_end) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
}
static void run_worker(void *pool)
{
	worker_thread(pool);
}
static void flush(void *w)
{
	result = flush_work(w);
}
static void cancel(void *w)
{
	result = cancel_work(w);
}
static void cancel_sync(void *w)
{
	result = cancel_work_sync(w);
}

static struct host_thread *start(const char *name, void (*fn)(void *), void *arg)
{
	struct host_thread *h = host_start(name, fn, arg);

	host_let(h);
	return h;
}

/* A worker that runs what is queued in pool `n`, and ends when it has nothing left to do. */
static void let_work(int n)
{
	workers[n] = start(n ? "worker of own" : "worker of CPU 0", run_worker, pools[n]);
}

/* The state at the beginning of each test: the workqueues are set up once, and nothing is queued. */
static void begin(void)
{
	static bool booted;

	if (!booted)
		workqueue_init_early();
	booted = true;
	pools[0] = cpu_pool(0);
	pools[1] = &own;
	pool_init(&own, NR_CPUS, "own");
	own.done = &own_works_done;
	INIT_WORK(&work, count_run);
	INIT_WORK(&slow, sleep_long);
	runs = 0;
	slow_may_end = result = false;
}

static void end(void)
{
	must(!waitqueue_active(pools[0]->done) && !waitqueue_active(&own_works_done), "a task is still in a queue");
	must(list_empty(&pools[0]->works) && list_empty(&own.works), "a work is left");
	host_end();
}

/* A work that is cancelled before it runs: those who wait for it do not wait for the work before it. */
static void cancel_wakes_flushers(void **state)
{
	struct host_thread *h;

	begin();
	queue_work_on(0, &slow);
	queue_work_on(0, &work);
	let_work(0);
	must(host_asleep(workers[0]), "the first work sleeps");
	h = start("flusher", flush, &work);
	must(host_asleep(h), "the work has not run");
	must(cancel_work(&work) && !cancel_work(&work), "it was queued");
	must(!host_asleep(h), "the task that waits for the work was not woken");
	host_let(h);
	must(h->done && result && !runs, "the work is not queued any more");
	slow_may_end = true;
	wake_up_process(&workers[0]->t);
	host_let(workers[0]);
	end();
}

/* ---- A work that ran in the pool `own` and is now queued on CPU 0: while it is on its way, another CPU looks. */

static struct host_thread *other;

static void other_flushes(void)
{
	other = start("flusher", flush, &work);
}
static void other_cancels(void)
{
	other = start("canceller", cancel, &work);
}

static void queue_elsewhere(void (*meanwhile)(void))
{
	begin();
	queue_work_in(&own, &work);
	let_work(1);
	must(workers[1]->done && runs == 1 && work.pool == own.number, "it ran in the pool of its own");
	on_the_way = meanwhile;
	must(queue_work_on(0, &work) && !on_the_way && work.pool == 0, "it is queued on CPU 0");
}

static void flush_follows_a_work(void **state)
{
	queue_elsewhere(other_flushes);
	must(!host_asleep(other), "the flusher waits in the queue of the pool that the work has left");
	host_let(other);
	must(host_asleep(other), "the work has not run");
	let_work(0);
	must(runs == 2 && !host_asleep(other), "the flusher was not woken after the work had run");
	host_let(other);
	must(other->done && result, "the work has run");
	end();
}

static void cancel_meets_a_work_on_its_way(void **state)
{
	queue_elsewhere(other_cancels);
	if (!other->done)
		host_let(other);
	must(other->done && result, "the work was queued, and was to be cancelled");
	let_work(0);
	must(runs == 1, "a work that was cancelled has run");
	end();
}

/*
 * A work whose end cancel_work_sync() waits for cannot be queued. But the attempt sets the state for a moment, and who
 * saw that must look again.
 */
static void refused_queueing_wakes(void **state)
{
	struct host_thread *h;

	begin();
	queue_work_in(&own, &slow);
	let_work(1);
	h = start("canceller", cancel_sync, &slow);
	must(host_asleep(h), "the work still runs");
	must(!queue_work_in(&own, &slow), "a work that is being cancelled was queued");
	must(!host_asleep(h), "the task that may have seen the attempt was not woken");
	host_let(h);
	must(host_asleep(h), "the work still runs");
	slow_may_end = true;
	wake_up_process(&workers[1]->t);
	host_let(workers[1]);
	host_let(h);
	must(h->done && !result, "the work was not queued");
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cancel_wakes_flushers),
		cmocka_unit_test(flush_follows_a_work),
		cmocka_unit_test(cancel_meets_a_work_on_its_way),
		cmocka_unit_test(refused_queueing_wakes),
	};

	sem_init(&host_stopped, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

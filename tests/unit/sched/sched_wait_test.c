/*
 * Wait queues and completions: a wake-up for one too many works, and costs; so each wake-up is counted. Tasks are
 * threads of the host of which one runs at a time, as far as the test lets it (host_threads.h).
 */
/* sources: kernel/sched/wait.c kernel/sched/completion.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <kernel/panic.h>
#include <sched/wait.h>

#include <host_threads.h>

/* The clock of these tests: each sleep with a time takes `slept` jiffies, or lasts until it is woken. */
static long slept;

long schedule_timeout(long timeout)
{
	schedule();
	return timeout == LONG_MAX ? timeout : max(timeout - slept, 0L);
}

/* ---- Wait queues. */

static DECLARE_WAIT_QUEUE_HEAD(queue);
static bool condition;
static int wait_result;

static void wait_exclusive(void *arg)
{
	DEFINE_WAIT(w);

	prepare_to_wait_exclusive(&queue, &w, (unsigned)(unsigned long)arg);
	schedule();
	finish_wait(&queue, &w);
}
static void wait_shared(void *arg)
{
	DEFINE_WAIT(w);

	prepare_to_wait(&queue, &w, (unsigned)(unsigned long)arg);
	prepare_to_wait(&queue, &w, (unsigned)(unsigned long)arg); /* a second time changes nothing */
	schedule();
	finish_wait(&queue, &w);
}

/* How many are in the queue, and it is whole. */
static unsigned queued(void)
{
	unsigned n = 0;

	for (struct list_head *e = queue.head.next; e != &queue.head; e = e->next) {
		must(e->next->prev == e, "the queue is broken after %u entries", n);
		must(++n <= HOST_THREADS, "the queue has no end");
	}
	return n;
}

static struct host_thread *waiter(const char *name, void (*fn)(void *), unsigned task_state)
{
	struct host_thread *h = host_start(name, fn, (void *)(unsigned long)task_state);

	host_let(h);
	must(h->t.state == task_state, "%s does not sleep", name);
	must(queued() > 0, "%s is not in the queue", name);
	return h;
}

static void let_all(void)
{
	for (unsigned i = 0; i < host_nr_threads; i++)
		if (!host_threads[i].done)
			host_let(&host_threads[i]);
	host_end();
	must(!waitqueue_active(&queue), "somebody is still in the queue");
}

/* A wake-up for one reaches all who share and the first of those who want to be alone; and so on. */
static void wake_exclusive(void **state)
{
	struct host_thread *shared[3], *alone[5];

	for (int i = 0; i < 5; i++) {
		alone[i] = waiter("alone", wait_exclusive, TASK_INTERRUPTIBLE);
		if (i < 3)
			shared[i] = waiter("shared", wait_shared, TASK_UNINTERRUPTIBLE);
	}
	wake_up(&queue);
	for (int i = 0; i < 3; i++)
		must(!host_asleep(shared[i]), "a wake-up reaches all who share");
	expect_woken(4, alone[0], "all who share, and one who does not");
	must(queued() == 4, "a waiter that is woken leaves the queue: %u are left", queued());
	wake_up(&queue);
	expect_woken(1, alone[1], "the next who wants to be alone");
	__wake_up(&queue, TASK_NORMAL, 2);
	expect_woken(2, alone[3], "two were asked for");
	must(host_asleep(alone[4]), "it was not its turn");
	wake_up_all(&queue);
	expect_woken(1, alone[4], "all that are left");
	wake_up(&queue);
	expect_woken(0, NULL, "nobody is left");
	let_all();
	for (int i = 0; i < 4; i++)
		waiter("alone", wait_exclusive, TASK_UNINTERRUPTIBLE);
	wake_up_all(&queue);
	expect_woken(4, NULL, "all");
	let_all();
}

/* Who cannot be woken does not count: the wake-up goes to the next. */
static void wake_counts_the_woken(void **state)
{
	struct host_thread *deaf, *woken, *next, *last;

	deaf = waiter("deaf", wait_exclusive, TASK_UNINTERRUPTIBLE);
	woken = waiter("woken", wait_exclusive, TASK_INTERRUPTIBLE);
	next = waiter("next", wait_exclusive, TASK_INTERRUPTIBLE);
	last = waiter("last", wait_exclusive, TASK_INTERRUPTIBLE);
	wake_up_process(&woken->t); /* by a signal: it is still in the queue */
	host_nr_woken = 0;
	wake_up_interruptible(&queue);
	expect_woken(1, next, "the first is deaf to it, the second is awake");
	must(host_asleep(deaf) && host_asleep(last), "one was to be woken");
	wake_up_interruptible_all(&queue);
	expect_woken(1, last, "the first is deaf to it");
	wake_up(&queue);
	expect_woken(1, deaf, "this one it hears");
	let_all();
}

static void wait_for_condition(void *unused)
{
	wait_event(&queue, condition);
}
static void wait_interruptibly(void *unused)
{
	wait_result = wait_event_interruptible(&queue, condition);
}

/* wait_event() sleeps until its condition is true, whatever wakes it. */
static void wait_events(void **state)
{
	struct host_thread *h;

	condition = true;
	h = host_start("true", wait_for_condition, NULL);
	host_let(h);
	must(h->done, "the condition was true");
	condition = false;
	h = host_start("false", wait_for_condition, NULL);
	host_let(h);
	must(h->t.state == TASK_UNINTERRUPTIBLE, "the condition is not true");
	for (int i = 0; i < 3; i++) {
		wake_up(&queue);
		host_let(h);
		must(host_asleep(h), "the condition is still not true");
	}
	condition = true;
	wake_up(&queue);
	host_let(h);
	must(h->done && h->t.state == TASK_RUNNING, "the condition is true");
	condition = false;
	h = host_start("signal", wait_interruptibly, NULL);
	host_let(h);
	set_tsk_thread_flag(&h->t, TIF_SIGPENDING);
	wake_up_process(&h->t);
	host_let(h);
	must(h->done && wait_result == -ERESTARTSYS && h->t.state == TASK_RUNNING, "a signal came: %d", wait_result);
	h = host_start("both", wait_interruptibly, NULL);
	condition = true;
	set_tsk_thread_flag(&h->t, TIF_SIGPENDING);
	host_let(h);
	must(h->done && wait_result == 0, "the condition counts more than the signal: %d", wait_result);
	let_all();
	host_nr_woken = 0;
}

bool fatal_signal_pending(struct task_struct *t)
{
	return false;
}

static unsigned takes, sleeps_before_it_is_true;

/* A condition that takes something: true once, after so many looks. */
static bool take(void)
{
	if (sleeps_before_it_is_true) {
		sleeps_before_it_is_true--;
		return false;
	}
	takes++;
	return true;
}

static void wait_and_take(void *unused)
{
	wait_result = wait_event_killable_timeout(&queue, take(), 10);
}

/* Once it is true it is not looked at again: it would take a second time. Also when the time is up at that moment. */
static void a_condition_takes_once(void **state)
{
	static const struct {
		long slept;
		int left;
	} rows[] = {{4, 6}, {10, 1}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct host_thread *h = host_start("takes", wait_and_take, NULL);

		takes = 0;
		sleeps_before_it_is_true = 2; /* before it sleeps, in the list and out of it */
		slept = rows[i].slept;
		host_let(h);
		wake_up(&queue);
		host_let(h);
		must(h->done && takes == 1 && wait_result == rows[i].left, "row %u: taken %u times, %d left", i, takes,
		     wait_result);
		let_all();
		host_nr_woken = 0;
	}
	slept = 0;
}

/* ---- Completions. */

static struct completion done;
static int completion_result;

static void wait_completion(void *unused)
{
	wait_for_completion(&done);
}
static void wait_completion_interruptible(void *unused)
{
	completion_result = wait_for_completion_interruptible(&done);
}
static struct host_thread *completer(void (*fn)(void *))
{
	struct host_thread *h = host_start("waits", fn, NULL);

	host_let(h);
	return h;
}

static void wait_completion_timeout(void *unused)
{
	completion_result = wait_for_completion_timeout(&done, 10);
}

/*
 * What is left of ten jiffies: 0 when it is not completed; the rest; and at least one, when both come together, or when
 * it was completed before and there is no time to wait.
 */
static void completions_with_a_time(void **state)
{
	static const struct {
		long slept;
		bool complete;
		int left;
	} rows[] = {{10, false, 0}, {4, true, 6}, {10, true, 1}};
	struct host_thread *h;

	for (int i = 0; i < 3; i++) {
		init_completion(&done);
		slept = rows[i].slept;
		h = completer(wait_completion_timeout);
		if (rows[i].complete)
			complete(&done);
		else
			wake_up_process(&h->t);
		host_let(h);
		must(h->done && completion_result == rows[i].left, "row %d: %d are left", i, completion_result);
		must(list_empty(&done.wait.head) && !done.done, "it left something behind");
		host_nr_woken = 0;
		host_end();
	}
	slept = 0;
	complete(&done);
	must(try_wait_for_completion(&done) && !try_wait_for_completion(&done), "there was one to be had");
	must(wait_for_completion_timeout(&done, 0) == 0, "it is not complete");
	complete(&done);
	must(wait_for_completion_timeout(&done, 0) == 1 && !done.done, "it was complete before: that takes no time");
}

/*
 * Each complete() lets one task go, in the order in which they came, also when it is called before anybody waits;
 * complete_all() lets all go, for good. A count at its highest value must not become the mark of complete_all(), and a
 * signal or a wake-up by mistake must use up nothing.
 */
static void completions(void **state)
{
	struct host_thread *h[4];

	init_completion(&done);
	complete(&done);
	complete(&done);
	expect_woken(0, NULL, "nobody waits");
	for (int i = 0; i < 4; i++) {
		h[i] = completer(wait_completion);
		must(h[i]->done == (i < 2), "two were completed");
	}
	complete(&done);
	expect_woken(1, h[2], "it came first");
	complete(&done); /* before the first has run */
	expect_woken(1, h[3], "the first is awake already");
	host_let(h[2]);
	host_let(h[3]);
	must(h[2]->done && h[3]->done, "both were completed");
	must(done.done == 0, "all was used up: %u", done.done);
	host_end();
	/* For all, and for all who come. */
	for (int i = 0; i < 3; i++)
		h[i] = completer(wait_completion);
	complete_all(&done);
	expect_woken(3, h[2], "all who wait");
	for (int i = 0; i < 3; i++)
		host_let(h[i]);
	must(completer(wait_completion)->done, "it is complete for good");
	must(done.done == ~0U, "complete_all() is for all who come: %u", done.done);
	complete(&done);
	must(completer(wait_completion)->done, "it is complete for good");
	must(completer(wait_completion)->done, "it is complete for good");
	host_nr_woken = 0;
	host_end();
	/* A count that is as high as it can be does not become the mark of complete_all(). */
	init_completion(&done);
	done.done = ~0U - 2;
	complete(&done);
	must(done.done == ~0U - 1, "one more");
	complete(&done);
	must(done.done == ~0U - 1, "no more than that: %u", done.done);
	must(try_wait_for_completion(&done) && done.done == ~0U - 2, "one was used up: %u", done.done);
	/* A signal, and then who was to be woken by mistake takes nothing away. */
	init_completion(&done);
	h[0] = completer(wait_completion_interruptible);
	h[1] = completer(wait_completion);
	must(h[1]->t.state == TASK_UNINTERRUPTIBLE, "it is not to be interrupted");
	set_tsk_thread_flag(&h[0]->t, TIF_SIGPENDING);
	wake_up_process(&h[0]->t);
	host_let(h[0]);
	must(h[0]->done && completion_result == -ERESTARTSYS, "a signal came: %d", completion_result);
	wake_up_process(&h[1]->t);
	host_let(h[1]);
	must(host_asleep(h[1]), "nothing was completed");
	host_nr_woken = 0;
	complete(&done);
	expect_woken(1, h[1], "it is the only one");
	host_let(h[1]);
	host_end();
	must(list_empty(&done.wait.head), "somebody is still in the queue");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wake_exclusive), cmocka_unit_test(wake_counts_the_woken),
		cmocka_unit_test(wait_events),	  cmocka_unit_test(a_condition_takes_once),
		cmocka_unit_test(completions),	  cmocka_unit_test(completions_with_a_time),
	};

	sem_init(&host_stopped, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

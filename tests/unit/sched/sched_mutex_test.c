/*
 * Mutexes, one event after the other: which waiters wake, in which order, and which task has the lock. A lock whose
 * waiters come in the wrong order works; it is only unfair. Tasks are threads of the host of which one runs at a time
 * (host_threads.h): the test lets one go on (host_let) until it sleeps, spins or stops by itself (host_stop).
 */
/* sources: kernel/lock/mutex.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <kernel/panic.h>
#include <kernel/smp.h>
#include <sched/mutex.h>
#include <sched/sched.h>

#include <host_threads.h>

unsigned nr_cpu_ids = 1;
static unsigned host_bugs;

void __bug(const char *file, int line, const char *cond)
{
	host_bugs++;
	host_self()->done = true; /* as after an oops */
	sem_post(&host_stopped);
	pthread_exit(NULL);
}

static struct mutex m;
static struct host_thread *got[64]; /* who had it, in this order */
static unsigned nr_got;

#define W_FLAG 1UL
#define H_FLAG 2UL

static unsigned long owner_word(const struct host_thread *h, unsigned long flags)
{
	return h ? (unsigned long)&h->t | flags : flags;
}

static void expect_word(const struct host_thread *h, unsigned long flags, const char *why)
{
	must(m.owner == owner_word(h, flags), "the mutex is %s's, flags %lu, not %s's, flags %lu: %s",
	     m.owner & ~3UL ? ((struct task_struct *)(m.owner & ~3UL))->comm : "nobody", m.owner & 3,
	     h ? h->t.comm : "nobody", flags, why);
	must(mutex_owner(&m) == (h ? &h->t : NULL), "the flags are not part of the owner");
}

/* Locks, holds it until the test lets it go on, unlocks. */
static void lock_once(void *unused)
{
	mutex_lock(&m);
	got[nr_got++] = host_self();
	host_stop();
	mutex_unlock(&m);
}

/* For ever, until told to end. */
static bool stop_looping;
static void lock_loop(void *unused)
{
	while (!stop_looping) {
		mutex_lock(&m);
		got[nr_got++] = host_self();
		host_stop();
		mutex_unlock(&m);
		host_stop();
	}
}

static int interruptible_result;
static void lock_interruptible(void *unused)
{
	interruptible_result = mutex_lock_interruptible(&m);
	if (interruptible_result)
		return;
	got[nr_got++] = host_self();
	host_stop();
	mutex_unlock(&m);
}

static void begin(unsigned cpus)
{
	mutex_init(&m);
	nr_got = host_bugs = 0;
	nr_cpu_ids = cpus;
	stop_looping = false;
}

static void finish(void)
{
	host_end();
	expect_word(NULL, 0, "everybody has unlocked it");
	must(list_empty(&m.waiters), "somebody is still in the queue");
}

/*
 * One task and no waiters: the owner's word holds the task while it has the mutex, and is zero afterwards; trylock
 * gets it only when it is free.
 */
static void mutex_alone(void **state)
{
	struct host_thread *a;

	begin(1);
	must(!mutex_is_locked(&m), "it is free");
	a = host_start("a", lock_once, NULL);
	host_let(a);
	expect_word(a, 0, "it has locked it");
	must(mutex_is_locked(&m), "a has it");
	must(!mutex_trylock(&m), "a has it");
	expect_word(a, 0, "trylock has failed");
	host_let(a);
	must(mutex_trylock(&m), "it is free");
	must(m.owner == (unsigned long)&host_main, "it is the test's");
	mutex_unlock(&m);
	expect_woken(0, NULL, "nobody waited");
	finish();
}

/* Waiters get it in the order in which they came, and each unlock wakes one. */
static void mutex_order(void **state)
{
	struct host_thread *h[6];

	begin(1);
	for (int i = 0; i < 6; i++) {
		char name[8];

		snprintf(name, sizeof(name), "m%d", i);
		h[i] = host_start(name, lock_once, NULL);
		host_let(h[i]);
		must(host_asleep(h[i]) == (i > 0), "%s: only the first gets it", name);
		must(!i || h[i]->t.state == TASK_UNINTERRUPTIBLE, "mutex_lock() is not to be interrupted");
	}
	for (int i = 0; i < 6; i++) {
		expect_word(h[i], i < 5 ? W_FLAG : 0, "it is the next");
		host_let(h[i]); /* unlocks */
		if (i < 5) {
			expect_woken(1, h[i + 1], "the next in the queue");
			expect_word(NULL, W_FLAG, "it is free for whoever comes first");
			host_let(h[i + 1]);
		}
	}
	for (unsigned i = 0; i < 6; i++)
		must(got[i] == h[i], "%s had it as number %u", got[i]->t.comm, i);
	finish();
}

/* A waiter may be overtaken once. Then the mutex is handed over to it, and nobody can take it in between. */
static void mutex_hand_over(void **state)
{
	struct host_thread *thief, *first, *second;

	begin(1);
	thief = host_start("thief", lock_loop, NULL);
	first = host_start("first", lock_once, NULL);
	second = host_start("second", lock_once, NULL);
	host_let(thief);
	host_let(first);
	host_let(second);
	host_let(thief); /* unlocks, and is quicker than who was woken */
	expect_woken(1, first, "it waits longest");
	host_let(thief);
	expect_word(thief, W_FLAG, "it may overtake");
	host_let(first);
	must(host_asleep(first), "the mutex is the thief's");
	expect_word(thief, W_FLAG | H_FLAG, "the first waiter asks for it, since it was overtaken");
	host_let(thief); /* unlocks: over to the first */
	expect_word(first, W_FLAG, "it was handed over, and the wish is fulfilled");
	expect_woken(1, first, "it has got the mutex");
	must(!mutex_trylock(&m), "it was handed over");
	host_let(thief);
	must(host_asleep(thief), "nobody overtakes twice");
	host_let(first);
	must(nr_got == 3 && got[2] == first, "the first waiter has it");
	host_let(first);
	expect_woken(1, second, "it is the next");
	host_let(second);
	expect_word(second, W_FLAG, "it is the next, and nobody has overtaken it");
	stop_looping = true;
	host_let(second);
	host_let(thief);
	host_let(thief);
	host_let(thief);
	finish();
}

/* One that is not the first in the queue asks for nothing, however it was woken. */
static void mutex_only_first_asks(void **state)
{
	struct host_thread *owner, *first, *second;

	begin(1);
	owner = host_start("owner", lock_once, NULL);
	first = host_start("first", lock_once, NULL);
	second = host_start("second", lock_once, NULL);
	host_let(owner);
	host_let(first);
	host_let(second);
	wake_up_process(&second->t); /* for whatever reason */
	host_nr_woken = 0;
	host_let(second);
	must(host_asleep(second), "the mutex is the owner's");
	expect_word(owner, W_FLAG, "the second in the queue does not ask");
	host_let(owner);
	expect_woken(1, first, "it waits longest");
	host_let(first);
	host_let(first);
	host_let(second);
	host_let(second);
	finish();
}

/* A signal ends an interruptible wait: what it asked for is taken back, and the others are served. */
static void mutex_signal(void **state)
{
	struct host_thread *thief, *first, *second;

	begin(1);
	thief = host_start("thief", lock_loop, NULL);
	first = host_start("first", lock_interruptible, NULL);
	second = host_start("second", lock_once, NULL);
	host_let(thief);
	host_let(first);
	must(first->t.state == TASK_INTERRUPTIBLE, "it may be interrupted");
	host_let(second);
	host_let(thief);
	host_let(thief); /* overtakes */
	host_let(first);
	expect_word(thief, W_FLAG | H_FLAG, "the first waiter asks");
	set_tsk_thread_flag(&first->t, TIF_SIGPENDING);
	wake_up_process(&first->t);
	host_let(first);
	must(first->done && interruptible_result == -EINTR, "a signal ends the wait: %d", interruptible_result);
	expect_word(thief, W_FLAG, "who asked has gone, the second has not been overtaken");
	host_nr_woken = 0;
	host_let(thief);
	expect_woken(1, second, "it is the first now");
	expect_word(NULL, W_FLAG, "nobody has asked for it");
	host_let(second);
	expect_word(second, 0, "nobody waits");
	stop_looping = true;
	host_let(second);
	host_let(thief);
	finish();
	/* Both at once, mutex and signal: the mutex counts. */
	begin(1);
	thief = host_start("owner", lock_once, NULL);
	first = host_start("first", lock_interruptible, NULL);
	host_let(thief);
	host_let(first);
	host_let(thief);
	set_tsk_thread_flag(&first->t, TIF_SIGPENDING);
	host_let(first);
	must(nr_got == 2 && got[1] == first, "it was free before the signal was looked at");
	clear_tsk_thread_flag(&first->t, TIF_SIGPENDING);
	host_let(first);
	must(interruptible_result == 0, "it had it");
	finish();
}

/* While the owner runs on another CPU a second one spins; it sleeps when the owner does, or when it must make
 * room. */
static void mutex_spins(void **state)
{
	struct host_thread *owner, *spinner;

	for (int how = 0; how < 3; how++) {
		begin(2);
		owner = host_start("owner", lock_once, NULL);
		spinner = host_start("spinner", lock_once, NULL);
		host_let(owner);
		owner->t.on_cpu = 1;
		for (int i = 0; i < 3; i++) {
			host_let(spinner);
			must(spinner->spins && !host_asleep(spinner), "the owner runs");
			expect_word(owner, 0, "who spins is not in the queue");
		}
		if (how == 0) {
			host_let(owner);
			expect_woken(0, NULL, "nobody sleeps");
			host_let(spinner);
			expect_word(spinner, 0, "it was free");
		} else {
			if (how == 1)
				owner->t.on_cpu = 0;
			else
				set_tsk_thread_flag(&spinner->t, TIF_NEED_RESCHED);
			host_let(spinner);
			must(host_asleep(spinner), "%s", how == 1 ? "the owner does not run" : "it must make room");
			expect_word(owner, W_FLAG, "somebody sleeps");
			host_let(owner);
			expect_woken(1, spinner, "it sleeps");
			host_let(spinner);
		}
		must(spinner->t.preempt_count == 0, "spinning has left preemption off");
		host_let(spinner);
		finish();
	}
	/* On one CPU nobody spins. */
	begin(1);
	owner = host_start("owner", lock_once, NULL);
	spinner = host_start("spinner", lock_once, NULL);
	host_let(owner);
	owner->t.on_cpu = 1;
	host_let(spinner);
	must(host_asleep(spinner), "there is one CPU");
	host_let(owner);
	host_let(spinner);
	host_let(spinner);
	finish();
}

static void lock_twice(void *unused)
{
	mutex_lock(&m);
	mutex_lock(&m);
}
static void unlock_others(void *unused)
{
	mutex_unlock(&m);
}

/* Wrong use is found where it happens. */
static void mutex_misuse(void **state)
{
	begin(1);
	host_let(host_start("twice", lock_twice, NULL));
	must(host_bugs == 1, "locking twice is not found");
	begin(1);
	mutex_lock(&m);
	host_let(host_start("other", unlock_others, NULL));
	must(host_bugs == 1, "unlocking what is another's is not found");
	m.wait_lock.locked = 0;
	mutex_unlock(&m);
	host_end();
}

/* Any order of running: never two owners, nobody left behind, and never overtaken more than once by the same
 * wait. */
static unsigned inside;
static void lock_often(void *unused)
{
	for (int i = 0; i < 40; i++) {
		mutex_lock(&m);
		must(!inside++, "two have the mutex");
		host_stop();
		inside--;
		mutex_unlock(&m);
		host_stop();
	}
}

/*
 * Five tasks lock and unlock in random order on one or two CPUs: never two inside, and a task that can run is always
 * found. If all sleep, a wake-up was lost.
 */
static void mutex_any_order(void **state)
{
	for (int round = 0; round < 40; round++) {
		struct host_thread *h[5];
		unsigned left = 5, idle = 0;

		begin(1 + round % 2);
		for (int i = 0; i < 5; i++)
			h[i] = host_start("any", lock_often, NULL);
		while (left) {
			struct host_thread *one = h[host_random() % 5];

			must(idle++ < 1000, "all sleep, and nobody wakes them");
			if (one->done || host_asleep(one))
				continue;
			idle = 0;
			host_nr_woken = 0;
			one->t.on_cpu = 1;
			host_let(one);
			one->t.on_cpu = host_random() % 2 && !host_asleep(one);
			left -= one->done;
		}
		finish();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mutex_alone),	   cmocka_unit_test(mutex_order),
		cmocka_unit_test(mutex_hand_over), cmocka_unit_test(mutex_only_first_asks),
		cmocka_unit_test(mutex_signal),	   cmocka_unit_test(mutex_spins),
		cmocka_unit_test(mutex_misuse),	   cmocka_unit_test(mutex_any_order),
	};

	sem_init(&host_stopped, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

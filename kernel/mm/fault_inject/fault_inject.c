/*
 * Fault injection. The slab allocator and the page allocator ask at one place each whether an allocation must fail. A
 * question is answered yes for one of two reasons:
 *
 *     fail-nth      the task has written a number to its /proc/<pid>/fail-nth, and this is the allocation with that
 *                   number. A test that takes 1, 2, 3... reaches each allocation of a system call in turn.
 *     probability   chance, with the settings below failslab/ and fail_page_alloc/ in debugfs.
 *
 * The number of a task goes before chance, and while a task has one, chance does not touch it. Which allocations are
 * asked about at all (`ignore-gfp-wait`, `min-order`) is set for both alike, and by default that is next to nothing:
 * few allocations are made where one must not wait.
 *
 * The question stands behind a static key. While nothing can be injected, each allocator executes one nop more.
 *
 * Locks: i fault_injection_mutex; a atomic; t the task itself, or who writes to its file.
 */
#include <mm/fault_inject.h>

#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <kernel/random.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <sched/current.h>
#include <sched/mutex.h>
#include <sched/preempt.h>

#include "fail_nth.h"

static DEFINE_MUTEX(fault_injection_mutex);

/* The settings of one allocator, with Linux's names and defaults. */
struct fault_attr {
	const char *name;
	atomic_t probability;	  /* [a] percent */
	atomic_t interval;	  /* [a] of so many allocations one may fail */
	atomic_t times;		  /* [a] faults that are left; -1: without end */
	atomic_t space;		  /* [a] so many bytes (pages) succeed first */
	atomic_t verbose;	  /* [a] 0: silent, 1: a message for each fault, 2: with the stack */
	atomic_t task_filter;	  /* [a] only tasks that have 1 in their make-it-fail */
	atomic_t ignore_gfp_wait; /* [a] spare the allocations that may sleep */
	atomic_t min_order;	  /* [a] spare blocks of pages that are smaller */
	atomic_t count;		  /* [a] allocations that `interval` counts */
};
#define FAULT_ATTR(_name)                                                                                        \
	{                                                                                                        \
		.name = (_name), .interval = ATOMIC_INIT(1), .times = ATOMIC_INIT(1), .verbose = ATOMIC_INIT(2), \
		.ignore_gfp_wait = ATOMIC_INIT(1), .min_order = ATOMIC_INIT(1)                                   \
	}
static struct fault_attr failslab = FAULT_ATTR("failslab"), fail_page_alloc = FAULT_ATTR("fail_page_alloc");

/* ---- The decision */

/* Two CPUs may inject the last fault that is left at once; `times` must then stop at 0, as -1 means without end. */
static void count_fault(struct fault_attr *attr)
{
	int left = atomic_read(&attr->times);

	while (left > 0) {
		int seen = atomic_cmpxchg(&attr->times, left, left - 1);

		if (seen == left)
			return;
		left = seen;
	}
}

/* Callers that cope with a failure in silence (__GFP_NOWARN) get no message here, either. */
static void report_fault(struct fault_attr *attr, gfp_t gfp)
{
	int verbose = atomic_read(&attr->verbose);

	if (!verbose || gfp & __GFP_NOWARN)
		return;
	pr_notice("FAULT_INJECTION: forcing a failure.\nname %s, interval %d, probability %d, space %d, times %d\n",
		  attr->name, atomic_read(&attr->interval), atomic_read(&attr->probability), atomic_read(&attr->space),
		  atomic_read(&attr->times));
	if (verbose > 1)
		dump_stack();
}

/*
 * The part of chance. The order of the conditions is Linux's: `space` and `interval` count only what passes those
 * before them.
 */
static bool chance_says_fail(struct fault_attr *attr, unsigned size)
{
	int interval = atomic_read(&attr->interval);
	u32 random;

	if (!atomic_read(&attr->probability))
		return false;
	if (atomic_read(&attr->task_filter) && (!in_task() || !READ_ONCE(current->make_it_fail)))
		return false;
	if (!atomic_read(&attr->times))
		return false;
	if (atomic_read(&attr->space) > (int)size) {
		atomic_sub((int)size, &attr->space);
		return false;
	}
	if (interval > 1 && (unsigned)atomic_inc_return(&attr->count) % (unsigned)interval)
		return false;
	get_random_bytes(&random, sizeof(random));
	return random % 100 < (unsigned)atomic_read(&attr->probability);
}

/* An interrupt's allocations are not those of the task that it has interrupted, so they do not count for fail-nth. */
static bool should_fail(struct fault_attr *attr, unsigned size, gfp_t gfp)
{
	unsigned nth = in_task() ? READ_ONCE(current->fail_nth) : 0;

	if (gfp & GFP_KERNEL && atomic_read(&attr->ignore_gfp_wait))
		return false;
	if (nth)
		WRITE_ONCE(current->fail_nth, nth - 1);
	if (nth ? nth > 1 : !chance_says_fail(attr, size))
		return false;
	report_fault(attr, gfp);
	count_fault(attr);
	return true;
}

static bool should_fail_slab(unsigned size, gfp_t gfp)
{
	return should_fail(&failslab, size, gfp);
}

static bool should_fail_page(unsigned order, gfp_t gfp)
{
	if (order < (unsigned)atomic_read(&fail_page_alloc.min_order))
		return false;
	return should_fail(&fail_page_alloc, 1U << order, gfp);
}

static const struct fault_injector the_fault_injector = {.slab = should_fail_slab, .page = should_fail_page};
REGISTER_FAULT_INJECTOR(the_fault_injector);

/* ---- The key */

/* For walk_processes(): does a thread of this process count? [tasklist_lock] */
static void look_for_nth(struct task_struct *leader, void *found)
{
	struct task_struct *t;

	for_each_thread(leader, t)
		if (READ_ONCE(t->fail_nth))
			*(bool *)found = true;
}

/*
 * [i] Switch the key on or off after a change. Tasks are looked through only when there is no other reason to keep it
 * on. A fault that was injected ends its task's count without a look here, because that comes from any context: then
 * the key stays on until the next change, and the allocators ask in vain.
 */
static void update_key(void)
{
	bool on = atomic_read(&failslab.probability) || atomic_read(&fail_page_alloc.probability);

	if (!on)
		walk_processes(EVERY_PROCESS, look_for_nth, &on);
	if (on != static_key_enabled(&fault_injection_key))
		static_key_set(&fault_injection_key, on);
}

/*
 * The key goes on first, so that the switch itself is not counted. The mutex keeps another task from switching it off.
 */
void fault_injection_set_nth(struct task_struct *task, unsigned nth)
{
	mutex_lock(&fault_injection_mutex);
	if (nth && !static_key_enabled(&fault_injection_key))
		static_key_set(&fault_injection_key, true);
	WRITE_ONCE(task->fail_nth, nth);
	if (!nth)
		update_key();
	mutex_unlock(&fault_injection_mutex);
}

/* ---- The settings, files of debugfs */

static int number_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%d\n", atomic_read((atomic_t *)data));
	return 0;
}

/* `times` alone may be -1. */
static int number_store(char *text, void *data)
{
	bool times = data == &failslab.times || data == &fail_page_alloc.times;
	int value, err = kstrtoint(text, 0, &value);

	if (err)
		return err;
	if (value < (times ? -1 : 0))
		return -EINVAL;
	mutex_lock(&fault_injection_mutex);
	atomic_set((atomic_t *)data, value);
	update_key();
	mutex_unlock(&fault_injection_mutex);
	return 0;
}

static int switch_show(struct seq_file *m, void *data)
{
	seq_puts(m, atomic_read((atomic_t *)data) ? "Y\n" : "N\n");
	return 0;
}

static int switch_store(char *text, void *data)
{
	bool value;
	int err = kstrtobool(text, &value);

	if (!err)
		atomic_set((atomic_t *)data, value);
	return err;
}

#define FAULT_FILE(attr, field, file, kind)                                     \
	static const struct text_file attr##_##field = {.path = #attr "/" file, \
							.mode = 0600,           \
							.show = kind##_show,    \
							.store = kind##_store,  \
							.data = &(attr).field}; \
	REGISTER_DEBUGFS(attr##_##field)
/* One registration a line: the line is part of its name. */
FAULT_FILE(failslab, probability, "probability", number);
FAULT_FILE(failslab, interval, "interval", number);
FAULT_FILE(failslab, times, "times", number);
FAULT_FILE(failslab, space, "space", number);
FAULT_FILE(failslab, verbose, "verbose", number);
FAULT_FILE(failslab, task_filter, "task-filter", switch);
FAULT_FILE(failslab, ignore_gfp_wait, "ignore-gfp-wait", switch);
FAULT_FILE(fail_page_alloc, probability, "probability", number);
FAULT_FILE(fail_page_alloc, interval, "interval", number);
FAULT_FILE(fail_page_alloc, times, "times", number);
FAULT_FILE(fail_page_alloc, space, "space", number);
FAULT_FILE(fail_page_alloc, verbose, "verbose", number);
FAULT_FILE(fail_page_alloc, task_filter, "task-filter", switch);
FAULT_FILE(fail_page_alloc, ignore_gfp_wait, "ignore-gfp-wait", switch);
FAULT_FILE(fail_page_alloc, min_order, "min-order", number);

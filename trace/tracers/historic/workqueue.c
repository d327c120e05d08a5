/*
 * The workqueue tracer: how many works each workqueue was given, how many it has run, and how long each function of
 * them took. Numbers and not records, so there is nothing to select in current_tracer. As in Linux 2.6.29 to 2.6.35 it
 * counts from the boot on; workqueue_profile_enabled ends and begins that.
 *
 *	# CPU  INSERTED  EXECUTED   NAME				trace_stat/workqueues
 *	# |      |         |          |
 *	  0  38044      38044       events/0
 *
 * trace_stat/workfuncs has the columns that Linux's developers added in 2009: a line for each function, with the
 * longest and the average run.
 *
 * A place of the table below counts one function in one pool. No two contexts write one of its numbers, so they need
 * neither a lock nor an atomic operation: `inserted` changes where a work is queued, under the lock of its pool, and
 * the others in the one thread that the pool has.
 */
#include <irq/workqueue.h>
#include <kernel/init.h>
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/hash.h>
#include <lib/string.h>
#include <sched/mutex.h>
#include <time/clock.h>
#include <trace/events/workqueue.h>

#include "tracefs/refused.h"
#include "trace_stat/stat.h"

/* Locks: p the lock of the work's pool; w its worker, preemption off; l work_counts_lock. Anybody may read. */
struct work_count {
	work_func_t func;	    /* [l] written last; or FUNC_*. NULL: free, and a search ends here */
	int number;		    /* [l] of the pool */
	u32 inserted;		    /* [p] */
	u32 executed, ended;	    /* [w] runs that began, and that came to their end */
	struct task_struct *worker; /* [w] while the function runs. Only compared: the thread may be gone */
	u64 started;		    /* [w] when it began, ns */
	u64 max, total;		    /* [w] ns, of the runs that ended */
};
#define FUNC_GONE   ((work_func_t)1) /* free again: the pool has gone */
#define FUNC_FORMER ((work_func_t)2) /* all functions of modules that have gone, together */

/* Open addressing by the function, so that a worker finds what it runs without knowing the pool (find_running). */
#define WORK_COUNTS 256
static struct work_count work_counts[WORK_COUNTS];
static unsigned long work_counts_missed;   /* [l] works that found no place */
static DEFINE_SPINLOCK(work_counts_lock);  /* arch_spin_lock, interrupts off: taken inside the lock of a pool */
static DEFINE_MUTEX(workqueue_stat_mutex); /* switching, and reading what switching clears */
static bool workqueue_stat_enabled;	   /* [workqueue_stat_mutex] */

/* The n-th place to look at for a function. Multiplicative hashing, as functions are close to each other. */
static struct work_count *work_place(work_func_t func, unsigned n)
{
	return &work_counts[(hash_32((unsigned long)func, 16) + n) % WORK_COUNTS];
}

/*
 * The place of a function in a pool, or NULL. It is searched without the lock, while others take places and give them
 * back. `func` is looked at before and after `number`: a place that goes to another pair meanwhile has func FUNC_GONE
 * before it gets the new number, so if the new number was seen, the last look sees another func.
 */
static struct work_count *find_count(work_func_t func, int number)
{
	for (unsigned n = 0; n < WORK_COUNTS; n++) {
		struct work_count *c = work_place(func, n);
		work_func_t found = smp_load_acquire(&c->func);

		if (!found)
			return NULL;
		if (found == func && smp_load_acquire(&c->number) == number && READ_ONCE(c->func) == func)
			return c;
	}
	return NULL;
}

/* Take the first free place for this pair; its counts are zero. NULL: no place is free. work_counts_lock held. */
static struct work_count *take_place(work_func_t func, int number)
{
	for (unsigned n = 0; n < WORK_COUNTS; n++) {
		struct work_count *c = work_place(func, n);

		if (c->func && c->func != FUNC_GONE)
			continue;
		smp_store_release(&c->number, number);
		smp_store_release(&c->func, func); /* a reader that finds the function finds the number */
		return c;
	}
	return NULL;
}

/* The place has no writer any more: it is cleared for the next pair. work_counts_lock held. */
static void give_place_back(struct work_count *c)
{
	WRITE_ONCE(c->func, FUNC_GONE);
	c->inserted = c->executed = c->ended = 0;
	c->max = c->total = 0;
	c->worker = NULL;
}

static unsigned long work_counts_lock_irqsave(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_spin_lock(&work_counts_lock);
	return flags;
}

static void work_counts_unlock_irqrestore(unsigned long flags)
{
	arch_spin_unlock(&work_counts_lock);
	raw_local_irq_restore(flags);
}

/* The place of a function in a pool, found or taken. NULL: there is no room, and the work is counted as missed. */
static struct work_count *get_count(work_func_t func, int number)
{
	struct work_count *c = find_count(func, number);
	unsigned long flags;

	if (likely(c))
		return c;
	flags = work_counts_lock_irqsave();
	c = find_count(func, number) ?: take_place(func, number);
	if (!c)
		work_counts_missed++;
	work_counts_unlock_irqrestore(flags);
	return c;
}

/* ---- Probes. Preemption off. */

/* A work is queued. The pool's lock is held, interrupts off, in any context but NMIs. */
static void probe_queue_work(void *data, int req_cpu, int cpu, const char *queue, struct work_struct *work)
{
	struct work_count *c = get_count(work->func, work->pool);

	if (c)
		WRITE_ONCE(c->inserted, c->inserted + 1);
}

/* In the worker. work->pool does not change while the work runs: queueing it again leaves it with its pool. */
static void probe_execute_start(void *data, struct work_struct *work)
{
	struct work_count *c = get_count(work->func, READ_ONCE(work->pool));

	if (!c)
		return;
	WRITE_ONCE(c->executed, c->executed + 1);
	c->started = sched_clock();
	WRITE_ONCE(c->worker, current);
}

/* The place of the function that this worker runs. NULL: counting was off when it began, or no place was free. */
static struct work_count *find_running(work_func_t func)
{
	for (unsigned n = 0; n < WORK_COUNTS; n++) {
		struct work_count *c = work_place(func, n);
		work_func_t found = smp_load_acquire(&c->func);

		if (!found)
			return NULL;
		if (found == func && READ_ONCE(c->worker) == current)
			return c;
	}
	return NULL;
}

/* In the worker; the work itself may be gone. */
static void probe_execute_end(void *data, struct work_struct *work, work_func_t function)
{
	struct work_count *c = find_running(function);
	u64 ns;

	if (!c)
		return;
	ns = sched_clock() - c->started;
	WRITE_ONCE(c->worker, NULL);
	WRITE_ONCE(c->total, c->total + ns);
	WRITE_ONCE(c->ended, c->ended + 1);
	if (ns > c->max)
		WRITE_ONCE(c->max, ns);
}

/*
 * The worker has ended and no work is queued in its pool any more, so the pool's places have no writers. Thread
 * context.
 */
static void probe_destruction(void *data, struct task_struct *wq_thread, int number)
{
	unsigned long flags = work_counts_lock_irqsave();

	for (unsigned i = 0; i < WORK_COUNTS; i++)
		if (work_counts[i].func && work_counts[i].func != FUNC_GONE && work_counts[i].number == number)
			give_place_back(&work_counts[i]);
	work_counts_unlock_irqrestore(flags);
}

static const struct tracepoint_probe workqueue_probes[] = {
	{&__tracepoint_workqueue_queue_work, (void *)probe_queue_work},
	{&__tracepoint_workqueue_execute_start, (void *)probe_execute_start},
	{&__tracepoint_workqueue_execute_end, (void *)probe_execute_end},
	{&__tracepoint_workqueue_destruction, (void *)probe_destruction},
};

/* ---- Modules */

/* Add a function's numbers to those of all former ones in its pool. work_counts_lock held, no writers. */
static void make_former(struct work_count *c)
{
	struct work_count *former = find_count(FUNC_FORMER, c->number) ?: take_place(FUNC_FORMER, c->number);

	if (former) {
		former->inserted += c->inserted;
		former->executed += c->executed;
		former->ended += c->ended;
		former->total += c->total;
		former->max = max(former->max, c->max);
	}
	give_place_back(c);
}

/*
 * Another module may get this one's memory, so what was counted for its functions is not left under their addresses. It
 * has no works any more, as its exit has waited for all of them.
 */
static void workqueue_stat_module_going(struct module *mod)
{
	unsigned long flags = work_counts_lock_irqsave();

	for (unsigned i = 0; i < WORK_COUNTS; i++)
		if (__module_address((unsigned long)work_counts[i].func) == mod)
			make_former(&work_counts[i]);
	work_counts_unlock_irqrestore(flags);
}
static const struct module_notifier workqueue_stat_notifier = {.going = workqueue_stat_module_going};
REGISTER_MODULE_NOTIFIER(workqueue_stat_notifier);

/* ---- trace_stat/workqueues and trace_stat/workfuncs */

/* One pool, or one function in it. */
struct work_row {
	struct worker_pool_info pool;
	struct work_count count; /* func NULL: the pool */
	int cpu;		 /* as shown: the first one that the worker may run on, as in Linux */
	unsigned order;		 /* among the rows of its pool */
	bool last;		 /* of its pool */
};
struct work_rows {
	struct work_row *rows;
	unsigned n, max;
	bool functions; /* rows for them too */
};

static struct work_row *add_row(struct work_rows *to, const struct worker_pool_info *pool)
{
	struct work_row *row = &to->rows[to->n];

	if (to->n == to->max)
		return NULL;
	*row = (struct work_row){.order = to->n++, .last = true};
	row->pool = *pool;
	row->cpu = max(pool->cpu, 0);
	return row;
}

/*
 * A copy. Both numbers only grow, and `executed` is read before `inserted`: so a reader never sees a work that has run
 * and was not inserted, however long it is preempted between the two. Works that were queued when counting began are
 * the exception.
 */
static struct work_count read_count(const struct work_count *from)
{
	struct work_count c = {
		.func = READ_ONCE(from->func),
		.number = READ_ONCE(from->number),
		.total = READ_ONCE(from->total),
		.max = READ_ONCE(from->max),
		.ended = READ_ONCE(from->ended),
		.executed = READ_ONCE(from->executed),
	};

	smp_rmb();
	c.inserted = READ_ONCE(from->inserted);
	return c;
}

/* The row of a pool and, for workfuncs, one for each function that was queued in it. workqueue_stat_mutex held. */
static void add_pool_rows(const struct worker_pool_info *pool, void *data)
{
	struct work_rows *to = data;
	struct work_row *sum = add_row(to, pool), *row = NULL, *next;

	if (!sum)
		return;
	for (unsigned i = 0; i < WORK_COUNTS; i++) {
		struct work_count c = read_count(&work_counts[i]);

		if (!c.func || c.func == FUNC_GONE || c.number != pool->number)
			continue;
		sum->count.inserted += c.inserted;
		sum->count.executed += c.executed;
		next = to->functions ? add_row(to, pool) : NULL;
		if (!next)
			continue;
		next->count = c;
		if (row)
			row->last = false;
		row = next;
	}
}

static unsigned collect_works(void *rows, unsigned max, bool functions)
{
	struct work_rows to = {.rows = rows, .max = max, .functions = functions};

	mutex_lock(&workqueue_stat_mutex);
	for_each_worker_pool(add_pool_rows, &to);
	mutex_unlock(&workqueue_stat_mutex);
	return to.n;
}

static unsigned workqueues_collect(int cpu, void *rows, unsigned max)
{
	return collect_works(rows, max, false);
}

static unsigned workfuncs_collect(int cpu, void *rows, unsigned max)
{
	return collect_works(rows, max, true);
}

static void count_pool(const struct worker_pool_info *pool, void *data)
{
	++*(unsigned *)data;
}

static unsigned workqueues_max_rows(int cpu)
{
	unsigned n = 0;

	for_each_worker_pool(count_pool, &n);
	return n;
}

static unsigned workfuncs_max_rows(int cpu)
{
	return workqueues_max_rows(cpu) + WORK_COUNTS;
}

/* By CPU, then in the order in which the queues were made. */
static int work_row_cmp(const void *a, const void *b)
{
	const struct work_row *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu - y->cpu;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Behind the header, and only when there was no room for a function. */
static void put_missed(struct seq_file *m)
{
	unsigned long missed = READ_ONCE(work_counts_missed);

	if (missed)
		seq_printf(m, "# not counted, there was no room: %lu\n", missed);
}

static void workqueues_header(struct seq_file *m)
{
	seq_puts(m, "# CPU  INSERTED  EXECUTED   NAME\n"
		    "# |      |         |          |\n");
	put_missed(m);
}

/* A CPU's thread of a queue was named for both in Linux until 2.6.35: events/0. */
static void workqueues_show(struct seq_file *m, const void *v)
{
	const struct work_row *row = v;

	seq_printf(m, "%3d %6u     %6u       %s", row->cpu, row->count.inserted, row->count.executed, row->pool.name);
	if (row->pool.cpu >= 0)
		seq_printf(m, "/%d", row->pool.cpu);
	seq_putc(m, '\n');
}

static void workfuncs_header(struct seq_file *m)
{
	seq_puts(m, "# CPU INSERTED EXECUTED    MAX us   AVG us   TASKNAME:PID\n"
		    "#  |     |        |           |      ` |     -WORKFUNC\n"
		    "#  |     |        |           |        |          |\n");
	put_missed(m);
}

/* A line for a pool, or for a function of that pool, indented below it. */
static void workfuncs_show(struct seq_file *m, const void *v)
{
	const struct work_row *row = v;
	const struct work_count *c = &row->count;
	u64 average = c->ended ? c->total / c->ended : 0;

	seq_printf(m, "  %3d   %6u   %6u", row->cpu, c->inserted, c->executed);
	if (!c->func) {
		seq_printf(m, "                     %s:%d\n", row->pool.comm, row->pool.pid);
		return;
	}
	seq_printf(m, "   %6llu   %6llu   %c-", (unsigned long long)(c->max / 1000),
		   (unsigned long long)(average / 1000), row->last ? '`' : '|');
	if (c->func == FUNC_FORMER)
		seq_puts(m, "[former modules]\n");
	else
		seq_printf(m, "%pS\n", (void *)c->func);
}

static const struct trace_stat workqueue_stat = {
	.name = "workqueues",
	.row_size = sizeof(struct work_row),
	.max_rows = workqueues_max_rows,
	.collect = workqueues_collect,
	.cmp = work_row_cmp,
	.header = workqueues_header,
	.show = workqueues_show,
};
REGISTER_TRACE_STAT(workqueue_stat);

static const struct trace_stat workfunc_stat = {
	.name = "workfuncs",
	.row_size = sizeof(struct work_row),
	.max_rows = workfuncs_max_rows,
	.collect = workfuncs_collect,
	.cmp = work_row_cmp,
	.header = workfuncs_header,
	.show = workfuncs_show,
};
REGISTER_TRACE_STAT(workfunc_stat);

/* ---- workqueue_profile_enabled */

/*
 * workqueue_stat_mutex held. Switching on begins at zero, while there is no probe that could count; switching off waits
 * until no probe runs, and the numbers stay. 0 or -ENOMEM.
 */
static int workqueue_stat_set(bool on)
{
	unsigned long flags;
	int ret = 0;

	if (on == workqueue_stat_enabled)
		return 0;
	if (on) {
		/* A module that goes adds numbers up, whether counting is on or not. */
		flags = work_counts_lock_irqsave();
		memset(work_counts, 0, sizeof(work_counts));
		work_counts_missed = 0;
		work_counts_unlock_irqrestore(flags);
		ret = tracepoint_probes_register(workqueue_probes, ARRAY_SIZE(workqueue_probes), NULL);
	} else {
		tracepoint_probes_unregister(workqueue_probes, ARRAY_SIZE(workqueue_probes), NULL);
	}
	if (!ret)
		workqueue_stat_enabled = on;
	return ret;
}

static int workqueue_profile_enabled_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u\n", READ_ONCE(workqueue_stat_enabled));
	return 0;
}

static int workqueue_profile_enabled_store(char *text, void *data)
{
	unsigned long val;
	int ret = kstrtoul(text, 10, &val);

	if (ret)
		return ret;
	mutex_lock(&workqueue_stat_mutex);
	ret = workqueue_stat_set(val != 0);
	mutex_unlock(&workqueue_stat_mutex);
	return ret;
}
TRACEFS_NUMBER_FILE(workqueue_profile_enabled, "workqueue_profile_enabled", 0640, TRACEFS_TOP,
		    workqueue_profile_enabled_show, workqueue_profile_enabled_store);
TRACEFS_TAKES(workqueue_profile_enabled, "workqueue_profile_enabled", "a number: 0 ends counting, any other begins it");

/* Before the workers start, so every work that runs is counted. */
static int workqueue_stat_init(void)
{
	int ret;

	mutex_lock(&workqueue_stat_mutex);
	ret = workqueue_stat_set(true);
	mutex_unlock(&workqueue_stat_mutex);
	return ret;
}
early_initcall(workqueue_stat_init);

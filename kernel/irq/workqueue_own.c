/*
 * Workqueues with a thread of their own (alloc_workqueue), and waiting for all works of a queue.
 *
 * Such a pool goes with its queue, while works that it has run may be queued elsewhere and still remember its number.
 * So pools are found by number in a list that is read under RCU, and numbers are not given again.
 */
#include "workqueue.h"

#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/smp.h>
#include <mm/slab.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <trace/events/workqueue.h>

struct workqueue_struct {
	struct list_head list; /* [own_pools_mutex; read under RCU] */
	struct worker_pool pool;
};

static DEFINE_MUTEX(own_pools_mutex);
static LIST_HEAD(own_pools);	  /* [own_pools_mutex; read under RCU] */
static int next_number = NR_CPUS; /* [own_pools_mutex] */
DECLARE_WAIT_QUEUE_HEAD(own_works_done);

/* The links change by single stores: a reader sees the list with or without the queue that comes or goes. */
struct worker_pool *find_own_pool(int number)
{
	for (struct list_head *p = READ_ONCE(own_pools.next); p != &own_pools; p = READ_ONCE(p->next)) {
		struct workqueue_struct *wq = list_entry(p, struct workqueue_struct, list);

		if (wq->pool.number == number)
			return &wq->pool;
	}
	return NULL;
}

struct worker_pool *own_pool(struct workqueue_struct *wq)
{
	return &wq->pool;
}

/* Context: the pool and its worker cannot go. */
static struct worker_pool_info describe_pool(const struct worker_pool *pool)
{
	struct worker_pool_info info = {.number = pool->number, .cpu = pool->cpu};

	strscpy(info.name, pool->name, sizeof(info.name));
	if (pool->worker) {
		info.pid = pool->worker->pid;
		strscpy(info.comm, pool->worker->comm, sizeof(info.comm));
	}
	return info;
}

/* A workqueue is in the list for as long as its pool and its worker's task are there (destroy_workqueue). */
void for_each_worker_pool(void (*fn)(const struct worker_pool_info *info, void *data), void *data)
{
	struct worker_pool_info info;
	unsigned cpu;

	mutex_lock(&own_pools_mutex);
	for_each_possible_cpu(cpu) {
		if (!READ_ONCE(cpu_pool(cpu)->worker)) /* a CPU that was never there */
			continue;
		info = describe_pool(cpu_pool(cpu));
		fn(&info, data);
	}
	for (struct list_head *p = own_pools.prev; p != &own_pools; p = p->prev) {
		info = describe_pool(&list_entry(p, struct workqueue_struct, list)->pool);
		fn(&info, data);
	}
	mutex_unlock(&own_pools_mutex);
}

static void add_pool(struct workqueue_struct *wq)
{
	mutex_lock(&own_pools_mutex);
	wq->pool.number = next_number++;
	wq->list.next = own_pools.next;
	wq->list.prev = &own_pools;
	own_pools.next->prev = &wq->list;
	smp_store_release(&own_pools.next, &wq->list); /* a reader that finds it finds it whole */
	mutex_unlock(&own_pools_mutex);
}

/* Afterwards no walker of the list stands on it: find_own_pool() does not find the number any more. */
static void remove_pool(struct workqueue_struct *wq)
{
	mutex_lock(&own_pools_mutex);
	wq->list.next->prev = wq->list.prev;
	WRITE_ONCE(wq->list.prev->next, wq->list.next);
	mutex_unlock(&own_pools_mutex);
	synchronize_rcu();
}

/*
 * One thread serves it, whatever max_active asks for, so its works never run at the same time. The thread is woken when
 * the pool is in the list, so statistics never miss it. NULL: no memory, or a flag that we do not know. Thread context.
 */
struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned flags, int max_active, ...)
{
	struct workqueue_struct *wq;
	char name[24];
	va_list args;

	if (flags & ~(WQ_UNBOUND | WQ_FREEZABLE | WQ_MEM_RECLAIM | WQ_HIGHPRI | WQ_CPU_INTENSIVE | WQ_POWER_EFFICIENT |
		      __WQ_ORDERED))
		return NULL;
	wq = kzalloc(sizeof(*wq), GFP_KERNEL);
	if (!wq)
		return NULL;
	va_start(args, max_active);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	pool_init(&wq->pool, 0, name);
	wq->pool.done = &own_works_done;
	wq->pool.worker = kthread_create(worker_thread, &wq->pool, "kworker/%s", name);
	if (IS_ERR(wq->pool.worker)) {
		kfree(wq);
		return NULL;
	}
	if (flags & WQ_HIGHPRI)
		set_user_nice(wq->pool.worker, -20);
	add_pool(wq);
	trace_workqueue_creation(wq->pool.worker, wq->pool.cpu);
	wake_up_process(wq->pool.worker);
	return wq;
}
EXPORT_SYMBOL(alloc_workqueue);

bool noinline queue_work(struct workqueue_struct *wq, struct work_struct *w)
{
	return wq ? queue_work_in(&wq->pool, w) : schedule_work(w);
}
EXPORT_SYMBOL(queue_work);

/* A work that tells, by running, that all works before it have run. */
struct barrier {
	struct work_struct work;
	struct completion done;
};

static void barrier_fn(struct work_struct *w)
{
	complete(&container_of(w, struct barrier, work)->done);
}

/* The works of a pool run in the order of queueing, so the barrier is the last of those that are there now. */
static void flush_pool(struct worker_pool *pool)
{
	struct barrier b;

	INIT_WORK(&b.work, barrier_fn);
	init_completion(&b.done);
	queue_work_in(pool, &b.work);
	wait_for_completion(&b.done);
}

void flush_workqueue(struct workqueue_struct *wq)
{
	unsigned cpu;

	if (wq)
		flush_pool(&wq->pool);
	else
		for_each_possible_cpu(cpu)
			if (READ_ONCE(cpu_pool(cpu)->worker)) /* else none has run there */
				flush_pool(cpu_pool(cpu));
}
EXPORT_SYMBOL(flush_workqueue);

/* A work that queues itself again, or another one, has done so when the barrier behind it runs. */
void drain_workqueue(struct workqueue_struct *wq)
{
	do
		flush_pool(&wq->pool);
	while (!list_empty(&wq->pool.works));
}
EXPORT_SYMBOL(drain_workqueue);

/*
 * The worker's task is kept until it cannot be found through the list any more. The tracepoint stands behind the
 * worker's end, so a probe may count on it that no work of this pool is queued, runs or is told of any more.
 */
void destroy_workqueue(struct workqueue_struct *wq)
{
	struct task_struct *worker;

	if (WARN_ON(!wq))
		return;
	worker = wq->pool.worker;
	drain_workqueue(wq);
	get_task_struct(worker);
	kthread_stop(worker);
	WARN_ON(!list_empty(&wq->pool.works));
	trace_workqueue_destruction(worker, wq->pool.number);
	remove_pool(wq);
	put_task_struct(worker);
	kfree(wq);
}
EXPORT_SYMBOL(destroy_workqueue);

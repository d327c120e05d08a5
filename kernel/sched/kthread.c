/*
 * Kernel threads. All of them are made by one task, kthreadd, so that they inherit nothing (files, limits, signals,
 * affinity) from the process that happened to ask for one:
 *
 *	requester			kthreadd
 *	  request on its stack, in a list
 *	  wake kthreadd, sleep		  copy_process: the new thread sleeps
 *	  				  complete(request)
 *	  goes on; its first wake-up
 *	  starts the thread
 *
 * A thread is stopped by kthread_stop(): it sets a flag, wakes the thread, and waits until its function has returned.
 */
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/smp.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/gfp.h>
#include <mm/slab.h>
#include <proc/fork.h>
#include <sched/wait.h>
#include <trace/events/sched.h>

#include "sched.h"

/* What a kernel thread has beside its task. Freed with the task struct. Locks: I immutable, a atomic. */
struct kthread {
	int (*fn)(void *); /* [I] */
	void *data;	   /* [I] */
	bool should_stop;  /* [a] */
	bool should_park;  /* [a] */
	int result;	   /* set before `exited` */
	struct completion exited, parked;
};

/* A request to kthreadd, on the requester's stack. Locks: c kthread_create_lock. */
struct kthread_create_info {
	struct list_head list; /* [c] */
	struct kthread *kthread;
	char name[TASK_COMM_LEN];
	struct task_struct *result; /* or ERR_PTR; set before `done` */
	struct completion done;
};

static DEFINE_SPINLOCK(kthread_create_lock);
static LIST_HEAD(kthread_create_list);
static struct task_struct *kthreadd_task; /* [immutable once set] */

/* NULL for a task that is no kernel thread, or was not made here. */
static struct kthread *to_kthread(struct task_struct *t)
{
	return t->kthread_data;
}

void free_kthread_struct(struct task_struct *t)
{
	kfree(t->kthread_data);
	t->kthread_data = NULL;
}

void kthread_exit(long result)
{
	struct kthread *k = to_kthread(current);

	k->result = result;
	complete_all(&k->exited);
	do_exit(0);
}
EXPORT_SYMBOL(kthread_exit);

/*
 * The first function of every kernel thread. Its creator has woken it, so name, CPU and mask are final by now. -EINTR
 * is the result of a thread that was stopped before it began.
 */
static int kthread(void *arg)
{
	struct kthread *k = arg;

	kthread_exit(READ_ONCE(k->should_stop) ? -EINTR : k->fn(k->data));
}

void kthread_complete_and_exit(struct completion *c, long result)
{
	if (c)
		complete(c);
	kthread_exit(result);
}
EXPORT_SYMBOL(kthread_complete_and_exit);

/*
 * The thread looks as if it had gone to sleep on `cpu`: it has that queue's virtual time, so its first wake-up is like
 * any other.
 */
static void join_sleepers(struct task_struct *p, int cpu)
{
	p->cpu = cpu;
	p->se.vruntime = READ_ONCE(cpu_rq(cpu)->cfs.min_vruntime);
}

/*
 * Make the thread, which then sleeps and is known to the caller only. ERR_PTR: no memory, or no pid. Context: kthreadd,
 * or at boot the first task.
 */
static struct task_struct *fork_kthread(struct kthread *k, const char *name)
{
	struct kernel_clone_args args = {.flags = CLONE_FS | CLONE_FILES, .fn = kthread, .fn_arg = k, .name = name};
	struct task_struct *p = copy_process(&args);

	if (IS_ERR(p))
		return p;
	p->kthread_data = k;
	p->flags |= PF_KTHREAD;
	trace_sched_process_fork(current, p);
	/* Not a new task that waits for wake_up_new_task, but one that sleeps: any wake-up starts it, on any CPU. */
	join_sleepers(p, p->cpu);
	WRITE_ONCE(p->state, TASK_UNINTERRUPTIBLE);
	return p;
}

/* The requester's stack holds the request: after complete() it may be gone. */
static void serve_request(struct kthread_create_info *req)
{
	req->result = fork_kthread(req->kthread, req->name);
	complete(&req->done);
}

/* The oldest request, taken out of the list. NULL: there is none. */
static struct kthread_create_info *next_request(void)
{
	struct kthread_create_info *req;

	spin_lock_irq(&kthread_create_lock);
	req = list_first_entry_or_null(&kthread_create_list, struct kthread_create_info, list);
	if (req)
		list_del(&req->list);
	spin_unlock_irq(&kthread_create_lock);
	return req;
}

/*
 * kthreadd's loop. The state is set before the list is looked at: a request that comes in between sets the state back,
 * and schedule() returns at once.
 */
static int kthreadd(void *unused)
{
	struct kthread_create_info *req;

	set_task_comm(current, "kthreadd");
	for (;;) {
		set_current_state(TASK_IDLE);
		req = next_request();
		if (!req) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		serve_request(req);
	}
	return 0;
}

void kthreadd_init(void)
{
	struct kernel_clone_args args = {.flags = CLONE_FS | CLONE_FILES, .fn = kthreadd};
	struct task_struct *p = copy_process(&args);

	if (IS_ERR(p))
		panic("cannot start kthreadd: %ld", PTR_ERR(p));
	p->flags |= PF_KTHREAD;
	get_task_struct(p);
	trace_sched_process_fork(current, p);
	wake_up_new_task(p);
	smp_store_release(&kthreadd_task, p);
}

/*
 * Let kthreadd make the thread. Before kthreadd exists (early at boot, when every task is a kernel thread) the thread
 * is made here. kthreadd itself must not wait for its own answer.
 */
static void request_thread(struct kthread_create_info *req)
{
	struct task_struct *maker = smp_load_acquire(&kthreadd_task);

	if (!maker || maker == current) {
		serve_request(req);
		return;
	}
	spin_lock_irq(&kthread_create_lock);
	list_add_tail(&req->list, &kthread_create_list);
	spin_unlock_irq(&kthread_create_lock);
	wake_up_state(maker, TASK_IDLE);
	wait_for_completion(&req->done);
}

/* `k` belongs to the thread once that exists, and is freed with its task_struct. */
static struct task_struct *kthread_create_va(int (*fn)(void *), void *data, const char *fmt, va_list args)
{
	struct kthread_create_info req;
	struct kthread *k = kzalloc(sizeof(*k), GFP_KERNEL);

	if (!k)
		return ERR_PTR(-ENOMEM);
	k->fn = fn;
	k->data = data;
	init_completion(&k->exited);
	init_completion(&k->parked);
	req.kthread = k;
	init_completion(&req.done);
	vsnprintf(req.name, sizeof(req.name), fmt, args);
	request_thread(&req);
	if (IS_ERR(req.result))
		kfree(k);
	return req.result;
}

struct task_struct *kthread_create(int (*fn)(void *), void *data, const char *namefmt, ...)
{
	struct task_struct *p;
	va_list args;

	va_start(args, namefmt);
	p = kthread_create_va(fn, data, namefmt, args);
	va_end(args);
	return p;
}
EXPORT_SYMBOL(kthread_create);

/* Until its first wake-up only the creator knows the thread, so the mask is changed without a lock. */
void kthread_bind(struct task_struct *p, unsigned cpu)
{
	memset(p->cpus_mask, 0, sizeof(p->cpus_mask));
	set_bit(cpu, p->cpus_mask);
	p->nr_cpus_allowed = 1;
	join_sleepers(p, cpu);
	p->flags |= PF_NO_SETAFFINITY;
}
EXPORT_SYMBOL(kthread_bind);

struct task_struct *kthread_create_on_cpu(int (*fn)(void *), void *data, int cpu, const char *namefmt, ...)
{
	struct task_struct *p;
	va_list args;

	va_start(args, namefmt);
	p = kthread_create_va(fn, data, namefmt, args);
	va_end(args);
	if (!IS_ERR(p))
		kthread_bind(p, cpu);
	return p;
}
EXPORT_SYMBOL(kthread_create_on_cpu);

struct task_struct *kthread_run(int (*fn)(void *), void *data, const char *namefmt, ...)
{
	struct task_struct *p;
	va_list args;

	va_start(args, namefmt);
	p = kthread_create_va(fn, data, namefmt, args);
	va_end(args);
	if (!IS_ERR(p))
		wake_up_process(p);
	return p;
}
EXPORT_SYMBOL(kthread_run);

bool kthread_should_stop(void)
{
	return READ_ONCE(to_kthread(current)->should_stop);
}
EXPORT_SYMBOL(kthread_should_stop);

bool kthread_should_park(void)
{
	return READ_ONCE(to_kthread(current)->should_park);
}

/*
 * Sleep until kthread_unpark(). The state is one that no ordinary wake-up looks for. After complete() the thread may
 * run for a few more instructions: kthread_park() waits for that, too.
 */
void kthread_parkme(void)
{
	struct kthread *k = to_kthread(current);

	set_current_state(TASK_PARKED);
	while (READ_ONCE(k->should_park)) {
		complete(&k->parked);
		schedule();
		set_current_state(TASK_PARKED);
	}
	__set_current_state(TASK_RUNNING);
}

void kthread_park(struct task_struct *t)
{
	struct kthread *k = to_kthread(t);

	smp_store_release(&k->should_park, true);
	wake_up_process(t); /* full barrier, as in kthread_stop() */
	wait_for_completion(&k->parked);
	wait_task_inactive(t);
}

/* The thread may be on its way to sleep still: it sees the flag, or this wake-up finds it asleep. */
void kthread_unpark(struct task_struct *t)
{
	smp_store_release(&to_kthread(t)->should_park, false);
	wake_up_state(t, TASK_PARKED);
}

/*
 * Ask a kernel thread to return, wait until it has, and return its result. A reference keeps the task meanwhile. Thread
 * context; the thread must look at kthread_should_stop().
 */
int kthread_stop(struct task_struct *t)
{
	struct kthread *k = to_kthread(t);
	int result;

	trace_sched_kthread_stop(t);
	get_task_struct(t); /* keeps k too */
	smp_store_release(&k->should_stop, true);
	/*
	 * The wake-up has a full barrier. It pairs with the one in set_current_state(), which the thread's loop calls
	 * before kthread_should_stop(): either the thread sees the flag, or this wake-up finds it asleep.
	 */
	wake_up_process(t);
	wait_for_completion(&k->exited);
	result = k->result;
	put_task_struct(t);
	trace_sched_kthread_stop_ret(result);
	return result;
}
EXPORT_SYMBOL(kthread_stop);

/*
 * Memory of tasks: the struct, the kernel stack, and what hangs on them until the last reference goes.
 *
 * A task_struct lives as long as its references (usage): one until the task is reaped, one that the scheduler drops
 * after the task's last switch, and one for each look-up. A reader that finds a task under RCU may still
 * read the struct after the last reference went, until a grace period has passed, but can take no new reference.
 */
#include <arch/thread.h>
#include <fs/libfs.h>
#include <kernel/export.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>
#include <proc/cred.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/task_alloc.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <trace/events/task.h>
#include <trace/fgraph.h>

static struct kmem_cache *task_cache, *signal_cache, *sighand_cache;

/*
 * A copy of `orig` with a stack of its own. The caller must replace every field that the child does not share, as
 * pointers were copied without references. NULL: no memory. May sleep.
 */
struct task_struct *dup_task_struct(struct task_struct *orig)
{
	struct task_struct *t = kmem_cache_alloc(task_cache, GFP_KERNEL);

	if (!t)
		return NULL;
	*t = *orig;
	t->ret_stack = NULL;
	t->stack = alloc_thread_stack();
	if (!t->stack)
		goto free_task;
	/* One reference until it is reaped, one for the scheduler until its last switch. */
	atomic_set(&t->usage, 2);
	return t;

free_task:
	kmem_cache_free(task_cache, t);
	return NULL;
}

/* Free a task that was never on any list, so no other can have found it: no grace period is needed. */
void free_task(struct task_struct *t)
{
	fgraph_free_task(t);
	free_thread_stack(t->stack);
	kmem_cache_free(task_cache, t);
}

static void free_task_rcu(struct rcu_head *head)
{
	kmem_cache_free(task_cache, container_of(head, struct task_struct, rcu));
	no_tail_call();
}

/*
 * The last reference went, so the task is reaped and off its CPU. The stack and the signals go at once. The struct
 * follows after a grace period, for readers that have found it in the pid hash or by ->parent under RCU: their
 * attempt to take a reference fails, because the count is zero, but they may still read it. Any context: it is put
 * with locks held, too.
 */
void __put_task_struct(struct task_struct *t)
{
	if (t->flags & PF_KTHREAD)
		free_kthread_struct(t);
	arch_release_thread(t);
	fgraph_free_task(t);
	free_thread_stack(t->stack);
	t->stack = NULL;
	flush_sigqueue(&t->pending);
	put_sighand(t->sighand);
	put_signal(t->signal);
	put_groups(t->groups);
	put_user_struct(t->user);
	call_rcu(&t->rcu, free_task_rcu);
}
EXPORT_SYMBOL(__put_task_struct);

struct signal_struct *alloc_signal(void)
{
	return kmem_cache_zalloc(signal_cache, GFP_KERNEL);
}

/*
 * Drop a reference; the last one frees. References are held by the process's threads, so the queue is not looked at any
 * more.
 */
void put_signal(struct signal_struct *sig)
{
	if (!atomic_dec_and_test(&sig->sigcnt))
		return;
	flush_sigqueue(&sig->shared_pending);
	kmem_cache_free(signal_cache, sig);
}

struct sighand_struct *alloc_sighand(void)
{
	return kmem_cache_alloc(sighand_cache, GFP_KERNEL);
}

void put_sighand(struct sighand_struct *sighand)
{
	if (atomic_dec_and_test(&sighand->count))
		kmem_cache_free(sighand_cache, sighand);
}

static unsigned process_count, thread_count; /* [tasklist_lock] */

unsigned nr_processes(void)
{
	return READ_ONCE(process_count);
}

unsigned nr_threads(void)
{
	return READ_ONCE(thread_count);
}

/*
 * Writers hold tasklist_lock. Readers (nr_threads() and its like) take no lock: they read a whole word, which may be
 * old a moment later in any case.
 */
void count_tasks(int processes, int threads)
{
	WRITE_ONCE(process_count, process_count + processes);
	WRITE_ONCE(thread_count, thread_count + threads);
}

/*
 * The most tasks that there may be (sys/kernel/threads-max). As on Linux their stacks must fit into an eighth of the
 * memory, so that a fork bomb is stopped by -EAGAIN for itself and not by -ENOMEM for the whole machine. A user other
 * than root may have half of them.
 */
unsigned max_threads;

/* Set both the soft and the hard limit of the first task, from which all others inherit. */
static void set_default_limit(unsigned which, u64 limit)
{
	init_task.signal->rlim[which][0] = init_task.signal->rlim[which][1] = limit;
}

void fork_init(void)
{
	pid_init();
	task_cache = kmem_cache_create("task_struct", sizeof(struct task_struct), 64, SLAB_PANIC, NULL);
	signal_cache = kmem_cache_create("signal_cache", sizeof(struct signal_struct), 0, SLAB_PANIC, NULL);
	sighand_cache = kmem_cache_create("sighand_cache", sizeof(struct sighand_struct), 0, SLAB_PANIC, NULL);
	max_threads = clamp(totalram_pages() / (8 * THREAD_SIZE / PAGE_SIZE), (unsigned long)MIN_THREADS,
			    (unsigned long)MAX_THREADS);
	set_default_limit(RLIMIT_NPROC, max_threads / 2);
	set_default_limit(RLIMIT_SIGPENDING, max_threads / 2);
}

/*
 * Name a task. The name is written before comm_noted is cleared, and tracing sets comm_noted before it
 * copies the name: so either tracing copies the new name, or it finds its mark cleared and copies again.
 */
void set_task_comm(struct task_struct *t, const char *name)
{
	trace_task_rename(t, name);
	strscpy_pad(t->comm, name, sizeof(t->comm)); /* records copy all bytes: none may be left of the old name */
	smp_wmb();
	WRITE_ONCE(t->comm_noted, 0);
}

static int threads_max_store(char *text, void *data)
{
	u64 max;
	int err = kstrtoull(text, 10, &max);

	if (err)
		return err;
	if (max < 1 || max > MAX_THREADS)
		return -EINVAL;
	WRITE_ONCE(max_threads, max);
	return 0;
}

static int threads_max_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(max_threads));
	return 0;
}

static const struct text_file threads_max_entry = {
	.path = "sys/kernel/threads-max", .mode = 0644, .show = threads_max_show, .store = threads_max_store};
REGISTER_PROC(threads_max_entry);

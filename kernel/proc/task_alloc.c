/* Memory of tasks: struct and stack, and what hangs on them until the last reference goes. */
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

/* A copy of `orig` with a stack of its own; every field that the child must not share is set by who calls. */
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

/* A task that never got so far as to be on any list. */
void free_task(struct task_struct *t)
{
	fgraph_free_task(t);
	free_thread_stack(t->stack);
	kmem_cache_free(task_cache, t);
}

static void free_task_rcu(struct rcu_head *head)
{
	kmem_cache_free(task_cache, container_of(head, struct task_struct, rcu));
}

/*
 * The last reference went: the task is reaped and off its CPU. Stack and signals go at once, the struct after
 * a grace period, for those who found it in the pid hash or by ->parent under RCU: they fail to get a
 * reference (it is zero).
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

/*
 * How many tasks: their stacks must fit into an eighth of the memory, as on Linux, so that a fork bomb gets -EAGAIN and
 * not the whole machine -ENOMEM. A user other than root may have half of them.
 */
unsigned max_threads;

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

void set_task_comm(struct task_struct *t, const char *name)
{
	trace_task_rename(t, name);
	strscpy_pad(t->comm, name, sizeof(t->comm)); /* all bytes are copied about: nothing of the old name stays */
	smp_wmb(); /* who notes the name, and marks it before, notes this one or loses the mark */
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

/*
 * poll(2) and ppoll(2): waiting for several files at once; and what select(2) has in common with them.
 *
 * Each round asks all files (their poll function) what is ready. In the first round each file also puts the caller on
 * its wait queues (poll_wait); later rounds only ask. When nothing is ready the task sleeps until a queue wakes it or
 * the time is over.
 *
 *     poll_table: triggered, task        the caller's stack
 *       entry 0 --> wait queue of file A    its wake-up calls pollwake(), which sets `triggered` and wakes the task
 *       entry 1 --> wait queue of file B
 *       ...         more entries in pages
 *
 * No wake-up is lost. pollwake() sets `triggered` before it wakes the task. The task clears `triggered` before it asks
 * the files, and looks at it after it has set its state: a wake-up after the asking either finds the task asleep or
 * leaves the flag set.
 *
 * poll and select (kernel/fs/select) differ only in the form of their sets, so each has a scan function, and
 * poll_files() does the rest.
 */
#include "files.h"
#include "poll_call.h"

#include <fs/poll.h>
#include <kernel/export.h>
#include <lib/bitmap.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/personality.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <time/clock.h>
#include <time/ktime.h>
#include <time/posix.h>
#include <uapi/time.h>

#define PAGE_ENTRIES ((PAGE_SIZE - sizeof(struct poll_table_page)) / sizeof(struct poll_table_entry))

/*
 * Called with the queue's lock held. The flag is set before the wake-up, since the sleeper looks at it after it has set
 * its state.
 */
static bool pollwake(struct wait_queue_entry *w, unsigned mode)
{
	struct poll_table *pt = w->private;

	__atomic_store_n(&pt->triggered, 1, __ATOMIC_RELEASE);
	return default_wake_function(w, mode);
}

/*
 * Room for one queue: in the table itself, then in pages. Entries must not move, because they are on queues. NULL: out
 * of memory, which pt->error remembers.
 */
static struct poll_table_entry *poll_get_entry(struct poll_table *pt)
{
	struct poll_table_page *p = pt->pages;

	if (pt->n < POLL_INLINE)
		return &pt->inline_entry[pt->n++];
	if (!p || p->n == PAGE_ENTRIES) {
		p = get_free_page(GFP_KERNEL);
		if (!p) {
			pt->error = -ENOMEM;
			return NULL;
		}
		p->next = pt->pages;
		p->n = 0;
		pt->pages = p;
	}
	return &p->entry[p->n++];
}

/*
 * The entry holds a reference to the file, because the queue is a part of it and another thread may close the
 * descriptor.
 */
void poll_wait(struct file *f, struct wait_queue_head *q, struct poll_table *pt)
{
	struct poll_table_entry *e;

	if (!pt || !pt->queueing)
		return;
	if (pt->join) {
		pt->join(f, q, pt);
		return;
	}
	e = poll_get_entry(pt);
	if (!e)
		return;
	e->file = get_file(f);
	e->wait = (struct wait_queue_entry){.task = pt->task, .func = pollwake, .private = pt};
	poll_entry_join(e, q, pt->pollers);
}
EXPORT_SYMBOL(poll_wait);

void poll_entry_join(struct poll_table_entry *e, wait_queue_head_t *q, struct poll_pollers *pollers)
{
	e->queue = q;
	e->pollers = pollers;
	INIT_LIST_HEAD(&e->wait.entry);
	add_wait_queue(q, &e->wait);
	if (pollers) {
		spin_lock(&pollers->lock);
		list_add(&e->of_file, &pollers->entries);
		spin_unlock(&pollers->lock);
	}
}

void poll_entry_leave(struct poll_table_entry *e)
{
	if (e->pollers)
		spin_lock(&e->pollers->lock);
	if (e->queue)
		remove_wait_queue(e->queue, &e->wait);
	if (e->pollers) {
		list_del(&e->of_file);
		spin_unlock(&e->pollers->lock);
	}
}

unsigned poll_removable(struct file *f, struct poll_table *pt, struct poll_pollers *pollers,
			unsigned (*poll)(struct file *f, struct poll_table *pt))
{
	unsigned mask;

	if (!pt)
		return poll(f, NULL);
	pt->pollers = pollers;
	mask = poll(f, pt);
	pt->pollers = NULL;
	return mask;
}

/*
 * A poller sleeps on a queue of the module's outside of the module's functions, so the removal of the file does not
 * wait for it. Here it is taken off the queue, whose memory may go then. The poller itself finds under the lock that
 * its entry has no queue any more, and asks the file again, which says that it is gone.
 */
void poll_leave(struct poll_pollers *pollers)
{
	struct poll_table_entry *e, *next;

	spin_lock(&pollers->lock);
	list_for_each_entry_safe(e, next, &pollers->entries, of_file) {
		remove_wait_queue(e->queue, &e->wait);
		e->queue = NULL;
		list_del_init(&e->of_file);
		e->wait.func(&e->wait, TASK_NORMAL);
	}
	spin_unlock(&pollers->lock);
}

/* Leave the queue before the file goes: the queue is a part of what the file keeps alive. */
static void free_entry(struct poll_table_entry *e)
{
	poll_entry_leave(e);
	fput(e->file);
}

/* A table without entries; the first round will join the queues. */
static void poll_init(struct poll_table *pt)
{
	pt->queueing = true;
	pt->triggered = pt->error = 0;
	pt->task = current;
	pt->pollers = NULL;
	pt->join = NULL;
	pt->n = 0;
	pt->pages = NULL;
}

/* Leave all queues. */
static void poll_end(struct poll_table *pt)
{
	struct poll_table_page *p;

	for (unsigned i = 0; i < pt->n; i++)
		free_entry(&pt->inline_entry[i]);
	while ((p = pt->pages)) {
		for (unsigned i = 0; i < p->n; i++)
			free_entry(&p->entry[i]);
		pt->pages = p->next;
		free_page(p);
	}
}

/* A file without a poll function never makes a reader or a writer wait, so it is always ready. */
noinline unsigned vfs_poll(struct file *f, struct poll_table *pt)
{
	return f->f_op->poll ? f->f_op->poll(f, pt) : DEFAULT_POLLMASK;
}

/*
 * Sleep until woken or until the deadline. False: the time is over.
 *
 * The interleavings: a waker stores the flag and then wakes. If it stores before the flag is looked at here, the task
 * does not sleep. If it stores later, the task's state is set already, and the wake-up makes it runnable again. The
 * flag is cleared with full order before the files are asked again, so a wake-up from then on belongs to the next
 * round.
 */
static bool poll_sleep(struct poll_table *pt, ktime_t deadline)
{
	s64 left = deadline == NO_TIMEOUT ? NO_TIMEOUT : deadline - ktime_get();

	if (left <= 0)
		return false;
	set_current_state(TASK_INTERRUPTIBLE);
	if (!__atomic_load_n(&pt->triggered, __ATOMIC_ACQUIRE)) {
		if (left == NO_TIMEOUT)
			schedule();
		else
			schedule_timeout_ns(left);
	}
	__set_current_state(TASK_RUNNING);
	__atomic_store_n(&pt->triggered, 0, __ATOMIC_SEQ_CST);
	return true;
}

/*
 * Ask all files until one is ready, the time is over (0), or a signal comes (-ERESTARTNOHAND). `scan` returns how many
 * are ready. Queues are joined in the first round only: a task that is on a queue stays there until poll_end().
 */
static int poll_loop(struct poll_table *pt, ktime_t deadline, int (*scan)(void *what, struct poll_table *pt),
		     void *what)
{
	for (;;) {
		int n = scan(what, pt);

		pt->queueing = false;
		if (n)
			return n;
		if (pt->error)
			return pt->error;
		if (signal_pending(current))
			return -ERESTARTNOHAND;
		if (!poll_sleep(pt, deadline))
			return 0;
	}
}

int poll_files(ktime_t deadline, int (*scan)(void *what, struct poll_table *pt), void *what)
{
	struct poll_table pt;
	int res;

	poll_init(&pt);
	res = poll_loop(&pt, deadline, scan, what);
	poll_end(&pt);
	return res;
}

/* The set of poll(2). */
struct poll_set {
	struct pollfd *fds;
	unsigned n;
};

/* What is ready of what was asked for; errors and hang-ups are reported without being asked for. */
static unsigned poll_one(struct pollfd *p, struct poll_table *pt)
{
	struct fd f = fdget(p->fd);
	unsigned mask = POLLNVAL;

	if (f.file) {
		mask = vfs_poll(f.file, pt) & ((u16)p->events | POLLERR | POLLHUP);
		fdput(f);
	}
	return mask;
}

/* Ask the files of poll(2). Once one is ready the task does not sleep, so no further queue has to be joined. */
static int poll_scan(void *what, struct poll_table *pt)
{
	struct poll_set *set = what;
	int count = 0;

	for (unsigned i = 0; i < set->n; i++) {
		struct pollfd *p = &set->fds[i];

		p->revents = p->fd < 0 ? 0 : poll_one(p, pt);
		if (p->revents) {
			count++;
			pt->queueing = false;
		}
	}
	return count;
}

/*
 * The set is copied in as a whole; only the answers are copied out. It may have as many entries as the caller may have
 * descriptors, as on Linux.
 */
static long do_sys_poll(struct pollfd __user *ufds, unsigned n, ktime_t deadline)
{
	struct poll_set set = {.n = n};
	long res;

	if (n > rlimit(RLIMIT_NOFILE))
		return -EINVAL;
	set.fds = kvmalloc(max_t(size_t, n, 1) * sizeof(*set.fds), GFP_KERNEL);
	if (!set.fds)
		return -ENOMEM;
	res = -EFAULT;
	if (copy_from_user(set.fds, ufds, n * sizeof(*set.fds)))
		goto free;
	res = poll_files(deadline, poll_scan, &set);
	for (unsigned i = 0; i < n && res >= 0; i++)
		if (put_user(set.fds[i].revents, &ufds[i].revents))
			res = -EFAULT;
free:
	kvfree(set.fds);
	return res;
}

/* The moment that lies so far ahead. 0 or -EINVAL. */
int poll_deadline_in(s64 sec, s64 nsec, ktime_t *deadline)
{
	if (sec < 0 || nsec < 0 || nsec >= NSEC_PER_SEC)
		return -EINVAL;
	*deadline = ktime_add_safe(ktime_get(), ktime_set(sec, nsec));
	return 0;
}

/* A user's relative timeout (NULL: wait for ever) as a deadline. 0 or -errno. */
int poll_deadline(const struct timespec __user *uts, ktime_t *deadline)
{
	struct timespec ts;

	*deadline = NO_TIMEOUT;
	if (!uts)
		return 0;
	if (copy_from_user(&ts, uts, sizeof(ts)))
		return -EFAULT;
	return poll_deadline_in(ts.tv_sec, ts.tv_nsec, deadline);
}

/* Nanoseconds until the deadline, not below 0. */
s64 poll_time_left(ktime_t deadline)
{
	return max_t(s64, deadline - ktime_get(), 0);
}

/* The caller's time-out still says the whole time, so a call that a signal has ended is not begun again. */
long poll_sticky_result(long res)
{
	return res == -ERESTARTNOHAND ? -EINTR : res;
}

/*
 * The end of ppoll and pselect. The task gets its own signal mask back, unless a signal has ended the wait: that one is
 * handled under the call's mask, and the return to user mode restores the mask. What is left of the timeout is told to
 * the caller, but with STICKY_TIMEOUTS of personality(2), where the call then cannot go on by itself. A bad address is
 * no error, as on Linux. Returns what the call returns.
 */
long poll_finish(struct timespec __user *uts, ktime_t deadline, long res)
{
	struct timespec ts;
	s64 left;

	restore_saved_sigmask_unless(res == -ERESTARTNOHAND);
	if (!uts || deadline == NO_TIMEOUT)
		return res;
	if (unlikely(current->personality & STICKY_TIMEOUTS))
		return poll_sticky_result(res);
	left = poll_time_left(deadline);
	ts = (struct timespec){left / NSEC_PER_SEC, left % NSEC_PER_SEC};
	if (copy_to_user(uts, &ts, sizeof(ts)))
		return res;
	return res;
}

/* The signal mask for the time of the call. 0 or -errno. */
int poll_sigmask(const sigset_t __user *umask, size_t size)
{
	sigset_t set;

	if (!umask)
		return 0;
	if (size != sizeof(set))
		return -EINVAL;
	if (copy_from_user(&set, umask, sizeof(set)))
		return -EFAULT;
	set_restore_sigmask_to(set);
	return 0;
}

/* The mask is exchanged after everything else that can fail, because only poll_finish() gives it back. */
SYSCALL_DEFINE5(ppoll, struct pollfd __user *, ufds, unsigned int, nfds, struct timespec __user *, tsp,
		const sigset_t __user *, sigmask, size_t, sigsetsize)
{
	ktime_t deadline;
	long res = poll_deadline(tsp, &deadline);

	if (!res)
		res = poll_sigmask(sigmask, sigsetsize);
	if (res)
		return res;
	res = do_sys_poll(ufds, nfds, deadline);
	return poll_finish(tsp, deadline, res);
}

static long poll_restart(struct task_struct *t);

/*
 * The caller is not told how much time is left, so an interrupted call goes on with the same deadline
 * (restart_syscall).
 */
static long poll_until(struct pollfd __user *ufds, unsigned n, ktime_t deadline)
{
	long res = do_sys_poll(ufds, n, deadline);

	if (res != -ERESTARTNOHAND)
		return res;
	current->restart_fn = poll_restart;
	current->restart_data[0] = (unsigned long)ufds;
	current->restart_data[1] = n;
	current->restart_data[2] = deadline;
	return -ERESTART_RESTARTBLOCK;
}

/* What restart_syscall() calls; the arguments are in the task. */
static long poll_restart(struct task_struct *t)
{
	return poll_until((struct pollfd __user *)t->restart_data[0], t->restart_data[1], t->restart_data[2]);
}

/* A negative timeout means to wait for ever. The deadline is fixed here, so that a restart does not begin again. */
SYSCALL_DEFINE3(poll, struct pollfd __user *, ufds, unsigned int, nfds, int, timeout_msecs)
{
	return poll_until(ufds, nfds, timeout_msecs < 0 ? NO_TIMEOUT : ktime_get() + timeout_msecs * NSEC_PER_MSEC);
}

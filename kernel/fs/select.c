/* poll(2), select(2) and their newer forms: waiting for several files at once. */
#include "files.h"

#include <fs/poll.h>
#include <lib/bitmap.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <time/clock.h>
#include <time/ktime.h>
#include <time/posix.h>
#include <uapi/time.h>

#define PAGE_ENTRIES ((PAGE_SIZE - sizeof(struct poll_table_page)) / sizeof(struct poll_table_entry))
#define NO_TIMEOUT   KTIME_MAX

/* Queue lock held. The flag comes before the wake-up: the sleeper looks at it after it set its state. */
static bool pollwake(struct wait_queue_entry *w, unsigned mode)
{
	struct poll_table *pt = w->private;

	__atomic_store_n(&pt->triggered, 1, __ATOMIC_RELEASE);
	return default_wake_function(w, mode);
}

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

void poll_wait(struct file *f, struct wait_queue_head *q, struct poll_table *pt)
{
	struct poll_table_entry *e;

	if (!pt || !pt->queueing)
		return;
	e = poll_get_entry(pt);
	if (!e)
		return;
	e->queue = q;
	e->file = get_file(f);
	e->wait = (struct wait_queue_entry){.task = pt->task, .func = pollwake, .private = pt};
	INIT_LIST_HEAD(&e->wait.entry);
	add_wait_queue(q, &e->wait);
}

static void free_entry(struct poll_table_entry *e)
{
	remove_wait_queue(e->queue, &e->wait);
	fput(e->file);
}

static void poll_init(struct poll_table *pt)
{
	pt->queueing = true;
	pt->triggered = pt->error = 0;
	pt->task = current;
	pt->n = 0;
	pt->pages = NULL;
}

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

static noinline unsigned vfs_poll(struct file *f, struct poll_table *pt)
{
	return f->f_op->poll ? f->f_op->poll(f, pt) : DEFAULT_POLLMASK;
}

/* Sleep until woken or until the deadline (sched_clock ns). False: it is over. */
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
	/* Before the files are asked again: a wake-up from now on is for the next round. */
	__atomic_store_n(&pt->triggered, 0, __ATOMIC_SEQ_CST);
	return true;
}

/* Ask all files until one has something to say. `scan` returns how many do. */
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

struct poll_set {
	struct pollfd *fds;
	unsigned n;
};

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

static int poll_scan(void *what, struct poll_table *pt)
{
	struct poll_set *set = what;
	int count = 0;

	for (unsigned i = 0; i < set->n; i++) {
		struct pollfd *p = &set->fds[i];

		p->revents = p->fd < 0 ? 0 : poll_one(p, pt);
		if (p->revents) {
			count++;
			pt->queueing = false; /* we shall not sleep */
		}
	}
	return count;
}

static long do_sys_poll(struct pollfd __user *ufds, unsigned n, ktime_t deadline)
{
	struct poll_set set = {.n = n};
	struct poll_table pt;
	long res;

	if (n > 4096)
		return -EINVAL;
	set.fds = kmalloc(max_t(size_t, n, 1) * sizeof(*set.fds), GFP_KERNEL);
	if (!set.fds)
		return -ENOMEM;
	res = -EFAULT;
	if (copy_from_user(set.fds, ufds, n * sizeof(*set.fds)))
		goto free;
	poll_init(&pt);
	res = poll_loop(&pt, deadline, poll_scan, &set);
	poll_end(&pt);
	for (unsigned i = 0; i < n && res >= 0; i++)
		if (put_user(set.fds[i].revents, &ufds[i].revents))
			res = -EFAULT;
free:
	kfree(set.fds);
	return res;
}

/* From now on for so long. 0 or -EINVAL. */
static int deadline_in(s64 sec, s64 nsec, ktime_t *deadline)
{
	if (sec < 0 || nsec < 0 || nsec >= NSEC_PER_SEC)
		return -EINVAL;
	*deadline = ktime_add_safe(ktime_get(), ktime_set(sec, nsec));
	return 0;
}

/* A relative timeout, NULL: none, to a deadline. 0 or -errno. */
static int poll_deadline(const struct timespec __user *uts, ktime_t *deadline)
{
	struct timespec ts;

	*deadline = NO_TIMEOUT;
	if (!uts)
		return 0;
	if (copy_from_user(&ts, uts, sizeof(ts)))
		return -EFAULT;
	return deadline_in(ts.tv_sec, ts.tv_nsec, deadline);
}

static s64 time_left(ktime_t deadline)
{
	return max_t(s64, deadline - ktime_get(), 0);
}

/*
 * The end of ppoll and pselect. The caller's mask comes back here, unless a signal has ended the wait: then that one is
 * taken under the call's mask, and the way to user mode has the mask back. What is left of the timeout goes to the
 * caller. A bad address then is no error, as in Linux.
 */
static void poll_finish(struct timespec __user *uts, ktime_t deadline, long res)
{
	struct timespec ts;
	s64 left;

	restore_saved_sigmask_unless(res == -ERESTARTNOHAND);
	if (!uts || deadline == NO_TIMEOUT)
		return;
	left = time_left(deadline);
	ts = (struct timespec){left / NSEC_PER_SEC, left % NSEC_PER_SEC};
	if (copy_to_user(uts, &ts, sizeof(ts)))
		return;
}

/* The caller's signal mask for the time of the call. 0 or -errno. */
static int poll_sigmask(const sigset_t __user *umask, size_t size)
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

SYSCALL_DEFINE5(ppoll, struct pollfd __user *, ufds, unsigned, n, struct timespec __user *, uts,
		const sigset_t __user *, umask, size_t, size)
{
	ktime_t deadline;
	long res = poll_deadline(uts, &deadline);

	if (!res)
		res = poll_sigmask(umask, size);
	if (res)
		return res;
	res = do_sys_poll(ufds, n, deadline);
	poll_finish(uts, deadline, res);
	return res;
}

static long poll_restart(struct task_struct *t);

/* Nobody is told how much time is left, so an interrupted call goes on with the same end (restart_syscall).
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

static long poll_restart(struct task_struct *t)
{
	return poll_until((struct pollfd __user *)t->restart_data[0], t->restart_data[1], t->restart_data[2]);
}

SYSCALL_DEFINE3(poll, struct pollfd __user *, ufds, unsigned, n, int, timeout_ms)
{
	return poll_until(ufds, n, timeout_ms < 0 ? NO_TIMEOUT : ktime_get() + timeout_ms * NSEC_PER_MSEC);
}

/* Three sets in, three out: read, write, exception. */
struct select_set {
	unsigned n;
	unsigned long in[3][FD_SETSIZE / 64], out[3][FD_SETSIZE / 64];
	bool bad;
};

#define SELECT_IN  (POLLRDNORM | POLLRDBAND | POLLIN | POLLHUP | POLLERR)
#define SELECT_OUT (POLLWRBAND | POLLWRNORM | POLLOUT | POLLERR)
#define SELECT_EX  POLLPRI

static int select_one(struct select_set *s, unsigned fd, struct poll_table *pt)
{
	static const unsigned wanted[3] = {SELECT_IN, SELECT_OUT, SELECT_EX};
	struct fd f = fdget(fd);
	unsigned mask;
	int count = 0;

	if (!f.file) {
		s->bad = true;
		return 0;
	}
	mask = vfs_poll(f.file, pt);
	fdput(f);
	for (unsigned k = 0; k < 3; k++)
		if (test_bit(fd, s->in[k]) && (mask & wanted[k])) {
			s->out[k][fd / 64] |= BIT(fd % 64);
			count++;
		}
	return count;
}

static int select_scan(void *what, struct poll_table *pt)
{
	struct select_set *s = what;
	int count = 0;

	for (unsigned w = 0; w < DIV_ROUND_UP(s->n, 64); w++)
		for (unsigned long bits = s->in[0][w] | s->in[1][w] | s->in[2][w]; bits; bits &= bits - 1) {
			count += select_one(s, w * 64 + __builtin_ctzl(bits), pt);
			if (s->bad)
				return -EBADF;
			if (count)
				pt->queueing = false;
		}
	return count;
}

static int copy_sets_in(struct select_set *s, unsigned long __user *const usets[3])
{
	unsigned bytes = DIV_ROUND_UP(s->n, 64) * sizeof(long);

	for (unsigned k = 0; k < 3; k++) {
		if (usets[k] && copy_from_user(s->in[k], usets[k], bytes))
			return -EFAULT;
		if (s->n % 64) /* bits beyond n mean nothing */
			s->in[k][s->n / 64] &= BIT(s->n % 64) - 1;
	}
	return 0;
}

static int copy_sets_out(const struct select_set *s, unsigned long __user *const usets[3])
{
	unsigned bytes = DIV_ROUND_UP(s->n, 64) * sizeof(long);

	for (unsigned k = 0; k < 3; k++)
		if (usets[k] && copy_to_user(usets[k], s->out[k], bytes))
			return -EFAULT;
	return 0;
}

static long do_select(int n, unsigned long __user *const usets[3], ktime_t deadline)
{
	struct select_set *s;
	struct poll_table pt;
	long res;

	if (n < 0)
		return -EINVAL;
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	s->n = min(n, FD_SETSIZE);
	res = copy_sets_in(s, usets);
	if (!res) {
		poll_init(&pt);
		res = poll_loop(&pt, deadline, select_scan, s);
		poll_end(&pt);
	}
	if (res >= 0 && copy_sets_out(s, usets))
		res = -EFAULT;
	kfree(s);
	return res;
}

/* pselect6(2)'s sixth argument points to the mask and its size. */
struct sigset_argpack {
	const sigset_t __user *mask;
	size_t size;
};

SYSCALL_DEFINE6(pselect6, int, n, unsigned long __user *, in, unsigned long __user *, out,
		unsigned long __user *, ex, struct timespec __user *, uts, struct sigset_argpack __user *,
		usig)
{
	unsigned long __user *const sets[3] = {in, out, ex};
	struct sigset_argpack sig = {NULL, 0};
	ktime_t deadline;
	long res = poll_deadline(uts, &deadline);

	if (!res && usig && copy_from_user(&sig, usig, sizeof(sig)))
		res = -EFAULT;
	if (!res)
		res = poll_sigmask(sig.mask, sig.size);
	if (res)
		return res;
	res = do_select(n, sets, deadline);
	poll_finish(uts, deadline, res);
	return res;
}

/* As above with a time in microseconds, of which there may be more than a second's. */
SYSCALL_DEFINE5(select, int, n, unsigned long __user *, in, unsigned long __user *, out,
		unsigned long __user *, ex, struct timeval __user *, utv)
{
	const s64 second = NSEC_PER_SEC / NSEC_PER_USEC;
	unsigned long __user *const sets[3] = {in, out, ex};
	ktime_t deadline = NO_TIMEOUT;
	struct timeval tv;
	long res = 0;

	if (utv && copy_from_user(&tv, utv, sizeof(tv)))
		return -EFAULT;
	if (utv && (tv.tv_sec < 0 || tv.tv_usec < 0))
		return -EINVAL;
	if (utv)
		res = deadline_in(ktime_add_safe(tv.tv_sec, tv.tv_usec / second), /* a sum of seconds, not of ns */
				  tv.tv_usec % second * NSEC_PER_USEC, &deadline);
	if (res)
		return res;
	res = do_select(n, sets, deadline);
	if (deadline != NO_TIMEOUT) {
		tv = ns_to_timeval(time_left(deadline));
		if (copy_to_user(utv, &tv, sizeof(tv)))
			return res; /* no error, as above */
	}
	return res;
}

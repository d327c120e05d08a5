/*
 * Signals that tell of an open file: O_ASYNC and the owner of a file (F_SETOWN, F_SETOWN_EX, F_SETSIG of fcntl(2)).
 *
 * A file with O_ASYNC has an entry on each wait queue that its poll function joins, as an item of epoll has. A wake-up
 * there sends the signal, so the code of a pipe or a socket knows nothing of all this, and a file without O_ASYNC costs
 * nothing. Which files can do it is what Linux says (file_operations.sigio): pipes, terminals, sockets, inotify.
 *
 * WHAT A SIGNAL SAYS. With F_SETSIG it has siginfo: si_fd, the descriptor by which O_ASYNC was set, and si_code. A
 * wake-up does not say what it is for. So a file that can be read has an entry on the first queue that its poll joins,
 * the readers', and tells POLL_IN; only one that cannot tells of room, POLL_OUT. Linux tells of room for others, too:
 * of a socket after a write that had to wait, of a fifo that is open both ways.
 *
 * THE OWNER is a number and the start of that task, so a later task with the same number gets nothing. As on Linux the
 * ids of who has named the owner decide whether the signal may be sent. A wake-up comes with the queue's lock held and
 * interrupts off; a walk over a group of processes needs neither, so a worker does that.
 *
 * Locks: m fasync_mutex, for O_ASYNC and the entries; l the owner's lock, with interrupts off, inside those of wait
 * queues; no signal is sent with it held.
 */
#include "../files.h"

#include <fs/file_part.h>
#include <fs/poll.h>
#include <irq/workqueue.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/spinlock.h>

/* Signals whose positive si_codes have meanings of their own: they say SI_SIGIO instead. */
#define HAS_CODES                                                                                    \
	(sigmask(SIGILL) | sigmask(SIGFPE) | sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGTRAP) | \
	 sigmask(SIGCHLD) | sigmask(SIGSYS))

/* An entry on a wait queue of the file. */
struct fown_hook {
	struct poll_table_entry at;
	struct fown *own;
	struct fown_hook *next;
	int reason; /* POLL_* */
};

/* Who gets signals about a file. */
struct fown {
	spinlock_t lock;
	struct f_owner_ex who;	 /* [l] pid 0: nobody */
	u64 start_time;		 /* [l] of that task; of a group 0 */
	u32 uid, euid;		 /* [l] of who has named it */
	int signum;		 /* [l] 0: SIGIO without siginfo */
	int fd;			 /* [m] */
	struct fown_hook *hooks; /* [m] */
	atomic_t reasons;	 /* [a] bits of POLL_* that the group is to be told */
	struct work_struct work; /* tells it */
};

/* One signal that is due. */
struct io_signal {
	u32 uid, euid;
	int signum, fd, reason;
};

static DEFINE_MUTEX(fasync_mutex);

/* ---- Sending */

static bool may_send(const struct io_signal *s, const struct task_struct *p)
{
	u32 uid = READ_ONCE(p->uid), suid = READ_ONCE(p->suid);

	return !s->euid || s->euid == suid || s->euid == uid || s->uid == suid || s->uid == uid;
}

/* As F_SETSIG says; where that finds no room in the queue, SIGIO tells that something was lost. Any context but nmi. */
static void send_io_signal(const struct io_signal *s, struct task_struct *p, bool group)
{
	int (*send)(int sig, struct siginfo *info, struct task_struct *p) = group ? send_sig_info : send_sig_thread;
	struct siginfo info;

	if (!may_send(s, p))
		return;
	memset(&info, 0, sizeof(info));
	info.si_signo = s->signum;
	info.si_code = s->signum && (sigmask(s->signum) & HAS_CODES) ? SI_SIGIO : s->reason;
	info.si_band = s->reason == POLL_IN ? POLLIN | POLLRDNORM : POLLOUT | POLLWRNORM | POLLWRBAND;
	info.si_fd = s->fd;
	if (s->signum && !send(s->signum, &info, p))
		return;
	memset(&info, 0, sizeof(info));
	info.si_signo = SIGIO;
	info.si_code = SI_KERNEL;
	send(SIGIO, &info, p);
}

static void send_to_member(struct task_struct *p, void *s)
{
	send_io_signal(s, p, true);
}

/* The task that is the owner, with a reference; NULL: it has ended, or a thread's number names no process. */
static struct task_struct *owning_task(const struct f_owner_ex *who, u64 start_time)
{
	struct task_struct *p = who->pid ? find_get_task(who->pid) : NULL;

	if (p && p->start_time == start_time && (who->type == F_OWNER_TID || thread_group_leader(p)))
		return p;
	if (p)
		put_task_struct(p);
	return NULL;
}

/* What a signal for this reason would be, and for whom. */
static struct f_owner_ex read_owner(struct fown *own, int reason, struct io_signal *s, u64 *start_time)
{
	struct f_owner_ex who;
	unsigned long flags;

	spin_lock_irqsave(&own->lock, flags);
	who = own->who;
	*start_time = own->start_time;
	*s = (struct io_signal){own->uid, own->euid, own->signum, READ_ONCE(own->fd), reason};
	spin_unlock_irqrestore(&own->lock, flags);
	return who;
}

/* The worker: a group is told. The file may have got another owner meanwhile. */
static void tell_group(struct work_struct *work)
{
	struct fown *own = container_of(work, struct fown, work);
	unsigned reasons = atomic_xchg(&own->reasons, 0);
	struct io_signal s;
	u64 unused;

	for (int reason = POLL_IN; reason <= POLL_OUT; reason++) {
		struct f_owner_ex who = read_owner(own, reason, &s, &unused);

		if (reasons & 1u << reason && who.type == F_OWNER_PGRP && who.pid)
			walk_processes(who.pid, send_to_member, &s);
	}
}

/* A queue of the file was woken. No task was woken by this entry, so an exclusive waiter is woken as well. */
static bool fasync_wake(struct wait_queue_entry *w, unsigned mode)
{
	const struct fown_hook *hook = w->private;
	struct fown *own = hook->own;
	struct task_struct *p;
	struct io_signal s;
	u64 start_time;
	struct f_owner_ex who = read_owner(own, hook->reason, &s, &start_time);

	if (who.type == F_OWNER_PGRP && who.pid) {
		atomic_or(1 << hook->reason, &own->reasons);
		schedule_work(&own->work);
		return false;
	}
	p = owning_task(&who, start_time);
	if (p) {
		send_io_signal(&s, p, who.type == F_OWNER_PID);
		put_task_struct(p);
	}
	return false;
}

/* ---- O_ASYNC */

/* What a poll of the file does in the place of joining its queues for a while. */
struct fasync_hooking {
	struct poll_table pt;
	struct fown *own;
	bool failed;
};

/* [m] */
static void fasync_hook(struct file *f, wait_queue_head_t *q, struct poll_table *pt)
{
	struct fasync_hooking *hooking = container_of(pt, struct fasync_hooking, pt);
	struct fown_hook *hook;

	if (f->f_mode & FMODE_READ && hooking->own->hooks)
		return;
	hook = kzalloc(sizeof(*hook), GFP_KERNEL);
	if (!hook) {
		hooking->failed = true;
		return;
	}
	hook->own = hooking->own;
	hook->reason = f->f_mode & FMODE_READ ? POLL_IN : POLL_OUT;
	hook->at.wait.func = fasync_wake;
	hook->at.wait.private = hook;
	hook->next = hook->own->hooks;
	hook->own->hooks = hook;
	poll_entry_join(&hook->at, q, pt->pollers);
}

/* [m] When it returns no entry is on a queue, and no wake-up runs for one. */
static void fasync_unhook(struct fown *own)
{
	struct fown_hook *hook;

	while ((hook = own->hooks)) {
		poll_entry_leave(&hook->at);
		own->hooks = hook->next;
		kfree(hook);
	}
}

/* The file's, which is made when it is needed; NULL: no memory. The exchange lets one of two tasks win. */
static struct fown *get_fown(struct file *f)
{
	struct fown *own = smp_load_acquire(&f->f_fown), *winner;

	if (own)
		return own;
	own = kzalloc(sizeof(*own), GFP_KERNEL);
	if (!own)
		return NULL;
	spin_lock_init(&own->lock);
	INIT_WORK(&own->work, tell_group);
	winner = cmpxchg(&f->f_fown, NULL, own);
	if (winner)
		kfree(own);
	return winner ? winner : own;
}

/* [m] 0 or -ENOMEM */
static int start_async(unsigned fd, struct file *f)
{
	struct fasync_hooking hooking = {.pt = {.queueing = true, .join = fasync_hook}, .own = get_fown(f)};

	if (!hooking.own)
		return -ENOMEM;
	WRITE_ONCE(hooking.own->fd, fd);
	f->f_op->poll(f, &hooking.pt);
	if (!hooking.failed)
		return 0;
	fasync_unhook(hooking.own);
	return -ENOMEM;
}

/*
 * file_part.set_async. As on Linux, the descriptor is that by which O_ASYNC came; to set it once more changes nothing.
 */
static int fasync_set(unsigned fd, struct file *f, bool on)
{
	int err = 0;

	if (!f->f_op->sigio)
		return -ENOTTY;
	mutex_lock(&fasync_mutex);
	if (on && !(f->f_flags & O_ASYNC))
		err = start_async(fd, f);
	else if (!on && f->f_fown)
		fasync_unhook(f->f_fown);
	if (!err)
		file_set_flags(f, O_ASYNC, on ? O_ASYNC : 0);
	mutex_unlock(&fasync_mutex);
	return err;
}

/* file_part.release. No other task knows the file. The entries go first: only they queue the work. */
static void fasync_release(struct file *f)
{
	if (!f->f_fown)
		return;
	mutex_lock(&fasync_mutex);
	fasync_unhook(f->f_fown);
	mutex_unlock(&fasync_mutex);
	cancel_work_sync(&f->f_fown->work);
	kfree(f->f_fown);
}

/* ---- The owner */

static void count_member(struct task_struct *p, void *n)
{
	++*(unsigned *)n;
}

static bool group_exists(pid_t pgrp)
{
	unsigned n = 0;

	walk_processes(pgrp, count_member, &n);
	return n;
}

/* 0, -ESRCH: there is no such task or group; -ENOMEM. */
static int set_owner(struct file *f, struct f_owner_ex who)
{
	struct task_struct *p = who.pid > 0 && who.type != F_OWNER_PGRP ? find_get_task(who.pid) : NULL;
	u64 start_time = p ? p->start_time : 0;
	struct fown *own;

	if (p)
		put_task_struct(p);
	else if (who.pid && (who.pid < 0 || who.type != F_OWNER_PGRP || !group_exists(who.pid)))
		return -ESRCH;
	own = get_fown(f);
	if (!own)
		return -ENOMEM;
	spin_lock_irq(&own->lock);
	own->who = who;
	own->start_time = start_time;
	own->uid = current->uid;
	own->euid = current->euid;
	spin_unlock_irq(&own->lock);
	return 0;
}

/* An owner that has ended has no number any more: 0. */
static struct f_owner_ex fasync_owner(const struct file *f)
{
	struct fown *own = smp_load_acquire(&f->f_fown);
	struct f_owner_ex who = {F_OWNER_PID, 0};
	struct task_struct *p = NULL;
	struct io_signal unused;
	u64 start_time;

	if (!own)
		return (struct f_owner_ex){F_OWNER_TID, 0};
	who = read_owner(own, POLL_IN, &unused, &start_time);
	if (who.type != F_OWNER_PGRP)
		p = owning_task(&who, start_time);
	else if (who.pid && group_exists(who.pid))
		return who;
	if (p)
		put_task_struct(p);
	else
		who.pid = 0;
	return who;
}

/* A process, or with a minus its group; 0: nobody. 0, -EINVAL, -ESRCH, -ENOMEM. */
static int f_setown(struct file *f, int who)
{
	if (who == -INT_MAX - 1)
		return -EINVAL;
	return set_owner(f, who < 0 ? (struct f_owner_ex){F_OWNER_PGRP, -who} : (struct f_owner_ex){F_OWNER_PID, who});
}

static int f_getown(const struct file *f)
{
	struct f_owner_ex who = fasync_owner(f);

	return who.type == F_OWNER_PGRP ? -who.pid : who.pid;
}

static int set_signal(struct file *f, unsigned long signum)
{
	struct fown *own;

	if (signum > NSIG)
		return -EINVAL;
	own = get_fown(f);
	if (!own)
		return -ENOMEM;
	spin_lock_irq(&own->lock);
	own->signum = signum;
	spin_unlock_irq(&own->lock);
	return 0;
}

/*
 * file_part.fcntl. A command that changes something makes the struct fown; one that asks finds no owner where there is
 * none.
 */
static long fasync_fcntl(unsigned fd, struct file *f, unsigned cmd, unsigned long arg)
{
	struct f_owner_ex who;

	switch (cmd) {
	case F_SETOWN:
		return f_setown(f, arg);
	case F_GETOWN:
		return f_getown(f);
	case F_SETOWN_EX:
		if (copy_from_user(&who, (const void __user *)arg, sizeof(who)))
			return -EFAULT;
		if (who.type < F_OWNER_TID || who.type > F_OWNER_PGRP)
			return -EINVAL;
		return set_owner(f, who);
	case F_GETOWN_EX:
		who = fasync_owner(f);
		return copy_to_user((void __user *)arg, &who, sizeof(who)) ? -EFAULT : 0;
	case F_SETSIG:
		return set_signal(f, arg);
	case F_GETSIG:
		return f->f_fown ? READ_ONCE(f->f_fown->signum) : 0;
	default:
		return FCNTL_UNKNOWN;
	}
}

static const struct file_part fasync_part = {.release = fasync_release, .fcntl = fasync_fcntl, .set_async = fasync_set};
REGISTER_FILE_PART(fasync_part);

/* epoll_wait(2) and its relatives: telling which items of an instance are ready, and waiting for one (epoll.c). */
#include "epoll.h"

#include <asm/uaccess.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <time/clock.h>
#include <time/ktime.h>
#include <time/posix.h>

#define BATCH	   32	/* events for which no memory is allocated */
#define MOST	   4096 /* events that one wait gives at most */
#define MAX_EVENTS ((int)(INT_MAX / sizeof(struct epoll_event)))

/* An event of the item has been reported. Returns whether the item stays in the list. [m] */
static bool stays_ready(struct epitem *item)
{
	if (item->event.events & EPOLLONESHOT) {
		spin_lock_irq(&item->ep->lock);
		item->event.events &= EPOLL_PRIVATE;
		spin_unlock_irq(&item->ep->lock);
		return false;
	}
	return !(item->event.events & EPOLLET);
}

/*
 * Up to `max` events of items that are ready. The list is taken as it is at the beginning, since a wake-up may put an
 * item into it again as soon as it is off: so the loop ends, and no answer has an item twice. Those that stay ready go
 * to the end of the list: in the next call it is the others' turn. Returns how many.
 */
static int take_events(struct eventpoll *ep, struct epoll_event *to, int max)
{
	LIST_HEAD(todo);
	LIST_HEAD(stay);
	bool more;
	int n = 0;

	mutex_lock(&ep->mutex);
	spin_lock_irq(&ep->lock);
	list_splice_tail_init(&ep->ready, &todo);
	while (n < max && !list_empty(&todo)) {
		struct epitem *item = list_first_entry(&todo, struct epitem, ready);
		bool keep = false;
		u32 ready;

		list_del_init(&item->ready);
		spin_unlock_irq(&ep->lock);
		ready = item_poll(item, NULL);
		if (ready) {
			to[n].events = ready;
			to[n++].data = item->event.data;
			keep = stays_ready(item);
		}
		spin_lock_irq(&ep->lock);
		if (keep && list_empty(&item->ready))
			list_add_tail(&item->ready, &stay);
	}
	list_splice_tail_init(&ep->ready, &todo); /* behind those for which there was no room */
	list_splice_tail_init(&todo, &ep->ready);
	list_splice_tail_init(&stay, &ep->ready);
	more = !list_empty(&ep->ready);
	spin_unlock_irq(&ep->lock);
	mutex_unlock(&ep->mutex);
	if (more)
		wake_up(&ep->wait); /* for another task that waits */
	return n;
}

/* How many items may be ready, counted up to `most`. */
static int nr_ready(struct eventpoll *ep, int most)
{
	struct list_head *at;
	int n = 0;

	spin_lock_irq(&ep->lock);
	for (at = ep->ready.next; n < most && at != &ep->ready; at = at->next)
		n++;
	spin_unlock_irq(&ep->lock);
	return n;
}

/*
 * The same for a program. The events go through kernel memory, since no user memory may be touched under the mutex:
 * munmap() may give back the last reference to a file, whose items then go, with mmap_lock held. An answer is one look
 * at the list, so that no item is in it twice; without memory for a long answer it is a short one. An event that
 * cannot be copied is lost if it is edge-triggered. Returns how many, or -EFAULT.
 */
static int send_events(struct eventpoll *ep, struct epoll_event __user *events, int max)
{
	struct epoll_event batch[BATCH], *to = NULL;
	int room = max > BATCH ? nr_ready(ep, min(max, MOST)) : 0, n;

	if (room > BATCH)
		to = kvzalloc(room * sizeof(*to), GFP_KERNEL);
	if (!to) {
		to = batch;
		room = min(max, BATCH);
		memset(batch, 0, sizeof(batch)); /* bytes between the fields, too */
	}
	n = take_events(ep, to, room);
	if (n && copy_to_user(events, to, n * sizeof(*to)))
		n = -EFAULT;
	if (to != batch)
		kvfree(to);
	return n;
}

static bool has_ready(struct eventpoll *ep)
{
	bool some;

	spin_lock_irq(&ep->lock);
	some = !list_empty(&ep->ready);
	spin_unlock_irq(&ep->lock);
	return some;
}

/*
 * Sleep until an item may be ready. Exclusive: an event wakes one of the tasks that wait. 0; -ETIME: the time is over;
 * -EINTR.
 */
static int wait_for_ready(struct eventpoll *ep, ktime_t deadline)
{
	DEFINE_WAIT(wait);
	int err = 0;

	for (;;) {
		s64 left = deadline == KTIME_MAX ? KTIME_MAX : deadline - ktime_get();

		prepare_to_wait_exclusive(&ep->wait, &wait, TASK_INTERRUPTIBLE);
		if (has_ready(ep))
			break;
		if (left <= 0)
			err = -ETIME;
		else if (signal_pending(current))
			err = -EINTR;
		if (err)
			break;
		if (left == KTIME_MAX)
			schedule();
		else
			schedule_timeout_ns(left);
	}
	finish_wait(&ep->wait, &wait);
	return err;
}

/*
 * Also when the time is over or a signal has come, the list is looked at once more: an event that came in between may
 * have woken this task and no other. How many events, 0, or -errno.
 */
static int do_epoll_wait(int epfd, struct epoll_event __user *events, int max, ktime_t deadline)
{
	struct file *f;
	int n = -EINVAL, err = 0;

	if (max <= 0 || max > MAX_EVENTS)
		return -EINVAL;
	if (!access_ok(events, max * sizeof(*events)))
		return -EFAULT;
	f = fget(epfd);
	if (!f)
		return -EBADF;
	while (is_epoll(f)) {
		n = send_events(f->private_data, events, max);
		if (n || err)
			break;
		err = wait_for_ready(f->private_data, deadline);
	}
	fput(f);
	return !n && err == -EINTR ? err : n;
}

static ktime_t deadline_ms(int ms)
{
	return ms < 0 ? KTIME_MAX : ktime_get() + ms * (s64)NSEC_PER_MSEC;
}

SYSCALL_DEFINE4(epoll_wait, int, epfd, struct epoll_event __user *, events, int, maxevents, int, timeout)
{
	return do_epoll_wait(epfd, events, maxevents, deadline_ms(timeout));
}

/* With another signal mask for the time of the call. A signal that ends it is taken under that mask. */
static long epoll_wait_masked(int epfd, struct epoll_event __user *events, int max, ktime_t deadline,
			      const sigset_t __user *umask, size_t size)
{
	sigset_t set;
	long n;

	if (umask && size != sizeof(set))
		return -EINVAL;
	if (umask && copy_from_user(&set, umask, sizeof(set)))
		return -EFAULT;
	if (umask)
		set_restore_sigmask_to(set);
	n = do_epoll_wait(epfd, events, max, deadline);
	restore_saved_sigmask_unless(n == -EINTR);
	return n;
}

SYSCALL_DEFINE6(epoll_pwait, int, epfd, struct epoll_event __user *, events, int, maxevents, int, timeout,
		const sigset_t __user *, sigmask, size_t, sigsetsize)
{
	return epoll_wait_masked(epfd, events, maxevents, deadline_ms(timeout), sigmask, sigsetsize);
}

SYSCALL_DEFINE6(epoll_pwait2, int, epfd, struct epoll_event __user *, events, int, maxevents,
		const struct timespec __user *, timeout, const sigset_t __user *, sigmask, size_t, sigsetsize)
{
	ktime_t deadline = KTIME_MAX;
	u64 ns;

	if (timeout) {
		int err = get_timespec_ns(timeout, &ns);

		if (err)
			return err;
		deadline = ktime_add_safe(ktime_get(), ns);
	}
	return epoll_wait_masked(epfd, events, maxevents, deadline, sigmask, sigsetsize);
}

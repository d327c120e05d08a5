/*
 * epoll(7): waiting for many files without naming them at each call.
 *
 * An instance (struct eventpoll) has an item for each pair of descriptor and file that it watches. An item stays on the
 * wait queues of its file, and a wake-up there puts it into the instance's ready list, which is all that epoll_wait()
 * looks at. A wake-up says only that something may have changed; what the file is ready for is asked when the item is
 * taken from the list (take_events, in epoll_wait.c).
 *
 *     struct file ----> items ----+     file->f_ep: the items that watch this file, [epoll_mutex]
 *                         |       |
 *     wait queue of the   |       +---> struct eventpoll: tree of its items     [mutex]
 *     file <--- hooks ----+                               list of the ready ones [lock]
 *
 * LOCKS, outermost first: epoll_mutex > mutex of an instance > mutex of an instance that it watches > lock of a wait
 * queue of a file > lock of an instance > lock of its wait queues. epoll_mutex is held while items come and go, so it
 * keeps the graph of instances that watch each other; this graph has no circle and is at most MAX_NESTS deep, so the
 * locks of nested instances have an order and the recursion in poll and in wake-ups ends. A wake-up releases the
 * instance's lock before it wakes who waits for the instance.
 *
 * NO EVENT IS LOST. An item is taken off the ready list before its file is asked. A wake-up that comes afterwards finds
 * it off the list and puts it there again; one that came before has changed what the file answers. A level-triggered
 * item that was ready goes back to the list at the end, since it is ready until the file says otherwise.
 *
 * AN ITEM HOLDS NO REFERENCE TO ITS FILE. The last fput() of a file takes its items away (eventpoll_release) before the
 * file's own release() frees the wait queues, under both mutexes. So a file whose item is in an instance's tree, with
 * that instance's mutex held, is there, though its count may be zero.
 */
#include "epoll.h"

#include <asm/uaccess.h>
#include <fs/anon_inode.h>
#include <fs/file_part.h>
#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <kernel/init.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <proc/syscall.h>
#include <uapi/fcntl.h>

#define EPOLL_CTL_ADD 1
#define EPOLL_CTL_DEL 2
#define EPOLL_CTL_MOD 3
#define EPOLL_EXCL_OK (POLLIN | POLLOUT | POLLERR | POLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)
#define MAX_NESTS     5
#define MAX_WAYS      500

/* An item's place on a wait queue of its file. */
struct hook {
	struct poll_table_entry at;
	struct hook *next;
};
static DEFINE_MUTEX(epoll_mutex);
static const struct file_operations epoll_fops;

bool is_epoll(const struct file *f)
{
	return f->f_op == &epoll_fops;
}

/* ---- Wake-ups */

/*
 * The item's file has woken its queue, which is locked, so the item may be ready. Returns whether this has woken a
 * task, because a queue with exclusive entries must know that.
 */
static bool epoll_callback(struct wait_queue_entry *w, unsigned mode)
{
	struct epitem *item = w->private;
	struct eventpoll *ep = item->ep;
	unsigned long flags;
	bool waiting;

	spin_lock_irqsave(&ep->lock, flags);
	if (!(item->event.events & ~EPOLL_PRIVATE)) { /* EPOLLONESHOT has fired */
		spin_unlock_irqrestore(&ep->lock, flags);
		return false;
	}
	if (list_empty(&item->ready))
		list_add_tail(&item->ready, &ep->ready);
	spin_unlock_irqrestore(&ep->lock, flags);
	waiting = waitqueue_active(&ep->wait) || waitqueue_active(&ep->poll);
	wake_up(&ep->wait);
	wake_up_all(&ep->poll);
	return waiting;
}

/* What a poll of an item's file does the first time, in the place of joining its queues for a while. */
struct hooking {
	struct poll_table pt;
	struct epitem *item;
	bool failed;
};

/*
 * Without memory for a hook the item cannot be inserted: insert_item() looks at `failed`. EPOLLEXCLUSIVE lets a wake-up
 * end here, and a wake-up does not say what it is for. An item of a file that is open both ways may want the other
 * thing, so it does not keep others from being woken.
 */
static void add_hook(struct file *f, wait_queue_head_t *q, struct poll_table *pt)
{
	struct hooking *hooking = container_of(pt, struct hooking, pt);
	bool both_ways = (f->f_mode & (FMODE_READ | FMODE_WRITE)) == (FMODE_READ | FMODE_WRITE);
	struct epitem *item = hooking->item;
	struct hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL);

	if (!hook) {
		hooking->failed = true;
		return;
	}
	hook->at.wait.func = epoll_callback;
	hook->at.wait.private = item;
	hook->at.wait.exclusive = item->event.events & EPOLLEXCLUSIVE && !both_ways;
	hook->next = item->hooks;
	item->hooks = hook;
	poll_entry_join(&hook->at, q, pt->pollers);
}

u32 item_poll(struct epitem *item, struct poll_table *pt)
{
	u32 wanted = item->event.events;

	return wanted & ~EPOLL_PRIVATE ? item->file->f_op->poll(item->file, pt) & wanted : 0;
}

/* ---- How many items a user may have */

/*
 * Items belong to no process that could be killed for their memory. As on Linux a user's may take a 25th of all memory
 * at first, and the limit binds root, too.
 */
static unsigned epoll_max_watches; /* [a] how many files the instances of one user may watch */
static const struct text_file max_watches_entry = {.path = "sys/fs/epoll/max_user_watches",
						   .mode = 0644,
						   .show = sysctl_limit_show,
						   .store = sysctl_limit_store,
						   .data = &epoll_max_watches};
REGISTER_PROC(max_watches_entry);

static int epoll_max_watches_init(void)
{
	epoll_max_watches = totalram_pages() * PAGE_SIZE / 25 / (sizeof(struct epitem) + sizeof(struct hook));
	return 0;
}
fs_initcall(epoll_max_watches_init);

static void free_item(struct epitem *item)
{
	atomic_dec(&item->user->epoll_watches);
	put_user_struct(item->user);
	kfree(item);
}

/* An item that counts for the current task's user: first, so that two tasks cannot share the last place. ERR_PTR. */
static struct epitem *alloc_item(void)
{
	struct epitem *item = kzalloc(sizeof(*item), GFP_KERNEL);

	if (!item)
		return ERR_PTR(-ENOMEM);
	item->user = get_task_user(current);
	if ((unsigned)atomic_inc_return(&item->user->epoll_watches) <= READ_ONCE(epoll_max_watches))
		return item;
	free_item(item);
	return ERR_PTR(-ENOSPC);
}

/* ---- Items */

/* Where the item stands, or would stand; *parent is the last node on the way. [m] */
static struct rb_node **find_link(struct eventpoll *ep, const struct file *file, int fd, struct rb_node **parent)
{
	struct rb_node **link = &ep->items.node;

	*parent = NULL;
	while (*link) {
		const struct epitem *item = rb_entry(*link, struct epitem, node);

		if (item->file == file && item->fd == fd)
			break;
		*parent = *link;
		link = file < item->file || (file == item->file && fd < item->fd) ? &(*link)->left : &(*link)->right;
	}
	return link;
}

static struct epitem *find_item(struct eventpoll *ep, const struct file *file, int fd)
{
	struct rb_node *parent, **link = find_link(ep, file, fd, &parent);

	return *link ? rb_entry(*link, struct epitem, node) : NULL;
}

/* The item goes. Off the queues first: from then on no wake-up finds it. [e, m] */
static void remove_item(struct epitem *item)
{
	struct eventpoll *ep = item->ep;
	struct epitem **link = &item->file->f_ep;
	struct hook *hook;

	while ((hook = item->hooks)) {
		poll_entry_leave(&hook->at);
		item->hooks = hook->next;
		kfree(hook);
	}
	spin_lock_irq(&ep->lock);
	list_del_init(&item->ready);
	spin_unlock_irq(&ep->lock);
	while (*link != item)
		link = &(*link)->next;
	*link = item->next;
	rb_erase(&item->node, &ep->items);
	free_item(item);
}

/* If the item is ready at once, it goes into the list, and the tasks that wait are woken. [m] */
static void note_ready(struct epitem *item, u32 ready)
{
	struct eventpoll *ep = item->ep;
	bool added;

	spin_lock_irq(&ep->lock);
	added = ready && list_empty(&item->ready);
	if (added)
		list_add_tail(&item->ready, &ep->ready);
	spin_unlock_irq(&ep->lock);
	if (added) {
		wake_up(&ep->wait);
		wake_up_all(&ep->poll);
	}
}

/* [e, m] 0, -ENOMEM, -ENOSPC */
static int insert_item(struct eventpoll *ep, const struct epoll_event *event, struct file *file, int fd)
{
	struct rb_node *parent, **link = find_link(ep, file, fd, &parent);
	struct epitem *item = alloc_item();
	struct hooking hooking = {.pt = {.queueing = true, .join = add_hook}, .item = item};
	u32 ready;

	if (IS_ERR(item))
		return PTR_ERR(item);
	item->ep = ep;
	item->file = file;
	item->fd = fd;
	item->event = *event;
	INIT_LIST_HEAD(&item->ready);
	item->next = file->f_ep;
	file->f_ep = item;
	rb_link_node(&item->node, parent, link);
	rb_insert_color(&item->node, &ep->items);
	ready = item_poll(item, &hooking.pt);
	if (hooking.failed) {
		remove_item(item);
		return -ENOMEM;
	}
	note_ready(item, ready);
	return 0;
}

/* New events for an item, whose hooks stay. A wake-up between the two steps is for the new ones already. [m] */
static void modify_item(struct epitem *item, const struct epoll_event *event)
{
	spin_lock_irq(&item->ep->lock);
	item->event = *event;
	spin_unlock_irq(&item->ep->lock);
	note_ready(item, item_poll(item, NULL));
}

static void eventpoll_release(struct file *file)
{
	mutex_lock(&epoll_mutex);
	while (file->f_ep) {
		struct eventpoll *ep = file->f_ep->ep;

		mutex_lock(&ep->mutex);
		remove_item(file->f_ep);
		mutex_unlock(&ep->mutex);
	}
	mutex_unlock(&epoll_mutex);
}
static const struct file_part epoll_part = {.release = eventpoll_release};
REGISTER_FILE_PART(epoll_part);

/* ---- Instances that watch instances */

/*
 * A program can make very many ways that lead to one instance. A walk looks at each instance only once, because it
 * leaves its number and its result there. [e]
 */
static u64 walk_number;

static bool walk_was_here(struct eventpoll *ep)
{
	bool was = ep->walk == walk_number;

	ep->walk = walk_number;
	return was;
}

/*
 * How deep instances are nested below this file; 0: the file is no instance. The result is above MAX_NESTS also when
 * `ep` is among them. [e]
 */
static int depth_below(const struct file *file, const struct eventpoll *ep)
{
	struct eventpoll *inner = file->private_data;
	int deepest = 0;

	if (!is_epoll(file))
		return 0;
	if (inner == ep)
		return MAX_NESTS + 1;
	if (walk_was_here(inner))
		return inner->depth;
	for (struct rb_node *n = rb_first(&inner->items); n; n = rb_next(n))
		deepest = max(deepest, depth_below(rb_entry(n, struct epitem, node)->file, ep));
	inner->depth = deepest + 1;
	return inner->depth;
}

/* How many instances watch this one, one above the other, with itself. [e] */
static int depth_above(struct eventpoll *ep)
{
	int deepest = 0;

	if (walk_was_here(ep))
		return ep->depth;
	for (const struct epitem *item = ep->file->f_ep; item; item = item->next)
		deepest = max(deepest, depth_above(item->ep));
	ep->depth = deepest + 1;
	return ep->depth;
}

/* May ep watch this file? 0, or -ELOOP: it would watch itself, or instances were nested too deep. [e] */
static int check_nesting(struct eventpoll *ep, const struct file *file)
{
	int below, above;

	walk_number++;
	below = depth_below(file, ep);
	walk_number++;
	above = below ? depth_above(ep) : 0;
	return below + above > MAX_NESTS ? -ELOOP : 0;
}

/*
 * How many callbacks a wake-up of one of this instance's files makes by way of it: its own, and those of all instances
 * above it, each as often as a way leads there. No more than MAX_WAYS + 1 are counted. [e]
 */
static unsigned ways_above(struct eventpoll *ep)
{
	unsigned ways = 1;

	if (ep->ways_walk == walk_number)
		return ep->ways;
	for (const struct epitem *item = ep->file->f_ep; item; item = item->next)
		ways = min(ways + ways_above(item->ep), MAX_WAYS + 1U);
	ep->ways_walk = walk_number;
	ep->ways = ways;
	return ways;
}

/*
 * This file has just got one more instance that watches it. Do too many ways lead up from it, or from an instance below
 * it? A wake-up goes all of them with interrupts off, and their number grows with the power of the depth. [e]
 */
static bool has_too_many_ways(const struct file *file)
{
	struct eventpoll *ep = file->private_data;

	if (!is_epoll(file) || walk_was_here(ep))
		return false;
	if (ways_above(ep) > MAX_WAYS)
		return true;
	for (struct rb_node *n = rb_first(&ep->items); n; n = rb_next(n))
		if (has_too_many_ways(rb_entry(n, struct epitem, node)->file))
			return true;
	return false;
}

/* An instance that is polled is ready when one of its items is; those that are not leave the list. */
static unsigned epoll_poll(struct file *f, struct poll_table *pt)
{
	struct eventpoll *ep = f->private_data;
	unsigned mask = 0;

	poll_wait(f, &ep->poll, pt);
	mutex_lock(&ep->mutex);
	spin_lock_irq(&ep->lock);
	while (!mask && !list_empty(&ep->ready)) {
		struct epitem *item = list_first_entry(&ep->ready, struct epitem, ready);

		list_del_init(&item->ready);
		spin_unlock_irq(&ep->lock);
		if (item_poll(item, NULL))
			mask = POLLIN | POLLRDNORM;
		spin_lock_irq(&ep->lock);
		if (mask && list_empty(&item->ready))
			list_add(&item->ready, &ep->ready);
	}
	spin_unlock_irq(&ep->lock);
	mutex_unlock(&ep->mutex);
	return mask;
}

/* A line for each item, in Linux's format: what it waits for, what the program calls it, and the file. */
static void epoll_show_fdinfo(struct seq_file *m, const struct file *f)
{
	struct eventpoll *ep = f->private_data;

	mutex_lock(&ep->mutex);
	for (struct rb_node *n = rb_first(&ep->items); n; n = rb_next(n)) {
		const struct epitem *item = rb_entry(n, struct epitem, node);
		const struct inode *inode = item->file->f_inode;

		seq_printf(m, "tfd: %8d events: %8x data: %16llx  pos:%lld ino:%llx sdev:%llx\n", item->fd,
			   item->event.events, (unsigned long long)item->event.data,
			   (long long)READ_ONCE(item->file->f_pos), (unsigned long long)inode->i_ino,
			   (unsigned long long)inode->i_sb->s_dev);
	}
	mutex_unlock(&ep->mutex);
}

static int epoll_release(struct inode *inode, struct file *f)
{
	struct eventpoll *ep = f->private_data;
	struct rb_node *n;

	mutex_lock(&epoll_mutex);
	mutex_lock(&ep->mutex);
	while ((n = rb_first(&ep->items)))
		remove_item(rb_entry(n, struct epitem, node));
	mutex_unlock(&ep->mutex);
	mutex_unlock(&epoll_mutex);
	kfree(ep);
	return 0;
}

static const struct file_operations epoll_fops = {
	.poll = epoll_poll,
	.release = epoll_release,
	.show_fdinfo = epoll_show_fdinfo,
};

/* ---- System calls */

/* The descriptor is reserved first, since a file that is there could not be taken back without its release(). */
SYSCALL_DEFINE1(epoll_create1, int, flags)
{
	struct eventpoll *ep;
	struct file *f;
	int fd;

	if (flags & ~O_CLOEXEC)
		return -EINVAL;
	fd = get_unused_fd_flags(flags);
	if (fd < 0)
		return fd;
	ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	f = ep ? anon_inode_file("[eventpoll]", &epoll_fops, ep, O_RDWR | flags) : ERR_PTR(-ENOMEM);
	if (IS_ERR(f)) {
		kfree(ep);
		put_unused_fd(fd);
		return PTR_ERR(f);
	}
	mutex_init(&ep->mutex);
	spin_lock_init(&ep->lock);
	INIT_LIST_HEAD(&ep->ready);
	init_waitqueue_head(&ep->wait);
	init_waitqueue_head(&ep->poll);
	ep->file = f;
	fd_install(fd, f);
	return fd;
}

SYSCALL_DEFINE1(epoll_create, int, size)
{
	return size <= 0 ? -EINVAL : sys_epoll_create1(0);
}

/* EPOLLEXCLUSIVE is allowed only for plain files and few flags, and cannot be changed later. 0 or -EINVAL. */
static int check_exclusive(const struct file *file, int op, const struct epitem *item, u32 events)
{
	if (op == EPOLL_CTL_MOD && (events & EPOLLEXCLUSIVE || (item && item->event.events & EPOLLEXCLUSIVE)))
		return -EINVAL;
	if (op == EPOLL_CTL_ADD && events & EPOLLEXCLUSIVE && (is_epoll(file) || events & ~EPOLL_EXCL_OK))
		return -EINVAL;
	return 0;
}

/* [e, m] As insert_item(), or -EINVAL: there would be too many ways. */
static int add_item(struct eventpoll *ep, const struct epoll_event *event, struct file *file, int fd)
{
	int err = insert_item(ep, event, file, fd);

	walk_number++;
	if (!err && has_too_many_ways(file)) {
		remove_item(find_item(ep, file, fd));
		err = -EINVAL;
	}
	return err;
}

/* [e, m] 0 or -errno as epoll_ctl(2) has it */
static int change_items(struct eventpoll *ep, int op, struct file *file, int fd, struct epoll_event *event)
{
	struct epitem *item = find_item(ep, file, fd);
	int err = check_exclusive(file, op, item, event->events);

	if (err)
		return err;
	event->events |= POLLERR | POLLHUP; /* these two need not be asked for */
	switch (op) {
	case EPOLL_CTL_ADD:
		return item ? -EEXIST : add_item(ep, event, file, fd);
	case EPOLL_CTL_DEL:
		if (item)
			remove_item(item);
		return item ? 0 : -ENOENT;
	case EPOLL_CTL_MOD:
		if (item)
			modify_item(item, event);
		return item ? 0 : -ENOENT;
	default:
		return -EINVAL;
	}
}

/* Both files are held. An instance that is to be watched must neither watch the other one nor be nested too deep. */
static int do_epoll_ctl(struct file *epf, int op, struct file *file, int fd, struct epoll_event *event)
{
	struct eventpoll *ep = epf->private_data;
	int err = 0;

	if (!file->f_op->poll)
		return -EPERM; /* a file that is always ready */
	if (file == epf || !is_epoll(epf))
		return -EINVAL;
	mutex_lock(&epoll_mutex);
	if (op == EPOLL_CTL_ADD)
		err = check_nesting(ep, file);
	mutex_lock(&ep->mutex);
	if (!err)
		err = change_items(ep, op, file, fd, event);
	mutex_unlock(&ep->mutex);
	mutex_unlock(&epoll_mutex);
	return err;
}

/* Both files are held for the time of the call, in which another thread may close the descriptors. */
SYSCALL_DEFINE4(epoll_ctl, int, epfd, int, op, int, fd, struct epoll_event __user *, event)
{
	struct epoll_event copy = {0};
	struct file *epf, *file;
	int err = -EBADF;

	if (op != EPOLL_CTL_DEL && copy_from_user(&copy, event, sizeof(copy)))
		return -EFAULT;
	epf = fget(epfd);
	file = fget(fd);
	if (epf && file)
		err = do_epoll_ctl(epf, op, file, fd, &copy);
	if (file)
		fput(file);
	if (epf)
		fput(epf);
	return err;
}

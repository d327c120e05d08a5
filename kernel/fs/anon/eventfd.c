/*
 * eventfd(2): a counter. write() adds to it, read() takes all of it, or with EFD_SEMAPHORE one, and each waits while
 * that is not possible.
 */
#include <asm/uaccess.h>
#include <fs/anon_inode.h>
#include <fs/poll.h>
#include <fs/seq_file.h>
#include <fs/vfs.h>
#include <mm/slab.h>
#include <proc/syscall.h>
#include <sched/wait.h>
#include <uapi/fcntl.h>

#define EFD_SEMAPHORE 1
#define COUNT_MAX     (~0UL - 1)

static atomic_t last_id = ATOMIC_INIT(-1); /* [a] the first one is 0 */

struct eventfd {
	spinlock_t lock;
	wait_queue_head_t wait; /* readers and writers */
	u64 count;		/* [lock] 0 to COUNT_MAX */
	int id;			/* [immutable] a number of its own, for /proc/PID/fdinfo */
	bool semaphore;		/* [immutable] */
};

/* One read, if there is something. */
static bool eventfd_take(struct eventfd *e, u64 *v)
{
	bool ok;

	spin_lock(&e->lock);
	ok = e->count;
	*v = e->semaphore ? 1 : e->count;
	if (ok)
		e->count -= *v;
	spin_unlock(&e->lock);
	return ok;
}

/* One write, if there is room for it. */
static bool eventfd_add(struct eventfd *e, u64 v)
{
	bool ok;

	spin_lock(&e->lock);
	ok = v <= COUNT_MAX - e->count;
	if (ok)
		e->count += v;
	spin_unlock(&e->lock);
	return ok;
}

/* What was taken is gone, also when it cannot be told; as on Linux. */
static ssize_t eventfd_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct eventfd *e = f->private_data;
	u64 v;

	if (n < sizeof(v))
		return -EINVAL;
	if (!eventfd_take(e, &v)) {
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(&e->wait, eventfd_take(e, &v)))
			return -ERESTARTSYS;
	}
	wake_up_all(&e->wait);
	return put_user(v, (u64 __user *)buf) ? -EFAULT : (ssize_t)sizeof(v);
}

/* The largest number stands for an error, and no counter gets there. */
static ssize_t eventfd_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	struct eventfd *e = f->private_data;
	u64 v;

	if (n < sizeof(v))
		return -EINVAL;
	if (get_user(v, (const u64 __user *)buf))
		return -EFAULT;
	if (v > COUNT_MAX)
		return -EINVAL;
	if (!eventfd_add(e, v)) {
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(&e->wait, eventfd_add(e, v)))
			return -ERESTARTSYS;
	}
	wake_up_all(&e->wait);
	return sizeof(v);
}

static unsigned eventfd_poll(struct file *f, struct poll_table *pt)
{
	struct eventfd *e = f->private_data;
	u64 count;

	poll_wait(f, &e->wait, pt);
	spin_lock(&e->lock);
	count = e->count;
	spin_unlock(&e->lock);
	return (count ? POLLIN : 0) | (count < COUNT_MAX ? POLLOUT : 0);
}

static void eventfd_show_fdinfo(struct seq_file *m, const struct file *f)
{
	const struct eventfd *e = f->private_data;

	seq_printf(m, "eventfd-count: %16llx\neventfd-id: %d\neventfd-semaphore: %d\n",
		   (unsigned long long)READ_ONCE(e->count), e->id, e->semaphore);
}

static int eventfd_release(struct inode *inode, struct file *f)
{
	kfree(f->private_data);
	return 0;
}

static const struct file_operations eventfd_fops = {
	.read = eventfd_read,
	.write = eventfd_write,
	.poll = eventfd_poll,
	.release = eventfd_release,
	.show_fdinfo = eventfd_show_fdinfo,
};

/* O_CLOEXEC and O_NONBLOCK have the values of EFD_CLOEXEC and EFD_NONBLOCK. */
SYSCALL_DEFINE2(eventfd2, unsigned int, count, int, flags)
{
	struct eventfd *e;
	int fd;

	if (flags & ~(EFD_SEMAPHORE | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	if (!e)
		return -ENOMEM;
	spin_lock_init(&e->lock);
	init_waitqueue_head(&e->wait);
	e->count = count;
	e->id = atomic_inc_return(&last_id);
	e->semaphore = flags & EFD_SEMAPHORE;
	fd = anon_inode_fd("[eventfd]", &eventfd_fops, e, O_RDWR | (flags & (O_CLOEXEC | O_NONBLOCK)));
	if (fd < 0)
		kfree(e);
	return fd;
}

SYSCALL_DEFINE1(eventfd, unsigned int, count)
{
	return sys_eventfd2(count, 0);
}

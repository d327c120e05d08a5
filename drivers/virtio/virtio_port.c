/*
 * Files of console ports: /dev/vportNpM. They behave as Linux's do: one file at a time is open, a
 * write waits until a program on the host has opened the port, a read ends when none has.
 *
 * Bytes go through whole pages:
 *
 *     write: copy to a new page -> out queue -> the host takes it -> callback frees the page
 *     read:  8 pages lie in the in queue -> the host fills one -> port->rx, copied out -> back to the queue
 *
 * At most PORT_TX_PAGES written pages are the device's, then writers sleep. Pages for reading
 * belong to the port for ever and go round. virtio_console.h says which locks rule what and why a
 * port's memory outlives it.
 */
#include <asm/uaccess.h>
#include <fs/poll.h>
#include <kernel/printk.h>
#include <lib/atomic.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <uapi/fcntl.h>

#include "virtio_console.h"

#define CLOSING_WAIT_NS (10 * NSEC_PER_SEC)

/* An open file: of this life of the port only. [I] all */
struct port_file {
	struct port *port;
	unsigned generation;
};

static struct port *port_of(const struct file *f)
{
	return ((struct port_file *)f->private_data)->port;
}

/* A flag that another CPU changes by port_set_flag(). Acquire: what came before the change is seen, too. */
static bool read_flag(const bool *flag)
{
	return smp_load_acquire(flag);
}

/* Is the file's port still the one that it was opened for? */
static bool port_file_alive(const struct file *f)
{
	const struct port_file *own = f->private_data;

	return smp_load_acquire(&own->port->generation) == own->generation;
}

/* ---- From the host */

/* Looking without a lock is enough: readers look again under read_mutex. */
static bool has_input(const struct port *port)
{
	return READ_ONCE(port->rx) || virtqueue_has_used(port->in);
}

/*
 * Let the device write to the page again. Adding it with release keeps our last reads of the page
 * before that.
 */
static void port_give_back(struct port *port, char *page)
{
	if (!virtqueue_add_inbuf(port->in, page, PAGE_SIZE, page))
		virtqueue_kick(port->in);
}

int port_fill_rx(struct port *port)
{
	for (unsigned i = 0; i < min(PORT_RX_PAGES, port->in->size); i++) {
		char *page = get_free_page(GFP_KERNEL);

		if (!page)
			return -ENOMEM;
		virtqueue_add_inbuf(port->in, page, PAGE_SIZE, page);
	}
	return 0;
}

/*
 * Hard interrupt. The reader takes the page itself, in its own context, since only read_mutex
 * protects port->rx.
 */
void port_in_callback(struct virtqueue *vq)
{
	struct port *port = vq->private;

	wake_up_interruptible_all(&port->wait);
}

/* [r] The next page that has something, or NULL. */
static char *next_input(struct port *port)
{
	char *page;

	/* One that is empty goes back at once; a device may not keep us busy with such. */
	for (unsigned n = 0; (page = virtqueue_get_buf(port->in, &port->rx_len)) && !port->rx_len; n++) {
		port_give_back(port, page);
		if (n == PORT_RX_PAGES)
			return NULL;
	}
	port->rx_at = 0;
	WRITE_ONCE(port->rx, page);
	return page;
}

/*
 * [r] Copy what is there, at most n bytes. Returns how many bytes, 0 if nothing is there, or
 * -EFAULT. A page that was copied out goes back to the device at once.
 */
static ssize_t read_pages(struct port *port, char __user *buf, size_t n)
{
	size_t done = 0;

	while (done < n && (port->rx || next_input(port))) {
		unsigned part = min_t(size_t, n - done, port->rx_len - port->rx_at);
		unsigned left = copy_to_user(buf + done, port->rx + port->rx_at, part);

		done += part - left;
		port->rx_at += part - left;
		if (left)
			return done ? (ssize_t)done : -EFAULT;
		if (port->rx_at == port->rx_len) {
			port_give_back(port, port->rx);
			WRITE_ONCE(port->rx, NULL);
		}
	}
	return done;
}

/*
 * Would a read of this file sleep? A port that is gone, a host that has closed and a broken queue
 * end the wait too.
 */
static bool read_would_block(const struct file *f)
{
	const struct port *port = port_of(f);

	return port_file_alive(f) && read_flag(&port->host_open) && !has_input(port) && !virtqueue_is_broken(port->in);
}

/*
 * Read at least one byte, or 0 at the end. What has come is read even when the host has closed
 * since. So host_open is read before the queue is looked at: if it is false and nothing is found,
 * nothing can come any more. Returns bytes, -ENODEV, -EIO, -EAGAIN, -ERESTARTSYS, -EFAULT.
 */
static ssize_t port_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct port *port = port_of(f);
	bool host_open;
	ssize_t res;

	while (n) {
		host_open = read_flag(&port->host_open); /* before looking: what came first is found */
		res = mutex_lock_interruptible(&port->read_mutex);
		if (res)
			return -ERESTARTSYS;
		res = port_file_alive(f) ? read_pages(port, buf, n) : -ENODEV;
		mutex_unlock(&port->read_mutex);
		if (res || !host_open)
			return res;
		if (virtqueue_is_broken(port->in))
			return -EIO;
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (signal_pending(current)) /* a device that sends nothing, over and over, does not let us sleep */
			return -ERESTARTSYS;
		res = wait_event_interruptible(&port->wait, !read_would_block(f));
		if (res)
			return res;
	}
	return 0;
}

/* ---- To the host */

/* [p] Free the pages that the device has taken; there is room for as many again. */
static void free_taken(struct port *port)
{
	void *page;

	while ((page = virtqueue_get_buf(port->out, NULL))) {
		free_page(page);
		port->tx_pages--;
	}
}

/*
 * Hard interrupt: the device has taken pages. While they are freed it need not interrupt for
 * further ones; the loop ends when nothing came between the last look and callbacks being on again.
 */
void port_out_callback(struct virtqueue *vq)
{
	struct port *port = vq->private;
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	do {
		virtqueue_disable_cb(vq);
		free_taken(port);
	} while (!virtqueue_enable_cb(vq));
	spin_unlock_irqrestore(&port->lock, flags);
	wake_up_interruptible_all(&port->wait);
}

/*
 * Count one more page as the device's, if there may be one more. The count comes before the page is
 * sent, so several writers cannot exceed it together. unreserve_page() or the device's taking
 * undoes it.
 */
static bool reserve_page(const struct file *f)
{
	struct port *port = port_of(f);
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&port->lock, flags);
	there = port_file_alive(f) && port->host_open && port->tx_pages < min(PORT_TX_PAGES, port->out->size);
	port->tx_pages += there;
	spin_unlock_irqrestore(&port->lock, flags);
	return there;
}

static void unreserve_page(struct port *port)
{
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	port->tx_pages--;
	spin_unlock_irqrestore(&port->lock, flags);
	wake_up_interruptible_all(&port->wait);
}

static bool write_would_block(const struct file *f)
{
	const struct port *port = port_of(f);

	return port_file_alive(f) && !virtqueue_is_broken(port->out) &&
	       (!read_flag(&port->host_open) || READ_ONCE(port->tx_pages) >= min(PORT_TX_PAGES, port->out->size));
}

/*
 * Wait until a page may be sent and reserve it. Returns 0, -ENODEV, -EIO, -EAGAIN or -ERESTARTSYS.
 * Another writer may take the place between the wake-up and the next try, so it is a loop.
 */
static int wait_page(struct file *f)
{
	struct port *port = port_of(f);
	int err;

	while (!reserve_page(f)) {
		if (!port_file_alive(f))
			return -ENODEV;
		if (virtqueue_is_broken(port->out))
			return -EIO;
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&port->wait, !write_would_block(f));
		if (err)
			return err;
	}
	return 0;
}

/*
 * Copy at most a page and hand it to the device; the caller has reserved one. Returns how many
 * bytes, -ENOMEM, -EFAULT or -EIO. A copy that ends early sends what it has.
 */
static ssize_t send_page(struct port *port, const char *buf, size_t n, bool kernel)
{
	char *page = get_free_page(GFP_KERNEL);
	size_t left = 0;
	int err = -ENOMEM;

	n = min_t(size_t, n, PAGE_SIZE);
	if (page) {
		if (kernel)
			memcpy(page, buf, n);
		else
			left = copy_from_user(page, buf, n);
		err = left == n ? -EFAULT : virtqueue_add_outbuf(port->out, page, n - left, page);
	}
	if (err) {
		free_page(page);
		unreserve_page(port);
		return err;
	}
	virtqueue_kick(port->out);
	return n - left;
}

/*
 * Write all bytes, page by page; pages of other writers may come in between. After an error what
 * was written before it counts.
 */
static ssize_t port_write_any(struct file *f, const char *buf, size_t n, bool kernel)
{
	size_t done = 0;
	ssize_t res;

	while (done < n) {
		res = wait_page(f);
		if (!res)
			res = send_page(port_of(f), buf + done, n - done, kernel);
		if (res < 0)
			return done ? (ssize_t)done : res;
		done += res;
	}
	return done;
}

static ssize_t port_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return port_write_any(f, buf, n, false);
}

static ssize_t port_write_kernel(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	return port_write_any(f, buf, n, true);
}

/* ---- Open, poll, close */

/*
 * Throw away what came for others. The next file does that when it opens, not the last when it
 * closes: the host learns of a close later, and what it writes until then would be the next file's.
 * The host is told of us only after this, and so writes for us only after it.
 */
static void discard_input(struct port *port)
{
	mutex_lock(&port->read_mutex);
	while (port->rx || next_input(port)) {
		port_give_back(port, port->rx);
		WRITE_ONCE(port->rx, NULL);
	}
	mutex_unlock(&port->read_mutex);
}

/*
 * Make the port the file's. Returns 0, -ENODEV when it is gone, -EBUSY when another file has it.
 * The generation is read under the lock, together with guest_open: both belong to the same life.
 */
static int claim_port(struct port_file *own)
{
	struct port *port = own->port;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&port->lock, flags);
	own->generation = port->generation;
	if (!port_present(port))
		err = -ENODEV;
	else if (port->guest_open)
		err = -EBUSY;
	else
		port->guest_open = true;
	spin_unlock_irqrestore(&port->lock, flags);
	return err;
}

static void unclaim_port(const struct file *f)
{
	struct port *port = port_of(f);
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	if (port_file_alive(f))
		port->guest_open = false;
	spin_unlock_irqrestore(&port->lock, flags);
	port_tell_host(port);
}

/*
 * Until the device knows that the port is open. What a program on the host writes while QEMU has it for closed may be
 * lost: QEMU asks whether there is room and reads the bytes later, when it may have learnt of the last file's close. A
 * device without control messages is always open. 0 or -ERESTARTSYS.
 */
static int port_wait_known(const struct file *f)
{
	struct port *port = port_of(f);

	return wait_event_interruptible(&port->wait, !port->con->ctl_in || read_flag(&port->host_knows) ||
							     !port_file_alive(f) ||
							     virtqueue_is_broken(port->con->ctl_out));
}

/*
 * device_node's data is the port; from here on private_data is the struct port_file. Seeking makes
 * no sense.
 */
static int port_open(struct inode *inode, struct file *f)
{
	struct port_file *own = kmalloc(sizeof(*own), GFP_KERNEL);
	int err;

	if (!own)
		return -ENOMEM;
	own->port = f->private_data;
	err = claim_port(own);
	if (err) {
		kfree(own);
		return err;
	}
	f->private_data = own;
	f->f_mode |= FMODE_NOSEEK;
	discard_input(own->port);
	port_tell_host(own->port);
	err = port_wait_known(f);
	if (err) {
		unclaim_port(f);
		kfree(own);
	}
	return err;
}

/* The flags are looked at after the file has been queued on `wait`, so no change is missed. */
static unsigned port_poll(struct file *f, struct poll_table *pt)
{
	struct port *port = port_of(f);
	unsigned mask = 0;

	poll_wait(f, &port->wait, pt);
	if (!port_file_alive(f))
		return POLLHUP;
	if (!read_would_block(f))
		mask |= POLLIN | POLLRDNORM;
	if (!write_would_block(f))
		mask |= POLLOUT | POLLWRNORM;
	if (!read_flag(&port->host_open))
		mask |= POLLHUP;
	return mask;
}

/* Has the host taken all, or will it never? */
static bool port_drained(const struct file *f)
{
	const struct port *port = port_of(f);

	return !READ_ONCE(port->tx_pages) || !port_file_alive(f) || !read_flag(&port->host_open) ||
	       virtqueue_is_broken(port->out);
}

/* Is the caller going because of a signal? */
static bool port_killed(void)
{
	const struct signal_struct *sig = current->signal;

	return READ_ONCE(sig->group_exit) && (READ_ONCE(sig->group_exit_code) & 0x7f);
}

/*
 * Each close(2) waits for the host to have taken what was written, so that a program that has
 * closed its port can end the machine. A signal ends the wait; pages under way stay so. A task that
 * exits cannot be reached by a signal any more, so it waits for a bounded time.
 */
static int port_flush(struct file *f)
{
	struct port *port = port_of(f);
	s64 left = current->flags & PF_EXITING ? CLOSING_WAIT_NS : S64_MAX / 2;
	int err = 0;
	DEFINE_WAIT(wait);

	if (f->f_flags & O_NONBLOCK || port_killed())
		return 0;
	while (!err && left > 0) {
		prepare_to_wait(&port->wait, &wait, TASK_INTERRUPTIBLE);
		if (port_drained(f))
			break;
		if (signal_pending(current))
			err = -EINTR;
		else
			left = schedule_timeout_ns(left);
	}
	finish_wait(&port->wait, &wait);
	return err;
}

/* The last reference to the file is gone. The host is told by the control work, a little later. */
static int port_release(struct inode *inode, struct file *f)
{
	unclaim_port(f);
	kfree(f->private_data);
	return 0;
}

const struct file_operations port_fops = {
	.open = port_open,
	.release = port_release,
	.flush = port_flush,
	.read = port_read,
	.write = port_write,
	.write_kernel = port_write_kernel,
	.poll = port_poll,
	.llseek = no_llseek,
};

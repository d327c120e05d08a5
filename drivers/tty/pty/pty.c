/*
 * Pseudo terminals: a terminal (the slave, /dev/pts/N) whose other end is no serial port but a file, which an open of
 * /dev/ptmx makes (the master).
 *
 *     write to the master -> tty_receive -> line discipline -> a read of the slave
 *     write to the slave, echo -> tx ring -> tty_tx_pull -> a read of the master
 *
 * So the line discipline, job control and all else is that of every terminal. Terminals are never freed: the pair of an
 * index is made when it is wanted for the first time, and used again when neither end is open any more.
 *
 * When the master is closed the terminal is hung up: its session gets SIGHUP and loses it, and who still has it open
 * reads the end of the file and can do nothing else. Its files are counted, so that the pair is not used again while
 * there is one.
 */
#include "../tty.h"

#include <asm/uaccess.h>
#include <fs/cdev.h>
#include <fs/devpts.h>
#include <fs/libfs.h>
#include <fs/poll.h>
#include <kernel/init.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <uapi/fcntl.h>

#define CHUNK 256

/* Locks: m pty_mutex, read without; I immutable. */
struct pty {
	struct tty_struct *tty;	  /* [I] */
	struct device_node node;  /* [I] for its number only */
	unsigned index;		  /* [I] */
	bool master;		  /* [m] the master is open */
	bool locked;		  /* [m] the slave cannot be opened yet: TIOCSPTLCK */
	bool was_open;		  /* [m] the slave was, since the master is */
	unsigned slaves;	  /* [m] open files of the slave */
	struct mutex write_mutex; /* writers of the master, one after the other */
	wait_queue_head_t wait;	  /* who reads, writes or polls the master */
};

static DEFINE_MUTEX(pty_mutex);
static struct pty *ptys[DEVPTS_MAX];  /* [m; release, acquire] NULL: never used */
static unsigned nr_masters;	      /* [m, read without] open masters: kernel.pty.nr */
static unsigned pty_max = DEVPTS_MAX; /* [a] how many there may be: kernel.pty.max. A change closes none */

/* There is output for the master. Any context. */
static void pty_start_tx(void *port)
{
	struct pty *p = port;

	wake_up_interruptible_all(&p->wait);
}

/* The tty's lock is held: its buffer has room again, or is nearly full. */
static void pty_throttle(void *port, bool on)
{
	struct pty *p = port;

	if (!on)
		wake_up_interruptible_all(&p->wait);
}

/* [m] One file of the slave more. -EIO: it is hung up. */
static int pty_count_file(struct pty *p)
{
	if (!p->master)
		return -EIO;
	p->slaves++;
	p->was_open = true;
	return 0;
}

/* A further file of the slave, not through its name. */
static int pty_get(void *port)
{
	int err;

	mutex_lock(&pty_mutex);
	err = pty_count_file(port);
	mutex_unlock(&pty_mutex);
	return err;
}

static void pty_put(void *port)
{
	struct pty *p = port;

	mutex_lock(&pty_mutex);
	p->slaves--;
	wake_up_interruptible_all(&p->wait);
	mutex_unlock(&pty_mutex);
}

static const struct uart_ops pty_ops = {
	.start_tx = pty_start_tx,
	.throttle = pty_throttle,
	.get = pty_get,
	.put = pty_put,
};

/*
 * A node without a name is that of a pair that was: its number may be another user's by now, and a program that has
 * reached the node (by O_PATH, or in the middle of an open) was not allowed to open that one. A master that is closed
 * first takes the name away and then counts as closed, under the lock. So a node that still has its name here is that
 * of this pair.
 */
static int pts_open(struct inode *inode, struct file *f)
{
	unsigned index = iminor(inode);
	struct pty *p = index < DEVPTS_MAX ? smp_load_acquire(&ptys[index]) : NULL;
	int err = -EIO;

	if (!p)
		return err;
	mutex_lock(&pty_mutex);
	if (!p->locked && READ_ONCE(inode->i_nlink))
		err = pty_count_file(p);
	mutex_unlock(&pty_mutex);
	return err ?: tty_open_common(p->tty, f);
}

/* [m] A pair for this index; NULL: no memory. */
static struct pty *pty_new(unsigned index)
{
	struct pty *p = kzalloc(sizeof(*p), GFP_KERNEL);
	char name[16];

	if (!p)
		return NULL;
	snprintf(name, sizeof(name), "pts/%u", index);
	p->tty = tty_alloc(name, index, &pty_ops, p);
	if (!p->tty) {
		kfree(p);
		return NULL;
	}
	p->index = index;
	p->node = (struct device_node){.name = p->tty->name, .rdev = MKDEV(DEVPTS_MAJOR, index)};
	p->tty->node = &p->node;
	mutex_init(&p->write_mutex);
	init_waitqueue_head(&p->wait);
	tty_publish(p->tty);
	smp_store_release(&ptys[index], p);
	return p;
}

/* [m] The first pair of which neither end is open. NULL: all are in use (*err -ENOSPC), or no memory. */
static struct pty *find_free(int *err)
{
	struct pty *p;

	for (unsigned i = 0; i < DEVPTS_MAX && nr_masters < READ_ONCE(pty_max); i++) {
		p = ptys[i] ? ptys[i] : pty_new(i);
		*err = -ENOMEM;
		if (!p || (!p->master && !p->slaves))
			return p;
	}
	*err = -ENOSPC;
	return NULL;
}

/* A master that nobody has any more: its index is free for others. */
static void pty_free_master(struct pty *p)
{
	mutex_lock(&pty_mutex);
	p->master = false;
	nr_masters--;
	mutex_unlock(&pty_mutex);
}

/* /dev/ptmx: a new pair. Without memory for the slave's name nobody would find it, so the open fails. */
static int ptmx_open(struct inode *inode, struct file *f)
{
	struct pty *p;
	int err;

	mutex_lock(&pty_mutex);
	p = find_free(&err);
	if (p) {
		tty_reset(p->tty);
		p->master = p->locked = true;
		p->was_open = false;
		nr_masters++;
	}
	mutex_unlock(&pty_mutex);
	if (!p)
		return err;
	err = devpts_add(p->index);
	if (err) {
		pty_free_master(p);
		return err;
	}
	f->private_data = p;
	f->f_mode |= FMODE_NOSEEK;
	return 0;
}

/* The name goes first: its index is free for others as soon as the master counts as closed. */
static int ptm_release(struct inode *inode, struct file *f)
{
	struct pty *p = f->private_data;

	devpts_remove(p->index);
	tty_hangup(p->tty);
	pty_free_master(p);
	return 0;
}

/* Was the slave open, and is it no more? Then there is nobody to talk to. */
static bool nobody_there(const struct pty *p)
{
	return READ_ONCE(p->was_open) && !READ_ONCE(p->slaves);
}

static bool output_there(const struct pty *p)
{
	return tty_output_pending(p->tty) && !READ_ONCE(p->tty->stopped);
}

/* The master is the port: it takes what is to be sent. */
static unsigned pull(struct pty *p, char *to, unsigned n)
{
	unsigned long flags = tty_port_lock(p->tty);
	bool wake = false;
	unsigned got = tty_tx_pull(p->tty, to, n, &wake);

	tty_port_unlock(p->tty, flags);
	if (wake)
		tty_tx_pulled(p->tty);
	return got;
}

/* As much as there is; waits only for the first byte. -EIO: the slave is closed, and all of its output was read. */
static ssize_t ptm_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct pty *p = f->private_data;
	char chunk[CHUNK];
	size_t done = 0;
	unsigned got;

	for (;;) {
		while (done < n && (got = pull(p, chunk, min_t(size_t, n - done, CHUNK)))) {
			if (copy_to_user(buf + done, chunk, got))
				return -EFAULT;
			done += got;
		}
		if (done || !n)
			return done;
		if (nobody_there(p))
			return -EIO;
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(&p->wait, output_there(p) || nobody_there(p)))
			return -ERESTARTSYS;
	}
}

/* Bytes that can be typed now. */
static unsigned input_room(const struct pty *p)
{
	return READ_ONCE(p->tty->rx_tail) + TTY_RX_SIZE - READ_ONCE(p->tty->rx_head);
}

/* [write_mutex] Type n bytes, as far as there is room. How many; -EAGAIN, -ERESTARTSYS: none. */
static ssize_t type(struct pty *p, const char *text, unsigned n, bool nonblock)
{
	unsigned done = 0, part;

	while (done < n) {
		part = min(input_room(p), n - done);
		if (part)
			tty_receive(p->tty, text + done, part);
		else if (nonblock)
			return done ? (ssize_t)done : -EAGAIN;
		else if (wait_event_interruptible(&p->wait, input_room(p)))
			return done ? (ssize_t)done : -ERESTARTSYS;
		done += part;
	}
	return done;
}

/* In chunks, since user memory cannot be read under the tty's lock. Bytes, or -errno when none went. */
static ssize_t ptm_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	struct pty *p = f->private_data;
	char chunk[CHUNK];
	size_t done = 0;
	ssize_t res = tty_lock_users(&p->write_mutex, f);

	if (res)
		return res;
	while (done < n) {
		unsigned part = min_t(size_t, n - done, CHUNK);

		res = copy_from_user(chunk, buf + done, part) ? -EFAULT : type(p, chunk, part, f->f_flags & O_NONBLOCK);
		if (res > 0)
			done += res;
		if (res < (ssize_t)part)
			break;
	}
	mutex_unlock(&p->write_mutex);
	return done ? (ssize_t)done : res;
}

static unsigned ptm_poll(struct file *f, struct poll_table *pt)
{
	struct pty *p = f->private_data;
	unsigned mask = 0;

	poll_wait(f, &p->wait, pt);
	if (output_there(p))
		mask |= POLLIN | POLLRDNORM;
	if (input_room(p))
		mask |= POLLOUT | POLLWRNORM;
	if (nobody_there(p))
		mask |= POLLHUP;
	return mask;
}

static long set_lock(struct pty *p, const int __user *from)
{
	int on;

	if (get_user(on, from))
		return -EFAULT;
	WRITE_ONCE(p->locked, !!on);
	return 0;
}

/*
 * Modes and size are the slave's. A change does not wait for output to be read: its reader may be the very caller. What
 * only concerns who has a terminal is ENOTTY.
 */
static long ptm_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	struct pty *p = f->private_data;
	int __user *to = (int __user *)arg;
	bool known;
	long res = tty_mode_ioctl(p->tty, cmd, arg, false, &known);

	if (known)
		return res;
	switch (cmd) {
	case TIOCGPTN:
		return put_user(p->index, (unsigned __user *)arg);
	case TIOCSPTLCK:
		return set_lock(p, to);
	case TIOCGPTLCK:
		return put_user((int)READ_ONCE(p->locked), to);
	case FIONREAD:
		return put_user((int)tty_output_pending(p->tty), to);
	case TIOCGPGRP:
		return put_user(tty_foreground(p->tty), to);
	case TIOCGWINSZ:
	case TIOCSWINSZ:
		return tty_do_ioctl(p->tty, cmd, arg);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations ptmx_fops = {
	.open = ptmx_open,
	.read = ptm_read,
	.write = ptm_write,
	.poll = ptm_poll,
	.unlocked_ioctl = ptm_ioctl,
	.llseek = no_llseek,
	.release = ptm_release,
};
static const struct device_node ptmx_dev = {"ptmx", S_IFCHR | 0666, MKDEV(5, 2), &ptmx_fops, NULL};
REGISTER_DEVICE(ptmx_dev);

static int pty_init(void)
{
	static struct file_operations pts_fops;
	static struct cdev pts_cdev;
	int err = register_chrdev_region(MKDEV(DEVPTS_MAJOR, 0), DEVPTS_MAX, "pts");

	pts_fops = tty_fops;
	pts_fops.open = pts_open;
	cdev_init(&pts_cdev, &pts_fops);
	return err ? err : cdev_add(&pts_cdev, MKDEV(DEVPTS_MAJOR, 0), DEVPTS_MAX);
}
device_initcall(pty_init);

/* ---- /proc/sys/kernel/pty */

static int pty_number_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u\n", READ_ONCE(*(unsigned *)data));
	return 0;
}

/* There are names for DEVPTS_MAX. 0 or -EINVAL. */
static int pty_max_store(char *text, void *data)
{
	unsigned max;
	int err = sysctl_number(text, &max);

	if (err || max > DEVPTS_MAX)
		return -EINVAL;
	WRITE_ONCE(pty_max, max);
	return 0;
}

static const struct text_file pty_max_entry = {
	.path = "sys/kernel/pty/max", .mode = 0644, .show = pty_number_show, .store = pty_max_store, .data = &pty_max};
static const struct text_file pty_nr_entry = {
	.path = "sys/kernel/pty/nr", .mode = 0444, .show = pty_number_show, .data = &nr_masters};
REGISTER_PROC(pty_max_entry);
REGISTER_PROC(pty_nr_entry);

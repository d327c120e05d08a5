/*
 * Terminals: registration by serial drivers, and the device files console, tty and the port's own. Reading is in
 * n_tty_read.c, receiving in n_tty.c, sending in tty_output.c, sessions in tty_jobctrl.c; the way of a byte and the
 * locks are in tty.h. A terminal is never removed, so its users are not counted; but the files of a pseudo terminal are
 * (pty.c), whose structure is used again for another.
 */
#include "tty.h"

#include <asm/uaccess.h>
#include <fs/cdev.h>
#include <fs/libfs.h>
#include <fs/poll.h>
#include <irq/softirq.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <uapi/fcntl.h>

/* All terminals, in the order in which drivers have registered them. The first is the console. */
struct tty_struct *tty_list;

/* ttyS and ttyAMA have majors of their own in Linux; minors from 64 on. */
#define TTY_MAJOR_S   4
#define TTY_MAJOR_AMA 204
#define TTY_MINOR     64

/*
 * What a new terminal begins with, as in Linux: lines are edited, echoed, ended by Enter; ^C, ^\ and ^Z send signals.
 */
const struct termios tty_std_termios = {
	.c_iflag = ICRNL | IXON | IMAXBEL,
	.c_oflag = OPOST | ONLCR,
	.c_cflag = B115200 | CS8 | CREAD | CLOCAL,
	.c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
	.c_cc =
		{
			[VINTR] = 3,
			[VQUIT] = 28,
			[VERASE] = 127,
			[VKILL] = 21,
			[VEOF] = 4,
			[VMIN] = 1,
			[VSTART] = 17,
			[VSTOP] = 19,
			[VSUSP] = 26,
			[VREPRINT] = 18,
			[VDISCARD] = 15,
			[VWERASE] = 23,
			[VLNEXT] = 22,
		},
};

int tty_open_common(struct tty_struct *tty, struct file *f)
{
	f->private_data = tty;
	f->f_mode |= FMODE_NOSEEK;
	if (!(f->f_flags & O_NOCTTY))
		tty_open_ctty(tty, f);
	return 0;
}

/*
 * The port's own file, such as /dev/ttyS0. chrdev_open() has put the device's data, which is the terminal, into
 * private_data.
 */
static int tty_open(struct inode *inode, struct file *f)
{
	return tty_open_common(f->private_data, f);
}

/*
 * /dev/console is the first port. As in Linux it does not become the controlling terminal of a
 * process that opens it.
 */
static int console_open(struct inode *inode, struct file *f)
{
	if (!tty_list)
		return -ENODEV;
	f->private_data = tty_list;
	f->f_mode |= FMODE_NOSEEK;
	return 0;
}

/* Count a file more, or less, of a terminal that may hang up. 0 or -EIO. */
static int tty_get(struct tty_struct *tty)
{
	return tty->ops->get ? tty->ops->get(tty->port) : 0;
}

static void tty_put(struct tty_struct *tty)
{
	if (tty->ops->put)
		tty->ops->put(tty->port);
}

/* /dev/tty is the controlling terminal of the process that opens it. -ENXIO: it has none. */
static int current_tty_open(struct inode *inode, struct file *f)
{
	struct tty_struct *tty = get_current_tty();

	if (!tty || tty_get(tty))
		return -ENXIO;
	if (get_current_tty() != tty) { /* it was taken away before it was counted */
		tty_put(tty);
		return -ENXIO;
	}
	f->private_data = tty;
	f->f_mode |= FMODE_NOSEEK;
	return 0;
}

static int tty_release(struct inode *inode, struct file *f)
{
	tty_put(f->private_data);
	return 0;
}

/* Not inlined, so that it is in a trace. */
static noinline ssize_t tty_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return n_tty_read(f->private_data, f, buf, n);
}

/*
 * Is there room for what a program writes? If not, writers_wait is set under the same lock, so the
 * transmit interrupt that makes room will wake the caller.
 */
static bool output_possible(struct tty_struct *tty)
{
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&tty->tx_lock, flags);
	room = TTY_TX_SIZE - (tty->tx_head - tty->tx_tail) >= TTY_ECHO_RESERVE + 2;
	tty->writers_wait |= !room;
	spin_unlock_irqrestore(&tty->tx_lock, flags);
	return room;
}

/*
 * [w] Write `n` bytes of kernel memory, sleeping for room. Returns how many were written before a
 * signal came or, nonblocking, the ring was full; -EAGAIN or -ERESTARTSYS if none was.
 */
static ssize_t write_chunk(struct tty_struct *tty, struct file *f, const char *text, unsigned n)
{
	unsigned done = 0;

	for (;;) {
		if (READ_ONCE(tty->hung_up))
			return done ? (ssize_t)done : -EIO;
		done += tty_output(tty, text + done, n - done);
		tty_kick(tty);
		if (done == n)
			return done;
		if (f->f_flags & O_NONBLOCK)
			return done ? (ssize_t)done : -EAGAIN;
		if (wait_event_interruptible(&tty->write_wait, READ_ONCE(tty->hung_up) || output_possible(tty)))
			return done ? (ssize_t)done : -ERESTARTSYS;
	}
}

/*
 * Write from user or kernel memory, in chunks: the ring's lock is a spinlock, so user memory cannot
 * be read under it. write_mutex keeps the bytes of one write(2) together. Returns bytes or -errno.
 */
static ssize_t tty_write_bytes(struct file *f, const char *buf, size_t n, bool kernel)
{
	struct tty_struct *tty = f->private_data;
	char chunk[256];
	size_t done = 0;
	ssize_t res = L_FLAG(tty, TOSTOP) ? tty_check_change(tty, SIGTTOU) : 0;

	if (!res)
		res = tty_lock_users(&tty->write_mutex, f);
	if (res)
		return res;
	while (done < n && res >= 0) {
		unsigned part = min_t(size_t, n - done, sizeof(chunk));

		res = -EFAULT;
		if (kernel)
			memcpy(chunk, buf + done, part);
		else if (copy_from_user(chunk, buf + done, part))
			break;
		res = write_chunk(tty, f, chunk, part);
		if (res > 0)
			done += res;
		if (res < part)
			break;
	}
	mutex_unlock(&tty->write_mutex);
	return done ? (ssize_t)done : res;
}

static noinline ssize_t tty_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return tty_write_bytes(f, buf, n, false);
}

/* The same from kernel memory, for writers inside the kernel (fs/kernel_io.c). */
static ssize_t tty_write_kernel(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	return tty_write_bytes(f, buf, n, true);
}

/* The queues are entered before the state is looked at, so no change in between is missed. */
static unsigned tty_poll(struct file *f, struct poll_table *pt)
{
	struct tty_struct *tty = f->private_data;
	unsigned long flags;
	unsigned mask = 0;

	poll_wait(f, &tty->read_wait, pt);
	poll_wait(f, &tty->write_wait, pt);
	spin_lock_irqsave(&tty->lock, flags);
	if (n_tty_readable(tty))
		mask |= POLLIN | POLLRDNORM;
	spin_unlock_irqrestore(&tty->lock, flags);
	if (output_possible(tty))
		mask |= POLLOUT | POLLWRNORM;
	if (READ_ONCE(tty->hung_up))
		mask |= POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLERR | POLLHUP;
	return mask;
}

/* The kinds of file differ in nothing but which terminal an open finds. */
#define TTY_FOPS                                                                                  \
	.read = tty_read, .write = tty_write, .write_kernel = tty_write_kernel, .poll = tty_poll, \
	.unlocked_ioctl = tty_ioctl, .llseek = no_llseek, .release = tty_release, .sigio = true
const struct file_operations tty_fops = {.open = tty_open, TTY_FOPS};
static const struct file_operations console_fops = {.open = console_open, TTY_FOPS};
static const struct file_operations current_tty_fops = {.open = current_tty_open, TTY_FOPS};

/* Numbers as in Linux's devices.txt: major 5, alternate terminals. */
static const struct device_node current_tty_dev = {"tty", S_IFCHR | 0666, MKDEV(5, 0), &current_tty_fops, NULL};
static const struct device_node console_dev = {"console", S_IFCHR | 0600, MKDEV(5, 1), &console_fops, NULL};
REGISTER_DEVICE(current_tty_dev);
REGISTER_DEVICE(console_dev);

/*
 * What the interrupts left to do: input through the discipline, writers woken. The list only grows,
 * so it needs no lock.
 */
static void tty_softirq(void)
{
	for (struct tty_struct *tty = smp_load_acquire(&tty_list); tty; tty = tty->next) {
		n_tty_process(tty);
		if (waitqueue_active(&tty->write_wait))
			wake_up_interruptible_all(&tty->write_wait);
	}
}

/* Makes the port's device file: ttyS0 is 4:64, ttyAMA0 204:64, as in Linux's devices.txt. 0 or -errno. */
static int add_node(struct tty_struct *tty)
{
	struct device_node *node = kzalloc(sizeof(*node), GFP_KERNEL);
	bool ama = !strncmp(tty->name, "ttyAMA", 6);

	if (!node)
		return -ENOMEM;
	*node = (struct device_node){
		.name = tty->name,
		.mode = S_IFCHR | 0620,
		.rdev = MKDEV(ama ? TTY_MAJOR_AMA : TTY_MAJOR_S, TTY_MINOR + tty->index),
		.fop = &tty_fops,
		.data = tty,
	};
	tty->node = node;
	return device_add(node);
}

/* What it begins with in each of its lives. */
void tty_reset(struct tty_struct *tty)
{
	unsigned long flags;

	tty_set_stopped(tty, false);
	tty_flush_output(tty);
	spin_lock_irqsave(&tty->lock, flags);
	n_tty_flush_input(tty);
	spin_lock(&tty->tx_lock);
	tty->column = tty->sent_column = 0;
	spin_unlock(&tty->tx_lock);
	tty->termios = tty_std_termios;
	tty->locked = (struct termios){};
	tty->winsize = (struct winsize){};
	tty->pgrp = tty->session = 0;
	tty->throttled = tty->hung_up = false;
	spin_unlock_irqrestore(&tty->lock, flags);
}

/* All that does not depend on what kind of port it is. The size of the structure is more than a slab gives. */
struct tty_struct *tty_alloc(const char *name, unsigned index, const struct uart_ops *ops, void *port)
{
	struct tty_struct *tty = kvzalloc(sizeof(*tty), GFP_KERNEL);

	if (!tty)
		return NULL;
	strscpy(tty->name, name, sizeof(tty->name));
	tty->index = index;
	tty->ops = ops;
	tty->port = port;
	tty->termios = tty_std_termios;
	spin_lock_init(&tty->lock);
	mutex_init(&tty->read_mutex);
	mutex_init(&tty->write_mutex);
	init_waitqueue_head(&tty->read_wait);
	tty_output_init(tty);
	return tty;
}

/* Last, with release: an interrupt that finds it in the list finds it whole. */
void tty_publish(struct tty_struct *tty)
{
	struct tty_struct **last = &tty_list;

	while (*last)
		last = &(*last)->next;
	smp_store_release(last, tty);
}

/* The first port becomes the console. */
struct tty_struct *tty_register_uart(const char *name, unsigned minor, const struct uart_ops *ops, void *port)
{
	struct tty_struct *tty = tty_alloc(name, minor, ops, port);

	if (!tty)
		return NULL;
	/*
	 * A serial line cannot tell the size of what is at its other end: this is the screen that programs expect when
	 * the size is unknown.
	 */
	tty->winsize = (struct winsize){.ws_row = 24, .ws_col = 80};
	if (add_node(tty)) {
		kfree(tty->node);
		kvfree(tty);
		return NULL;
	}
	if (!tty_list) {
		open_softirq(TTY_SOFTIRQ, tty_softirq);
		tty_console_init(tty);
	}
	tty_publish(tty);
	return tty;
}

/* For tty_nr in /proc/PID/stat. */
u64 tty_devnum(const struct tty_struct *tty)
{
	return tty->node->rdev;
}

/*
 * The foreground process group, 0 when there is none. Read without the lock: it may have changed when the caller looks.
 */
int tty_foreground(const struct tty_struct *tty)
{
	return READ_ONCE(tty->pgrp);
}

/*
 * Device files without hardware: null, zero, full, random, urandom and kmsg. /dev/kmsg gives each reader its own
 * position in the kernel's log, one record for each read, and takes a message from each write; the log itself is in
 * kernel/printk.c. random and urandom are one device under two names: the generator never waits for entropy.
 *
 * Reading and writing user memory may fault and sleep, so all operations run in thread context. Only a reader of kmsg
 * has a state of its own, and a lock for it.
 */
#include "../internal.h"

#include <boot/boot_info.h>
#include <fs/libfs.h>
#include <fs/poll.h>
#include <kernel/random.h>
#include <kernel/printk.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <sched/wait.h>
#include <time/clock.h>

#define RNDGETENTCNT   0x80045200
#define RNDADDTOENTCNT 0x40045201
#define RNDADDENTROPY  0x40085203
#define RNDZAPENTCNT   0x5204
#define RNDCLEARPOOL   0x5206

/* /dev/null is always at its end. */
static ssize_t null_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return 0;
}

/* Everything is taken and thrown away. `buf` is not looked at, so a bad address is no error, as on Linux. */
static ssize_t null_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return n;
}

static ssize_t null_write_kernel(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	return n;
}

/* As much as could be stored; -EFAULT only when nothing was. */
static ssize_t zero_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	size_t left = clear_user(buf, n);

	return left == n && n ? -EFAULT : (ssize_t)(n - left);
}

/*
 * A shared mapping is memory that only fork shares, and the oldest way to have that. A private one is anonymous memory
 * with a name (vma_is_anonymous): what is written counts as the program's, and fork copies it.
 */
static int zero_mmap(struct file *f, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_SHARED)
		return vma_share_zeroes(vma);
	vma->vm_flags |= VM_HASANON;
	return 0;
}

/* For splice(2) and sendfile(2). The position stays, as for a read. */
static ssize_t zero_read_kernel(struct file *f, void *buf, size_t n, loff_t *pos)
{
	memset(buf, 0, n);
	return n;
}

/* A disk that is always full, for testing what programs do then. */
static ssize_t full_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return -ENOSPC;
}

static const struct file_operations null_fops = {
	.read = null_read, .write = null_write, .write_kernel = null_write_kernel, .llseek = noop_llseek};
static const struct file_operations zero_fops = {.read = zero_read,
						 .read_kernel = zero_read_kernel,
						 .write = null_write,
						 .write_kernel = null_write_kernel,
						 .llseek = noop_llseek,
						 .mmap = zero_mmap};
static const struct file_operations full_fops = {
	.read = zero_read, .read_kernel = zero_read_kernel, .write = full_write, .llseek = noop_llseek};

/*
 * In small pieces from a buffer on the stack. A signal ends a long read after the first piece, so a huge count cannot
 * keep a task from being killed.
 */
static ssize_t random_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	char chunk[64];
	size_t done = 0;

	while (done < n && !(done && signal_pending(current))) {
		size_t part = min_t(size_t, n - done, sizeof(chunk));

		get_random_bytes(chunk, part);
		if (copy_to_user(buf + done, chunk, part))
			return done ? (ssize_t)done : -EFAULT;
		done += part;
	}
	return done;
}

static ssize_t random_read_kernel(struct file *f, void *buf, size_t n, loff_t *pos)
{
	get_random_bytes(buf, n);
	return n;
}

/* What is written becomes seed; the generator mixes it in, so it cannot make the numbers worse. */
static ssize_t random_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	char chunk[64];
	size_t done = 0;

	for (size_t part; done < n; done += part) {
		part = min_t(size_t, n - done, sizeof(chunk));
		if (copy_from_user(chunk, buf + done, part))
			return done ? (ssize_t)done : -EFAULT;
		add_random_seed(chunk, part);
	}
	return done;
}

static ssize_t random_write_kernel(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	add_random_seed(buf, n);
	return n;
}

/* How many bits are to be believed in, and with `seed` the number of bytes and these. 0 or -errno. */
static long random_add(struct file *f, bool seed, const int __user *arg)
{
	int bits, bytes;
	ssize_t done;

	if (get_user(bits, arg))
		return -EFAULT;
	if (bits < 0)
		return -EINVAL;
	if (!seed)
		return 0;
	if (get_user(bytes, arg + 1))
		return -EFAULT;
	if (bytes < 0)
		return -EINVAL;
	done = random_write(f, (const char __user *)(arg + 2), bytes, NULL);
	return done == bytes ? 0 : -EFAULT;
}

/*
 * The ioctls that ask for the amount of entropy and add to it. The pool always has all that it can hold, 256 bits, as
 * on Linux once it is seeded.
 */
static long random_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	switch (cmd) {
	case RNDGETENTCNT:
		return put_user(RANDOM_POOL_BITS, (int __user *)arg);
	case RNDADDTOENTCNT:
	case RNDADDENTROPY:
		return capable(CAP_SYS_ADMIN) ? random_add(f, cmd == RNDADDENTROPY, (const int __user *)arg) : -EPERM;
	case RNDZAPENTCNT: /* these two change nothing on Linux either */
	case RNDCLEARPOOL:
		return capable(CAP_SYS_ADMIN) ? 0 : -EPERM;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations random_fops = {.read = random_read,
						   .read_kernel = random_read_kernel,
						   .write = random_write,
						   .write_kernel = random_write_kernel,
						   .unlocked_ioctl = random_ioctl,
						   .llseek = noop_llseek};

#define KMSG_LINE 1024 /* bytes of one record or message */

/* A reader of /dev/kmsg. Locks: l lock. */
struct kmsg_reader {
	struct mutex lock;
	u64 seq;	      /* [l] next record */
	char text[KMSG_LINE]; /* [l] */
};

/* A reader needs the right to see the log, and a struct kmsg_reader; one that only writes has neither. */
static int dev_kmsg_open(struct inode *inode, struct file *f)
{
	struct kmsg_reader *r;

	f->private_data = NULL;
	if (!(f->f_mode & FMODE_READ))
		return 0;
	if (!log_may_read())
		return -EPERM;
	r = kmalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	mutex_init(&r->lock);
	r->seq = printk_first_seq();
	f->private_data = r;
	return 0;
}

static int dev_kmsg_release(struct inode *inode, struct file *f)
{
	kfree(f->private_data);
	return 0;
}

/*
 * Waits without the lock, so that lseek and poll of the same file go on. Records that were overwritten before they were
 * read are reported once as -EPIPE, as on Linux; the next read gives the oldest record that is kept. A buffer that is
 * too small for the record is -EINVAL.
 */
static ssize_t dev_kmsg_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct kmsg_reader *r = f->private_data;
	u64 lost = 0;
	ssize_t len;

	mutex_lock(&r->lock);
	while (!(len = printk_read(&r->seq, r->text, sizeof(r->text), &lost))) {
		u64 seq = r->seq;

		mutex_unlock(&r->lock);
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		len = wait_event_interruptible(&printk_wait, printk_next_seq() > seq);
		if (len)
			return len;
		mutex_lock(&r->lock);
	}
	if (lost) {
		r->seq--; /* the next read gives this record */
		len = -EPIPE;
	} else if (len > n) {
		len = -EINVAL;
	} else if (copy_to_user(buf, r->text, len)) {
		len = -EFAULT;
	}
	mutex_unlock(&r->lock);
	return len;
}

/*
 * A message may begin with its level, "<6>text"; without one it is a notice (5). Only the last three bits of the number
 * are the level; the others are a facility, which is not kept.
 */
static ssize_t dev_kmsg_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	char line[KMSG_LINE], *text = line, *end;
	unsigned level = 5;
	ssize_t len = copy_text_from_user(line, sizeof(line), buf, n);

	if (len < 0)
		return len;
	if (*text == '<') {
		u64 prio = simple_strtoull(text + 1, &end, 10);

		if (end > text + 1 && *end == '>') {
			level = prio & 7;
			text = end + 1;
		}
	}
	if (len && line[len - 1] == '\n')
		line[len - 1] = '\0';
	printk(KERN_SOH "%u%s\n", level, text);
	return n;
}

/* SEEK_SET goes to the oldest record, SEEK_END behind the newest; other positions have no meaning. */
static loff_t kmsg_llseek(struct file *f, loff_t off, int whence)
{
	struct kmsg_reader *r = f->private_data;

	if (!r)
		return -EBADF;
	if (off)
		return -ESPIPE;
	if (whence != SEEK_SET && whence != SEEK_END)
		return -EINVAL;
	mutex_lock(&r->lock);
	r->seq = whence == SEEK_SET ? printk_first_seq() : printk_next_seq();
	mutex_unlock(&r->lock);
	return 0;
}

/* The log can always be written to. It can be read when it has a record behind the reader's position. */
static unsigned dev_kmsg_poll(struct file *f, struct poll_table *pt)
{
	struct kmsg_reader *r = f->private_data;

	poll_wait(f, &printk_wait, pt);
	return POLLOUT | POLLWRNORM | (r && printk_next_seq() > READ_ONCE(r->seq) ? POLLIN | POLLRDNORM : 0);
}

static const struct file_operations kmsg_fops = {
	.open = dev_kmsg_open,
	.release = dev_kmsg_release,
	.read = dev_kmsg_read,
	.write = dev_kmsg_write,
	.llseek = kmsg_llseek,
	.poll = dev_kmsg_poll,
};

/* Numbers as in Linux's devices.txt: major 1, memory devices. */
static const struct device_node null_dev = {"null", S_IFCHR | 0666, MKDEV(1, 3), &null_fops, NULL};
static const struct device_node zero_dev = {"zero", S_IFCHR | 0666, MKDEV(1, 5), &zero_fops, NULL};
static const struct device_node full_dev = {"full", S_IFCHR | 0666, MKDEV(1, 7), &full_fops, NULL};
static const struct device_node random_dev = {"random", S_IFCHR | 0666, MKDEV(1, 8), &random_fops, NULL};
static const struct device_node urandom_dev = {"urandom", S_IFCHR | 0666, MKDEV(1, 9), &random_fops, NULL};
static const struct device_node kmsg_dev = {"kmsg", S_IFCHR | 0644, MKDEV(1, 11), &kmsg_fops, NULL};
REGISTER_DEVICE(null_dev);
REGISTER_DEVICE(zero_dev);
REGISTER_DEVICE(full_dev);
REGISTER_DEVICE(random_dev);
REGISTER_DEVICE(urandom_dev);
REGISTER_DEVICE(kmsg_dev);

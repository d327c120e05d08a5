/*
 * Random bytes from the host (virtio 1.2, 5.4): /dev/hwrng, and the first ones seed the kernel's
 * own random state. It is the smallest virtio driver, and so the one to read first: one queue, one
 * buffer, one callback. The buffer is either the device's or the readers': `filled` says whose.
 */
#include <asm/uaccess.h>
#include <drivers/virtio.h>
#include <fs/libfs.h>
#include <fs/poll.h>
#include <kernel/printk.h>
#include <kernel/random.h>
#include <lib/atomic.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

#define RNG_BYTES 256 /* that are asked for at a time */

/*
 * One buffer, which is either the device's or the readers'. Locks: m mutex; a: the interrupt writes it, then `filled`,
 * while the buffer is the device's; a reader that sees `filled` may use it.
 */
struct virtio_rng {
	struct virtqueue *vq;
	struct mutex mutex;
	wait_queue_head_t wait;
	u8 *bytes;    /* [a, m] */
	unsigned len; /* [a, m] in it */
	unsigned at;  /* [a, m] the first that was not given out yet */
	bool filled;  /* [a] the buffer is the readers' */
	bool seeded;  /* [a] */
};
static struct virtio_rng *the_rng; /* [boot writes] the first one; more are of no use */

/* Give the buffer to the device. Context: probe, or with the mutex held and all of the buffer read. */
static void rng_request(struct virtio_rng *rng)
{
	WRITE_ONCE(rng->filled, false);
	if (!virtqueue_add_inbuf(rng->vq, rng->bytes, RNG_BYTES, rng))
		virtqueue_kick(rng->vq);
}

/*
 * Hard interrupt: the device has filled the buffer. The bytes that seeded the kernel are not given
 * out. Release: a reader that sees `filled` sees the bytes, `len` and `at`.
 */
static void rng_filled(struct virtqueue *vq)
{
	struct virtio_rng *rng;
	unsigned len;

	while ((rng = virtqueue_get_buf(vq, &len))) {
		rng->len = len;
		rng->at = 0;
		if (!rng->seeded && len) {
			add_random_seed(rng->bytes, len);
			rng->at = len;
			rng->seeded = true;
		}
		smp_store_release(&rng->filled, true);
	}
	rng = vq->private;
	wake_up_interruptible_all(&rng->wait);
}

/* Is the wait over: are there bytes, or is it known that none will come? */
static bool answered(struct virtio_rng *rng)
{
	return smp_load_acquire(&rng->filled) || virtqueue_is_broken(rng->vq);
}

/*
 * [m] How many bytes there are that were not given out yet. If all are used up, the device is asked for
 * more. Returns 0 if there are none yet.
 */
static unsigned some_bytes(struct virtio_rng *rng)
{
	if (!smp_load_acquire(&rng->filled))
		return 0;
	if (rng->at == rng->len) {
		rng_request(rng);
		return 0;
	}
	return rng->len - rng->at;
}

/* [m] Copy n bytes to the reader; they are never given to another one. Returns bytes or -EFAULT. */
static ssize_t rng_copy_bytes(struct virtio_rng *rng, char __user *buf, unsigned n)
{
	unsigned left = copy_to_user(buf, rng->bytes + rng->at, n);

	rng->at += n - left;
	return n == left ? -EFAULT : (ssize_t)(n - left);
}

/*
 * Read up to n bytes: wait for the first and take what there is then. The mutex is not held while
 * it sleeps. Returns bytes, -EAGAIN, -EIO, -ERESTARTSYS or -EFAULT.
 */
static ssize_t rng_read_some(struct virtio_rng *rng, char __user *buf, size_t n, bool nonblock)
{
	unsigned there;
	ssize_t res;

	for (;;) {
		res = mutex_lock_interruptible(&rng->mutex);
		if (res)
			return -ERESTARTSYS;
		there = some_bytes(rng);
		res = there ? rng_copy_bytes(rng, buf, min_t(size_t, n, there)) : 0;
		mutex_unlock(&rng->mutex);
		if (res)
			return res;
		if (nonblock)
			return -EAGAIN;
		if (virtqueue_is_broken(rng->vq))
			return -EIO;
		res = wait_event_interruptible(&rng->wait, answered(rng));
		if (res)
			return res;
	}
}

/*
 * A read is filled completely unless an error or a signal comes; a reader asks for a number of
 * bytes and wants that many.
 */
static ssize_t rng_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct virtio_rng *rng = the_rng;
	size_t done = 0;

	while (done < n) {
		ssize_t res = rng_read_some(rng, buf + done, n - done, f->f_flags & O_NONBLOCK);

		if (res < 0)
			return done ? (ssize_t)done : res;
		done += res;
	}
	return done;
}

static const struct file_operations rng_fops = {.read = rng_read, .llseek = noop_llseek};
static const struct device_node rng_node = {"hwrng", S_IFCHR | 0600, MKDEV(10, 183), &rng_fops, NULL};

/*
 * Before virtio_device_ready() errors give all memory back. After it the memory is the device's, so
 * a missing file is reported and no error.
 */
static int rng_probe(struct virtio_device *dev)
{
	struct virtio_rng *rng;
	int err;

	if (the_rng)
		return -EBUSY;
	rng = kzalloc(sizeof(*rng), GFP_KERNEL);
	if (!rng)
		return -ENOMEM;
	mutex_init(&rng->mutex);
	init_waitqueue_head(&rng->wait);
	rng->bytes = kmalloc(RNG_BYTES, GFP_KERNEL);
	if (rng->bytes)
		rng->vq = virtio_make_queue(dev, 0, 1, rng_filled, rng);
	if (!rng->vq) {
		kfree(rng->bytes);
		kfree(rng);
		return -ENOMEM;
	}
	the_rng = rng;
	virtio_device_ready(dev); /* from here on the memory is the device's: no error any more */
	rng_request(rng);
	err = device_add(&rng_node);
	if (err)
		pr_err("virtio-rng: no /dev/hwrng: error %d\n", err);
	return 0;
}

static const struct virtio_driver rng_driver = {.name = "virtio-rng", .id = VIRTIO_ID_ENTROPY, .probe = rng_probe};
REGISTER_VIRTIO_DRIVER(rng_driver);

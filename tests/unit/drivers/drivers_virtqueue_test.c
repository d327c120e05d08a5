/*
 * Split virtqueues against a model of a device: buffers come back once and whole, over the wrap-around of all indices;
 * nobody sleeps while there is something for it, and nobody is woken for nothing; a device that writes nonsense is
 * found out. The model follows the words of the specification (virtio 1.2, 2.7), not this kernel's code. First driver
 * and device take turns in one thread, in random orders; then they are two threads that wait for each other, so that a
 * missing barrier is met.
 */
/* sources: */
/* include: tests/unit/include-io */
#include "../../../drivers/virtio/virtqueue.c"

#include <pthread.h>
#include <sched.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SIZE	8
#define BUFFERS 200000 /* thrice around 16 bits */
#define BYTES	16

/* The model. It takes buffers in order, as 2.7.13 has it, and returns them in any. */
static struct device {
	struct virtqueue *vq;
	u16 taken, used; /* indices */
	bool asleep;	 /* it will not look before it is notified */
	unsigned notified, interrupts;
	unsigned long wake; /* [atomic] between threads: notifications */
} device;

static unsigned said; /* lines of printk */

int printk(const char *fmt, ...)
{
	said++;
	return 0;
}

static unsigned queue_max(struct virtio_device *dev, unsigned index)
{
	return index ? 0 : 1024;
}

static int queue_enable(struct virtqueue *vq)
{
	device.vq = vq;
	return 0;
}

static void notify(struct virtqueue *vq)
{
	device.notified++;
	device.asleep = false;
	__atomic_fetch_add(&device.wake, 1, __ATOMIC_RELEASE);
}

static const struct virtio_transport transport = {
	.queue_max = queue_max, .queue_enable = queue_enable, .notify = notify};
static struct virtio_device virtio;

static unsigned called;
static void callback(struct virtqueue *vq)
{
	called++;
}

static struct virtqueue *fresh_queue(u64 features, unsigned size)
{
	struct virtqueue *vq;

	memset(&device, 0, sizeof(device));
	said = 0;
	virtio = (struct virtio_device){.ops = &transport, .features = features, .name = "model"};
	assert_null(virtio_make_queue(&virtio, 1, size, callback, NULL));
	vq = virtio_make_queue(&virtio, 0, size, callback, NULL);
	assert_non_null(vq);
	return vq;
}

/* The device's side of the events, by the words of 2.7.7.2 and 2.7.10.2 rather than our own. */
static bool passes(u16 event, u16 old, u16 new)
{
	for (u16 index = old; index != new; index++)
		if (index == event)
			return true;
	return false;
}

static u16 available(void)
{
	return __atomic_load_n(&device.vq->avail->idx, __ATOMIC_ACQUIRE);
}

static bool event_idx(void)
{
	return virtio.features & VIRTIO_F_EVENT_IDX;
}

/* False: something is there already. */
static bool device_sleeps(void)
{
	u16 *event = (u16 *)&device.vq->used->ring[device.vq->size];

	__atomic_store_n(event, device.taken, __ATOMIC_RELAXED);
	__atomic_store_n(&device.vq->used->flags, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	device.asleep = available() == device.taken;
	return device.asleep;
}

/* The event stays where it was: passed. */
static void device_busy(void)
{
	__atomic_store_n(&device.vq->used->flags, VIRTQ_USED_NO_NOTIFY, __ATOMIC_RELAXED);
}

static u16 device_takes(void)
{
	device.asleep = false;
	return device.vq->avail->ring[device.taken++ % device.vq->size];
}

/* True: an interrupt. */
static bool device_returns(u16 id, u32 len)
{
	u16 old = device.used;
	bool interrupt;

	device.vq->used->ring[device.used % device.vq->size] = (struct virtq_used_elem){.id = id, .len = len};
	__atomic_store_n(&device.vq->used->idx, ++device.used, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (event_idx())
		interrupt = passes(__atomic_load_n(&device.vq->avail->ring[device.vq->size], __ATOMIC_RELAXED), old,
				   device.used);
	else
		interrupt = !(__atomic_load_n(&device.vq->avail->flags, __ATOMIC_RELAXED) & VIRTQ_AVAIL_NO_INTERRUPT);
	device.interrupts += interrupt;
	return interrupt;
}

/* ---- One thread: all orders of who does what when */

static char room[BUFFERS % 97 + SIZE][BYTES];

struct history {
	bool out[SIZE]; /* by buffer: the device's or about to be */
	u16 held[SIZE]; /* descriptors that the device has taken and not returned */
	unsigned nr_held, nr_out;
	unsigned long added, got;
	bool waiting; /* the driver has found nothing and will not look before an interrupt */
};

static void driver_adds(struct virtqueue *vq, struct history *h)
{
	unsigned i = host_random() % SIZE;
	int err;

	if (h->out[i])
		return;
	err = virtqueue_add_inbuf(vq, room[i], BYTES, &room[i]);
	assert_int_equal(err, 0);
	h->out[i] = true;
	h->nr_out++;
	h->added++;
	if (h->nr_out == SIZE)
		assert_int_equal(virtqueue_add_outbuf(vq, room[0], 1, room), -ENOSPC);
}

static void driver_kicks(struct virtqueue *vq)
{
	unsigned before = device.notified;
	bool asleep = device.asleep, something = available() != device.taken;

	virtqueue_kick(vq);
	if (asleep && something)
		assert_int_equal(device.notified, before + 1);
}

/*
 * The driver takes what has come back: each buffer must be one that is out, with no more bytes than it has, and with
 * the byte that the device wrote. Now and then the driver stops early and leaves the rest.
 */
static void driver_gets(struct virtqueue *vq, struct history *h)
{
	char(*token)[BYTES];
	unsigned len = 99;

	while ((token = virtqueue_get_buf(vq, &len))) {
		unsigned i = token - room;

		assert_true(i < SIZE && h->out[i]);
		assert_true(len <= BYTES);
		if (len)
			assert_int_equal((*token)[0], (char)len);
		h->out[i] = false;
		h->nr_out--;
		h->got++;
		h->waiting = false;
		if (!(host_random() % 4))
			return;
	}
	h->waiting = !vq->quiet;
}

/*
 * The device takes a buffer, or returns any of those that it holds, or goes to sleep. The first return after the
 * driver began to wait must be an interrupt: without it the driver would wait for ever.
 */
static void device_works(struct history *h)
{
	if (host_random() % 2 && available() != device.taken && h->nr_held < SIZE) {
		h->held[h->nr_held++] = device_takes();
		if (host_random() % 2)
			device_busy();
	} else if (h->nr_held) {
		unsigned which = host_random() % h->nr_held, len = host_random() % (2 * BYTES);
		u16 id = h->held[which];
		bool waited = h->waiting && device.used == device.vq->used_idx;
		struct virtq_desc *desc = &device.vq->desc[id];

		h->held[which] = h->held[--h->nr_held];
		assert_int_equal(desc->len, BYTES);
		assert_int_equal(desc->flags, VIRTQ_DESC_WRITE);
		*(char *)(unsigned long)desc->addr = len > BYTES ? BYTES : len;
		/* Who waits is woken by the first one. */
		if (!device_returns(id, len))
			assert_false(waited);
	} else {
		device_sleeps();
	}
}

/*
 * Random orders of all that both sides can do, until 200,000 buffers have come back: the 16-bit indices wrap around
 * three times. driver_gets(), driver_kicks() and device_works() check each step. In the end there were interrupts, but
 * not one for each buffer.
 */
static void all_orders(u64 features)
{
	struct virtqueue *vq = fresh_queue(features, SIZE);
	struct history h = {.waiting = true};

	while (h.got < BUFFERS) {
		switch (host_random() % 8) {
		case 0:
		case 1:
			driver_adds(vq, &h);
			break;
		case 2:
			driver_kicks(vq);
			break;
		case 3:
			driver_gets(vq, &h);
			break;
		case 4:
			virtqueue_disable_cb(vq);
			h.waiting = false;
			break;
		case 5:
			h.waiting = virtqueue_enable_cb(vq);
			break;
		default:
			device_works(&h);
		}
	}
	assert_int_equal(said, 0);
	assert_true(device.interrupts > 1000 && device.interrupts < BUFFERS);
	virtqueue_free(vq);
}

/* The same with and without event indices, the two ways to say that no interrupt is wanted. */
static void test_all_orders(void **state)
{
	all_orders(0);
	all_orders(VIRTIO_F_EVENT_IDX);
}

/* A device that is at work is not told of each buffer, nor is a driver that is. */
static void test_nobody_is_told_for_nothing(void **state)
{
	struct virtqueue *vq = fresh_queue(VIRTIO_F_EVENT_IDX, SIZE);
	unsigned interrupts = 0;

	device_sleeps();
	for (unsigned i = 0; i < SIZE; i++) {
		virtqueue_add_outbuf(vq, room[i], BYTES, &room[i]);
		virtqueue_kick(vq);
	}
	assert_int_equal(device.notified, 1);
	for (unsigned i = 0; i < SIZE; i++)
		interrupts += device_returns(device_takes(), 0);
	assert_int_equal(interrupts, 1);
	virtqueue_free(vq);
}

static void test_sizes(void **state)
{
	static const unsigned wanted[][2] = {{1, 1}, {3, 2}, {64, 64}, {100, 64}, {128, 128}, {1024, 128}};

	for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct virtqueue *vq = fresh_queue(0, wanted[i][0]);

		assert_int_equal(vq->size, wanted[i][1]);
		assert_true(ring_bytes(vq->size) <= PAGE_SIZE);
		assert_int_equal(
			virtqueue_desc_addr(vq) % 16 | virtqueue_avail_addr(vq) % 2 | virtqueue_used_addr(vq) % 4, 0);
		virtqueue_free(vq);
	}
}

/*
 * The device returns a number beyond the ring, or a buffer that it was not given. The queue must be broken from then
 * on: no buffer comes out, no buffer goes in (-EIO), the device is not notified, and the log has one line.
 */
static void test_lies(void **state)
{
	static const u32 ids[] = {SIZE, 0xffff, 1}; /* beyond the ring; one that was not given */

	for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
		struct virtqueue *vq = fresh_queue(VIRTIO_F_EVENT_IDX, SIZE);

		assert_int_equal(virtqueue_add_outbuf(vq, room[0], BYTES, &room[0]), 0);
		device_takes();
		device_returns(ids[i], 0);
		assert_null(virtqueue_get_buf(vq, NULL));
		assert_true(virtqueue_is_broken(vq) && said == 1);
		assert_false(virtqueue_has_used(vq));
		assert_null(virtqueue_get_buf(vq, NULL));
		assert_int_equal(virtqueue_add_outbuf(vq, room[1], BYTES, &room[1]), -EIO);
		virtqueue_kick(vq);
		assert_int_equal(device.notified, 0);
		/* A task found it before the interrupt came, which must still wake the driver's other tasks. */
		called = 0;
		virtio_queues_interrupt(&virtio);
		assert_int_equal(called, 1);
		virtqueue_free(vq);
	}
}

/* ---- Two threads, each of which waits to be told as soon as it may */

#define ROUNDS	    100000
#define CPU_SECONDS 10 /* it needs two: who waits for ever spins */
#define SECONDS	    60 /* of the clock, in which a busy host may bring less than a tenth of the rounds about */

static unsigned rounds;		/* [atomic] so many there are; lowered once, by the driver's thread */
static unsigned long interrupt; /* [atomic] */

/*
 * Spinning, so that the two meet within nanoseconds: where a full barrier is missing they miss each other
 * soon. The other thread may have no CPU, on a busy host: then it gets this one.
 */
static void wait_for(unsigned long *told, unsigned long *seen)
{
	for (unsigned n = 1; __atomic_load_n(told, __ATOMIC_ACQUIRE) == *seen; n++)
		if (!(n % 4096))
			sched_yield();
	(*seen)++;
}

/* Some nanoseconds, each time others. */
static void dawdle(unsigned *state)
{
	*state = *state * 1664525 + 1013904223;
	for (unsigned n = *state >> 26; n; n--)
		__asm__ volatile("");
}

/* The device as a thread: it sleeps whenever the ring is empty, and returns each buffer at once. */
static void *device_thread(void *unused)
{
	unsigned long seen = 0;
	unsigned state = 1;

	for (unsigned n = 0; n < __atomic_load_n(&rounds, __ATOMIC_RELAXED); n++) {
		while (available() == device.taken) {
			dawdle(&state);
			if (device_sleeps())
				wait_for(&device.wake, &seen);
		}
		if (device_returns(device_takes(), 0))
			__atomic_fetch_add(&interrupt, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/*
 * One buffer at a time, and each side waits for the other as soon as it may. Each side stores, executes a full
 * barrier, and looks; without one of the two barriers both sleep soon, and the timer ends the test.
 */
static void test_nobody_waits_for_ever(void **arg)
{
	struct virtqueue *vq = fresh_queue(VIRTIO_F_EVENT_IDX, SIZE);
	unsigned added = 0, got = 0, state = 2;
	unsigned long seen = 0;
	time_t end = time(NULL) + SECONDS;
	pthread_t thread;

	rounds = ROUNDS;
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = CPU_SECONDS}, NULL);
	assert_int_equal(pthread_create(&thread, NULL, device_thread, NULL), 0);
	while (got < rounds) {
		if (added < rounds && added == got) {
			/* The last one is that which the device waits for. */
			if (added % 256 == 255 && time(NULL) > end)
				__atomic_store_n(&rounds, added + 1, __ATOMIC_RELAXED);
			assert_int_equal(virtqueue_add_outbuf(vq, room[0], 1, &room[added++ % SIZE]), 0);
			virtqueue_kick(vq);
		}
		dawdle(&state);
		virtqueue_disable_cb(vq);
		while (virtqueue_get_buf(vq, NULL))
			got++;
		if (got < added && virtqueue_enable_cb(vq))
			wait_for(&interrupt, &seen);
	}
	pthread_join(thread, NULL);
	setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
	virtqueue_free(vq);
}

/*
 * Buffers of several pieces. A chain needs as many descriptors as it has pieces, all of which come back with it; the
 * device's length is cut to the room of the pieces that it may write. A device that returns the second piece of a
 * chain lies.
 */
static void test_chains(void **arg)
{
	struct virtqueue *vq = fresh_queue(VIRTIO_F_EVENT_IDX, SIZE);
	struct kvec pieces[SIZE + 1];
	unsigned len, state = 7;

	for (unsigned i = 0; i < ARRAY_SIZE(pieces); i++)
		pieces[i] = (struct kvec){room[i], i + 1};
	assert_int_equal(virtqueue_add_chain(vq, pieces, 1, SIZE, &pieces[0]), -ENOSPC);
	for (unsigned round = 0; round < 1000; round++) {
		unsigned out = round % 3 + 1, in = round % 4, left = SIZE - out - in, sum = 0;
		u16 id, at;

		assert_int_equal(virtqueue_add_chain(vq, pieces, out, in, &pieces[round % SIZE]), 0);
		assert_int_equal(virtqueue_add_chain(vq, pieces, left + 1, 0, &room), -ENOSPC);
		if (left)
			assert_int_equal(virtqueue_add_chain(vq, pieces, 0, left, &room), 0);
		assert_int_equal(vq->nr_free, 0);
		at = id = device_takes();
		for (unsigned i = 0; i < out + in; i++, at = vq->desc[at].next) {
			assert_int_equal(vq->desc[at].addr, (unsigned long)room[i]);
			assert_int_equal(vq->desc[at].len, i + 1);
			assert_int_equal(vq->desc[at].flags & VIRTQ_DESC_WRITE, i < out ? 0 : VIRTQ_DESC_WRITE);
			assert_int_equal(vq->desc[at].flags & VIRTQ_DESC_NEXT, i + 1 < out + in ? VIRTQ_DESC_NEXT : 0);
			sum += i < out ? 0 : i + 1;
		}
		if (left && (state = state * 5 + 1) % 2) { /* in the other order */
			device_returns(device_takes(), 1);
			assert_ptr_equal(virtqueue_get_buf(vq, &len), &room);
			left = 0;
		}
		device_returns(id, 1000);
		assert_ptr_equal(virtqueue_get_buf(vq, &len), &pieces[round % SIZE]);
		assert_int_equal(len, sum);
		if (left) {
			device_returns(device_takes(), 1);
			assert_ptr_equal(virtqueue_get_buf(vq, &len), &room);
		}
		assert_int_equal(vq->nr_free, SIZE);
	}
	/* The second piece of a buffer is no buffer. */
	assert_int_equal(virtqueue_add_chain(vq, pieces, 1, 1, &pieces[0]), 0);
	device_returns(vq->desc[device_takes()].next, 0);
	assert_null(virtqueue_get_buf(vq, NULL));
	assert_true(virtqueue_is_broken(vq));
	virtqueue_free(vq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_orders), cmocka_unit_test(test_nobody_is_told_for_nothing),
		cmocka_unit_test(test_sizes),	   cmocka_unit_test(test_lies),
		cmocka_unit_test(test_chains),	   cmocka_unit_test(test_nobody_waits_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

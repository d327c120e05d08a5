/*
 * Split virtqueues (virtio 1.2, 2.7) with event index (2.7.7, 2.7.10).
 *
 * A queue is three arrays in one page. Both sides write where only the other reads, but for the
 * descriptors of a buffer, which change hands with it:
 *
 *     desc[]           buffers: address, length, direction         ours while free, the device's while under way
 *     avail: idx ring  numbers of descriptors for the device       we write, the device reads; used_event behind
 *     used:  idx ring  numbers of descriptors that are done        the device writes, we read; avail_event behind
 *
 * Indices count modulo 2^16 from the beginning; the slot in a ring is the index modulo the ring's
 * size.
 *
 * Four barriers are needed, and each stands where its comment says: release when a buffer is made
 * available (virtqueue_add), acquire when a used one is looked for (virtqueue_has_used), a full one
 * before we ask whether the device wants to be told (kick_prepare), and a full one after we say
 * that we want to be told (want_next). The other side is the device: under QEMU a thread of the
 * host that sees our memory as another CPU does, so barriers between CPUs are enough. A device that
 * asks for more (VIRTIO_F_ORDER_PLATFORM, virtio 1.2, 6) is told that we do not know that, and may
 * refuse. Under TCG on an x86 host a missing barrier never shows.
 */
#include <drivers/virtio.h>
#include <kernel/printk.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <sched/spinlock.h>

#define USED_ALIGN 4

/* Where the parts lie in the page, for a queue of `size` buffers. The descriptors come first. */
static unsigned avail_offset(unsigned size)
{
	return size * sizeof(struct virtq_desc);
}

static unsigned used_offset(unsigned size)
{
	/* The event behind the ring is part of it: one u16 more. */
	return ALIGN(avail_offset(size) + sizeof(struct virtq_avail) + (size + 1) * sizeof(u16), USED_ALIGN);
}

static unsigned ring_bytes(unsigned size)
{
	return used_offset(size) + sizeof(struct virtq_used) + size * sizeof(struct virtq_used_elem) + sizeof(u16);
}

phys_addr_t virtqueue_desc_addr(const struct virtqueue *vq)
{
	return __pa(vq->desc);
}

phys_addr_t virtqueue_avail_addr(const struct virtqueue *vq)
{
	return __pa(vq->avail);
}

phys_addr_t virtqueue_used_addr(const struct virtqueue *vq)
{
	return __pa(vq->used);
}

/* Ours, for the device: interrupt us when the used index goes past it. */
static u16 *used_event(struct virtqueue *vq)
{
	return &vq->avail->ring[vq->size];
}

/* The device's, for us: notify it when the available index goes past it. */
static const u16 *avail_event(const struct virtqueue *vq)
{
	return (const u16 *)&vq->used->ring[vq->size];
}

static bool has_event_idx(const struct virtqueue *vq)
{
	return virtio_has_feature(vq->dev, VIRTIO_F_EVENT_IDX);
}

/*
 * All descriptors are free: a list through their `next`. A chain is cut off the front of that list, so the links that
 * the device follows are in place already, and VIRTQ_DESC_NEXT says how far they count.
 */
static void link_free(struct virtqueue *vq)
{
	for (unsigned i = 0; i < vq->size; i++)
		vq->desc[i].next = i + 1;
	vq->nr_free = vq->size;
}

/* The rings take one page, which bounds the size at 128. */
static struct virtqueue *virtqueue_alloc(unsigned size)
{
	struct virtqueue *vq = kzalloc(sizeof(*vq), GFP_KERNEL);
	char *ring = get_zeroed_page(GFP_KERNEL);

	if (vq)
		vq->tokens = kcalloc(size, sizeof(*vq->tokens), GFP_KERNEL);
	if (!vq || !ring || !vq->tokens) {
		if (vq)
			kfree(vq->tokens);
		kfree(vq);
		free_page(ring);
		return NULL;
	}
	vq->size = size;
	vq->desc = (void *)ring;
	vq->avail = (void *)(ring + avail_offset(size));
	vq->used = (void *)(ring + used_offset(size));
	spin_lock_init(&vq->lock);
	link_free(vq);
	return vq;
}

static void virtqueue_free(struct virtqueue *vq)
{
	free_page(vq->desc);
	kfree(vq->tokens);
	kfree(vq);
}

/* The largest power of 2 that device, caller and a page allow; 0: the device has no such queue. */
static unsigned fitting_size(unsigned max, unsigned wanted)
{
	unsigned size = 1;

	max = min(max, wanted);
	if (!max)
		return 0;
	while (size * 2 <= max && ring_bytes(size * 2) <= PAGE_SIZE)
		size *= 2;
	return size;
}

/*
 * The device is told of the queue before it is in dev->queues. nr_queues is stored with release: an
 * interrupt that sees the number sees a whole queue.
 */
struct virtqueue *virtio_make_queue(struct virtio_device *dev, unsigned index, unsigned max, virtqueue_callback_t cb,
				    void *private)
{
	unsigned size = fitting_size(dev->ops->queue_max(dev, index), max);
	struct virtqueue *vq;

	if (!size || dev->nr_queues == ARRAY_SIZE(dev->queues))
		return NULL;
	vq = virtqueue_alloc(size);
	if (!vq)
		return NULL;
	vq->dev = dev;
	vq->index = index;
	vq->callback = cb;
	vq->private = private;
	vq->quiet = !cb;
	if (!cb)
		vq->avail->flags = VIRTQ_AVAIL_NO_INTERRUPT;
	if (dev->ops->queue_enable(vq)) {
		virtqueue_free(vq);
		return NULL;
	}
	dev->queues[dev->nr_queues] = vq;
	smp_store_release(&dev->nr_queues, dev->nr_queues + 1);
	return vq;
}

/*
 * [v] Take descriptors for the pieces off the free list and fill them in. There are enough of them. Returns the first
 * one, which stands for the buffer.
 */
static u16 fill_chain(struct virtqueue *vq, const struct kvec *pieces, unsigned out, unsigned in)
{
	u16 head = vq->free_head;

	for (unsigned i = 0; i < out + in; i++) {
		struct virtq_desc *desc = &vq->desc[vq->free_head];

		desc->addr = __pa(pieces[i].iov_base);
		desc->len = pieces[i].iov_len;
		desc->flags = (i < out ? 0 : VIRTQ_DESC_WRITE) | (i + 1 < out + in ? VIRTQ_DESC_NEXT : 0);
		vq->free_head = desc->next;
	}
	vq->nr_free -= out + in;
	return head;
}

/*
 * The available index is stored with release (2.7.13.3): a device that sees it sees the descriptors, the ring's entry
 * and what is in the buffer. For a buffer that the device is to write, release also keeps our last reads of it before:
 * a page of a port is copied out, then given back.
 */
int virtqueue_add_chain(struct virtqueue *vq, const struct kvec *pieces, unsigned out, unsigned in, void *token)
{
	unsigned long flags;
	int err = 0;
	u16 id;

	spin_lock_irqsave(&vq->lock, flags);
	if (vq->broken) {
		err = -EIO;
	} else if (vq->nr_free < out + in) {
		err = -ENOSPC;
	} else {
		id = fill_chain(vq, pieces, out, in);
		vq->tokens[id] = token;
		vq->avail->ring[vq->avail_idx & (vq->size - 1)] = id;
		/* Release: a device that sees the index sees all of the above. */
		smp_store_release(&vq->avail->idx, ++vq->avail_idx);
	}
	spin_unlock_irqrestore(&vq->lock, flags);
	return err;
}

int virtqueue_add_outbuf(struct virtqueue *vq, void *buf, unsigned len, void *token)
{
	return virtqueue_add_chain(vq, &(struct kvec){buf, len}, 1, 0, token);
}

int virtqueue_add_inbuf(struct virtqueue *vq, void *buf, unsigned len, void *token)
{
	return virtqueue_add_chain(vq, &(struct kvec){buf, len}, 0, 1, token);
}

/*
 * Did an index that went from `old` to `new` go past `event` (2.7.7.2)? In 16 bits, so it works
 * across the wrap.
 */
static bool went_past(u16 event, u16 new, u16 old)
{
	return (u16)(new - event - 1) < (u16)(new - old);
}

/*
 * [v] Must the device be notified of what was added? Between our index and this look stands a full
 * barrier. The device stores its event, then looks at the index again before it sleeps. So one of
 * the two sees the other: no store may pass a later load on either side (2.7.13.4.1).
 *
 * kicked_idx may be older than what the device was told by another CPU's kick at the same time.
 * Both hold the lock while they decide, so each index is passed by one of them, and too large a
 * range only notifies once too often.
 */
static bool kick_prepare(struct virtqueue *vq)
{
	u16 old = vq->kicked_idx;

	smp_mb();
	vq->kicked_idx = vq->avail_idx;
	if (vq->broken)
		return false;
	if (has_event_idx(vq))
		return went_past(READ_ONCE(*avail_event(vq)), vq->avail_idx, old);
	return !(READ_ONCE(vq->used->flags) & VIRTQ_USED_NO_NOTIFY);
}

/*
 * The notification is a store to the device that must not pass the index: writel on aarch64 begins
 * with a barrier, x86_64 keeps stores in order.
 */
void virtqueue_kick(struct virtqueue *vq)
{
	unsigned long flags;
	bool notify;

	spin_lock_irqsave(&vq->lock, flags);
	notify = kick_prepare(vq);
	spin_unlock_irqrestore(&vq->lock, flags);
	/* Without the lock: an emulated device may do all its work here, and that with our interrupts on. */
	if (notify)
		vq->dev->ops->notify(vq);
}

/*
 * The used index is loaded with acquire: the entry, and what the device wrote into the buffer, are
 * read after it (2.7.14).
 */
bool virtqueue_has_used(const struct virtqueue *vq)
{
	return smp_load_acquire(&vq->used->idx) != READ_ONCE(vq->used_idx) && !READ_ONCE(vq->broken);
}

/*
 * [v] Put a buffer's descriptors back at the front of the free list, as the chain that they are. Returns how many bytes
 * the device could write. Only the device's side of the rings is doubted: descriptors are ours, and it only reads them.
 */
static unsigned free_chain(struct virtqueue *vq, u16 head)
{
	struct virtq_desc *desc = &vq->desc[head];
	unsigned room = 0;

	for (;; desc = &vq->desc[desc->next]) {
		if (desc->flags & VIRTQ_DESC_WRITE)
			room += desc->len;
		vq->nr_free++;
		if (!(desc->flags & VIRTQ_DESC_NEXT))
			break;
	}
	desc->next = vq->free_head;
	vq->free_head = head;
	return room;
}

/*
 * [v] Take the next used buffer back: returns its token and frees its descriptors. Nothing that a
 * device says is believed: an index beyond the ring, or a buffer that it does not have, ends the
 * queue, and NULL is returned. A length beyond the buffer is cut.
 */
static void *virtqueue_take_used(struct virtqueue *vq, unsigned *len)
{
	const struct virtq_used_elem *elem = &vq->used->ring[vq->used_idx & (vq->size - 1)];
	u32 id = READ_ONCE(elem->id);
	unsigned room;
	void *token = id < vq->size ? vq->tokens[id] : NULL;

	if (!token) {
		vq->broken = true;
		pr_err("virtio: queue %u of %s: the device returns buffer %u, which it does not have\n", vq->index,
		       vq->dev->name, id);
		return NULL;
	}
	room = free_chain(vq, id);
	if (len)
		*len = min(READ_ONCE(elem->len), room);
	vq->tokens[id] = NULL;
	WRITE_ONCE(vq->used_idx, vq->used_idx + 1);
	return token;
}

/*
 * [v] Ask to be interrupted for the next buffer that is used. We store the event, and after a full
 * barrier the used index is looked at: the mirror image of kick_prepare(). In virtqueue_get_buf()
 * that look is the caller's next call. A caller that takes one buffer and goes away (a read that
 * has enough) leaves the event right for the one after. If that one is there already, poll's look,
 * which comes after the barrier, finds it.
 */
static void want_next(struct virtqueue *vq)
{
	if (has_event_idx(vq))
		smp_store_mb(*used_event(vq), vq->used_idx);
	else
		smp_store_mb(vq->avail->flags, 0);
}

void *virtqueue_get_buf(struct virtqueue *vq, unsigned *len)
{
	unsigned long flags;
	void *token = NULL;

	spin_lock_irqsave(&vq->lock, flags);
	if (virtqueue_has_used(vq)) {
		token = virtqueue_take_used(vq, len);
		/* Before the caller looks again and finds nothing: what comes after that look interrupts. */
		if (token && !vq->quiet && has_event_idx(vq))
			want_next(vq);
	}
	spin_unlock_irqrestore(&vq->lock, flags);
	return token;
}

/*
 * The event index has no value for "never". The index that has just been passed is the farthest
 * away: it comes again after 65,535 more buffers.
 */
void virtqueue_disable_cb(struct virtqueue *vq)
{
	unsigned long flags;

	spin_lock_irqsave(&vq->lock, flags);
	vq->quiet = true;
	if (has_event_idx(vq))
		WRITE_ONCE(*used_event(vq), (u16)(vq->used_idx - 1));
	else
		WRITE_ONCE(vq->avail->flags, VIRTQ_AVAIL_NO_INTERRUPT);
	spin_unlock_irqrestore(&vq->lock, flags);
}

/* The look comes after want_next()'s barrier, so a buffer is either found here or interrupts. */
bool virtqueue_enable_cb(struct virtqueue *vq)
{
	unsigned long flags;
	bool nothing;

	spin_lock_irqsave(&vq->lock, flags);
	vq->quiet = false;
	want_next(vq);
	nothing = !virtqueue_has_used(vq);
	spin_unlock_irqrestore(&vq->lock, flags);
	return nothing;
}

bool virtqueue_is_broken(struct virtqueue *vq)
{
	return READ_ONCE(vq->broken);
}

/*
 * Call back for each queue that has something. Looking without the lock is enough: if it finds
 * nothing because another CPU has just taken the last buffer, that CPU has it. A queue that is broken
 * has nothing, and calls back: a task may have found it broken before this interrupt came, and the
 * driver's other tasks sleep until they are told.
 */
void virtio_queues_interrupt(struct virtio_device *dev)
{
	unsigned n = smp_load_acquire(&dev->nr_queues);

	for (unsigned i = 0; i < n; i++) {
		struct virtqueue *vq = dev->queues[i];

		if (vq->callback && (virtqueue_has_used(vq) || virtqueue_is_broken(vq)))
			vq->callback(vq);
	}
}

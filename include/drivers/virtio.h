/*
 * Virtio devices (OASIS, Virtual I/O Device Version 1.2; sections are cited from there): a device is found by
 * a transport (virtio_mmio.c, virtio_pci.c), probed by the driver that names its id, and then talks through
 * virtqueues. Only the modern interface (VIRTIO_F_VERSION_1) is known here: all fields are little endian, as
 * our machines are.
 */
#pragma once

#include <lib/kvec.h>
#include <lib/types.h>
#include <sched/spinlock_types.h>

/* Device ids (5). */
#define VIRTIO_ID_CONSOLE 3
#define VIRTIO_ID_ENTROPY 4
#define VIRTIO_ID_9P	  9

/* Device status (2.1). */
#define VIRTIO_STATUS_ACKNOWLEDGE 1
#define VIRTIO_STATUS_DRIVER	  2
#define VIRTIO_STATUS_DRIVER_OK	  4
#define VIRTIO_STATUS_FEATURES_OK 8
#define VIRTIO_STATUS_FAILED	  128

/* Features of every device (6). */
#define VIRTIO_F_EVENT_IDX BIT(29)
#define VIRTIO_F_VERSION_1 BIT(32)

/* The split virtqueue in memory (2.7). */
struct virtq_desc {
	u64 addr; /* physical */
	u32 len;
	u16 flags, next;
};
#define VIRTQ_DESC_NEXT	 1 /* `next` leads to the buffer's next piece */
#define VIRTQ_DESC_WRITE 2 /* the device writes it */
struct virtq_avail {
	u16 flags, idx;
	u16 ring[]; /* then, behind the last one, used_event */
};
struct virtq_used_elem {
	u32 id, len;
};
struct virtq_used {
	u16 flags, idx;
	struct virtq_used_elem ring[]; /* then, behind the last one, avail_event */
};
#define VIRTQ_USED_NO_NOTIFY	 1
#define VIRTQ_AVAIL_NO_INTERRUPT 1

struct virtio_device;
struct virtqueue;
/* Context: hard interrupt, or whoever found that something had come. No lock held. */
typedef void (*virtqueue_callback_t)(struct virtqueue *vq);

/*
 * One queue. A buffer is one or more pieces of the linear map, with a descriptor each; `token` is the driver's name
 * for it. Locks: v lock; I immutable once made; D the device reads or writes it at any time.
 */
struct virtqueue {
	struct virtio_device *dev;     /* [I] */
	unsigned index;		       /* [I] the device's number for it */
	unsigned size;		       /* [I] a power of 2 */
	virtqueue_callback_t callback; /* [I] NULL: the driver looks by itself */
	void *private;		       /* [I] the driver's */
	void *notify_at;	       /* [I] the transport's */
	struct virtq_desc *desc;       /* [v, D] */
	struct virtq_avail *avail;     /* [v writes, D reads] */
	struct virtq_used *used;       /* [D writes; only the idx is looked at without v] */
	spinlock_t lock;	       /* with interrupts off; nothing is called under it */
	void **tokens;	  /* [v] of the buffers that the device has, by their first descriptor; else NULL */
	unsigned nr_free; /* [v] descriptors */
	u16 free_head;	  /* [v] the first of them; they are linked by `next` */
	u16 avail_idx;	  /* [v] buffers made available since the beginning, modulo 2^16 */
	u16 kicked_idx;	  /* [v] of these, about how many the device was last told */
	u16 used_idx;	  /* [v writes] used buffers taken back since the beginning, modulo 2^16 */
	bool quiet;	  /* [v] no callbacks wanted */
	bool broken;	  /* [v] the device has answered nonsense: the queue is dead */
};

/* What differs between the transports. Context: thread, but for notify: any. */
struct virtio_transport {
	const char *name;
	u8 (*get_status)(struct virtio_device *dev);
	void (*set_status)(struct virtio_device *dev, u8 status); /* 0: returns when the device has reset itself */
	u64 (*get_features)(struct virtio_device *dev);
	void (*set_features)(struct virtio_device *dev, u64 features);
	u32 (*read_config)(struct virtio_device *dev, unsigned offset);	  /* a 32-bit field of the device's own part */
	u8 (*read_config8)(struct virtio_device *dev, unsigned offset);	  /* one byte of it */
	unsigned (*queue_max)(struct virtio_device *dev, unsigned index); /* its largest size, 0: there is none */
	int (*queue_enable)(struct virtqueue *vq); /* tell the device where it is; sets notify_at */
	void (*notify)(struct virtqueue *vq);
};

#define VIRTIO_MAX_QUEUES 68 /* a console with 32 ports has 66 */

/* Locks: I immutable after probe. */
struct virtio_device {
	u32 id;					     /* [I] VIRTIO_ID_* */
	u64 features;				     /* [I] what both sides have agreed on */
	const struct virtio_transport *ops;	     /* [I] */
	const char *name;			     /* [I] of its driver, in /proc/interrupts */
	void *private;				     /* [I] the driver's */
	unsigned nr_queues;			     /* [I] release; an interrupt may come while more are made */
	struct virtqueue *queues[VIRTIO_MAX_QUEUES]; /* [I] in the order in which they were made */
};

struct virtio_driver {
	const char *name;
	u32 id;	      /* VIRTIO_ID_* */
	u64 features; /* that it understands */
	/*
	 * Make queues, then virtio_device_ready(). 0 or -errno, which is reported; before virtio_device_ready
	 * only. Thread context, boot.
	 */
	int (*probe)(struct virtio_device *dev);
};
#define REGISTER_VIRTIO_DRIVER(d) REGISTER_IN(virtio_drivers, d)

/* ---- For transports */

/*
 * A transport found a device and has filled `id` and `ops`: find its driver and let it probe.
 * Returns 0 or -errno, which has been reported. Context: thread, boot.
 */
int virtio_device_add(struct virtio_device *dev);
/* Buffers may have been used: calls back for each queue that has some. Hard interrupt. */
void virtio_queues_interrupt(struct virtio_device *dev);
/* Where the parts of a queue lie, for its device. */
phys_addr_t virtqueue_desc_addr(const struct virtqueue *vq);
phys_addr_t virtqueue_avail_addr(const struct virtqueue *vq);
phys_addr_t virtqueue_used_addr(const struct virtqueue *vq);

/* ---- For drivers */

/*
 * Make queue `index` of the device with at most `max` buffers, rounded down to a power of 2. `cb`
 * is called from the interrupt when buffers were used; NULL: never. Returns NULL when the device
 * has no such queue or there is no memory. Context: thread, boot, before virtio_device_ready().
 */
struct virtqueue *virtio_make_queue(struct virtio_device *dev, unsigned index, unsigned max, virtqueue_callback_t cb,
				    void *private);
/* All queues are made: the device may begin, and interrupts may come from here on. */
void virtio_device_ready(struct virtio_device *dev);
static inline bool virtio_has_feature(const struct virtio_device *dev, u64 feature)
{
	return dev->features & feature;
}

/*
 * Give the device len bytes at buf (linear map) to read (outbuf) or to write (inbuf). They are the
 * device's until virtqueue_get_buf() returns `token`, which is not NULL. The device learns of them
 * by virtqueue_kick(); several buffers may be added before one kick. Returns 0, -ENOSPC (full),
 * -EIO (broken). Any context but nmi.
 */
int virtqueue_add_outbuf(struct virtqueue *vq, void *buf, unsigned len, void *token);
int virtqueue_add_inbuf(struct virtqueue *vq, void *buf, unsigned len, void *token);
/*
 * The same for one buffer of several pieces: `out` that the device reads, then `in` that it writes, in this order.
 * They come back together, under one token. -ENOSPC: not enough descriptors are free now.
 */
int virtqueue_add_chain(struct virtqueue *vq, const struct kvec *pieces, unsigned out, unsigned in, void *token);
/* Tell the device of what was added, if it wants to be told. Any context but nmi. */
void virtqueue_kick(struct virtqueue *vq);
/*
 * A buffer that the device is done with: its token, and in *len (may be NULL) how many bytes it has written,
 * never more than there was room for. NULL: none. Any context but nmi.
 */
void *virtqueue_get_buf(struct virtqueue *vq, unsigned *len);
/* Would virtqueue_get_buf find one now? Any context. */
bool virtqueue_has_used(const struct virtqueue *vq);
/*
 * No more callbacks; a hint only: one may still come, also while this function runs, and an interrupt for another queue
 * of the device brings one, too. So a callback must find out by itself whether there is something to do. Any context
 * but nmi.
 */
void virtqueue_disable_cb(struct virtqueue *vq);
/*
 * Callbacks again. Returns false if something came before they were on: there may be no callback
 * for that, so the caller must look at once. Any context but nmi.
 */
bool virtqueue_enable_cb(struct virtqueue *vq);
/* It will never return anything again. Each interrupt of the device calls back from then on. Any context. */
bool virtqueue_is_broken(struct virtqueue *vq);

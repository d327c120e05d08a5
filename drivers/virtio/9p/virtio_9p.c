/*
 * A folder of the host (virtio 1.2 has no chapter on it; the device is QEMU's, number 9): one queue, on which each
 * buffer is a message of 9P for the device to read and room for the reply. The device's configuration is its name, the
 * mount tag. kernel/fs/9p speaks the protocol; this is how its messages get to the server.
 */
#include <drivers/virtio.h>
#include <fs/9p.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/slab.h>

#define VIRTIO_9P_MOUNT_TAG BIT(0) /* feature: the device has a name */
#define CONFIG_TAG_LEN	    0	   /* u16 */
#define CONFIG_TAG	    2
#define MAX_TAG		    255
#define MAX_PIECES	    128 /* descriptors; a request takes two or three */

/* Immutable once registered. */
struct virtio_9p {
	struct p9_channel chan;
	struct virtqueue *vq;
	char tag[MAX_TAG + 1];
};

static int p9_virtio_submit(struct p9_channel *chan, const struct kvec *pieces, unsigned out, unsigned in,
			    struct p9_req *req)
{
	struct virtio_9p *v = container_of(chan, struct virtio_9p, chan);
	int err = virtqueue_add_chain(v->vq, pieces, out, in, req);

	if (!err)
		virtqueue_kick(v->vq);
	return err;
}

static const struct p9_channel_ops virtio_9p_ops = {.submit = p9_virtio_submit};

/* Hard interrupt. Several CPUs may be here at once; each takes other requests. */
static void p9_virtio_done(struct virtqueue *vq)
{
	struct virtio_9p *v = vq->private;
	struct p9_req *req;
	unsigned len;

	while ((req = virtqueue_get_buf(vq, &len)))
		p9_complete(req, len);
	if (virtqueue_is_broken(vq))
		p9_channel_broken(&v->chan);
}

/* Byte by byte, since the name may end anywhere in a word. 0, or -EINVAL: it has none, or one that is too long. */
static int read_tag(struct virtio_device *dev, char *tag)
{
	unsigned len = dev->ops->read_config8(dev, CONFIG_TAG_LEN) | dev->ops->read_config8(dev, CONFIG_TAG_LEN + 1)
									     << 8;

	if (!virtio_has_feature(dev, VIRTIO_9P_MOUNT_TAG) || !len || len > MAX_TAG)
		return -EINVAL;
	for (unsigned i = 0; i < len; i++)
		tag[i] = dev->ops->read_config8(dev, CONFIG_TAG + i);
	tag[len] = '\0';
	return 0;
}

/*
 * After virtio_device_ready() the memory is the device's, so nothing fails from there on. The channel is whole before:
 * a device that breaks the rules may interrupt at once, and p9_channel_broken() wakes the tasks that wait in it. It
 * is not mounted in between, as drivers are probed before init runs.
 */
static int p9_virtio_probe(struct virtio_device *dev)
{
	struct virtio_9p *v = kzalloc(sizeof(*v), GFP_KERNEL);
	int err = v ? read_tag(dev, v->tag) : -ENOMEM;

	if (!err) {
		v->vq = virtio_make_queue(dev, 0, MAX_PIECES, p9_virtio_done, v);
		err = v->vq ? 0 : -ENOMEM;
	}
	if (err) {
		kfree(v);
		return err;
	}
	v->chan.tag = v->tag;
	v->chan.ops = &virtio_9p_ops;
	p9_register_channel(&v->chan);
	virtio_device_ready(dev);
	pr_info("virtio-9p: a folder of the host, mount tag '%s'\n", v->tag);
	return 0;
}

static const struct virtio_driver p9_driver = {
	.name = "virtio-9p",
	.id = VIRTIO_ID_9P,
	.features = VIRTIO_9P_MOUNT_TAG,
	.probe = p9_virtio_probe,
};
REGISTER_VIRTIO_DRIVER(p9_driver);

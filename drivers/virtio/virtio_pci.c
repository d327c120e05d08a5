/*
 * Virtio devices on PCI (virtio 1.2, 4.1): a transport. Vendor capabilities say where in which BAR
 * each part of the interface lies:
 *
 *     capability: type | BAR | offset | length     types: common configuration, notifications, ISR, device's own
 *
 * Transitional devices (ids from 0x1000) have these parts, too; their legacy interface is left
 * alone. All queues share one MSI-X vector, so the ISR part, which would say why an interrupt came,
 * is not needed. Only probes use the selector registers, in one thread, so they need no lock.
 */
#include <arch/processor.h>
#include <asm/io.h>
#include <drivers/pci.h>
#include <drivers/virtio.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/slab.h>

#define VIRTIO_VENDOR	    0x1af4
#define DEVICE_TRANSITIONAL 0x1000 /* + something else than the virtio id, which is the subsystem id then */
#define DEVICE_MODERN	    0x1040 /* + the virtio id */
#define DEVICE_MODERN_END   0x107f
#define PCI_SUBSYSTEM_ID    0x2e

/* A vendor capability (4.1.4). */
#define CAP_TYPE	 3
#define CAP_BAR		 4
#define CAP_OFFSET	 8
#define CAP_LENGTH	 12
#define CAP_NOTIFY_SCALE 16

enum cap_type {
	CAP_COMMON = 1,
	CAP_NOTIFY,
	CAP_ISR,
	CAP_DEVICE,
	NR_PARTS,
};

/* Common configuration (4.1.4.3). Fields are accessed by their width, 64-bit ones as two halves. */
#define COMMON_DEVICE_FEATURE_SELECT 0x00
#define COMMON_DEVICE_FEATURE	     0x04
#define COMMON_DRIVER_FEATURE_SELECT 0x08
#define COMMON_DRIVER_FEATURE	     0x0c
#define COMMON_STATUS		     0x14 /* u8 */
#define COMMON_QUEUE_SELECT	     0x16 /* u16, as all up to 0x1e */
#define COMMON_QUEUE_SIZE	     0x18
#define COMMON_QUEUE_VECTOR	     0x1a
#define COMMON_QUEUE_ENABLE	     0x1c
#define COMMON_QUEUE_NOTIFY_OFF	     0x1e
#define COMMON_QUEUE_DESC	     0x20
#define COMMON_QUEUE_DRIVER	     0x28
#define COMMON_QUEUE_DEVICE	     0x30
#define COMMON_SIZE		     0x38

/*
 * All queues share the first entry of the MSI-X table; changes of configuration make no interrupt
 * (VIRTIO_MSI_NO_VECTOR).
 */
#define QUEUES_VECTOR 0

/* Immutable once made. */
struct virtio_pci_device {
	struct virtio_device dev;
	struct pci_dev *pci;
	void *part[NR_PARTS]; /* mapped, by enum cap_type */
	u32 part_size[NR_PARTS];
	u32 notify_scale;
};

static struct virtio_pci_device *pci_of(struct virtio_device *dev)
{
	return container_of(dev, struct virtio_pci_device, dev);
}

static void *common_of(struct virtio_device *dev)
{
	return pci_of(dev)->part[CAP_COMMON];
}

static u8 vp_get_status(struct virtio_device *dev)
{
	return readb(common_of(dev) + COMMON_STATUS);
}

/* A reset is over when the status reads as 0 (4.1.4.3.2). */
static void vp_set_status(struct virtio_device *dev, u8 status)
{
	writeb(status, common_of(dev) + COMMON_STATUS);
	while (!status && vp_get_status(dev))
		cpu_relax();
}

static u64 vp_get_features(struct virtio_device *dev)
{
	void *common = common_of(dev);
	u64 features;

	writel(1, common + COMMON_DEVICE_FEATURE_SELECT);
	features = (u64)readl(common + COMMON_DEVICE_FEATURE) << 32;
	writel(0, common + COMMON_DEVICE_FEATURE_SELECT);
	return features | readl(common + COMMON_DEVICE_FEATURE);
}

static void vp_set_features(struct virtio_device *dev, u64 features)
{
	void *common = common_of(dev);

	for (unsigned half = 0; half < 2; half++) {
		writel(half, common + COMMON_DRIVER_FEATURE_SELECT);
		writel(features >> 32 * half, common + COMMON_DRIVER_FEATURE);
	}
}

/*
 * 0 for what lies beyond the device's part: a device without a configuration of its own may have
 * none.
 */
static u32 vp_read_config(struct virtio_device *dev, unsigned offset)
{
	struct virtio_pci_device *vp = pci_of(dev);

	return offset + sizeof(u32) <= vp->part_size[CAP_DEVICE] ? readl(vp->part[CAP_DEVICE] + offset) : 0;
}

static u8 vp_read_config8(struct virtio_device *dev, unsigned offset)
{
	struct virtio_pci_device *vp = pci_of(dev);

	return offset < vp->part_size[CAP_DEVICE] ? readb(vp->part[CAP_DEVICE] + offset) : 0;
}

static unsigned vp_queue_max(struct virtio_device *dev, unsigned index)
{
	void *common = common_of(dev);

	writew(index, common + COMMON_QUEUE_SELECT);
	return readw(common + COMMON_QUEUE_ENABLE) ? 0 : readw(common + COMMON_QUEUE_SIZE);
}

static void write_address(void *at, phys_addr_t address)
{
	writel(address, at);
	writel(address >> 32, at + 4);
}

/*
 * Tell the device where the queue is. The notification's offset comes from the device, so it is
 * compared with what is mapped. If the device has no room for the vector, it reads back as another
 * one (4.1.5.1.2). Returns 0, -EINVAL, -ENOSPC.
 */
static int vp_queue_enable(struct virtqueue *vq)
{
	struct virtio_pci_device *vp = pci_of(vq->dev);
	void *common = vp->part[CAP_COMMON];
	u64 notify;

	writew(vq->index, common + COMMON_QUEUE_SELECT);
	notify = (u64)readw(common + COMMON_QUEUE_NOTIFY_OFF) * vp->notify_scale;
	if (notify + sizeof(u16) > vp->part_size[CAP_NOTIFY])
		return -EINVAL;
	vq->notify_at = vp->part[CAP_NOTIFY] + notify;
	writew(QUEUES_VECTOR, common + COMMON_QUEUE_VECTOR);
	if (readw(common + COMMON_QUEUE_VECTOR) != QUEUES_VECTOR)
		return -ENOSPC;
	writew(vq->size, common + COMMON_QUEUE_SIZE);
	write_address(common + COMMON_QUEUE_DESC, virtqueue_desc_addr(vq));
	write_address(common + COMMON_QUEUE_DRIVER, virtqueue_avail_addr(vq));
	write_address(common + COMMON_QUEUE_DEVICE, virtqueue_used_addr(vq));
	writew(1, common + COMMON_QUEUE_ENABLE);
	return 0;
}

static void vp_notify(struct virtqueue *vq)
{
	writew(vq->index, vq->notify_at);
}

static const struct virtio_transport vp_transport = {
	.name = "virtio-pci",
	.get_status = vp_get_status,
	.set_status = vp_set_status,
	.get_features = vp_get_features,
	.set_features = vp_set_features,
	.read_config = vp_read_config,
	.read_config8 = vp_read_config8,
	.queue_max = vp_queue_max,
	.queue_enable = vp_queue_enable,
	.notify = vp_notify,
};

/* A message needs no acknowledgement and is never shared, so there is nothing to ask the device. */
static irqreturn_t vp_interrupt(int irq, void *data)
{
	struct virtio_pci_device *vp = data;

	virtio_queues_interrupt(&vp->dev);
	return IRQ_HANDLED;
}

/*
 * Map the part of the interface that a capability describes. A part may be offered several times,
 * in order of preference (4.1.4.1): the first that can be mapped is taken.
 */
static void map_part(struct virtio_pci_device *vp, unsigned cap)
{
	unsigned type = pci_read8(vp->pci, cap + CAP_TYPE);
	u32 size = pci_read32(vp->pci, cap + CAP_LENGTH);

	if (type < CAP_COMMON || type >= NR_PARTS || type == CAP_ISR || vp->part[type])
		return;
	vp->part[type] =
		pci_map_bar(vp->pci, pci_read8(vp->pci, cap + CAP_BAR), pci_read32(vp->pci, cap + CAP_OFFSET), size);
	vp->part_size[type] = size;
	if (type == CAP_NOTIFY)
		vp->notify_scale = pci_read32(vp->pci, cap + CAP_NOTIFY_SCALE);
}

/*
 * Map all parts. Returns 0, or -ENODEV when the modern interface is not complete. The device's own
 * part may be missing: an entropy device has none.
 */
static int map_parts(struct virtio_pci_device *vp)
{
	for (unsigned cap = 0; (cap = pci_find_capability(vp->pci, PCI_CAP_ID_VENDOR, cap));)
		map_part(vp, cap);
	if (!vp->part[CAP_COMMON] || vp->part_size[CAP_COMMON] < COMMON_SIZE || !vp->part[CAP_NOTIFY])
		return -ENODEV;
	if (!vp->part[CAP_DEVICE])
		vp->part_size[CAP_DEVICE] = 0;
	return 0;
}

/*
 * The kind of device: from the PCI device id if it is modern, from the subsystem id if it is
 * transitional (4.1.2.1).
 */
static u32 virtio_id(const struct pci_dev *pci)
{
	return pci->device > DEVICE_MODERN ? pci->device - DEVICE_MODERN : pci_read16(pci, PCI_SUBSYSTEM_ID);
}

/* The device is reset before its interrupt is asked for: firmware may have left it running. */
static int vp_probe(struct pci_dev *pci)
{
	struct virtio_pci_device *vp = kzalloc(sizeof(*vp), GFP_KERNEL);
	int err;

	if (!vp)
		return -ENOMEM;
	vp->pci = pci;
	vp->dev.id = virtio_id(pci);
	vp->dev.ops = &vp_transport;
	if (map_parts(vp)) {
		pr_err("virtio-pci: device of kind %u has the legacy interface only: not used (QEMU: "
		       "disable-modern=off)\n",
		       vp->dev.id);
		kfree(vp);
		return 0;
	}
	vp_set_status(&vp->dev, 0);
	err = pci_request_msix(pci, vp_interrupt, "virtio", vp);
	if (err) {
		kfree(vp);
		return err;
	}
	virtio_device_add(&vp->dev); /* it has said what is wrong; the interrupt stays, for a device that is
					silent now */
	return 0;
}

static const struct pci_driver vp_driver = {
	.name = "virtio-pci",
	.vendor = VIRTIO_VENDOR,
	.first_device = DEVICE_TRANSITIONAL,
	.last_device = DEVICE_MODERN_END,
	.probe = vp_probe,
};
REGISTER_PCI_DRIVER(vp_driver);

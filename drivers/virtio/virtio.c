/*
 * Virtio devices and their drivers: how the two find each other and agree (virtio 1.2, 3.1.1).
 *
 *     reset (0) -> ACKNOWLEDGE -> DRIVER -> features chosen -> FEATURES_OK -> queues made -> DRIVER_OK
 *                                                                          \-> FAILED
 *
 * Each step sets one more bit of the device's status. A transport (virtio_mmio.c, virtio_pci.c)
 * calls virtio_device_add() in a thread at boot; no locks are needed, since the device is not to be
 * found yet.
 */
#include <drivers/virtio.h>
#include <kernel/printk.h>
#include <lib/errno.h>

DECLARE_TABLE(virtio_drivers, const struct virtio_driver);

static const struct virtio_driver *find_driver(u32 id)
{
	const struct virtio_driver *drv;

	for_each_in_table(virtio_drivers, drv)
		if (drv->id == id)
			return drv;
	return NULL;
}

static void add_status(struct virtio_device *dev, u8 bits)
{
	dev->ops->set_status(dev, dev->ops->get_status(dev) | bits);
}

/*
 * Choose the features that the device offers and that we understand: those of the driver, and the
 * two that concern every queue. Returns 0; -ENODEV when the device has only the legacy interface;
 * -EINVAL when it refuses its own offer, which it says by not keeping FEATURES_OK.
 */
static int agree_on_features(struct virtio_device *dev, u64 understood)
{
	dev->features = dev->ops->get_features(dev) & (understood | VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX);
	if (!virtio_has_feature(dev, VIRTIO_F_VERSION_1))
		return -ENODEV;
	dev->ops->set_features(dev, dev->features);
	add_status(dev, VIRTIO_STATUS_FEATURES_OK);
	return dev->ops->get_status(dev) & VIRTIO_STATUS_FEATURES_OK ? 0 : -EINVAL;
}

/*
 * The order of steps is the specification's (3.1.1): reset, ACKNOWLEDGE, DRIVER, features, then the driver sets up
 * queues. FAILED tells the device that we gave up. -ENODEV: no driver; -EINVAL; the driver's errors.
 */
int virtio_device_add(struct virtio_device *dev)
{
	const struct virtio_driver *drv = find_driver(dev->id);
	int err;

	if (!drv) {
		pr_info("%s: no driver for a virtio device of kind %u\n", dev->ops->name, dev->id);
		return -ENODEV;
	}
	dev->name = drv->name;
	dev->ops->set_status(dev, 0);
	add_status(dev, VIRTIO_STATUS_ACKNOWLEDGE);
	add_status(dev, VIRTIO_STATUS_DRIVER);
	err = agree_on_features(dev, drv->features);
	if (!err)
		err = drv->probe(dev);
	if (err) {
		pr_err("%s: %s: probe failed, error %d\n", dev->ops->name, drv->name, err);
		dev->ops->set_status(dev, 0); /* it lets go of the queues */
		add_status(dev, VIRTIO_STATUS_FAILED);
	}
	return err;
}

void virtio_device_ready(struct virtio_device *dev)
{
	add_status(dev, VIRTIO_STATUS_DRIVER_OK);
}

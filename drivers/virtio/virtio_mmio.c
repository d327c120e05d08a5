/*
 * Virtio devices at fixed addresses (virtio 1.2, 4.2): a transport. The device tree names the
 * slots; QEMU's virt board has 32 of them, and most are empty, so looking at a slot has to
 * cost next to nothing. A device has one interrupt and one block of registers. Several registers
 * belong together (a selector and what it selects); only probes use those, in one thread, so they
 * need no lock.
 */
#include <asm/io.h>
#include <asm/page.h>
#include <drivers/driver.h>
#include <drivers/virtio.h>
#include <irq/irq.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>

/* Registers (4.2.2). */
#define MMIO_MAGIC		 0x000
#define MMIO_VERSION		 0x004
#define MMIO_DEVICE_ID		 0x008
#define MMIO_DEVICE_FEATURES	 0x010
#define MMIO_DEVICE_FEATURES_SEL 0x014
#define MMIO_DRIVER_FEATURES	 0x020
#define MMIO_DRIVER_FEATURES_SEL 0x024
#define MMIO_QUEUE_SEL		 0x030
#define MMIO_QUEUE_NUM_MAX	 0x034
#define MMIO_QUEUE_NUM		 0x038
#define MMIO_QUEUE_READY	 0x044
#define MMIO_QUEUE_NOTIFY	 0x050
#define MMIO_INTERRUPT_STATUS	 0x060
#define MMIO_INTERRUPT_ACK	 0x064
#define MMIO_STATUS		 0x070
#define MMIO_QUEUE_DESC		 0x080 /* each address: low word, high word */
#define MMIO_QUEUE_DRIVER	 0x090
#define MMIO_QUEUE_DEVICE	 0x0a0
#define MMIO_CONFIG		 0x100

#define MMIO_MAGIC_VALUE      0x74726976 /* "virt" */
#define MMIO_VERSION_LEGACY   1
#define MMIO_VERSION_1_0      2
#define MMIO_INTERRUPT_QUEUES 1

struct mmio_device {
	struct virtio_device dev;
	void *regs; /* [immutable] */
};

static struct mmio_device *mmio_of(struct virtio_device *dev)
{
	return container_of(dev, struct mmio_device, dev);
}

static u8 mmio_get_status(struct virtio_device *dev)
{
	return readl(mmio_of(dev)->regs + MMIO_STATUS);
}

static void mmio_set_status(struct virtio_device *dev, u8 status)
{
	writel(status, mmio_of(dev)->regs + MMIO_STATUS);
}

/* 64 features are read through a 32-bit register, one half at a time. */
static u64 mmio_get_features(struct virtio_device *dev)
{
	void *regs = mmio_of(dev)->regs;
	u64 features;

	writel(1, regs + MMIO_DEVICE_FEATURES_SEL);
	features = (u64)readl(regs + MMIO_DEVICE_FEATURES) << 32;
	writel(0, regs + MMIO_DEVICE_FEATURES_SEL);
	return features | readl(regs + MMIO_DEVICE_FEATURES);
}

static void mmio_set_features(struct virtio_device *dev, u64 features)
{
	void *regs = mmio_of(dev)->regs;

	for (unsigned half = 0; half < 2; half++) {
		writel(half, regs + MMIO_DRIVER_FEATURES_SEL);
		writel(features >> 32 * half, regs + MMIO_DRIVER_FEATURES);
	}
}

static u32 mmio_read_config(struct virtio_device *dev, unsigned offset)
{
	return readl(mmio_of(dev)->regs + MMIO_CONFIG + offset);
}

static u8 mmio_read_config8(struct virtio_device *dev, unsigned offset)
{
	return readb(mmio_of(dev)->regs + MMIO_CONFIG + offset);
}

/* A queue that is ready already cannot be set up again, so it counts as absent. */
static unsigned mmio_queue_max(struct virtio_device *dev, unsigned index)
{
	void *regs = mmio_of(dev)->regs;

	writel(index, regs + MMIO_QUEUE_SEL);
	return readl(regs + MMIO_QUEUE_READY) ? 0 : readl(regs + MMIO_QUEUE_NUM_MAX);
}

static void write_address(void *at, phys_addr_t address)
{
	writel(address, at);
	writel(address >> 32, at + 4);
}

/* The addresses may be written in any order; READY makes the device look at them. */
static int mmio_queue_enable(struct virtqueue *vq)
{
	void *regs = mmio_of(vq->dev)->regs;

	writel(vq->index, regs + MMIO_QUEUE_SEL);
	writel(vq->size, regs + MMIO_QUEUE_NUM);
	write_address(regs + MMIO_QUEUE_DESC, virtqueue_desc_addr(vq));
	write_address(regs + MMIO_QUEUE_DRIVER, virtqueue_avail_addr(vq));
	write_address(regs + MMIO_QUEUE_DEVICE, virtqueue_used_addr(vq));
	writel(1, regs + MMIO_QUEUE_READY);
	vq->notify_at = regs + MMIO_QUEUE_NOTIFY;
	return 0;
}

static void mmio_notify(struct virtqueue *vq)
{
	writel(vq->index, vq->notify_at);
}

static const struct virtio_transport mmio_transport = {
	.name = "virtio-mmio",
	.get_status = mmio_get_status,
	.set_status = mmio_set_status,
	.get_features = mmio_get_features,
	.set_features = mmio_set_features,
	.read_config = mmio_read_config,
	.read_config8 = mmio_read_config8,
	.queue_max = mmio_queue_max,
	.queue_enable = mmio_queue_enable,
	.notify = mmio_notify,
};

/*
 * The interrupt is acknowledged before the queues are looked at. So what comes meanwhile interrupts
 * again; the other order would lose it.
 */
static irqreturn_t mmio_interrupt(int irq, void *data)
{
	struct mmio_device *m = data;
	u32 why = readl(m->regs + MMIO_INTERRUPT_STATUS);

	if (!why)
		return IRQ_NONE;
	writel(why, m->regs + MMIO_INTERRUPT_ACK);
	if (why & MMIO_INTERRUPT_QUEUES)
		virtio_queues_interrupt(&m->dev);
	return IRQ_HANDLED;
}

/*
 * Map the registers at `base`. Several slots share a page and come one after the other, so the
 * mapping of the last page serves them all. It stays for ever.
 */
static void *map_slot(phys_addr_t base)
{
	static phys_addr_t mapped = ~(phys_addr_t)0; /* [boot] */
	static void *page;

	if (mapped != ALIGN_DOWN(base, PAGE_SIZE)) {
		page = ioremap(ALIGN_DOWN(base, PAGE_SIZE), PAGE_SIZE);
		if (!page)
			return NULL;
		mapped = ALIGN_DOWN(base, PAGE_SIZE);
	}
	return page + (base & (PAGE_SIZE - 1));
}

/*
 * A slot with a device: reset it, take its interrupt, find its driver. Returns 0, or -errno when
 * there is no interrupt or memory; a driver's error is not one of the slot.
 */
static int virtio_mmio_add_device(const struct device_desc *desc, void *regs, u32 id)
{
	struct mmio_device *m;
	int irq = device_irq(desc, 0), err;

	if (irq < 0)
		return irq;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	m->regs = regs;
	m->dev.id = id;
	m->dev.ops = &mmio_transport;
	mmio_set_status(&m->dev, 0); /* firmware may have left it running */
	err = request_irq(irq, mmio_interrupt, 0, "virtio", m);
	if (err) {
		kfree(m);
		return err;
	}
	/* Its error is in the log already. The interrupt stays: the device is silent after an error. */
	virtio_device_add(&m->dev);
	return 0;
}

/*
 * The device's kind is read first, and nothing else of an empty slot. An error that the user can
 * mend is told in words.
 */
static int mmio_probe(const struct device_desc *desc)
{
	void *regs;
	u32 id, version;

	if (!desc->nr_reg)
		return -EINVAL;
	regs = map_slot(desc->reg[0].base);
	if (!regs)
		return -ENOMEM;
	id = readl_relaxed(regs + MMIO_DEVICE_ID);
	if (!id)
		return 0; /* an empty slot (4.2.3.1.1) */
	if (readl(regs + MMIO_MAGIC) != MMIO_MAGIC_VALUE)
		return -ENODEV;
	version = readl(regs + MMIO_VERSION);
	if (version == MMIO_VERSION_1_0)
		return virtio_mmio_add_device(desc, regs, id);
	pr_err("virtio-mmio: device of kind %u has %s: not used%s\n", id,
	       version == MMIO_VERSION_LEGACY ? "the legacy interface only" : "an unknown interface",
	       version == MMIO_VERSION_LEGACY ? " (QEMU: -global virtio-mmio.force-legacy=false)" : "");
	return 0;
}

static const char *const mmio_ids[] = {"virtio,mmio", NULL};
static const struct driver mmio_driver = {
	.name = "virtio-mmio",
	.compatible = mmio_ids,
	.level = DRIVER_DEVICE,
	.probe = mmio_probe,
};
REGISTER_DRIVER(mmio_driver);

/*
 * How a virtio device and its driver agree (virtio 1.2, 3.1.1): each step's bit of the status, in order, by devices
 * that QEMU does not have: with the legacy interface only, or one that takes back what it has offered.
 */
/* sources: */
/* include: tests/unit/include-io */
#include "../../../drivers/virtio/virtio.c"

#define ACK    VIRTIO_STATUS_ACKNOWLEDGE
#define DRIVER VIRTIO_STATUS_DRIVER
#define AGREED VIRTIO_STATUS_FEATURES_OK
#define OK     VIRTIO_STATUS_DRIVER_OK
#define FAILED VIRTIO_STATUS_FAILED

#define OURS	(BIT(3) | BIT(7)) /* features that the driver understands */
#define OFFERED (BIT(3) | BIT(4))

static unsigned nr_messages;
int printk(const char *fmt, ...)
{
	nr_messages++;
	return 0;
}

static u8 status, steps[16];
static unsigned nr_steps, nr_probed;
static u64 offered, taken;
static bool takes_back;
static int probe_status;

static u8 get_status(struct virtio_device *dev)
{
	return status;
}
static void set_status(struct virtio_device *dev, u8 value)
{
	steps[nr_steps++] = value;
	status = takes_back ? value & ~AGREED : value;
}
static u64 get_features(struct virtio_device *dev)
{
	assert_int_equal(status, ACK | DRIVER);
	return offered;
}
static void set_features(struct virtio_device *dev, u64 features)
{
	assert_int_equal(status, ACK | DRIVER);
	taken = features;
}
static const struct virtio_transport model = {.name = "model",
					      .get_status = get_status,
					      .set_status = set_status,
					      .get_features = get_features,
					      .set_features = set_features};

static int probe(struct virtio_device *dev)
{
	assert_int_equal(status, ACK | DRIVER | AGREED);
	nr_probed++;
	if (!probe_status)
		virtio_device_ready(dev);
	return probe_status;
}
static const struct virtio_driver other = {"other", 5, 0, probe};
REGISTER_VIRTIO_DRIVER(other);
static const struct virtio_driver ours = {"ours", 4, OURS, probe};
REGISTER_VIRTIO_DRIVER(ours);

static const struct row {
	const char *name;
	u32 id;
	u64 offered;
	bool takes_back;
	int probe_status, result;
	u64 taken; /* 0: the device was not told */
	u8 steps[8];
	unsigned nr_steps, probed;
} rows[] = {
	{"all is well",
	 4,
	 OFFERED | VIRTIO_F_VERSION_1,
	 false,
	 0,
	 0,
	 BIT(3) | VIRTIO_F_VERSION_1,
	 {0, ACK, ACK | DRIVER, ACK | DRIVER | AGREED, ACK | DRIVER | AGREED | OK},
	 5,
	 1},
	{"with the queues' own feature",
	 4,
	 ~0ULL,
	 false,
	 0,
	 0,
	 OURS | VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX,
	 {0, ACK, ACK | DRIVER, ACK | DRIVER | AGREED, ACK | DRIVER | AGREED | OK},
	 5,
	 1},
	{"another driver, which understands less",
	 5,
	 OFFERED | VIRTIO_F_VERSION_1,
	 false,
	 0,
	 0,
	 VIRTIO_F_VERSION_1,
	 {0, ACK, ACK | DRIVER, ACK | DRIVER | AGREED, ACK | DRIVER | AGREED | OK},
	 5,
	 1},
	{"unknown device", 6, ~0ULL, false, 0, -ENODEV, 0, {0}, 0, 0},
	{"a legacy device", 4, OFFERED, false, 0, -ENODEV, 0, {0, ACK, ACK | DRIVER, 0, FAILED}, 5, 0},
	{"it takes back its offer",
	 4,
	 ~0ULL,
	 true,
	 0,
	 -EINVAL,
	 OURS | VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX,
	 {0, ACK, ACK | DRIVER, ACK | DRIVER | AGREED, 0, FAILED},
	 6,
	 0},
	{"the driver gives up",
	 4,
	 ~0ULL,
	 false,
	 -ENOMEM,
	 -ENOMEM,
	 OURS | VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX,
	 {0, ACK, ACK | DRIVER, ACK | DRIVER | AGREED, 0, FAILED},
	 6,
	 1},
};

/* The device has been used before. What both sides do is compared: each status, the features, the messages. */
static void check_row(const struct row *r)
{
	struct virtio_device dev = {.id = r->id, .ops = &model};

	status = 0x40; /* left over from its last driver */
	nr_steps = nr_probed = nr_messages = 0;
	taken = 0;
	offered = r->offered;
	takes_back = r->takes_back;
	probe_status = r->probe_status;
	assert_int_equal(virtio_device_add(&dev), r->result);
	assert_int_equal(taken, r->taken);
	assert_int_equal(nr_steps, r->nr_steps);
	assert_memory_equal(steps, r->steps, nr_steps);
	assert_int_equal(nr_probed, r->probed);
	assert_int_equal(nr_messages, r->result ? 1 : 0);
	if (!r->result)
		assert_ptr_equal(dev.name, r->id == ours.id ? ours.name : other.name);
	if (!r->result)
		assert_int_equal(dev.features, r->taken);
}

static void test_agreement(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_message("%s\n", rows[i].name);
		check_row(&rows[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

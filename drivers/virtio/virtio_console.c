/*
 * Consoles with ports (virtio 1.2, 5.3): what the device and we tell each other about them. Every
 * port is a channel of bytes with files (virtio_port.c), also one that the device calls a console:
 * ours is the serial port.
 *
 *     port 0: queues 0 (in), 1 (out)    control: queues 2 (in), 3 (out)    port n: queues 2n+2, 2n+3
 *
 * Control messages say that a port was added or removed, what its name is, and whether a side has
 * it open. A work item (control_work) does all of that alone, so what is marked [w] needs no lock.
 * One message at a time is under way to the device, and the next leaves when all answers to it have
 * been read. So a device with many ports never finds our queue full, where it would drop messages
 * (QEMU does).
 */
#include "virtio_console.h"

#include <kernel/printk.h>
#include <lib/atomic.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <sched/sched.h>

#define VIRTIO_CONSOLE_F_MULTIPORT BIT(1)
#define CONFIG_MAX_NR_PORTS	   4 /* offset in the device's configuration (5.3.4) */

/* Events (5.3.6.2). */
enum control_event {
	DEVICE_READY, /* to the device: value 1, we are there */
	PORT_ADD,
	PORT_REMOVE,
	PORT_READY, /* to the device: value 1, tell us all about it */
	CONSOLE_PORT,
	RESIZE,
	PORT_OPEN, /* both ways: value says whether the other side is open */
	PORT_NAME, /* the name follows */
};
#define NO_PORT (~0u)

#define MESSAGE_BYTES 128
#define MESSAGES      (PAGE_SIZE / MESSAGE_BYTES)
#define NAME_FOLDER   "virtio-ports"
#define SETTLE_NS     (100 * NSEC_PER_USEC)

/* Queues of a port and of the control messages (5.3.2). */
#define CONTROL_IN  2
#define CONTROL_OUT 3
static unsigned in_queue_of(unsigned id)
{
	return id ? 2 * id + 2 : 0;
}

/*
 * Change a flag of the port that sleepers look at without the lock. Release, then the wake-up: a
 * task that sleeps in `wait` looks again and sees the new value.
 */
static void port_set_flag(struct port *port, bool *flag, bool value)
{
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	smp_store_release(flag, value);
	spin_unlock_irqrestore(&port->lock, flags);
	wake_up_interruptible_all(&port->wait);
}

/* ---- What the device tells. [w] all */

/*
 * The port was added or removed. `generation` goes one up, so files of its life before no longer
 * belong to it, and the device knows of no open file. Every sleeper is woken to find that out.
 */
static void begin_life(struct port *port)
{
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	port->host_open = port->guest_open = port->host_knows = false;
	smp_store_release(&port->generation, port->generation + 1);
	spin_unlock_irqrestore(&port->lock, flags);
	port->told_open = false;
	wake_up_interruptible_all(&port->wait);
}

/* The device added a port: make its file. A device may say so twice. */
static void port_added(struct port *port)
{
	int err;

	if (port_present(port))
		return;
	port->wants_ready = true;
	port->name[0] = '\0';
	begin_life(port);
	err = device_add(&port->node);
	if (err)
		pr_err("virtio-console: /dev/%s: error %d\n", port->node_name, err);
}

/*
 * The device took a port away. The name goes first, so that the port is not opened any more; then
 * tasks within a call of it are woken and find out. An open file stays open, and each of its calls
 * returns -ENODEV. An open that has already found the node reads live memory: struct port says why.
 */
static void port_removed(struct port *port)
{
	if (!port_present(port))
		return;
	device_remove(&port->node);
	port->wants_ready = false;
	begin_life(port);
}

/*
 * The device names a port: /dev/virtio-ports/NAME leads to the same file. A name that no file can
 * have is reported, and the port stays reachable by its number. `len` counts the bytes of the name,
 * which need not end with a zero.
 */
static void port_named(struct port *port, const char *name, unsigned len)
{
	int err = -EINVAL;

	if (port->name[0] || !port_present(port))
		return;
	len = strnlen(name, min_t(unsigned, len, sizeof(port->name) - 1));
	memcpy(port->name, name, len);
	port->name[len] = '\0';
	if (len && !strchr(port->name, '/') && strcmp(port->name, ".") && strcmp(port->name, ".."))
		err = device_alias(&port->node, NAME_FOLDER, port->name);
	if (err)
		pr_err("virtio-console: %s: no file for the name '%s' (error %d)\n", port->node_name, port->name, err);
}

/*
 * Act on one message of `len` bytes. The device is not trusted: a short message or a port beyond
 * nr_ports has no effect.
 */
static void control_message(struct virtio_console *con, const struct console_control *msg, unsigned len)
{
	struct port *port;

	if (len < sizeof(*msg))
		return;
	if (msg->id >= con->nr_ports) {
		pr_warn("virtio-console: port %u is one too many\n", msg->id);
		return;
	}
	port = &con->ports[msg->id];
	switch (msg->event) {
	case PORT_ADD:
		port_added(port);
		break;
	case PORT_REMOVE:
		port_removed(port);
		break;
	case PORT_OPEN:
		port_set_flag(port, &port->host_open, port_present(port) && msg->value);
		break;
	case PORT_NAME:
		port_named(port, (const char *)(msg + 1), len - sizeof(*msg));
		break;
	default: /* CONSOLE_PORT: a port like all others here; RESIZE: of a terminal that it is not */
		break;
	}
}

/*
 * Read all messages that have come. Each piece of memory goes back to the device as soon as it is
 * copied: the device may have more to say than there are pieces.
 */
static void read_control(struct virtio_console *con)
{
	u64 message[MESSAGE_BYTES / sizeof(u64)];
	unsigned len;
	void *piece;

	while ((piece = virtqueue_get_buf(con->ctl_in, &len))) {
		memcpy(message, piece, MESSAGE_BYTES);
		if (!virtqueue_add_inbuf(con->ctl_in, piece, MESSAGE_BYTES, piece))
			virtqueue_kick(con->ctl_in);
		control_message(con, (const struct console_control *)message, len);
	}
}

/* ---- What we tell. [w] all */

/*
 * Send one message; there is only one buffer, so ctl_busy is false here. Returns false if the queue
 * refuses it, which it does only when it is broken: then nothing more is sent.
 */
static bool send_control(struct virtio_console *con, u32 id, u16 event, u16 value)
{
	*con->ctl_sent = (struct console_control){.id = id, .event = event, .value = value};
	con->ctl_busy = !virtqueue_add_outbuf(con->ctl_out, con->ctl_sent, sizeof(*con->ctl_sent), con);
	virtqueue_kick(con->ctl_out);
	return con->ctl_busy;
}

/*
 * Is a file open? If not, the device will be told so, or was: from here on it does not know of the next one. Both in
 * one step, so that a file that is opened now either is seen here or waits (port_wait_known).
 */
static bool look_whether_open(struct port *port)
{
	unsigned long flags;
	bool open;

	spin_lock_irqsave(&port->lock, flags);
	open = port->guest_open;
	if (!open)
		port->host_knows = false;
	spin_unlock_irqrestore(&port->lock, flags);
	return open;
}

/*
 * Send the first thing that the device does not know yet about a port: that we are ready for it,
 * then whether a file is open. Returns false if there is none. guest_open may change right after it
 * was read: the task that changes it queues the work again.
 */
static bool tell_of_port(struct virtio_console *con, struct port *port)
{
	bool open = look_whether_open(port);

	if (!port_present(port))
		return false;
	if (port->wants_ready) {
		port->wants_ready = false;
		return send_control(con, port->id, PORT_READY, 1);
	}
	if (port->told_open == open)
		return false;
	port->told_open = open;
	return send_control(con, port->id, PORT_OPEN, open);
}

/*
 * Send the next message that is due, of the device itself or of a port; false if the device knows
 * everything.
 */
static bool tell_something(struct virtio_console *con)
{
	if (con->wants_ready) {
		con->wants_ready = false;
		return send_control(con, NO_PORT, DEVICE_READY, 1);
	}
	for (unsigned id = 0; id < con->nr_ports; id++)
		if (tell_of_port(con, &con->ports[id]))
			return true;
	return false;
}

/* The device has taken all messages: of open files it knows now. */
static void all_known(struct virtio_console *con)
{
	for (unsigned id = 0; id < con->nr_ports; id++) {
		struct port *port = &con->ports[id];

		if (port->told_open && !port->host_knows)
			port_set_flag(port, &port->host_knows, true);
	}
}

/*
 * Do all that is to be done at the moment. It runs on one CPU at a time; what comes meanwhile
 * queues it again. The end of our last message is looked at before its answers: they came before
 * it, so all of them are read before the next message leaves.
 */
static void control_work(struct work_struct *work)
{
	struct virtio_console *con = container_of(work, struct virtio_console, work);

	do {
		if (con->ctl_busy && virtqueue_get_buf(con->ctl_out, NULL))
			con->ctl_busy = false;
		read_control(con);
	} while (!con->ctl_busy && tell_something(con));
	if (!con->ctl_busy)
		all_known(con);
	WRITE_ONCE(con->settled, !con->ctl_busy);
}

/*
 * The work of a device without control messages: it has one port, which is always there and open, and the device is
 * told nothing.
 */
static void no_control_work(struct work_struct *work)
{
}

/*
 * Hard interrupt: a message has come, or ours was taken. Work must sleep (files are made), so a
 * thread does it.
 */
static void control_callback(struct virtqueue *vq)
{
	struct virtio_console *con = vq->private;

	schedule_work(&con->work);
}

/* ---- Found */

/*
 * Prepare a port's memory and queues, used or not: queues must be made before the device may begin.
 * Returns 0 or -ENOMEM.
 */
static int setup_port(struct virtio_console *con, unsigned id)
{
	struct port *port = &con->ports[id];

	port->con = con;
	port->id = id;
	spin_lock_init(&port->lock);
	mutex_init(&port->read_mutex);
	init_waitqueue_head(&port->wait);
	snprintf(port->node_name, sizeof(port->node_name), "vport%up%u", con->number, id);
	port->node = (struct device_node){port->node_name, S_IFCHR | 0600,
					  MKDEV(PORT_MAJOR, con->number * MAX_PORTS + id), &port_fops, port};
	port->in = virtio_make_queue(con->dev, in_queue_of(id), PORT_RX_PAGES, port_in_callback, port);
	port->out = virtio_make_queue(con->dev, in_queue_of(id) + 1, PORT_TX_PAGES, port_out_callback, port);
	return port->in && port->out ? port_fill_rx(port) : -ENOMEM;
}

/*
 * Make the two control queues and give the device a page in pieces to write messages to. Returns 0
 * or -ENOMEM.
 */
static int setup_control(struct virtio_console *con)
{
	con->ctl_in = virtio_make_queue(con->dev, CONTROL_IN, MESSAGES, control_callback, con);
	con->ctl_out = virtio_make_queue(con->dev, CONTROL_OUT, 1, control_callback, con);
	con->ctl_messages = get_free_page(GFP_KERNEL);
	con->ctl_sent = kzalloc(sizeof(*con->ctl_sent), GFP_KERNEL);
	if (!con->ctl_in || !con->ctl_out || !con->ctl_messages || !con->ctl_sent)
		return -ENOMEM;
	for (unsigned i = 0; i < min_t(unsigned, MESSAGES, con->ctl_in->size); i++) {
		char *piece = con->ctl_messages + i * MESSAGE_BYTES;

		virtqueue_add_inbuf(con->ctl_in, piece, MESSAGE_BYTES, piece);
	}
	con->wants_ready = true;
	return 0;
}

/* How many ports there can be: as many as the device says and as we have memory for. */
static unsigned count_ports(struct virtio_device *dev)
{
	unsigned n = 1;

	if (virtio_has_feature(dev, VIRTIO_CONSOLE_F_MULTIPORT))
		n = dev->ops->read_config(dev, CONFIG_MAX_NR_PORTS);
	return clamp(n, 1u, (unsigned)MAX_PORTS);
}

/*
 * Make everything that the device may need once it begins. Returns 0 or -ENOMEM; console_probe()
 * says why nothing is freed then.
 */
static int virtio_console_setup(struct virtio_console *con)
{
	int err = 0;

	con->nr_ports = count_ports(con->dev);
	con->ports = kcalloc(con->nr_ports, sizeof(*con->ports), GFP_KERNEL);
	if (!con->ports)
		return -ENOMEM;
	for (unsigned id = 0; id < con->nr_ports && !err; id++)
		err = setup_port(con, id);
	if (err || !virtio_has_feature(con->dev, VIRTIO_CONSOLE_F_MULTIPORT)) {
		INIT_WORK(&con->work, no_control_work);
		return err;
	}
	INIT_WORK(&con->work, control_work);
	return setup_control(con);
}

/*
 * Let the device begin: from here on interrupts come. Input queues were filled before, and the
 * device may only be told of them after DRIVER_OK (3.1.1).
 */
static void virtio_console_start(struct virtio_console *con)
{
	virtio_device_ready(con->dev);
	for (unsigned id = 0; id < con->nr_ports; id++)
		virtqueue_kick(con->ports[id].in);
	if (!con->ctl_in) {
		port_added(con->ports);
		port_set_flag(con->ports, &con->ports->host_open, true);
		return;
	}
	virtqueue_kick(con->ctl_in);
	schedule_work(&con->work);
}

/*
 * Wait until the ports have their names, so that the first program finds them. A device that does
 * not answer holds the boot up for a second and no longer.
 */
static void wait_settled(struct virtio_console *con)
{
	for (unsigned n = 0; con->ctl_in && !READ_ONCE(con->settled) && n < NSEC_PER_SEC / SETTLE_NS; n++) {
		__set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_timeout_ns(SETTLE_NS);
	}
}

/*
 * After an error the memory stays: the device may have been given its address, and writes there
 * until it is reset.
 */
static int console_probe(struct virtio_device *dev)
{
	static unsigned nr_consoles; /* [boot] */
	struct virtio_console *con;
	int err;

	if (nr_consoles == MAX_CONSOLES)
		return -ENOSPC;
	con = kzalloc(sizeof(*con), GFP_KERNEL);
	if (!con)
		return -ENOMEM;
	con->dev = dev;
	con->number = nr_consoles++;
	err = virtio_console_setup(con);
	if (err)
		return err;
	virtio_console_start(con);
	wait_settled(con);
	return 0;
}

static const struct virtio_driver console_driver = {
	.name = "virtio-console",
	.id = VIRTIO_ID_CONSOLE,
	.features = VIRTIO_CONSOLE_F_MULTIPORT,
	.probe = console_probe,
};
REGISTER_VIRTIO_DRIVER(console_driver);

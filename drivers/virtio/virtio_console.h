/*
 * Within the console's driver: ports, which are channels of bytes between guest and host. virtio_console.c
 * finds them and talks about them with the device, virtio_port.c is their files.
 */
#pragma once

#include <drivers/virtio.h>
#include <fs/libfs.h>
#include <irq/workqueue.h>
#include <sched/mutex.h>
#include <sched/wait.h>

#define MAX_PORTS     32 /* of one device */
#define MAX_CONSOLES  4
#define PORT_MAJOR    244 /* of the numbers that Linux leaves to whoever comes first */
#define PORT_RX_PAGES 8	  /* that the host can write before the guest has read any */
#define PORT_TX_PAGES 16  /* that the guest can write before the host has read any */

/*
 * A port. Its memory outlives it: users of struct port are not counted. It belongs to its number, is
 * made with the device, and the next port of that number gets it. So an open that has found the
 * node in find_device() just before device_remove() reads live memory.
 *
 * Which of the ports of a number a file belongs to is told by `generation`, which is odd while a
 * port is there. A file keeps the value of its open, and each of its calls compares, once more
 * where it counts: reserve_page() under `lock`, port_read() under read_mutex, behind which
 * the file reads nothing more. So the next port never finds the guest_open of an older file, even when the
 * device took one port away and added another before the control work ran. Pages that the device
 * has at that moment come back by the same queue, whichever port that is now.
 *
 * Locks: w the control work alone; r read_mutex; p lock, with interrupts off; I immutable after
 * probe. Fields marked [p] may be looked at without the lock: each change is followed by a wake-up
 * of `wait`.
 */
struct port {
	struct virtio_console *con; /* [I] */
	unsigned id;		    /* [I] */
	struct virtqueue *in, *out; /* [I] */
	struct device_node node;    /* [I] */
	char node_name[32];	    /* [I] "vport0p1" */
	char name[128];		    /* [w] what the host calls it, "" nothing */
	wait_queue_head_t wait;	    /* readers, writers, pollers, and a closing task */
	spinlock_t lock;
	/*
	 * [p] Counts the port's lives: it goes one up when the device adds the port, which makes it
	 * odd, and again when the device takes it away. A file belongs to the life that it was
	 * opened in.
	 */
	unsigned generation;
	bool host_open;	   /* [p] */
	bool guest_open;   /* [p] a file of this life is open */
	bool told_open;	   /* [w] what the device was told of guest_open */
	bool host_knows;   /* [p] the device has taken the message that a file is open, and told nothing else since */
	bool wants_ready;  /* [w] the device is to be told that the port is ready */
	unsigned tx_pages; /* [p] pages that were written and that the device has */
	struct mutex read_mutex;
	char *rx;		/* [r] page that is being read, NULL: none */
	unsigned rx_at, rx_len; /* [r] */
};

/* As the device sees it (5.3.6.2). */
struct console_control {
	u32 id;
	u16 event, value;
};

/* Locks: w the control work alone; I immutable after probe. */
struct virtio_console {
	struct virtio_device *dev;	    /* [I] */
	unsigned number;		    /* [I] the N of vportNp0 */
	unsigned nr_ports;		    /* [I] */
	struct virtqueue *ctl_in, *ctl_out; /* [I] NULL: no MULTIPORT */
	char *ctl_messages;		    /* [I] a page in pieces; each is the device's, or [w] */
	struct console_control *ctl_sent;   /* [I] the one message under way to the device */
	bool ctl_busy;			    /* [w] ... which has not taken it yet */
	bool wants_ready;		    /* [w] the device is to be told that we are ready */
	bool settled;			    /* [w writes] nothing is under way and there is nothing to tell */
	struct work_struct work;	    /* control_work */
	struct port *ports;		    /* [I] by number */
};

/* virtio_port.c */
extern const struct file_operations port_fops;
/* Queues have something for us. Hard interrupt. */
void port_in_callback(struct virtqueue *vq);
void port_out_callback(struct virtqueue *vq);
/* The device is given pages to write to. 0, -ENOMEM. Thread context, boot. */
int port_fill_rx(struct port *port);

/* Added by the device and not removed? */
static inline bool port_present(const struct port *port)
{
	return READ_ONCE(port->generation) & 1;
}

/* guest_open has changed: the device will be told. Any context but nmi. */
static inline void port_tell_host(struct port *port)
{
	schedule_work(&port->con->work);
}

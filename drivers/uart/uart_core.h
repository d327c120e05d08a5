/* What serial drivers have in common, below the tty layer: sending in order from many CPUs, receiving in
 * batches, counting. */
#pragma once

#include <drivers/tty.h>
#include <irq/irq.h>
#include <sched/spinlock.h>

#define UART_BATCH 16 /* bytes: as many as the FIFOs of both our chips take */

struct uart_port;

/* What one kind of chip supplies; each call touches the hardware only and returns at once. */
struct uart_chip {
	const char *name;     /* of the ttys: "ttyAMA", "ttyS", with a number behind */
	const char *type;     /* in /proc/tty/driver/serial */
	const char *irq_name; /* in /proc/interrupts; NULL: the tty's name */
	/* Put up to n bytes into the transmitter; returns how many it took, 0 when it has no room. [port's
	 * lock] */
	unsigned (*send)(struct uart_port *port, const char *text, unsigned n);
	/*
	 * Take up to `max` characters; stop behind a break, which carries no character, with *brk set.
	 * Overruns are counted in port->overruns. Fewer than `max` and no break: there are no more. [port's
	 * interrupt]
	 */
	unsigned (*receive)(struct uart_port *port, char *batch, unsigned max, bool *brk);
	/* Let interrupts for received characters (for room to send) through, or not. [mask_lock, interrupts
	 * off] */
	void (*set_rx_irq)(struct uart_port *port, bool on);
	void (*set_tx_irq)(struct uart_port *port, bool on);
};

/*
 * Part of the driver's own struct. Locks: m mask_lock, interrupts off; b for the holder of tx_busy; P the tty's
 * port_lock; a atomic; i the port's interrupt; I immutable after probe.
 */
struct uart_port {
	const struct uart_chip *chip; /* [I] */
	struct tty_struct *tty;	      /* [I] NULL until registered: no input before */
	struct uart_port *next;	      /* [I] all ports, for /proc/tty/driver/serial */
	phys_addr_t base;	      /* [I] physical address, or I/O port */
	int irq;		      /* [I] */
	unsigned line;		      /* [I] number among the ports of its chip */
	char name[16];		      /* [I] the tty's */
	spinlock_t mask_lock;	      /* the chip's interrupt mask, and throttled */
	bool throttled;		      /* [m] */
	bool tx_irq;		      /* [m] as set_tx_irq has it */
	bool log_shown;		      /* [I] probe: what is played to us now, the early console has printed */
	int tx_busy;		      /* [a] a CPU fills the FIFO */
	int tx_again;		      /* [a] there may be more to send than the holder has seen */
	char tx_buf[UART_BATCH];      /* [P] pulled from the tty, sent up to tx_at */
	unsigned tx_at, tx_len;	      /* [P] */
	u64 sent;		      /* [P] bytes, but for printk's */
	u64 received, breaks;	      /* [i] */
	u64 overruns;		      /* [i] times the FIFO was full before we came */
};

/*
 * A probe's second half, when the chip is set up with its interrupts masked: make the tty (which plays the
 * log to it, unless it is the early console, which ends here), take the interrupt, begin to receive. After an
 * error with port->tty still NULL nothing is registered, and the caller may free the port; else the port
 * stays as an output without interrupt: a tty cannot be taken back.
 */
int uart_register(struct uart_port *port, const struct uart_chip *chip, phys_addr_t base, int irq,
		  irq_handler_t handler);
/* From the chip's interrupt handler. */
void uart_rx(struct uart_port *port); /* characters wait: all of them to the tty, until it throttles us */
void uart_tx(struct uart_port *port); /* there is room: send, and mask the interrupt when nothing is left */

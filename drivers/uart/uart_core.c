/*
 * What serial drivers have in common: the pump between the tty's ring and a FIFO, batches of input,
 * registration.
 *
 *     tty ring --pull--> tx_buf (16 bytes) --send--> FIFO        by whichever CPU holds tx_busy
 *     FIFO --receive--> batch --tty_receive--> tty               by the port's interrupt, one at a time
 *
 * Locks: mask_lock covers the chip's interrupt mask, the tty's port_lock the order of bytes to the
 * chip, also those of printk. Neither is held while the tty is called.
 */
#include "uart_core.h"

#include <arch/processor.h>
#include <drivers/early_console.h>
#include <fs/libfs.h>
#include <irq/irqflags.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/printf.h>

static struct uart_port *uart_ports; /* [probe writes; readers see a whole list] */

/* Let the transmit interrupt through or not; the chip is only touched when that changes. */
static void set_tx_irq(struct uart_port *port, bool on)
{
	unsigned long flags;

	spin_lock_irqsave(&port->mask_lock, flags);
	if (port->tx_irq != on) {
		port->tx_irq = on;
		port->chip->set_tx_irq(port, on);
	}
	spin_unlock_irqrestore(&port->mask_lock, flags);
}

/* [P] Send as much of what was pulled as the FIFO takes. Returns true if that is not all of it. */
static bool send_pulled(struct uart_port *port)
{
	unsigned n;

	if (port->tx_at == port->tx_len)
		return false;
	n = port->chip->send(port, port->tx_buf + port->tx_at, port->tx_len - port->tx_at);
	port->tx_at += n;
	port->sent += n;
	return port->tx_at < port->tx_len;
}

/*
 * [b] Fill the FIFO from the tty. True when the FIFO was full first: the interrupt goes on.
 *
 * Characters leave the tty's ring and go to the chip under the lock that printk takes, because printk sends the rest of
 * a begun line first: that is what we have pulled and not sent, and then what is in the ring. Tasks are woken without
 * that lock, since printk takes it below the scheduler's locks.
 */
static bool fill_fifo(struct uart_port *port)
{
	bool full, empty, wake = false;

	do {
		unsigned long flags = tty_port_lock(port->tty);

		if (port->tx_at == port->tx_len) {
			port->tx_at = 0;
			port->tx_len = tty_tx_pull(port->tty, port->tx_buf, sizeof(port->tx_buf), &wake);
		}
		empty = !port->tx_len;
		full = send_pulled(port);
		tty_port_unlock(port->tty, flags);
		if (wake)
			tty_tx_pulled(port->tty);
		wake = false;
	} while (!full && !empty);
	return full;
}

/*
 * Send what there is. Bytes must leave in order, so one CPU at a time fills the FIFO. A CPU that
 * comes meanwhile does not wait, since it may hold locks of the tty: it leaves tx_again behind,
 * which the other looks at after it has let go of tx_busy. Both words are exchanged with full
 * barriers: either the other CPU sees our tx_again, or we see that it has gone. Any context.
 */
static void uart_start_tx(void *data)
{
	struct uart_port *port = data;
	unsigned long flags;

	local_irq_save(flags);
	__atomic_store_n(&port->tx_again, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&port->tx_again, __ATOMIC_SEQ_CST) &&
	       !__atomic_exchange_n(&port->tx_busy, 1, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&port->tx_again, 0, __ATOMIC_SEQ_CST);
		set_tx_irq(port, fill_fifo(port));
		__atomic_store_n(&port->tx_busy, 0, __ATOMIC_SEQ_CST);
	}
	local_irq_restore(flags);
}

void uart_tx(struct uart_port *port)
{
	uart_start_tx(port);
}

/*
 * [P] Send one character of printk, waiting for room. What the transmit interrupt was going to send
 * goes first: it is older.
 */
static void uart_poll_put(void *data, char c)
{
	struct uart_port *port = data;

	if (port->log_shown)
		return;
	while (send_pulled(port))
		cpu_relax();
	while (!port->chip->send(port, &c, 1))
		cpu_relax();
}

/*
 * Stop or resume receiving. While it is stopped, input stays in the FIFO and then with the sender,
 * so nothing is lost.
 */
static void uart_throttle(void *data, bool on)
{
	struct uart_port *port = data;
	unsigned long flags;

	spin_lock_irqsave(&port->mask_lock, flags);
	WRITE_ONCE(port->throttled, on);
	port->chip->set_rx_irq(port, !on);
	spin_unlock_irqrestore(&port->mask_lock, flags);
}

static const struct uart_ops uart_tty_ops = {
	.start_tx = uart_start_tx,
	.poll_put = uart_poll_put,
	.throttle = uart_throttle,
};

/* Batches are small, as the tty may throttle us after each. */
void uart_rx(struct uart_port *port)
{
	char batch[UART_BATCH];
	unsigned n;
	bool brk;

	do {
		brk = false;
		n = port->chip->receive(port, batch, sizeof(batch), &brk);
		port->received += n;
		if (n)
			tty_receive(port->tty, batch, n);
		if (brk) {
			port->breaks++;
			tty_receive_break(port->tty);
		}
	} while ((n == sizeof(batch) || brk) && !READ_ONCE(port->throttled));
}

/* The number of the next port of this chip: ttyS0, ttyS1, ... */
static unsigned next_line(const struct uart_chip *chip)
{
	unsigned n = 0;

	for (const struct uart_port *p = uart_ports; p; p = p->next)
		n += p->chip == chip;
	return n;
}

/*
 * Make the tty. Registration plays the log so far to the new console; if the early console is this
 * very port, all of that has been shown already, and log_shown suppresses it.
 */
static int register_tty(struct uart_port *port)
{
	snprintf(port->name, sizeof(port->name), "%s%u", port->chip->name, port->line);
	port->log_shown = early_console_active(port->base);
	port->tty = tty_register_uart(port->name, port->line, &uart_tty_ops, port);
	if (!port->tty)
		return -ENOMEM;
	if (port->log_shown)
		early_console_stop();
	port->log_shown = false;
	return 0;
}

/*
 * What was received before the interrupt is on: it may be the end of it, with no interrupt to come. Nothing else
 * receives yet. The tty may throttle us over it, and then says itself when to go on.
 */
static void begin_to_receive(struct uart_port *port)
{
	unsigned long flags;

	local_irq_save(flags);
	uart_rx(port);
	local_irq_restore(flags);
	if (!READ_ONCE(port->throttled))
		uart_throttle(port, false);
}

/*
 * The terminal first: an interrupt hands input to it. The list has the port before its interrupt is on, complete, for
 * readers without a lock. An error with port->tty set means: registered, without an interrupt.
 */
int uart_register(struct uart_port *port, const struct uart_chip *chip, phys_addr_t base, int irq,
		  irq_handler_t handler)
{
	int err;

	port->chip = chip;
	port->base = base;
	port->irq = irq;
	port->line = next_line(chip);
	spin_lock_init(&port->mask_lock);
	err = register_tty(port);
	if (err)
		return err;
	port->next = uart_ports;
	smp_store_release(&uart_ports, port);
	err = request_irq(irq, handler, 0, chip->irq_name ? chip->irq_name : port->name, port);
	if (err)
		return err;
	begin_to_receive(port);
	return 0;
}

/* A line for each port, in the manner of Linux's serial drivers; what the port has lost stands at the end. */
static int serial_show(struct seq_file *m, void *v)
{
	for (const struct uart_port *p = smp_load_acquire(&uart_ports); p; p = p->next)
		seq_printf(m, "%s: uart:%s base:0x%lx irq:%d tx:%lu rx:%lu brk:%lu oe:%lu\n", p->name, p->chip->type,
			   (unsigned long)p->base, p->irq, (unsigned long)READ_ONCE(p->sent),
			   (unsigned long)READ_ONCE(p->received), (unsigned long)READ_ONCE(p->breaks),
			   (unsigned long)READ_ONCE(p->overruns));
	return 0;
}

static const struct text_file serial_entry = {
	.path = "tty/driver/serial",
	.mode = 0444,
	.show = serial_show,
};
REGISTER_PROC(serial_entry);

/*
 * The terminal's way out: output processing, the transmit ring, and the console for printk on the
 * same port.
 *
 *     write(2) -> tty_output -> tx ring -> transmit interrupt: tty_tx_pull -> the chip
 *     keys     -> tty_echo   ----^                                              ^
 *     printk   -> tty_console_write: waits for room, byte by byte --------------/
 *
 * The ring is protected by tx_lock ([o]), which is innermost. Writers leave TTY_ECHO_RESERVE bytes
 * of it free, so that keys are echoed while a program's output is pending. printk must work in
 * every context, so it does not use the ring.
 */
#include "tty.h"

#include <irq/softirq.h>
#include <kernel/panic.h>
#include <lib/string.h>
#include <proc/signal.h>
#include <sched/sched.h>

/* The output part of a new terminal, before anybody can find it. */
void tty_output_init(struct tty_struct *tty)
{
	spin_lock_init(&tty->tx_lock);
	spin_lock_init(&tty->port_lock);
	init_waitqueue_head(&tty->write_wait);
}

/* [o] Free bytes of the ring. Head and tail run on and wrap at 2^32, so their difference is the number in use. */
static unsigned tx_room(const struct tty_struct *tty)
{
	return TTY_TX_SIZE - (tty->tx_head - tty->tx_tail);
}

/* [o] */
static void tx_put(struct tty_struct *tty, char c)
{
	tty->tx[tty->tx_head++ % TTY_TX_SIZE] = c;
}

/*
 * The cursor's column after this byte. It is needed for tabs, for ONOCR, and to know whether printk
 * must begin a new line.
 */
static u32 next_column(u32 column, char c)
{
	switch (c) {
	case '\n':
	case '\r':
		return 0;
	case '\b':
		return column ? column - 1 : 0;
	case '\t':
		return (column | 7) + 1;
	default:
		/* Control characters and the later bytes of UTF-8 sequences do not move the cursor. */
		return (unsigned char)c >= ' ' && c != 127 && ((unsigned char)c & 0xc0) != 0x80 ? column + 1 : column;
	}
}

/*
 * [o] Put one byte into the ring, changed as OPOST asks. Returns false when there is no room: two
 * bytes must fit, for "\r\n", above the part that is kept for the echo.
 */
static bool tx_process(struct tty_struct *tty, char c, unsigned reserve)
{
	if (tx_room(tty) < reserve + 2)
		return false;
	if (O_FLAG(tty, OPOST)) {
		if (c == '\n' && O_FLAG(tty, ONLCR))
			tx_put(tty, '\r');
		else if (c == '\r' && O_FLAG(tty, ONOCR) && !tty->column)
			return true;
		else if (c == '\r' && O_FLAG(tty, OCRNL))
			c = '\n';
		else if (O_FLAG(tty, OLCUC))
			c = toupper(c);
	}
	tx_put(tty, c);
	tty->column = next_column(tty->column, c);
	return true;
}

void tty_echo(struct tty_struct *tty, const char *text, unsigned n)
{
	spin_lock(&tty->tx_lock);
	for (unsigned i = 0; i < n; i++)
		tx_process(tty, text[i], 0);
	spin_unlock(&tty->tx_lock);
}

void tty_echo_char(struct tty_struct *tty, char c)
{
	tty_echo(tty, &c, 1);
}

unsigned tty_echo_room(struct tty_struct *tty)
{
	return READ_ONCE(tty->tx_tail) + TTY_TX_SIZE - READ_ONCE(tty->tx_head);
}

/* Bytes that are put into the ring with interrupts off: a whole chunk would be the longest such time of the kernel. */
#define OUTPUT_BATCH 16

/*
 * Put up to n bytes into the ring. Returns how many fit. writers_wait is set under the lock that
 * tty_tx_pull() takes, so the wake-up is not lost.
 */
static unsigned output_batch(struct tty_struct *tty, const char *text, unsigned n)
{
	unsigned long flags;
	unsigned i;

	spin_lock_irqsave(&tty->tx_lock, flags);
	for (i = 0; i < n; i++)
		if (!tx_process(tty, text[i], TTY_ECHO_RESERVE))
			break;
	tty->writers_wait |= i < n;
	spin_unlock_irqrestore(&tty->tx_lock, flags);
	return i;
}

unsigned tty_output(struct tty_struct *tty, const char *text, unsigned n)
{
	unsigned done = 0, part, got;

	do {
		part = min(n - done, (unsigned)OUTPUT_BATCH);
		got = output_batch(tty, text + done, part);
		done += got;
	} while (got == part && done < n);
	return done;
}

unsigned tty_output_pending(struct tty_struct *tty)
{
	return READ_ONCE(tty->tx_head) - READ_ONCE(tty->tx_tail);
}

/* [o] The next byte to send leaves the ring. */
static char tx_take(struct tty_struct *tty)
{
	char c = tty->tx[tty->tx_tail++ % TTY_TX_SIZE];

	tty->sent_column = next_column(tty->sent_column, c);
	return c;
}

/*
 * Sleepers are woken when a good part of the ring is free, not for each byte: a writer that wakes
 * for one byte costs a switch for each. A task that waits for the end is woken at the end.
 */
unsigned tty_tx_pull(struct tty_struct *tty, char *buf, unsigned max, bool *wake)
{
	unsigned long flags;
	unsigned n = 0;

	spin_lock_irqsave(&tty->tx_lock, flags);
	while (n < max && !tty->stopped && tty->tx_tail != tty->tx_head)
		buf[n++] = tx_take(tty);
	*wake = tty->writers_wait && n &&
		(tx_room(tty) >= TTY_ECHO_RESERVE + TTY_TX_SIZE / 4 || tty->tx_tail == tty->tx_head);
	if (*wake)
		tty->writers_wait = false;
	*wake |= n && tty->rx_head != READ_ONCE(tty->rx_tail); /* input may have waited for room to echo */
	spin_unlock_irqrestore(&tty->tx_lock, flags);
	return n;
}

void tty_tx_pulled(struct tty_struct *tty)
{
	raise_softirq(TTY_SOFTIRQ);
}

void tty_kick(struct tty_struct *tty)
{
	if (tty_output_pending(tty) && !READ_ONCE(tty->stopped))
		tty->ops->start_tx(tty->port);
}

void tty_flush_output(struct tty_struct *tty)
{
	unsigned long flags;

	spin_lock_irqsave(&tty->tx_lock, flags);
	tty->tx_tail = tty->tx_head;
	tty->column = tty->sent_column;
	tty->writers_wait = false;
	spin_unlock_irqrestore(&tty->tx_lock, flags);
	raise_softirq(TTY_SOFTIRQ); /* a task that waited for room has it */
}

void tty_set_stopped(struct tty_struct *tty, bool stop)
{
	unsigned long flags;

	spin_lock_irqsave(&tty->tx_lock, flags);
	tty->stopped = stop;
	spin_unlock_irqrestore(&tty->tx_lock, flags);
}

/* True: nothing is pending. Else the puller that empties the ring will wake us. */
static bool tx_drained(struct tty_struct *tty)
{
	unsigned long flags;
	bool empty;

	spin_lock_irqsave(&tty->tx_lock, flags);
	empty = tty->tx_tail == tty->tx_head;
	tty->writers_wait |= !empty;
	spin_unlock_irqrestore(&tty->tx_lock, flags);
	return empty;
}

int tty_wait_sent(struct tty_struct *tty)
{
	return wait_event_interruptible(&tty->write_wait, tx_drained(tty));
}

/*
 * In an oops the lock's holder may be the CPU that oopsed, or one that was stopped. Then the lock
 * is taken by force after a while: a torn line is better than a silent panic.
 */
unsigned long tty_port_lock(struct tty_struct *tty)
{
	unsigned long flags;

	if (unlikely(oops_in_progress)) {
		local_irq_save(flags);
		preempt_disable();
		for (unsigned i = 0; i < 1000000; i++) {
			if (arch_spin_trylock(&tty->port_lock))
				return flags;
			cpu_relax();
		}
		spin_lock_init(&tty->port_lock);
		arch_spin_lock(&tty->port_lock);
		return flags;
	}
	spin_lock_irqsave(&tty->port_lock, flags);
	return flags;
}

void tty_port_unlock(struct tty_struct *tty, unsigned long flags)
{
	spin_unlock_irqrestore(&tty->port_lock, flags);
}

/*
 * Send the rest of the line that a program has begun, so that a message of the kernel does not tear it
 * apart. [port_lock]
 *
 * printk must not overtake characters that the serial driver has taken from the ring. A program's output goes
 * from the tty's ring through the driver's small buffer into the chip's FIFO, and printk writes to the chip
 * itself. When the FIFO is full, characters stay in that buffer; a printk that knew of the ring alone would
 * send what lies behind them first. So characters leave the ring and reach the chip under port_lock, which
 * printk holds, and poll_put sends the driver's buffer before anything of its own. Tasks that wait for room
 * are woken after port_lock is free: printk may hold a lock of the scheduler when it takes port_lock.
 */
static void console_finish_line(struct tty_struct *tty)
{
	bool newline = false, begun;
	u32 at;

	if (unlikely(oops_in_progress) ? !arch_spin_trylock(&tty->tx_lock) : (arch_spin_lock(&tty->tx_lock), false))
		return;
	/* After a carriage return the column is 0, but the line is not at its end: its newline is the next byte. */
	begun = tty->sent_column || (tty->tx_tail != tty->tx_head && tty->tx[tty->tx_tail % TTY_TX_SIZE] == '\n');
	for (at = tty->tx_tail; at != tty->tx_head && !newline; at++)
		newline = tty->tx[at % TTY_TX_SIZE] == '\n';
	while (newline && begun && tty->tx_tail != at)
		tty->ops->poll_put(tty->port, tx_take(tty));
	if (tty->sent_column) {
		tty->ops->poll_put(tty->port, '\r');
		tty->ops->poll_put(tty->port, '\n');
		tty->sent_column = 0;
	}
	arch_spin_unlock(&tty->tx_lock);
}

/*
 * Write a piece of a message; a line may come in several. Context: any, with the console lock held
 * and interrupts off.
 */
static void tty_console_write(struct console *con, const char *text, size_t len)
{
	struct tty_struct *tty = con->data;
	unsigned long flags = tty_port_lock(tty);

	if (!tty->con_open)
		console_finish_line(tty);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			tty->ops->poll_put(tty->port, '\r');
		tty->ops->poll_put(tty->port, text[i]);
	}
	if (len)
		tty->con_open = text[len - 1] != '\n';
	tty_port_unlock(tty, flags);
}

void tty_console_init(struct tty_struct *tty)
{
	tty->console = (struct console){.name = tty->name, .write = tty_console_write, .data = tty};
	console_register(&tty->console);
}

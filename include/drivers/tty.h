/*
 * Terminals: a line discipline (echo, erase, ^U ^W ^C ^\ ^Z ^D, canonical and raw input, job control) between
 * a serial port's driver and /dev/console, /dev/ttyS0 or ttyAMA0.
 */
#pragma once

#include <lib/types.h>

struct tty_struct;
/*
 * What a serial driver supplies. start_tx: interrupts off or on, any context, without the port's lock, which
 * it takes. throttle: with the tty's lock held, interrupts off; may take only a lock of its own. poll_put:
 * with the port's lock held.
 */
struct uart_ops {
	void (*start_tx)(void *port);	       /* there is output: enable the transmit interrupt, fill the FIFO */
	void (*poll_put)(void *port, char c);  /* wait for room and send: printk and panic */
	void (*throttle)(void *port, bool on); /* stop or resume taking input (the tty's buffer is nearly full) */
	/* A port that may hang up counts its files: one more (-EIO: it is hung up), one less. NULL: it does not */
	int (*get)(void *port);
	void (*put)(void *port);
};
/* Makes /dev/<name> and, for the first one, /dev/console and the printk console. Boot. NULL when out of
 * memory. */
struct tty_struct *tty_register_uart(const char *name, unsigned minor, const struct uart_ops *ops, void *port);
/* From the receive interrupt, without the port's lock. Never drops while throttling works; drops are counted
 * in tty stats. */
void tty_receive(struct tty_struct *tty, const char *data, unsigned n);
/*
 * From the transmit interrupt or start_tx, with the port's lock: the next bytes to send; 0 when there is nothing more
 * (disable the interrupt). When *wake comes back true, tty_tx_pulled() is due once the port's lock is free: there is
 * room again, and a task may wait for it.
 */
unsigned tty_tx_pull(struct tty_struct *tty, char *buf, unsigned max, bool *wake);
void tty_tx_pulled(struct tty_struct *tty); /* any context but nmi, without the port's lock */
/* Lock that serialises the port's hardware between tty output and printk; interrupts off. */
unsigned long tty_port_lock(struct tty_struct *tty);
void tty_port_unlock(struct tty_struct *tty, unsigned long flags);
/* sysrq-like keys: break followed by a letter; others may add one. */
struct sysrq_key {
	char key;
	const char *help;
	void (*handler)(void);
};
#define REGISTER_SYSRQ(k) REGISTER_IN(sysrq, k)
/* A break condition on the line: the next character is such a key. From the receive interrupt. */
void tty_receive_break(struct tty_struct *tty);
/* What reads such keys (drivers/tty/sysrq): runs the key's handler. Softirq, no lock held. */
struct sysrq_reader {
	void (*read)(char key);
};
#define REGISTER_SYSRQ_READER(r) REGISTER_IN(sysrq_readers, r)
DECLARE_TABLE(sysrq_readers, const struct sysrq_reader);
/*
 * A session leader ends: its terminal, if it has one, sends SIGHUP to the foreground group and belongs to no
 * session any more; signal->tty of all its processes becomes NULL. Context: thread, no lock
 * held.
 */
void disassociate_ctty(bool on_exit);
/* For /proc/<pid>/stat: a terminal's device number, and its foreground group. Any context. */
u64 tty_devnum(const struct tty_struct *tty);
int tty_foreground(const struct tty_struct *tty);

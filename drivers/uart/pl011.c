/* Arm PL011 serial port: interrupts both ways, under the tty layer. */
#include <asm/io.h>
#include <drivers/driver.h>
#include <drivers/early_console.h>
#include <drivers/tty.h>
#include <irq/irq.h>
#include <irq/irqflags.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>
#include <sched/spinlock.h>

#include "pl011.h"

#define BAUD	 115200
#define RX_BATCH 16

/* Locks: m mask_lock, interrupts off; b who holds tx_busy; a atomic; I immutable after probe. */
struct pl011 {
	void *regs;		/* [I] */
	struct tty_struct *tty; /* [I] NULL until registered: no input before */
	spinlock_t mask_lock;	/* UARTIMSC and throttled */
	bool throttled;		/* [m] */
	bool log_shown;		/* [I] probe: what is played to us now, the early console has printed */
	int tx_busy;		/* [a] somebody fills the FIFO */
	int tx_again;		/* [a] there may be more to send than he has seen */
	char tx_buf[RX_BATCH];	/* [b] pulled from the tty, not yet sent */
	unsigned tx_at, tx_len; /* [b] */
	u64 overruns;		/* [interrupt] times the FIFO was full before we came */
};

static void set_mask(struct pl011 *p, u32 clear, u32 set)
{
	unsigned long flags;

	spin_lock_irqsave(&p->mask_lock, flags);
	writel_relaxed((readl_relaxed(p->regs + UARTIMSC) & ~clear) | set, p->regs + UARTIMSC);
	spin_unlock_irqrestore(&p->mask_lock, flags);
}

/* Fill the FIFO from the tty. True when the FIFO was full first: the interrupt goes on. [b] */
static bool fill_fifo(struct pl011 *p)
{
	for (;;) {
		unsigned long flags;

		if (p->tx_at == p->tx_len) {
			p->tx_at = 0;
			p->tx_len = tty_tx_pull(p->tty, p->tx_buf, sizeof(p->tx_buf));
			if (!p->tx_len)
				return false;
		}
		flags = tty_port_lock(p->tty); /* printk writes to the same FIFO */
		while (p->tx_at < p->tx_len && !(readl_relaxed(p->regs + UARTFR) & FR_TXFF))
			writel_relaxed((u8)p->tx_buf[p->tx_at++], p->regs + UARTDR);
		tty_port_unlock(p->tty, flags);
		if (p->tx_at < p->tx_len)
			return true;
	}
}

/*
 * Bytes must leave in order, so one CPU at a time fills the FIFO. One that comes meanwhile does not wait (it
 * may hold locks of the tty): it leaves tx_again behind, which the other looks at after it has let go. Both
 * words are exchanged with full barriers: either he sees our tx_again, or we see him gone.
 */
static void pl011_start_tx(void *port)
{
	struct pl011 *p = port;
	unsigned long flags;

	local_irq_save(flags);
	__atomic_store_n(&p->tx_again, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&p->tx_again, __ATOMIC_SEQ_CST) &&
	       !__atomic_exchange_n(&p->tx_busy, 1, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&p->tx_again, 0, __ATOMIC_SEQ_CST);
		if (fill_fifo(p))
			set_mask(p, 0, INT_TX);
		else if (readl_relaxed(p->regs + UARTIMSC) & INT_TX)
			set_mask(p, INT_TX, 0);
		__atomic_store_n(&p->tx_busy, 0, __ATOMIC_SEQ_CST);
	}
	local_irq_restore(flags);
}

static void pl011_poll_put(void *port, char c)
{
	struct pl011 *p = port;

	if (p->log_shown)
		return;
	while (readl_relaxed(p->regs + UARTFR) & FR_TXFF)
		cpu_relax();
	writel_relaxed((u8)c, p->regs + UARTDR);
}

/* Input stays in the FIFO, and then with the sender: nothing is lost while we do not look. */
static void pl011_throttle(void *port, bool on)
{
	struct pl011 *p = port;

	WRITE_ONCE(p->throttled, on);
	set_mask(p, on ? INT_RX | INT_RT : 0, on ? 0 : INT_RX | INT_RT);
}

static const struct uart_ops pl011_ops = {
	.start_tx = pl011_start_tx,
	.poll_put = pl011_poll_put,
	.throttle = pl011_throttle,
};

/* Up to `max` characters from the FIFO; stops behind a break, which carries no character. */
static unsigned read_batch(struct pl011 *p, char *batch, unsigned max, bool *brk)
{
	unsigned n = 0;

	*brk = false;
	while (n < max && !*brk && !(readl_relaxed(p->regs + UARTFR) & FR_RXFE)) {
		u32 data = readl_relaxed(p->regs + UARTDR);

		if (data & DR_OE)
			p->overruns++;
		*brk = data & DR_BE;
		if (!*brk)
			batch[n++] = data;
	}
	return n;
}

/* Small batches: the tty may throttle us after each. */
static void pl011_rx_chars(struct pl011 *p)
{
	char batch[RX_BATCH];
	unsigned n;
	bool brk;

	do {
		n = read_batch(p, batch, RX_BATCH, &brk);
		if (n)
			tty_receive(p->tty, batch, n);
		if (brk)
			tty_receive_break(p->tty);
	} while ((n == RX_BATCH || brk) && !READ_ONCE(p->throttled));
}

static irqreturn_t pl011_int(int irq, void *dev)
{
	struct pl011 *p = dev;
	u32 status = readl(p->regs + UARTMIS);

	if (!status)
		return IRQ_NONE;
	/*
	 * The receive interrupts go away by reading all. Clearing them by hand would hide what a throttled
	 * FIFO still holds.
	 */
	writel(status & ~(INT_RX | INT_RT), p->regs + UARTICR);
	if (status & (INT_RX | INT_RT))
		pl011_rx_chars(p);
	if (status & INT_TX)
		pl011_start_tx(p);
	return IRQ_HANDLED;
}

/* A port that firmware has set up keeps its rate; one that is off gets ours if its clock is known. */
static void setup_port(struct pl011 *p, u32 clock_hz)
{
	u32 cr = readl_relaxed(p->regs + UARTCR), ibrd = readl_relaxed(p->regs + UARTIBRD),
	    fbrd = readl_relaxed(p->regs + UARTFBRD);

	if (!ibrd && clock_hz) {
		u32 div = (u64)clock_hz * 4 / BAUD; /* clock / (16 * baud), in 64ths (3.3.6) */

		ibrd = div / 64;
		fbrd = div % 64;
	}
	while ((cr & CR_UARTEN) && (readl_relaxed(p->regs + UARTFR) & FR_BUSY))
		cpu_relax(); /* line control must not change while a character leaves (3.3.7) */
	writel_relaxed(0, p->regs + UARTCR);
	writel_relaxed(ibrd, p->regs + UARTIBRD);
	writel_relaxed(fbrd, p->regs + UARTFBRD);
	writel_relaxed(LCR_WLEN8 | LCR_FEN, p->regs + UARTLCR);
	writel_relaxed(IFLS_RX_1_2 | IFLS_TX_1_8, p->regs + UARTIFLS);
	writel_relaxed(0, p->regs + UARTIMSC);
	writel_relaxed(INT_ALL, p->regs + UARTICR);
	writel_relaxed(cr | CR_UARTEN | CR_TXE | CR_RXE, p->regs + UARTCR);
}

/* Registration plays the log so far to the new console; if the early console is this very port, it is there
 * already. */
static int register_tty(struct pl011 *p, phys_addr_t base)
{
	static unsigned next_minor; /* [probe] */
	char name[16];

	snprintf(name, sizeof(name), "ttyAMA%u", next_minor);
	p->log_shown = early_console_active(base);
	p->tty = tty_register_uart(name, next_minor, &pl011_ops, p);
	if (!p->tty)
		return -ENOMEM;
	next_minor++;
	if (p->log_shown)
		early_console_stop();
	p->log_shown = false;
	return 0;
}

static int pl011_probe(const struct device_desc *dev)
{
	struct pl011 *p;
	int irq = device_irq(dev, 0), err = -ENOMEM;

	if (irq < 0)
		return irq;
	if (!dev->nr_reg)
		return -EINVAL;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	spin_lock_init(&p->mask_lock);
	p->regs = ioremap(dev->reg[0].base, dev->reg[0].size);
	if (!p->regs)
		goto free_port;
	setup_port(p, dev->clock_hz);
	err = register_tty(p, dev->reg[0].base);
	if (err)
		goto unmap;
	err = request_irq(irq, pl011_int, 0, "uart-pl011", p);
	if (err)
		return err; /* it stays as an output: a tty cannot be taken back */
	set_mask(p, 0, INT_RX | INT_RT);
	return 0;
unmap:
	iounmap(p->regs);
free_port:
	kfree(p);
	return err;
}

static const char *const pl011_ids[] = {"arm,pl011", NULL};
static const struct driver pl011_driver = {
	.name = "pl011",
	.compatible = pl011_ids,
	.level = DRIVER_DEVICE,
	.probe = pl011_probe,
};
REGISTER_DRIVER(pl011_driver);

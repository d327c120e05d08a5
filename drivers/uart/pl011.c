/*
 * Arm PL011 serial port: interrupts both ways, under the tty layer. uart_core.c has what is common
 * to all chips: locks, the order of bytes, throttling. This chip says whether its FIFO is full, so
 * sending is a loop; errors come with the character that they belong to.
 */
#include <arch/processor.h>
#include <asm/io.h>
#include <drivers/driver.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>

#include "pl011.h"
#include "uart_core.h"

#define BAUD 115200

struct pl011 {
	struct uart_port port;
	void *regs;			/* [I] */
	char early[UART_BATCH];		/* [port's interrupt] what came before the FIFO was on */
	unsigned nr_early, early_given; /* [likewise] */
};

static void *regs_of(struct uart_port *port)
{
	return container_of(port, struct pl011, port)->regs;
}

/* Fill the FIFO. Returns how many characters it took. */
static unsigned pl011_send(struct uart_port *port, const char *text, unsigned n)
{
	void *regs = regs_of(port);
	unsigned i = 0;

	while (i < n && !(readl_relaxed(regs + UARTFR) & FR_TXFF))
		writel_relaxed((u8)text[i++], regs + UARTDR);
	return i;
}

/* [mask_lock] Reading and writing the mask belong together. */
static void set_mask(struct uart_port *port, u32 bits, bool on)
{
	void *regs = regs_of(port);
	u32 mask = readl_relaxed(regs + UARTIMSC);

	writel_relaxed(on ? mask | bits : mask & ~bits, regs + UARTIMSC);
}

static void pl011_set_tx_irq(struct uart_port *port, bool on)
{
	set_mask(port, INT_TX, on);
}

static void pl011_set_rx_irq(struct uart_port *port, bool on)
{
	set_mask(port, INT_RX | INT_RT, on);
}

/* Characters that were kept by setup_port() come first: they are older than what is in the FIFO. */
static unsigned pl011_receive(struct uart_port *port, char *batch, unsigned max, bool *brk)
{
	void *regs = regs_of(port);
	struct pl011 *p = container_of(port, struct pl011, port);
	unsigned n = 0;

	while (n < max && p->early_given < p->nr_early)
		batch[n++] = p->early[p->early_given++];
	while (n < max && !*brk && !(readl_relaxed(regs + UARTFR) & FR_RXFE)) {
		u32 data = readl_relaxed(regs + UARTDR);

		if (data & DR_OE)
			port->overruns++;
		*brk = data & DR_BE;
		if (!*brk)
			batch[n++] = data;
	}
	return n;
}

static const struct uart_chip pl011_chip = {
	.name = "ttyAMA",
	.type = "PL011",
	.irq_name = "uart-pl011",
	.send = pl011_send,
	.receive = pl011_receive,
	.set_rx_irq = pl011_set_rx_irq,
	.set_tx_irq = pl011_set_tx_irq,
};

/*
 * Hard interrupt. Transmit is acknowledged before the FIFO is filled, so that it rises again when
 * that has run low.
 */
static irqreturn_t pl011_int(int irq, void *dev)
{
	struct pl011 *p = container_of(dev, struct pl011, port);
	u32 status = readl(p->regs + UARTMIS);

	if (!status)
		return IRQ_NONE;
	/*
	 * The receive interrupts go away by reading all. Clearing them by hand would hide what a throttled
	 * FIFO still holds.
	 */
	writel(status & ~(INT_RX | INT_RT), p->regs + UARTICR);
	if (status & (INT_RX | INT_RT))
		uart_rx(&p->port);
	if (status & INT_TX)
		uart_tx(&p->port);
	return IRQ_HANDLED;
}

/*
 * Set rate, format and FIFOs, with interrupts masked. A port that firmware has set up keeps its
 * rate; one that is off gets ours if its clock is known.
 */
static void setup_port(struct pl011 *p, u32 clock_hz)
{
	u32 cr = readl_relaxed(p->regs + UARTCR), ibrd = readl_relaxed(p->regs + UARTIBRD),
	    fbrd = readl_relaxed(p->regs + UARTFBRD);
	bool brk = false;

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
	/*
	 * Turning the FIFO on empties it: a character that was typed while we boot is taken out before. QEMU passes
	 * on what it holds back when the receiver is read, and with the FIFO empty no interrupt would lead to a read:
	 * so we read once.
	 */
	if (!(readl_relaxed(p->regs + UARTLCR) & LCR_FEN))
		p->nr_early = pl011_receive(&p->port, p->early, sizeof(p->early), &brk);
	writel_relaxed(LCR_WLEN8 | LCR_FEN, p->regs + UARTLCR);
	if (readl_relaxed(p->regs + UARTFR) & FR_RXFE)
		readl_relaxed(p->regs + UARTDR);
	writel_relaxed(IFLS_RX_1_2 | IFLS_TX_1_8, p->regs + UARTIFLS);
	writel_relaxed(0, p->regs + UARTIMSC);
	writel_relaxed(INT_ALL, p->regs + UARTICR);
	writel_relaxed(cr | CR_UARTEN | CR_TXE | CR_RXE, p->regs + UARTCR);
}

/*
 * Map, set up, register. A port whose interrupt cannot be had stays registered, since messages go out without one; so
 * only an error before there is a terminal unwinds. -EINVAL, -ENOMEM, errors of uart_register().
 */
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
	p->regs = ioremap(dev->reg[0].base, dev->reg[0].size);
	if (!p->regs)
		goto free_port;
	setup_port(p, dev->clock_hz);
	err = uart_register(&p->port, &pl011_chip, dev->reg[0].base, irq, pl011_int);
	if (err && !p->port.tty)
		goto unmap;
	return err;
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

/*
 * 16550 serial port, by I/O ports or memory: interrupts both ways, under the tty layer. uart_core.c
 * has what is common to all chips: locks, the order of bytes, throttling. Here is what this chip
 * makes difficult: reading some of its registers changes them, its transmitter does not say how
 * full it is, and its interrupt line is edge-triggered on a PC.
 */
#include "ns16550.h"

#include <asm/io.h>
#include <drivers/driver.h>
#include <drivers/early_console.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>

#include "uart_core.h"

#define BAUD	   115200
#define INT_PASSES 256

/* An address below this is an I/O port's: there is no more of them, and no machine has device memory there.
 */
#define NR_IO_PORTS 0x10000

struct ns16550 {
	struct uart_port port;
	u16 io;			  /* [I] first I/O port, or */
	u8 *mem;		  /* [I] the registers in memory, a byte each; NULL: ports */
	unsigned fifo;		  /* [I] bytes that the transmitter takes at once */
	u8 ier;			  /* [port.mask_lock] as written last */
	u8 lsr_seen;		  /* [a] OE and BI that a look at LSR has cleared, for ns16550_receive() */
	bool brk_due;		  /* [port's interrupt] LSR has told of a break whose character is still to come */
	char early[NS16550_FIFO]; /* [port's interrupt] what came before the FIFOs were on */
	unsigned nr_early, early_given; /* [likewise] */
};

static u8 ns_read(struct ns16550 *p, unsigned reg)
{
	return p->mem ? readb(p->mem + reg) : inb(p->io + reg);
}

static void ns_write(struct ns16550 *p, unsigned reg, u8 v)
{
	if (p->mem)
		writeb(v, p->mem + reg);
	else
		outb(v, p->io + reg);
}

/*
 * Read LSR. Sender and receiver both look at it, on any CPU, and a look clears overrun and break.
 * So these two are kept in lsr_seen for the receiver.
 */
static u8 read_lsr(struct ns16550 *p)
{
	u8 lsr = ns_read(p, UART_LSR);

	if (unlikely(lsr & (LSR_OE | LSR_BI)))
		__atomic_fetch_or(&p->lsr_seen, lsr & (LSR_OE | LSR_BI), __ATOMIC_RELAXED);
	return lsr;
}

/*
 * The chip does not say how full its FIFO is, only when it is empty: then a whole FIFO may be
 * written.
 */
static unsigned ns16550_send(struct uart_port *port, const char *text, unsigned n)
{
	struct ns16550 *p = container_of(port, struct ns16550, port);

	if (!(read_lsr(p) & LSR_THRE))
		return 0;
	n = min(n, p->fifo);
	for (unsigned i = 0; i < n; i++)
		ns_write(p, UART_THR, text[i]);
	return n;
}

/* [mask_lock] The register is written from a copy, as reading a register of a chip takes long. */
static void set_ier(struct uart_port *port, u8 bit, bool on)
{
	struct ns16550 *p = container_of(port, struct ns16550, port);

	p->ier = on ? p->ier | bit : p->ier & ~bit;
	ns_write(p, UART_IER, p->ier);
}

/*
 * Turning it on with the transmitter empty raises the interrupt at once (8.6.5), so it does not matter that
 * the transmitter may have become empty since ns16550_send found it busy.
 */
static void ns16550_set_tx_irq(struct uart_port *port, bool on)
{
	set_ier(port, IER_THRI, on);
}

static void ns16550_set_rx_irq(struct uart_port *port, bool on)
{
	set_ier(port, IER_RDI, on);
}

/*
 * Take over errors noticed since the last call: overruns are counted, a break is kept until its
 * character comes.
 */
static void take_errors(struct ns16550 *p)
{
	u8 seen;

	if (likely(!READ_ONCE(p->lsr_seen)))
		return;
	seen = __atomic_exchange_n(&p->lsr_seen, 0, __ATOMIC_RELAXED);
	p->port.overruns += !!(seen & LSR_OE);
	p->brk_due |= !!(seen & LSR_BI);
}

/*
 * A break is received as a zero. The chip shows BI when that one is next to be read; QEMU (7.2) already when
 * the break comes, with characters from before it still in the FIFO. So the break is the first zero from then
 * on.
 */
static unsigned ns16550_receive(struct uart_port *port, char *batch, unsigned max, bool *brk)
{
	struct ns16550 *p = container_of(port, struct ns16550, port);
	unsigned n = 0;

	while (n < max && p->early_given < p->nr_early)
		batch[n++] = p->early[p->early_given++];
	while (n < max && !*brk && (read_lsr(p) & LSR_DR)) {
		char c = ns_read(p, UART_RBR);

		take_errors(p);
		*brk = p->brk_due && !c;
		if (*brk)
			p->brk_due = false;
		else
			batch[n++] = c;
	}
	return n;
}

static const struct uart_chip ns16550_chip = {
	.name = "ttyS",
	.type = "16550A",
	.send = ns16550_send,
	.receive = ns16550_receive,
	.set_rx_irq = ns16550_set_rx_irq,
	.set_tx_irq = ns16550_set_tx_irq,
};

/* Let the interrupt line fall and, with something pending, rise again: a controller that waits for an edge gets one. */
static void raise_again(struct ns16550 *p)
{
	unsigned long flags;

	spin_lock_irqsave(&p->port.mask_lock, flags);
	ns_write(p, UART_IER, 0);
	ns_write(p, UART_IER, p->ier);
	spin_unlock_irqrestore(&p->port.mask_lock, flags);
}

/*
 * The line is edge-triggered on a PC: it must have gone down before we return, or it never rises again. So
 * until nothing is pending; after INT_PASSES, which a sender that is as fast as we are brings about, we make
 * it fall, to let others have the CPU in between. Reading IIR has ended the transmitter's interrupt; the
 * next comes when what we send now is out, or never, when there is nothing to send: then uart_tx has turned
 * it off, and turning it on raises it again.
 */
static irqreturn_t ns16550_int(int irq, void *dev)
{
	struct ns16550 *p = container_of(dev, struct ns16550, port);
	unsigned passes;
	u8 iir;

	for (passes = 0; passes < INT_PASSES && !((iir = ns_read(p, UART_IIR)) & IIR_NONE); passes++) {
		if ((iir & IIR_ID) == IIR_THRI)
			uart_tx(&p->port);
		else if (!READ_ONCE(p->port.throttled))
			uart_rx(&p->port);
	}
	if (unlikely(passes == INT_PASSES))
		raise_again(p);
	return passes ? IRQ_HANDLED : IRQ_NONE;
}

/*
 * A rate that firmware or boot loader has set stays. Where the early console writes, all is set, and no place
 * to look: with DLAB the transmitter's register is the divisor.
 */
static void setup_rate(struct ns16550 *p, phys_addr_t base, u32 clock_hz)
{
	unsigned divisor;

	if (early_console_active(base))
		return;
	ns_write(p, UART_LCR, LCR_8N1 | LCR_DLAB);
	divisor = ns_read(p, UART_DLL) | ns_read(p, UART_DLM) << 8;
	if (!divisor) {
		divisor = max((clock_hz ? clock_hz : NS16550_CLOCK) / (16 * BAUD), 1U);
		ns_write(p, UART_DLL, divisor);
		ns_write(p, UART_DLM, divisor >> 8);
	}
	ns_write(p, UART_LCR, LCR_8N1);
}

/*
 * Turning the FIFOs on throws away what has been received (8.6.4): a character that was typed while we boot.
 * It is read and kept, with the line cut off from the receiver meanwhile (loop-back, 8.6.7), so that no other
 * takes its place. With the FIFOs on already nothing is lost. QEMU passes on what it holds back when the
 * receiver is read, and with the FIFO empty no interrupt would lead to a read: so we read once.
 */
static void enable_fifos(struct ns16550 *p)
{
	bool brk = false, on = (ns_read(p, UART_IIR) & IIR_FIFOS) == IIR_FIFOS;

	if (!on) {
		ns_write(p, UART_MCR, MCR_LOOP);
		p->nr_early = ns16550_receive(&p->port, p->early, sizeof(p->early), &brk);
	}
	ns_write(p, UART_FCR, FCR_ENABLE | FCR_RX_8);
	ns_write(p, UART_MCR, MCR_DTR | MCR_RTS | MCR_OUT2);
	if (!(read_lsr(p) & LSR_DR))
		ns_read(p, UART_RBR);
}

/* Is there a chip? Its scratch register keeps what it is told; without a chip, a read gives all ones. */
static int setup_port(struct ns16550 *p, phys_addr_t base, u32 clock_hz)
{
	ns_write(p, UART_SCR, 0x5a);
	if (ns_read(p, UART_SCR) != 0x5a)
		return -ENODEV;
	ns_write(p, UART_IER, 0);
	setup_rate(p, base, clock_hz);
	enable_fifos(p);
	p->fifo = (ns_read(p, UART_IIR) & IIR_FIFOS) == IIR_FIFOS ? NS16550_FIFO : 1;
	return 0;
}

/* Small addresses are I/O ports, others memory. Returns 0 or -ENOMEM. */
static int map_registers(struct ns16550 *p, phys_addr_t base, u64 size)
{
	if (base < NR_IO_PORTS) {
		p->io = base;
		return 0;
	}
	p->mem = ioremap(base, size);
	return p->mem ? 0 : -ENOMEM;
}

/*
 * Map, set up, register. A port whose interrupt cannot be had stays registered, since messages go out without one; so
 * only an error before there is a terminal unwinds. -EINVAL, -ENOMEM, errors of uart_register().
 */
static int ns16550_probe(const struct device_desc *dev)
{
	struct ns16550 *p;
	int irq = device_irq(dev, 0), err;

	if (irq < 0)
		return irq;
	if (!dev->nr_reg)
		return -EINVAL;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	err = map_registers(p, dev->reg[0].base, dev->reg[0].size);
	if (err)
		goto free_port;
	err = setup_port(p, dev->reg[0].base, dev->clock_hz);
	if (err)
		goto unmap;
	err = uart_register(&p->port, &ns16550_chip, dev->reg[0].base, irq, ns16550_int);
	if (err && !p->port.tty)
		goto unmap;
	return err;
unmap:
	if (p->mem)
		iounmap(p->mem);
free_port:
	kfree(p);
	return err;
}

static const char *const ns16550_ids[] = {"ns16550a", NULL};
static const struct driver ns16550_driver = {
	.name = "ns16550",
	.compatible = ns16550_ids,
	.level = DRIVER_DEVICE,
	.probe = ns16550_probe,
};
REGISTER_DRIVER(ns16550_driver);

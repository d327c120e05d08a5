/*
 * A model of the 16550, the tty above its driver, and what else the driver calls, for drivers_ns16550_test.c, which
 * includes it behind the driver's own files.
 */
#pragma once

#define MEMORY	0x10009000UL
#define MAX_TXT 4096

/*
 * The model. Its line goes to a controller that sees rising edges; the test delivers them (service()) as a
 * CPU would, between any two accesses of the driver's when `eager` says so.
 */
static struct chip {
	bool absent, fifo_broken;
	bool qemu_breaks; /* BI shows at once, not with its character */
	u8 rx[NS16550_FIFO];
	bool rx_break[NS16550_FIFO];
	unsigned rx_n;
	u8 lsr_errors; /* OE, BI until somebody looks */
	u8 ier, lcr, mcr, fcr, scr, dll, dlm;
	unsigned thr_n;	    /* bytes to send */
	bool thr_interrupt; /* pending until IIR is read or something is written */
	bool line;
	unsigned edges;
	char sent[MAX_TXT];
	unsigned nr_sent;
	unsigned busy_looks;	 /* after so many looks at LSR the transmitter is empty; 0: only by all_sent() */
	const char *at_iir;	 /* what arrives whenever the driver asks for the reason, a character each time */
	const char *more;	 /* what arrives while the driver reads, a character for each that it takes */
	void (*after_iir)(void); /* what another CPU does, once, when the driver has just asked for the reason */
} chip;

static bool port_locked;
static unsigned nr_pulled;
static irq_handler_t handler;
static void *handler_data;
static bool early_active;
static int no_irq; /* or -errno */
static char registered[16];

static bool rx_pending(void)
{
	return chip.ier & IER_RDI && chip.rx_n;
}

static void update_line(void)
{
	bool level = (rx_pending() || (chip.ier & IER_THRI && chip.thr_interrupt)) && chip.mcr & MCR_OUT2;

	chip.edges += level && !chip.line;
	chip.line = level;
}

/* With the FIFOs off there is room for one. */
static void arrive(u8 c, bool brk)
{
	if (chip.rx_n == (chip.fcr & FCR_ENABLE ? NS16550_FIFO : 1)) {
		chip.lsr_errors |= LSR_OE;
	} else {
		chip.rx[chip.rx_n] = c;
		chip.rx_break[chip.rx_n++] = brk;
		if (brk && chip.qemu_breaks)
			chip.lsr_errors |= LSR_BI;
	}
	update_line();
}

/* The transmitter has sent all that it had. */
static void all_sent(void)
{
	chip.thr_interrupt = chip.thr_n > 0;
	chip.thr_n = 0;
	update_line();
}

static u8 read_rbr(void)
{
	u8 c = chip.rx[0];

	if (!chip.rx_n)
		return 0xff;
	chip.rx_n--;
	memmove(chip.rx, chip.rx + 1, chip.rx_n);
	memmove(chip.rx_break, chip.rx_break + 1, chip.rx_n * sizeof(bool));
	if (chip.more && *chip.more)
		arrive(*chip.more++, false);
	return c;
}

static u8 read_iir(void)
{
	u8 fifos = chip.fcr & FCR_ENABLE && !chip.fifo_broken ? IIR_FIFOS : 0;

	if (chip.at_iir && *chip.at_iir)
		arrive(*chip.at_iir++, false);
	if (rx_pending())
		return fifos | 2 << 1;
	if (!(chip.ier & IER_THRI && chip.thr_interrupt))
		return fifos | IIR_NONE;
	chip.thr_interrupt = false;
	return fifos | IIR_THRI;
}

/*
 * The line status. Reading it clears the error bits, and a break is shown with its character, or, as by QEMU, at once.
 */
static u8 read_lsr_model(void)
{
	u8 lsr;

	if (chip.busy_looks && chip.thr_n && !--chip.busy_looks) {
		chip.thr_n = 0;
		chip.busy_looks = 3;
	}
	lsr = chip.lsr_errors | (chip.rx_n ? LSR_DR : 0) | (chip.thr_n ? 0 : LSR_THRE);

	if (!chip.qemu_breaks && chip.rx_n && chip.rx_break[0])
		lsr |= LSR_BI;
	chip.lsr_errors = 0;
	chip.rx_break[0] = false; /* shown once */
	return lsr;
}

static unsigned reg_of(unsigned long port)
{
	unsigned long reg = port >= MEMORY ? port - MEMORY : port - 0x3f8;

	assert_true(reg < 8);
	return reg;
}

/*
 * The driver reads a register of the model. Some reads change the chip: IIR drops the transmitter's interrupt, LSR its
 * error bits.
 */
u8 host_in(unsigned long port)
{
	u8 v = 0xff;

	switch (chip.absent ? 99 : reg_of(port)) {
	case UART_RBR:
		v = chip.lcr & LCR_DLAB ? chip.dll : read_rbr();
		break;
	case UART_IER:
		v = chip.lcr & LCR_DLAB ? chip.dlm : chip.ier;
		break;
	case UART_IIR:
		v = read_iir();
		if (chip.after_iir) {
			void (*fn)(void) = chip.after_iir;

			chip.after_iir = NULL;
			fn();
		}
		break;
	case UART_LSR:
		v = read_lsr_model();
		break;
	case UART_SCR:
		v = chip.scr;
		break;
	}
	update_line();
	return v;
}

static void write_thr(u8 v)
{
	assert_true(chip.thr_n < (chip.fcr & FCR_ENABLE && !chip.fifo_broken ? NS16550_FIFO : 1));
	chip.thr_n++;
	chip.thr_interrupt = false;
	if (chip.nr_sent < MAX_TXT)
		chip.sent[chip.nr_sent++] = v;
}

/*
 * The driver writes a register of the model. Turning IER_THRI on while the transmitter is empty raises the interrupt
 * at once.
 */
void host_out(unsigned long port, u8 v)
{
	switch (chip.absent ? 99 : reg_of(port)) {
	case UART_THR:
		if (chip.lcr & LCR_DLAB)
			chip.dll = v;
		else
			write_thr(v);
		break;
	case UART_IER:
		if (chip.lcr & LCR_DLAB) {
			chip.dlm = v;
			break;
		}
		/* Turned on with the transmitter empty: at once. */
		chip.thr_interrupt |= v & ~chip.ier & IER_THRI && !chip.thr_n;
		chip.ier = v;
		break;
	case UART_FCR:
		if ((chip.fcr ^ v) & FCR_ENABLE)
			chip.rx_n = 0;
		chip.fcr = v;
		break;
	case UART_LCR:
		chip.lcr = v;
		break;
	case UART_MCR:
		chip.mcr = v;
		break;
	case UART_SCR:
		chip.scr = v;
		break;
	}
	update_line();
}

/* The tty above: text to send, what was received with '!' for a break. */
struct tty_struct {
	const struct uart_ops *ops;
	void *port;
	const char *to_send;
	char received[MAX_TXT];
	unsigned nr_received, room; /* room: throttle when so much has come; 0: never */
} tty;

struct tty_struct *tty_register_uart(const char *name, unsigned minor, const struct uart_ops *ops, void *port)
{
	strcpy(registered, name);
	tty = (struct tty_struct){.ops = ops, .port = port, .to_send = ""};
	return &tty;
}

void tty_receive(struct tty_struct *t, const char *data, unsigned n)
{
	memcpy(t->received + t->nr_received, data, n);
	t->nr_received += n;
	if (t->room && t->nr_received >= t->room)
		t->ops->throttle(t->port, true);
}

void tty_receive_break(struct tty_struct *t)
{
	t->received[t->nr_received++] = '!';
}

unsigned tty_tx_pull(struct tty_struct *t, char *buf, unsigned max, bool *wake)
{
	unsigned n = 0;

	assert_true(port_locked);
	while (n < max && *t->to_send)
		buf[n++] = *t->to_send++;
	*wake = n && !*t->to_send;
	return n;
}

/* It may wake a task, below whose locks printk takes the port's. */
void tty_tx_pulled(struct tty_struct *t)
{
	assert_false(port_locked);
	nr_pulled++;
}

unsigned long tty_port_lock(struct tty_struct *t)
{
	assert_false(port_locked);
	port_locked = true;
	return 0;
}

void tty_port_unlock(struct tty_struct *t, unsigned long flags)
{
	port_locked = false;
}

bool early_console_active(phys_addr_t base)
{
	return early_active;
}

void early_console_stop(void)
{
	early_active = false;
}

int device_irq(const struct device_desc *dev, unsigned index)
{
	return no_irq ? no_irq : 4;
}

int request_irq(int irq, irq_handler_t fn, unsigned flags, const char *name, void *dev)
{
	handler = fn;
	handler_data = dev;
	return 0;
}

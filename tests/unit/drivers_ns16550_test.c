/* The 16550's driver on a model of the chip: edges, FIFOs that run full, breaks, what looking at a register
 * clears. */
/* sources: */
/* include: tests/unit/include-io */
#include "../../drivers/uart/ns16550.c"
#include "../../drivers/uart/uart_core.c"

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
	unsigned busy_looks; /* after so many looks at LSR the transmitter is empty; 0: only by all_sent() */
	const char *at_iir;  /* what arrives whenever the driver asks for the reason, a character each time */
	const char *more;    /* what arrives while the driver reads, a character for each that it takes */
} chip;

static bool port_locked;
static unsigned nr_pulled;
static irq_handler_t handler;
static void *handler_data;
static bool early_active;
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
	return 4;
}

int request_irq(int irq, irq_handler_t fn, unsigned flags, const char *name, void *dev)
{
	handler = fn;
	handler_data = dev;
	return 0;
}

/* Deliver each edge once, as the controller does; in the end the line must be down, or no edge would ever
 * come again. */
static void service(void)
{
	for (unsigned n = 0; chip.edges; n++) {
		if (n > 10000)
			fail_msg("interrupts without end: what the line is up for is not served");
		chip.edges--;
		handler(4, handler_data);
	}
	assert_false(chip.line);
}

static u32 clock_hz; /* what the firmware says; 0: nothing */
static int probe_at(phys_addr_t base)
{
	const struct device_desc dev = {
		.reg = {{.base = base, .size = 8}}, .nr_reg = 1, .nr_irq = 1, .clock_hz = clock_hz};

	uart_ports = NULL;
	return ns16550_driver.probe(&dev);
}

static void begin(void)
{
	chip = (struct chip){.dll = 1};
	assert_int_equal(probe_at(0x3f8), 0);
}

static struct uart_port *port(void)
{
	return tty.port;
}

static void end(void)
{
	free(container_of(port(), struct ns16550, port));
}

static void expect_received(const char *text)
{
	assert_int_equal(tty.nr_received, strlen(text));
	assert_memory_equal(tty.received, text, strlen(text));
}

static void test_probe(void **state)
{
	chip = (struct chip){.absent = true};
	assert_int_equal(probe_at(0x3f8), -ENODEV);
	begin();
	assert_string_equal(registered, "ttyS0");
	assert_int_equal(chip.ier, IER_RDI);
	assert_int_equal(chip.lcr, LCR_8N1);
	assert_int_equal(chip.dll | chip.dlm << 8, 1); /* as it was */
	assert_int_equal(container_of(port(), struct ns16550, port)->fifo, NS16550_FIFO);
	end();
	/* In memory; without a rate; with FIFOs that do not work. */
	chip = (struct chip){.fifo_broken = true};
	assert_int_equal(probe_at(MEMORY), 0);
	assert_int_equal(chip.dll | chip.dlm << 8, 1);
	assert_int_equal(container_of(port(), struct ns16550, port)->fifo, 1);
	tty.to_send = "abc";
	tty.ops->start_tx(tty.port);
	for (int i = 0; i < 4; i++) {
		all_sent();
		service();
	}
	assert_memory_equal(chip.sent, "abc", 3);
	end();
	/* Where the early console writes the divisor's place is not looked at. */
	chip = (struct chip){.lcr = LCR_8N1, .thr_n = 1};
	early_active = true;
	assert_int_equal(probe_at(0x3f8), 0);
	assert_int_equal(chip.dll, 0);
	assert_false(early_active);
	end();
}

static void test_send(void **state)
{
	char text[1000];

	begin();
	nr_pulled = 0;
	for (unsigned i = 0; i < sizeof(text) - 1; i++)
		text[i] = 'a' + i % 26;
	text[sizeof(text) - 1] = '\0';
	tty.to_send = text;
	tty.ops->start_tx(tty.port);
	assert_int_equal(chip.nr_sent, NS16550_FIFO);
	assert_true(chip.ier & IER_THRI);
	while (chip.thr_n) {
		all_sent();
		service();
	}
	assert_int_equal(chip.nr_sent, sizeof(text) - 1);
	assert_memory_equal(chip.sent, text, sizeof(text) - 1);
	assert_false(chip.ier & IER_THRI); /* nothing left: quiet */
	assert_int_equal(port()->sent, sizeof(text) - 1);
	/* printk beside it, which waits for the transmitter. */
	chip.nr_sent = 0;
	tty.ops->poll_put(tty.port, '#');
	assert_memory_equal(chip.sent, "#", 1);
	/* It is busy when we look, and done before the interrupt is on: turning it on raises it. */
	tty.to_send = "late";
	tty.ops->start_tx(tty.port);
	assert_int_equal(chip.nr_sent, 1);
	all_sent();
	service();
	assert_memory_equal(chip.sent, "#late", 5);
	assert_int_equal(nr_pulled, 2); /* the ring had been emptied twice */
	/* printk while the FIFO is full: what was pulled for it is older, and goes first. */
	all_sent();
	service();
	chip.nr_sent = 0;
	tty.to_send = "0123456789abcdefghij";
	tty.ops->start_tx(tty.port);
	assert_int_equal(chip.nr_sent, NS16550_FIFO);
	chip.busy_looks = 3;
	tty.ops->poll_put(tty.port, '!');
	assert_memory_equal(chip.sent, "0123456789abcdefghij!", 21);
	all_sent();
	service();
	assert_int_equal(chip.nr_sent, 21);
	end();
}

static void type(const char *text)
{
	for (; *text; text++)
		arrive(*text, false);
}

static void test_receive(void **state)
{
	begin();
	type("one");
	service();
	expect_received("one");
	/* More than a FIFO full, arriving as fast as it is read: one edge, all of it taken. */
	chip.more = " two three four five six seven eight nine ten";
	type("!");
	service();
	expect_received("one! two three four five six seven eight nine ten");
	/* Input and room to send at the same moment: one edge for both. */
	tty.to_send = "0123456789abcdefghi";
	tty.ops->start_tx(tty.port);
	chip.nr_sent = 0;
	chip.line = true; /* not yet seen */
	type("+");
	all_sent();
	chip.edges = 1;
	service();
	assert_memory_equal(chip.sent, "ghi", 3);
	all_sent();
	service();
	/* An edge that somebody has served already is nobody's. */
	assert_int_equal(handler(4, handler_data), IRQ_NONE);
	assert_int_equal(tty.received[tty.nr_received - 1], '+');
	assert_int_equal(port()->received, tty.nr_received);
	end();
}

/* What was typed before the driver was there, and while it set the chip up. */
static void test_early_input(void **state)
{
	chip = (struct chip){.dll = 1, .more = "cho"};
	arrive('e', false);
	assert_int_equal(probe_at(0x3f8), 0);
	expect_received("echo"); /* with no interrupt */
	type(" hello");
	service();
	expect_received("echo hello");
	assert_int_equal(port()->received, 10);
	end();
	/* More than is kept: the rest comes when the FIFOs are on. */
	chip = (struct chip){.dll = 1, .more = "0123456789abcdef0123456789"};
	arrive('>', false);
	assert_int_equal(probe_at(0x3f8), 0);
	assert_memory_equal(tty.received, ">0123456789abcde", 16);
	end();
	/* Firmware has turned the FIFOs on. */
	chip = (struct chip){.dll = 1, .fcr = FCR_ENABLE};
	type("full");
	assert_int_equal(probe_at(0x3f8), 0);
	expect_received("full");
	end();
}

static void test_throttle(void **state)
{
	begin();
	tty.room = 3;
	type("abcdefgh");
	service();
	expect_received("abcdefgh"); /* a batch is taken whole */
	assert_int_equal(chip.ier & IER_RDI, 0);
	type("0123456789abcdef");
	service();
	expect_received("abcdefgh"); /* not taken while throttled, nor does output make us look */
	tty.to_send = "out";
	tty.ops->start_tx(tty.port);
	all_sent();
	service();
	assert_memory_equal(chip.sent, "out", 3);
	expect_received("abcdefgh");
	type("lost");
	assert_int_equal(port()->overruns, 0); /* known when we look */
	tty.room = 0;
	tty.ops->throttle(tty.port, false);
	service();
	expect_received("abcdefgh0123456789abcdef");
	assert_int_equal(port()->overruns, 1);
	end();
}

/* Who throttles after a batch gets no second one, however much there is. */
static void test_throttled_within(void **state)
{
	static const char text[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

	begin();
	tty.room = 3;
	chip.more = text + 8;
	for (unsigned i = 0; i < 8; i++)
		arrive(text[i], false);
	service();
	assert_int_equal(tty.nr_received, UART_BATCH);
	assert_memory_equal(tty.received, text, UART_BATCH);
	end();
}

/* One that sends as fast as we read: others have the CPU in between, and nothing is lost. */
static void test_never_ending_input(void **state)
{
	static char text[5 * INT_PASSES + 1];

	memset(text, 'e', sizeof(text) - 1);
	begin();
	chip.at_iir = text;
	arrive('e', false);
	assert_int_equal(handler(4, handler_data), IRQ_HANDLED);
	assert_true(tty.nr_received <= INT_PASSES + 1 && *chip.at_iir);
	assert_true(chip.edges > 0);
	service();
	assert_int_equal(tty.nr_received, sizeof(text));
	end();
}

/* A rate that is set stays; else it comes from the clock, all sixteen bits of it. */
static void test_rate(void **state)
{
	chip = (struct chip){.dll = 7, .dlm = 1};
	assert_int_equal(probe_at(0x3f8), 0);
	assert_true(chip.dll == 7 && chip.dlm == 1);
	end();
	chip = (struct chip){.dll = 0};
	assert_int_equal(probe_at(0x3f8), 0);
	assert_true(chip.dll == NS16550_CLOCK / (16 * BAUD) && chip.dlm == 0);
	end();
	chip = (struct chip){.dll = 0};
	clock_hz = 16 * BAUD * 0x203;
	assert_int_equal(probe_at(0x3f8), 0);
	assert_true(chip.dll == 3 && chip.dlm == 2);
	clock_hz = 0;
	end();
}

static void test_breaks(void **state)
{
	for (int qemu = 0; qemu < 2; qemu++) {
		begin();
		chip.qemu_breaks = qemu;
		type("ab");
		arrive(0, true);
		type("cd");
		service();
		expect_received("ab!cd");
		/* Seen first by the sender, who clears it; and a zero that is no break. */
		type("e");
		arrive(0, true);
		tty.to_send = "x";
		tty.ops->start_tx(tty.port);
		service();
		expect_received("ab!cde!");
		arrive(0, false);
		service();
		assert_int_equal(tty.nr_received, 8);
		assert_int_equal(tty.received[7], 0);
		assert_int_equal(port()->breaks, 2);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_receive),
		cmocka_unit_test(test_early_input),
		cmocka_unit_test(test_throttle),
		cmocka_unit_test(test_throttled_within),
		cmocka_unit_test(test_never_ending_input),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_breaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

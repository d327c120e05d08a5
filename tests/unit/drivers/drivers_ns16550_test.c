/*
 * The 16550's driver on a model of the chip, its interrupt line, and the tty above. The model does what QEMU and a
 * simple terminal never show: FIFOs that run full or do not work, input that comes while the driver looks, breaks,
 * bits that a look at a register clears, an interrupt line of which only rising edges count.
 *
 * The driver's accesses to ports and memory come to host_in() and host_out(). Nothing happens by itself: a test lets
 * characters arrive, lets the transmitter become empty (all_sent()), and delivers interrupts (service()).
 */
/* sources: */
/* include: tests/unit/include-io */
#include <stdbool.h>
#include <stdlib.h>

#include <mm/slab.h>
#include <mm/vmalloc.h>

static bool no_memory, no_mapping;
#undef kzalloc
#define kzalloc(size, gfp) (no_memory ? NULL : calloc(1, size))
#undef ioremap
#define ioremap(phys, size) (no_mapping ? NULL : (void *)(unsigned long)(phys))
#include "../../../drivers/uart/ns16550.c"
#include "../../../drivers/uart/uart_core.c"

#include "drivers_ns16550_host.h"

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

/*
 * Which chip is found and what is set up: none at all; one at ports; one in memory whose FIFOs do not work, which must
 * be sent one character at a time; and one that the early console is still writing to, whose divisor must not be
 * touched.
 */
static void test_probe(void **state)
{
	chip = (struct chip){.absent = true};
	assert_int_equal(probe_at(0x3f8), -ENODEV);
	begin();
	assert_string_equal(registered, "ttyS0");
	assert_int_equal(next_line(port()->chip), 1); /* each kind of chip counts its own ports */
	assert_int_equal(next_line(NULL), 0);
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

/* Without an interrupt, registers, memory or a mapping there is no port, and the error says so. Nothing is lost. */
static void test_probe_fails(void **state)
{
	const struct device_desc none = {.nr_irq = 1};

	chip = (struct chip){};
	registered[0] = '\0';
	assert_int_equal(ns16550_driver.probe(&none), -EINVAL);
	no_memory = true;
	assert_int_equal(probe_at(0x3f8), -ENOMEM);
	no_memory = false;
	no_mapping = true;
	assert_int_equal(probe_at(MEMORY), -ENOMEM);
	no_mapping = false;
	no_irq = -ENOENT;
	assert_int_equal(probe_at(0x3f8), -ENOENT);
	no_irq = 0;
	assert_string_equal(registered, "");
}

/*
 * A long text goes out a FIFO at a time, and the interrupt is off when nothing is left. Then printk's polled character
 * comes in between, while the transmitter is busy or the FIFO full: no character may be lost, doubled or overtaken.
 */
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

/*
 * One edge may stand for more than one reason: more input than a FIFO holds, or input and an empty transmitter
 * together. All of it must be served by that one edge, since no further one comes while the line is up; the terminal
 * would hang.
 */
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
	/* An edge that has been served already is no interrupt of ours. */
	assert_int_equal(handler(4, handler_data), IRQ_NONE);
	assert_int_equal(tty.received[tty.nr_received - 1], '+');
	assert_int_equal(port()->received, tty.nr_received);
	end();
}

/*
 * Characters that were typed before the driver was there, and while it set the chip up, are received without an
 * interrupt and in order, whatever state firmware has left the FIFOs in. Otherwise what is typed during the boot is
 * lost.
 */
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
	/* A break was received before the port was set up: the characters behind it are taken as well. */
	chip = (struct chip){.dll = 1, .fcr = FCR_ENABLE};
	type("ab");
	arrive(0, true);
	type("cd");
	assert_int_equal(probe_at(0x3f8), 0);
	expect_received("ab!cd");
	end();
}

/*
 * A tty without room throttles the port. Then no character may be taken, even when output makes the driver look at the
 * chip; after the end of it the FIFO's characters come, and the one that found the FIFO full is counted as an overrun.
 */
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

static void throttle_now(void)
{
	tty.ops->throttle(tty.port, true);
}

/* Another CPU throttles when the handler has just been told that there is input: then it takes no character. */
static void test_throttled_meanwhile(void **state)
{
	begin();
	type("ab");
	chip.after_iir = throttle_now;
	service();
	expect_received("");
	tty.ops->throttle(tty.port, false);
	service();
	expect_received("ab");
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

/*
 * A line that sends a character whenever the driver looks must not keep the interrupt handler for ever: after
 * INT_PASSES it must return, with an edge pending, so that the rest comes by the next interrupts.
 */
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

/*
 * The transmitter's interrupt waits behind input that comes whenever the driver looks, so that the line does not fall
 * by itself: after INT_PASSES the handler makes it fall and rise. Without that no edge would ever come again.
 */
static void test_line_stays_up(void **state)
{
	static char text[INT_PASSES + 1];

	memset(text, 'e', INT_PASSES);
	begin();
	tty.to_send = "0123456789abcdefgh";
	tty.ops->start_tx(tty.port);
	assert_int_equal(chip.nr_sent, NS16550_FIFO);
	all_sent();
	assert_int_equal(chip.edges, 1);
	chip.edges = 0; /* the one that the handler is called for */
	chip.at_iir = text;
	assert_int_equal(handler(4, handler_data), IRQ_HANDLED);
	assert_int_equal(tty.nr_received, INT_PASSES);
	assert_int_equal(chip.nr_sent, NS16550_FIFO);
	assert_int_equal(chip.edges, 1);
	service();
	assert_int_equal(chip.nr_sent, 18);
	end();
}

/* A divisor that is set is kept; otherwise it comes from the clock, all sixteen bits of it. */
static void test_rate(void **state)
{
	chip = (struct chip){.dll = 7, .dlm = 1};
	assert_int_equal(probe_at(0x3f8), 0);
	assert_true(chip.dll == 7 && chip.dlm == 1);
	end();
	chip = (struct chip){.dlm = 1};
	assert_int_equal(probe_at(0x3f8), 0);
	assert_true(chip.dll == 0 && chip.dlm == 1);
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

/*
 * A break is reported at its place among the characters, on a real chip, which shows it with its character, and on
 * QEMU's, which shows it at once; also when the sender's look at LSR has cleared the bit. A zero that is no break must
 * stay a character.
 */
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
		cmocka_unit_test(test_probe_fails),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_receive),
		cmocka_unit_test(test_early_input),
		cmocka_unit_test(test_throttle),
		cmocka_unit_test(test_throttled_meanwhile),
		cmocka_unit_test(test_throttled_within),
		cmocka_unit_test(test_never_ending_input),
		cmocka_unit_test(test_line_stays_up),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_breaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The early console: output on the boot UART by polling, until that UART's driver takes over. It
 * needs no interrupts, no allocator and no scheduler, so it shows messages from the first lines of
 * C on. early_uart.h is what the machine's UART supplies.
 */
#include <drivers/early_console.h>
#include <kernel/printk.h>

#include "early_uart.h"

static phys_addr_t early_base; /* [boot] 0: off */

static void early_write(struct console *con, const char *text, size_t len)
{
	if (!READ_ONCE(early_base))
		return;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			early_uart_put('\r');
		early_uart_put(text[i]);
	}
}

static struct console early_console = {.name = "earlycon", .write = early_write};

void early_console_start(phys_addr_t base)
{
	early_uart_open(base);
	early_base = base;
	console_register(&early_console);
}

bool early_console_active(phys_addr_t base)
{
	return early_base && early_base == base;
}

/* What reaches the UART stays mapped: a CPU may be in early_uart_put(). */
void early_console_stop(void)
{
	WRITE_ONCE(early_base, 0);
	console_unregister(&early_console);
}

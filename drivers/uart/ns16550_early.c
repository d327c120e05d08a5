/* The 16550 polled, by its I/O ports, for the early console. */
#include <asm/io.h>

#include "early_uart.h"
#include "ns16550.h"

static u16 io; /* [boot] */

/* One whose line control nobody has set (QEMU's at reset) would send five bits a character. */
void early_uart_open(phys_addr_t base)
{
	io = base;
	outb(0, io + UART_IER);
	outb(LCR_8N1, io + UART_LCR);
}

/* Errors that this look at LSR clears are of input, which nobody reads yet. */
void early_uart_put(char c)
{
	while (!(inb(io + UART_LSR) & LSR_THRE))
		;
	outb(c, io + UART_THR);
}

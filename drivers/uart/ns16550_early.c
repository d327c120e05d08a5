/* The 16550 polled, by its I/O ports, for the early console. */
#include <asm/io.h>

#include "early_uart.h"
#include "ns16550.h"

static u16 io; /* [boot] */

/* A port whose line control was not set since its reset (as QEMU's) would send five bits a character. */
void early_uart_open(phys_addr_t base)
{
	io = base;
	outb(0, io + UART_IER);
	outb(LCR_8N1, io + UART_LCR);
}

/* Errors that this look at LSR clears are of input, which is not read yet. */
void early_uart_put(char c)
{
	while (!(inb(io + UART_LSR) & LSR_THRE))
		;
	outb(c, io + UART_THR);
}

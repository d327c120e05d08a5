/* Messages before the tty's driver is there: the boot UART polled, in the state in which firmware left it. */
#pragma once

#include <lib/types.h>

/*
 * Register a printk console on the machine's kind of UART: a PL011 at physical address `base`, or a 16550
 * whose I/O ports begin there. Boot.
 */
void early_console_start(phys_addr_t base);
/* Is it the console of this UART, still? */
bool early_console_active(phys_addr_t base);
/* The real driver takes over: nothing more is written. Boot, thread. */
void early_console_stop(void);

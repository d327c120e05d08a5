/* What the early console needs of a UART: to be reached, and to send a character. One driver of a machine
 * supplies it. */
#pragma once

#include <lib/types.h>

/* Make the UART at `base` ready to send; its rate stays as it is. Boot, the fixmap works. */
void early_uart_open(phys_addr_t base);
/* Wait for room, send. Any context. */
void early_uart_put(char c);

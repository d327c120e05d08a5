/* The PL011 polled, through a fixmap page, for the early console. */
#include <arch/fixmap.h>
#include <asm/io.h>

#include "early_uart.h"
#include "pl011.h"

static void *regs; /* [boot] */

/* A port that is off, because no boot loader has used it, is turned on. */
void early_uart_open(phys_addr_t base)
{
	regs = (void *)(fix_to_virt(FIX_EARLYCON) + (base & ~PAGE_MASK));
	set_fixmap(FIX_EARLYCON, base & PAGE_MASK, PAGE_DEVICE);
	writel_relaxed(readl_relaxed(regs + UARTCR) | CR_UARTEN | CR_TXE, regs + UARTCR);
}

void early_uart_put(char c)
{
	while (readl_relaxed(regs + UARTFR) & FR_TXFF)
		;
	writel_relaxed((u8)c, regs + UARTDR);
}

/* The early console: polled output on the boot UART, through a fixmap page. */
#include <asm/fixmap.h>
#include <asm/io.h>
#include <drivers/early_console.h>
#include <kernel/printk.h>

#include "../../arch/aarch64/smp.h"
#include "pl011.h"

static phys_addr_t early_base; /* [boot] 0: off */

static void put(char c)
{
	void *base = (void *)(fix_to_virt(FIX_EARLYCON) + (early_base & ~PAGE_MASK));

	while (readl_relaxed(base + UARTFR) & FR_TXFF)
		;
	writel_relaxed((u8)c, base + UARTDR);
}

static void early_write(struct console *con, const char *text, size_t len)
{
	if (!READ_ONCE(early_base))
		return;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			put('\r');
		put(text[i]);
	}
}

static struct console early_console = {.name = "earlycon", .write = early_write};

/* A UART that is off (nobody used it before us) is turned on; its rate stays as it is. */
void early_console_start(phys_addr_t base)
{
	void *regs = (void *)(fix_to_virt(FIX_EARLYCON) + (base & ~PAGE_MASK));

	set_fixmap(FIX_EARLYCON, base & PAGE_MASK, PAGE_DEVICE);
	writel_relaxed(readl_relaxed(regs + UARTCR) | CR_UARTEN | CR_TXE, regs + UARTCR);
	early_base = base;
	console_register(&early_console);
}

bool early_console_active(phys_addr_t base)
{
	return early_base && early_base == base;
}

/* The mapping stays: a CPU may be in put(). */
void early_console_stop(void)
{
	WRITE_ONCE(early_base, 0);
}

static void semihosting_write(struct console *con, const char *text, size_t len)
{
	char one[2] = {0, 0};

	for (size_t i = 0; i < len; i++) {
		one[0] = text[i];
		semihosting_write0(one);
	}
}

static struct console semihosting_console = {.name = "semihosting", .write = semihosting_write};

void semihosting_console_start(void)
{
	console_register(&semihosting_console);
}

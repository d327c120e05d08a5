/*
 * The high-precision event timer (IA-PC HPET specification 1.0a): one counter that all CPUs read alike.
 * Measured against, and the clock of machines whose TSCs do not agree. One of its comparators samples (hpet_nmi.c).
 */
#include <asm/clock.h>
#include <asm/io.h>
#include <drivers/driver.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/vmalloc.h>

#include "calibrate.h"

#define HPET_ID		0x000 /* low half: timers less one in 12:8, the counter has 64 bits in 13 */
#define HPET_PERIOD	0x004 /* of the counter, femtoseconds */
#define HPET_CONFIG	0x010
#define HPET_COUNTER	0x0f0
#define HPET_TIMER(n)	(0x100 + 0x20 * (n)) /* its configuration */
#define HPET_ID_64BIT	(1 << 13)
#define HPET_ENABLE	(1 << 0)
#define HPET_LEGACY	(1 << 1) /* timers 0 and 1 interrupt as PIT and RTC would */
#define HPET_TIMER_INT	(1 << 2)
#define HPET_MAX_PERIOD 100000000 /* the specification's 100 ns: more is no HPET */

#define FS_PER_SEC 1000000000000000ULL

static void *hpet; /* [boot, then immutable] NULL: none */

static notrace u32 hpet_read_low(void)
{
	return readl_relaxed(hpet + HPET_COUNTER);
}

const struct calibration_counter *hpet_counter(void)
{
	static struct calibration_counter counter = {.name = "HPET", .read = hpet_read_low, .mask = U32_MAX};

	if (!hpet)
		return NULL;
	counter.period_fs = readl_relaxed(hpet + HPET_PERIOD);
	return &counter;
}

u64 hpet_hz(void)
{
	if (!hpet || !(readl_relaxed(hpet + HPET_ID) & HPET_ID_64BIT))
		return 0;
	return FS_PER_SEC / readl_relaxed(hpet + HPET_PERIOD);
}

/*
 * In halves, as not every chip set takes 64-bit accesses: the high half is the same before and after, so the
 * low one belongs to it. Not traced: it can be the clock.
 */
notrace u64 hpet_read(void)
{
	u32 high, low;

	do {
		high = readl(hpet + HPET_COUNTER + 4);
		low = readl(hpet + HPET_COUNTER);
	} while (readl(hpet + HPET_COUNTER + 4) != high);
	return (u64)high << 32 | low;
}

/*
 * Stop the timers that firmware has set up. The counter goes on and is not set: it may be
 * firmware's clock too.
 */
static void stop_timers(void)
{
	unsigned timers = ((readl_relaxed(hpet + HPET_ID) >> 8) & 0x1f) + 1;

	for (unsigned n = 0; n < timers; n++)
		writel_relaxed(readl_relaxed(hpet + HPET_TIMER(n)) & ~HPET_TIMER_INT, hpet + HPET_TIMER(n));
	writel_relaxed((readl_relaxed(hpet + HPET_CONFIG) & ~HPET_LEGACY) | HPET_ENABLE, hpet + HPET_CONFIG);
}

int hpet_start(void *regs)
{
	u32 period = readl_relaxed(regs + HPET_PERIOD);

	if (!period || period > HPET_MAX_PERIOD)
		return -ENODEV;
	hpet = regs;
	stop_timers();
	return 0;
}

void *hpet_registers(void)
{
	return hpet;
}

void hpet_forget(void)
{
	hpet = NULL;
}

/*
 * At the level of the interrupt controllers, so that the HPET is there when the first timer wants
 * to be measured.
 */
static int hpet_probe(const struct device_desc *dev)
{
	void *regs;
	int err;

	if (!dev->nr_reg)
		return -EINVAL;
	regs = ioremap(dev->reg[0].base, PAGE_SIZE);
	if (!regs)
		return -ENOMEM;
	err = hpet_start(regs);
	if (err) {
		iounmap(regs);
		return err;
	}
	pr_info("hpet: %lu Hz\n", (unsigned long)(FS_PER_SEC / readl_relaxed(hpet + HPET_PERIOD)));
	return 0;
}

static const char *const hpet_ids[] = {"pc,hpet", NULL};
static const struct driver hpet_driver = {
	.name = "hpet",
	.compatible = hpet_ids,
	.level = DRIVER_IRQCHIP,
	.probe = hpet_probe,
};
REGISTER_DRIVER(hpet_driver);

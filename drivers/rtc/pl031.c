/* Arm PL031 real-time clock (DDI 0224): seconds since 1970, read once at boot. */
#include <asm/io.h>
#include <drivers/driver.h>
#include <lib/errno.h>
#include <mm/vmalloc.h>
#include <time/clock.h>

#define RTCDR 0x00 /* data: the counter */

static int pl031_probe(const struct device_desc *dev)
{
	void *regs;
	u32 seconds;

	if (!dev->nr_reg)
		return -EINVAL;
	regs = ioremap(dev->reg[0].base, dev->reg[0].size);
	if (!regs)
		return -ENOMEM;
	seconds = readl(regs + RTCDR);
	iounmap(regs);
	set_wall_clock((u64)seconds * NSEC_PER_SEC);
	return 0;
}

static const char *const pl031_ids[] = {"arm,pl031", NULL};
static const struct driver pl031_driver = {
	.name = "pl031",
	.compatible = pl031_ids,
	.level = DRIVER_DEVICE,
	.probe = pl031_probe,
};
REGISTER_DRIVER(pl031_driver);

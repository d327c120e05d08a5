/*
 * The 8254 timer of the first PCs: three 16-bit counters at 1.193182 MHz. Channel 0 could interrupt and is
 * stopped, channel 2, which the loudspeaker hangs on, is there to measure against.
 */
#include <asm/io.h>
#include <drivers/driver.h>

#include "calibrate.h"

#define PIT_CHANNEL2 0x42
#define PIT_COMMAND  0x43
/*
 * Commands: channel in 7:6; 5:4 how its value is accessed, 3 is low byte first, 0 latches it; mode in 3:1; 0
 * binary.
 */
#define PIT_STOP0  0x30 /* mode 0 waits for a count, which is not given */
#define PIT_START2 0xb4 /* mode 2: over and over */
#define PIT_LATCH2 0x80

#define PORT_B	     0x61
#define PORT_B_GATE2 0x01 /* lets channel 2 count */
#define PORT_B_SOUND 0x02

/* The counter goes down from 65536, which is written and read as 0. */
static notrace u32 pit_read(void)
{
	u32 low;

	outb(PIT_LATCH2, PIT_COMMAND);
	low = inb(PIT_CHANNEL2);
	return -(low | inb(PIT_CHANNEL2) << 8) & 0xffff;
}

const struct calibration_counter *pit_counter(void)
{
	static const struct calibration_counter counter = {
		.name = "PIT",
		.read = pit_read,
		.mask = 0xffff,
		.period_fs = 838095238, /* 12 periods of the PC's 14.318181 MHz crystal */
	};

	outb((inb(PORT_B) & ~PORT_B_SOUND) | PORT_B_GATE2, PORT_B);
	outb(PIT_START2, PIT_COMMAND);
	outb(0, PIT_CHANNEL2);
	outb(0, PIT_CHANNEL2);
	return &counter;
}

void pit_counter_done(void)
{
	outb(inb(PORT_B) & ~(PORT_B_SOUND | PORT_B_GATE2), PORT_B);
}

/*
 * Firmware lets channel 0 tick 18 times a second. Its interrupt is masked, but there is no need to
 * raise it.
 */
static int pit_probe(const struct device_desc *dev)
{
	outb(PIT_STOP0, PIT_COMMAND);
	return 0;
}

static const char *const pit_ids[] = {"pc,pit", NULL};
static const struct driver pit_driver = {
	.name = "pit",
	.compatible = pit_ids,
	.level = DRIVER_TIMER,
	.probe = pit_probe,
};
REGISTER_DRIVER(pit_driver);

/*
 * The PC's real-time clock (Motorola MC146818A, "CMOS"): calendar time, read once at boot, taken as
 * UTC. From then on the kernel's own clock counts. The chip changes its cells once a second and in
 * one of four formats (binary or BCD, 12 or 24 hours), so reading needs some care. Context: boot, a
 * thread.
 */
#include <arch/processor.h>
#include <asm/io.h>
#include <boot/acpi.h>
#include <drivers/driver.h>
#include <lib/errno.h>
#include <time/clock.h>

/* Cells of its memory, by index. */
#define RTC_SECONDS 0x00
#define RTC_MINUTES 0x02
#define RTC_HOURS   0x04
#define RTC_DAY	    0x07
#define RTC_MONTH   0x08
#define RTC_YEAR    0x09
#define RTC_A	    0x0a
#define RTC_B	    0x0b

#define RTC_A_UIP    (1 << 7) /* update in progress, or about to begin: the cells are not to be read */
#define RTC_B_24H    (1 << 1)
#define RTC_B_BINARY (1 << 2) /* else BCD */
#define RTC_HOURS_PM (1 << 7) /* with 12 hours */

#define UPDATE_NS (10 * NSEC_PER_MSEC) /* an update takes 2 ms at most (table 3) */
#define TRIES	  10
#define EPOCH	  1970 /* years below 70 are of the next century, where no register tells */

struct rtc_time {
	unsigned second, minute, hour, day, month, year, century;
};

#define NR_CELLS 128 /* bit 7 of the index would mask NMIs */

/* Index port, data port. */
static u8 cmos_read(u16 io, u8 index)
{
	outb(index, io);
	return inb(io + 1);
}

/* Wait until no update is under way. Returns false if one never ends: there is no chip. */
static bool wait_for_update(u16 io)
{
	u64 end = sched_clock() + UPDATE_NS;

	while (cmos_read(io, RTC_A) & RTC_A_UIP) {
		if (sched_clock() > end)
			return false;
		cpu_relax();
	}
	return true;
}

/* The century from the cell that the FADT names; 0 if it names none that can be. */
static u8 read_century(u16 io)
{
	return acpi_info.century && acpi_info.century < NR_CELLS ? cmos_read(io, acpi_info.century) : 0;
}

static struct rtc_time rtc_read_cells(u16 io)
{
	return (struct rtc_time){
		.second = cmos_read(io, RTC_SECONDS),
		.minute = cmos_read(io, RTC_MINUTES),
		.hour = cmos_read(io, RTC_HOURS),
		.day = cmos_read(io, RTC_DAY),
		.month = cmos_read(io, RTC_MONTH),
		.year = cmos_read(io, RTC_YEAR),
		.century = read_century(io),
	};
}

/*
 * Read all cells. An update may have come between two of them, so they are read twice: twice the
 * same is a time that was. Returns 0 or -EIO.
 */
static int read_time(u16 io, struct rtc_time *t)
{
	for (int i = 0; i < TRIES; i++) {
		struct rtc_time again;

		if (!wait_for_update(io))
			return -EIO;
		*t = rtc_read_cells(io);
		again = rtc_read_cells(io);
		if (t->second == again.second && t->minute == again.minute && t->hour == again.hour &&
		    t->day == again.day && t->month == again.month && t->year == again.year)
			return 0;
	}
	return -EIO;
}

static unsigned from_bcd(unsigned v)
{
	return (v >> 4) * 10 + (v & 15);
}

static void decode_bcd(struct rtc_time *t)
{
	unsigned pm = t->hour & RTC_HOURS_PM;

	t->second = from_bcd(t->second);
	t->minute = from_bcd(t->minute);
	t->hour = from_bcd(t->hour & ~RTC_HOURS_PM) | pm;
	t->day = from_bcd(t->day);
	t->month = from_bcd(t->month);
	t->year = from_bcd(t->year);
	t->century = from_bcd(t->century);
}

/*
 * Turn what the cells say in the chip's present format into numbers. Returns 0, or -EIO when it is
 * no time: the battery is empty.
 */
static int decode(struct rtc_time *t, u8 mode)
{
	if (!(mode & RTC_B_BINARY))
		decode_bcd(t);
	if (!(mode & RTC_B_24H)) /* 12 AM is midnight */
		t->hour = (t->hour & ~RTC_HOURS_PM) % 12 + (t->hour & RTC_HOURS_PM ? 12 : 0);
	if (t->century >= 19 && t->century <= 21)
		t->year += t->century * 100;
	else
		t->year += t->year < EPOCH % 100 ? 2000 : 1900;
	if (t->second > 59 || t->minute > 59 || t->hour > 23 || !t->day || t->day > 31)
		return -EIO;
	return !t->month || t->month > 12 || t->year < EPOCH ? -EIO : 0;
}

/*
 * Days since 1970 in the Gregorian calendar. Years begin in March here, so that the leap day is
 * their last.
 */
static u64 days_since_epoch(const struct rtc_time *t)
{
	unsigned year = t->month > 2 ? t->year : t->year - 1, month = (t->month + 9) % 12;

	/* 153 days in five months from March on; 719468 days from the first of March of year 0 to 1970. */
	return year * 365UL + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + t->day - 1 - 719468;
}

/*
 * Read the clock once and set the wall clock by it; from then on the wall clock goes by the machine's counter. -EINVAL:
 * no registers, or values that are no date.
 */
static int mc146818_probe(const struct device_desc *dev)
{
	struct rtc_time t;
	u16 io;
	int err;

	if (!dev->nr_reg)
		return -EINVAL;
	io = dev->reg[0].base;
	err = read_time(io, &t);
	if (!err)
		err = decode(&t, cmos_read(io, RTC_B));
	if (err)
		return err;
	set_wall_clock((((days_since_epoch(&t) * 24 + t.hour) * 60 + t.minute) * 60 + t.second) * NSEC_PER_SEC);
	return 0;
}

static const char *const mc146818_ids[] = {"pc,mc146818", NULL};
static const struct driver mc146818_driver = {
	.name = "mc146818",
	.compatible = mc146818_ids,
	.level = DRIVER_DEVICE,
	.probe = mc146818_probe,
};
REGISTER_DRIVER(mc146818_driver);

/*
 * The PC's clock in modes that QEMU never shows: 12 hours, binary, no century, an update under way, an empty battery.
 * The chip is an array of cells behind the two ports, with an update flag that stays for some reads and a tick that
 * comes at a chosen read.
 */
/* sources: */
/* include: tests/unit/include-io */
#include "../../../drivers/rtc/mc146818.c"

struct acpi_info acpi_info;

static u8 cells[128], selected;
static unsigned updating;      /* so many more looks at register A show an update */
static unsigned ticks_at_read; /* this many reads from now the clock moves on; 0: never */
static u64 now, wall;

u64 sched_clock(void)
{
	return now += 1000;
}

void set_wall_clock(u64 ns)
{
	wall = ns / NSEC_PER_SEC;
}

void host_out(unsigned long port, u8 v)
{
	assert_int_equal(port, 0x70);
	assert_int_equal(v & 0x80, 0); /* NMIs stay on */
	selected = v;
}

/* From 9:59:59 to 10:00:00, in BCD. */
static void tick(void)
{
	cells[RTC_SECONDS] = cells[RTC_MINUTES] = 0;
	cells[RTC_HOURS] = 0x10;
}

u8 host_in(unsigned long port)
{
	assert_int_equal(port, 0x71);
	if (selected == RTC_A)
		return updating && updating-- ? RTC_A_UIP : 0;
	if (ticks_at_read && !--ticks_at_read)
		tick();
	return cells[selected];
}

static void set(unsigned year, unsigned month, unsigned day, unsigned hour, unsigned minute, unsigned second, u8 mode)
{
	const u8 values[] = {second, 0, minute, 0, hour, 0, 0, day, month, year, 0, mode};

	memcpy(cells, values, sizeof(values));
	updating = ticks_at_read = 0;
	now = wall = 0;
}

static int probe(void)
{
	const struct device_desc dev = {.reg = {{.base = 0x70, .size = 2}}, .nr_reg = 1};

	return mc146818_driver.probe(&dev);
}

static void check(u64 wanted)
{
	assert_int_equal(probe(), 0);
	assert_int_equal(wall, wanted);
}

/*
 * The same moment in BCD and binary, in 24 and 12 hours, must become the same second; so must noon and midnight, which
 * 12 hours call 12 PM and 12 AM. A wrong branch here puts the wall clock off by hours on real hardware only.
 */
static void test_modes(void **state)
{
	acpi_info.century = 0;
	set(0x24, 0x02, 0x29, 0x13, 0x45, 0x07, RTC_B_24H);
	check(1709214307);
	set(24, 2, 29, 13, 45, 7, RTC_B_24H | RTC_B_BINARY);
	check(1709214307);
	set(0x24, 0x02, 0x29, 0x01 | RTC_HOURS_PM, 0x45, 0x07, 0);
	check(1709214307);
	set(24, 2, 29, 1 | RTC_HOURS_PM, 45, 7, RTC_B_BINARY);
	check(1709214307);
	/* 12 AM is the first hour of the day, 12 PM the thirteenth. */
	set(0x24, 0x02, 0x29, 0x12, 0x00, 0x00, 0);
	check(1709164800);
	set(0x24, 0x02, 0x29, 0x12 | RTC_HOURS_PM, 0x00, 0x00, 0);
	check(1709164800 + 12 * 3600);
}

/*
 * Years without a century cell are 1970 to 2069. With one they are what it says, unless it holds something that cannot
 * be a century. A time before 1970 is refused.
 */
static void test_years(void **state)
{
	acpi_info.century = 0;
	set(0x70, 0x01, 0x01, 0x00, 0x00, 0x00, RTC_B_24H);
	check(0);
	set(0x99, 0x12, 0x31, 0x23, 0x59, 0x59, RTC_B_24H);
	check(946684799);
	set(0x69, 0x01, 0x01, 0x00, 0x00, 0x00, RTC_B_24H);
	check(3124224000);
	acpi_info.century = 0x32;
	cells[0x32] = 0x19;
	set(0x99, 0x12, 0x31, 0x23, 0x59, 0x59, RTC_B_24H);
	check(946684799);
	cells[0x32] = 0x21;
	set(0x00, 0x03, 0x01, 0x00, 0x00, 0x00, RTC_B_24H); /* 2100 has no leap day */
	check(4107542400);
	cells[0x32] = 0xff; /* a cell that holds something else: as if there were none */
	set(0x00, 0x02, 0x29, 0x00, 0x00, 0x00, RTC_B_24H);
	check(951782400);
	cells[0x32] = 0x19;
	set(0x50, 0x01, 0x01, 0x00, 0x00, 0x00, RTC_B_24H); /* before our time begins */
	assert_int_equal(probe(), -EIO);
}

/* Every day from 1970 to 2105, by counting. */
static void test_days(void **state)
{
	static const u8 lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	u64 days = 0;

	for (unsigned year = 1970; year <= 2105; year++)
		for (unsigned month = 1; month <= 12; month++) {
			bool leap = month == 2 && year % 4 == 0 && (year % 100 || year % 400 == 0);

			for (unsigned day = 1; day <= lengths[month - 1] + (unsigned)leap; day++) {
				const struct rtc_time t = {.year = year, .month = month, .day = day};

				assert_int_equal(days_since_epoch(&t), days++);
			}
		}
}

/* The clock moves on at any of the reads: it is 9:59:59 or 10:00:00, never 9:00:00 or 10:59:59. */
static void test_moving(void **state)
{
	acpi_info.century = 0;
	for (unsigned at = 1; at < 40; at++) {
		set(0x24, 0x02, 0x29, 0x09, 0x59, 0x59, RTC_B_24H);
		ticks_at_read = at;
		assert_int_equal(probe(), 0);
		assert_true(wall == 1709200799 || wall == 1709200800);
	}
}

/*
 * A cell with a value that no clock shows means that the battery was empty: the driver must fail rather than set the
 * wall clock. An update under way is waited for, but a missing chip, which shows an update for ever, must not hang the
 * boot.
 */
static void test_no_time(void **state)
{
	static const struct {
		u8 cell, value;
	} wrong[] = {{RTC_SECONDS, 0x60}, {RTC_MINUTES, 0xff}, {RTC_HOURS, 0x24}, {RTC_DAY, 0},
		     {RTC_DAY, 0x32},	  {RTC_MONTH, 0},      {RTC_MONTH, 0x13}};

	acpi_info.century = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		set(0x24, 0x02, 0x29, 0x13, 0x45, 0x07, RTC_B_24H);
		cells[wrong[i].cell] = wrong[i].value;
		assert_int_equal(probe(), -EIO);
	}
	/* An update is waited for, but not for ever: without a chip all bits are ones. */
	set(0x24, 0x02, 0x29, 0x13, 0x45, 0x07, RTC_B_24H);
	updating = 100;
	check(1709214307);
	updating = ~0U;
	assert_int_equal(probe(), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),  cmocka_unit_test(test_years),   cmocka_unit_test(test_days),
		cmocka_unit_test(test_moving), cmocka_unit_test(test_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

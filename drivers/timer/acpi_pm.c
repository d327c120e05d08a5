/*
 * ACPI's power management timer (ACPI 6.4, 4.8.3.3): 24 bits at 3.579545 MHz, for measuring where there is no
 * HPET or PIT.
 */
#include <asm/io.h>
#include <boot/acpi.h>

#include "calibrate.h"

/* The bits above are another 8 of the counter on some machines, zero on others. */
static notrace u32 pm_timer_read(void)
{
	return inl(acpi_info.pm_timer) & 0xffffff;
}

const struct calibration_counter *pm_timer_counter(void)
{
	static const struct calibration_counter counter = {
		.name = "PM timer",
		.read = pm_timer_read,
		.mask = 0xffffff,
		.period_fs = 279365079, /* 4 periods of 14.318181 MHz */
	};

	return acpi_info.pm_timer ? &counter : NULL;
}

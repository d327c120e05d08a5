/* Within x86's timer drivers: measuring one counter against another, and which counters can be measured against. */
#pragma once

#include <lib/types.h>

/* A counter of at most 32 bits that goes up at a steady rate. */
struct calibration_counter {
	const char *name;
	u32 (*read)(void); /* notrace */
	u32 mask;	   /* all ones: the highest value; 0 follows */
	u64 period_fs;	   /* femtoseconds a tick; 0: to be measured */
};
struct hz_range {
	u64 low, high;
};

/*
 * The TSC's frequency, by a counter of known period: it lies in *range. Takes 0.2 ms where the counter can be
 * read in no time, at most some 50 ms. 0, or -EIO: the counter stands, or its readings contradict each other.
 * Boot CPU, interrupts off.
 */
int calibrate_tsc(const struct calibration_counter *c, struct hz_range *range);
/* The counter's frequency, by the TSC's. The same. */
int calibrate_counter(const struct calibration_counter *c, u64 tsc_hz, struct hz_range *range);
/*
 * The likeliest frequency of a range: a multiple of 100 MHz if there is one in it, for many CPUs run at a
 * multiple of that base clock (as QEMU's run at 1 GHz under -icount), else its middle.
 */
u64 hz_plausible(struct hz_range range);

/* NULL, or the counter of that kind, counting. Boot CPU. */
const struct calibration_counter *pit_counter(void); /* channel 2; pit_counter_done() ends it (pit.c) */
void pit_counter_done(void);
const struct calibration_counter *hpet_counter(void);	  /* (hpet.c) */
const struct calibration_counter *pm_timer_counter(void); /* (acpi_pm.c) */

/* Of the local APIC's timer, in Hz, when CPUID tells; else 0. (tsc.c) */
u64 cpuid_apic_hz(void);
extern const char *tsc_hz_source; /* where tsc_hz comes from [immutable after tsc_init] */

/*
 * Use the HPET with its registers at `regs`: 0, or -ENODEV when there is no HPET. Forget them: for boot, where they
 * are reached otherwise than later. (hpet.c)
 */
int hpet_start(void *regs);
void hpet_forget(void);
void *hpet_registers(void); /* NULL: none */
/* HPET as clock: its frequency, 0 if it cannot serve (absent, or 32 bits wide); its value. (hpet.c) */
u64 hpet_hz(void);
u64 hpet_read(void);

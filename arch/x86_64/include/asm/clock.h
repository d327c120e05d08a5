/*
 * The machine's clock source: the time stamp counter (SDM vol. 3, 17.17). It counts alike on all CPUs, which
 * is checked when each of them starts; where it does not, the HPET takes over (drivers/timer/tsc_sync.c).
 */
#pragma once

#include <kernel/jump_label.h>
#include <lib/types.h>

#define ARCH_COUNTER_NAME "x86-tsc"

extern u64 tsc_hz;			/* 0: not known yet [immutable after tsc_init] */
extern struct static_key clock_by_hpet; /* on: the TSCs do not agree, or the command line wants the HPET */
/*
 * HPET time in TSC cycles. Any context. It keeps all registers but that of its result: a call in the text of
 * arch_read_counter() then costs those who never take it nothing, where a C call would make them save what
 * they have in registers.
 */
u64 hpet_clock_read(void) __attribute__((no_caller_saved_registers));

/*
 * The TSC, read in its place. RDTSC may be taken before earlier loads are done; LFENCE waits for
 * those (SDM vol. 2, RDTSC). Without it a CPU could see another's write and yet stamp its own event
 * with an earlier time. Nothing is needed after it: a store leaves the CPU when it retires, and
 * RDTSC has retired before. RDTSCP would do the same in one instruction, but not every 64-bit CPU
 * has it (qemu64 does not), and a branch costs as much. Any context.
 */
static __always_inline u64 rdtsc_ordered(void)
{
	u64 tsc;

	/* RDTSC clears the upper halves of both registers (SDM vol. 2). Put together here: gcc would move each. */
	__asm__ volatile("lfence\n\t"
			 "rdtsc\n\t"
			 "shl	$32, %%rdx\n\t"
			 "or	%%rdx, %0"
			 : "=a"(tsc)
			 :
			 : "rdx", "cc", "memory");
	return tsc;
}

/* In TSC cycles whichever counter serves, so that clock_mult holds for both. */
static __always_inline u64 arch_read_counter(void)
{
	u64 cycles;

	if (!static_key_false(&clock_by_hpet))
		return rdtsc_ordered();
	__asm__ volatile("call hpet_clock_read" : "=a"(cycles) : : "memory", "cc");
	return cycles;
}

/*
 * Find out how fast the TSC runs, and set the clock going (clock_init). The boot CPU, as soon as ACPI's
 * tables have been read; early_hpet: where the HPET's registers can be reached at the moment, or NULL. Once
 * more by the timer's driver, which has the HPET mapped, and says what came out.
 */
void tsc_init(void *early_hpet);

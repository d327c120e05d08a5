/*
 * How often and how long each CPU has waited for work, by idle state: what /sys/devices/system/cpu/cpuN/cpuidle shows.
 * A state's number is that of the event cpu_idle. There is one state in which a CPU sleeps, as the machines offer no
 * others by WFI and HLT.
 */
#pragma once

#include <lib/types.h>

enum cpuidle_state_nr {
	CPUIDLE_POLL,  /* it polled for work, and got some before it waited */
	CPUIDLE_SLEEP, /* waited for an interrupt */
	CPUIDLE_STATES
};
struct cpuidle_state {
	const char *name, *desc;
};
extern const struct cpuidle_state cpuidle_states[CPUIDLE_STATES];

/* Of the periods that have ended. */
struct cpuidle_usage {
	u64 usage;   /* how many */
	u64 time_ns; /* all together */
	u64 max_ns;  /* the longest */
};
/* A copy; the three may be about different moments when the CPU is in between. Any context. */
struct cpuidle_usage cpuidle_usage_of(unsigned cpu, enum cpuidle_state_nr state);
/* The idle loop: a period that began at start_ns (sched_clock) ends now, on this CPU. Interrupts off. */
void cpuidle_account(enum cpuidle_state_nr state, u64 start_ns);

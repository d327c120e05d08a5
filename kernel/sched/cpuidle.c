/*
 * The account of idle periods (<sched/cpuidle.h>). It is always kept, as on Linux: two looks at the clock and three
 * stores for each wait. No lock: a CPU writes its own numbers, in its idle loop with interrupts off, and readers on
 * other CPUs see each number whole.
 */
#include <arch/processor.h>
#include <kernel/percpu.h>
#include <sched/cpuidle.h>
#include <time/clock.h>

const struct cpuidle_state cpuidle_states[CPUIDLE_STATES] = {
	[CPUIDLE_POLL] = {"POLL", "CPUIDLE CORE POLL IDLE"},
	[CPUIDLE_SLEEP] = {ARCH_CPU_IDLE_NAME, ARCH_CPU_IDLE_DESC},
};

/* [this CPU, interrupts off; read by all] */
struct cpuidle_device {
	struct cpuidle_usage states[CPUIDLE_STATES];
};
static DEFINE_PER_CPU(struct cpuidle_device, cpuidle_device);

notrace void cpuidle_account(enum cpuidle_state_nr state, u64 start_ns)
{
	struct cpuidle_usage *u = &this_cpu_ptr(&cpuidle_device)->states[state];
	u64 ns = sched_clock() - start_ns;

	WRITE_ONCE(u->usage, u->usage + 1);
	WRITE_ONCE(u->time_ns, u->time_ns + ns);
	if (ns > u->max_ns)
		WRITE_ONCE(u->max_ns, ns);
}

struct cpuidle_usage cpuidle_usage_of(unsigned cpu, enum cpuidle_state_nr state)
{
	const struct cpuidle_usage *u = &per_cpu_ptr(&cpuidle_device, cpu)->states[state];

	return (struct cpuidle_usage){READ_ONCE(u->usage), READ_ONCE(u->time_ns), READ_ONCE(u->max_ns)};
}

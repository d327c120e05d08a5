/* Stand-in: CPUs are numbers that the test takes in turn, on one thread. */
#pragma once

#include <lib/bitmap.h>
#include <lib/types.h>

#define NR_CPUS 64

struct cpumask {
	unsigned long bits[1];
};
extern unsigned nr_cpu_ids;

static inline bool cpumask_test_cpu(unsigned cpu, const struct cpumask *m)
{
	return m->bits[0] >> cpu & 1;
}
static inline void cpumask_set_cpu(unsigned cpu, struct cpumask *m)
{
	m->bits[0] |= 1UL << cpu;
}
static inline void cpumask_clear_cpu(unsigned cpu, struct cpumask *m)
{
	m->bits[0] &= ~(1UL << cpu);
}

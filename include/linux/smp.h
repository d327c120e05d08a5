/* CPUs. */
#pragma once

#include <linux/cpumask.h>
#include <linux/preempt.h>

#define raw_smp_processor_id() smp_processor_id()
#define num_possible_cpus()    nr_cpu_ids
/* With preemption off in between. */
#define get_cpu()                      \
	({                             \
		preempt_disable();     \
		(int)smp_processor_id(); \
	})
#define put_cpu() preempt_enable()

/* Sets of CPUs. */
#pragma once

#include <kernel/smp.h>

#define cpu_online_mask	  ((const struct cpumask *)&cpu_online_mask)
#define cpu_possible_mask ((const struct cpumask *)&cpu_possible_mask)
/* The kernel's own have the sets themselves where Linux's have pointers. */
#undef for_each_online_cpu
#undef cpu_online
#undef num_online_cpus
#define for_each_online_cpu(cpu) for_each_cpu(cpu, cpu_online_mask)
#define cpu_online(cpu)		 cpumask_test_cpu(cpu, cpu_online_mask)
#define num_online_cpus()	 cpumask_weight(cpu_online_mask)
#define cpumask_clear(m)	 (*(m) = (struct cpumask){})
#define cpumask_of(cpu)		 ((const struct cpumask *)&cpu_bit_masks[cpu])

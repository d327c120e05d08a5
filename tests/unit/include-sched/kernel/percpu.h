/* A copy of the variables' section for each simulated CPU. */
#pragma once

#include <kernel/smp.h>
#include <lib/types.h>

#define DEFINE_PER_CPU(type, name)  __typeof__(type) name __section("host_percpu")
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name __section("host_percpu")

extern unsigned long __per_cpu_offset[NR_CPUS];

#define __percpu_at(var, off) ((__typeof__(&(var)))((unsigned long)&(var) + (off)))
#define per_cpu_ptr(var, cpu) __percpu_at(var, __per_cpu_offset[cpu])
#define per_cpu(var, cpu)     (*per_cpu_ptr(var, cpu))
#define this_cpu_ptr(var)     per_cpu_ptr(var, smp_processor_id())
#define this_cpu(var)	      (*this_cpu_ptr(var))

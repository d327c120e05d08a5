/* A copy of the variables' section for each simulated CPU. */
#pragma once

#include <kernel/smp.h>
#include <lib/types.h>

#define DEFINE_PER_CPU(type, name)  __typeof__(type) name __section("host_percpu")
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name __section("host_percpu")

extern unsigned long __per_cpu_offset[NR_CPUS];

#define __percpu_at(p, off) ((__typeof__(p))((unsigned long)(p) + (off)))
#define per_cpu_ptr(p, cpu) __percpu_at(p, __per_cpu_offset[cpu])
#define per_cpu(var, cpu)   (*per_cpu_ptr(&(var), cpu))
#define this_cpu_ptr(p)	    per_cpu_ptr(p, smp_processor_id())
#define this_cpu(var)	    (*this_cpu_ptr(&(var)))

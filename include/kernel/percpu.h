/*
 * Per-CPU variables: one template in .data..percpu, one copy a CPU at a fixed offset that the CPU keeps in a register.
 * The boot CPU's offset is valid from the first C line (it uses the template until setup_per_cpu_areas copies it).
 */
#pragma once

#include <asm/percpu.h>
#include <kernel/smp.h>
#include <lib/types.h>

#define DEFINE_PER_CPU(type, name)  __typeof__(type) name __section(".data..percpu")
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name __section(".data..percpu")

extern unsigned long __per_cpu_offset[NR_CPUS]; /* [immutable after setup_per_cpu_areas] */

#define __percpu_at(var, off) ((__typeof__(&(var)))((unsigned long)&(var) + (off)))
#define per_cpu_ptr(var, cpu) __percpu_at(var, __per_cpu_offset[cpu])
#define per_cpu(var, cpu)     (*per_cpu_ptr(var, cpu))
/* Ours. Only with preemption off does it stay ours. */
#define this_cpu_ptr(var) __percpu_at(var, arch_percpu_offset())
#define this_cpu(var)	  (*this_cpu_ptr(var))

/* Boot, after paging_init and before the page allocator: a copy for every possible CPU. */
void setup_per_cpu_areas(void);

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

/* A CPU's copy of what p points at: a per-CPU variable, or what alloc_percpu() has given. */
#define __percpu_at(p, off) ((__typeof__(p))((unsigned long)(p) + (off)))
#define per_cpu_ptr(p, cpu) __percpu_at(p, __per_cpu_offset[cpu])
#define per_cpu(var, cpu)   (*per_cpu_ptr(&(var), cpu))
/* Ours. Only with preemption off does it stay ours. */
#define this_cpu_ptr(p) __percpu_at(p, arch_percpu_offset())
#define this_cpu(var)	(*this_cpu_ptr(&(var)))

/* Boot, after paging_init and before the page allocator: a copy for every possible CPU. */
void setup_per_cpu_areas(void);

#define PERCPU_MAX_ALIGN 64 /* bytes: a cache line of both machines */
/*
 * `size` bytes for each CPU, zeroed, at a multiple of `align`, a power of two of at most PERCPU_MAX_ALIGN. The pointer
 * is for per_cpu_ptr() and its like alone. NULL: the room of 32 KiB a CPU is full. Any context but an NMI.
 */
void *__alloc_percpu(size_t size, size_t align);
#define alloc_percpu(type) ((type *)__alloc_percpu(sizeof(type), __alignof__(type)))
/* What alloc_percpu() has given, or NULL. No CPU may use it any more. Any context but an NMI. */
void free_percpu(void *p);

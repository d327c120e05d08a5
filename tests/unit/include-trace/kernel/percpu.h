/* The variables of the one CPU that traces. */
#pragma once

#include <kernel/smp.h>
#include <lib/types.h>

#define DEFINE_PER_CPU(type, name)  __typeof__(type) name
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name

#define per_cpu_ptr(p, cpu) ((void)(cpu), (p))
#define per_cpu(var, cpu)   (*per_cpu_ptr(&(var), cpu))
#define this_cpu_ptr(p)	    (p)
#define this_cpu(var)	    (var)

/* What the module loader takes for variables of modules: one CPU's room. NULL: none is left. */
#define PERCPU_MAX_ALIGN 64
void *__alloc_percpu(size_t size, size_t align);
void free_percpu(void *p);

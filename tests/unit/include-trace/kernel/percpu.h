/* The variables of the one CPU that traces. */
#pragma once

#include <kernel/smp.h>
#include <lib/types.h>

#define DEFINE_PER_CPU(type, name)  __typeof__(type) name
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name

#define per_cpu_ptr(var, cpu) ((void)(cpu), &(var))
#define per_cpu(var, cpu)     (*per_cpu_ptr(var, cpu))
#define this_cpu_ptr(var)     (&(var))
#define this_cpu(var)	      (var)

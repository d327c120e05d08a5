/* One CPU on the host, so its variables are the only ones. */
#pragma once
#include <kernel/smp.h>

#define DEFINE_PER_CPU(type, name)  __typeof__(type) name
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name
#define this_cpu_ptr(p)		    (p)

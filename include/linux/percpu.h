/*
 * A value for each CPU. A module allocates them (alloc_percpu); per_cpu_ptr() and its like take what that has given. A
 * variable cannot be per-CPU in a module: the kernel's area for those is laid out when the kernel is linked.
 */
#pragma once

#include <linux/preempt.h>
#include <linux/slab.h>
#include <kernel/smp.h>

#undef DEFINE_PER_CPU
#undef DECLARE_PER_CPU
#undef per_cpu_ptr
#undef per_cpu
#undef this_cpu_ptr
#undef this_cpu
#define DEFINE_PER_CPU(type, name) _Static_assert(0, #name ": use alloc_percpu() in modules")
#define __percpu

/* Zeroed; NULL: out of memory. Each CPU's lies in cache lines of its own. Thread context. */
#define alloc_percpu(type)   ((type *)kcalloc(nr_cpu_ids, ALIGN(sizeof(type), 64), GFP_KERNEL))
#define free_percpu(p)	     kfree(p)
#define per_cpu_ptr(p, cpu)  ((__typeof__(p))((char *)(p) + (cpu) * ALIGN(sizeof(*(p)), 64)))
#define this_cpu_ptr(p)	     per_cpu_ptr(p, smp_processor_id())
#define raw_cpu_ptr(p)	     this_cpu_ptr(p)
/* With preemption off in between. */
#define get_cpu_ptr(p)		 \
	({			 \
		preempt_disable(); \
		this_cpu_ptr(p); \
	})
#define put_cpu_ptr(p) preempt_enable()

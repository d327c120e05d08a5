/*
 * A value for each CPU: a variable of the module (DEFINE_PER_CPU), or memory (alloc_percpu). The loader gives the
 * variables of a module room in every CPU's area, and copies what they begin with there. That room is 32 KiB for all
 * modules.
 */
#pragma once

#include <linux/preempt.h>
#include <linux/slab.h>
#include <kernel/percpu.h>
#include <kernel/smp.h>

#define __percpu
#define DEFINE_PER_CPU_ALIGNED(type, name)	  DEFINE_PER_CPU(type, name) __aligned(PERCPU_MAX_ALIGN)
#define DEFINE_PER_CPU_SHARED_ALIGNED(type, name) DEFINE_PER_CPU_ALIGNED(type, name)
#define EXPORT_PER_CPU_SYMBOL(var)		  EXPORT_SYMBOL(var)
#define EXPORT_PER_CPU_SYMBOL_GPL(var)		  EXPORT_SYMBOL_GPL(var)

#define __alloc_percpu_gfp(size, align, gfp) __alloc_percpu(size, align)
#define alloc_percpu_gfp(type, gfp)	     alloc_percpu(type) /* it never sleeps */

/* Without a look at preemption: for those who know that they stay, or do not mind. */
#define raw_cpu_ptr(p)		   this_cpu_ptr(p)
#define __this_cpu_read(var)	   this_cpu(var)
#define __this_cpu_write(var, val) ((void)(this_cpu(var) = (val)))
#define __this_cpu_add(var, n)	   ((void)(this_cpu(var) += (n)))
#define __this_cpu_inc(var)	   __this_cpu_add(var, 1)
#define __this_cpu_dec(var)	   __this_cpu_add(var, -1)
#define raw_cpu_read(var)	   __this_cpu_read(var)
#define raw_cpu_write(var, val)	   __this_cpu_write(var, val)

/* With preemption off in between. */
#define get_cpu_ptr(p)             \
	({                         \
		preempt_disable(); \
		this_cpu_ptr(p);   \
	})
#define put_cpu_ptr(p)	 preempt_enable()
#define get_cpu_var(var) (*get_cpu_ptr(&(var)))
#define put_cpu_var(var) preempt_enable()

/*
 * One step that neither an interrupt nor a move to another CPU can divide; the new value. Linux does it by one
 * instruction on x86_64. Here as on most machines: with interrupts off. Any context but an NMI.
 */
#define __this_cpu_change(var, op, val)        \
	({                                     \
		unsigned long __flags;         \
		__typeof__(var) __new;         \
		local_irq_save(__flags);       \
		__new = this_cpu(var) op(val); \
		local_irq_restore(__flags);    \
		__new;                         \
	})
#define this_cpu_read(var)	    __this_cpu_change(var, +, 0)
#define this_cpu_write(var, val)    ((void)__this_cpu_change(var, =, val))
#define this_cpu_add(var, n)	    ((void)__this_cpu_change(var, +=, n))
#define this_cpu_sub(var, n)	    ((void)__this_cpu_change(var, -=, n))
#define this_cpu_or(var, bits)	    ((void)__this_cpu_change(var, |=, bits))
#define this_cpu_and(var, bits)	    ((void)__this_cpu_change(var, &=, bits))
#define this_cpu_inc(var)	    this_cpu_add(var, 1)
#define this_cpu_dec(var)	    this_cpu_sub(var, 1)
#define this_cpu_add_return(var, n) __this_cpu_change(var, +=, n)
#define this_cpu_inc_return(var)    this_cpu_add_return(var, 1)
#define this_cpu_dec_return(var)    this_cpu_add_return(var, -1)
#define this_cpu_xchg(var, val)             \
	({                                  \
		unsigned long __flags;      \
		__typeof__(var) __old;      \
		local_irq_save(__flags);    \
		__old = this_cpu(var);      \
		this_cpu(var) = (val);      \
		local_irq_restore(__flags); \
		__old;                      \
	})

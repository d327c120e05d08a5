/*
 * Masking interrupts on this CPU. local_* tell the tracer (through a static branch in trace_hardirqs_*), raw_local_*
 * do not: they are for the tracer itself and for what runs under it.
 */
#pragma once

#include <asm/irqflags.h>
#include <lib/types.h>

#define raw_local_irq_disable()     arch_local_irq_disable()
#define raw_local_irq_enable()      arch_local_irq_enable()
#define raw_local_irq_save(flags)   ((flags) = arch_local_irq_save())
#define raw_local_irq_restore(flags) arch_local_irq_restore(flags)

#define local_irq_disable()      raw_local_irq_disable()
#define local_irq_enable()       raw_local_irq_enable()
#define local_irq_save(flags)    raw_local_irq_save(flags)
#define local_irq_restore(flags) raw_local_irq_restore(flags)
#define local_save_flags(flags)  ((flags) = arch_local_save_flags())
#define irqs_disabled()          arch_irqs_disabled_flags(arch_local_save_flags())
#define irqs_disabled_flags(f)   arch_irqs_disabled_flags(f)

/*
 * Masking interrupts on this CPU. local_* tell the tracer when that changes something, raw_local_* do not: they are for
 * the tracer itself, for what runs under it, and for pages without patchable code.
 */
#pragma once

#include <asm/irqflags.h>
#include <lib/types.h>
#include <trace/preemptirq.h>

#define raw_local_irq_disable()	     arch_local_irq_disable()
#define raw_local_irq_enable()	     arch_local_irq_enable()
#define raw_local_irq_save(flags)    ((flags) = arch_local_irq_save())
#define raw_local_irq_restore(flags) arch_local_irq_restore(flags)

/*
 * After the masking it cannot be seen whether interrupts were on. So the hook is called before, masks them itself, and
 * they are masked here once more, without effect.
 */
#define local_irq_disable()                                               \
	do {                                                              \
		trace_hook(trace_irqs_key, true, trace_hardirqs_disable); \
		raw_local_irq_disable();                                  \
	} while (0)
#define local_irq_enable()                                           \
	do {                                                         \
		trace_hook(trace_irqs_key, true, trace_hardirqs_on); \
		raw_local_irq_enable();                              \
	} while (0)
#define local_irq_save(flags)                                                                              \
	do {                                                                                               \
		raw_local_irq_save(flags);                                                                 \
		trace_hook(trace_irqs_key, !irqs_disabled_flags(trace_opaque(flags)), trace_hardirqs_off); \
	} while (0)
/* Never turns interrupts off: they are off now, and were saved as on or off. */
#define local_irq_restore(flags)                                                                          \
	do {                                                                                              \
		trace_hook(trace_irqs_key, !irqs_disabled_flags(trace_opaque(flags)), trace_hardirqs_on); \
		raw_local_irq_restore(flags);                                                             \
	} while (0)
#define local_save_flags(flags) ((flags) = arch_local_save_flags())
#define irqs_disabled()		arch_irqs_disabled_flags(arch_local_save_flags())
#define irqs_disabled_flags(f)	arch_irqs_disabled_flags(f)

/* Interrupts off, on the host: the signals that stand for interrupts are noted and served at the restore. */
#pragma once

#include <lib/types.h>

extern _Thread_local int host_cpu_id;
extern _Thread_local volatile int host_irqs_off;
void host_irq_serve(void); /* what was held back */

#define raw_local_irq_save(flags)        \
	do {                             \
		(flags) = host_irqs_off; \
		host_irqs_off = 1;       \
		barrier();               \
	} while (0)
#define raw_local_irq_restore(flags)          \
	do {                                  \
		barrier();                    \
		host_irqs_off = (int)(flags); \
		if (!host_irqs_off)           \
			host_irq_serve();     \
	} while (0)
#define local_irq_save(flags)	 raw_local_irq_save(flags)
#define local_irq_restore(flags) raw_local_irq_restore(flags)

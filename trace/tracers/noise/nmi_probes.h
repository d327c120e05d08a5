/* Probes on the tracepoints around NMIs, which only some machines have (<trace/machine_irq.h>). */
#pragma once

#include <trace/machine_irq.h>

/*
 * Put them there and take them away: enter(data, cpu) and leave(data, cpu) run in each NMI. On a machine without NMIs
 * nothing happens. 0, -ENOMEM. Thread context; sleep. When the second returns, no probe runs any more.
 */
int nmi_probes_register(void (*enter)(void *data, unsigned cpu), void (*leave)(void *data, unsigned cpu), void *data);
void nmi_probes_unregister(void (*enter)(void *data, unsigned cpu), void (*leave)(void *data, unsigned cpu),
			   void *data);
/* A tracepoint of the kernel by its name; NULL: this machine has none of that name. Thread context. */
struct tracepoint *find_kernel_tracepoint(const char *name);

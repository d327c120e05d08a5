/* Interrupts on the host: the test calls the handler when its device raises the line. */
#pragma once

#include <lib/types.h>

typedef enum {
	IRQ_NONE,
	IRQ_HANDLED,
} irqreturn_t;
typedef irqreturn_t (*irq_handler_t)(int irq, void *dev);

/* The test's own. */
int request_irq(int irq, irq_handler_t handler, unsigned flags, const char *name, void *dev);

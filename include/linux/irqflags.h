/* Interrupts of this CPU: local_irq_disable() and its like, told to tracers. */
#pragma once

#include <irq/irqflags.h>

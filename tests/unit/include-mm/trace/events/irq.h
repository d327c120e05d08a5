/* No event of interrupts. */
#pragma once

#define trace_irq_handler_entry(irq, name) ((void)0)
#define trace_irq_handler_exit(irq, ret)   ((void)0)

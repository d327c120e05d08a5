/*
 * Interrupt handlers and tasklets. free_irq() and tasklet_kill() wait for what runs, so a module calls them in its
 * exit.
 */
#pragma once

#include <irq/irq.h>
#include <irq/irqflags.h>
#include <irq/tasklet.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>

/* Any line can be shared here, by whoever has a dev_id of its own; the trigger is what the firmware says. */
#define IRQF_SHARED	     0x80
#define IRQF_TRIGGER_NONE    0x0
#define IRQF_TRIGGER_RISING  0x1
#define IRQF_TRIGGER_FALLING 0x2
#define IRQF_TRIGGER_HIGH    0x4
#define IRQF_TRIGGER_LOW     0x8
#define IRQ_RETVAL(x)	     ((x) ? IRQ_HANDLED : IRQ_NONE)
/* A handler that runs in a thread: no lines are masked for one here. A handler that queues a work does the same. */
int request_threaded_irq(unsigned irq, irq_handler_t handler, irq_handler_t thread_fn, unsigned long flags,
			 const char *name, void *dev)
	__attribute__((error("there are no threads of interrupts: let the handler of request_irq() queue a work")));
#define IRQ_WAKE_THREAD ((irqreturn_t)2)
#define IRQF_ONESHOT	0x2000

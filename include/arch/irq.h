/* How the root interrupt controller's driver is entered, and the stack it runs on; interrupts without a number. */
#pragma once

#include <asm/irq.h>
#include <kernel/percpu.h>

struct pt_regs;
struct seq_file;

/*
 * Set once at boot by the driver, before interrupts are enabled. Called with interrupts off, in hard interrupt context.
 * On x86_64 the vector is regs->vector.
 */
extern void (*handle_arch_irq)(struct pt_regs *regs);

/* entry.S: fn(regs) on the stack that ends at stack_end. Interrupts off. */
void call_on_irq_stack(struct pt_regs *regs, void (*fn)(struct pt_regs *), unsigned long stack_end);
DECLARE_PER_CPU(unsigned long, irq_stack_end); /* [boot, then immutable] 0: none yet */

/* The machine's own lines of /proc/interrupts, as Linux has them there. Thread context. */
void arch_show_interrupts(struct seq_file *m);

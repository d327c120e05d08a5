/* Hardware interrupts: descriptors, controllers (irq_chip), handlers. */
#pragma once

#include <kernel/smp.h>
#include <lib/types.h>

/* Enough for all lines of the machines that this kernel runs on. Number 0 means "no interrupt". */
#define NR_IRQS 256

struct pt_regs;
struct seq_file;

typedef enum {
	IRQ_NONE,
	IRQ_HANDLED,
} irqreturn_t;
/* Context: hard interrupt, interrupts off. */
typedef irqreturn_t (*irq_handler_t)(int irq, void *dev);

#define IRQ_TYPE_EDGE  1
#define IRQ_TYPE_LEVEL 4
#define IRQ_TYPE_LOW   8     /* with either of the two: the line is active low, for controllers that can be told */
#define IRQF_PERCPU    0x400 /* private to each CPU: counted so, never migrated; every CPU unmasks its own */

/* An interrupt controller's operations. `hwirq` is its own number (GIC INTID, IOAPIC pin). */
struct irq_chip {
	const char *name; /* as in /proc/interrupts */
	void (*mask)(unsigned hwirq);
	void (*unmask)(unsigned hwirq);
	void (*set_type)(unsigned hwirq, unsigned type);
	/*
	 * Send it to this CPU from now on; nothing for one that is private to each CPU. NULL: it is the boot CPU's for
	 * good
	 */
	void (*set_cpu)(unsigned hwirq, unsigned cpu);
};

/*
 * A controller's driver keeps this to find the kernel's number of an interrupt that came in: `revmap` holds what
 * irq_create_mapping has returned for each number of the controller, 0 until that one has come in for the first time.
 * All CPUs enter the same, so they need no lock.
 */
struct irq_domain {
	const struct irq_chip *chip;
	u16 *revmap; /* [any CPU] */
};
/* generic_handle_irq() by the controller's own number; one that has no number is masked. Same context. */
void generic_handle_domain_irq(struct irq_domain *domain, unsigned hwirq);

/*
 * Map a controller's number to a number of the kernel (1 to NR_IRQS - 1, as on Linux); the same mapping again gives the
 * same number. -ENOSPC: all are in use. Any context but nmi.
 */
int irq_create_mapping(const struct irq_chip *chip, unsigned hwirq, unsigned type);
/* Register and unmask. Several handlers may share a line. -EINVAL, -ENOMEM. Context: thread. */
int request_irq(int irq, irq_handler_t handler, unsigned flags, const char *name, void *dev);
void free_irq(int irq, void *dev);
/* For the other CPUs' private interrupts: unmask this CPU's own. Context: that CPU, interrupts off. */
void enable_percpu_irq(int irq);

/* Controllers call this for each pending interrupt. Context: hard interrupt between irq_enter and irq_exit. */
void generic_handle_irq(int irq);
void irq_enter(void); /* hardirq count up */
void irq_exit(void);  /* hardirq count down; serves softirqs when the last one leaves */

/* Registers of the interrupted context, NULL outside. [this CPU] */
struct pt_regs *get_irq_regs(void);
struct pt_regs *set_irq_regs(struct pt_regs *regs); /* returns the old */
/* The text of /proc/interrupts: ours, then the machine's own lines (arch_show_interrupts of <arch/irq.h>). */
int show_interrupts(struct seq_file *m);
/* One such line: "LOC:" or the like, count(which, cpu) of each online CPU, a description. Thread context. */
void show_irq_counts(struct seq_file *m, const char *label, u64 (*count)(unsigned which, int cpu), unsigned which,
		     const char *text);
u64 kstat_irqs_cpu(int irq, int cpu);
/* What a number stands for. */
struct irq_info {
	const char *chip;     /* its controller's name */
	unsigned hwirq, type; /* of irq_create_mapping() */
};
/* False: nothing is mapped to it, nor to any higher number. Any context. */
bool irq_describe(int irq, struct irq_info *info);
/* The names of its handlers, with `between` between two of them. Any context but nmi. */
void show_irq_actions(struct seq_file *m, int irq, const char *between);
u64 nr_irqs_total(void); /* all interrupts served since boot, the machine's own and IPIs included */

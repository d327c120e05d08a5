/*
 * Interrupt descriptors: from a number to its handlers, counts, and /proc/interrupts.
 *
 * A line of an interrupt controller (a chip and its hwirq) is mapped to a number of the kernel, once and for ever. A
 * driver requests the number with a handler; several may share one. irq_desc_lock guards all changes. An interrupt
 * itself takes no lock: it walks the list of actions under RCU (its preemption is off), so an action is freed only
 * after a grace period.
 */
#include <arch/irq.h>
#include <fs/seq_file.h>
#include <irq/irq.h>
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/list.h>
#include <mm/gfp.h>
#include <mm/slab.h>
#include <sched/cpuhp.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <trace/events/irq.h>

/* A handler of a line. `dev` tells the handlers of one line apart, and is what the handler gets. */
struct irq_action {
	struct irq_action *next; /* [d for changes; interrupts walk it: RCU] */
	irq_handler_t handler;
	void *dev;
	const char *name;
};

/* Locks: d irq_desc_lock; I immutable once mapped. */
struct irq_desc {
	const struct irq_chip *chip; /* [I] NULL: not mapped */
	unsigned hwirq;		     /* [I] */
	unsigned type;		     /* [I] IRQ_TYPE_* */
	struct irq_action *actions;  /* [d] */
	unsigned unhandled;	     /* interrupts in a row that no handler served */
};
static struct irq_desc irq_descs[NR_IRQS];
static DEFINE_SPINLOCK(irq_desc_lock);
/* Where the interrupts of devices go: to the boot CPU, until it leaves. They do not come back with it, as on Linux. */
static unsigned irq_cpu; /* [d] */

/* How often each interrupt came to this CPU. Its CPU alone writes, in the interrupt; others read. */
struct irq_counts {
	u32 irqs[NR_IRQS];
};
static DEFINE_PER_CPU(struct irq_counts, irq_counts);

/* The registers of the interrupted code: the timer tick asks whether that was user mode. */
static DEFINE_PER_CPU(struct pt_regs *, irq_regs);

struct pt_regs *get_irq_regs(void)
{
	return this_cpu(irq_regs);
}

/* Returns the old ones: interrupts may nest in a softirq, and each level puts back what it found. */
struct pt_regs *set_irq_regs(struct pt_regs *regs)
{
	struct pt_regs *old = this_cpu(irq_regs);

	this_cpu(irq_regs) = regs;
	return old;
}

/* The number that this line has, or the first free one, or -ENOSPC. Context: d. */
static int irq_find_number(const struct irq_chip *chip, unsigned hwirq)
{
	int free = -ENOSPC;

	for (int irq = NR_IRQS - 1; irq > 0; irq--) {
		struct irq_desc *d = &irq_descs[irq];

		if (d->chip == chip && d->hwirq == hwirq)
			return irq;
		if (!d->chip)
			free = irq;
	}
	return free;
}

/* chip is stored last, with release: irq_to_desc, which takes no lock, sees a whole descriptor or none. */
int irq_create_mapping(const struct irq_chip *chip, unsigned hwirq, unsigned type)
{
	unsigned long flags;
	int irq;

	spin_lock_irqsave(&irq_desc_lock, flags);
	irq = irq_find_number(chip, hwirq);
	if (irq > 0 && !irq_descs[irq].chip) {
		irq_descs[irq].hwirq = hwirq;
		irq_descs[irq].type = type;
		smp_store_release(&irq_descs[irq].chip, chip);
	}
	spin_unlock_irqrestore(&irq_desc_lock, flags);
	return irq;
}

/* The descriptor of a mapped number; NULL: out of range or not mapped. */
static struct irq_desc *irq_to_desc(int irq)
{
	if (irq <= 0 || irq >= NR_IRQS || !smp_load_acquire(&irq_descs[irq].chip))
		return NULL;
	return &irq_descs[irq];
}

/*
 * Add behind the handlers that are there. The store has release, so that an interrupt that comes now sees a
 * whole action. Context: d.
 */
static void append_action(struct irq_desc *d, struct irq_action *a)
{
	struct irq_action **end = &d->actions;

	while (*end)
		end = &(*end)->next;
	smp_store_release(end, a);
}

/* The first handler's request sets the type of the line and unmasks it; later ones need not. */
int request_irq(int irq, irq_handler_t handler, unsigned flags, const char *name, void *dev)
{
	struct irq_desc *d = irq_to_desc(irq);
	struct irq_action *a;
	unsigned long irqflags;
	bool first;

	if (!d || !handler)
		return -EINVAL;
	a = kzalloc(sizeof(*a), GFP_KERNEL);
	if (!a)
		return -ENOMEM;
	a->handler = handler;
	a->dev = dev;
	a->name = name;
	spin_lock_irqsave(&irq_desc_lock, irqflags);
	first = !d->actions;
	append_action(d, a);
	if (first) {
		d->unhandled = 0; /* the handlers before may have left the line masked */
		if (d->chip->set_type && d->type)
			d->chip->set_type(d->hwirq, d->type);
		if (d->chip->set_cpu)
			d->chip->set_cpu(d->hwirq, irq_cpu);
		d->chip->unmask(d->hwirq);
	}
	spin_unlock_irqrestore(&irq_desc_lock, irqflags);
	return 0;
}
EXPORT_SYMBOL(request_irq);

/* The line is masked with its last handler. Context: a task that may sleep. */
void free_irq(int irq, void *dev)
{
	struct irq_desc *d = irq_to_desc(irq);
	struct irq_action **link, *a;
	unsigned long flags;

	if (WARN_ON(!d))
		return;
	spin_lock_irqsave(&irq_desc_lock, flags);
	for (link = &d->actions; (a = *link) && a->dev != dev; link = &a->next)
		;
	if (a)
		WRITE_ONCE(*link, a->next);
	if (!d->actions)
		d->chip->mask(d->hwirq);
	spin_unlock_irqrestore(&irq_desc_lock, flags);
	if (WARN_ON(!a))
		return;
	/* The handler may run on another CPU at this moment, and needs the action and the caller's data. */
	synchronize_rcu();
	kfree(a);
}
EXPORT_SYMBOL(free_irq);

/*
 * The CPU that leaves had the interrupts of devices: another one gets all that are in use. What is pending meanwhile is
 * the controller's to keep, and comes there. Those that nobody has requested yet follow at their request.
 */
static int irqs_cpu_dying(unsigned cpu)
{
	unsigned long flags;

	spin_lock_irqsave(&irq_desc_lock, flags);
	if (irq_cpu == cpu) {
		irq_cpu = cpumask_first(&cpu_online_mask);
		for (int irq = 1; irq < NR_IRQS; irq++) {
			const struct irq_desc *d = &irq_descs[irq];

			if (d->actions && d->chip->set_cpu)
				d->chip->set_cpu(d->hwirq, irq_cpu);
		}
	}
	spin_unlock_irqrestore(&irq_desc_lock, flags);
	return 0;
}
static const struct cpuhp_step irqs_step = {.name = "irq:lines", .stage = CPUHP_STARTING, .down = irqs_cpu_dying};
REGISTER_CPUHP(irqs_step);

void enable_percpu_irq(int irq)
{
	struct irq_desc *d = irq_to_desc(irq);

	if (!WARN_ON(!d))
		d->chip->unmask(d->hwirq);
}

/*
 * A line that fires and that no handler serves would fire for ever, so it is masked after 1000 interrupts in a row. A
 * single one is harmless: a handler may have served the device before the edge was delivered.
 */
static void noinline note_unhandled(int irq, struct irq_desc *d)
{
	if (++d->unhandled < 1000)
		return;
	d->chip->mask(d->hwirq);
	pr_err("irq %d: nobody cared, masked\n", irq);
}

/*
 * Call all handlers of the line: a shared line does not tell which device it was. Returns IRQ_HANDLED when
 * one of them did something. Context: interrupt.
 */
static irqreturn_t noinline handle_irq_event(int irq, struct irq_desc *d)
{
	irqreturn_t ret = IRQ_NONE;
	struct irq_action *a;

	for (a = smp_load_acquire(&d->actions); a; a = smp_load_acquire(&a->next)) {
		irqreturn_t one;

		trace_irq_handler_entry(irq, a->name);
		one = a->handler(irq, a->dev);
		trace_irq_handler_exit(irq, one);
		if (one == IRQ_HANDLED)
			ret = IRQ_HANDLED;
	}
	return ret;
}

/* Context: interrupt, the number is mapped. */
void noinline generic_handle_irq(int irq)
{
	struct irq_desc *d = &irq_descs[irq];

	this_cpu(irq_counts).irqs[irq]++;
	if (unlikely(handle_irq_event(irq, d) == IRQ_NONE))
		note_unhandled(irq, d);
	else if (unlikely(d->unhandled))
		d->unhandled = 0;
}

u64 kstat_irqs_cpu(int irq, int cpu)
{
	return READ_ONCE(per_cpu(irq_counts, cpu).irqs[irq]);
}

u64 nr_irqs_total(void)
{
	u64 sum = 0;
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		for (int irq = 1; irq < NR_IRQS; irq++)
			sum += kstat_irqs_cpu(irq, cpu);
		for (int i = 0; i < IPI_MAX; i++)
			sum += ipi_count(i, cpu);
		sum += arch_irq_stat_cpu(cpu);
	}
	return sum;
}

/* Context: d. */
static void show_actions(struct seq_file *m, const struct irq_desc *d, const char *between)
{
	for (const struct irq_action *a = d->actions; a; a = a->next)
		seq_printf(m, "%s%s", a == d->actions ? "" : between, a->name);
}

/*
 * A line of /proc/interrupts, as Linux on arm64 prints it: number, counts, controller, its own number,
 * kind, handlers. Context: d.
 */
static void show_irq(struct seq_file *m, int irq, struct irq_desc *d)
{
	unsigned cpu;

	seq_printf(m, "%3d: ", irq);
	for_each_online_cpu(cpu)
		seq_printf(m, "%10llu ", (unsigned long long)kstat_irqs_cpu(irq, cpu));
	seq_printf(m, " %8s %3u %-8s", d->chip->name, d->hwirq, d->type & IRQ_TYPE_EDGE ? "Edge" : "Level");
	seq_puts(m, "  ");
	show_actions(m, d, ", ");
	seq_putc(m, '\n');
}

bool irq_describe(int irq, struct irq_info *info)
{
	const struct irq_desc *d = irq_to_desc(irq);

	if (d)
		*info = (struct irq_info){d->chip->name, d->hwirq, d->type};
	return d;
}

void show_irq_actions(struct seq_file *m, int irq, const char *between)
{
	const struct irq_desc *d = irq_to_desc(irq);
	unsigned long flags;

	spin_lock_irqsave(&irq_desc_lock, flags);
	if (d)
		show_actions(m, d, between);
	spin_unlock_irqrestore(&irq_desc_lock, flags);
}

void show_irq_counts(struct seq_file *m, const char *label, u64 (*count)(unsigned which, int cpu), unsigned which,
		     const char *text)
{
	unsigned cpu;

	seq_printf(m, "%-5s", label);
	for_each_online_cpu(cpu)
		seq_printf(m, "%10llu ", (unsigned long long)count(which, cpu));
	seq_printf(m, "      %s\n", text);
}

/* The lock is taken for one line at a time: printing 256 lines with interrupts off would be a long latency. */
int show_interrupts(struct seq_file *m)
{
	unsigned long flags;
	unsigned cpu;

	seq_printf(m, "%11s", "");
	for_each_online_cpu(cpu)
		seq_printf(m, "CPU%-8u", cpu);
	seq_putc(m, '\n');
	for (int irq = 1; irq < NR_IRQS; irq++) {
		spin_lock_irqsave(&irq_desc_lock, flags);
		if (irq_descs[irq].actions)
			show_irq(m, irq, &irq_descs[irq]);
		spin_unlock_irqrestore(&irq_desc_lock, flags);
	}
	arch_show_interrupts(m);
	return 0;
}

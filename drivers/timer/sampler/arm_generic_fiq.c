/*
 * The physical timer of each CPU as a source of FIQs (<time/sample_timer.h>). The kernel's own clock event is the
 * virtual timer (arm_generic.c), so this one is free.
 *
 * Its line is a level: it is up while the counter has passed the comparator and CNTP_CTL_EL0 neither disables nor masks
 * the timer. So the handler needs nothing of the GIC. It masks the line, takes the sample, and moves the comparator
 * last: then a handler that takes longer than a period is not interrupted by the next one.
 */
#include <asm/barrier.h>
#include <asm/nmi.h>
#include <asm/sysreg.h>
#include <drivers/driver.h>
#include <irq/irq.h>
#include <kernel/nmi.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <sched/preempt.h>
#include <time/clock.h>
#include <time/sample_timer.h>

#include "../../irqchip/gic-common.h"

/* CNTP_CTL_EL0 (Arm ARM D19.8.17) */
#define CTL_ENABLE  1
#define CTL_IMASK   2
#define CTL_ISTATUS 4

enum { PPI_PHYS = 1, PPI_VIRT = 2 }; /* places in the binding "arm,armv8-timer" */

static unsigned fiq_hwirq; /* [boot, then immutable] */
static int fiq_irq;	   /* its number, for the case that it comes as IRQ [boot, then immutable] */
static u64 fiq_period;	   /* cycles [the sampler's user, while no CPU runs] */
static DEFINE_PER_CPU(struct sample_grid, fiq_grid); /* [its CPU, FIQs masked or the timer off] */

/* The ISB keeps the read in its place, as in arch_read_counter(). */
static __always_inline u64 read_physical(void)
{
	isb();
	return read_sysreg(cntpct_el0);
}

static __always_inline void control(u64 ctl)
{
	write_sysreg(ctl, cntp_ctl_el0);
	isb();
}

static __always_inline void set_next(void)
{
	write_sysreg(sample_grid_next(this_cpu_ptr(&fiq_grid), read_physical()), cntp_cval_el0);
	control(CTL_ENABLE);
}

/* The timer may have been stopped between the FIQ and here: then nothing is due. */
static notrace void fiq_timer_handle(struct pt_regs *regs)
{
	if (!(read_sysreg(cntp_ctl_el0) & CTL_ISTATUS))
		return;
	control(CTL_ENABLE | CTL_IMASK);
	sample_timer_tick(regs);
	set_next();
}

static noinstr void fiq_timer_skip(void)
{
	if (read_sysreg(cntp_ctl_el0) & CTL_ISTATUS)
		set_next();
}

static const struct fiq_source fiq_timer_source = {.handle = fiq_timer_handle, .skip = fiq_timer_skip};

/*
 * GICv2 has one register to acknowledge both groups, so a handler of IRQs that looks for more can find the FIQ before
 * the CPU has taken it. It is a sample of what that IRQ has interrupted, and preempt_count says so meanwhile.
 */
static irqreturn_t fiq_timer_irq(int irq, void *dev)
{
	__preempt_count_sub(HARDIRQ_OFFSET);
	nmi_begin();
	fiq_timer_handle(get_irq_regs());
	nmi_end();
	__preempt_count_add(HARDIRQ_OFFSET);
	return IRQ_HANDLED;
}

static int fiq_timer_start(u64 period_ns)
{
	fiq_period = ns_to_cycles(period_ns);
	return request_irq(fiq_irq, fiq_timer_irq, IRQF_PERCPU, "arch_timer_fiq", NULL);
}

static void fiq_timer_stop(void)
{
	free_irq(fiq_irq, NULL);
}

static void fiq_timer_start_cpu(void *unused)
{
	sample_grid_start(this_cpu_ptr(&fiq_grid), read_physical(), fiq_period);
	gic_fiq_enable(fiq_hwirq);
	set_next();
}

/* One write: an FIQ comes before it, and has set the timer again, or not any more. */
static void fiq_timer_stop_cpu(void *unused)
{
	control(0);
	gic_fiq_disable(fiq_hwirq);
}

static const struct nmi_timer fiq_timer = {
	.name = "physical timer, by FIQ",
	.start = fiq_timer_start,
	.stop = fiq_timer_stop,
	.start_cpu = fiq_timer_start_cpu,
	.stop_cpu = fiq_timer_stop_cpu,
};

/*
 * Without a virtual timer's interrupt the physical one is the kernel's clock event; with firmware in a secure state an
 * FIQ is firmware's. Then ordinary timers sample, so neither is an error.
 */
static int fiq_timer_probe(const struct device_desc *dev)
{
	int irq = device_irq(dev, PPI_PHYS);

	if (dev->nr_irq <= PPI_VIRT || !gic_fiq_block || irq < 0)
		return 0;
	fiq_hwirq = dev->irq[PPI_PHYS].hwirq;
	fiq_irq = irq;
	fiq_source = &fiq_timer_source;
	nmi_timer = &fiq_timer;
	return 0;
}

static const char *const fiq_timer_ids[] = {"arm,armv8-timer", NULL};
static const struct driver fiq_timer_driver = {
	.name = "arch_timer_fiq",
	.compatible = fiq_timer_ids,
	.level = DRIVER_TIMER,
	.probe = fiq_timer_probe,
};
REGISTER_DRIVER(fiq_timer_driver);

/*
 * The generic timer (Arm ARM D12): the system counter as clock, and a comparator in each CPU as
 * one-shot event. The virtual timer is used, as its counter is the one that user mode reads too;
 * the physical one where the FDT has no interrupt for that. An interrupt comes when the counter has
 * reached the comparator, and stays until the comparator is moved or masked.
 */
#include <asm/barrier.h>
#include <asm/sysreg.h>
#include <drivers/driver.h>
#include <irq/irq.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <time/clock.h>
#include <time/hrtimer.h>

/* CNTV_CTL_EL0, CNTP_CTL_EL0 (D19.8.23) */
#define CTL_ENABLE  1
#define CTL_ISTATUS 4

/* Places in the binding "arm,armv8-timer". */
enum { PPI_SECURE, PPI_PHYS, PPI_VIRT, PPI_HYP };

static int timer_irq; /* [immutable after probe] */

/*
 * Interrupt this CPU in delta_ns. The comparator has 64 bits, unlike the down counter with its 32,
 * so any delta will do; an event in the past is due at once. The ISB makes the write take effect
 * before the caller goes on, to WFI for instance. Interrupts off.
 */
static void virt_set_next_event(u64 delta_ns)
{
	write_sysreg(arch_read_counter() + ns_to_cycles(delta_ns), cntv_cval_el0);
	write_sysreg(CTL_ENABLE, cntv_ctl_el0);
	isb();
}

static void virt_shutdown(void)
{
	write_sysreg(0, cntv_ctl_el0);
	isb();
}

/*
 * Hard interrupt. The line stays up until the comparator is off or moved, so it is off before the
 * timers run: one of them moves it. Masking it would do on a board. QEMU puts a comparator that is
 * due and masked at the end of time, though, and under -icount sleep=off an idle CPU without any
 * other event goes there, and stays.
 */
static irqreturn_t arch_timer_handler_virt(int irq, void *dev)
{
	if (!(read_sysreg(cntv_ctl_el0) & CTL_ISTATUS))
		return IRQ_NONE;
	write_sysreg(0, cntv_ctl_el0);
	isb();
	hrtimer_interrupt();
	return IRQ_HANDLED;
}

/* The ISB keeps the read in its place, as in arch_read_counter(). */
static u64 read_physical(void)
{
	isb();
	return read_sysreg(cntpct_el0);
}

static void phys_set_next_event(u64 delta_ns)
{
	write_sysreg(read_physical() + ns_to_cycles(delta_ns), cntp_cval_el0);
	write_sysreg(CTL_ENABLE, cntp_ctl_el0);
	isb();
}

static void phys_shutdown(void)
{
	write_sysreg(0, cntp_ctl_el0);
	isb();
}

static irqreturn_t arch_timer_handler_phys(int irq, void *dev)
{
	if (!(read_sysreg(cntp_ctl_el0) & CTL_ISTATUS))
		return IRQ_NONE;
	write_sysreg(0, cntp_ctl_el0);
	isb();
	hrtimer_interrupt();
	return IRQ_HANDLED;
}

/*
 * Both timers off, whatever state firmware left them in; then this CPU's own interrupt on. Called
 * on each CPU, interrupts off.
 */
static void arch_timer_setup_cpu(void)
{
	virt_shutdown();
	phys_shutdown();
	enable_percpu_irq(timer_irq);
}

static const struct clock_event_device virt_event = {
	.name = "arch_sys_timer (virt)",
	.set_next_event = virt_set_next_event,
	.shutdown = virt_shutdown,
	.setup_cpu = arch_timer_setup_cpu,
};
static const struct clock_event_device phys_event = {
	.name = "arch_sys_timer (phys)",
	.set_next_event = phys_set_next_event,
	.shutdown = phys_shutdown,
	.setup_cpu = arch_timer_setup_cpu,
};

/*
 * The virtual timer where firmware names its interrupt, for it is ours under any hypervisor; else the physical one.
 * Both are switched off first: firmware may have left one running. -EINVAL: no frequency; errors of request_irq().
 */
static int arch_timer_probe(const struct device_desc *dev)
{
	bool virt = dev->nr_irq > PPI_VIRT;
	u64 hz = dev->clock_hz ? dev->clock_hz : read_sysreg(cntfrq_el0);
	int err;

	if (!hz)
		return -EINVAL;
	timer_irq = device_irq(dev, virt ? PPI_VIRT : PPI_PHYS);
	if (timer_irq < 0)
		return timer_irq;
	clock_init(hz);
	virt_shutdown();
	phys_shutdown();
	err = request_irq(timer_irq, virt ? arch_timer_handler_virt : arch_timer_handler_phys, IRQF_PERCPU,
			  "arch_timer", NULL);
	if (err)
		return err;
	clock_event = virt ? &virt_event : &phys_event;
	pr_info("%s: %lu.%02lu MHz\n", clock_event->name, (unsigned long)hz / 1000000, (unsigned long)hz / 10000 % 100);
	return 0;
}

static const char *const arch_timer_ids[] = {"arm,armv8-timer", NULL};
static const struct driver arch_timer_driver = {
	.name = "arch_timer",
	.compatible = arch_timer_ids,
	.level = DRIVER_TIMER,
	.probe = arch_timer_probe,
};
REGISTER_DRIVER(arch_timer_driver);

/*
 * The local APIC of each CPU (SDM vol. 3, chapter 10): it takes interrupts from IOAPICs and
 * devices, and sends interrupts to other CPUs. As xAPIC its registers are memory, as x2APIC they
 * are MSRs; apic.h hides the difference but for sending.
 *
 * A vector's upper four bits are its priority class. While an interrupt is in service, those of its
 * class and below wait until it is ended (EOI). Vectors are laid out in asm/irq_vectors.h.
 */
#include <arch/irq.h>
#include <arch/processor.h>
#include <arch/smp.h>
#include <asm/barrier.h>
#include <asm/cpufeature.h>
#include <asm/hardirq.h>
#include <asm/ptrace.h>
#include <boot/acpi.h>
#include <boot/boot_info.h>
#include <drivers/driver.h>
#include <irq/irq.h>
#include <irq/irqflags.h>
#include <kernel/cmdline.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/vmalloc.h>
#include <sched/preempt.h>
#include <time/clock.h>
#include <trace/machine_irq.h>

#define CREATE_TRACE_POINTS
#include <trace/events/irq_vectors.h>

#include "../../arch/x86_64/exception.h"
#include "../../arch/x86_64/smp.h"
#include "apic.h"

/* IA32_APIC_BASE (figure 10-26) */
#define APIC_BASE_X2APIC BIT(10)
#define APIC_BASE_ENABLE BIT(11)

DEFINE_TRACE(vector_enter, TP_PROTO(int vector, const char *name), TP_ARGS(vector, name));
DEFINE_TRACE(vector_exit, TP_PROTO(int vector, const char *name), TP_ARGS(vector, name));

void *xapic;
struct irq_domain *msi_domain;
static bool nox2apic; /* [immutable after boot] */

static int set_nox2apic(const char *value)
{
	nox2apic = true;
	return *value ? -EINVAL : 0;
}
__setup("nox2apic", set_nox2apic);

/*
 * End the interrupt in service. Interrupts end in the reverse of the order in which they came, so
 * the register takes no number. Written as an MSR it may overtake the handler's stores: the next
 * interrupt on this CPU sees them all the same.
 */
static __always_inline void apic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

/*
 * Wait until the last interrupt has left. Returns -EIO when it has not after a million looks, far
 * longer than any bus needs. Any context.
 */
static int xapic_wait_sent(void)
{
	for (unsigned n = 0; n < 1000000; n++) {
		if (!(apic_read(APIC_ICR) & APIC_ICR_BUSY))
			return 0;
		cpu_relax();
	}
	return -EIO;
}

/*
 * Send by xAPIC. Destination and command are two registers, and the write to the second one sends.
 * Nothing else may send on this CPU in between. Interrupts can be held off, an NMI cannot, and an
 * NMI may send too. So a sender that is in an NMI puts the destination back that it found: either
 * it came in between no two writes, and nothing is changed, or the interrupted sender goes on with
 * its own destination. x2APIC has one 64-bit register, and no such problem.
 */
static void xapic_send(u32 id, u32 command)
{
	bool nmi = in_nmi();
	unsigned long flags;
	u32 interrupted = 0;

	local_irq_save(flags);
	if (unlikely(nmi))
		interrupted = apic_read(APIC_ICR2);
	if (unlikely(xapic_wait_sent()))
		pr_warn_once("APIC: an interrupt to another CPU does not leave\n");
	writel(id << 24, xapic + APIC_ICR2);
	writel_relaxed(command, xapic + APIC_ICR);
	if (unlikely(nmi))
		writel_relaxed(interrupted, xapic + APIC_ICR2);
	local_irq_restore(flags);
}

static void apic_send(u32 id, u32 command)
{
	if (xapic)
		xapic_send(id, command);
	else
		wrmsrl(MSR_X2APIC + APIC_ICR / 16, (u64)id << 32 | command);
}

/*
 * Send to all CPUs of the mask. What this CPU wrote before must be visible to the CPUs that are
 * interrupted. With xAPIC it is: stores to uncached memory come after earlier stores. WRMSR to an
 * x2APIC register does not wait for them (SDM 10.12.3): MFENCE completes the stores, LFENCE keeps
 * the WRMSR behind MFENCE. Once is enough for all CPUs of the mask.
 */
static void apic_send_mask(const struct cpumask *mask, u32 command)
{
	unsigned cpu;

	if (!xapic)
		weak_wrmsr_fence();
	for_each_cpu(cpu, mask)
		apic_send(boot_info.cpu_hwid[cpu], command);
}

void apic_send_vector(const struct cpumask *mask, unsigned vector)
{
	apic_send_mask(mask, APIC_MODE_FIXED | APIC_ICR_ASSERT | vector);
}

void apic_send_nmi(const struct cpumask *mask)
{
	apic_send_mask(mask, APIC_MODE_NMI | APIC_ICR_ASSERT);
}

/*
 * A backtrace is asked for by NMI: a CPU that hangs with interrupts masked is just the one whose
 * stack is wanted.
 */
static void lapic_send_ipi(const struct cpumask *mask, enum ipi_kind kind)
{
	if (kind == IPI_BACKTRACE)
		apic_send_nmi(mask);
	else
		apic_send_vector(mask, IPI_VECTOR + kind);
}

/*
 * Send INIT or a start-up interrupt to a CPU that may not run yet, and wait until it has left.
 * Returns 0, or -EIO when it did not leave or no CPU took it.
 */
static int send_start_command(u32 id, u32 command)
{
	apic_write(APIC_ESR, 0);
	if (!xapic)
		weak_wrmsr_fence();
	apic_send(id, command);
	if (xapic && xapic_wait_sent())
		return -EIO;
	apic_write(APIC_ESR, 0); /* latches what came since */
	return apic_read(APIC_ESR) & APIC_ESR_SEND_ACCEPT ? -EIO : 0;
}

/*
 * Does the CPU need the 10 ms that the SDM gives INIT, and the 200 us between two start-ups? Only
 * Intel's NetBurst family (15) among 64-bit CPUs does; all others take a start-up as soon as INIT
 * is delivered, as Linux relies on too.
 */
static bool starts_slowly(void)
{
	return cpu_features.family == 15 && cpu_features.vendor[0] == 'G';
}

int apic_reset_cpu(u32 apic_id)
{
	if (xapic && apic_id > XAPIC_MAX_ID)
		return -EINVAL;
	return send_start_command(apic_id, APIC_MODE_INIT | APIC_ICR_ASSERT);
}

/*
 * INIT, then two start-ups whose vector is the page in which the CPU begins (SDM vol. 3, 8.4.4.1).
 * Whether the CPU comes in time is for arch_cpu_start() to see.
 */
int apic_start_cpu(u32 apic_id, unsigned page)
{
	bool slow = starts_slowly();
	int err;

	err = apic_reset_cpu(apic_id);
	if (err)
		return err;
	udelay(slow ? 10000 : 10);
	/* Twice: a CPU that had not finished its INIT misses the first, one that runs ignores the second. */
	err = send_start_command(apic_id, APIC_MODE_STARTUP | page);
	if (err)
		return err;
	udelay(slow ? 200 : 10);
	return send_start_command(apic_id, APIC_MODE_STARTUP | page);
}

/* Is an interrupt of this vector being served by this CPU? */
static bool in_service(unsigned vector)
{
	return apic_read(APIC_ISR + vector / 32 * 0x10) >> (vector % 32) & 1;
}

/*
 * SPURIOUS_VECTOR comes when an interrupt goes away, or is held back, while the CPU takes it: it is
 * not in service, so it is not ended. WAKE_VECTOR has ended a wait, or comes too late for that.
 * Called from entry.S; this CPU may be parked while text changes, so it is in .noinstr.text.
 */
noinstr void parked_irq_handler(struct pt_regs *regs)
{
	if (regs->vector == WAKE_VECTOR)
		apic_eoi();
	else
		inc_irq_stat(IRQ_STAT_SPU);
}

/*
 * A vector that nothing has asked for. It is ended if it is in service, or it would hold back its
 * class for ever.
 */
static void noinline handle_unexpected(unsigned vector)
{
	inc_irq_stat(IRQ_STAT_SPU);
	trace_spurious_apic_entry(vector);
	if (in_service(vector))
		apic_eoi();
	pr_warn_once("APIC: unexpected interrupt, vector %#x\n", vector);
	trace_spurious_apic_exit(vector);
}

/* Writing makes the register show what came since the last write (SDM 10.5.3). */
static void noinline handle_error(void)
{
	u32 errors;

	trace_error_apic_entry(ERROR_VECTOR);
	apic_write(APIC_ESR, 0);
	errors = apic_read(APIC_ESR);
	apic_eoi();
	inc_irq_stat(IRQ_STAT_ERR);
	pr_warn_once("APIC: CPU%u: error status %#x\n", smp_processor_id(), errors);
	trace_error_apic_exit(ERROR_VECTOR);
}

/* An interrupt that another CPU has sent, with the events that Linux has for two of them. IPI_STOP does not return. */
static __always_inline void lapic_handle_ipi(unsigned vector)
{
	enum ipi_kind kind = vector - IPI_VECTOR;

	if (kind == IPI_RESCHEDULE)
		trace_reschedule_entry(vector);
	else if (kind == IPI_CALL_FUNCTION)
		trace_call_function_entry(vector);
	handle_ipi(kind);
	if (kind == IPI_RESCHEDULE)
		trace_reschedule_exit(vector);
	else if (kind == IPI_CALL_FUNCTION)
		trace_call_function_exit(vector);
}

/*
 * Every interrupt but the parked ones: from the vector to its handler. An IPI is ended first, since
 * IPI_STOP does not return. A device's is ended last, when its line is down: the IOAPIC would send
 * a level-triggered one again. The timer's vector is tested first, as it is the most frequent. Hard
 * interrupt, interrupts off.
 */
static void __irq_entry lapic_handle_irq(struct pt_regs *regs)
{
	unsigned vector = regs->vector;

	if (vector == LOCAL_TIMER_VECTOR) {
		apic_eoi();
		inc_irq_stat(IRQ_STAT_LOC);
		trace_vector_enter(vector, "local_timer");
		trace_local_timer_entry(vector);
		local_apic_timer_interrupt();
		trace_local_timer_exit(vector);
		trace_vector_exit(vector, "local_timer");
	} else if (vector - IPI_VECTOR < IPI_MAX) {
		apic_eoi();
		lapic_handle_ipi(vector);
	} else if (vector == TLB_VECTOR) {
		apic_eoi();
		inc_irq_stat(IRQ_STAT_TLB);
		trace_vector_enter(vector, "tlb_shootdown");
		tlb_shootdown_interrupt();
		trace_vector_exit(vector, "tlb_shootdown");
	} else if (vector - GSI_VECTOR < NR_GSI_VECTORS) {
		ioapic_dispatch(vector - GSI_VECTOR);
		apic_eoi();
	} else if (vector - MSI_VECTOR < NR_MSI_VECTORS && msi_domain) {
		generic_handle_domain_irq(msi_domain, vector - MSI_VECTOR);
		apic_eoi();
	} else if (vector == ERROR_VECTOR) {
		handle_error();
	} else {
		handle_unexpected(vector);
	}
}
static_assert(IPI_VECTOR + IPI_MAX <= TLB_VECTOR, "IPIs and TLB shootdown");

/*
 * Turn the APIC on, in the mode that lapic_probe() chose. Firmware may have left it in x2APIC mode;
 * only off and on again leads back from there to xAPIC (SDM figure 10-27).
 */
static void enable_in_mode(void)
{
	u64 base = rdmsrl(MSR_APIC_BASE);

	if (xapic && base & APIC_BASE_X2APIC) {
		base &= ~(APIC_BASE_X2APIC | APIC_BASE_ENABLE);
		wrmsrl(MSR_APIC_BASE, base);
	}
	wrmsrl(MSR_APIC_BASE, base | APIC_BASE_ENABLE);
	if (!xapic)
		wrmsrl(MSR_APIC_BASE, base | APIC_BASE_ENABLE | APIC_BASE_X2APIC);
}

/* Sources of its own, in the order in which APICs came to have them: one that is not there may not be
 * written. */
static const u16 local_sources[] = {
	APIC_LVTT, APIC_LVT0, APIC_LVT1, APIC_LVTERR, APIC_LVTPC, APIC_LVTTHMR, APIC_LVTCMCI,
};

/*
 * Mask every local source that this APIC has. Firmware may have left its timer or performance
 * counters on.
 */
static void mask_local_sources(void)
{
	unsigned highest = (apic_read(APIC_LVR) >> 16) & 0xff;

	for (unsigned i = 0; i < ARRAY_SIZE(local_sources) && i <= highest; i++)
		apic_write(local_sources[i], APIC_LVT_MASKED);
}

/* End what firmware was serving when it left: it would hold back all that is not more urgent. */
static void end_leftovers(void)
{
	for (unsigned vector = NR_EXCEPTIONS; vector < NR_VECTORS; vector++)
		if (in_service(vector))
			apic_eoi();
}

/*
 * As a logical destination, the first eight CPUs have a bit each (SDM 10.6.2.2, flat model). An x2APIC's is fixed, and
 * an IOAPIC cannot name it.
 */
static void set_logical_id(void)
{
	unsigned cpu = smp_processor_id();

	if (!xapic)
		return;
	apic_write(APIC_DFR, ~0U);
	apic_write(APIC_LDR, cpu < XAPIC_LOGICAL ? BIT(24 + cpu) : 0);
}

/* This CPU's, interrupts off. Its timer is set up with the others of the clock (lapic_timer.c). */
static void lapic_cpu_init(void)
{
	enable_in_mode();
	/* First: disabled by software, it keeps every source masked. */
	apic_write(APIC_SVR, APIC_SVR_ENABLE | SPURIOUS_VECTOR);
	mask_local_sources();
	set_logical_id();
	apic_write(APIC_TPR, 0);
	end_leftovers();
	apic_write(APIC_ESR, 0);
	apic_write(APIC_LVTERR, ERROR_VECTOR);
	for (unsigned lint = 0; lint < 2; lint++)
		if (acpi_info.nmi_lints & (1 << lint))
			apic_write(lint ? APIC_LVT1 : APIC_LVT0, APIC_MODE_NMI);
}

static const struct smp_irq_ops lapic_smp_ops = {.send_ipi = lapic_send_ipi, .cpu_init = lapic_cpu_init};

/*
 * The boot CPU's local APIC, which also makes the machine able to send IPIs. x2APIC, by MSRs, where the CPU has it: no
 * mapping, and one write sends an IPI. The 8259s are masked first, or they would deliver through the same CPU. -EINVAL,
 * -ENOMEM.
 */
static int lapic_probe(const struct device_desc *dev)
{
	if (!dev->nr_reg)
		return -EINVAL;
	if (!cpu_features.x2apic || nox2apic) {
		xapic = ioremap(dev->reg[0].base, PAGE_SIZE);
		if (!xapic)
			return -ENOMEM;
	}
	pic_disable();
	lapic_cpu_init();
	smp_irq_ops = &lapic_smp_ops;
	handle_arch_irq = lapic_handle_irq;
	pr_info("APIC: %s, version %#x\n", xapic ? "xAPIC" : "x2APIC", apic_read(APIC_LVR) & 0xff);
	return 0;
}

static const char *const lapic_ids[] = {"pc,lapic", NULL};
static const struct driver lapic_driver = {
	.name = "lapic",
	.compatible = lapic_ids,
	.level = DRIVER_IRQCHIP,
	.probe = lapic_probe,
};
REGISTER_DRIVER(lapic_driver);

/*
 * Starting other CPUs and sending them interrupts. Firmware starts a CPU (psci.c) at
 * secondary_entry in boot/arm64_head.S with the address of its own struct secondary_data, so
 * several may be on their way at once: no CPU can take the stack of another.
 */
#include <arch/processor.h>
#include <arch/smp.h>
#include <asm/barrier.h>
#include <asm/page.h>
#include <asm/sysreg.h>
#include <boot/boot_info.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <sched/task.h>
#include <time/clock.h>
#include <time/hrtimer.h>

#include "exception.h"
#include "smp.h"

#define CPU_OFF_TIMEOUT_NS NSEC_PER_SEC

void secondary_entry(void); /* arm64_head.S */
extern char reserved_pg_dir[];

const struct smp_irq_ops *smp_irq_ops;
static struct secondary_data secondary_data[NR_CPUS]; /* [its CPU's starter, until the CPU runs] */
static struct cpumask with_stacks = {{1}};	      /* [starter] CPUs that have their stacks, for good */

/*
 * Stacks first, since they can fail; then what the CPU needs before it can ask, in its secondary_data, whose address
 * firmware hands over in x0.
 */
int arch_cpu_start(unsigned cpu, struct task_struct *idle)
{
	struct secondary_data *data = &secondary_data[cpu];
	int err;

	if (cpu >= boot_info.nr_cpus)
		return -ENODEV;
	if (!cpumask_test_cpu(cpu, &with_stacks)) {
		err = alloc_cpu_stacks(cpu);
		if (err)
			return err;
		cpumask_set_cpu(cpu, &with_stacks);
	}
	*data = (struct secondary_data){
		.task = idle,
		.percpu_offset = __per_cpu_offset[cpu],
		.stack_end = task_stack_end(idle),
	};
	dsb(ish); /* the new CPU reads it once its MMU is on: by then it is coherent with us */
	return psci_cpu_on(boot_info.cpu_hwid[cpu], __pa_symbol(secondary_entry), (u64)data);
}

/*
 * MMU on, current and per-CPU offset right: drop the identity map. What programs had in the registers of a CPU that
 * comes back is lost. Not traced: text may change meanwhile (wait_for_admission).
 */
notrace void secondary_cpu_init(void)
{
	write_sysreg(__pa_symbol(reserved_pg_dir), ttbr0_el1);
	isb();
	__asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tisb" : : : "memory");
	pan_init_cpu();
	fpsimd_forget_cpu();
}

void arch_smp_cpu_init(void)
{
	smp_irq_ops->cpu_init(); /* the timer's turn comes with hrtimers_init_cpu() */
}

void arch_send_ipi(const struct cpumask *mask, enum ipi_kind kind)
{
	dsb(ishst); /* normal memory first, then the register that interrupts: nothing else orders the two */
	smp_irq_ops->send_ipi(mask, kind);
}

/*
 * Any CPU, the first one too: device interrupts go elsewhere (irq_cpu_dying), and firmware starts each of them again.
 */
bool arch_cpu_can_leave(unsigned cpu)
{
	return psci_has_cpu_off();
}

noinstr void arch_cpu_die(void)
{
	psci_cpu_off();
	arch_halt(); /* firmware refused: the CPU stays where it does no harm, but cannot be started again */
}

/* The CPU itself has only an instruction or two to go. */
void arch_cpu_wait_dead(unsigned cpu)
{
	u64 end = sched_clock() + CPU_OFF_TIMEOUT_NS;

	while (!psci_cpu_is_off(boot_info.cpu_hwid[cpu])) {
		if ((s64)(sched_clock() - end) > 0) {
			pr_err("psci: CPU%u does not go off\n", cpu);
			return;
		}
		cpu_relax();
	}
}

/* Whatever is pending ends WFI. */
void arch_parked_wake(unsigned cpu)
{
	smp_send_reschedule(cpu);
}

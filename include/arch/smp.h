/* Other CPUs: starting them, interrupting them (arch/<machine>/smp.c). */
#pragma once

#include <kernel/smp.h>

struct task_struct;

/*
 * Start a CPU of boot_info on the stack of its idle task, in secondary_start_kernel. On aarch64 it returns when
 * firmware has accepted the request, on x86_64 when the CPU has arrived in C; the CPU is not online yet. 0, -ENODEV (no
 * such CPU, no way to start it, or it lacks what the boot CPU has), -ENOMEM, -EINVAL (the interrupt controller cannot
 * address it), -EIO, -ETIMEDOUT. Thread context, one caller at a time.
 */
int arch_cpu_start(unsigned cpu, struct task_struct *idle);
/*
 * May this CPU be taken down, and be started again later? Never changes. Any context.
 */
bool arch_cpu_can_leave(unsigned cpu);
/*
 * The end of this CPU, interrupts off: it is off, or waits in .noinstr.text for arch_cpu_start(), and is told nothing
 * any more: it takes part in no TLB shootdown. arch_cpu_wait_dead(), on another CPU while all others stand still,
 * returns when that CPU executes nothing but that; interrupts may be off.
 */
void arch_cpu_die(void) __noreturn;
void arch_cpu_wait_dead(unsigned cpu);
/* Interrupt the CPUs of the mask; they see all that was written before. Any context. */
void arch_send_ipi(const struct cpumask *mask, enum ipi_kind kind);
/* On a new CPU, from secondary_start_kernel with interrupts off: interrupt controller and timer. */
void arch_smp_cpu_init(void);

/* By the interrupt controller's driver: how to send, and what each new CPU does. */
struct smp_irq_ops {
	void (*send_ipi)(const struct cpumask *mask, enum ipi_kind kind);
	void (*cpu_init)(void);
};
extern const struct smp_irq_ops *smp_irq_ops; /* [immutable after boot] */

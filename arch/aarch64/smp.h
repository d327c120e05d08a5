/* Within the machine layer: what a starting CPU needs, stacks that are per CPU, firmware calls. */
#pragma once

#include <asm/page.h>
#include <kernel/percpu.h>
#include <lib/types.h>

struct pt_regs;

/* Read by arm64_head.S with `task` and `percpu_offset` as a pair. */
struct secondary_data {
	struct task_struct *task;
	unsigned long percpu_offset;
	unsigned long stack_end;
};
void secondary_cpu_init(void); /* entry.S to C on a new CPU, before secondary_start_kernel */

#define IRQ_STACK_SIZE	    THREAD_SIZE
#define OVERFLOW_STACK_SIZE PAGE_SIZE
DECLARE_PER_CPU(unsigned long,
		overflow_stack_end); /* [boot, then immutable] 0: none yet, like irq_stack_end (arch/irq.h) */
/* Allocate both for a CPU. 0 or -ENOMEM. Thread context. */
int alloc_cpu_stacks(unsigned cpu);

/* PSCI (Arm DEN 0022). Those with a result return -ENODEV when the FDT names no firmware. */
void psci_init(void); /* boot: method and version from the FDT */
int psci_cpu_on(u64 mpidr, phys_addr_t entry, u64 context);
bool psci_has_cpu_off(void);	 /* can CPUs be switched off, and can one be asked whether it is? */
void psci_cpu_off(void);	 /* this CPU; returns only when firmware refuses. In .noinstr.text */
bool psci_cpu_is_off(u64 mpidr); /* by firmware's word. Any context */
void psci_system_off(void);
void psci_system_reset(void);

/* Semihosting (Arm, "Semihosting for AArch32 and AArch64"): -1 when there is no host that serves it. */
long semihosting_call(long op, const void *arg);
void semihosting_write0(const char *text);
/* A printk console by it, for a machine that does not say where its UART is (drivers/uart/semihosting.c). Boot. */
void semihosting_console_start(void);

/*
 * Within the machine layer: what a starting CPU needs, stacks that are per CPU, the interrupt controller's entry
 * points.
 */
#pragma once

#include <asm/page.h>
#include <kernel/percpu.h>
#include <lib/types.h>

struct pt_regs;
struct task_struct;

/* Read by the trampoline (boot/x86_trampoline.S) on a new CPU. */
struct secondary_data {
	struct task_struct *task;
	unsigned long percpu_offset;
	unsigned long stack_end;
	u64 cr3, cr4, efer;
};
/*
 * From the trampoline in C on a new CPU: features, descriptors, FPU; then secondary_start_kernel. Paging on, current
 * and GS right.
 */
void secondary_cpu_init(void);

#define IRQ_STACK_SIZE THREAD_SIZE
#define IST_STACK_SIZE (2 * PAGE_SIZE)
enum { IST_DF, IST_NMI, IST_MCE, IST_DB, NR_IST };
DECLARE_PER_CPU(unsigned long,
		ist_stack_end[NR_IST]); /* [boot, then immutable] 0: none yet, like irq_stack_end (arch/irq.h) */
/* Allocate them for a CPU. 0 or -ENOMEM. Thread context. */
int alloc_cpu_stacks(unsigned cpu);

/*
 * Where the CPU finds the kernel stack on entry from user mode: TSS.RSP0 and its copy for SYSCALL. Set at each switch
 * (arch_thread_switch) and at the start of each CPU (cpu_desc_init). Interrupts off. Not traced.
 */
void cpu_set_kernel_stack(unsigned long stack_end);

/* TLB_VECTOR's handler (tlb.c), from the interrupt controller's driver. Interrupts off. */
void tlb_shootdown_interrupt(void);
/* This CPU takes part in shootdowns (tlb.c): once it can be interrupted, before it is online. Interrupts off. */
void tlb_cpu_join(void);
/* It stops for good: its answers are not waited for any more. Any context. */
void tlb_cpu_leave(void);
/* Send `vector` to the CPUs of the mask, or an NMI; any context. (drivers/irqchip/lapic.c) */
struct cpumask;
void apic_send_vector(const struct cpumask *mask, unsigned vector);
void apic_send_nmi(const struct cpumask *mask);
/*
 * INIT, then start-up at a page below 1 MiB (SDM vol. 3, 8.4.4). 0, -EIO when the APIC does not deliver,
 * -EINVAL when it cannot name that CPU. Thread context.
 */
int apic_start_cpu(u32 apic_id, unsigned page);
/* INIT alone: whatever that CPU does, it ends, and the CPU waits for a start-up. The same. */
int apic_reset_cpu(u32 apic_id);

/*
 * Compare the TSC of a CPU that starts with that of the one that starts it, both at the same time; returns on
 * both when that is done, 5 ms after the first exchange at most. (drivers/timer/tsc_sync.c)
 */
void tsc_sync_source(unsigned cpu); /* thread context */
void tsc_sync_target(void);	    /* from secondary_cpu_init, interrupts off */

/* The task that runs on a CPU: get_current() reads it by name (percpu.c). [its CPU, in cpu_switch_to] */
DECLARE_PER_CPU(struct task_struct *, current_task);

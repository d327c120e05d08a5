/*
 * CPUs on the host: a thread becomes one with host_cpu_start. An interrupt is a signal to it, held back while
 * it has interrupts off; an nmi is held back by another nmi only. Everything that interrupts a CPU runs on
 * its thread, to the end, as on the machine.
 */
#pragma once

#include <irq/irqflags.h>
#include <lib/types.h>

#define NR_CPUS 4
extern unsigned nr_cpu_ids; /* the test sets how many there are, at most NR_CPUS; default 1 */

#define smp_processor_id()	   host_cpu_id
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (unsigned)(cpu) < nr_cpu_ids; (cpu)++)

typedef void (*smp_call_func_t)(void *info);
/* 0, or -ENXIO when no thread is that CPU. */
int smp_call_function_single(int cpu, smp_call_func_t fn, void *info, bool wait);
/* On each CPU that is up, one after the other. */
void on_each_cpu(smp_call_func_t fn, void *info, bool wait);

/* This thread is CPU `cpu` from now on, until host_cpu_stop. A thread that calls neither is CPU 0 without
 * interrupts. */
void host_cpu_start(int cpu);
void host_cpu_stop(void);
/* Interrupt a CPU: its thread runs fn(info) soon. Returns at once; -ENXIO when it is not up, -EBUSY when it
 * has yet to serve the one before. */
int host_interrupt(int cpu, smp_call_func_t fn, void *info);
/* The same by an nmi, which has its own place. */
int host_nmi(int cpu, smp_call_func_t fn, void *info);
/* Nanoseconds of processor time that this process has used: what a limit is measured in, so that it means the
 * same on a busy machine. */
u64 host_cpu_time(void);

/* The CPUs of the machine: numbers, masks, calls on other CPUs. */
#pragma once

#include <lib/bitmap.h>
#include <lib/types.h>
#include <sched/current.h>

#define NR_CPUS 64

struct cpumask {
	unsigned long bits[BITS_TO_LONGS(NR_CPUS)];
};
typedef struct cpumask cpumask_t;

extern unsigned nr_cpu_ids;		 /* CPUs that the machine has, <= NR_CPUS [immutable after boot] */
extern struct cpumask cpu_online_mask;	 /* those that run; who may look: <sched/cpuhp.h> */
extern struct cpumask cpu_active_mask;	 /* those for which threads and the like may be made: the same */
extern struct cpumask cpu_possible_mask; /* 0 .. nr_cpu_ids-1 */
extern struct cpumask cpu_bit_masks[];	 /* element n has CPU n alone */

/* The CPU we run on. Stable only with preemption off. */
#define smp_processor_id() (READ_ONCE(current->cpu))

static inline bool cpumask_test_cpu(unsigned cpu, const struct cpumask *m)
{
	return (READ_ONCE(m->bits[cpu / 64]) >> (cpu % 64)) & 1;
}
static inline void cpumask_set_cpu(unsigned cpu, struct cpumask *m)
{
	__atomic_fetch_or(&m->bits[cpu / 64], BIT(cpu % 64), __ATOMIC_RELAXED);
}
static inline void cpumask_clear_cpu(unsigned cpu, struct cpumask *m)
{
	__atomic_fetch_and(&m->bits[cpu / 64], ~BIT(cpu % 64), __ATOMIC_RELAXED);
}
static inline bool cpumask_test_and_set_cpu(unsigned cpu, struct cpumask *m)
{
	return (__atomic_fetch_or(&m->bits[cpu / 64], BIT(cpu % 64), __ATOMIC_SEQ_CST) >> (cpu % 64)) & 1;
}
static inline bool cpumask_and(struct cpumask *d, const struct cpumask *a, const struct cpumask *b)
{
	unsigned long any = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(d->bits); i++)
		any |= d->bits[i] = a->bits[i] & b->bits[i];
	return any;
}
static inline bool cpumask_empty(const struct cpumask *m)
{
	for (unsigned i = 0; i < ARRAY_SIZE(m->bits); i++)
		if (READ_ONCE(m->bits[i]))
			return false;
	return true;
}
static inline bool cpumask_equal(const struct cpumask *a, const struct cpumask *b)
{
	for (unsigned i = 0; i < ARRAY_SIZE(a->bits); i++)
		if (a->bits[i] != b->bits[i])
			return false;
	return true;
}
static inline unsigned cpumask_next(unsigned from, const struct cpumask *m)
{
	return find_next_bit(m->bits, nr_cpu_ids, from);
}
#define cpumask_first(m)  cpumask_next(0, m)
#define cpumask_weight(m) bitmap_weight((m)->bits, nr_cpu_ids)
#define for_each_cpu(cpu, mask) \
	for ((cpu) = cpumask_next(0, mask); (cpu) < nr_cpu_ids; (cpu) = cpumask_next((cpu) + 1, mask))
#define for_each_online_cpu(cpu)   for_each_cpu(cpu, &cpu_online_mask)
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)
#define cpu_online(cpu)		   cpumask_test_cpu(cpu, &cpu_online_mask)
#define num_online_cpus()	   cpumask_weight(&cpu_online_mask)

/* What an inter-processor interrupt asks for; the numbers go over the wire (GIC SGI, APIC vector offset). */
enum ipi_kind {
	IPI_RESCHEDULE,	   /* look at TIF_NEED_RESCHED on the way out */
	IPI_CALL_FUNCTION, /* run the queued smp_call_function work */
	IPI_STOP,	   /* panic or power-off: stop for good */
	IPI_BACKTRACE,	   /* print your backtrace */
	IPI_MAX,
};
/* The arch's interrupt entry calls this with interrupts off, inside irq_enter/irq_exit. */
void handle_ipi(enum ipi_kind kind);

typedef void (*smp_call_func_t)(void *info);
/*
 * Run fn(info) on a CPU (in its interrupt, or directly when it is ours, interrupts off). With `wait`, returns when it
 * has run; else the queued call lives in per-CPU storage. Context: interrupts on, not in an interrupt. 0 or -ENXIO.
 */
int smp_call_function_single(int cpu, smp_call_func_t fn, void *info, bool wait);
/* The same on every other online CPU of mask. */
void smp_call_function_many(const struct cpumask *mask, smp_call_func_t fn, void *info, bool wait);
void on_each_cpu(smp_call_func_t fn, void *info, bool wait);
void smp_send_reschedule(int cpu); /* any context */
void smp_send_stop(void);	   /* all others stop for good; any context */

/*
 * Print where each CPU is, ours first; one that does not answer within 100 ms is named. Whether it must have
 * interrupts on for that is the machine's: on some IPI_BACKTRACE is not maskable. Any context but nmi.
 */
void trigger_all_cpu_backtrace(void);
extern struct cpumask cpu_backtrace_mask; /* [atomic] CPUs that are asked, until they are done */

extern const char *const ipi_names[IPI_MAX]; /* as /proc/interrupts has them */
u64 ipi_count(unsigned kind, int cpu);	     /* how many a CPU has served */

void smp_setup_boot_cpu(unsigned nr_cpus); /* boot: the machine has so many; the first is possible and online */
/*
 * Start the other CPUs, wait for each (a message when one does not come), start the stopper threads. Boot,
 * thread context: after sched_init and fork_init, before the other per-CPU threads.
 */
void smp_init(void);
/*
 * Start one CPU, which must not run. When it returns 0 the CPU is online. -ENOMEM, -ETIMEDOUT: it did not come in time,
 * or an error of arch_cpu_start(). Thread context; the lock of <sched/cpuhp.h>, or boot.
 */
int smp_start_cpu(unsigned cpu);
void secondary_start_kernel(void); /* where another CPU arrives in C, on its idle task's stack, interrupts off */

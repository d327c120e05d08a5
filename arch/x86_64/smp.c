/*
 * Starting other CPUs and sending them interrupts.
 *
 *     starter: arch_cpu_start              new CPU
 *     fills the trampoline's page
 *     arrival = EXPECTED, INIT, start-up   real mode -> long mode (boot/x86_trampoline.S)
 *     waits                                secondary_cpu_init: EXPECTED -> SEEN, or REFUSED
 *     compares TSCs with it                compares TSCs, goes online
 */
#include <arch/processor.h>
#include <arch/smp.h>
#include <asm/clock.h>
#include <asm/cpufeature.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <boot/boot_info.h>
#include <boot/x86_boot.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <sched/task.h>
#include <time/clock.h>

#include "exception.h"
#include "smp.h"

const struct smp_irq_ops *smp_irq_ops;

/*
 * There is one page in which CPUs start, with one slot for the stack that they are to use, so one
 * CPU at a time is on its way. A CPU that does not come in time may come later, and must not run on
 * a stack that is another's by then. So the starter and the CPU exchange this word by
 * compare-and-exchange: the CPU goes on only if it is still expected, else it halts; and one that
 * was given up on is sent an INIT, so that it does not meet the next one in the page.
 */
static enum {
	ARRIVAL_NONE,
	ARRIVAL_EXPECTED,
	ARRIVAL_SEEN,	 /* it may come online */
	ARRIVAL_REFUSED, /* it has said why, and halts */
	ARRIVAL_GIVEN_UP,
} arrival; /* [atomic] */

/* Generous: the host may run our CPUs one after the other. */
#define ARRIVAL_TIMEOUT_NS (5 * NSEC_PER_SEC)

static struct cpumask with_stacks = {{1}}; /* [starter] CPUs that have their stacks, for good */
static DEFINE_PER_CPU(bool, dead);	   /* [atomic] it is in arch_cpu_die(), until it is started */

/*
 * CPUID words of features (SDM vol. 2, CPUID). `varies`: bits that show how a CPU is set up, or which one it
 * is, rather than what it can do.
 */
struct feature_word {
	u32 leaf, sub;
	u8 reg; /* 0 eax .. 3 edx */
	u32 varies;
};
static const struct feature_word feature_words[] = {
	{1, 0, 2, 1 << 27 | 1 << 3}, /* CR4.OSXSAVE; MONITOR, which firmware can turn off */
	{1, 0, 3, 1 << 9},	     /* the APIC is on */
	{7, 0, 1, 0},
	{7, 0, 2, 1 << 4}, /* CR4.PKE */
	{0xd, 1, 0, 0},
	{0x80000001, 0, 2, 0},
	{0x80000001, 0, 3, 1 << 11}, /* SYSCALL: Intel shows it in long mode only */
};
static u32 boot_cpu_words[ARRAY_SIZE(feature_words)]; /* [boot CPU, then immutable] */

static notrace u32 read_feature_word(const struct feature_word *w)
{
	struct cpuid_regs r;

	if (w->leaf > (w->leaf & 0x80000000 ? cpu_features.max_ext_leaf : cpu_features.max_leaf))
		return 0;
	r = cpuid(w->leaf, w->sub);
	return ((const u32[]){r.eax, r.ebx, r.ecx, r.edx})[w->reg] & ~w->varies;
}

/* Features that were found on the boot CPU are used on all CPUs, by programs and by the kernel. */
static notrace bool lacks_features(void)
{
	static const char *const registers[] = {"eax", "ebx", "ecx", "edx"};
	bool lacks = false;

	for (unsigned i = 0; i < ARRAY_SIZE(feature_words); i++) {
		const struct feature_word *w = &feature_words[i];
		u32 missing = boot_cpu_words[i] & ~read_feature_word(w);

		if (!missing)
			continue;
		pr_err("smp: CPU%u lacks features of the boot CPU: CPUID %#x.%u %s, bits %#x\n", smp_processor_id(),
		       w->leaf, w->sub, registers[w->reg], missing);
		lacks = true;
	}
	return lacks;
}

static int wait_for_arrival(void)
{
	u64 end = sched_clock() + ARRIVAL_TIMEOUT_NS;
	u32 state;

	while ((state = __atomic_load_n(&arrival, __ATOMIC_ACQUIRE)) == ARRIVAL_EXPECTED) {
		/* Exchanged, as it may arrive at this very moment. */
		if ((s64)(sched_clock() - end) > 0 &&
		    cmpxchg(&arrival, ARRIVAL_EXPECTED, ARRIVAL_GIVEN_UP) == ARRIVAL_EXPECTED)
			return -ETIMEDOUT;
		cpu_relax();
	}
	return state == ARRIVAL_SEEN ? 0 : -ENODEV;
}

/* Of CR4 what every 64-bit CPU has: cpu_setup() adds the rest, when it is known that this CPU has it too. */
static void fill_secondary_data(struct secondary_data *data, unsigned cpu, struct task_struct *idle)
{
	*data = (struct secondary_data){
		.task = idle,
		.percpu_offset = __per_cpu_offset[cpu],
		.stack_end = task_stack_end(idle),
		.cr4 = X86_CR4_PAE | X86_CR4_PGE,
		.efer = rdmsrl(MSR_EFER),
	};
}

/*
 * Thread context, one caller at a time. On -ETIMEDOUT or -ENODEV the CPU is reset; its stacks stay allocated. If the
 * reset was not delivered, the CPU may still come, and would take the stack that the trampoline's page shows by then:
 * so no further CPU is started.
 */
int arch_cpu_start(unsigned cpu, struct task_struct *idle)
{
	static bool may_still_come;
	struct secondary_data data;
	int err, page;

	if (cpu >= boot_info.nr_cpus || !smp_irq_ops || may_still_come)
		return -ENODEV;
	if (!cpumask_test_cpu(cpu, &with_stacks)) {
		err = alloc_cpu_stacks(cpu);
		if (err)
			return err;
		cpumask_set_cpu(cpu, &with_stacks);
	}
	fill_secondary_data(&data, cpu, idle);
	page = x86_trampoline_prepare(&data);
	if (page < 0)
		return page;
	for (unsigned i = 0; i < ARRAY_SIZE(feature_words); i++)
		boot_cpu_words[i] = read_feature_word(&feature_words[i]);
	WRITE_ONCE(per_cpu(dead, cpu), false);
	smp_store_release(&arrival, ARRIVAL_EXPECTED);
	err = apic_start_cpu(boot_info.cpu_hwid[cpu], page);
	if (!err)
		err = wait_for_arrival();
	if (err)
		may_still_come = apic_reset_cpu(boot_info.cpu_hwid[cpu]) != 0;
	else
		tsc_sync_source(cpu);
	return err;
}

/*
 * Paging on, current and GS right, on the idle task's stack. No exception may happen before cpu_desc_init(). Not
 * traced, nor is what it calls: text may change meanwhile (wait_for_admission).
 */
notrace void secondary_cpu_init(void)
{
	u32 next;

	cpu_desc_init();
	next = lacks_features() ? ARRIVAL_REFUSED : ARRIVAL_SEEN;
	if (cmpxchg(&arrival, ARRIVAL_EXPECTED, next) != ARRIVAL_EXPECTED || next == ARRIVAL_REFUSED)
		arch_halt();
	cpu_setup();
	fpu_init_cpu();
	tsc_sync_target();
}

void arch_smp_cpu_init(void)
{
	smp_irq_ops->cpu_init(); /* the timer's turn comes with hrtimers_init_cpu() */
	tlb_cpu_join();
}

/* Not the boot CPU, as on Linux: device interrupts go to it, and firmware may count on it. */
bool arch_cpu_can_leave(unsigned cpu)
{
	return cpu && smp_irq_ops;
}

/* INIT ends this HLT: arch_cpu_start() sends it. An NMI goes on behind it. */
noinstr void arch_cpu_die(void)
{
	tlb_cpu_leave();
	__atomic_store_n(this_cpu_ptr(&dead), true, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("cli\n\thlt" : : : "memory");
}

void arch_cpu_wait_dead(unsigned cpu)
{
	while (!__atomic_load_n(per_cpu_ptr(&dead, cpu), __ATOMIC_ACQUIRE))
		cpu_relax();
}

/* That the receivers see what was written before is the driver's to do: it depends on how it sends. */
void arch_send_ipi(const struct cpumask *mask, enum ipi_kind kind)
{
	smp_irq_ops->send_ipi(mask, kind);
}

void arch_parked_wake(unsigned cpu)
{
	struct cpumask one = {};

	cpumask_set_cpu(cpu, &one);
	apic_send_vector(&one, WAKE_VECTOR);
}

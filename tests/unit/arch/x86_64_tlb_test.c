/*
 * Shootdowns of x86_64: when a flush returns, no CPU translates by what was flushed. Each of four CPUs has a TLB that
 * keeps all that it ever had until its instructions forget it. One thread plays all CPUs: while one of them waits
 * (cpu_relax), one of those that were interrupted handles its interrupt, the highest number first.
 */
/* sources: */
/* include: tests/unit/include-tlb -Itests/unit/include-lapic -Itests/unit/include-sched -Itests/unit/include-mm */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include "../../../arch/x86_64/mm/tlb.c"

#define CPUS   4
#define PAGES  64 /* of each half: bits of a word */
#define USER   0x10000000UL
#define KERNEL 0xffffc90000000000UL

static struct task_struct tasks[CPUS] = {{.cpu = 0}, {.cpu = 1}, {.cpu = 2}, {.cpu = 3}};
struct task_struct *host_current = &tasks[0];
unsigned long host_irqs_off;
unsigned long __per_cpu_offset[NR_CPUS];
static char areas[CPUS][4096] __aligned(64);
extern char __start_host_percpu[], __stop_host_percpu[];
DEFINE_PER_CPU(struct mm_struct *, loaded_mm);
struct mm_struct init_mm;
static struct mm_struct space, another;

static struct {
	u64 user, kernel; /* pages in its TLB */
	u64 cr4;
	bool rung; /* an interrupt is on its way */
	unsigned interrupts;
} cpus[CPUS];
static unsigned waits;
static void (*meanwhile)(void); /* done once, by the first CPU that is interrupted, in front of its handler */

void preempt_schedule(void)
{
}
void preempt_schedule_notrace(void)
{
}

static void on(unsigned cpu)
{
	host_current = &tasks[cpu];
}

u64 read_cr(unsigned n)
{
	return n == 4 ? cpus[current->cpu].cr4 : 0;
}
void write_cr(unsigned n, u64 v)
{
	cpus[current->cpu].user = 0;
	if (n == 4 && !(v & X86_CR4_PGE))
		cpus[current->cpu].kernel = 0;
	if (n == 4)
		cpus[current->cpu].cr4 = v;
}
void flush_tlb_local_page(unsigned long va)
{
	if (va >= KERNEL)
		cpus[current->cpu].kernel &= ~BIT((va - KERNEL) / PAGE_SIZE);
	else
		cpus[current->cpu].user &= ~BIT((va - USER) / PAGE_SIZE);
}
void arch_switch_mm(struct mm_struct *prev, struct mm_struct *next, unsigned cpu)
{
	assert_ptr_equal(next, &init_mm);
	per_cpu(loaded_mm, cpu) = next;
	cpus[cpu].user = 0;
}

void apic_send_vector(const struct cpumask *mask, unsigned vector)
{
	assert_int_equal(vector, TLB_VECTOR);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		cpus[cpu].rung |= mask->bits[0] >> cpu & 1;
}

/* One CPU handles its interrupt. */
void host_relax(void)
{
	struct task_struct *waiter = host_current;
	unsigned long off = host_irqs_off;
	void (*first)(void) = meanwhile;

	if (++waits > 100)
		fail_msg("CPU %u waits for ever", waiter->cpu);
	for (unsigned cpu = CPUS; cpu-- > 0;) {
		if (!cpus[cpu].rung)
			continue;
		on(cpu);
		meanwhile = NULL;
		if (first)
			first();
		cpus[cpu].rung = false;
		cpus[cpu].interrupts++;
		host_irqs_off = 1;
		tlb_shootdown_interrupt();
		host_irqs_off = off;
		host_current = waiter;
		return;
	}
}

/* Each CPU runs a task of `space` and has all pages of both halves in its TLB. */
static int boot(void **state)
{
	size_t size = (size_t)(__stop_host_percpu - __start_host_percpu);

	assert_in_range(size, 1, sizeof(areas[0]));
	space.cpu_bitmap = BIT(CPUS) - 1;
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		memcpy(areas[cpu], __start_host_percpu, size);
		__per_cpu_offset[cpu] = (unsigned long)areas[cpu] - (unsigned long)__start_host_percpu;
		per_cpu(loaded_mm, cpu) = tasks[cpu].mm = &space;
		on(cpu);
		tlb_cpu_join();
		memset(&cpus[cpu], 0, sizeof(cpus[cpu]));
		cpus[cpu].user = cpus[cpu].kernel = ~0UL;
		cpus[cpu].cr4 = X86_CR4_PGE;
	}
	on(0);
	waits = 0;
	meanwhile = NULL;
	return 0;
}

/* No CPU may have any of these pages any more. */
static void expect_gone(const char *call, u64 user, u64 kernel)
{
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		if (cpus[cpu].user & user || cpus[cpu].kernel & kernel)
			fail_msg("CPU %u still has user pages %lx, kernel pages %lx when %s returns", cpu,
				 cpus[cpu].user & user, cpus[cpu].kernel & kernel, call);
}

/* Each call, for one page, for some, and for more than are flushed one by one. */
static void test_gone_on_all_cpus(void **state)
{
	flush_tlb_page(&space, USER + 7 * PAGE_SIZE + 8);
	expect_gone("flush_tlb_page", BIT(7), 0);
	assert_int_equal(cpus[3].user, ~BIT(7));
	boot(state);
	flush_tlb_range(&space, USER + 4 * PAGE_SIZE, USER + 8 * PAGE_SIZE);
	expect_gone("flush_tlb_range", 0xf0, 0);
	assert_int_equal(cpus[3].user, ~0xf0UL);
	boot(state);
	flush_tlb_range(&space, USER, USER + PAGES * PAGE_SIZE);
	expect_gone("flush_tlb_range", ~0UL, 0);
	boot(state);
	flush_tlb_mm(&space);
	expect_gone("flush_tlb_mm", ~0UL, 0);
	assert_int_equal(cpus[3].kernel, ~0UL);
	boot(state);
	flush_tlb_kernel_range(KERNEL, KERNEL + 4 * PAGE_SIZE);
	expect_gone("flush_tlb_kernel_range", 0, 0xf);
	assert_int_equal(cpus[3].user, ~0UL);
	boot(state);
	flush_tlb_kernel_range(KERNEL, KERNEL + PAGES * PAGE_SIZE);
	expect_gone("flush_tlb_kernel_range", 0, ~0UL);
}

/*
 * A CPU that has another address space is not interrupted. One that runs a kernel thread gives up the one that it has,
 * so it is interrupted once.
 */
static void test_who_is_interrupted(void **state)
{
	per_cpu(loaded_mm, 1) = tasks[1].mm = &another;
	tasks[2].mm = NULL;
	for (unsigned n = 0; n < 2; n++)
		flush_tlb_page(&space, USER);
	for (unsigned cpu = 1; cpu < CPUS; cpu++)
		if (cpus[cpu].interrupts != cpu - 1)
			fail_msg("CPU %u is interrupted %u times, not %u", cpu, cpus[cpu].interrupts, cpu - 1);
	assert_ptr_equal(per_cpu(loaded_mm, 2), &init_mm);
	assert_int_equal(cpus[1].user, ~0UL);
	assert_int_equal(cpus[3].user, ~1UL);
}

static void flush_back(void)
{
	flush_tlb_page(&space, USER + PAGE_SIZE);
	expect_gone("flush_tlb_page", BIT(1), 0);
}

/* A CPU that is interrupted by a flush has one of its own under way: both end, and both are complete. */
static void test_flushes_at_each_other(void **state)
{
	meanwhile = flush_back;
	flush_tlb_page(&space, USER);
	expect_gone("flush_tlb_page", BIT(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_gone_on_all_cpus, boot),
		cmocka_unit_test_setup(test_who_is_interrupted, boot),
		cmocka_unit_test_setup(test_flushes_at_each_other, boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

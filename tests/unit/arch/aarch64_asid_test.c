/*
 * ASIDs: however tasks are switched, a CPU never translates by what its TLB has kept of another address space. The
 * test includes arch/aarch64/task/context.c, with registers that are variables, and has a model of four CPUs. In the
 * model a TLB remembers which address space was used under each ASID, and forgets only when this CPU flushes.
 * run_on() holds every switch against the model.
 */
/* sources: arch/aarch64/task/context.c kernel/lib/bitmap.c */
/* include: tests/unit/include-asid */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <arch/mmu.h>
#include <asm/sysreg.h>
#include <kernel/smp.h>
#include <sched/spinlock.h>
#undef volatile
#undef __asm__
#include "../../../arch/aarch64/task/context.h"

#define CPUS 4
#define MMS  700

u64 host_id_aa64mmfr0_el1, host_ttbr0_el1;
unsigned nr_cpu_ids = NR_CPUS; /* as many as there may be: a step beyond the last leaves the tables */
struct mm_struct init_mm;
pgd_t reserved_pg_dir[1];

static pgd_t tables[MMS];
static struct mm_struct mms[MMS];
static struct {
	struct mm_struct *runs;	      /* &init_mm: no program's */
	u64 asid;		      /* in its register */
	struct mm_struct *tlb[65536]; /* whose entries it has under each ASID */
	unsigned flushes;
} cpus[CPUS];
static unsigned this_cpu;

void host_lock(spinlock_t *lock)
{
	assert_int_equal(lock->locked, 0);
	lock->locked = 1;
}

void host_unlock(spinlock_t *lock)
{
	assert_int_equal(lock->locked, 1);
	lock->locked = 0;
}

void host_flush(void)
{
	memset(cpus[this_cpu].tlb, 0, sizeof(cpus[this_cpu].tlb));
	cpus[this_cpu].flushes++;
}

/*
 * Let a CPU switch to this address space and use it. Afterwards its registers must name the right tables and a valid
 * ASID, no other address space may run under the same ASID on any CPU, and this CPU's TLB may hold nothing else under
 * it. A mistake in the roll-over of ASIDs, which shows as memory of another process, fails here.
 */
static void run_on(unsigned cpu, struct mm_struct *mm)
{
	struct mm_struct *before = cpus[cpu].runs;
	u64 asid;

	if (before == mm)
		return;
	this_cpu = cpu;
	arch_switch_mm(before, mm, cpu);
	cpus[cpu].runs = mm;
	asid = host_ttbr0_el1 >> 48;
	if (mm == &init_mm) {
		assert_int_equal(host_ttbr0_el1, (u64)reserved_pg_dir);
		return;
	}
	assert_int_equal(host_ttbr0_el1 << 16 >> 16, (u64)mm->pgd);
	assert_true(arch_mm_in_use(mm));
	assert_int_equal(asid, mm_asid(mm));
	assert_in_range(asid, 1, (1U << asid_bits) - 1);
	cpus[cpu].asid = asid;
	/* Whoever runs the same runs under this number, nobody else does, and this CPU knows nothing else by it. */
	for (unsigned other = 0; other < CPUS; other++)
		if (cpus[other].runs != &init_mm)
			assert_int_equal(cpus[other].runs == mm, cpus[other].asid == asid);
	assert_true(!cpus[cpu].tlb[asid] || cpus[cpu].tlb[asid] == mm);
	cpus[cpu].tlb[asid] = mm;
}

static int setup(void **state)
{
	for (unsigned i = 0; i < MMS; i++) {
		mms[i].pgd = &tables[i];
		assert_int_equal(arch_init_new_context(&mms[i]), 0);
		assert_int_equal(mm_asid(&mms[i]), 0);
	}
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		this_cpu = cpu;
		cpus[cpu].runs = &init_mm;
		host_flush();
		cpus[cpu].flushes = 0;
	}
	return 0;
}

/* The same few address spaces again and again: each keeps its number, and nothing is flushed. */
static void test_few(void **state)
{
	u64 first[8];

	for (unsigned i = 0; i < 8; i++) {
		run_on(i % CPUS, &mms[i]);
		first[i] = mms[i].context_id;
	}
	for (unsigned i = 0; i < 10000; i++)
		run_on(rand() % CPUS, rand() % 5 ? &mms[rand() % 8] : &init_mm);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(mms[i].context_id, first[i]);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(cpus[cpu].flushes, 0);
}

/* More than there are numbers: each generation costs each CPU one flush, when it switches next, and no more. */
static void test_many(void **state)
{
	u64 generation = 0;

	for (unsigned round = 0; round < 20; round++)
		for (unsigned i = 0; i < MMS; i++)
			run_on(i % CPUS, &mms[i]);
	for (unsigned i = 0; i < MMS; i++)
		generation = mms[i].context_id >> 16 > generation ? mms[i].context_id >> 16 : generation;
	assert_in_range(generation, 20 * MMS / 256, 20 * MMS / 250 + 2);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		assert_in_range(cpus[cpu].flushes, generation - 3, generation);
}

/* A CPU that runs one address space for ever, over many generations, keeps its number for it, on every CPU. */
static void test_long_runner(void **state)
{
	u64 asid;

	run_on(0, &mms[0]);
	run_on(1, &mms[0]);
	asid = mm_asid(&mms[0]);
	for (unsigned i = 0; i < 5000; i++) {
		run_on(2 + i % 2, &mms[1 + i % (MMS - 1)]);
		if (i % 300 == 0)
			run_on(3, &mms[0]);
		assert_int_equal(mm_asid(&mms[0]), asid);
	}
	run_on(2, &mms[0]);
	assert_int_equal(mm_asid(&mms[0]), asid);
	run_on(0, &init_mm);
	run_on(0, &mms[0]);
	assert_int_equal(mm_asid(&mms[0]), asid);
}

/*
 * Any address space on any CPU in any order, over more than a thousand generations of ASIDs: run_on() looks at each
 * switch.
 */
static void test_random(void **state)
{
	for (unsigned i = 0; i < 300000; i++) {
		unsigned within = i / 1000 % 2 ? MMS : 300;

		run_on(rand() % CPUS, rand() % 9 ? &mms[rand() % within] : &init_mm);
	}
}

/* With 16 bits there is room for all. */
static void test_wide(void **state)
{
	host_id_aa64mmfr0_el1 = 2 << 4;
	asid_init();
	assert_int_equal(asid_bits, 16);
	setup(state);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) { /* what the narrow ones have left to be flushed */
		run_on(cpu, &mms[cpu]);
		cpus[cpu].flushes = 0;
	}
	for (unsigned i = 0; i < 5 * MMS; i++)
		run_on(i % CPUS, &mms[i % MMS]);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(cpus[cpu].flushes, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_few, setup),	 cmocka_unit_test_setup(test_many, setup),
		cmocka_unit_test_setup(test_long_runner, setup), cmocka_unit_test_setup(test_random, setup),
		cmocka_unit_test_setup(test_wide, setup),
	};

	srand(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

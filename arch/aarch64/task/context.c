/*
 * Address-space switches and ASIDs.
 *
 * mm->context_id is a generation (upper bits) and an ASID (lower 8 or 16). When the ASIDs are used up, the
 * generation goes up, all TLBs are flushed, and every mm gets a new ASID when it runs next. CPUs that run
 * user code at that moment keep theirs: they are carried over as reserved, since such a CPU cannot be told to
 * change.
 *
 * Why the fast path is safe: a CPU publishes the context it switches to with a compare-and-exchange on its
 * active word. A roll-over first advances the generation, then takes every active word with an exchange to 0.
 * Either the exchange comes first, and the fast path finds 0 and takes the lock; or the publication does, and
 * the ASID is reserved.
 */
#include <arch/mmu.h>
#include <asm/barrier.h>
#include <asm/sysreg.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <sched/spinlock.h>

#include "context.h"

extern pgd_t reserved_pg_dir[];

unsigned asid_bits = 8;

/* Locks: L asid_lock; a atomic. */
static DEFINE_SPINLOCK(asid_lock);	       /* interrupts off; innermost */
static u64 asid_generation = 1UL << 16;	       /* [a; L for changes] a multiple of 1 << asid_bits for both sizes */
static unsigned long asid_map[(1 << 16) / 64]; /* [L] in use in this generation */
static unsigned asid_next = 1;		       /* [L] where to look first */
static u64 active_asid[NR_CPUS];     /* [a] what a CPU runs; 0: a roll-over took it, or only the kernel runs */
static u64 reserved_asid[NR_CPUS];   /* [L] what it kept over the last roll-over */
static struct cpumask flush_pending; /* [a] CPUs that must flush before they use a new ASID */

void asid_init(void)
{
	if (((read_sysreg(id_aa64mmfr0_el1) >> 4) & 15) == 2)
		asid_bits = 16;
}

static bool same_generation(u64 context)
{
	return context >> 16 == READ_ONCE(asid_generation) >> 16;
}

/* [L] Start over: all ASIDs free but those that run. */
static void roll_over(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(asid_map); i++)
		asid_map[i] = 0;
	for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++) {
		u64 active = xchg(&active_asid[cpu], 0);

		/* 0: two roll-overs and no switch between them. It still runs what was reserved then. */
		if (active)
			reserved_asid[cpu] = active;
		active = reserved_asid[cpu] & ((1UL << asid_bits) - 1);
		asid_map[active / 64] |= BIT(active % 64);
		cpumask_set_cpu(cpu, &flush_pending);
	}
}

/* [L] Was this context carried over? Then it goes on under the new generation, on every CPU that reserved it. */
static bool keep_reserved(u64 old, u64 new)
{
	bool hit = false;

	for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (reserved_asid[cpu] != old)
			continue;
		hit = true;
		reserved_asid[cpu] = new;
	}
	return hit;
}

/* [L] The first free ASID from asid_next on, or 0. */
static unsigned find_asid(void)
{
	unsigned size = 1U << asid_bits, asid = find_next_zero_bit(asid_map, size, asid_next);

	return asid < size ? asid : 0;
}

/* [L] A context for the present generation. */
static u64 new_context(u64 old)
{
	u64 generation = asid_generation, asid = old & ((1UL << asid_bits) - 1);

	if (old) {
		if (keep_reserved(old, generation | asid))
			return generation | asid;
		/* The old number has not been taken in this generation yet: keep it. */
		if (!(asid_map[asid / 64] & BIT(asid % 64))) {
			asid_map[asid / 64] |= BIT(asid % 64);
			return generation | asid;
		}
	}
	asid = find_asid();
	if (!asid) {
		generation += 1UL << 16;
		__atomic_store_n(&asid_generation, generation,
				 __ATOMIC_SEQ_CST); /* before the active words are taken */
		roll_over();
		asid_next = 1;
		asid = find_asid(); /* there are more ASIDs than CPUs */
	}
	asid_map[asid / 64] |= BIT(asid % 64);
	asid_next = asid + 1;
	return generation | asid;
}

/*
 * The context to run `mm` with on this CPU, under asid_lock: a new one if its generation is over,
 * and the flush that this CPU owes since the last roll-over. Interrupts off.
 */
static noinline u64 context_slow(struct mm_struct *mm, unsigned cpu)
{
	u64 context;

	arch_spin_lock(&asid_lock);
	context = mm->context_id;
	if (!context || !same_generation(context)) {
		context = new_context(context);
		WRITE_ONCE(mm->context_id, context);
	}
	if (cpumask_test_cpu(cpu, &flush_pending)) {
		cpumask_clear_cpu(cpu, &flush_pending);
		__asm__ volatile("dsb nshst\n\ttlbi vmalle1\n\tdsb nsh\n\tisb" : : : "memory");
	}
	__atomic_store_n(&active_asid[cpu], context, __ATOMIC_RELAXED);
	arch_spin_unlock(&asid_lock);
	return context;
}

/* The fast path: publish the context without a lock. The head of the file says why this is safe. */
static u64 check_and_switch_context(struct mm_struct *mm, unsigned cpu)
{
	u64 context = READ_ONCE(mm->context_id), active = READ_ONCE(active_asid[cpu]);

	if (active && context && same_generation(context) &&
	    __atomic_compare_exchange_n(&active_asid[cpu], &active, context, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return context;
	return context_slow(mm, cpu);
}

/*
 * One store to TTBR0_EL1 changes tables and ASID together. The kernel's own space keeps ASID 0 over an empty
 * table; the active word is left alone then, so that coming back from idle to the same mm stays on the fast
 * path.
 */
void arch_switch_mm(struct mm_struct *prev, struct mm_struct *next, unsigned cpu)
{
	u64 ttbr;

	if (next == &init_mm) {
		ttbr = __pa_symbol(reserved_pg_dir);
	} else {
		u64 context = check_and_switch_context(next, cpu);

		ttbr = __pa(next->pgd) | (context & ((1UL << asid_bits) - 1)) << 48;
	}
	write_sysreg(ttbr, ttbr0_el1);
	isb();
}

notrace bool arch_mm_in_use(const struct mm_struct *mm)
{
	return (read_sysreg(ttbr0_el1) & (BIT(48) - 1)) == __pa(mm->pgd);
}

int arch_init_new_context(struct mm_struct *mm)
{
	mm->context_id = 0;
	return 0;
}

void arch_destroy_context(struct mm_struct *mm)
{
}

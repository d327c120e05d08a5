/*
 * TLB flushes, on other CPUs by interrupt: the hardware does not tell them that an entry was changed.
 *
 * Which CPUs must be told. A CPU holds user translations of the address space that it has loaded, and of no other:
 * loading CR3 drops them (no PCID). A CPU in a kernel thread keeps the one that it had until the first flush
 * that it is told of. So it is enough to interrupt the CPUs whose loaded_mm is the mm; mm->cpu_bitmap, a
 * superset, says where to look. Why no CPU is missed:
 *
 *     who flushes                             who loads the mm (switch_mm, arch_switch_mm)
 *     1. changes the entry                    a. sets its bit in cpu_bitmap, unless it is set already
 *     2. full barrier                         b. loaded_mm = mm
 *     3. reads cpu_bitmap, then loaded_mm     c. full barrier; loads CR3, walks the tables
 *
 * Either 3 sees what a and b wrote, and the CPU is interrupted. If it does not, 3 comes before c, so 1
 * does, and the walk in c finds the changed entry. If 3 sees that the CPU has already written b for another
 * mm, it may still hold our translation for the few instructions until it loads CR3: with interrupts off,
 * in the kernel, where nothing touches user addresses; and the tables live until that CPU, having switched,
 * gives its reference back. The kernel's translations can be in every CPU that takes part (tlb_cpus).
 *
 * How it is told. Each CPU has one request, for the flush that it has under way, and a word with a bit for
 * each CPU that wants something of it. The request names the CPUs that have not answered yet; its owner
 * waits, preemption off, until there is none.
 *
 * Why no CPU waits for ever. One that waits serves the requests of others meanwhile, so two that flush at each
 * other go on even with interrupts off. A CPU that holds a lock and flushes is waited for only by CPUs that spin
 * with interrupts on: taking such a lock with them off is ruled out where the functions are declared, and
 * what calls them (kernel/mm) holds only mutexes. stop_machine masks interrupts only when every CPU has
 * arrived in it by a switch of tasks, and a flush ends before its CPU switches. A CPU that stops for good
 * leaves first.
 */
#include <arch/pgtable.h>
#include <arch/processor.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <irq/irqflags.h>
#include <kernel/percpu.h>
#include <sched/preempt.h>
#include <trace/events/ipi.h>
#include <trace/fgraph.h>

#include "../task/context.h"
#include "../smp.h"

#define CREATE_TRACE_POINTS
#include <trace/events/tlb.h>

/* Above this many pages it is cheaper to drop everything and walk again for what is used. */
#define FLUSH_MAX_PAGES 32

/* How many pages the events call that; TLB_FLUSH_ALL: so many that everything is dropped. */
static unsigned long flushed_pages(unsigned long start, unsigned long end)
{
	unsigned long pages = (end - start) / PAGE_SIZE;

	return pages <= FLUSH_MAX_PAGES ? pages : TLB_FLUSH_ALL;
}

static_assert(NR_CPUS <= 64, "sets of CPUs are one word here");

/* Locks: o owner, preemption off, not while an answer is missing. */
struct tlb_request {
	const struct mm_struct *mm; /* [o] &init_mm: the kernel's half, on every CPU */
	unsigned long start, end;   /* [o] */
	u64 waiting;		    /* [a] CPUs that have not done it */
};
static DEFINE_PER_CPU(struct tlb_request, tlb_request);
static DEFINE_PER_CPU(u64, tlb_pending); /* [a] CPUs whose request we have not looked at */
static u64 tlb_cpus = 1;		 /* [a] CPUs that answer; the boot CPU from the start */

static void flush_user_local(void)
{
	write_cr(3, read_cr(3));
}

/*
 * A kernel thread (or a task that has given its mm up) borrows the address space. It does not use it, so
 * rather than be interrupted for each change to come the CPU gives it up; the way back to a task of the mm
 * asks arch_mm_loaded().
 */
static void leave_mm(void)
{
	arch_switch_mm(NULL, &init_mm, smp_processor_id());
}

/*
 * Switching CR4.PGE off drops global entries too (SDM vol. 3, 4.10.4.1). An interrupt between the two
 * writes does no harm.
 */
notrace void flush_tlb_local_all(void)
{
	u64 cr4 = read_cr(4);

	if (cr4 & X86_CR4_PGE) {
		write_cr(4, cr4 & ~(u64)X86_CR4_PGE);
		write_cr(4, cr4);
	} else {
		flush_user_local();
	}
}

/* Drop what this CPU has of the pages. `all` drops all translations of the half that is meant. */
static __always_inline void drop_pages(unsigned long start, unsigned long end, void (*all)(void))
{
	if (end - start > FLUSH_MAX_PAGES * PAGE_SIZE)
		return all();
	for (unsigned long va = start; va < end; va += PAGE_SIZE)
		flush_tlb_local_page(va);
}

/* The event of a flush. A function of its own, so that a flush without it keeps nothing for it. */
static noinline void note_flush(unsigned long start, unsigned long end, int reason)
{
	trace_tlb_flush(reason, flushed_pages(start, end));
}

/*
 * Preemption off: no switch of tasks comes between the look at who runs and what is done, since that has interrupts
 * off. `reason` is for the event, which flushes of the kernel's half do not have, as on Linux.
 */
static void flush_local(const struct mm_struct *mm, unsigned long start, unsigned long end, int reason)
{
	if (mm == &init_mm)
		return drop_pages(start, end, flush_tlb_local_all);
	if (this_cpu(loaded_mm) != mm)
		return;
	if (!current->mm)
		return leave_mm();
	drop_pages(start, end, flush_user_local);
	if (trace_tlb_flush_enabled())
		note_flush(start, end, reason);
}

/* Do what others want of this CPU, and answer. Preemption off; an interrupt here finds what is left. */
static void serve_requests(void)
{
	unsigned self = smp_processor_id();
	u64 *pending = this_cpu_ptr(&tlb_pending);

	if (!READ_ONCE(*pending))
		return;
	/* Acquire: the requests are as their owners wrote them before they set the bits. */
	for (u64 from = __atomic_exchange_n(pending, 0, __ATOMIC_ACQUIRE); from; from &= from - 1) {
		struct tlb_request *r = per_cpu_ptr(&tlb_request, __builtin_ctzl(from));

		flush_local(r->mm, r->start, r->end, TLB_REMOTE_SHOOTDOWN);
		/* Release: the request is its owner's again. */
		__atomic_fetch_and(&r->waiting, ~BIT(self), __ATOMIC_RELEASE);
	}
}

/*
 * TLB_VECTOR's handler. It may find nothing to do: a CPU that waits serves requests by itself.
 * tests/guest/progs/mm/tlbtest.c fails within a second when other CPUs are not told.
 */
void tlb_shootdown_interrupt(void)
{
	serve_requests();
}

/* Interrupt these CPUs. callsite: the code that flushes. Preemption off. */
static void ring_for_flush(const struct cpumask *ring, unsigned long callsite)
{
	if (trace_ipi_send_cpu_enabled() && cpumask_weight(ring) == 1)
		trace_ipi_send_cpu(cpumask_first(ring), callsite, tlb_shootdown_interrupt);
	if (trace_ipi_send_cpumask_enabled() && cpumask_weight(ring) > 1)
		trace_ipi_send_cpumask(ring, callsite, tlb_shootdown_interrupt);
	apic_send_vector(ring, TLB_VECTOR);
}

static void wait_for_answers(const struct tlb_request *r)
{
	while (__atomic_load_n(&r->waiting, __ATOMIC_ACQUIRE) & READ_ONCE(tlb_cpus)) {
		/* Asked here: a call each time round would be all that a trace of the wait shows. */
		if (READ_ONCE(*this_cpu_ptr(&tlb_pending)))
			serve_requests();
		cpu_relax();
	}
}

/*
 * Ask the CPUs of the set. Interrupts are off meanwhile: a flush by an interrupt handler finds the request
 * either not begun or complete, and waits for its answers first, as they come whether or not its owner
 * runs. Preemption off.
 */
static noinline struct tlb_request *native_flush_tlb_others(u64 cpus, const struct mm_struct *mm, unsigned long start,
							    unsigned long end)
{
	struct tlb_request *r = this_cpu_ptr(&tlb_request);
	struct cpumask ring = {{0}};
	unsigned long flags;

	local_irq_save(flags);
	wait_for_answers(r);
	r->mm = mm;
	r->start = start;
	r->end = end;
	r->waiting = cpus;
	for (; cpus; cpus &= cpus - 1) {
		unsigned cpu = __builtin_ctzl(cpus);

		/*
		 * Release: the request before the bit. Where there was another bit an interrupt is on its
		 * way.
		 */
		if (!__atomic_fetch_or(per_cpu_ptr(&tlb_pending, cpu), BIT(smp_processor_id()), __ATOMIC_RELEASE))
			ring.bits[0] |= BIT(cpu);
	}
	if (ring.bits[0])
		ring_for_flush(&ring, TRUE_RET_ADDR());
	local_irq_restore(flags);
	return r;
}

/* Other CPUs that may hold translations of the mm: steps 2 and 3 above. Preemption off. */
static u64 holders(const struct mm_struct *mm)
{
	u64 cpus;

	smp_mb();
	cpus = READ_ONCE(tlb_cpus) & ~BIT(smp_processor_id());
	if (mm == &init_mm)
		return cpus;
	cpus &= READ_ONCE(mm->cpu_bitmap);
	for (u64 left = cpus; left; left &= left - 1)
		if (READ_ONCE(per_cpu(loaded_mm, __builtin_ctzl(left))) != mm)
			cpus &= ~(left & -left);
	return cpus;
}

/*
 * Flush here and wherever the mm is loaded. The others work while this CPU does its own part. A flush of the kernel's
 * half has no event tlb_flush, as on Linux. Context: thread, interrupts on or off.
 */
static void flush_tlb_others(const struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct tlb_request *r = NULL;
	u64 cpus;

	preempt_disable();
	cpus = holders(mm);
	if (cpus) {
		if (mm != &init_mm)
			trace_tlb_flush(TLB_REMOTE_SEND_IPI, flushed_pages(start, end));
		r = native_flush_tlb_others(cpus, mm, start, end);
	}
	flush_local(mm, start, end, TLB_LOCAL_MM_SHOOTDOWN);
	if (r)
		wait_for_answers(r);
	preempt_enable();
}

void flush_tlb_page(struct mm_struct *mm, unsigned long va)
{
	flush_tlb_others(mm, va & PAGE_MASK, (va & PAGE_MASK) + PAGE_SIZE);
}

void flush_tlb_range(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	flush_tlb_others(mm, start, end);
}

void flush_tlb_mm(struct mm_struct *mm)
{
	flush_tlb_others(mm, 0, TASK_SIZE);
}

void flush_tlb_kernel_range(unsigned long start, unsigned long end)
{
	flush_tlb_others(&init_mm, start, end);
}

/*
 * The flush after the bit: entries that changed before it was seen are forgotten, of later changes we are
 * told.
 */
void tlb_cpu_join(void)
{
	__atomic_fetch_or(&tlb_cpus, BIT(smp_processor_id()), __ATOMIC_SEQ_CST);
	flush_tlb_local_all();
}

/* In .noinstr.text: for a CPU that is told of no change of text any more. */
noinstr void tlb_cpu_leave(void)
{
	__atomic_fetch_and(&tlb_cpus, ~BIT(smp_processor_id()), __ATOMIC_SEQ_CST);
}

/*
 * The hooks of <trace/preemptirq.h>: when a section begins and ends, by what the hook says and what the CPU's state is
 * now. Nothing is counted here, so nothing can get out of step: a section that was missed, or whose end was, is the
 * past as soon as the next one begins.
 *
 * With interrupts as the only kind, `off` begins and `on` ends. With both kinds, a change of one matters while the
 * other is on. Code that turns something off without telling (raw_*, *_notrace) is short and our own; an interrupt on
 * top of it is measured all the same: `base` is then the preempt_count that it found, and it ends when that is reached.
 */
#include <asm/ftrace.h>
#include <irq/irqflags.h>
#include <sched/sched.h>
#include <trace/fgraph.h>

#include "trace_irqsoff.h"
#include "trace_max.h"
#include "trace_record.h"

struct static_key trace_irqs_key = STATIC_KEY_INIT, trace_preempt_key = STATIC_KEY_INIT;
struct critical_tracer critical_tracer;
DEFINE_PER_CPU(struct critical, critical_section);

unsigned long critical_names(const struct critical_place *place, unsigned long *ip, unsigned long *parent_ip)
{
	const unsigned long *record = (const unsigned long *)place->fp;

	*ip = place->func;
	*parent_ip = place->ip;
	/* A lock function may call another one, seldom a third. */
	for (int i = 0; i < 4 && in_lock_functions(*parent_ip); i++) {
		record = (const unsigned long *)record[0];
		*ip = *parent_ip;
		*parent_ip = record[1];
		if (unlikely(*parent_ip == RETURN_TO_HANDLER_ADDR))
			*parent_ip = fgraph_ret_addr(current, NULL, (unsigned long)&record[1]);
	}
	return *parent_ip;
}

/* The section's first record. False: recording is off. */
static __always_inline bool record_begin(struct critical *c, struct trace_array *tr, const struct critical_place *place)
{
	struct task_struct *t = current;
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[t->cpu].buffer;
	struct ring_buffer_event *event;
	struct ftrace_entry *entry;

	c->first = trace_clock_now(tr);
	event = ring_buffer_reserve(buffer, sizeof(*entry), c->first);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_FN, t, place->pc, place->flags);
	c->place = critical_names(place, &entry->ip, &entry->parent_ip);
	ring_buffer_commit(buffer);
	return true;
}

/* Interrupts off. The start is taken last of all: our own time is not the section's. */
static noinline void critical_begin(struct critical *c, const struct critical_place *place, u32 base)
{
	struct trace_array *tr = READ_ONCE(critical_tracer.tr);

	if (c->state == CRITICAL_BUSY)
		return;
	if (c->state == CRITICAL_OFF)
		c->lost_ends++;
	WRITE_ONCE(c->state, CRITICAL_NONE);
	if (!tr || !cpumask_test_cpu(smp_processor_id(), &tr->tracing_cpumask))
		return;
	WRITE_ONCE(c->state, CRITICAL_BUSY);
	barrier();
	c->base = base;
	trace_max_begin(tr);
	if (!record_begin(c, tr, place)) {
		WRITE_ONCE(c->state, CRITICAL_NONE);
		return;
	}
	barrier();
	WRITE_ONCE(c->state, CRITICAL_OFF);
	c->start = trace_clock_now(tr);
}

/* Interrupts off. `end` was taken first of all. */
static __always_inline void critical_end(struct critical *c, const struct critical_place *place, u64 end,
					 void (*take)(struct critical *, const struct critical_place *, u64))
{
	if (unlikely(c->state != CRITICAL_OFF)) {
		if (c->state == CRITICAL_ON)
			c->lost_begins++;
		return;
	}
	WRITE_ONCE(c->state, CRITICAL_BUSY);
	barrier();
	if (unlikely(trace_max_wanted(critical_tracer.tr, end - c->start)))
		take(c, place, end);
	barrier();
	WRITE_ONCE(c->state, CRITICAL_ON);
}

/* ---- Interrupts. They are off in all of these, or nothing is done. */

static __always_inline void irqs_off(unsigned long ip, unsigned long fp, unsigned long flags)
{
	struct critical *c = this_cpu_ptr(critical_section);
	struct critical_place place = { (unsigned long)trace_hardirqs_off, ip, fp, preempt_count(), flags };
	u32 base = 0;

	if (place.pc && (critical_tracer.kinds & CRITICAL_PREEMPT)) {
		if (c->state == CRITICAL_OFF)
			return; /* preemption was off before: it goes on */
		base = place.pc;
	}
	critical_begin(c, &place, base);
}

void trace_hardirqs_off(unsigned long ip, unsigned long fp)
{
	irqs_off(ip, fp, arch_local_save_flags());
}

void trace_hardirqs_disable(unsigned long ip, unsigned long fp)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	if (!irqs_disabled_flags(flags))
		irqs_off(ip, fp, arch_local_save_flags());
}

void trace_hardirqs_on(unsigned long ip, unsigned long fp)
{
	const struct trace_array *tr = READ_ONCE(critical_tracer.tr);
	u64 end = tr ? trace_clock_now(tr) : 0;
	struct critical_place place = { (unsigned long)trace_hardirqs_on, ip, fp, preempt_count(),
					arch_local_save_flags() };
	struct critical *c;

	if (!irqs_disabled_flags(place.flags))
		return;
	c = this_cpu_ptr(critical_section);
	if ((critical_tracer.kinds & CRITICAL_PREEMPT) && place.pc != c->base)
		return; /* preemption is still off */
	critical_end(c, &place, end, tracer_hardirqs_on);
}

/* ---- Preemption. It is off in all of these, interrupts may be on. */

void trace_preempt_off(unsigned long ip, unsigned long fp)
{
	struct critical_place place = { (unsigned long)trace_preempt_off, ip, fp, preempt_count(), 0 };

	raw_local_irq_save(place.flags);
	if (!(critical_tracer.kinds & CRITICAL_IRQS) || !irqs_disabled_flags(place.flags))
		critical_begin(this_cpu_ptr(critical_section), &place, 0);
	raw_local_irq_restore(place.flags);
}

void trace_preempt_on(unsigned long ip, unsigned long fp)
{
	const struct trace_array *tr = READ_ONCE(critical_tracer.tr);
	u64 end = tr ? trace_clock_now(tr) : 0;
	struct critical_place place = { (unsigned long)trace_preempt_on, ip, fp, preempt_count(), 0 };

	raw_local_irq_save(place.flags);
	if (!(critical_tracer.kinds & CRITICAL_IRQS) || !irqs_disabled_flags(place.flags))
		critical_end(this_cpu_ptr(critical_section), &place, end, tracer_preempt_on);
	raw_local_irq_restore(place.flags);
}

/* ---- Hard interrupts and softirqs begin and end with interrupts off: where those count they tell it. */

static u32 irq_context_offset(u32 pc)
{
	return pc & HARDIRQ_MASK ? HARDIRQ_OFFSET : SOFTIRQ_OFFSET;
}

void trace_irq_context_enter(unsigned long ip, unsigned long fp)
{
	struct critical *c = this_cpu_ptr(critical_section);
	struct critical_place place = { (unsigned long)trace_preempt_off, ip, fp, preempt_count(),
					arch_local_save_flags() };
	u32 base = place.pc - irq_context_offset(place.pc);

	if ((critical_tracer.kinds & CRITICAL_IRQS) || (base && c->state == CRITICAL_OFF))
		return;
	critical_begin(c, &place, base);
}

void trace_irq_context_exit(unsigned long ip, unsigned long fp)
{
	const struct trace_array *tr = READ_ONCE(critical_tracer.tr);
	u64 end = tr ? trace_clock_now(tr) : 0;
	struct critical *c = this_cpu_ptr(critical_section);
	struct critical_place place = { (unsigned long)trace_preempt_on, ip, fp, preempt_count(),
					arch_local_save_flags() };

	if ((critical_tracer.kinds & CRITICAL_IRQS) || place.pc - irq_context_offset(place.pc) != c->base)
		return;
	critical_end(c, &place, end, tracer_preempt_on);
}

/* ---- The idle loop's wait, within a section of every kind: the idle task has preemption off. */

void trace_critical_stop(unsigned long ip, unsigned long fp)
{
	const struct trace_array *tr = READ_ONCE(critical_tracer.tr);
	u64 end = tr ? trace_clock_now(tr) : 0;
	bool irqs = critical_tracer.kinds & CRITICAL_IRQS;
	struct critical_place place = { irqs ? (unsigned long)trace_hardirqs_on : (unsigned long)trace_preempt_on, ip,
					fp, preempt_count(), arch_local_save_flags() };

	critical_end(this_cpu_ptr(critical_section), &place, end, irqs ? tracer_hardirqs_on : tracer_preempt_on);
}

void trace_critical_start(unsigned long ip, unsigned long fp)
{
	bool irqs = critical_tracer.kinds & CRITICAL_IRQS;
	struct critical_place place = { irqs ? (unsigned long)trace_hardirqs_off : (unsigned long)trace_preempt_off, ip,
					fp, preempt_count(), arch_local_save_flags() };

	critical_begin(this_cpu_ptr(critical_section), &place, 0);
}

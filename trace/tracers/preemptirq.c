/*
 * The hooks of <trace/preemptirq.h>: they find out whether a section begins or ends, from what the hook says and from
 * the state of the CPU. Nothing is counted here, so nothing can get out of step: if a hook was missed, the next section
 * begins all the same.
 *
 * With interrupts as the only kind, `off` begins and `on` ends. With both kinds, a change of one matters while the
 * other is on. Code that turns something off without a hook (raw_*, *_notrace) is short and our own. An interrupt on
 * top of such code is measured: `base` is then the preempt_count that it found, and the section ends when the count is
 * back there.
 *
 * The hooks are told only of changes, and keep no count.
 *
 * local_irq_disable and preempt_disable are everywhere, and each place has a hook (include/trace/preemptirq.h), a nop
 * until a tracer wants it. A hook tells of changes: interrupts that were on go off, preempt_count leaves zero or comes
 * back to it. The hook's cold half looks at the CPU and at the task to find out whether it is such a change. So the
 * tracers keep no count that could get out of step, even if a hook is missed (keys change at any moment, raw_* and
 * *_notrace have no hooks): the next off begins another section, and no section is shown longer than it was.
 *
 * - local_irq_disable cannot see afterwards what was before. Its hook does the work itself, and the instruction behind
 *   it does it again for nothing. local_irq_save has the answer in its flags, but the compiler must not know that both
 *   paths want the same bit, or it would compute the bit in front of the nop (trace_opaque).
 * - An interrupt between the change of preempt_count and its hook finds the count raised, at both ends: what it does is
 *   no change, so nothing is told twice, and the section is at most that interrupt shorter than it was.
 * - An interrupt may come on top of code that has preemption off without telling, such as a tracer's probe. It is
 *   measured all the same: base is the count that it found, and its section ends when that count is reached again.
 * - The idle task has preemption off for good, and its waiting must not count (stop_critical_timings). On aarch64 the
 *   wait ends with the interrupt still pending; on x86_64 the interrupt is taken within the wait. There the section
 *   begins with the interrupt, and goes on until the switch to the task that it wakes, as on aarch64.
 * - A thunk saves all registers, so that a hook that is off does not make the compiler spill around a call that is
 *   hardly ever made. x86_64 needs a frame in the function all the same, or its caller would be missing from the trace.
 * - An nmi makes no change: interrupts are off in it and its bits are in the count. So hooks in it are silent by
 *   themselves.
 *
 * Selecting changes two keys in two stops, so for a while one kind of hook is on alone. Nothing is measured then:
 * critical_tracer.tr is set last and cleared first. When measuring begins, a CPU may have preemption off without a
 * record of that. Then base is 1 at the next irqs off, and the two may end in any order: preempt_schedule_irq has
 * preemption on again before its interrupt returns. So irqs on ends a section when the count is base or less; a test
 * for equality would leave the section open until the next one begins. A task can be preempted in a thunk, on its way
 * into trace_hardirqs_disable, and arrive when the tracer has gone: it finds no array. A CPU that has found one keeps
 * interrupts or preemption off, and synchronize_rcu waits for it before what it uses goes away.
 *
 * A CPU that is parked in stop_machine has interrupts off, which counts. But it is parked in pages without hooks. So
 * functions that lie elsewhere call the hooks for it: just before the CPU counts itself as masked, when nothing is
 * being patched yet, and after the end.
 */
#include <arch/ftrace.h>
#include <irq/irqflags.h>
#include <sched/sched.h>
#include <trace/fgraph.h>

#include "core/aside.h"
#include "core/record.h"
#include "tracers/graph/graph.h"
#include "irqsoff.h"
#include "preemptirq.h"

struct critical_tracer critical_tracer;
DEFINE_PER_CPU(struct critical, critical_section);

struct critical_names critical_names(unsigned long hook, unsigned long ip, unsigned long fp)
{
	struct critical_names names = {hook, ip};

	/* A lock function may call another one, seldom a third. */
	for (int i = 0; i < 4 && in_lock_functions(names.parent_ip); i++) {
		fp = *(const unsigned long *)fp;
		names.ip = names.parent_ip;
		names.parent_ip = ((const unsigned long *)fp)[1];
		if (unlikely(names.parent_ip == RETURN_TO_HANDLER_ADDR))
			names.parent_ip = fgraph_ret_addr(current, NULL, fp + sizeof(long));
	}
	return names;
}

/*
 * ---- Beginning. Interrupts off. The usual case calls nothing and is inlined into each hook; what is not usual leaves
 * it by a tail call, so that it needs no stack frame. The start is taken last of all: our own time is not the
 * section's.
 */

/* The section's first record is written: its time begins now. */
static void critical_begun(struct critical *c, const struct trace_array *tr)
{
	critical_set_state(c, CRITICAL_OFF);
	c->start = trace_clock_now(tr);
}

/* The state is not CRITICAL_ON. May a section begin all the same? Not while the tracer itself runs. */
static bool begins_oddly(struct critical *c)
{
	if (c->state == CRITICAL_BUSY)
		return false;
	if (c->state == CRITICAL_OFF)
		c->lost_ends++;
	return true;
}

/* Fill in the section's first record and begin. `event` NULL: recording is off, and the CPU is not looked at. */
static void critical_record(struct critical *c, struct trace_array *tr, struct ring_buffer_event *event,
			    struct critical_names names, unsigned long flags)
{
	struct ftrace_entry *entry;

	if (!event) {
		critical_set_state(c, CRITICAL_NONE);
		return;
	}
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_FN, current, preempt_count(), flags);
	entry->ip = names.ip;
	entry->parent_ip = c->place = names.parent_ip;
	trace_commit(tr);
	critical_begun(c, tr);
}

/* The same with display-graph: the first record is a call that takes no time. */
static void critical_record_graph(struct critical *c, struct trace_array *tr, struct critical_names names,
				  unsigned long flags)
{
	if (!trace_graph_function(tr, names.ip, preempt_count(), flags)) {
		critical_set_state(c, CRITICAL_NONE);
		return;
	}
	c->place = names.parent_ip;
	critical_begun(c, tr);
}

/*
 * Begin a section in any state, with any clock, preempt_count and form of records. `hook`: the hook's own address; `ip`
 * and `fp`: the place; `flags`: the interrupt flags of the traced code. Interrupts off.
 */
static noinline void critical_begin_general(struct critical *c, unsigned long hook, unsigned long ip, unsigned long fp,
					    u32 base, unsigned long flags)
{
	struct trace_array *tr = READ_ONCE(critical_tracer.tr);
	struct ring_buffer_per_cpu *buffer;

	if (c->state != CRITICAL_ON && !begins_oddly(c))
		return;
	critical_set_state(c, tr ? CRITICAL_BUSY : CRITICAL_NONE);
	if (!tr)
		return;
	c->base = base;
	trace_max_begin(tr);
	buffer = tr->cpu_data[smp_processor_id()].buffer;
	c->first = trace_clock_now(tr);
	if (critical_tracer.graph) {
		critical_record_graph(c, tr, critical_names(hook, ip, fp), flags);
		return;
	}
	critical_record(c, tr, ring_buffer_reserve(buffer, sizeof(struct ftrace_entry), c->first),
			critical_names(hook, ip, fp), flags);
}

/* The fast path found no room where it looked, and the writer is counted. */
static noinline void critical_begin_slow(struct critical *c, unsigned long hook, unsigned long ip, unsigned long fp,
					 struct trace_array *tr, unsigned long flags)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;

	trace_max_begin(tr);
	critical_record(c, tr, rb_reserve_slow(buffer, sizeof(struct ftrace_entry), c->first),
			critical_names(hook, ip, fp), flags);
}

static noinline void critical_commit_slow(struct critical *c, const struct trace_array *tr,
					  struct ring_buffer_per_cpu *buffer,
					  void (*commit)(struct ring_buffer_per_cpu *))
{
	commit(buffer);
	critical_begun(c, tr);
}

/*
 * Begin a section, the fast way: as critical_begin_general, which takes over when anything is not usual. `t` is the
 * task that runs. `flags` NULL: interrupts are off in the traced code as they are here, so the usual case need not ask.
 */
static __always_inline void critical_begin(struct critical *c, unsigned long hook, unsigned long ip, unsigned long fp,
					   const struct task_struct *t, u32 base, const unsigned long *flags)
{
	bool off = !flags || irqs_disabled_flags(*flags);
	struct trace_array *tr = READ_ONCE(critical_tracer.tr);
	u32 pc = t->preempt_count;
	void (*commit)(struct ring_buffer_per_cpu *);
	struct ring_buffer_per_cpu *buffer;
	struct ring_buffer_event *event;
	struct trace_array_cpu *data;
	struct ftrace_entry *entry;
	u32 cpu = t->cpu;
	u64 epoch;

	if (unlikely(c->state != CRITICAL_ON || !tr || tr->clock || pc > 15 || critical_tracer.graph ||
		     (READ_ONCE(t->thread_flags) & _TIF_NEED_RESCHED) || trace_max_is_pending(tr->max, cpu))) {
		critical_begin_general(c, hook, ip, fp, base, flags ? *flags : arch_local_save_flags());
		return;
	}
	epoch = trace_max_epoch(tr->max);
	data = &tr->cpu_data[cpu];
	buffer = data->buffer;
	critical_set_state(c, CRITICAL_BUSY);
	c->base = base;
	c->first = sched_clock();
	event = rb_try_reserve(buffer, sizeof(*entry), c->first);
	if (unlikely(!event)) {
		critical_begin_slow(c, hook, ip, fp, tr, flags ? *flags : arch_local_save_flags());
		return;
	}
	trace_max_note_epoch(data, epoch);
	entry = (void *)event->array; /* a record this short has no length word of its own */
	*(u32 *)(void *)entry = TRACE_FN | pc << 24 | (off ? TRACE_FLAG_IRQS_OFF << 16 : 0);
	entry->ent.pid = t->pid;
	if (in_lock_functions(ip)) {
		struct critical_names names = critical_names(hook, ip, fp);

		hook = names.ip;
		ip = names.parent_ip;
	}
	entry->ip = hook;
	entry->parent_ip = c->place = ip;
	commit = rb_try_commit(buffer);
	if (unlikely(commit)) {
		critical_commit_slow(c, tr, buffer, commit);
		return;
	}
	critical_set_state(c, CRITICAL_OFF);
	c->start = sched_clock();
}

/* ---- Ending. Interrupts off. */

/* The moment at which a section may end. A hook takes it first of all, so that its own work does not count. */
struct critical_end {
	struct trace_array *tr; /* NULL: no tracer measures */
	u64 time;
};

static __always_inline struct critical_end critical_end_now(void)
{
	struct trace_array *tr = READ_ONCE(critical_tracer.tr);

	return (struct critical_end){tr, likely(tr) ? trace_clock_now(tr) : 0};
}

static noinline void ends_oddly(struct critical *c)
{
	if (c->state == CRITICAL_ON)
		c->lost_begins++;
}

static __always_inline void critical_end(struct critical *c, unsigned long ip, unsigned long fp, unsigned long flags,
					 struct critical_end end, critical_take_t take)
{
	if (unlikely(c->state != CRITICAL_OFF))
		ends_oddly(c);
	else if (unlikely(end.tr && trace_max_wanted(end.tr, end.time - c->start)))
		take(ip, fp, flags, end.tr, end.time);
	else
		critical_ended(c);
}

/* ---- Interrupts. They are off in all of these, or nothing is done. */

/*
 * The preempt_count at which an interrupt's section ends: the `count` that the interrupt has found. If it ends the idle
 * loop's wait, the section goes on until 0, because the idle task then delays the task that the interrupt wakes.
 */
static __always_inline u32 base_of_irq(const struct critical *c, u32 count)
{
	return c->waits ? 0 : count;
}

static __always_inline void irqs_off(unsigned long ip, unsigned long fp)
{
	struct critical *c = this_cpu_ptr(&critical_section);
	const struct task_struct *t = current;
	u32 base = 0;

	if (t->preempt_count && (critical_tracer.kinds & CRITICAL_PREEMPT)) {
		if (c->state == CRITICAL_OFF)
			return; /* preemption was off before: it goes on */
		base = base_of_irq(c, t->preempt_count);
	}
	critical_begin(c, (unsigned long)trace_hardirqs_off, ip, fp, t, base, NULL);
}

/*
 * What the hooks do while an event of preemptirq:* is on, in functions of their own: a hook leaves for them by a tail
 * call, so it keeps nothing when the events are off.
 */
static noinline void irqs_off_told(unsigned long ip, unsigned long fp)
{
	if (tell_irq_disable(ip, fp))
		irqs_off(ip, fp);
}

void trace_hardirqs_off(unsigned long ip, unsigned long fp)
{
	if (preemptirq_events_on())
		irqs_off_told(ip, fp);
	else
		irqs_off(ip, fp);
}

void trace_hardirqs_disable(unsigned long ip, unsigned long fp)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	if (irqs_disabled_flags(flags))
		return;
	if (preemptirq_events_on())
		irqs_off_told(ip, fp);
	else if (critical_tracer.kinds & CRITICAL_IRQS)
		irqs_off(ip, fp);
}

static __always_inline void irqs_on(unsigned long ip, unsigned long fp, struct critical_end end)
{
	unsigned long flags = arch_local_save_flags();
	struct critical *c;

	if (!irqs_disabled_flags(flags))
		return;
	c = this_cpu_ptr(&critical_section);
	if ((critical_tracer.kinds & CRITICAL_PREEMPT) && preempt_count() > c->base)
		return; /* preemption is still off */
	critical_end(c, ip, fp, flags, end, tracer_hardirqs_on);
}

/* Any clock, and no tracer. */
static noinline void irqs_on_general(unsigned long ip, unsigned long fp)
{
	irqs_on(ip, fp, critical_end_now());
}

static noinline void irqs_on_told(unsigned long ip, unsigned long fp)
{
	if (tell_irq_enable(ip, fp))
		irqs_on(ip, fp, critical_end_now());
}

void trace_hardirqs_on(unsigned long ip, unsigned long fp)
{
	struct trace_array *tr = READ_ONCE(critical_tracer.tr);

	if (preemptirq_events_on())
		irqs_on_told(ip, fp);
	else if (unlikely(!tr || tr->clock))
		irqs_on_general(ip, fp);
	else
		irqs_on(ip, fp, (struct critical_end){tr, sched_clock()});
}

/* ---- Preemption. It is off in all of these, interrupts may be on. */

static __always_inline void preempt_off(unsigned long ip, unsigned long fp)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	if (!(critical_tracer.kinds & CRITICAL_IRQS) || !irqs_disabled_flags(flags))
		critical_begin(this_cpu_ptr(&critical_section), (unsigned long)trace_preempt_off, ip, fp, current, 0,
			       &flags);
	raw_local_irq_restore(flags);
}

static noinline void preempt_off_told(unsigned long ip, unsigned long fp)
{
	if (tell_preempt_disable(ip, fp))
		preempt_off(ip, fp);
}

void trace_preempt_off(unsigned long ip, unsigned long fp)
{
	if (preemptirq_events_on())
		preempt_off_told(ip, fp);
	else
		preempt_off(ip, fp);
}

static __always_inline void preempt_on(unsigned long ip, unsigned long fp)
{
	struct critical_end end = critical_end_now();
	struct critical *c;
	unsigned long flags;

	raw_local_irq_save(flags);
	c = this_cpu_ptr(&critical_section);
	if (!(critical_tracer.kinds & CRITICAL_IRQS) || !irqs_disabled_flags(flags))
		critical_end(c, ip, fp, flags, end, tracer_preempt_on);
	else
		c->base = 0; /* preemption that was off without a hook is on again; interrupts stay off */
	raw_local_irq_restore(flags);
}

static noinline void preempt_on_told(unsigned long ip, unsigned long fp)
{
	if (tell_preempt_enable(ip, fp))
		preempt_on(ip, fp);
}

void trace_preempt_on(unsigned long ip, unsigned long fp)
{
	if (preemptirq_events_on())
		preempt_on_told(ip, fp);
	else
		preempt_on(ip, fp);
}

/*
 * ---- Hard interrupts and softirqs run with interrupts off when they begin and end. Where interrupts are measured,
 * their own hooks tell of the section; these are for preemptoff alone.
 */

static u32 irq_context_offset(u32 pc)
{
	return pc & HARDIRQ_MASK ? HARDIRQ_OFFSET : SOFTIRQ_OFFSET;
}

void trace_irq_context_enter(unsigned long ip, unsigned long fp)
{
	struct critical *c = this_cpu_ptr(&critical_section);
	u32 pc = preempt_count(), base = pc - irq_context_offset(pc);

	if (preemptirq_events_on() && !tell_irq_context(ip, fp, pc, true))
		return;
	if ((critical_tracer.kinds & CRITICAL_IRQS) || (base && c->state == CRITICAL_OFF))
		return;
	critical_begin_general(c, (unsigned long)trace_preempt_off, ip, fp, base_of_irq(c, base),
			       arch_local_save_flags());
}

static void irq_context_exit(unsigned long ip, unsigned long fp)
{
	struct critical_end end = critical_end_now();
	struct critical *c = this_cpu_ptr(&critical_section);
	u32 pc = preempt_count();

	if (!(critical_tracer.kinds & CRITICAL_IRQS) && pc - irq_context_offset(pc) <= c->base)
		critical_end(c, ip, fp, arch_local_save_flags(), end, tracer_preempt_on);
}

void trace_irq_context_exit(unsigned long ip, unsigned long fp)
{
	if (!preemptirq_events_on() || tell_irq_context(ip, fp, preempt_count(), false))
		irq_context_exit(ip, fp);
}

/* ---- The idle loop's wait, within a section of every kind: the idle task has preemption off. */

void trace_critical_stop(unsigned long ip, unsigned long fp)
{
	struct critical_end end = critical_end_now();
	struct critical *c = this_cpu_ptr(&critical_section);

	if (unlikely(!end.tr)) /* the hooks are on for events */
		return;
	critical_end(c, ip, fp, arch_local_save_flags(), end,
		     critical_tracer.kinds & CRITICAL_IRQS ? tracer_hardirqs_on : tracer_preempt_on);
	c->waits = true;
}

void trace_critical_start(unsigned long ip, unsigned long fp)
{
	unsigned long hook = critical_tracer.kinds & CRITICAL_IRQS ? (unsigned long)trace_hardirqs_off
								   : (unsigned long)trace_preempt_off;
	struct critical *c = this_cpu_ptr(&critical_section);

	c->waits = false;
	if (unlikely(!critical_tracer.kinds))
		return;
	/* On x86_64 interrupts are taken within the wait, and the section has begun with the first of them. */
	if (!(critical_tracer.kinds & CRITICAL_PREEMPT) || c->state != CRITICAL_OFF)
		critical_begin_general(c, hook, ip, fp, 0, arch_local_save_flags());
}

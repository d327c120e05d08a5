/*
 * The function tracer's option func-no-repeats: of a function that its caller calls again and again, with nothing else
 * between on this CPU, one entry is recorded, and before the next other entry how often it was called since, and when
 * the last time.
 */
#include <irq/irqflags.h>
#include <lib/printf.h>
#include <sched/sched.h>

#include "core/record.h"
#include "output/iter.h"
#include "output/output.h"
#include "function.h"

static u64 delta_of(const struct func_repeats_entry *entry)
{
	return (u64)entry->top_delta_ts << 32 | entry->bottom_delta_ts;
}

static void record_repeats(struct trace_array *tr, const struct func_repeats *r, u32 pc, unsigned long flags)
{
	struct ring_buffer_per_cpu *buffer = tr->cpu_data[smp_processor_id()].buffer;
	u64 now = trace_clock_now(tr), delta = min(now - r->last, (1ULL << 48) - 1);
	struct ring_buffer_event *event = ring_buffer_reserve(buffer, sizeof(struct func_repeats_entry), now);
	struct func_repeats_entry *entry;

	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_FUNC_REPEATS, current, pc, flags);
	entry->ip = r->ip;
	entry->parent_ip = r->parent_ip;
	entry->count = r->count;
	entry->top_delta_ts = delta >> 32;
	entry->bottom_delta_ts = (u32)delta;
	ring_buffer_commit(buffer);
}

/* The same call again, and its entry is in the buffer? Then it is counted. */
static bool is_repeated(const struct trace_array *tr, struct func_repeats *r, unsigned long ip, unsigned long parent_ip)
{
	unsigned epoch = __atomic_load_n(&tr->repeats_epoch, __ATOMIC_ACQUIRE);

	if (r->epoch != epoch)
		*r = (struct func_repeats){.epoch = epoch};
	if (r->ip != ip || r->parent_ip != parent_ip || r->count == 0xffff)
		return false;
	r->count++;
	r->last = trace_clock_now(tr);
	return true;
}

bool trace_function_no_repeats(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc,
			       unsigned long flags)
{
	struct func_repeats *r;
	unsigned long irqs;
	bool repeated;

	/* What an nmi does may come in the middle of this, so it is neither repeated nor ends a repetition. */
	if (pc & NMI_MASK) {
		trace_function(tr, ip, parent_ip, pc, flags);
		return true;
	}
	raw_local_irq_save(irqs);
	r = &tr->cpu_data[smp_processor_id()].repeats;
	repeated = ring_buffer_cpu_is_on(tr->cpu_data[smp_processor_id()].buffer) && is_repeated(tr, r, ip, parent_ip);
	if (!repeated) {
		if (r->count)
			record_repeats(tr, r, pc, flags);
		/* What is not recorded cannot be repeated. */
		r->ip = trace_function(tr, ip, parent_ip, pc, flags) ? ip : 0;
		r->parent_ip = parent_ip;
		r->count = 0;
	}
	raw_local_irq_restore(irqs);
	return !repeated;
}

/* ---- Text */

static void func_repeats_trace(struct seq_file *s, struct trace_iterator *iter)
{
	const struct func_repeats_entry *field = (const void *)iter->ent;
	char time[32];

	trace_print_function(s, iter->tr, field->ip, field->parent_ip);
	seq_printf(s, " (repeats: %u, last_ts:", field->count);
	seq_write(s, time, trace_put_time(time, iter, iter->ts - delta_of(field)) - time);
	seq_puts(s, ")\n");
}

static void func_repeats_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct func_repeats_entry *field = (const void *)iter->ent;

	seq_printf(s, "%lu %lu %u %llu\n", field->ip, field->parent_ip, field->count,
		   (unsigned long long)delta_of(field));
}

static const struct trace_event func_repeats_event = {
	.type = TRACE_FUNC_REPEATS, .trace = func_repeats_trace, .raw = func_repeats_raw};
REGISTER_TRACE_EVENT(func_repeats_event);

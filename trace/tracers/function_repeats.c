/*
 * The function tracer's option func-no-repeats. A function may be called by the same caller again and again, with
 * nothing else in between on this CPU. Then only the first call becomes an entry; the further calls are counted. Before
 * the next different entry comes a record with this count and the time of the last call:
 *
 *	spin_wait <-wait_for_cpu
 *	spin_wait <-wait_for_cpu (repeats: 812, last_ts: 52.001207)
 *	schedule <-do_wait
 *
 * The state (struct func_repeats) belongs to a CPU and is changed with interrupts off, so an interrupt handler's calls
 * end a repetition like any other call.
 */
#include <irq/irqflags.h>
#include <lib/printf.h>
#include <sched/sched.h>

#include "core/record.h"
#include "output/iter.h"
#include "output/output.h"
#include "function.h"

/* The 48-bit distance in ns from the last repetition to the record, which Linux's format cuts into 16 and 32 bits. */
static u64 delta_of(const struct func_repeats_entry *entry)
{
	return (u64)entry->top_delta_ts << 32 | entry->bottom_delta_ts;
}

/*
 * Writes the record "repeated so and so often". The time of the last repetition is kept as a distance to the record's
 * own time, which needs fewer bits: 48 bits of ns are 78 hours. Interrupts off. Without room in the ring the count is
 * lost, as any record would be.
 */
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

/*
 * Is this the same call as the last one, and does its entry lie in the buffer? Then it is counted. tr->repeats_epoch
 * changes when the buffer is emptied: an entry from before that is gone, so a repetition of it must be recorded. The
 * count has 16 bits in the record; at its largest value a new entry begins.
 */
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

/*
 * func-no-repeats: a call that repeats this CPU's last one is counted, and the count recorded when another call comes.
 * True: a record was made. Interrupts are off meanwhile, so count and ring agree. Any context.
 */
bool trace_function_no_repeats(struct trace_array *tr, unsigned long ip, unsigned long parent_ip, u32 pc,
			       unsigned long flags)
{
	struct func_repeats *r;
	unsigned long irqs;
	bool repeated;

	/*
	 * An NMI can interrupt the code below halfway. So its calls are always recorded; they neither count as
	 * repetitions nor end one.
	 */
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
		/* Only an entry that is in the buffer can be repeated; otherwise address 0 matches no call. */
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

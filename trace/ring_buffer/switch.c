/*
 * Recording on and off: every reason lies in one word of each CPU's buffer, so that a writer makes one check.
 *
 * cpu_buffer->disabled, from its top bits down:
 *
 *   | EXCHANGE | CPU_OFF | OFF | quiesce count, 8 bits | disable count, 16 bits |
 *
 * The fast path of a writer goes on only when the whole word is zero. The counts nest: a resize and a person may both
 * keep writers out, and neither has to know of the other. The bits are switches: setting one twice is the same as
 * setting it once. EXCHANGE does not stop a writer; it sends the next one to the slow path, which swaps the ring first.
 *
 * Context of all functions here: any, without locks. Each change is one atomic operation. A writer that looked at
 * the word just before the change still finishes its event; a caller that must wait for it uses rb_quiesce
 * (resize.c).
 */
#include <kernel/smp.h>
#include "internal.h"

/*
 * A reason that counts: `one` is added, or its negative, which takes one away. A CPU that is not possible has no
 * buffer, and there is nothing to switch.
 */
static void rb_count(struct ring_buffer_per_cpu *cpu_buffer, u32 one)
{
	if (cpu_buffer)
		__atomic_fetch_add(&cpu_buffer->disabled, one, __ATOMIC_RELAXED);
}

/* A reason that is a switch: the bit alone changes, whatever other reasons the word holds. */
static void rb_switch(struct ring_buffer_per_cpu *cpu_buffer, u32 bit, bool off)
{
	if (!cpu_buffer)
		return;
	if (off)
		__atomic_fetch_or(&cpu_buffer->disabled, bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&cpu_buffer->disabled, ~bit, __ATOMIC_RELAXED);
}

void ring_buffer_record_disable(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu)
		rb_count(buffer->cpu[cpu], RB_DISABLE_ONE);
}

void ring_buffer_record_enable(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu)
		rb_count(buffer->cpu[cpu], -RB_DISABLE_ONE);
}

void ring_buffer_record_disable_cpu(struct trace_buffer *buffer, int cpu)
{
	rb_count(rb_cpu(buffer, cpu), RB_DISABLE_ONE);
}

void ring_buffer_record_enable_cpu(struct trace_buffer *buffer, int cpu)
{
	rb_count(rb_cpu(buffer, cpu), -RB_DISABLE_ONE);
}

void ring_buffer_record_off(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu)
		rb_switch(buffer->cpu[cpu], RB_OFF, true);
}

void ring_buffer_record_on(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu)
		rb_switch(buffer->cpu[cpu], RB_OFF, false);
}

void ring_buffer_record_off_cpu(struct trace_buffer *buffer, int cpu)
{
	rb_switch(rb_cpu(buffer, cpu), RB_CPU_OFF, true);
}

void ring_buffer_record_on_cpu(struct trace_buffer *buffer, int cpu)
{
	rb_switch(rb_cpu(buffer, cpu), RB_CPU_OFF, false);
}

/* Looks at every reason but EXCHANGE. The answer may be old when the caller gets it, because any CPU may switch. */
bool ring_buffer_record_is_on(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (rb_read(buffer->cpu[cpu]->disabled) & RB_STOPPED)
			return false;
	return true;
}

/* Looks at the switch of the whole buffer alone: that is what tracing_on shows, even during a resize. */
bool ring_buffer_record_is_set_on(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (rb_read(buffer->cpu[cpu]->disabled) & RB_OFF)
			return false;
	return true;
}

/*
 * The release orders the argument before the function: a writer that finds the function (rb_let_exchange, acquire)
 * finds the argument too.
 */
void ring_buffer_set_exchange(struct trace_buffer *buffer, void (*exchange)(void *arg), void *arg)
{
	buffer->exchange_arg = arg;
	__atomic_store_n(&buffer->exchange, exchange, __ATOMIC_RELEASE);
}

void ring_buffer_want_exchange(struct trace_buffer *buffer, int cpu, bool wanted)
{
	rb_switch(rb_cpu(buffer, cpu), RB_EXCHANGE, wanted);
}

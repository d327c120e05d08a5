/* Recording on and off: every reason lies in one word of each CPU's buffer, so that a writer makes one check.
 */
#include <kernel/smp.h>
#include "internal.h"

/* A reason that counts: `one` is added or (its negative) taken away. */
static void rb_count(struct ring_buffer_per_cpu *cpu_buffer, u32 one)
{
	if (cpu_buffer)
		__atomic_fetch_add(&cpu_buffer->disabled, one, __ATOMIC_RELAXED);
}

/* A reason that is a switch. */
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

bool ring_buffer_record_is_on(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (rb_read(buffer->cpu[cpu]->disabled) & RB_STOPPED)
			return false;
	return true;
}

bool ring_buffer_record_is_set_on(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (rb_read(buffer->cpu[cpu]->disabled) & RB_OFF)
			return false;
	return true;
}

void ring_buffer_set_exchange(struct trace_buffer *buffer, void (*exchange)(void *arg), void *arg)
{
	buffer->exchange_arg = arg;
	__atomic_store_n(&buffer->exchange, exchange, __ATOMIC_RELEASE);
}

void ring_buffer_want_exchange(struct trace_buffer *buffer, int cpu, bool wanted)
{
	rb_switch(rb_cpu(buffer, cpu), RB_EXCHANGE, wanted);
}

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

	for_each_possible_cpu (cpu)
		rb_count(buffer->cpu[cpu], RB_DISABLE_ONE);
}

void ring_buffer_record_enable(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu (cpu)
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

	for_each_possible_cpu (cpu)
		rb_switch(buffer->cpu[cpu], RB_OFF, true);
}

void ring_buffer_record_on(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu (cpu)
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

	for_each_possible_cpu (cpu)
		if (rb_read(buffer->cpu[cpu]->disabled) & RB_STOPPED)
			return false;
	return true;
}

bool ring_buffer_record_is_set_on(struct trace_buffer *buffer)
{
	int cpu;

	for_each_possible_cpu (cpu)
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

void ring_buffer_set_wake(struct trace_buffer *buffer, void (*wake)(void *arg), void *arg)
{
	buffer->wake_arg = arg;
	__atomic_store_n(&buffer->wake, wake, __ATOMIC_RELEASE);
}

void ring_buffer_wait_arm(struct trace_buffer *buffer, int cpu)
{
	int i;

	for_each_possible_cpu (i)
		if (cpu == i || cpu == RING_BUFFER_ALL_CPUS)
			rb_switch(buffer->cpu[i], RB_WAITERS, true);
	/*
	 * The caller looks at the buffer after this. An event whose reservation was before the bit and whose
	 * commit comes after that look tells nobody: the poll finds it, as `waiting` stays set until there is
	 * something to read.
	 */
	__atomic_store_n(&buffer->waiting, 1, __ATOMIC_SEQ_CST);
}

/*
 * Why not simply by the writer's flag: see ring_buffer_wait_arm. Why not simply by the contents: a reader of
 * one CPU would be woken for another's events at each tick; but then it must look, so it only costs.
 */
void ring_buffer_wake_poll(struct trace_buffer *buffer)
{
	void (*wake)(void *arg) = __atomic_load_n(&buffer->wake, __ATOMIC_ACQUIRE);

	if (likely(!rb_read(buffer->waiting) && !rb_read(buffer->wakeup_pending)))
		return;
	if (!rb_read(buffer->wakeup_pending) && ring_buffer_empty(buffer))
		return;
	/* Cleared before the call: who arms again from now on gets a call of its own. */
	rb_write(buffer->wakeup_pending, 0);
	__atomic_store_n(&buffer->waiting, 0, __ATOMIC_SEQ_CST);
	if (wake)
		wake(buffer->wake_arg);
}

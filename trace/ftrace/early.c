/*
 * Calls from the time before there are ring buffers. The hook that the compiler has put into each function notes them,
 * until ftrace_init() makes it a nop. With ftrace=function they go into the buffer, ahead of what the tracer records.
 *
 * Only the boot CPU runs, in the boot's task, with interrupts off.
 */
#include <asm/clock.h>
#include <asm/page.h>
#include <irq/irqflags.h>
#include <kernel/cmdline.h>
#include <kernel/init.h>
#include <kernel/printk.h>
#include <lib/atomic.h>
#include <lib/string.h>
#include <mm/page.h>
#include <proc/fork.h>

#include "core/tracer.h"
#include "early.h"

/* 96 KiB for a time. A boot has some 2,000 to 4,000 such calls, and one more for each MiB of memory. */
#define EARLY_CALLS_MAX 6144

/* [boot CPU] memory of the first nr_early_calls, until free_early_calls */
static struct early_call early_calls[EARLY_CALLS_MAX] __aligned(PAGE_SIZE) __section(".bss..uncleared");
static unsigned nr_early_calls, nr_lost; /* [boot CPU] */
static_assert(sizeof(early_calls) % PAGE_SIZE == 0, "it is given back as pages");

/* Read by the hook at each call. It begins as true, because the command line is not known yet. [boot CPU] */
bool ftrace_early_on = true;

extern const char _text[];

/*
 * Called by the hook (each machine's ftrace.S) when only a stack and the image's own memory are set up.
 *
 * Notes of early calls have one writer.
 *
 * ftrace_early_call is called by every site before ftrace_init(): no per-CPU data, no clock rate, on aarch64 not even
 * other memory than the image. It needs only an array in the image, the counter as it stands, and init_task, which is
 * the current task whatever the register says. There is one CPU with interrupts off. What can come in between is an
 * exception or an NMI, whose calls are notes, too. If it comes between the outer one's reading of nr_early_calls and
 * its writing, the inner one takes the same place, and the outer one then writes number and note again: no index is
 * beyond the array, no note is half of each, and an inner one is gone. If it comes later, the inner one's place is
 * behind the outer one's though its stamp is earlier, which the ring puts right.
 *
 * The array is not cleared with the rest of bss (.bss..uncleared): nothing of it is read that was not written. A device
 * initcall gives its pages back; by then no site calls the hook, and the notes have been read.
 */
void ftrace_early_call(unsigned long ip, unsigned long parent_ip)
{
	unsigned n = READ_ONCE(nr_early_calls);
	struct early_call *call = &early_calls[n];

	if (n >= EARLY_CALLS_MAX) {
		nr_lost++;
		return;
	}
	WRITE_ONCE(nr_early_calls, n + 1);
	call->counter = arch_read_counter();
	call->depth = min(init_task.preempt_count, 15U);
	call->ip = ip - (unsigned long)_text;
	call->parent = parent_ip - (unsigned long)_text;
}

void ftrace_early_drop(void)
{
	ftrace_early_on = false;
	nr_early_calls = 0;
}

void ftrace_early_command_line(void)
{
	const char *tracer = ftrace_early_on ? cmdline_value("ftrace=") : NULL;

	if (!tracer || strcmp(tracer, "function"))
		ftrace_early_drop();
}

unsigned ftrace_early_calls(const struct early_call **calls)
{
	unsigned n = nr_early_calls;

	if (n)
		pr_info("ftrace: %u calls from before the tracer, %u lost\n", n, nr_lost);
	*calls = early_calls;
	nr_early_calls = 0;
	return n;
}

/* No site calls the hook any more, and the tracer has taken the notes. */
static int free_early_calls(void)
{
	phys_addr_t start = __pa_symbol(early_calls);

	free_reserved_area(start, start + sizeof(early_calls));
	return 0;
}
device_initcall(free_early_calls);

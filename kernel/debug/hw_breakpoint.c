/*
 * Hardware breakpoints: the use of the debug registers, which is the same on all CPUs.
 *
 * There is one table of breakpoints, with a place for each register of a CPU. It is changed under a mutex, and then
 * every CPU loads its registers from it, in an interrupt. Nothing is allocated: a place in the table is free or in use:
 *
 *     free        overflow_handler is NULL
 *     in use      overflow_handler is set, and the attributes do not change
 *
 * A CPU whose registers still hold a breakpoint that is gone finds a free place and reports nothing.
 *
 * Debuggers have registers of the same kinds for their tracees (<arch/ptrace.h>). They take them from the other end:
 * the tracee's first one is the CPU's last, so the two meet only when all are in use. A register that any task's
 * debugger has is not given to the kernel, and the other way round. It holds the tracee's address while the tracee
 * runs: the machine loads it at a switch of tasks.
 */
#include <arch/hw_breakpoint.h>
#include <kernel/export.h>
#include <kernel/hw_breakpoint.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <sched/mutex.h>

static DEFINE_MUTEX(hw_breakpoint_mutex);
static struct perf_event wide_breakpoints[HW_BREAKPOINT_NUMBERS]; /* [hw_breakpoint_mutex; read in debug exceptions] */
/* How many tasks have a debugger that uses this register. Rises under the mutex only. */
static atomic_t user_count[HW_BREAKPOINT_NUMBERS];
/* What register_wide_hw_breakpoint() returns points in here: Linux has a pointer for each CPU. [hw_breakpoint_mutex] */
static DEFINE_PER_CPU(struct perf_event *, wide_events[HW_BREAKPOINT_NUMBERS]);

notrace const struct perf_event *hw_breakpoint_of(unsigned number)
{
	const struct perf_event *bp = &wide_breakpoints[number];

	return smp_load_acquire(&bp->overflow_handler) ? bp : NULL;
}

/*
 * The handler is read once: another CPU may take the breakpoint away at this moment. That CPU then waits for this one
 * to load its registers, which happens in an interrupt, thus behind this debug exception: attributes and the handler's
 * own data stay until then.
 */
notrace void hw_breakpoint_hit(unsigned number, struct pt_regs *regs)
{
	struct perf_event *bp = &wide_breakpoints[number];
	perf_overflow_handler_t handler = smp_load_acquire(&bp->overflow_handler);
	struct perf_sample_data data = {.addr = bp->attr.bp_addr};

	if (handler)
		handler(bp, &data, regs);
}

static void load_registers(void *unused)
{
	arch_hw_breakpoints_load();
}

/*
 * Every CPU takes over the table. A CPU that starts (debug_ops.cpu_up) has set its bit in cpu_online_mask by a fully
 * ordered operation before it loads its registers, and the change of the table is ordered here before the look at that
 * mask: so either its load sees the change, or this sees the CPU and interrupts it.
 */
static void load_all_cpus(void)
{
	smp_mb();
	on_each_cpu(load_registers, NULL, true);
}

/* The number of a free register for this type, or -ENOSPC. [hw_breakpoint_mutex] */
static int find_free(u32 bp_type)
{
	struct hw_breakpoint_range range = arch_hw_breakpoint_range(bp_type);

	for (unsigned n = range.first; n < range.first + range.count; n++)
		if (!wide_breakpoints[n].overflow_handler && !atomic_read(&user_count[n]))
			return n;
	return -ENOSPC;
}

/*
 * The handler is stored last, with release: it marks the slot as used for CPUs that look without the lock, and by then
 * the rest is there. -EINVAL, -ENOSPC: all slots of the kind are taken. Thread context.
 */
struct perf_event **register_wide_hw_breakpoint(const struct perf_event_attr *attr, perf_overflow_handler_t triggered,
						void *context)
{
	int n = arch_hw_breakpoint_check(attr);
	unsigned cpu;

	if (n || !triggered)
		return ERR_PTR(-EINVAL);
	mutex_lock(&hw_breakpoint_mutex);
	n = find_free(attr->bp_type);
	if (n < 0)
		goto unlock;
	wide_breakpoints[n].attr = *attr;
	wide_breakpoints[n].overflow_handler_context = context;
	for_each_possible_cpu(cpu)
		per_cpu(wide_events[n], cpu) = &wide_breakpoints[n];
	smp_store_release(&wide_breakpoints[n].overflow_handler, triggered);
	load_all_cpus();
unlock:
	mutex_unlock(&hw_breakpoint_mutex);
	return n < 0 ? ERR_PTR(n) : &wide_events[n];
}
EXPORT_SYMBOL(register_wide_hw_breakpoint);

void unregister_wide_hw_breakpoint(struct perf_event **events)
{
	struct perf_event *bp;

	if (!events || IS_ERR(events))
		return;
	mutex_lock(&hw_breakpoint_mutex);
	bp = *per_cpu_ptr(events, 0);
	WRITE_ONCE(bp->overflow_handler, NULL);
	load_all_cpus();
	mutex_unlock(&hw_breakpoint_mutex);
}
EXPORT_SYMBOL(unregister_wide_hw_breakpoint);

notrace unsigned hw_breakpoint_user_number(u32 bp_type, unsigned index)
{
	struct hw_breakpoint_range range = arch_hw_breakpoint_range(bp_type);

	return range.first + range.count - 1 - index;
}

int hw_breakpoint_user_get(u32 bp_type, unsigned index)
{
	unsigned n = hw_breakpoint_user_number(bp_type, index);
	int err = 0;

	mutex_lock(&hw_breakpoint_mutex);
	if (wide_breakpoints[n].overflow_handler)
		err = -ENOSPC;
	else
		atomic_inc(&user_count[n]);
	mutex_unlock(&hw_breakpoint_mutex);
	return err;
}

void hw_breakpoint_user_put(u32 bp_type, unsigned index)
{
	atomic_dec(&user_count[hw_breakpoint_user_number(bp_type, index)]);
}

/*
 * Accesses on demand, for tests of hardware breakpoints: a number written to a file of debugfs's hw_breakpoint/ makes
 * so many accesses to a variable of the kernel, on the writer's CPU. Several writers may do so at a time.
 *
 *	cd /sys/kernel/tracing; echo ksym_target:rw- > ksym_trace_filter
 *	echo 1000 > /sys/kernel/debug/hw_breakpoint/read; cat ksym_profile
 *
 * `call` calls a function so often, and `execute` counts how often a breakpoint on that function was reported while
 * it is called so often: the kernel's own user of HW_BREAKPOINT_X. `each` has such a breakpoint on each word of the
 * code behind `atomic` in turn, and executes that code so often under each.
 *
 * `watch` takes a name instead, and counts accesses to four bytes that the kernel's entries use themselves:
 * "preempt_count" is the writing task's own; any other name is a per-CPU variable, of which CPU 0's copy is watched;
 * "0" ends it.
 */
#include <asm/ptrace.h>
#include <fs/libfs.h>
#include <irq/irqflags.h>
#include <kernel/hw_breakpoint.h>
#include <kernel/ksyms.h>
#include <kernel/percpu.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/current.h>
#include <sched/mutex.h>
#include <sched/task.h>

/* Watched by name. Each has a line of 64 bytes to itself, so that no other access is near it. */
u32 ksym_target __aligned(64);
u64 ksym_target_wide __aligned(64);
u8 ksym_target_byte __aligned(64);

/* Each loop makes exactly one access a round: the volatile access is one load or one store. */
static void noinline ksym_read(u64 n)
{
	while (n--)
		(void)*(volatile u32 *)&ksym_target;
}

static void noinline ksym_write(u64 n)
{
	while (n--)
		*(volatile u32 *)&ksym_target = (u32)n;
}

static void noinline ksym_atomic(u64 n)
{
	while (n--)
		__atomic_fetch_add(&ksym_target, 1, __ATOMIC_RELAXED);
}

/* Stores only when the variable happens to have the value that the round wants. */
static void noinline ksym_cmpxchg(u64 n)
{
	while (n--) {
		u32 old = (u32)n;

		__atomic_compare_exchange_n(&ksym_target, &old, old, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

static void noinline ksym_irqs_off(u64 n)
{
	unsigned long flags;

	while (n--) {
		local_irq_save(flags);
		*(volatile u32 *)&ksym_target = (u32)n;
		local_irq_restore(flags);
	}
}

static void noinline ksym_wide(u64 n)
{
	while (n--)
		*(volatile u64 *)&ksym_target_wide = n;
}

static void noinline ksym_byte(u64 n)
{
	while (n--)
		*(volatile u8 *)&ksym_target_byte = (u8)n;
}

static void noinline ksym_called(void)
{
	barrier();
}

static void noinline ksym_call(u64 n)
{
	while (n--)
		ksym_called();
}

/* How often the breakpoint on ksym_called was reported, and with another pc than the function's. [atomic] */
static atomic64_t executed, misplaced;

static notrace void count_executed(struct perf_event *bp, struct perf_sample_data *data, struct pt_regs *regs)
{
	atomic64_inc(&executed);
	if (instruction_pointer(regs) != data->addr)
		atomic64_inc(&misplaced);
}

/* One at a time: the counters are shared. */
static DEFINE_MUTEX(execute_mutex);
static int execute_error; /* [execute_mutex] of the last registration that failed */

static void begin_count(void)
{
	mutex_lock(&execute_mutex);
	atomic64_set(&executed, 0);
	atomic64_set(&misplaced, 0);
	execute_error = 0;
}

/* Call fn(n) under a breakpoint on the instruction at `addr`. [execute_mutex] */
static void ksym_execute_at(unsigned long addr, void (*fn)(u64 n), u64 n)
{
	struct perf_event_attr attr;
	struct perf_event **bp;

	hw_breakpoint_init(&attr);
	attr.bp_addr = addr;
	attr.bp_len = sizeof(long);
	attr.bp_type = HW_BREAKPOINT_X;
	bp = register_wide_hw_breakpoint(&attr, count_executed, NULL);
	if (IS_ERR(bp))
		execute_error = PTR_ERR(bp);
	fn(n);
	unregister_wide_hw_breakpoint(bp);
}

/*
 * Call a function n times under a breakpoint on its first instruction: the counts in the files say how often it was
 * reported, and whether registers were those of that place.
 */
static void ksym_execute(u64 n)
{
	begin_count();
	ksym_execute_at((unsigned long)ksym_called, ksym_call, n);
	mutex_unlock(&execute_mutex);
}

static void ksym_each(u64 n)
{
	unsigned long start = (unsigned long)ksym_atomic, size = 0;

	kallsyms_lookup(start, &size, NULL, (char[KSYM_NAME_LEN]){});
	begin_count();
	for (unsigned long at = 0; at < size; at += sizeof(u32))
		ksym_execute_at(start + at, ksym_atomic, n);
	mutex_unlock(&execute_mutex);
}

static struct perf_event **watched; /* [execute_mutex] NULL: nothing is */

static notrace void count_access(struct perf_event *bp, struct perf_sample_data *data, struct pt_regs *regs)
{
	atomic64_inc(&executed);
}

/* The address of what is named, or 0. */
static unsigned long watched_address(const char *name)
{
	unsigned long symbol;

	if (!strcmp(name, "preempt_count"))
		return (unsigned long)&current->preempt_count;
	symbol = kallsyms_lookup_name(name);
	return symbol ? (unsigned long)per_cpu_ptr((char *)symbol, 0) : 0;
}

/* 0, -EINVAL: there is no such variable, or it cannot be watched, -ENOSPC. */
static int watch_store(char *name, void *data)
{
	struct perf_event_attr attr;
	struct perf_event **bp = NULL;

	begin_count();
	unregister_wide_hw_breakpoint(watched);
	watched = NULL;
	if (strcmp(name, "0")) {
		hw_breakpoint_init(&attr);
		attr.bp_addr = watched_address(name);
		attr.bp_len = sizeof(u32);
		attr.bp_type = HW_BREAKPOINT_RW;
		bp = register_wide_hw_breakpoint(&attr, count_access, NULL);
		watched = IS_ERR(bp) ? NULL : bp;
	}
	mutex_unlock(&execute_mutex);
	return IS_ERR(bp) ? PTR_ERR(bp) : 0;
}

struct access_file {
	void (*make)(u64 n);
};

static int access_show(struct seq_file *m, void *data)
{
	seq_printf(m, "executed: %lld, elsewhere: %lld, error: %d\n", (long long)atomic64_read(&executed),
		   (long long)atomic64_read(&misplaced), execute_error);
	return 0;
}

static int access_store(char *text, void *data)
{
	const struct access_file *f = data;
	u64 n;
	int err = kstrtoull(text, 10, &n);

	if (err)
		return err;
	if (n > 10000000)
		return -ERANGE;
	f->make(n);
	return 0;
}

#define ACCESS_FILE(name)                                                             \
	static const struct access_file name##_access = {ksym_##name};                \
	static const struct text_file name##_file = {.path = "hw_breakpoint/" #name,  \
						     .mode = 0600,                    \
						     .show = access_show,             \
						     .store = access_store,           \
						     .data = (void *)&name##_access}; \
	REGISTER_DEBUGFS(name##_file)

ACCESS_FILE(read);
ACCESS_FILE(write);
ACCESS_FILE(atomic);
ACCESS_FILE(cmpxchg);
ACCESS_FILE(irqs_off);
ACCESS_FILE(wide);
ACCESS_FILE(byte);
ACCESS_FILE(call);
ACCESS_FILE(execute);
ACCESS_FILE(each);

static const struct text_file watch_file = {
	.path = "hw_breakpoint/watch", .mode = 0600, .show = access_show, .store = watch_store};
REGISTER_DEBUGFS(watch_file);

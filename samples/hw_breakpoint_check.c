/*
 * Accesses on demand, for tests of hardware breakpoints: a number written to a file of debugfs's hw_breakpoint/ makes
 * so many accesses to a variable of the kernel, on the writer's CPU. Several writers may do so at a time.
 *
 *	cd /sys/kernel/tracing; echo ksym_target:rw- > ksym_trace_filter
 *	echo 1000 > /sys/kernel/debug/hw_breakpoint/read; cat ksym_profile
 *
 * `call` calls a function so often, and `execute` counts how often a breakpoint on that function was reported while
 * it is called so often: the kernel's own user of HW_BREAKPOINT_X.
 */
#include <asm/ptrace.h>
#include <fs/libfs.h>
#include <irq/irqflags.h>
#include <kernel/hw_breakpoint.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/mutex.h>

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
static int execute_error; /* [execute_mutex] of the last registration */

/*
 * Call a function n times under a breakpoint on its first instruction: the counts in the files say how often it was
 * reported, and whether registers were those of that place.
 */
static void ksym_execute(u64 n)
{
	struct perf_event_attr attr;
	struct perf_event **bp;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)ksym_called;
	attr.bp_len = sizeof(long);
	attr.bp_type = HW_BREAKPOINT_X;
	mutex_lock(&execute_mutex);
	atomic64_set(&executed, 0);
	atomic64_set(&misplaced, 0);
	bp = register_wide_hw_breakpoint(&attr, count_executed, NULL);
	execute_error = IS_ERR(bp) ? PTR_ERR(bp) : 0;
	ksym_call(n);
	unregister_wide_hw_breakpoint(bp);
	mutex_unlock(&execute_mutex);
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

/*
 * Latencies on demand: a number written to a file of debugfs's latency/ keeps interrupts or preemption off for so many
 * microseconds on the writer's CPU, so that a tracer can be seen to find it. Reading a file says which it is.
 *
 *	echo irqsoff > /sys/kernel/tracing/current_tracer
 *	echo 5000 > /sys/kernel/debug/latency/irqs_off
 *	cat /sys/kernel/tracing/tracing_max_latency		a little more than 5000
 */
#include <fs/libfs.h>
#include <irq/irqflags.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/preempt.h>
#include <sched/spinlock.h>
#include <time/clock.h>

#define PLANT_MAX_US 1000000

/*
 * One function for each kind. It changes interrupts and preemption itself, because tracers name the function that did
 * so, and the name must say that it was planted. Context: thread, nothing held. The whole takes `ns`, counted from the
 * first off.
 */
struct plant {
	void (*func)(u64 ns);
	const char *does;
};

/*
 * A call that the function tracer sees within the section; what it runs is inlined. There is no cpu_relax(), which
 * would let QEMU run another CPU first, and the end would come late.
 */
static void noinline plant_spin(u64 until)
{
	while (sched_clock() < until)
		;
}

/*
 * The barrier() at the end of this and the next functions: what enables may be a call, and without something behind it
 * the compiler makes it a jump. Then the tracer would name our caller.
 */
static void noinline plant_irqs_off(u64 ns)
{
	local_irq_disable();
	plant_spin(sched_clock() + ns);
	local_irq_enable();
	barrier();
}

static void noinline plant_preempt_off(u64 ns)
{
	preempt_disable();
	plant_spin(sched_clock() + ns);
	preempt_enable();
	barrier();
}

/*
 * Interrupts off for the first two thirds, preemption for the last two: neither alone lasts the whole. A third is
 * counted from its own beginning: what holds up the one before it (an interrupt, another CPU's turn in QEMU) makes
 * the whole longer, and none of the sections shorter than it was ordered.
 */
static void noinline plant_irqs_preempt_off(u64 ns)
{
	local_irq_disable();
	plant_spin(sched_clock() + ns / 3);
	preempt_disable();
	plant_spin(sched_clock() + ns / 3);
	local_irq_enable();
	plant_spin(sched_clock() + ns / 3);
	preempt_enable();
	barrier();
}

/* The mirror image: preemption off for the first two thirds, interrupts for the last two. */
static void noinline plant_preempt_irqs_off(u64 ns)
{
	preempt_disable();
	plant_spin(sched_clock() + ns / 3);
	local_irq_disable();
	plant_spin(sched_clock() + ns / 3);
	preempt_enable(); /* nothing is due to be run yet: interrupts are off */
	plant_spin(sched_clock() + ns / 3);
	local_irq_enable();
	barrier();
}

static DEFINE_SPINLOCK(plant_lock);

/* Both off by a lock: the tracer must name this function and not the lock's. */
static void noinline plant_spin_lock_irqsave(u64 ns)
{
	unsigned long flags;

	spin_lock_irqsave(&plant_lock, flags);
	plant_spin(sched_clock() + ns);
	spin_unlock_irqrestore(&plant_lock, flags);
	barrier();
}

static int plant_show(struct seq_file *m, void *data)
{
	const struct plant *plant = data;

	seq_printf(m, "# Microseconds (1 to %u) written here: %s.\n", PLANT_MAX_US, plant->does);
	return 0;
}

static int plant_store(char *text, void *data)
{
	const struct plant *plant = data;
	u64 us;
	int err = kstrtoull(text, 10, &us);

	if (err)
		return err;
	if (us < 1 || us > PLANT_MAX_US)
		return -ERANGE;
	plant->func(us * 1000);
	return 0;
}

#define PLANT_FILE(kind, text)                                                       \
	static const struct plant kind##_plant = {plant_##kind, text};               \
	static const struct text_file kind##_file = {.path = "latency/" #kind,       \
						     .mode = 0600,                   \
						     .show = plant_show,             \
						     .store = plant_store,           \
						     .data = (void *)&kind##_plant}; \
	REGISTER_DEBUGFS(kind##_file)

PLANT_FILE(irqs_off, "interrupts off");
PLANT_FILE(preempt_off, "preemption off");
PLANT_FILE(irqs_preempt_off, "interrupts off, preemption off after a third, interrupts on after two, preemption on");
PLANT_FILE(preempt_irqs_off, "preemption off, interrupts off after a third, preemption on after two, interrupts on");
PLANT_FILE(spin_lock_irqsave, "a spinlock held with spin_lock_irqsave");

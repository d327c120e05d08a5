/*
 * Interrupts that leave a CPU no time for its tasks (<time/irq_share.h>): they are measured, and what makes them so
 * long is ended.
 *
 * Each timer interrupt reads the clock at its begin and at its end anyway. What lies between two of them counts as the
 * tasks' time. That is more than tasks have, as the entry, the exit and the softirqs of the interrupt are part of it,
 * and so are a switch to another task at its end and interrupts of other devices. So the limit is not half of the time
 * but a quarter. The file perf_cpu_time_max_percent is Linux's, which grants as much to the samples of perf; 0 and 100
 * mean no limit.
 *
 * The sum is a debt: with a limit of a quarter, an interrupt adds three times its length, and a gap takes its length
 * away. At a quarter of the time the debt stays as it is; above, it grows until it reaches DEBT_MAX. An interrupt that
 * takes longer than TOOK_MAX counts as one of TOOK_MAX, with a gap that is shorter by the same factor. So a host that
 * takes the CPU away in the middle of a handler, for however long, cannot fill the debt by that alone.
 *
 * An emulator that runs all CPUs on one of the host's in turn begins another turn where a timer is due: in most
 * handlers, whose length is then that of the others' turns. But some it leaves alone, while a tracer makes every one
 * long. So none counts as more than four times the shortest of the last eight.
 */
#include <fs/libfs.h>
#include <kernel/init.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <sched/current.h>
#include <time/irq_share.h>

DECLARE_TABLE(irq_burdens, struct irq_burden);

#define TOOK_MAX (10 * NSEC_PER_MSEC)
#define DEBT_MAX (200 * NSEC_PER_MSEC)

static unsigned irq_share_percent; /* that interrupts may take [a] */

/* The dearest one that is cheaper than `than`; NULL: there is none. */
static const struct irq_burden *irq_burden_below(unsigned than)
{
	const struct irq_burden *b, *dearest = NULL;

	for_each_in_table(irq_burdens, b)
		if (b->cost < than && (!dearest || b->cost > dearest->cost))
			dearest = b;
	return dearest;
}

/*
 * End the dearest one that is at work. One at a time: when that was not enough, the debt grows again. Context: of
 * irq_share_note().
 */
static noinline void irq_share_relieve(unsigned percent)
{
	const struct irq_burden *b = irq_burden_below(~0U);
	char what[96];

	while (b && !b->end(what, sizeof(what)))
		b = irq_burden_below(b->cost);
	if (b)
		pr_warn("irq: interrupts take %u%% of CPU %u's time, so this is ended: %s\n", percent,
			smp_processor_id(), what);
}

/* Keep the length, and return what it counts as: at most four times the shortest of the last ones of this debt. */
static u64 irq_share_counted(struct irq_share *s, u64 took)
{
	u64 shortest = took;

	if (!s->debt)
		for (unsigned n = 0; n < ARRAY_SIZE(s->took); n++)
			s->took[n] = took;
	s->took[s->nr++ % ARRAY_SIZE(s->took)] = took;
	for (unsigned n = 0; n < ARRAY_SIZE(s->took); n++)
		shortest = min(shortest, s->took[n]);
	return min(took, 4 * shortest);
}

/* The debt grows or shrinks; at DEBT_MAX something is ended, and it begins from zero again. */
static void irq_share_add(struct irq_share *s, u64 took, u64 gap)
{
	if (!s->debt) {
		s->since = s->ended - took - gap;
		s->interrupts = 0;
	}
	s->interrupts += took;
	if (took > TOOK_MAX) {
		gap = min(gap, (u64)NSEC_PER_SEC) * TOOK_MAX / took;
		took = TOOK_MAX;
	}
	took = irq_share_counted(s, took);
	s->debt += took * READ_ONCE(irq_share_owed) >> IRQ_SHARE_OWED_SHIFT;
	s->debt -= min(s->debt, gap);
	if (s->debt < DEBT_MAX)
		return;
	s->debt = 0;
	irq_share_relieve(s->interrupts * 100 / (s->ended - s->since));
}

static void set_percent(unsigned percent)
{
	WRITE_ONCE(irq_share_percent, percent);
	WRITE_ONCE(irq_share_owed, percent ? ((u64)(100 - percent) << IRQ_SHARE_OWED_SHIFT) / percent : 0);
}

static int irq_share_init(void)
{
	irq_share_exceeded = irq_share_add;
	smp_wmb(); /* before the share: an interrupt that exceeds it calls the function */
	set_percent(25);
	return 0;
}
early_initcall(irq_share_init);

static int percent_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(irq_share_percent));
	return 0;
}

static int percent_store(char *text, void *data)
{
	unsigned percent;

	if (kstrtouint(text, 10, &percent) || percent > 100)
		return -EINVAL;
	set_percent(percent);
	return 0;
}

static const struct text_file percent_entry = {
	.path = "sys/kernel/perf_cpu_time_max_percent", .mode = 0644, .show = percent_show, .store = percent_store};
REGISTER_PROC(percent_entry);

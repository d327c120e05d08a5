/*
 * A line that no handler serves is masked after 1000 interrupts in a row. Who requests it when all handlers have gone
 * gets a line as good as new: a single interrupt that is not served is harmless again.
 */
/* sources: kernel/lib/bitmap.c */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_kernel.h>
#include <host_wait.h>

/* The variables of the one CPU that there is. */
#define DEFINE_PER_CPU(type, name)  __typeof__(type) name
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name
#define per_cpu(var, cpu)	    (*((void)(cpu), &(var)))
#define this_cpu(var)		    (var)

#include "../../../kernel/irq/irqdesc.c"

#define STORM 1000

struct cpumask cpu_online_mask = {{1}};

static bool masked = true;
static unsigned unmasked;
static irqreturn_t answer;

int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	return 0;
}
void *kzalloc(size_t n, gfp_t gfp)
{
	return calloc(1, n);
}
void kfree(const void *p)
{
	free((void *)p);
}
void __warn(const char *file, int line, const char *cond)
{
	fail_msg("WARN at %s:%d: %s", file, line, cond);
}
void synchronize_rcu(void)
{
}
u64 ipi_count(unsigned kind, int cpu)
{
	return 0;
}
void arch_show_interrupts(struct seq_file *m)
{
}

static void mask(unsigned hwirq)
{
	masked = true;
}
static void unmask(unsigned hwirq)
{
	masked = false;
	unmasked++;
}
static const struct irq_chip chip = {.name = "test", .mask = mask, .unmask = unmask};

static irqreturn_t handler(int irq, void *dev)
{
	return answer;
}

/* The device interrupts, as long as its line is not masked: so many times at most. Returns how many came through. */
static unsigned interrupts(int irq, unsigned n)
{
	unsigned came = 0;

	for (; came < n && !masked; came++)
		generic_handle_irq(irq);
	return came;
}

/* The second driver unmasks the line that the first one's storm has masked. */
static void storm(void **state)
{
	int irq = irq_create_mapping(&chip, 5, IRQ_TYPE_LEVEL), first, second;

	assert_int_equal(request_irq(irq, handler, 0, "first", &first), 0);
	answer = IRQ_NONE;
	assert_int_equal(interrupts(irq, STORM - 1), STORM - 1);
	answer = IRQ_HANDLED; /* not in a row any more */
	assert_int_equal(interrupts(irq, 1), 1);
	answer = IRQ_NONE;
	assert_int_equal(interrupts(irq, 2 * STORM), STORM);
	free_irq(irq, &first);
	assert_true(masked);
	assert_int_equal(request_irq(irq, handler, 0, "second", &second), 0);
	assert_int_equal(unmasked, 2);
	if (interrupts(irq, 2 * STORM) != STORM)
		fail_msg("the second driver's line is not given %u interrupts", STORM);
	free_irq(irq, &second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * GICv2's registers, which are plain memory here: what its driver's probe writes and what it leaves alone, where an
 * interrupt and an IPI are sent, and when an interrupt is ended. QEMU's GIC begins with registers that need no
 * reset, so in a guest a register that was forgotten shows nowhere.
 */
/* sources: kernel/lib/bitmap.c */
/* include: tests/unit/include-registers -Itests/unit/include-mm */
#include <host_test.h>

#define sigset_t		    k_sigset_t
#define timespec		    k_timespec
#define timeval			    k_timeval
#define itimerval		    k_itimerval
#define DECLARE_PER_CPU(type, name) extern type name
#define __irq_entry
#include "../../../drivers/irqchip/gic-common.c"
#include "../../../drivers/irqchip/gic-v2.c"

#define DIST_AT 0x1000
#define CPU_AT	0x2000
#define OLD	0x55555555u /* what firmware has left in each register */

static u32 dist_regs[1024], cpu_regs[1024];
static unsigned nr_unmapped, nr_served, served[8], locks;
static u32 next_iar;
static const struct irq_chip *root;

/* ---- What it stands on */
struct task_struct host_task;
unsigned nr_cpu_ids = 3;
const struct smp_irq_ops *smp_irq_ops;
void (*handle_arch_irq)(struct pt_regs *regs);
void irq_set_root_chip(const struct irq_chip *chip)
{
	root = chip;
}
void *ioremap(phys_addr_t base, size_t size)
{
	return base == DIST_AT ? dist_regs : base == CPU_AT ? cpu_regs : NULL;
}
void iounmap(void *p)
{
	assert_ptr_equal(p, dist_regs);
	nr_unmapped++;
}
int printk(const char *fmt, ...)
{
	return 0;
}
unsigned long _raw_spin_lock_irqsave(spinlock_t *l)
{
	assert_int_equal(locks++, 0);
	return 0;
}
void _raw_spin_unlock_irqrestore(spinlock_t *l, unsigned long flags)
{
	assert_int_equal(locks--, 1);
}

/* A handler: afterwards the GIC has the next interrupt, then none. */
static void serve(unsigned hwirq, u32 ended)
{
	assert_int_equal(cpu_regs[GICC_EOIR / 4], ended);
	served[nr_served++] = hwirq;
	cpu_regs[GICC_EOIR / 4] = 0;
	cpu_regs[GICC_IAR / 4] = next_iar;
	next_iar = 1023;
}
/* It is ended by now, with the number of the CPU that sent it: IPI_STOP never returns. */
void handle_ipi(enum ipi_kind ipi)
{
	serve(ipi, cpu_regs[GICC_IAR / 4]);
}
/* It is ended behind its handler: until then it does not come again. */
void generic_handle_domain_irq(struct irq_domain *domain, unsigned hwirq)
{
	assert_ptr_equal(domain, &gic_domain);
	serve(hwirq, 0);
}

static int probe(unsigned nr_reg, phys_addr_t dist_at, phys_addr_t cpu_at)
{
	const struct device_desc dev = {.reg = {{dist_at, 0x1000}, {cpu_at, 0x1000}}, .nr_reg = nr_reg};

	return gic_v2_driver.probe(&dev);
}

/* All registers at `at` for these interrupts, `each` in a word, have the value; the words around them are as before. */
static void check_block(unsigned at, unsigned from, unsigned to, unsigned each, u32 value)
{
	for (unsigned i = from; i < to; i += each)
		assert_int_equal(dist_regs[at / 4 + i / each], value);
	assert_int_equal(dist_regs[at / 4 + to / each], OLD);
	if (from)
		assert_int_equal(dist_regs[at / 4 + from / each - 1], OLD);
}

/* Each register of 64, 128 and 160 interrupts is set, and none of those behind them. */
static void test_probe(void **state)
{
	for (unsigned nr = 64; nr <= 160; nr += nr == 64 ? 64 : 32) {
		for (unsigned i = 0; i < ARRAY_SIZE(dist_regs); i++)
			dist_regs[i] = cpu_regs[i] = OLD;
		dist_regs[GICD_TYPER / 4] = nr / 32 - 1;
		dist_regs[GICD_ITARGETSR / 4] = 0x04040404; /* this CPU's interface is the third */
		root = NULL;
		assert_int_equal(probe(2, DIST_AT, CPU_AT), 0);
		check_block(GICD_IGROUPR, 0, nr, 32, ~0u);
		check_block(GICD_ICENABLER, 0, nr, 32, ~0u);
		check_block(GICD_ICPENDR, 0, nr, 32, ~0u);
		check_block(GICD_ICACTIVER, 0, nr, 32, ~0u);
		check_block(GICD_IPRIORITYR, 0, nr, 4, 0xa0a0a0a0);
		check_block(GICD_ICFGR, 32, nr, 16, 0);
		check_block(GICD_ITARGETSR, 32, nr, 4, 0x04040404);
		check_block(GICD_ISENABLER, 0, 32, 32, 0xffff); /* the IPIs */
		assert_int_equal(dist_regs[GICD_CTLR / 4], 3);
		assert_int_equal(cpu_regs[GICC_PMR / 4], GIC_PRIO_MASK);
		assert_int_equal(cpu_regs[GICC_BPR / 4], 0);
		assert_int_equal(cpu_regs[GICC_CTLR / 4], CTLR_TWO_GROUPS);
		assert_ptr_equal(gic_fiq_block(), dist_regs);
		assert_ptr_equal(root, &gic_chip);
		assert_ptr_equal(gic_domain.chip, &gic_chip);
		assert_ptr_equal(handle_arch_irq, gic_handle_irq);
	}
}

/* Another CPU sets up its own registers, and leaves the shared ones alone. */
static void test_another_cpu(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(dist_regs); i++)
		dist_regs[i] = cpu_regs[i] = OLD;
	dist_regs[GICD_ITARGETSR / 4] = 0x20202020;
	host_task.cpu = 1;
	smp_irq_ops->cpu_init();
	host_task.cpu = 0;
	assert_int_equal(cpu_target[1], 0x20);
	check_block(GICD_IGROUPR, 0, 32, 32, ~0u);
	check_block(GICD_ICENABLER, 0, 32, 32, ~0u);
	check_block(GICD_ICPENDR, 0, 32, 32, ~0u);
	check_block(GICD_ICACTIVER, 0, 32, 32, ~0u);
	check_block(GICD_IPRIORITYR, 0, 32, 4, 0xa0a0a0a0);
	check_block(GICD_ISENABLER, 0, 32, 32, 0xffff);
	assert_int_equal(dist_regs[GICD_CTLR / 4], OLD);
	assert_int_equal(cpu_regs[GICC_PMR / 4], GIC_PRIO_MASK);
	assert_int_equal(cpu_regs[GICC_BPR / 4], 0);
	assert_int_equal(cpu_regs[GICC_CTLR / 4], CTLR_TWO_GROUPS);
}

static void test_probe_fails(void **state)
{
	nr_unmapped = 0;
	assert_int_equal(probe(0, DIST_AT, CPU_AT), -EINVAL);
	assert_int_equal(probe(1, DIST_AT, CPU_AT), -EINVAL);
	assert_int_equal(probe(2, 0, CPU_AT), -ENOMEM);
	assert_int_equal(nr_unmapped, 0);
	assert_int_equal(probe(2, DIST_AT, 0), -ENOMEM);
	assert_int_equal(nr_unmapped, 1);
}

/* The register counts in steps of 32, and the last four numbers are no interrupts. */
static void test_how_many(void **state)
{
	for (unsigned lines = 0; lines < 32; lines++) {
		dist_regs[GICD_TYPER / 4] = 0xffffffe0 | lines;
		assert_int_equal(gic_nr_intids(dist_regs), lines == 31 ? 1020 : 32 * lines + 32);
	}
}

/* One byte changes; a private interrupt has no target. */
static void test_targets(void **state)
{
	const u8 *targets = (const u8 *)dist_regs + GICD_ITARGETSR;

	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		cpu_target[cpu] = 1 << (7 - cpu);
	for (unsigned hwirq = 0; hwirq < 300; hwirq++) {
		memset(dist_regs, 0xff, sizeof(dist_regs));
		gic_chip.set_cpu(hwirq, hwirq % MAX_CPUS);
		for (unsigned i = 0; i < 300; i++)
			assert_int_equal(targets[i], i == hwirq && i >= 32 ? 1 << (7 - hwirq % MAX_CPUS) : 0xff);
		assert_int_equal(locks, 0);
	}
}

/* Writing a 0 to these registers does nothing, so that one word with one bit is all that is written. */
static void test_masks(void **state)
{
	for (unsigned hwirq = 16; hwirq < 300; hwirq++) {
		memset(dist_regs, 0, sizeof(dist_regs));
		gic_chip.unmask(hwirq);
		gic_chip.mask(hwirq);
		gic_chip.set_type(hwirq, IRQ_TYPE_EDGE);
		for (unsigned i = 0; i < 10; i++) {
			u32 wanted = i == hwirq / 32 ? 1u << hwirq % 32 : 0;

			assert_int_equal(dist_regs[GICD_ISENABLER / 4 + i], wanted);
			assert_int_equal(dist_regs[GICD_ICENABLER / 4 + i], wanted);
		}
		assert_int_equal(dist_regs[GICD_ICFGR / 4 + hwirq / 16], 2u << hwirq % 16 * 2);
		assert_int_equal(locks, 0);
	}
}

/* One interrupt goes to group 0 and above all others, and back. Its neighbours stay as they are. */
static void test_fiqs(void **state)
{
	const u8 *priority = (const u8 *)dist_regs + GICD_IPRIORITYR;

	gic_fiq_block = private_block;
	for (unsigned hwirq = 16; hwirq < 32; hwirq++) {
		memset(dist_regs, 0, sizeof(dist_regs));
		dist_regs[GICD_IGROUPR / 4] = ~0u;
		for (unsigned i = 0; i < 8; i++)
			dist_regs[GICD_IPRIORITYR / 4 + i] = GIC_PRIO;
		gic_fiq_enable(hwirq);
		assert_int_equal(dist_regs[GICD_IGROUPR / 4], ~(1u << hwirq));
		assert_int_equal(dist_regs[GICD_ISENABLER / 4], 1u << hwirq);
		assert_int_equal(dist_regs[GICD_ICENABLER / 4], 1u << hwirq); /* it was off meanwhile */
		for (unsigned i = 0; i < 32; i++)
			assert_int_equal(priority[i], i == hwirq ? 0x80 : 0xa0);
		dist_regs[GICD_ISENABLER / 4] = dist_regs[GICD_ICENABLER / 4] = 0;
		gic_fiq_disable(hwirq);
		assert_int_equal(dist_regs[GICD_IGROUPR / 4], ~0u);
		assert_int_equal(dist_regs[GICD_ISENABLER / 4], 0);
		assert_int_equal(dist_regs[GICD_ICENABLER / 4], 1u << hwirq);
		for (unsigned i = 0; i < 32; i++)
			assert_int_equal(priority[i], 0xa0);
	}
}

static void test_ipis(void **state)
{
	cpu_target[0] = 1;
	cpu_target[1] = 8; /* the numbers of interfaces are not those of CPUs */
	cpu_target[2] = 4;
	for (unsigned mask = 1; mask < 8; mask++) {
		const struct cpumask cpus = {{mask}};
		u32 targets = (mask & 1 ? 1 : 0) | (mask & 2 ? 8 : 0) | (mask & 4 ? 4 : 0);

		for (unsigned kind = 0; kind < 5; kind++) {
			smp_irq_ops->send_ipi(&cpus, kind);
			assert_int_equal(dist_regs[GICD_SGIR / 4], targets << 16 | kind);
		}
	}
}

/* Two that are pending are served in turn; from 1020 on a number says that there is none. */
static void test_served(void **state)
{
	static const struct {
		u32 iar, next;
		unsigned served, first, second;
	} rows[] = {
		{1020, 0, 0, 0, 0},	     {1022, 0, 0, 0, 0},
		{1023, 0, 0, 0, 0},	     {2 << 10 | 15, 1023, 1, 15, 0}, /* of CPU 2 */
		{16, 1023, 1, 16, 0},	     {1019, 1021, 1, 1019, 0},
		{33, 1 << 10 | 1, 2, 33, 1}, {3, 27, 2, 3, 27},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		nr_served = 0;
		cpu_regs[GICC_EOIR / 4] = 0;
		cpu_regs[GICC_IAR / 4] = rows[i].iar;
		next_iar = rows[i].next;
		gic_handle_irq(NULL);
		assert_int_equal(nr_served, rows[i].served);
		if (nr_served)
			assert_int_equal(served[0], rows[i].first);
		if (nr_served > 1)
			assert_int_equal(served[1], rows[i].second);
		/* The last of all was ended; an IPI before its handler has looked. */
		if (nr_served && served[nr_served - 1] >= GIC_FIRST_PPI)
			assert_int_equal(cpu_regs[GICC_EOIR / 4], served[nr_served - 1]);
		else
			assert_int_equal(cpu_regs[GICC_EOIR / 4], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe_fails), cmocka_unit_test(test_probe),   cmocka_unit_test(test_another_cpu),
		cmocka_unit_test(test_how_many),    cmocka_unit_test(test_targets), cmocka_unit_test(test_masks),
		cmocka_unit_test(test_ipis),	    cmocka_unit_test(test_served),  cmocka_unit_test(test_fiqs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

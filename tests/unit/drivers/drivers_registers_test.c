/*
 * Registers that are plain memory here: the types of a GIC's interrupts, what is taken for an HPET, and its comparator
 * for the profiler. With QEMU an interrupt of the wrong type works as well, and each HPET is a good one.
 */
/* sources: */
/* include: tests/unit/include-registers -Itests/unit/include-mm */
#include <host_test.h>

#define sigset_t  k_sigset_t
#define timespec  k_timespec
#define timeval	  k_timeval
#define itimerval k_itimerval
#include "../../../drivers/irqchip/gic-common.c"
#include "../../../drivers/timer/hpet.c"

/* The x2APIC's registers are none of these. */
#define MSR_X2APIC	   0
#define rdmsrl(msr)	   ((u64)(msr))
#define wrmsrl(msr, value) ((void)(value))
#include "../../../drivers/timer/sampler/hpet_nmi.c"

static u32 regs[1024];

/* ---- What they stand on */
void *ioremap(phys_addr_t base, size_t size)
{
	return regs;
}
void iounmap(void *p)
{
}
int printk(const char *fmt, ...)
{
	return 0;
}
void handle_ipi(enum ipi_kind ipi)
{
}
void generic_handle_domain_irq(struct irq_domain *domain, unsigned hwirq)
{
}

const struct nmi_timer *nmi_timer;
const struct sample_nmi *sample_nmi;
struct cpumask sample_cpus = {{1}}; /* those of whom samples are taken */
static bool routed;		    /* the pin's entry is an NMI's */
bool ioapic_start_nmi(unsigned gsi, struct cpumask *cpus)
{
	assert_int_equal(gsi, NMI_GSI);
	routed = true;
	return true;
}
void ioapic_stop_nmi(unsigned gsi)
{
	routed = false;
}
void nmi_synchronize(void)
{
}
void on_each_cpu(void (*fn)(void *), void *arg, bool wait)
{
	fn(arg);
}
void apic_send_nmi(const struct cpumask *cpus)
{
}
void sample_timer_tick(const struct pt_regs *r)
{
}

/* Each interrupt has its own bit, the upper one of two, and the others' stay as they are. */
static void test_gic_types(void **state)
{
	for (unsigned hwirq = 16; hwirq < 100; hwirq++) {
		memset(regs, 0, sizeof(regs));
		gic_set_type(regs, hwirq, IRQ_TYPE_EDGE);
		for (unsigned i = 0; i < 100; i++)
			assert_int_equal(regs[GICD_ICFGR / 4 + i / 16] >> i % 16 * 2 & 3, i == hwirq ? 2 : 0);
		memset(regs, 0xff, sizeof(regs));
		gic_set_type(regs, hwirq, IRQ_TYPE_LEVEL);
		for (unsigned i = 0; i < 100; i++)
			assert_int_equal(regs[GICD_ICFGR / 4 + i / 16] >> i % 16 * 2 & 3, i == hwirq ? 1 : 3);
	}
}

/* It has registers, and its period is one that the specification allows. */
static void test_hpet(void **state)
{
	struct device_desc dev = {};

	assert_int_equal(hpet_driver.probe(&dev), -EINVAL);
	dev.nr_reg = 1;
	for (u64 period = 0; period <= U32_MAX; period += HPET_MAX_PERIOD / 2) {
		bool good = period && period <= HPET_MAX_PERIOD;

		memset(regs, 0, sizeof(regs));
		regs[HPET_PERIOD / 4] = period;
		assert_int_equal(hpet_driver.probe(&dev), good ? 0 : -ENODEV);
		assert_ptr_equal(hpet_registers(), good ? regs : NULL);
		assert_int_equal(regs[HPET_CONFIG / 4], good ? HPET_ENABLE : 0);
		hpet_forget();
	}
}

/*
 * Interrupts of timers that firmware has set up are off afterwards, of each timer that the HPET has and of no other;
 * what else a timer is set to stays.
 */
static void test_hpet_stops_timers(void **state)
{
	memset(regs, 0, sizeof(regs));
	regs[HPET_PERIOD / 4] = HPET_MAX_PERIOD;
	regs[HPET_ID / 4] = 2 << 8; /* the number of the last timer */
	for (unsigned n = 0; n < 4; n++)
		regs[HPET_TIMER(n) / 4] = HPET_TIMER_INT | 1 << 8 | n << 9; /* 32 bits, a route */
	assert_int_equal(hpet_start(regs), 0);
	for (unsigned n = 0; n < 4; n++)
		assert_int_equal(regs[HPET_TIMER(n) / 4], (n < 3 ? 0 : HPET_TIMER_INT) | 1 << 8 | n << 9);
	hpet_forget();
}

/*
 * The first comparator that can have the pin is the profiler's: it counts in 32 bits, and interrupts by the pin until
 * it is stopped. There may be none.
 */
static void test_comparator_for_nmis(void **state)
{
	for (unsigned able = 0; able < 8; able++) {
		memset(regs, 0, sizeof(regs));
		regs[HPET_PERIOD / 4] = 10 * FS_PER_NS;
		regs[HPET_ID / 4] = 2 << 8;
		for (unsigned n = 0; n < 3; n++)
			regs[HPET_ROUTES(n) / 4] = able >> n & 1 ? 0xff0000 | BIT(NMI_GSI) : 0xff0000;
		assert_int_equal(hpet_start(regs), 0);
		assert_int_equal(hpet_nmi_timer.start(NSEC_PER_MSEC), able ? 0 : -ENODEV);
		assert_int_equal(routed, able != 0);
		for (unsigned n = 0; n < 3; n++)
			assert_int_equal(regs[HPET_TIMER(n) / 4],
					 able && n == __builtin_ctz(able) ? HPET_TIMER_INT | 1 << 8 | 2 << 9 : 0);
		if (able)
			hpet_nmi_timer.stop();
		for (unsigned n = 0; n < 3; n++)
			assert_int_equal(regs[HPET_TIMER(n) / 4], 0);
		assert_false(routed);
		hpet_forget();
	}
	assert_int_equal(hpet_nmi_timer.start(NSEC_PER_MSEC), -ENODEV); /* without an HPET, either */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gic_types),
		cmocka_unit_test(test_hpet),
		cmocka_unit_test(test_hpet_stops_timers),
		cmocka_unit_test(test_comparator_for_nmis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

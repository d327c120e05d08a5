/*
 * The local APIC's timer: what is written to its registers, in which order. QEMU's timer counts at one rate whatever it
 * is divided by, its CPUs know their frequencies, and no deadline is too far away.
 */
/* sources: */
/* include: tests/unit/include-lapic -Itests/unit/include-tsc -Itests/unit/include-registers -Itests/unit/include-mm */
#include <host_test.h>

#define sigset_t  k_sigset_t
#define timespec  k_timespec
#define timeval	  k_timeval
#define itimerval k_itimerval
#include "../../../drivers/timer/lapic_timer.c"

u64 tsc_hz = 2000000000;
const char *tsc_hz_source = "test";
struct cpu_features cpu_features;
struct smp_irq_ops;
const struct smp_irq_ops *smp_irq_ops;
const struct clock_event_device *clock_event;
void *xapic;

/* Every write, in its order: the register as the MMIO window numbers it, or DEADLINE, or FENCE. */
#define DEADLINE 0x1000
#define FENCE	 0x1001
static struct {
	unsigned reg;
	u64 value;
} written[32];
static unsigned nr_written;
static u64 told_hz, measured_hz;

static void note(unsigned reg, u64 value)
{
	assert_true(nr_written < ARRAY_SIZE(written));
	written[nr_written].reg = reg;
	written[nr_written++].value = value;
}

void wrmsrl(u32 msr, u64 v)
{
	note(msr == MSR_TSC_DEADLINE ? DEADLINE : (msr - MSR_X2APIC) * 16, v);
}
u64 rdmsrl(u32 msr)
{
	assert_int_equal(msr, MSR_X2APIC + APIC_TMCCT / 16);
	return 0xfffffff0;
}
void mb(void)
{
	note(FENCE, 0);
}
u64 rdtsc_ordered(void)
{
	return 5000;
}
u64 ns_to_cycles(u64 ns)
{
	return ns * 2;
}
u64 clocks_mult(u64 to, u64 from)
{
	return (u64)(((unsigned __int128)to << CLOCK_SHIFT) / from);
}
u64 cpuid_apic_hz(void)
{
	return told_hz;
}
void tsc_init(void *early_hpet)
{
}
int printk(const char *fmt, ...)
{
	return 0;
}
void hrtimer_interrupt(void)
{
}

/* The timer counts down, and is measured as a counter that goes up. */
int calibrate_counter(const struct calibration_counter *c, u64 hz, struct hz_range *range)
{
	assert_int_equal(hz, 2000000000);
	assert_int_equal(c->mask, U32_MAX);
	assert_int_equal(c->read(), 0xf);
	*range = (struct hz_range){measured_hz, measured_hz};
	return measured_hz ? 0 : -EIO;
}
u64 hz_plausible(struct hz_range range)
{
	return range.low;
}

#define WRITTEN(...)                                                              \
	do {                                                                      \
		static const u64 wanted[][2] = {__VA_ARGS__};                     \
                                                                                  \
		assert_int_equal(nr_written, ARRAY_SIZE(wanted));                 \
		for (unsigned write = 0; write < nr_written; write++) {           \
			assert_int_equal(written[write].reg, wanted[write][0]);   \
			assert_int_equal(written[write].value, wanted[write][1]); \
		}                                                                 \
		nr_written = 0;                                                   \
	} while (0)

/* Measured with the finest tick, used with it, and stopped in between; without an APIC nothing is touched. */
static void test_count_down(void **state)
{
	static const int found;

	nr_written = 0;
	smp_irq_ops = NULL;
	assert_int_equal(lapic_timer_probe(NULL), -ENODEV);
	smp_irq_ops = (const void *)&found;
	cpu_features.tsc_deadline = false;
	told_hz = measured_hz = 0;
	assert_int_equal(lapic_timer_probe(NULL), -EIO);
	nr_written = 0;
	measured_hz = 500000000;
	assert_int_equal(lapic_timer_probe(NULL), 0);
	WRITTEN({APIC_LVTT, APIC_LVT_MASKED}, {APIC_TDCR, 0xb}, {APIC_TMICT, U32_MAX}, {APIC_TMICT, 0});
	/* Half a tick a ns; one more, so that it is not early. What is too long comes early. */
	clock_event->setup_cpu();
	WRITTEN({APIC_TMICT, 0}, {APIC_TDCR, 0xb}, {APIC_LVTT, LOCAL_TIMER_VECTOR});
	clock_event->set_next_event(0);
	clock_event->set_next_event(1000);
	clock_event->set_next_event(8589934588);
	clock_event->set_next_event(8589934590);
	clock_event->set_next_event(1ULL << 60);
	clock_event->shutdown();
	WRITTEN({APIC_TMICT, 1}, {APIC_TMICT, 501}, {APIC_TMICT, 0xffffffff}, {APIC_TMICT, 0xffffffff},
		{APIC_TMICT, 0xffffffff}, {APIC_TMICT, 0});
	/* What CPUID tells is not measured. */
	told_hz = 1000000000;
	assert_int_equal(lapic_timer_probe(NULL), 0);
	assert_int_equal(nr_written, 0);
	clock_event->set_next_event(1000);
	WRITTEN({APIC_TMICT, 1001});
}

/* The mode is there before the first deadline is. */
static void test_deadline(void **state)
{
	static const int found;

	nr_written = 0;
	smp_irq_ops = (const void *)&found;
	cpu_features.tsc_deadline = true;
	assert_int_equal(lapic_timer_probe(NULL), 0);
	assert_int_equal(nr_written, 0);
	clock_event->setup_cpu();
	WRITTEN({APIC_LVTT, LOCAL_TIMER_VECTOR | 2 << 17}, {FENCE, 0}, {DEADLINE, 0});
	clock_event->set_next_event(0);
	clock_event->set_next_event(100);
	clock_event->set_next_event(BIT(60) + 1);
	clock_event->shutdown();
	WRITTEN({DEADLINE, 5000}, {DEADLINE, 5200}, {DEADLINE, 5000 + 2 * BIT(60)}, {DEADLINE, 0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count_down),
		cmocka_unit_test(test_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The HPET's comparator as a source of NMIs, set by several CPUs at once: whatever the order in which they reach the
 * device, and however long one of them is taken away in between, the comparator is never left with a moment that has
 * passed, nor with one at which the CPUs that come do not set it again.
 *
 * Each CPU is a coroutine. At each access to the device it hands over to another one, which a random number chooses,
 * and time goes on.
 */
/* sources: */
/* include: tests/unit/include-lapic -Itests/unit/include-tsc -Itests/unit/include-registers -Itests/unit/include-mm */
#include <host_test.h>
#include <ucontext.h>

#include <asm/io.h>
#define readl_relaxed(p)     model_read((unsigned long)(p))
#define writel_relaxed(v, p) model_write(v, (unsigned long)(p))
static u32 model_read(unsigned long reg);
static void model_write(u32 v, unsigned long reg);
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name
#define sigset_t		    k_sigset_t
#define timespec		    k_timespec
#define timeval			    k_timeval
#define itimerval		    k_itimerval
#include "../../../drivers/timer/sampler/hpet_nmi.c"

#define PERIOD	4000 /* ticks */
#define CPUS	3
#define SAMPLES 20000

struct cpumask sample_cpus;
const struct nmi_timer *nmi_timer;
const struct sample_nmi *sample_nmi;

/* ---- What it stands on, and does not come to here */
void *hpet_registers(void)
{
	return NULL;
}
bool ioapic_start_nmi(unsigned gsi, struct cpumask *rest)
{
	return false;
}
void ioapic_stop_nmi(unsigned gsi)
{
}
void apic_send_nmi(const struct cpumask *cpus_to)
{
}
void nmi_synchronize(void)
{
}
void on_each_cpu(void (*func)(void *), void *arg, bool wait)
{
}
void sample_timer_tick(const struct pt_regs *regs)
{
}

/* One CPU. */
static struct cpu {
	ucontext_t context;
	char stack[64 * 1024];
	bool pending, busy; /* an NMI waits; it is in sample_nmi_done() */
} cpus[CPUS], *self;
static ucontext_t back; /* the loop of the test */
static u64 counter, seed = 1;
static u32 comparator;
static unsigned fired;

static u32 chance(u32 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

/* The comparator matches in the moment at which the counter comes to it, and all CPUs are sent an NMI. */
static void time_goes_on(u64 ticks)
{
	u64 distance = (u32)(comparator - (u32)counter);

	counter += ticks;
	if (!distance || distance > ticks)
		return;
	fired++;
	for (unsigned i = 0; i < CPUS; i++)
		cpus[i].pending = true;
}

/* A CPU stands here until it is chosen again. The test itself does not. */
static void hand_over(void)
{
	if (self)
		swapcontext(&self->context, &back);
}

static u32 model_read(unsigned long reg)
{
	if (reg == HPET_PERIOD)
		return 10000000;
	assert_int_equal(reg, HPET_COUNTER);
	hand_over();
	return counter;
}

static void model_write(u32 v, unsigned long reg)
{
	if (reg != HPET_COMPARATOR(0))
		return;
	hand_over();
	comparator = v;
	hand_over();
}

static void cpu_main(void)
{
	for (;;) {
		self->busy = true;
		self->pending = false;
		sample_nmi_done();
		self->busy = false;
		hand_over();
	}
}

/* A CPU that can go on: one that is in the middle of something, or has an NMI. NULL: there is none. */
static struct cpu *choose(void)
{
	struct cpu *can[CPUS];
	unsigned n = 0;

	for (unsigned i = 0; i < CPUS; i++)
		if (cpus[i].busy || cpus[i].pending)
			can[n++] = &cpus[i];
	return n ? can[chance(n)] : NULL;
}

/*
 * While a CPU can go on, one of them does. When all have come to the end, the comparator must match within the next two
 * periods: a value that has passed would match only when the counter has wrapped.
 */
static void never_lost(void **state)
{
	counter = 1000;
	prepare(NULL, 0, PERIOD * 10);
	set_next(look_at_counter());
	for (unsigned i = 0; i < CPUS; i++) {
		getcontext(&cpus[i].context);
		cpus[i].context.uc_stack.ss_sp = cpus[i].stack;
		cpus[i].context.uc_stack.ss_size = sizeof(cpus[i].stack);
		makecontext(&cpus[i].context, cpu_main, 0);
	}
	while (fired < SAMPLES) {
		self = choose();
		if (!self) {
			if ((u32)(comparator - (u32)counter) > 2 * PERIOD)
				fail_msg("after %u samples nobody sets the comparator any more: %u ticks have gone by",
					 fired, (u32)counter - comparator);
			time_goes_on((u32)(comparator - (u32)counter));
			continue;
		}
		swapcontext(&back, &self->context);
		time_goes_on(chance(8) ? chance(20) : chance(PERIOD)); /* it may be away */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(never_lost)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

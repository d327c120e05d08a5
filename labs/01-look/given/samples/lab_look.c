/*
 * What lab look finds in the kernel: sections with interrupts off, and calls of which one is slow. Which, and for how
 * long, follows from the seed that lab_look writes to the files lab/sections and lab/slow of debugfs.
 */
#include <fs/libfs.h>
#include <irq/irqflags.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <time/clock.h>

#define SLOW_CALLS 200

/* Knuth's linear congruential generator (MMIX); lab_look.c of userland and the grader have the same one. */
static u64 look_state;

static u32 look_random(void)
{
	look_state = look_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return look_state >> 33;
}

static void look_begin(u64 seed, unsigned question)
{
	look_state = seed * 1000003 + question;
	for (int i = 0; i < 3; i++)
		look_random();
}

/* It is not inlined, so that the function tracers see it. */
static noinline void look_spin(u64 ns)
{
	u64 until = sched_clock() + ns;

	while (sched_clock() < until)
		;
}

/* The barrier() keeps the call that enables interrupts from becoming a jump: tracers would name our caller then. */
#define SECTION(name)                     \
	static noinline void name(u64 us) \
	{                                 \
		local_irq_disable();      \
		look_spin(us * 1000);     \
		local_irq_enable();       \
		barrier();                \
	}
SECTION(look_flush)
SECTION(look_refill)
SECTION(look_rehash)
SECTION(look_scan)
SECTION(look_update)

static void (*const sections[])(u64 us) = {look_flush, look_refill, look_rehash, look_scan, look_update};

/* Each section once: 300 to 1,299 us, the longest one 2,000 to 3,999. -EINVAL: no seed. */
static int sections_store(char *text, void *data)
{
	unsigned longest;
	u64 seed;

	if (kstrtoull(text, 10, &seed))
		return -EINVAL;
	look_begin(seed, 5);
	longest = look_random() % ARRAY_SIZE(sections);
	for (unsigned i = 0; i < ARRAY_SIZE(sections); i++)
		sections[i](i == longest ? 2000 + look_random() % 2000 : 300 + look_random() % 1000);
	return 0;
}

/* Four steps of a call; each takes 10 to 29 us, or `extra` us more. */
#define STEP(name)                                                   \
	static noinline void name(unsigned extra)                    \
	{                                                            \
		look_spin((10 + look_random() % 20 + extra) * 1000); \
		barrier();                                           \
	}
STEP(look_check)
STEP(look_find)
STEP(look_copy)
STEP(look_notify)

static void (*const steps[])(unsigned extra) = {look_check, look_find, look_copy, look_notify};

/* One call: its `slow` step takes 400 us more. A step that is not there: all are quick. */
static noinline void look_call(unsigned slow)
{
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++)
		steps[i](i == slow ? 400 : 0);
}

/* SLOW_CALLS calls, one of them with a slow step. */
static int slow_store(char *text, void *data)
{
	unsigned which, step;
	u64 seed;

	if (kstrtoull(text, 10, &seed))
		return -EINVAL;
	look_begin(seed, 6);
	which = look_random() % SLOW_CALLS;
	step = look_random() % ARRAY_SIZE(steps);
	for (unsigned i = 0; i < SLOW_CALLS; i++)
		look_call(i == which ? step : ARRAY_SIZE(steps));
	return 0;
}

static const struct text_file sections_file = {.path = "lab/sections", .mode = 0200, .store = sections_store};
static const struct text_file slow_file = {.path = "lab/slow", .mode = 0200, .store = slow_store};
REGISTER_DEBUGFS(sections_file);
REGISTER_DEBUGFS(slow_file);

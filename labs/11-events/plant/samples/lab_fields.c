/*
 * What lab events' filters are graded with. A command is written to debugfs's lab/fields:
 *
 *	go SEED N	the event lab_fields N times, with values that follow from SEED (labs/11-events/checks.py has
 *			the same)
 *	cost N		the same event N times, with zeros; reading the file tells how many nanoseconds that took
 */
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <time/clock.h>

#define CREATE_TRACE_POINTS
#include <trace/events/lab_fields.h>

static u64 lab_random, lab_took; /* [the grader writes one at a time] */

static u64 rnd(void)
{
	lab_random = lab_random * 6364136223846793005ull + 1442695040888963407ull;
	return lab_random >> 33;
}

/* Often near the places where a comparison goes wrong: zero, the greatest and least, the sign's bit. */
static u64 lab_value(unsigned bits)
{
	u64 small = rnd() % 5, high;

	switch (rnd() % 4) {
	case 0:
		return small;
	case 1:
		return (1ull << (bits - 1)) + small - 2;
	case 2:
		return -small;
	default:
		high = rnd();
		return high << 32 ^ rnd();
	}
}

static noinline void lab_go(unsigned id, const struct lab_values *v)
{
	trace_lab_fields(id, v);
}

static void go(u64 seed, u64 n)
{
	static const u8 bits[] = {8, 8, 16, 16, 32, 32, 64, 64};
	struct lab_values v;

	lab_random = seed;
	for (unsigned id = 0; id < n; id++) {
		for (unsigned i = 0; i < ARRAY_SIZE(bits); i++)
			v.value[i] = lab_value(bits[i]);
		lab_go(id, &v);
	}
}

static void cost(u64 n)
{
	const struct lab_values v = {};
	u64 start = sched_clock();

	for (unsigned id = 0; id < n; id++)
		lab_go(id, &v);
	lab_took = sched_clock() - start;
}

static int lab_store(char *text, void *data)
{
	const char *what = strsep(&text, " ");
	unsigned long number[2] = {};
	int nr = 0;

	for (char *word; nr < 2 && (word = strsep(&text, " ")); nr++)
		if (kstrtoul(word, 0, &number[nr]))
			return -EINVAL;
	if (!strcmp(what, "go") && nr == 2)
		go(number[0], number[1]);
	else if (!strcmp(what, "cost") && nr == 1)
		cost(number[0]);
	else
		return -EINVAL;
	return 0;
}

static int lab_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%lu\n", lab_took);
	return 0;
}

static const struct text_file lab_file = {.path = "lab/fields", .mode = 0600, .show = lab_show, .store = lab_store};
REGISTER_DEBUGFS(lab_file);

/*
 * Every way to nest: small cases of writers interrupted by writers, and of readers beside them, all
 * enumerated.
 *
 * A case is: how full the buffer is, what the outer writer does, and what comes in between. The ring buffer
 * calls rb_test_point between any two of its steps that touch shared words; the enumeration injects the first
 * interruption at each point that the outer one passes, the second at each point that passes after it, inside
 * of the first (depth 3) or behind it. A reader at a point of a writer stands for one on another CPU; a
 * writer at a point of a reader for the buffer's own CPU going on. After each case check_end proves: nothing
 * lost, nothing twice, order, times, counts.
 */
/* sources: trace/ring_buffer/alloc.c trace/ring_buffer/switch.c trace/ring_buffer/write.c */
/* sources: trace/ring_buffer/event.c trace/ring_buffer/read.c trace/ring_buffer/page.c */
/* sources: trace/ring_buffer/iter.c trace/ring_buffer/stats.c trace/ring_buffer/resize.c */
/* sources: tests/unit/ring_buffer/host_cpu.c */
#include <ring_buffer_check.h>
#include <sched/spinlock.h>

static struct check check;
static struct buffer_data_page *raw;
static unsigned order; /* of the buffer's pages */

static unsigned page_event(void)
{
	return ring_buffer_max_event(check.buffer);
}

static unsigned long_event(void)
{
	return page_event() / 2 - 36;
}

/* What may happen at a point, or as the outer thing. */
enum action {
	WRITE_SMALL,   /* 16 bytes */
	WRITE_OPEN,    /* the same, by rb_try_open and rb_try_close */
	WRITE_LONG,    /* two to a page: 2,000 bytes with pages of 4 KiB */
	WRITE_PAGE,    /* a page of its own: 4,072 bytes */
	WRITE_FLOOD,   /* more pages than the buffer has */
	DISCARD_SMALL, /* reserved and taken back */
	DISCARD_PAGE,
	LATER,	    /* a small one, after a time that needs a time extend */
	MUCH_LATER, /* and one that needs another page */
	WRITERS,
	READ_ONE = WRITERS,
	READ_ALL,
	READ_PAGE, /* raw */
	ITERATE,   /* all, without consuming */
	RESIZE,	   /* if another CPU could get at it here */
	ACTIONS,
	WRITE_DIRECT = ACTIONS, /* WRITE_OPEN that leaves and begins again; outermost only */
	LATE,			/* a small one, after a time that a delta can hold and the page's base cannot */
	DISCARD_LATE,		/* the same, taken back */
};

/* The points at which actions come in, counted over all that are passed while nothing is skipped. */
static struct {
	long at[2];
	enum action what[2];
	int next, nr;
	long passed;
	bool reader_runs; /* it holds the lock: no other reader may come in */
	bool off;
	unsigned long all; /* points passed, with those where nothing may come in */
} plan;

/* Points of writers that the cases have come to, by number. */
static bool reached[100];

/* The longest case passes less than a tenth of this: beyond it, somebody waits for what never comes. */
#define POINTS_A_CASE 10000

static void act(enum action what);

/*
 * A step between two accesses to shared words. If it is the one that the plan has chosen, the next action comes in
 * here, unless it is a reader and another reader holds the lock.
 */
void rb_test_point(int n)
{
	if (++plan.all > POINTS_A_CASE)
		fail_msg("a case does not end: it comes to point %d again and again", n);
	reached[n] = true;
	if (plan.off)
		return;
	plan.passed++;
	if (plan.next < plan.nr && plan.passed == plan.at[plan.next]) {
		enum action what = plan.what[plan.next++];

		if (what >= WRITERS && what < ACTIONS && plan.reader_runs)
			return;
		act(what);
	}
}

/* Without consuming, what is there is there in order, and what is missing is counted. */
static void iterate(void)
{
	struct ring_buffer_iter *iter = ring_buffer_read_start(check.buffer, check.cpu);
	u64 ts, last = 0, last_start = 0;
	struct ring_buffer_event *event;

	while ((event = ring_buffer_iter_peek(iter, &ts))) {
		struct check_payload *p = ring_buffer_event_data(event);

		assert_true(p->id < check.nr);
		assert_true(check.event[p->id].state == CHECK_DONE || check.event[p->id].state == CHECK_OPEN);
		assert_true(last_start <= check.event[p->id].claimed);
		last_start = max(last_start, check.event[p->id].start);
		assert_true(ts >= last && ts >= check.event[p->id].ts);
		last = ts;
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);
}

static void discard(unsigned length)
{
	u32 id;
	struct ring_buffer_event *event = check_reserve(&check, length, &id);

	if (event)
		check_discard(&check, id, event);
}

/*
 * A reader of this kind, with the lock that keeps other readers out. RESIZE is tried only where no writer is under
 * way, as the kernel waits for that.
 */
static void read_as(enum action what)
{
	bool was = plan.reader_runs;

	plan.reader_runs = true;
	if (what == READ_ONE)
		check_consume(&check);
	else if (what == READ_ALL)
		while (check_consume(&check))
			;
	else if (what == READ_PAGE)
		check_read_page(&check, &raw, ring_buffer_page_size(check.buffer), false);
	else if (what == ITERATE)
		iterate();
	else if (!check.cpu_buffer->committing && !check.cpu_buffer->uncommitted)
		/* The memory of the old ring is gone then: AddressSanitizer sees who still looks at it. */
		assert_int_equal(ring_buffer_resize(check.buffer, 4 * (RB_DATA_SIZE << order), 0), 0);
	plan.reader_runs = was;
}

/* Do this, as the outer operation or as what comes in. */
static void act(enum action what)
{
	switch (what) {
	case WRITE_SMALL:
		check_write(&check, 16);
		break;
	case WRITE_OPEN:
		check_write_open(&check, false);
		break;
	case WRITE_DIRECT:
		check_write_open(&check, true);
		break;
	case WRITE_LONG:
		check_write(&check, long_event());
		break;
	case WRITE_PAGE:
		check_write(&check, page_event());
		break;
	case WRITE_FLOOD:
		for (int i = 0; i < 5; i++)
			check_write(&check, page_event());
		break;
	case DISCARD_SMALL:
		discard(16);
		break;
	case DISCARD_PAGE:
		discard(page_event());
		break;
	case LATE:
	case DISCARD_LATE:
		/* The longest delta of 27 bits, when nothing has come since the last event. */
		check.now += (1ull << 27) - 2;
		if (what == LATE)
			check_write(&check, 16);
		else
			discard(16);
		break;
	case LATER:
		check.now += 1ull << 28;
		check_write(&check, 16);
		break;
	case MUCH_LATER:
		check.now += 1ull << 43;
		check_write(&check, 16);
		break;
	default:
		read_as(what);
	}
}

/* States that a case begins from, made with nothing nested. */
enum { EMPTY, HALF, PAGE_FULL, RING_FULL, RING_FULL_READ, TAIL_READ, FILLS };

static void fill(int how)
{
	static const int pages[FILLS] = {
		[EMPTY] = 0, [HALF] = 0, [PAGE_FULL] = 1, [RING_FULL] = 3, [RING_FULL_READ] = 4, [TAIL_READ] = 1};

	for (int i = 0; i < pages[how] * 2; i++)
		check_write(&check, long_event());
	if (how == HALF)
		check_write(&check, long_event());
	if (how == RING_FULL_READ)
		check_consume(&check);
	if (how == TAIL_READ)
		while (check_consume(&check))
			;
}

struct setting {
	unsigned long pages;
	int fill;
	bool overwrite;
	enum action outer;
};

/*
 * One case: the buffer in its state, the outer operation, and the two interruptions at their points. Afterwards
 * everything that was written is read or counted, and the buffer takes a short and a long event.
 */
static void run_case(struct trace_buffer *buffer, const struct setting *s)
{
	turns_alone = 0;
	plan.off = true;
	plan.all = 0;
	ring_buffer_change_overwrite(buffer, s->overwrite);
	assert_int_equal(ring_buffer_resize(buffer, s->pages * (RB_DATA_SIZE << order), 0), 0);
	ring_buffer_reset(buffer);
	check_init(&check, buffer, 0);
	fill(s->fill);
	plan.off = false;
	plan.passed = 0;
	plan.next = 0;
	plan.reader_runs = false;
	act(s->outer);
	plan.off = true;
	/* All is there at once, and whatever happened, the buffer works on. */
	check_end(&check, false);
	assert_true(check_write(&check, 16));
	assert_true(check_write(&check, long_event()));
	check_end(&check, true);
}

static unsigned long cases;

/*
 * To the next second point. All of them are three million cases: with SOAK_MINUTES in the environment. Else
 * one in THIN, picked by a generator with a fixed seed; the first points are always complete.
 */
#define THIN 16
static long step(void)
{
	static u64 seed;

	if (getenv("SOAK_MINUTES"))
		return 1;
	if (!seed)
		seed = check_seed(12345);
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return 1 + (seed >> 40) % (2 * THIN - 1);
}

/* All pairs of points for one pair of actions; a point that was never reached ends its loop. */
static void all_points(struct trace_buffer *buffer, const struct setting *s, enum action first, enum action second)
{
	plan.what[0] = first;
	plan.what[1] = second;
	plan.nr = 2;
	for (plan.at[0] = 1;; plan.at[0]++) {
		for (plan.at[1] = plan.at[0] + step();; plan.at[1] += step()) {
			run_case(buffer, s);
			cases++;
			if (plan.next < 2)
				break;
		}
		if (plan.next < 1)
			break;
	}
}

/* All outer operations, states of the buffer, modes, and pairs of interruptions, in a buffer of so many pages. */
static void run_list(unsigned long pages, const enum action *outer, int nr_outer, const enum action *inner,
		     int nr_inner)
{
	struct trace_buffer *buffer = ring_buffer_alloc(pages * RB_DATA_SIZE, RB_FL_OVERWRITE);

	assert_non_null(buffer);
	assert_int_equal(ring_buffer_set_order_together(&buffer, 1, order), 0);
	raw = ring_buffer_alloc_read_page(buffer, 0);
	for (int i = 0; i < nr_outer; i++)
		for (int fill = 0; fill < FILLS; fill++)
			for (int overwrite = 0; overwrite < 2; overwrite++)
				for (int pair = 0; pair < nr_inner * nr_inner; pair++) {
					struct setting s = {pages, fill, overwrite, outer[i]};

					all_points(buffer, &s, inner[pair / nr_inner], inner[pair % nr_inner]);
				}
	ring_buffer_free_read_page(raw, ring_buffer_order(buffer));
	ring_buffer_free(buffer);
	print_message("%lu cases\n", cases);
}

/* The same with all interruptions before `last_inner`. */
static void run_all(unsigned long pages, const enum action *outer, int nr_outer, enum action last_inner)
{
	enum action inner[ACTIONS];

	for (enum action a = 0; a < last_inner; a++)
		inner[a] = a;
	run_list(pages, outer, nr_outer, inner, last_inner);
}

/* A writer, interrupted twice by writers or readers of any kind, in the smallest buffer. */
static void test_writer_two_pages(void **state)
{
	static const enum action outer[] = {WRITE_SMALL, WRITE_OPEN, WRITE_DIRECT, WRITE_PAGE, DISCARD_SMALL, LATER};

	run_all(2, outer, ARRAY_SIZE(outer), ACTIONS);
}

/* A page's base moves under a writer, by itself or by what nests in it, also where nothing is left of the event. */
static void test_base_moves(void **state)
{
	static const enum action outer[] = {WRITE_OPEN, DISCARD_SMALL, LATE, DISCARD_LATE};
	static const enum action inner[] = {WRITE_SMALL,  WRITE_PAGE, DISCARD_SMALL, LATE,
					    DISCARD_LATE, LATER,      READ_ALL};

	run_list(2, outer, ARRAY_SIZE(outer), inner, ARRAY_SIZE(inner));
}

/* Larger pages take the same steps; what differs is where a page begins and ends. */
static void test_larger_pages(void **state)
{
	static const enum action outer[] = {WRITE_OPEN, DISCARD_PAGE};
	static const enum action inner[] = {WRITE_PAGE, LATER, DISCARD_PAGE, READ_PAGE};

	order = 1;
	run_list(2, outer, ARRAY_SIZE(outer), inner, ARRAY_SIZE(inner));
	order = 0;
}

/* The same where nested writers can get two pages ahead of the one they interrupt. */
static void test_writer_three_pages(void **state)
{
	static const enum action outer[] = {WRITE_OPEN, WRITE_LONG, DISCARD_PAGE, MUCH_LATER};

	run_all(3, outer, ARRAY_SIZE(outer), ACTIONS);
}

/* A reader of any kind while writers come in: it holds its lock, they do not care. */
static void test_reader(void **state)
{
	static const enum action outer[] = {READ_ONE, READ_ALL, READ_PAGE, ITERATE};

	run_all(2, outer, ARRAY_SIZE(outer), WRITERS);
	run_all(3, outer, ARRAY_SIZE(outer), WRITERS);
}

/* The cases prove something of those steps between which they come in: between any two of a writer's. */
static void test_all_points(void **state)
{
	for (unsigned n = 20; n <= 48; n++)
		if (!reached[n])
			fail_msg("no case came to point %u of trace/ring_buffer", n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer_two_pages), cmocka_unit_test(test_writer_three_pages),
		cmocka_unit_test(test_reader),		 cmocka_unit_test(test_base_moves),
		cmocka_unit_test(test_larger_pages),	 cmocka_unit_test(test_all_points), /* the last one */
	};

	host_cpu_start(0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

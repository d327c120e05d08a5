/*
 * Every way for an exchange of two rings to meet writers of its CPU: it interrupts one anywhere, or an nmi writes
 * anywhere inside it, or both; or it is left to the next writer, by a wish that may come anywhere. Afterwards each
 * event is in one of the two buffers, once and whole, or was refused and counted; and an exchange that came into the
 * middle of a write was told so.
 *
 * The ring buffer calls rb_test_point() between any two of its steps that touch shared words. The plan has two
 * actions, each with the number of the point at which it comes in; all pairs of points are tried.
 */
/* sources: trace/ring_buffer/alloc.c trace/ring_buffer/switch.c trace/ring_buffer/write.c */
/* sources: trace/ring_buffer/event.c trace/ring_buffer/read.c trace/ring_buffer/page.c */
/* sources: trace/ring_buffer/iter.c trace/ring_buffer/stats.c trace/ring_buffer/resize.c */
/* sources: tests/unit/ring_buffer/host_cpu.c */
#include <lib/errno.h>
#include <mm/slab.h>
#include <ring_buffer_check.h>
#include <sched/spinlock.h>

static struct check check;
static struct trace_buffer *other;

enum action { WRITE_DIRECT, WRITE_LONG, WRITE_PAGE, DISCARD_PAGE, SWAP, WISH, ACTIONS };

static struct {
	long at[2];
	enum action what[2];
	int next;
	long passed;
	bool swapping, off;
	bool wished; /* and not yet done */
} plan;
static unsigned long swaps, refusals, granted, postponed;

/* As a tracer does it, on the CPU itself. Not from an nmi: never inside of another. */
static void exchange(void)
{
	bool inside = check.cpu_buffer->committing || check.cpu_buffer->uncommitted;
	int err;

	if (plan.swapping)
		return;
	plan.swapping = true;
	err = ring_buffer_swap_cpu(check.buffer, other, 0);
	plan.swapping = false;
	assert_int_equal(err, inside ? -EBUSY : 0);
	swaps += !err;
	refusals += err != 0;
}

/* Let the next writer swap the buffers. */
static void wish(void)
{
	plan.wished = true;
	ring_buffer_want_exchange(check.buffer, 0, true);
}

/*
 * What the writer calls, on its way to an event: as the outermost one, with nothing left to commit, so nothing is in
 * the way but an exchange that it interrupts. Then the wish stays for the next one.
 */
static void grant(void *arg)
{
	assert_ptr_equal(arg, &check);
	assert_int_equal(check.cpu_buffer->committing, 0);
	ring_buffer_want_exchange(check.buffer, 0, false);
	if (plan.swapping) {
		postponed++;
		ring_buffer_want_exchange(check.buffer, 0, true);
		return;
	}
	plan.swapping = true;
	assert_int_equal(ring_buffer_swap_cpu(check.buffer, other, 0), 0);
	plan.swapping = false;
	plan.wished = false;
	granted++;
}

/* Do this, as the outer operation or as what comes in. */
static void act(enum action what)
{
	static const unsigned length[] = {[WRITE_LONG] = 2000, [WRITE_PAGE] = 4072};
	struct ring_buffer_event *event;
	u32 id;

	switch (what) {
	case SWAP:
		exchange();
		break;
	case WISH:
		wish();
		break;
	case WRITE_DIRECT:
		check_write_open(&check, true);
		break;
	case DISCARD_PAGE:
		event = check_reserve(&check, 4072, &id);
		if (event)
			check_discard(&check, id, event);
		break;
	default:
		check_write(&check, length[what]);
	}
}

void rb_test_point(int n)
{
	if (plan.off)
		return;
	plan.passed++;
	if (plan.next < 2 && plan.passed == plan.at[plan.next])
		act(plan.what[plan.next++]);
}

/* All that one of the two holds; each on its own is in order. */
static unsigned read_all(struct trace_buffer *buffer)
{
	struct trace_buffer *was = check.buffer;

	check.buffer = buffer;
	check.last_ts = check.last_start = 0;
	while (check_consume(&check))
		;
	check.buffer = was;
	return ring_buffer_overrun_cpu(buffer, 0);
}

static unsigned refused_by(struct trace_buffer *buffer)
{
	return ring_buffer_dropped_events_cpu(buffer, 0) + ring_buffer_commit_overrun_cpu(buffer, 0);
}

/*
 * One case, from a buffer that is empty to full. Afterwards no wish is left, a further exchange works, and every event
 * that was written is read from one of the two buffers, or counted as overwritten or refused.
 */
static void run_case(struct trace_buffer *buffer, enum action outer, int filled, bool overwrite)
{
	unsigned overrun;

	turns_alone = 0;
	plan.off = true;
	ring_buffer_change_overwrite(buffer, overwrite);
	ring_buffer_reset(buffer);
	ring_buffer_reset(other);
	check_init(&check, buffer, 0);
	for (int i = 0; i < filled; i++)
		check_write(&check, 2000);
	plan.off = false;
	plan.passed = plan.next = 0;
	act(outer);
	plan.off = true;
	assert_int_equal(check.cpu_buffer->committing, 0);
	/* A wish that nobody has come to yet is the next writer's; no other one finds it. */
	check_write(&check, 16);
	assert_false(plan.wished);
	assert_false(check.cpu_buffer->disabled & RB_EXCHANGE);
	/* What is written now follows in the right one, and a further exchange is not hindered by anything left. */
	check_write(&check, 16);
	exchange();
	check_write(&check, 16);
	overrun = read_all(other) + read_all(buffer);
	assert_int_equal(check.read + overrun, check.written);
	assert_int_equal(check.refused, refused_by(buffer) + refused_by(other));
	assert_true(ring_buffer_record_is_on(buffer) && ring_buffer_record_is_on(other));
}

static void all_points(struct trace_buffer *buffer, enum action outer, int filled, bool overwrite)
{
	for (plan.at[0] = 1;; plan.at[0]++) {
		for (plan.at[1] = plan.at[0] + 1;; plan.at[1]++) {
			run_case(buffer, outer, filled, overwrite);
			if (plan.next < 2)
				break;
		}
		if (plan.next < 1)
			break;
	}
}

/*
 * All outer operations, fillings, pairs of actions and modes, at all pairs of points. Each of the four outcomes must
 * have come often.
 */
static void test_points(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(2 * RB_DATA_SIZE, RB_FL_OVERWRITE);

	other = ring_buffer_alloc(2 * RB_DATA_SIZE, RB_FL_OVERWRITE);
	ring_buffer_set_exchange(buffer, grant, &check);
	for (int outer = 0; outer < ACTIONS; outer++)
		for (int filled = 0; filled < 6; filled++)
			for (int kinds = 0; kinds < ACTIONS * ACTIONS * 2; kinds++) {
				plan.what[0] = kinds / 2 % ACTIONS;
				plan.what[1] = kinds / 2 / ACTIONS;
				all_points(buffer, outer, filled, kinds % 2);
			}
	/* Both ends were met, often. */
	assert_true(swaps > 1000 && refusals > 1000 && granted > 1000 && postponed > 100);
	print_message("%lu exchanges, %lu refused, %lu by writers, %lu left to a later one\n", swaps, refusals, granted,
		      postponed);
	ring_buffer_free(buffer);
	ring_buffer_free(other);
}

/* What a resize has kept out is of the events of that time: it goes with them, and one that is emptied forgets it. */
static void test_kept_out(void **state)
{
	struct trace_buffer *buffer = ring_buffer_alloc(2 * RB_DATA_SIZE, RB_FL_OVERWRITE);
	struct ring_buffer_per_cpu *cpu_buffer = ring_buffer_cpu(buffer, 0);

	other = ring_buffer_alloc(2 * RB_DATA_SIZE, RB_FL_OVERWRITE);
	plan.off = true;
	cpu_buffer->disabled += RB_QUIESCE_ONE;
	assert_null(ring_buffer_reserve(cpu_buffer, 16, 1));
	cpu_buffer->disabled -= RB_QUIESCE_ONE;
	assert_int_equal(ring_buffer_dropped_events_cpu(buffer, 0), 1);
	assert_int_equal(ring_buffer_swap_cpu(buffer, other, 0), 0);
	assert_int_equal(ring_buffer_dropped_events_cpu(buffer, 0), 0);
	assert_int_equal(ring_buffer_dropped_events_cpu(other, 0), 1);
	assert_int_equal(ring_buffer_swap_empty_cpu(buffer, other, 0), 0);
	assert_int_equal(ring_buffer_dropped_events_cpu(buffer, 0) + ring_buffer_dropped_events_cpu(other, 0), 0);
	ring_buffer_free(buffer);
	ring_buffer_free(other);
}

/* Resizing several: all get the new size, or, wherever memory ends, none. */
static void test_resize_together(void **state)
{
	struct trace_buffer *buffers[3];
	int err;

	for (int i = 0; i < 3; i++)
		buffers[i] = ring_buffer_alloc(2 * RB_DATA_SIZE, RB_FL_OVERWRITE);
	check_init(&check, buffers[0], 0);
	plan.off = true;
	check_write(&check, 16);
	other = buffers[1];
	assert_int_equal(ring_buffer_resize_together(buffers, 3, 7 * RB_DATA_SIZE, 0), 0);
	exchange();
	assert_int_equal(ring_buffer_entries(buffers[1]), 1);
	for (int n = 0;; n++) {
		host_allocations_left = n;
		err = ring_buffer_resize_together(buffers, 3, 9 * RB_DATA_SIZE, 0);
		host_allocations_left = -1;
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		for (int i = 0; i < 3; i++)
			assert_int_equal(ring_buffer_size(buffers[i], 0), 7 * RB_DATA_SIZE);
		assert_int_equal(ring_buffer_entries(buffers[1]), 1);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ring_buffer_size(buffers[i], 0), 9 * RB_DATA_SIZE);
		ring_buffer_free(buffers[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_kept_out),
		cmocka_unit_test(test_resize_together),
	};

	host_cpu_start(0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

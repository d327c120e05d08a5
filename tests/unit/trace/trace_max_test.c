/*
 * The maximum of a latency tracer: which sections become it, and what of it is exchanged where. Ring buffers are
 * counters of exchanges, which may say that a writer is inside (busy); sections are made by begin_on() and end_on() on
 * one of four CPUs.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>

#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../trace/core/max.c"

struct cpumask cpu_online_mask = {.bits = {~0UL}}; /* the machine of the test has all of its CPUs */

/* ---- What it stands on. A ring that is being written when its CPU takes a maximum is exchanged later:
 * -EBUSY. */
static bool busy[4], empties[4];
static unsigned swaps[4];

static int swap_ring(int cpu, bool empty)
{
	assert_int_equal(cpu, host_task.cpu);
	if (busy[cpu])
		return -EBUSY;
	swaps[cpu]++;
	empties[cpu] = empty;
	return 0;
}
int ring_buffer_swap_cpu(struct trace_buffer *a, struct trace_buffer *b, int cpu)
{
	return swap_ring(cpu, false);
}
int ring_buffer_swap_empty_cpu(struct trace_buffer *a, struct trace_buffer *b, int cpu)
{
	return swap_ring(cpu, true);
}
static int off; /* how often recording was switched off as a whole */
void ring_buffer_record_disable(struct trace_buffer *buffer)
{
	off++;
}
void ring_buffer_record_enable(struct trace_buffer *buffer)
{
	off--;
}
static struct trace_snapshot snapshots[2];
static bool held; /* a reader holds the newest */
struct trace_snapshot *trace_max_unheld(struct trace_max *max)
{
	if (held)
		swap(max->newest, max->spare);
	held = false;
	return max->newest;
}
struct trace_array global_trace;
void trace_array_changed(struct trace_array *tr, enum trace_change what)
{
}
void *kzalloc(size_t n, gfp_t gfp)
{
	return calloc(1, n);
}
void kfree(const void *p)
{
	free((void *)p);
}
void trace_max_free(struct trace_array *tr)
{
}
int trace_max_alloc(struct trace_array *tr)
{
	return 0;
}
void trace_max_reset(struct trace_array *tr)
{
}
bool trace_clock_measures(unsigned clock_id)
{
	return true;
}
int tracing_expand(struct trace_array *tr)
{
	return 0;
}
int tracing_start_cmdline_record_later(void)
{
	return 0;
}
void tracing_stop_cmdline_record_later(void)
{
}
static unsigned resets; /* of all CPUs */
void tracing_reset(struct trace_array *tr, int cpu)
{
	assert_int_equal(off, tr->max->active);
	resets += cpu == RING_BUFFER_ALL_CPUS;
}
void tracepoint_switch(void)
{
}
int set_tracer_flag(struct trace_array *tr, enum trace_option_bit opt, bool on)
{
	return 0;
}

/* ---- One array, and sections on its CPUs. */
static struct trace_array tr;
static struct ring_buffer_per_cpu rings[4];
static struct trace_array_cpu cpu_data[4];

/* No maximum, two objects to keep one in, and rings that nobody writes to. */
static int fresh(void **state)
{
	memset(&tr, 0, sizeof(tr));
	memset(rings, 0, sizeof(rings));
	memset(cpu_data, 0, sizeof(cpu_data));
	tr.cpu_data = cpu_data;
	memset(snapshots, 0, sizeof(snapshots));
	memset(swaps, 0, sizeof(swaps));
	memset(busy, 0, sizeof(busy));
	memset(empties, 0, sizeof(empties));
	held = false;
	tracing_thresh = 0;
	assert_int_equal(trace_max_init(&tr), 0);
	tr.max->newest = &snapshots[0];
	tr.max->spare = &snapshots[1];
	for (unsigned i = 0; i < 4; i++)
		tr.cpu_data[i].buffer = &rings[i];
	host_now = 1000000;
	host_task.cpu = 0;
	return 0;
}

static int gone(void **state)
{
	trace_max_exit(&tr);
	return 0;
}

static void begin_on(unsigned cpu)
{
	host_task.cpu = cpu;
	trace_max_begin(&tr);
}

/* A section of so many ns ends here; cpus: bits. */
static void end_on(unsigned cpu, u64 ns, unsigned long cpus)
{
	struct trace_section section = {.start = host_now, .end = host_now + ns, .task = &host_task};

	section.cpus.bits[0] = cpus;
	host_task.cpu = cpu;
	host_now += ns;
	trace_max_take(&tr, &section);
	assert_int_equal(tr.max->lock.locked, 0);
}

/* On CPU 0. True: it became the maximum. */
static bool takes(u64 ns)
{
	unsigned before = swaps[0];
	u64 latency = tr.max->latency;

	begin_on(0);
	end_on(0, ns, 1);
	assert_int_equal(tr.max->latency, swaps[0] > before ? ns : latency);
	return swaps[0] > before;
}

/*
 * A section becomes the maximum only if it is longer than the last, or than what was written to tracing_max_latency;
 * one that is as long does not.
 */
static void test_longer_than_all_before(void **state)
{
	s64 start;

	assert_true(takes(500));
	assert_int_equal(snapshots[0].latency, 500);
	start = snapshots[0].time_start;
	assert_false(takes(500)); /* as long: the first stays */
	assert_false(takes(499));
	assert_int_equal(snapshots[0].time_start, start);
	assert_true(takes(501));
	assert_true(snapshots[0].time_start != start);
	trace_max_set_latency(&tr, 10000);
	assert_false(takes(10000));
	assert_true(takes(10001));
	trace_max_set_latency(&tr, 0);
	assert_false(takes(0));
	assert_true(takes(1));
}

/* With a threshold it is every section that is as long, whatever came before. */
static void test_threshold(void **state)
{
	tracing_thresh = 700;
	assert_false(takes(699));
	assert_true(takes(700));
	assert_true(takes(900));
	assert_true(takes(700));
	assert_int_equal(tr.max->latency, 700);
	tracing_thresh = 0;
	assert_false(takes(700));
}

/*
 * Everything that the head of the trace shows of a section: its times, its CPU, its task, and where it began and
 * ended.
 */
static void test_what_is_noted(void **state)
{
	struct trace_section section = {
		.start = 5000, .end = 5800, .first = 4900, .critical_start = 1, .critical_end = 2, .task = &host_task};

	begin_on(2);
	section.cpus.bits[0] = 4;
	host_now = 6000;
	trace_max_take(&tr, &section);
	assert_int_equal(snapshots[0].latency, 800);
	assert_int_equal(snapshots[0].time_start, 4900);
	assert_int_equal(snapshots[0].time_zero, 4900);
	assert_int_equal(snapshots[0].time_end, 6000);
	assert_int_equal(snapshots[0].cpu, 2);
	assert_int_equal(snapshots[0].pid, 42);
	assert_string_equal(snapshots[0].comm, "test");
	assert_true(snapshots[0].critical_start == 1 && snapshots[0].critical_end == 2);
	assert_int_equal(tr.cpu_data[2].max_exchanges, 1);
}

/* A section that recording was off for, or that began before something was forgotten, is no maximum. */
static void test_only_whole_sections(void **state)
{
	begin_on(1);
	begin_on(0);
	trace_max_break(&tr);
	end_on(0, 500, 1);
	assert_int_equal(swaps[0], 0);
	begin_on(0);
	end_on(0, 500, 3); /* on CPU 1 it began before the break */
	assert_int_equal(swaps[0], 0);
	begin_on(1);
	begin_on(0);
	end_on(0, 500, 3);
	assert_int_equal(swaps[0], 1);
	tr.max->active = true;
	begin_on(0);
	trace_max_pause(&tr);
	assert_int_equal(off, 1);
	trace_max_resume(&tr);
	assert_int_equal(off, 0);
	end_on(0, 600, 1);
	assert_int_equal(swaps[0], 1);
	assert_int_equal(tr.max->latency, 500);
	/* The records of a module's event go with it, and the section's first ones with them. */
	begin_on(0);
	trace_max_reset_live(&tr);
	assert_int_equal(resets, 1);
	assert_int_equal(off, 0);
	end_on(0, 600, 1);
	assert_int_equal(swaps[0], 1);
	assert_true(takes(501));
	tr.max->active = false;
	trace_max_reset_live(&tr);
	assert_int_equal(resets, 2);
}

/*
 * A tracer begins with no maximum, and what a CPU noted under the tracer before is not part of a section. After its end
 * recording is interrupted for nobody, and snapshots are free again.
 */
static void test_start_and_stop(void **state)
{
	begin_on(1);
	begin_on(0);
	end_on(0, 500, 3);
	assert_int_equal(tr.max->latency, 500);
	begin_on(1);
	assert_int_equal(trace_max_start(&tr), 0);
	assert_true(tr.max->active);
	assert_int_equal(tr.max->latency, 0);
	begin_on(0);
	end_on(0, 700, 3);
	if (tr.max->latency)
		fail_msg("CPU 1 wrote nothing since the start, but a section that it is part of became the maximum");
	assert_true(takes(300));
	trace_max_stop(&tr);
	assert_false(tr.max->active);
	trace_max_pause(&tr);
	assert_int_equal(off, 0);
}

/* The parts of other CPUs wait until these write again, each once; a newer maximum makes the older parts
 * void. */
static void test_pending_parts(void **state)
{
	for (unsigned cpu = 0; cpu < 3; cpu++)
		begin_on(cpu);
	end_on(0, 500, 7);
	assert_int_equal(tr.max->pending.bits[0], 6);
	begin_on(2);
	begin_on(2);
	assert_int_equal(swaps[2], 1);
	assert_int_equal(tr.max->pending.bits[0], 2);
	end_on(2, 600, 4);
	assert_int_equal(tr.max->pending.bits[0], 0);
	begin_on(1);
	assert_int_equal(swaps[1], 0);
	assert_int_equal(swaps[2], 2);
	/* A ring that is being written: its part waits as well. */
	busy[1] = true;
	begin_on(1);
	end_on(1, 700, 2);
	assert_int_equal(tr.max->latency, 700);
	assert_int_equal(tr.max->pending.bits[0], 2);
	assert_int_equal(swaps[1], 0);
	busy[1] = false;
	begin_on(1);
	assert_int_equal(swaps[1], 1);
	assert_false(empties[1]);
	assert_int_equal(tr.cpu_data[1].max_exchanges, 1);
}

/* A reader keeps what it shows: the next maximum goes to the spare one. Nothing allocated: nothing is taken.
 */
static void test_held_and_missing(void **state)
{
	assert_true(takes(500));
	held = true;
	assert_true(takes(600));
	assert_int_equal(snapshots[0].latency, 500);
	assert_int_equal(snapshots[1].latency, 600);
	tr.max->newest = NULL;
	assert_false(takes(700));
	assert_int_equal(tr.max->latency, 600);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_longer_than_all_before), TEST(test_threshold),     TEST(test_what_is_noted),
		TEST(test_only_whole_sections),	   TEST(test_pending_parts), TEST(test_held_and_missing),
		TEST(test_start_and_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

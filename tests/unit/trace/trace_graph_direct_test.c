/*
 * function_graph's direct way: a call and its return, while a writer that nested inside a record leaves its commit to
 * that record, or while the page has no room. A traced function is a pair of calls of the test, which do what the
 * assembly does at its entry and return.
 */
/* sources: */
/* include: tests/unit/include-trace -Itests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/kstrto.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../trace/tracers/graph/direct.c"

/* ---- What it stands on */
struct trace_array global_trace;
struct graph_filter graph_functions, graph_notrace;
u32 max_graph_depth;
struct tracer_flags graph_flags;
struct ring_buffer_per_cpu *graph_buffer;
bool graph_limited;
u64 fgraph_profiled_key;

void preempt_schedule_notrace(void)
{
}
void __warn(const char *file, int line, const char *cond)
{
	fail_msg("%s:%d: %s", file, line, cond);
}
/* No functions to begin or to stop at have been named. */
bool ip_hash_has(const struct ip_hash *hash, unsigned long ip)
{
	fail_msg("a set that is not there is looked at");
	return false;
}
static unsigned profiled_enters, profiled_leaves;
static void profile_enter(struct fgraph_stack *stack, struct fgraph_frame *frame)
{
	profiled_enters++;
}
static void profile_leave(struct fgraph_stack *stack, const struct fgraph_frame *frame, u64 now)
{
	profiled_leaves++;
}
struct graph_profiler graph_profiler = {profile_enter, profile_leave};

/* The general way, to which nothing goes here that the direct way can do. */
static unsigned general_enters, general_returns;
void fgraph_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	general_enters++;
}
void fgraph_return(struct fgraph_ret_regs *regs)
{
	general_returns++;
}

/* A ring of one page. */
static u8 data[4096];
static struct buffer_page page;
static struct ring_buffer_per_cpu ring;
static unsigned commits;
void rb_commit_again(struct ring_buffer_per_cpu *buffer)
{
	assert_ptr_equal(buffer, &ring);
	assert_int_equal(ring.committing, 0);
	assert_true(host_irqs_off);
	ring.uncommitted = 0;
	commits++;
}
/* No room: the record is lost. */
static unsigned refused;
struct ring_buffer_event *rb_reserve_slow(struct ring_buffer_per_cpu *buffer, unsigned long length, u64 ts)
{
	buffer->committing--;
	refused++;
	return NULL;
}
void rb_leave(struct ring_buffer_per_cpu *buffer)
{
	fail_msg("a record is given up");
}
void rb_commit_slow(struct ring_buffer_per_cpu *buffer)
{
	fail_msg("a record that was claimed is committed by the general way");
}

static struct fgraph_stack stack;

/*
 * An empty ring whose clock stands at 1000, and a task with an empty shadow stack. function_graph and the profiler are
 * the users of returns: the one key stands for both, so each of the three ways finds what it needs.
 */
static int fresh(void **state)
{
	host_now = 1000;
	host_irqs_off = 0;
	page = (struct buffer_page){.base = 1000, .origin = data};
	ring = (struct ring_buffer_per_cpu){.ring = {.tail_page = &page, .commit_page = &page}};
	graph_buffer = &ring;
	memset(&stack, 0, sizeof(stack));
	stack.top = stack.frames;
	stack.direct[FGRAPH_TRACER].key = 1ULL << FGRAPH_TRACER | 1ULL << FGRAPH_EPOCH_SHIFT;
	stack.direct[FGRAPH_TRACER].room = &stack.frames[FTRACE_RETFUNC_DEPTH];
	fgraph_profiled_key = stack.direct[FGRAPH_TRACER].key;
	host_task.ret_stack = &stack;
	host_task.preempt_count = 0;
	commits = refused = general_enters = general_returns = profiled_enters = profiled_leaves = 0;
	return 0;
}

/* ---- Calls */

/* The functions that ftrace_caller and return_to_handler call, in the three ways. */
static const struct way {
	ftrace_func_t enter;
	void (*leave)(struct fgraph_ret_regs *regs);
} ways[] = {
	{graph_direct_enter, graph_direct_return},
	{graph_limited_enter, graph_direct_return},
	{graph_profiled_enter, graph_profiled_return},
};

/* Function 0x100 * n is called from 0x100 * n + 1, and returns there. `nested`: a writer came in between. */
static void enter(const struct way *way, unsigned n, bool nested)
{
	struct ftrace_regs fregs = {.parent = 0x100 * n + 1, .mark = n};

	ring.uncommitted = nested;
	way->enter(0x100 * n, 0x100 * n + 1, NULL, &fregs);
	assert_int_equal(fregs.parent, RETURN_TO_HANDLER_ADDR);
}
static void leave(const struct way *way, unsigned n, bool nested)
{
	struct fgraph_ret_regs regs = {.mark = n};

	ring.uncommitted = nested;
	way->leave(&regs);
	assert_int_equal(regs.ret, 0x100 * n + 1);
}

static unsigned records(void)
{
	return (page.commit >> RB_EVENT_SHIFT) & RB_EVENT_MASK;
}

/*
 * A call and another inside of it. `nested`: each of their records has a writer nested in it, and that writer's commit
 * is left to it. It is done once, after the record, and neither the call nor the return is handled a second time.
 */
static void two_calls(unsigned i, bool off, bool nested)
{
	const struct way *way = &ways[i];

	host_irqs_off = off;
	for (unsigned n = 1; n <= 2; n++) {
		enter(way, n, nested);
		assert_int_equal(commits, nested ? n : 0);
		assert_int_equal(host_irqs_off, off);
		assert_ptr_equal(stack.top, &stack.frames[n]);
	}
	for (unsigned n = 2; n >= 1; n--) {
		leave(way, n, nested);
		if (general_returns)
			fail_msg("way %u, interrupts %s: return %u was recorded and then handed to the general way", i,
				 off ? "off" : "on", n);
		assert_int_equal(commits, nested ? 5 - n : 0);
		assert_int_equal(host_irqs_off, off);
		assert_ptr_equal(stack.top, &stack.frames[n - 1]);
		assert_int_equal(stack.user[FGRAPH_TRACER].depth, n - 1);
	}
	assert_int_equal(records(), 4);
	assert_int_equal(general_enters, 0);
	assert_int_equal(profiled_enters, way->enter == graph_profiled_enter ? 2 : 0);
	assert_int_equal(profiled_leaves, profiled_enters);
}

static void test_commits_of_nested_writers(void **state)
{
	for (unsigned n = 0; n < 4 * ARRAY_SIZE(ways); n++) {
		fresh(state);
		two_calls(n / 4, n & 1, n & 2);
	}
}

/* The record of a return finds no room: it is lost, and the return goes where it must, once. */
static void test_no_room_for_the_return(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(ways); i++) {
		fresh(state);
		enter(&ways[i], 1, false);
		enter(&ways[i], 2, false);
		page.state |= RB_FULL;
		for (unsigned n = 2; n >= 1; n--) {
			leave(&ways[i], n, false);
			if (general_returns)
				fail_msg("way %u: return %u found no room and was handed to the general way", i, n);
			assert_int_equal(refused, 3 - n);
			assert_int_equal(host_irqs_off, 0);
			assert_ptr_equal(stack.top, &stack.frames[n - 1]);
		}
		assert_int_equal(commits, 0);
		assert_int_equal(ring.committing, 0);
		assert_int_equal(records(), 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_commits_of_nested_writers, fresh),
		cmocka_unit_test_setup(test_no_room_for_the_return, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Hooked returns: which calls and depths each user learns of, where each call returns to, and what happens to the
 * shadow stacks of tasks; and the function profiler, which counts on top of them. A traced function is a pair of calls
 * of the test, enter() and leave(), which do what the assembly does at its entry and return; leave() checks that it
 * goes where it would have gone untraced.
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
#include "../../../trace/ftrace/fgraph.c"
#include "../../../trace/ftrace/fgraph_users.c"
#include "../../../trace/tracers/stat/profile.c"

/* ---- What it stands on */
struct mutex ftrace_lock, trace_types_lock;
struct trace_array global_trace;
struct dyn_ftrace *ftrace_recs;
unsigned ftrace_nr_recs, ftrace_recs_end;
unsigned long *ftrace_present_map;

#define SITES 64
#define IP(i) (0x10000UL + 32 * (i))
static struct dyn_ftrace recs[SITES];
static unsigned long present[SITES / 64] = {~0UL};
long ftrace_rec_of(unsigned long ip)
{
	return (ip - IP(0)) / 32;
}

/* Sites follow at once. */
int register_ftrace_function(struct ftrace_ops *ops)
{
	ops->flags |= FTRACE_OPS_FL_ENABLED;
	fgraph_choose();
	return 0;
}
int unregister_ftrace_function(struct ftrace_ops *ops)
{
	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	fgraph_choose();
	return 0;
}
void synchronize_rcu(void)
{
}
void preempt_schedule_notrace(void)
{
}
static bool graph_time;
bool trace_graph_time(void)
{
	return graph_time;
}
static bool sleep_is_counted;
int trace_graph_profiled(const struct graph_profiler *profiler)
{
	sleep_is_counted = profiler;
	return 0;
}
/* The kind of its files, which nobody opens: what they show is called. */
const struct text_kind tracefs_text;
void __warn(const char *file, int line, const char *cond)
{
	fail_msg("%s:%d: %s", file, line, cond);
}

static long allocated;
void *kzalloc(size_t n, gfp_t gfp)
{
	allocated++;
	return calloc(1, n);
}
void *kvzalloc(size_t n, gfp_t gfp)
{
	return calloc(1, n);
}
void kvfree(const void *p)
{
	free((void *)p);
}
void kfree(const void *p)
{
	allocated -= p != NULL;
	free((void *)p);
}

/* ---- Tasks: the one that runs and others, more than stacks are handed out to at once. */
#define OTHERS 100
spinlock_t tasklist_lock;
LIST_HEAD(init_tasks);
#define CPUS 40
static struct task_struct others[OTHERS], idle[CPUS];
struct task_struct *idle_task(int cpu)
{
	return &idle[cpu];
}

static void add_task(struct task_struct *task)
{
	INIT_LIST_HEAD(&task->thread_group);
	list_add_tail(&task->tasks, &init_tasks);
}

/*
 * One CPU, a task that runs and 100 others, a table of 64 functions, and nobody who traces. Half of the others are
 * threads of one process.
 */
static int fresh(void **state)
{
	nr_cpu_ids = 1;
	host_now = 1000;
	host_task.preempt_count = 0;
	INIT_LIST_HEAD(&init_tasks);
	memset(others, 0, sizeof(others));
	add_task(&host_task);
	for (unsigned i = 0; i <= OTHERS / 2; i++)
		add_task(&others[i]);
	for (unsigned i = OTHERS / 2 + 1; i < OTHERS; i++)
		list_add_tail(&others[i].thread_group, &others[OTHERS / 2].thread_group);
	ftrace_recs = recs;
	ftrace_nr_recs = ftrace_recs_end = SITES;
	ftrace_present_map = present;
	for (unsigned i = 0; i < SITES; i++)
		recs[i].ip = IP(i);
	return 0;
}

/* More CPUs than stacks are handed out to at once. */
static int fresh_with_many_cpus(void **state)
{
	fresh(state);
	nr_cpu_ids = CPUS;
	return 0;
}

/* ---- Calls */

/* A call in progress: the word with its return address, as the machine keeps it. */
struct call {
	struct ftrace_regs fregs;
	unsigned long ret;
};

/* Function `site` is called, from a place of its own, with its return address at `mark`. Is its return hooked? */
static bool enter_at(struct call *call, unsigned site, unsigned long mark)
{
	static unsigned long places;

	call->ret = IP(SITES) + 8 * ++places;
	call->fregs = (struct ftrace_regs){.parent = call->ret, .mark = mark};
	fgraph_enter_func(IP(site), call->ret, NULL, &call->fregs);
	return call->fregs.parent == RETURN_TO_HANDLER_ADDR;
}
static bool enter(struct call *call, unsigned site)
{
	static unsigned long marks = 0x100;

	return enter_at(call, site, ++marks);
}

/* It returns, and goes where it would have gone untraced. So many calls have been looked for. */
static void leave_by_search(struct call *call, unsigned searches)
{
	struct fgraph_ret_regs regs = {.mark = call->fregs.mark};
	u64 before = fgraph_mismatches;

	fgraph_return_func(&regs);
	assert_int_equal(regs.ret, call->ret);
	assert_int_equal(fgraph_mismatches, before + searches);
}
static void leave(struct call *call)
{
	leave_by_search(call, 0);
}

/* A user that writes down what it is told: "3>0" is the entry of function 3 at depth 0, "3<0" its return. */
struct writer {
	struct fgraph_ops gops;
	struct ftrace_ops ops;
	char text[256];
};
static void write_down(struct fgraph_ops *gops, const struct fgraph_call *call, char what)
{
	struct writer *w = container_of(gops, struct writer, gops);

	sprintf(w->text + strlen(w->text), "%s%ld%c%u", w->text[0] ? " " : "", ftrace_rec_of(call->ip), what,
		call->depth);
}
static bool write_entry(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	write_down(gops, call, '>');
	return true;
}
static void write_return(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	write_down(gops, call, '<');
}
static void begin(struct writer *w, unsigned bit)
{
	*w = (struct writer){.gops = {.entryfunc = write_entry, .retfunc = write_return, .bit = bit}};
	w->gops.ops = &w->ops;
	assert_int_equal(register_ftrace_graph(&w->gops), 0);
}
static void wrote(struct writer *w, const char *text)
{
	assert_string_equal(w->text, text);
	w->text[0] = '\0';
}

/* Nobody traces, no task has a stack. */
static void all_given_back(void)
{
	if (allocated)
		fail_msg("%ld shadow stacks were not given back", allocated);
	assert_null(host_task.ret_stack);
	for (unsigned i = 0; i < OTHERS; i++)
		assert_null(others[i].ret_stack);
}

/* ---- Tests */

/*
 * Two users, one of which comes in the middle of a call: each learns of the calls since it came, with depths of its
 * own.
 */
static void test_depths(void **state)
{
	struct writer a, b;
	struct call outer, inner, second;

	begin(&a, FGRAPH_TRACER);
	assert_true(enter(&outer, 1));
	begin(&b, FGRAPH_ANY);
	assert_true(enter(&inner, 2));
	leave(&inner);
	assert_true(enter(&second, 3));
	leave(&second);
	leave(&outer);
	wrote(&a, "1>0 2>1 2<1 3>1 3<1 1<0");
	wrote(&b, "2>0 2<0 3>0 3<0");
	assert_int_equal(unregister_ftrace_graph(&a.gops), 0);
	assert_int_equal(unregister_ftrace_graph(&b.gops), 0);
	all_given_back();
}

/* A function that returns while its own context is in a tracer: nobody is told, and it counts no longer. */
static void test_return_inside_tracer(void **state)
{
	struct call outer, inner;
	struct writer a;

	begin(&a, FGRAPH_ANY);
	assert_true(enter(&outer, 1));
	assert_true(enter(&inner, 2));
	host_task.preempt_count = RECURSION_TASK;
	leave(&inner);
	assert_int_equal(host_task.preempt_count, RECURSION_TASK);
	host_task.preempt_count = 0;
	assert_true(enter(&inner, 3));
	leave(&inner);
	leave(&outer);
	wrote(&a, "1>0 2>1 3>1 3<1 1<0");
	assert_int_equal(host_task.ret_stack->user[a.gops.bit].depth, 0);
	assert_int_equal(unregister_ftrace_graph(&a.gops), 0);
	all_given_back();
}

/*
 * An interrupt comes while its task is in a tracer. Its calls are another context's: users are told of the entry, and
 * of the return likewise.
 */
static void test_interrupt_inside_tracer(void **state)
{
	struct writer a;
	struct call call;

	begin(&a, FGRAPH_ANY);
	host_task.preempt_count = RECURSION_TASK | HARDIRQ_OFFSET;
	assert_true(enter(&call, 1));
	leave(&call);
	wrote(&a, "1>0 1<0");
	host_task.preempt_count = RECURSION_TASK;
	assert_false(enter(&call, 2));
	host_task.preempt_count = 0;
	assert_int_equal(unregister_ftrace_graph(&a.gops), 0);
	all_given_back();
}

static bool write_no_return(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	return false;
}

/*
 * The direct way knows its frames by their keys. While a second user is there, frames are made by the general way. They
 * must not look like the direct way's when that user is gone and wanted none of them.
 */
static void test_key_after_another(void **state)
{
	struct writer a = {.gops = {.entryfunc = write_entry, .retfunc = write_return, .bit = FGRAPH_TRACER}}, b;
	struct call call;
	u64 alone, both, again;

	a.gops.ops = &a.ops;
	a.gops.direct_enter = fgraph_enter;
	a.gops.direct_return = fgraph_return;
	assert_int_equal(register_ftrace_graph(&a.gops), 0);
	alone = a.gops.direct_key;
	assert_true(alone);
	begin(&b, FGRAPH_ANY);
	b.gops.entryfunc = write_no_return;
	assert_int_equal(a.gops.direct_key, 0);
	assert_true(enter(&call, 1));
	both = host_task.ret_stack->top[-1].key;
	assert_int_equal(unregister_ftrace_graph(&b.gops), 0);
	again = a.gops.direct_key;
	leave(&call);
	assert_int_equal(unregister_ftrace_graph(&a.gops), 0);
	wrote(&a, "1>0 1<0");
	all_given_back();
	assert_true(again && again != alone);
	if (again == both)
		fail_msg("a frame of the general way has the key of the direct one, %llx", (unsigned long long)both);
}

/* A return that skips a call, which cannot happen: the call that was skipped is given up, for its users too.
 */
static void test_skipped_return(void **state)
{
	struct call outer, inner;
	struct writer a;

	begin(&a, FGRAPH_ANY);
	assert_true(enter(&outer, 1));
	assert_true(enter(&inner, 2));
	leave_by_search(&outer, 1);
	assert_true(enter(&inner, 3));
	leave(&inner);
	wrote(&a, "1>0 2>1 1<0 3>0 3<0");
	assert_int_equal(unregister_ftrace_graph(&a.gops), 0);
	all_given_back();
}

/*
 * The return addresses of calls at different depths may lie at the same place, one after the other: what a deeper call
 * has left behind on the shadow stack is not taken for the call that is in progress now.
 */
static void test_a_mark_that_comes_again(void **state)
{
	struct call outer, inner;
	struct writer a;

	begin(&a, FGRAPH_ANY);
	assert_true(enter_at(&outer, 1, 20));
	assert_true(enter_at(&inner, 2, 10));
	leave(&inner);
	leave(&outer);
	assert_true(enter_at(&inner, 3, 10));
	leave(&inner);
	wrote(&a, "1>0 2>1 2<1 1<0 3>0 3<0");
	assert_int_equal(unregister_ftrace_graph(&a.gops), 0);
	all_given_back();
}

/* The bit of a user that is gone is another's: of calls from before that one is not told, and does not count
 * them. */
static void test_bit_of_another(void **state)
{
	struct call outer, inner;
	struct writer a, b;
	unsigned bit;

	begin(&a, FGRAPH_ANY);
	bit = a.gops.bit;
	assert_true(enter(&outer, 1));
	assert_true(enter(&inner, 2));
	assert_int_equal(unregister_ftrace_graph(&a.gops), 0);
	begin(&b, FGRAPH_ANY);
	assert_int_equal(b.gops.bit, bit);
	host_task.preempt_count = RECURSION_TASK;
	leave(&inner);
	host_task.preempt_count = 0;
	assert_true(enter(&inner, 3));
	leave(&inner);
	leave(&outer);
	wrote(&a, "1>0 2>1");
	wrote(&b, "3>0 3<0");
	assert_int_equal(unregister_ftrace_graph(&b.gops), 0);
	all_given_back();
}

/* Each task has a stack while anybody traces, those with frames longer. */
static void test_stacks(void **state)
{
	long tasks = 1 + OTHERS + nr_cpu_ids; /* with the one that runs and the idle ones */
	struct task_struct new = {};
	struct writer a;
	struct call call;

	fgraph_init_task(&new);
	assert_null(new.ret_stack);
	begin(&a, FGRAPH_TRACER);
	for (unsigned i = 0; i < OTHERS; i++)
		assert_non_null(others[i].ret_stack);
	for (unsigned cpu = 0; cpu < nr_cpu_ids; cpu++)
		assert_non_null(idle[cpu].ret_stack);
	assert_int_equal(allocated, tasks);
	fgraph_init_task(&new);
	assert_non_null(new.ret_stack);
	fgraph_free_task(&new);
	assert_null(new.ret_stack);
	if (allocated != tasks)
		fail_msg("a task is gone and its shadow stack is not: %ld for %ld tasks", allocated, tasks);
	assert_true(enter(&call, 1));
	assert_int_equal(unregister_ftrace_graph(&a.gops), 0);
	assert_int_equal(allocated, 1);
	leave(&call);
	begin(&a, FGRAPH_TRACER);
	assert_int_equal(unregister_ftrace_graph(&a.gops), 0);
	all_given_back();
}

/* ---- The profiler */

static const struct profile_count *counted(unsigned site)
{
	static struct profile_count count;

	assert_true(profile_read(0, site, &count));
	return &count;
}

/* Function `site` runs for so many ns. */
static void run(unsigned site, unsigned ns)
{
	struct call call;

	assert_true(enter(&call, site));
	host_now += ns;
	leave(&call);
}

/* Function 1 calls 2 and 3 and takes 5 ns itself; 3 calls 4. The time of each is with or without those that
 * it calls. */
static void calls_within_calls(void)
{
	struct call outer, middle;

	assert_true(enter(&outer, 1));
	host_now += 3;
	run(2, 10);
	assert_true(enter(&middle, 3));
	run(4, 400);
	host_now += 50;
	leave(&middle);
	host_now += 2;
	leave(&outer);
}

static void profile(bool on)
{
	mutex_lock(&trace_types_lock);
	assert_int_equal(profile_set(on), 0);
	mutex_unlock(&trace_types_lock);
}

/*
 * Calls inside of calls, with and without the time of those inside, by the general and by the direct way: each
 * function's time must be exact, in nanoseconds.
 */
static void test_profile_times(void **state)
{
	static const u64 times[2][5] = {{0, 5, 10, 50, 400}, {0, 465, 10, 450, 400}};

	for (unsigned with = 0; with < 2; with++) {
		graph_time = with;
		profile(true);
		/* The first call goes the general way, the others the direct one. */
		for (unsigned times_called = 1; times_called < 4; times_called++) {
			calls_within_calls();
			for (unsigned site = 1; site < 5; site++) {
				assert_int_equal(counted(site)->hits, times_called);
				assert_int_equal(counted(site)->returns, times_called);
				if (counted(site)->time != times[with][site] * times_called)
					fail_msg("function %u took %llu ns in %u calls, not %llu each", site,
						 (unsigned long long)counted(site)->time, times_called,
						 (unsigned long long)times[with][site]);
			}
		}
		profile(false);
	}
	all_given_back();
}

/* A call that goes in by the direct way and returns by the general one is counted as well. */
static void test_profile_both_ways(void **state)
{
	struct call call;

	profile(true);
	run(1, 1);
	assert_true(profile_fgraph.direct_key);
	assert_true(enter(&call, 1));
	host_now += 10;
	host_task.preempt_count = 16; /* that is not usual */
	leave(&call);
	host_task.preempt_count = 0;
	assert_int_equal(counted(1)->hits, 2);
	if (counted(1)->returns != 2)
		fail_msg("a return by the general way was not counted: key %llx of bit %u",
			 (unsigned long long)profile_fgraph.direct_key, profile_fgraph.bit);
	assert_int_equal(counted(1)->time, 11);
	profile(false);
	all_given_back();
}

/* What an NMI calls while somebody counts is told as missed, and not counted. */
static void test_profile_missed(void **state)
{
	struct call call;

	profile(true);
	run(1, 1);
	profile_cpu.seq++;
	host_task.preempt_count = NMI_OFFSET;
	assert_false(enter(&call, 2));
	host_task.preempt_count = 0;
	profile_cpu.seq++;
	assert_int_equal(counted(2)->hits, 0);
	host_text_used = 0;
	missed_show(NULL, NULL);
	assert_string_equal(host_text, "cpu0 missed: 1\n");
	profile(false);
	profile(true);
	host_text_used = 0;
	missed_show(NULL, NULL);
	assert_string_equal(host_text, "cpu0 missed: 0\n");
	assert_int_equal(counted(1)->hits, 0);
	profile(false);
	all_given_back();
}

/* A profiler that cannot begin leaves nothing switched on. */
static void test_profile_refused(void **state)
{
	struct writer other;

	begin(&other, FGRAPH_PROFILER);
	mutex_lock(&trace_types_lock);
	assert_int_equal(profile_set(true), -EBUSY);
	assert_false(profile_enabled);
	mutex_unlock(&trace_types_lock);
	if (sleep_is_counted)
		fail_msg("function_graph still corrects sleep times for a profiler that did not begin");
	assert_int_equal(unregister_ftrace_graph(&other.gops), 0);
	profile(true);
	assert_true(sleep_is_counted);
	profile(false);
	assert_false(sleep_is_counted);
	all_given_back();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_depths, fresh),
		cmocka_unit_test_setup(test_return_inside_tracer, fresh),
		cmocka_unit_test_setup(test_interrupt_inside_tracer, fresh),
		cmocka_unit_test_setup(test_key_after_another, fresh),
		cmocka_unit_test_setup(test_skipped_return, fresh),
		cmocka_unit_test_setup(test_a_mark_that_comes_again, fresh),
		cmocka_unit_test_setup(test_bit_of_another, fresh),
		cmocka_unit_test_setup(test_stacks, fresh),
		cmocka_unit_test_setup(test_stacks, fresh_with_many_cpus),
		cmocka_unit_test_setup(test_profile_times, fresh),
		cmocka_unit_test_setup(test_profile_both_ways, fresh),
		cmocka_unit_test_setup(test_profile_missed, fresh),
		cmocka_unit_test_setup(test_profile_refused, fresh),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(profile_cpu.counts);
	free(profile_index);
	return failed;
}

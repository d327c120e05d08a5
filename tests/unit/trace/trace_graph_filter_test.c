/*
 * The functions that function_graph is limited to, while modules come and go: the set that the file shows, and the
 * hash of addresses that the tracer asks. Two modules have parts of one array as their text (trace_ftrace_host.h).
 */
/* sources: */
/* include: tests/unit/include-trace -Itests/unit/include-mm */
#include "trace_ftrace_host.h"

#include "../../../trace/tracers/graph/filter.c"

struct mutex trace_types_lock;
struct trace_array global_trace;
static unsigned updates; /* of the way that calls go */

void graph_update_fast(struct trace_array *tr)
{
	updates++;
}
void synchronize_rcu(void)
{
}
const struct text_kind tracefs_text;
static unsigned long address_of(const char *name)
{
	unsigned n = atoi(name + 1);

	return *name == 'm' ? (unsigned long)module_text + 32 * n : (unsigned long)_text + table[n];
}

/* The tracer finds exactly these functions, of all that are called f0... and m0... */
static void expect_found(const struct graph_filter *filter, const char *names)
{
	unsigned found = 0, expected = 0;
	char copy[100], *at = copy, *name;

	assert_non_null(filter->hash);
	for (unsigned i = 0; i < SITES; i++)
		found += ip_hash_has(filter->hash, (unsigned long)_text + table[i]);
	for (unsigned i = 0; i < MODULE_SITES; i++)
		found += ip_hash_has(filter->hash, (unsigned long)module_text + 32 * i);
	strcpy(copy, names);
	for (; (name = strtok(at, " ")); at = NULL) {
		expected++;
		if (!ip_hash_has(filter->hash, address_of(name)))
			fail_msg("%s is not found", name);
	}
	if (found != expected)
		fail_msg("%u functions are found, not only %s", found, names);
}

/* The filter becomes empty, as when its file is truncated. */
static void empty(struct graph_filter *filter)
{
	struct ftrace_set set = {};

	assert_int_equal(graph_filter_replace(filter, &set), 0);
	assert_null(filter->hash); /* no filter */
	ftrace_set_clear(&set);
}

static int end(void **state)
{
	empty(&graph_functions);
	empty(&graph_notrace);
	return gone(state);
}

/* Words add up; one that matches nothing, or comes when memory is out, changes nothing. */
static void test_words_add_up(void **state)
{
	updates = 0;
	assert_int_equal(graph_filter_add(&graph_functions, "f1"), 0);
	expect_found(&graph_functions, "f1");
	assert_int_equal(graph_filter_add(&graph_functions, "f5?"), 0);
	expect_found(&graph_functions, "f1 f50 f51 f52 f53 f54 f55 f56 f57 f58 f59");
	assert_int_equal(updates, 2);
	assert_int_equal(graph_filter_add(&graph_functions, "x*"), -EINVAL);
	no_memory = true;
	assert_int_equal(graph_filter_add(&graph_functions, "f2"), -ENOMEM);
	no_memory = false;
	expect_found(&graph_functions, "f1 f50 f51 f52 f53 f54 f55 f56 f57 f58 f59");
	assert_int_equal(updates, 2);
	assert_null(graph_notrace.hash);
}

/*
 * A module goes, and the filters have been told. Those of its functions that are in a filter stay until then; another
 * one does not join, as no one would take it out. A filter of nothing else waits, and is not "all functions".
 */
static void test_nothing_joins_while_its_module_goes(void **state)
{
	place(&demo, 10, 5, 0);
	assert_int_equal(site_notifier.coming(&demo), 0);
	demo.state = MODULE_STATE_LIVE;
	assert_int_equal(graph_filter_add(&graph_functions, "f1"), 0);
	assert_int_equal(graph_filter_add(&graph_functions, "m11"), 0);
	expect_found(&graph_functions, "f1 m11");
	demo.state = MODULE_STATE_GOING;
	assert_int_equal(graph_filter_add(&graph_functions, "m12"), 0);
	expect_found(&graph_functions, "f1 m11");
	assert_int_equal(graph_filter_add(&graph_notrace, "m13"), 0);
	expect_found(&graph_notrace, "");
	graph_notifier.going(&demo);
	expect_found(&graph_functions, "f1");
	expect_found(&graph_notrace, "");
	leave(&demo);
	demo.state = MODULE_STATE_COMING;
}

/* The functions of a module's init leave the filter when init has run; a filter that had nothing else waits. */
static void test_init_leaves(void **state)
{
	place(&demo, 10, 5, 3);
	assert_int_equal(site_notifier.coming(&demo), 0);
	demo.state = MODULE_STATE_COMING;
	assert_int_equal(graph_filter_add(&graph_functions, "m1?"), 0);
	assert_int_equal(graph_filter_add(&graph_notrace, "m16"), 0);
	expect_found(&graph_functions, "m10 m11 m12 m13 m14 m15 m16 m17");
	expect_found(&graph_notrace, "m16");
	demo.state = MODULE_STATE_LIVE;
	graph_notifier.live(&demo);
	site_notifier.live(&demo);
	expect_found(&graph_functions, "m10 m11 m12 m13 m14");
	expect_found(&graph_notrace, "");
	demo.state = MODULE_STATE_GOING;
	graph_notifier.going(&demo);
	expect_found(&graph_functions, "");
	leave(&demo);
	demo.state = MODULE_STATE_COMING;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_words_add_up, fresh, end),
		cmocka_unit_test_setup_teardown(test_nothing_joins_while_its_module_goes, fresh, end),
		cmocka_unit_test_setup_teardown(test_init_leaves, fresh, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

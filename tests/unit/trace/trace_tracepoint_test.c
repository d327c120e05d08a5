/*
 * Probes of tracepoints: which are called after each change, with memory and without; an array is freed when nobody
 * can be walking it any more; the key is on while there is a probe. call() walks the array as a tracepoint does;
 * begin_walk() notes the array that a caller on another CPU may still be walking, and kfree() fails if that is freed
 * before a grace period.
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
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../trace/ftrace/tracepoint.c"

/* ---- What it stands on */

/* Numbers of grace periods: a state is the one to wait for. */
static u64 grace_periods = 1;
void preempt_schedule(void)
{
}
static unsigned waits; /* those that were waited for in vain: nothing else had waited */
u64 get_state_synchronize_rcu(void)
{
	return grace_periods + 1;
}
void cond_synchronize_rcu(u64 state)
{
	waits += state > grace_periods;
	grace_periods = max(grace_periods, state);
}
static int switches;
void static_key_inc_later(struct static_key *key)
{
	key->enabled.counter++;
}
void static_key_dec_later(struct static_key *key)
{
	key->enabled.counter--;
}
void static_key_switch(void)
{
	switches++;
}

static bool no_memory;
void *kzalloc(size_t n, gfp_t gfp)
{
	return no_memory ? NULL : calloc(1, n);
}
/* A caller may have found this array until the grace period with that number is over. NULL: nobody looks. */
static struct tracepoint_func *seen;
static u64 seen_until;
void kfree(const void *p)
{
	if (p && seen && p == container_of(seen, struct probe_array, funcs[0]) && grace_periods < seen_until)
		fail_msg("an array of probes is freed while a caller may be walking it");
	free((void *)p);
}

/* ---- Probes, by letters */
static char called[16];
#define PROBE(name)                                         \
	static void name(void *data)                        \
	{                                                   \
		strcat(called, #name);                      \
		if (data)                                   \
			strcat(called, (const char *)data); \
	}
PROBE(a)
PROBE(b)
PROBE(c)

static struct tracepoint tp = {.name = "test"};
static struct tracepoint *const tp_ptr __attribute__((used, section("ptrs_tracepoints"))) = &tp;

/* Who is called, in order; and how many entries there are to walk. */
static const char *call(void)
{
	called[0] = '\0';
	for (struct tracepoint_func *f = tp.funcs; f && f->func; f++)
		((void (*)(void *))f->func)(f->data);
	return called;
}

/* A caller has just begun to walk what there is. */
static void begin_walk(void)
{
	seen = tp.funcs;
	seen_until = grace_periods + 1;
}

static int fresh(void **state)
{
	tp = (struct tracepoint){.name = "test"};
	no_memory = false;
	seen = NULL;
	waits = 0;
	return 0;
}

/* ---- Tests */

/*
 * A probe is a pair of function and data: the same function may be there twice with different data, and is removed by
 * the pair. They are called in the order in which they came, and the key is on from the first to the last.
 */
static void test_order_and_pairs(void **state)
{
	assert_int_equal(tracepoint_probe_register(&tp, a, NULL), 0);
	assert_int_equal(tp.key.enabled.counter, 1);
	assert_int_equal(tracepoint_probe_register(&tp, b, NULL), 0);
	assert_int_equal(tracepoint_probe_register(&tp, a, "1"), 0);
	assert_int_equal(tracepoint_probe_register(&tp, a, "1"), -EEXIST);
	assert_int_equal(tp.key.enabled.counter, 1);
	assert_string_equal(call(), "aba1");
	assert_int_equal(tracepoint_probe_unregister(&tp, a, "2"), -ENOENT);
	assert_int_equal(tracepoint_probe_unregister(&tp, a, "1"), 0);
	assert_string_equal(call(), "ab");
	assert_int_equal(tracepoint_probe_unregister(&tp, a, NULL), 0);
	assert_int_equal(tracepoint_probe_unregister(&tp, b, NULL), 0);
	assert_null(tp.funcs);
	assert_int_equal(tp.key.enabled.counter, 0);
}

/* Without memory a probe goes all the same, and the place that it leaves goes with the next change that has
 * some. */
static void test_no_memory(void **state)
{
	assert_int_equal(tracepoint_probe_register(&tp, a, NULL), 0);
	assert_int_equal(tracepoint_probe_register(&tp, b, NULL), 0);
	no_memory = true;
	assert_int_equal(tracepoint_probe_register(&tp, c, NULL), -ENOMEM);
	begin_walk();
	assert_int_equal(tracepoint_probe_unregister(&tp, a, NULL), 0);
	assert_true(grace_periods >= seen_until); /* a caller may have been in the probe */
	assert_string_equal(call(), "b");
	assert_int_equal(count_funcs(tp.funcs), 2);
	no_memory = false;
	seen = NULL;
	assert_int_equal(tracepoint_probe_register(&tp, c, NULL), 0);
	assert_string_equal(call(), "bc");
	assert_int_equal(count_funcs(tp.funcs), 2);
	/* The last ones leave one after the other without memory: with some, nothing is left. */
	no_memory = true;
	assert_int_equal(tracepoint_probe_unregister(&tp, b, NULL), 0);
	no_memory = false;
	assert_int_equal(tracepoint_probe_unregister(&tp, c, NULL), 0);
	assert_null(tp.funcs);
	assert_int_equal(tp.key.enabled.counter, 0);
}

/* An array that is replaced is freed after a grace period, one for all changes of a request. */
static void test_grace_periods(void **state)
{
	assert_int_equal(tracepoint_probe_register(&tp, a, NULL), 0);
	assert_int_equal(waits, 0); /* there was nothing to wait for */
	begin_walk();
	assert_int_equal(tracepoint_probe_register(&tp, b, NULL), 0);
	assert_int_equal(waits, 1);
	begin_walk();
	assert_int_equal(tracepoint_probe_unregister_later(&tp, a, NULL), 0);
	assert_int_equal(tracepoint_probe_register_later(&tp, c, NULL), 0);
	assert_int_equal(waits, 1);
	tracepoint_switch();
	assert_int_equal(waits, 2);
	begin_walk();
	assert_int_equal(tracepoint_probe_unregister(&tp, b, NULL), 0);
	assert_int_equal(waits, 3);
	begin_walk();
	assert_int_equal(tracepoint_probe_unregister(&tp, c, NULL), 0);
	assert_int_equal(waits, 4);
	seen = NULL;
	/* Nothing has changed since: nobody waits, but who asks for it. */
	tracepoint_switch();
	assert_int_equal(waits, 4);
	tracepoint_synchronize_unregister();
	assert_int_equal(waits, 5);
}

static void note_tracepoint(struct tracepoint *found, void *priv)
{
	assert_ptr_equal(found, &tp);
	++*(int *)priv;
}

static void test_each_tracepoint_of_the_kernel_is_visited_once(void **state)
{
	int n = 0;

	for_each_kernel_tracepoint(note_tracepoint, &n);
	assert_int_equal(n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_tracepoint_of_the_kernel_is_visited_once),
		cmocka_unit_test_setup(test_order_and_pairs, fresh),
		cmocka_unit_test_setup(test_no_memory, fresh),
		cmocka_unit_test_setup(test_grace_periods, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Call sites of modules: nops at first, then as the users want them; records, names and sets while modules come,
 * finish their init and go. Two modules have parts of one array as their text (trace_ftrace_host.h).
 */
/* sources: */
/* include: tests/unit/include-trace -Itests/unit/include-mm */
#include "trace_ftrace_host.h"

#include "../../../trace/ftrace/direct.c"

/* Sites of a module are nops before anything runs, then as the users that are there want them. */
static void test_a_modules_sites_follow_the_users(void **state)
{
	struct ftrace_ops all = user(0, NULL), some = user(FTRACE_OPS_FL_RECURSION, "f1*");

	assert_int_equal(register_ftrace_function(&all), 0);
	assert_int_equal(register_ftrace_function(&some), 0);
	place(&demo, 10, 5, 3);
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(ftrace_nr_sites, SITES + 8);
	for (unsigned i = 10; i < 18; i++)
		assert_int_equal(called[SITES + i], FTRACE_SINGLE_CALLER_ADDR(1)); /* all, which came first */
	assert_int_equal(called[SITES + 9], ~0UL);
	assert_int_equal(filter(&some, "m12", false), 0);
	assert_int_equal(called[SITES + 12], FTRACE_LIST_CALLER_ADDR);
	/* What only init needed is gone when it has run. */
	site_notifier.live(&demo);
	assert_int_equal(ftrace_nr_sites, SITES + 5);
	assert_int_equal(ftrace_rec_of(demo.sites[5]), -1);
	assert_true(ftrace_rec_of(demo.sites[4]) >= SITES);
	assert_int_equal(unregister_ftrace_function(&all), 0);
	assert_int_equal(called[SITES + 10], 0);
	leave(&demo);
	assert_int_equal(ftrace_nr_sites, SITES);
	assert_int_equal(some.filter.count, 112); /* f1, f10 to f19, f100 to f199, and the mark of what is lost */
	assert_int_equal(unregister_ftrace_function(&some), 0);
	ftrace_free_filter(&some);
}

/* Text of a module may run until it is freed, so sites without a record call nobody. A damaged one is left alone. */
static void test_sites_that_are_forgotten_are_nops(void **state)
{
	struct ftrace_ops all = user(0, NULL), more = user(FTRACE_OPS_FL_RECURSION, NULL);

	assert_int_equal(register_ftrace_function(&all), 0);
	assert_int_equal(register_ftrace_function(&more), 0);
	place(&demo, 10, 5, 3);
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(called[SITES + 10], FTRACE_LIST_CALLER_ADDR);
	called[SITES + 12] = 0xbad;
	site_notifier.live(&demo);
	for (unsigned i = 10; i < 18; i++)
		assert_int_equal(called[SITES + i], i >= 15 ? 0 : i == 12 ? 0xbad : FTRACE_LIST_CALLER_ADDR);
	leave(&demo);
	for (unsigned i = 10; i < 18; i++)
		assert_int_equal(called[SITES + i], i == 12 ? 0xbad : 0);
	assert_int_equal(unregister_ftrace_function(&all), 0);
	assert_int_equal(unregister_ftrace_function(&more), 0);
}

/* A module may have sites in its init alone. They are there until it has run. */
static void test_a_module_of_only_init(void **state)
{
	place(&demo, 10, 0, 3);
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(ftrace_nr_sites, SITES + 3);
	assert_int_equal(nr_runs, 1);
	assert_true(ftrace_rec_of(demo.sites[2]) >= SITES);
	site_notifier.live(&demo);
	assert_int_equal(ftrace_nr_sites, SITES);
	leave(&demo);
}

/* Each address of two modules leads to its own record, and those between and around them to none. */
static void test_modules_addresses_find_their_records(void **state)
{
	place(&demo, 40, 30, 0);
	place(&other, 5, 20, 0);
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(site_notifier.coming(&other), 0);
	mutex_lock(&ftrace_lock);
	for (unsigned i = 0; i < MODULE_SITES; i++) {
		unsigned long ip = (unsigned long)module_text + 32 * i;
		bool in_demo = i >= 40 && i < 70, in_other = i >= 5 && i < 25;
		long rec = ftrace_rec_of(ip);

		assert_int_equal(rec >= 0, in_demo || in_other);
		assert_int_equal(ftrace_rec_of(ip + 8), -1);
		assert_int_equal(ftrace_location(ip), rec >= 0 ? ip : 0);
		if (rec < 0)
			continue;
		assert_int_equal(ftrace_recs[rec].ip, ip);
		assert_string_equal(ftrace_rec_name(&ftrace_recs[rec]), module_symbol_name(ip, NULL));
		assert_string_equal(ftrace_rec_module(&ftrace_recs[rec]), in_demo ? "demo" : "other");
	}
	mutex_unlock(&ftrace_lock);
	leave(&demo);
	for (unsigned i = 5; i < 25; i++)
		assert_true(ftrace_rec_of((unsigned long)module_text + 32 * i) >= SITES);
	leave(&other);
	assert_int_equal(ftrace_nr_sites, SITES);
	assert_int_equal(nr_runs, 0);
}

/* Where the text of one module ends the next one's begins, and the address is the latter's, whichever came first. */
static void test_modules_side_by_side(void **state)
{
	for (unsigned order = 0; order < 2; order++) {
		place(&demo, 40, 30, 0);
		place(&other, 70, 20, 0);
		assert_int_equal(site_notifier.coming(order ? &demo : &other), 0);
		assert_int_equal(site_notifier.coming(order ? &other : &demo), 0);
		mutex_lock(&ftrace_lock);
		for (unsigned i = 38; i < 92; i++) {
			unsigned long ip = (unsigned long)module_text + 32 * i;
			long rec = ftrace_rec_of(ip);

			assert_int_equal(rec >= 0, i >= 40 && i < 90);
			if (rec >= 0)
				assert_string_equal(ftrace_rec_module(&ftrace_recs[rec]), i < 70 ? "demo" : "other");
		}
		mutex_unlock(&ftrace_lock);
		leave(&demo);
		leave(&other);
	}
}

static void demo_goes(void)
{
	preempted = NULL;
	leave(&demo);
}

/*
 * A module goes, so another one's run moves in the table, as soon as the task that looks up a site of the other can be
 * preempted: that is when it has read the table.
 */
static void test_no_module_goes_within_a_look_up(void **state)
{
	long rec;

	place(&demo, 40, 30, 0);
	place(&other, 5, 20, 0);
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(site_notifier.coming(&other), 0);
	rec = ftrace_rec_of(other.sites[7]);
	preempted = demo_goes;
	current->thread_flags |= _TIF_NEED_RESCHED;
	assert_int_equal(ftrace_rec_of(other.sites[7]), rec);
	current->thread_flags &= ~_TIF_NEED_RESCHED;
	assert_null(preempted); /* it was on in between */
	assert_int_equal(nr_runs, 1);
	assert_int_equal(ftrace_rec_of(other.sites[7]), rec);
	leave(&other);
}

/* A set that no registered user had while a module went does not hold the places that another module has now. */
static void test_a_set_forgets_what_is_gone(void **state)
{
	struct ftrace_ops ops = user(0, "f5");
	struct ftrace_set copy;

	place(&demo, 0, 10, 0);
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(filter(&ops, "m*", false), 0);
	assert_int_equal(ops.filter.count, 11);
	leave(&demo);
	place(&other, 20, 10, 0);
	assert_int_equal(site_notifier.coming(&other), 0);
	assert_int_equal(filter(&ops, "m25", false), 0);
	assert_int_equal(ops.filter.count, 3); /* f5, m25, and the mark of what is lost */
	/* A copy has what the set has, and nothing of it is older. */
	assert_int_equal(ftrace_set_copy(&copy, &ops.filter), 0);
	ftrace_set_refresh(&copy);
	assert_int_equal(copy.count, 3);
	assert_true(copy.bits[ftrace_rec_of(other.sites[5]) / 64] >> ftrace_rec_of(other.sites[5]) % 64 & 1);
	ftrace_set_clear(&copy);
	assert_int_equal(register_ftrace_function(&ops), 0);
	for (unsigned i = 20; i < 30; i++)
		assert_int_equal(called[SITES + i], i == 25 ? FTRACE_SINGLE_CALLER_ADDR(0) : 0);
	/* A registered one forgets at once. */
	leave(&other);
	assert_int_equal(ops.filter.count, 2); /* f5, and the mark */
	assert_int_equal(unregister_ftrace_function(&ops), 0);
	ftrace_free_filter(&ops);
}

/* GLOB:mod:MODULE and GLOB:mod:!MODULE. */
static void test_names_of_a_module(void **state)
{
	struct ftrace_set set = {};

	place(&demo, 0, 10, 0);
	place(&other, 10, 10, 0);
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(site_notifier.coming(&other), 0);
	mutex_lock(&ftrace_lock);
	assert_int_equal(ftrace_set_match_module(&set, "*", "demo", true), 0);
	assert_int_equal(set.count, 10);
	assert_int_equal(ftrace_set_match_module(&set, "m1*", "other", true), 0);
	assert_int_equal(set.count, 20);
	assert_int_equal(ftrace_set_match_module(&set, "m1", "demo", false), 0);
	assert_int_equal(set.count, 19);
	assert_int_equal(ftrace_set_match_module(&set, "x*", "demo", true), -EINVAL);
	assert_int_equal(ftrace_set_match_module(&set, "*", "third", true), -EINVAL);
	assert_int_equal(ftrace_set_match_module(&set, "*", "!demo", true), 0);
	assert_int_equal(set.count, SITES + 10 + 9);
	mutex_unlock(&ftrace_lock);
	leave(&demo);
	leave(&other);
	ftrace_set_refresh(&set);
	assert_int_equal(set.count, SITES + 1); /* and the mark of what is lost */
	ftrace_set_clear(&set);
}

/* A writer's own set, as a file holds it: modules stay while their names are compared (module_symbol_name). */
static void test_names_stay_while_they_are_compared(void **state)
{
	struct ftrace_set set = {};

	place(&demo, 0, 10, 0);
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(ftrace_set_match(&set, "m*", true), 0);
	assert_int_equal(set.count, 10);
	assert_int_equal(ftrace_set_match(&set, "m1", false), 0);
	assert_int_equal(ftrace_set_match_names(&set, "m1", false), -EINVAL);
	assert_int_equal(ftrace_set_match_names(&set, "m2", false), 0);
	assert_int_equal(ftrace_set_match_names(&set, "f*", true), 0);
	assert_int_equal(set.count, 8 + SITES);
	no_memory = true;
	ftrace_set_clear(&set);
	assert_int_equal(ftrace_set_match(&set, "m*", true), -ENOMEM);
	assert_int_equal(ftrace_set_match_names(&set, "m*", true), -ENOMEM);
	no_memory = false;
	assert_false(ftrace_lock.owner);
	leave(&demo);
}

/* There is room for so many sites and no more; what does not fit leaves nothing behind. */
static void test_no_room_for_a_module(void **state)
{
	unsigned long *sites = calloc(module_sites.room + 1, sizeof(*sites));

	place(&demo, 0, 10, 0);
	free(demo.sites);
	for (unsigned i = 0; i <= module_sites.room; i++)
		sites[i] = (unsigned long)module_text;
	demo.sites = sites;
	demo.nr_sites = module_sites.room + 1;
	assert_int_equal(site_notifier.coming(&demo), -ENOMEM);
	assert_int_equal(ftrace_nr_sites, SITES);
	assert_int_equal(nr_runs, 0);
	leave(&demo);
}

/* ftrace has given up while there are users: a module is loaded and runs, but is not traced. */
static void test_a_module_comes_when_ftrace_has_given_up(void **state)
{
	struct ftrace_ops all = user(0, NULL), some = user(0, "f3");

	assert_int_equal(register_ftrace_function(&all), 0);
	called[3] = 0xbad;
	assert_int_equal(register_ftrace_function(&some), -ENODEV);
	assert_true(ftrace_is_dead());
	place(&demo, 10, 5, 3);
	assert_int_equal(site_notifier.coming(&demo), 0);
	for (unsigned i = 10; i < 18; i++)
		assert_int_equal(called[SITES + i], 0);
	site_notifier.live(&demo);
	leave(&demo);
	assert_int_equal(ftrace_nr_sites, SITES);
	assert_int_equal(unregister_ftrace_function(&all), -ENODEV);
	ftrace_free_filter(&some);
}

/* Others may look at a trampoline's user as long as they are inside it. */
static struct ftrace_ops *entered;
static unsigned slept;
void msleep(unsigned ms)
{
	if (++slept == 3)
		atomic_dec(&entered->direct_running);
}

/* When ftrace has given up, the user of a trampoline still leaves, and waits for calls that are within it. */
static void test_a_trampoline_leaves_when_ftrace_has_given_up(void **state)
{
	struct ftrace_ops ops = {}, all = user(0, NULL);

	assert_int_equal(filter(&ops, "f7", true), 0);
	assert_int_equal(register_ftrace_direct(&ops, 0x1234), 0);
	called[3] = 0xbad;
	assert_int_equal(register_ftrace_function(&all), -ENODEV);
	assert_int_equal(unregister_ftrace_direct(&ops, 0x4321, true), -EINVAL);
	slept = 0;
	entered = &ops;
	atomic_set(&ops.direct_running, 1);
	assert_int_equal(unregister_ftrace_direct(&ops, 0x1234, true), -ENODEV);
	assert_int_equal(slept, 3);
	assert_null(ops.func);
	assert_null(ops.filter.bits);
	assert_int_equal(unregister_ftrace_direct(&ops, 0x1234, true), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_modules_sites_follow_the_users, fresh, gone),
		cmocka_unit_test_setup_teardown(test_sites_that_are_forgotten_are_nops, fresh, gone),
		cmocka_unit_test_setup_teardown(test_a_module_of_only_init, fresh, gone),
		cmocka_unit_test_setup_teardown(test_modules_addresses_find_their_records, fresh, gone),
		cmocka_unit_test_setup_teardown(test_modules_side_by_side, fresh, gone),
		cmocka_unit_test_setup_teardown(test_no_module_goes_within_a_look_up, fresh, gone),
		cmocka_unit_test_setup_teardown(test_a_set_forgets_what_is_gone, fresh, gone),
		cmocka_unit_test_setup_teardown(test_names_of_a_module, fresh, gone),
		cmocka_unit_test_setup_teardown(test_names_stay_while_they_are_compared, fresh, gone),
		cmocka_unit_test_setup_teardown(test_no_room_for_a_module, fresh, gone),
		cmocka_unit_test_setup_teardown(test_a_module_comes_when_ftrace_has_given_up, fresh, gone),
		cmocka_unit_test_setup_teardown(test_a_trampoline_leaves_when_ftrace_has_given_up, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

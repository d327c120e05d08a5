/*
 * Dynamic ftrace over a text that the test keeps: what each site calls after each change of users, held against a
 * model that asks each user for each site; users that are refused; a site that holds what nobody put there. Patching
 * is an array of what each site calls (trace_ftrace_host.h), which may be written only while the machine is "stopped".
 */
/* sources: */
/* include: tests/unit/include-trace -Itests/unit/include-mm */
#include "trace_ftrace_host.h"

/* Does it want site i? From the definition: names in the filter, if there are any, and not in the other set.
 */
static bool wants(const struct ftrace_ops *op, unsigned i)
{
	bool in = !op->filter.count || test_bit(i, op->filter.bits);

	return in && !(op->exclude.count && test_bit(i, op->exclude.bits));
}

/* What site i has to call. */
static unsigned long model(unsigned i)
{
	struct ftrace_ops *op, *straight = NULL, *only = NULL, *own[FTRACE_SINGLE_CALLERS] = {};
	unsigned users = 0, n = 0;
	bool regs = false;

	for_each_ftrace_op(op)
		if (op->flags & FTRACE_OPS_FL_CORE)
			straight = op; /* the first that came is the last of the list */
	for_each_ftrace_op(op) {
		if (op != straight && !(op->flags & FTRACE_OPS_FL_SAVE_REGS) && n < FTRACE_SINGLE_CALLERS)
			own[n++] = op;
		if (!wants(op, i))
			continue;
		users++;
		only = op;
		regs |= op->flags & FTRACE_OPS_FL_SAVE_REGS;
	}
	if (!users || !ftrace_enabled)
		return 0;
	if (users == 1 && (only->flags & FTRACE_OPS_FL_KPROBES))
		return FTRACE_KPROBE_CALLER_ADDR;
	if (regs)
		return FTRACE_REGS_CALLER_ADDR;
	if (users == 1 && only == straight)
		return FTRACE_ENTRY_CALLER_ADDR;
	for (n = 0; users == 1 && n < FTRACE_SINGLE_CALLERS; n++)
		if (own[n] == only)
			return FTRACE_SINGLE_CALLER_ADDR(n);
	return FTRACE_LIST_CALLER_ADDR;
}

/* All sites are as the model has them, and the maps say so; `ever`: those that were ever traced. */
static void check_sites(bool ever[SITES])
{
	for (unsigned i = 0; i < SITES; i++) {
		/* While no user traces returns, both callers of a straight user do the same. */
		unsigned long call = called[i] == FTRACE_CALLER_ADDR ? FTRACE_ENTRY_CALLER_ADDR : called[i];

		if (call != model(i))
			fail_msg("site %u calls %lx, not %lx", i, call, model(i));
		ever[i] |= call != 0;
		assert_int_equal(test_bit(i, ftrace_enabled_map), call != 0);
		if (test_bit(i, ftrace_touched_map) != ever[i])
			fail_msg("touched_functions: site %u was %straced at some time", i, ever[i] ? "" : "not ");
	}
}

/* ---- Tests */

/* Every address between two sites finds the right record, the last one's too. */
static void test_records(void **state)
{
	for (unsigned i = 0; i < SITES; i++) {
		unsigned long ip = (unsigned long)_text + table[i];

		assert_int_equal(ftrace_rec_of(ip), i);
		assert_int_equal(ftrace_rec_of(ip + 1), -1);
		assert_int_equal(ftrace_rec_at_or_after(ip), i);
		assert_int_equal(ftrace_rec_at_or_after(ip + 1), i + 1 < SITES ? i + 1 : ftrace_nr_recs);
		assert_int_equal(ftrace_location(ip), ip);
		assert_string_equal(ftrace_rec_name(&ftrace_recs[i]), names[i]);
	}
	assert_int_equal(ftrace_rec_at_or_after((unsigned long)_text - 1), ftrace_nr_recs);
}

static const char *const globs[] = {"f1*", "f?", "f*5", "f19?", "f7*", "f64", "*", "f1?9"};

/* Some functions more, or fewer, in one of its sets, whose count stays right. */
static void edit_at_random(struct ftrace_ops *op)
{
	const char *glob = globs[host_random() % ARRAY_SIZE(globs)];
	bool exclude = host_random() % 3 == 0;
	const struct ftrace_set *set = exclude ? &op->exclude : &op->filter;
	unsigned n = 0;
	char text[16];

	sprintf(text, "%s%s", host_random() % 3 ? "" : "!", glob);
	assert_int_equal(edit(op, exclude, text, host_random() % 2), 0);
	for (unsigned i = 0; i < SITES; i++)
		n += set->bits && test_bit(i, set->bits);
	assert_int_equal(set->count, n);
}

/* Users of every kind come and go in any order: each site calls what it should after each step, and no site
 * is written that need not be. */
static void test_users(void **state)
{
	enum { USERS = 8 };
	struct ftrace_ops ops[USERS];
	bool ever[SITES] = {};
	unsigned long before;
	unsigned changed;

	for (unsigned i = 0; i < USERS; i++) {
		static const u32 kinds[USERS] = {[2] = FTRACE_OPS_FL_SAVE_REGS,
						 [3] = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_KPROBES,
						 [5] = FTRACE_OPS_FL_CORE,
						 [6] = FTRACE_OPS_FL_CORE};

		ops[i] = user(kinds[i], globs[i]);
		ops[i].straight_func = func;
	}
	for (unsigned step = 0; step < 400; step++) {
		struct ftrace_ops *op = &ops[host_random() % USERS];
		unsigned long old[SITES];

		memcpy(old, called, sizeof(old));
		before = writes;
		if (step % 20 == 19)
			assert_int_equal(ftrace_set_enabled(!ftrace_enabled), 0);
		else if (host_random() % 2)
			edit_at_random(op);
		else if (op->flags & FTRACE_OPS_FL_ENABLED)
			assert_int_equal(unregister_ftrace_function(op), 0);
		else
			assert_int_equal(register_ftrace_function(op), 0);
		check_sites(ever);
		changed = 0;
		for (unsigned i = 0; i < SITES; i++)
			changed += called[i] != old[i];
		if (writes - before != changed)
			fail_msg("%lu sites were written where %u changed", writes - before, changed);
		assert_int_equal(warnings, 0);
	}
	for (unsigned i = 0; i < USERS; i++) {
		if (ops[i].flags & FTRACE_OPS_FL_ENABLED)
			assert_int_equal(unregister_ftrace_function(&ops[i]), 0);
		ftrace_free_filter(&ops[i]);
	}
}

/* A function has one user that may replace it, whoever else came in between. */
static void test_ipmodify(void **state)
{
	const u32 flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS;
	struct ftrace_ops ops[3] = {user(flags, "f1"), user(flags, "f2"), user(flags, "f3")};
	struct ftrace_ops refused[2] = {user(flags, "f1"), user(flags, "f4")};

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(register_ftrace_function(&ops[i]), 0);
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned other = 0; other < 3; other++) {
			char name[] = {'f', '1' + other, '\0'};

			assert_int_equal(filter(&ops[i], name, false), i == other ? 0 : -EBUSY);
			assert_int_equal(ops[i].filter.count, 1);
		}
	}
	assert_int_equal(ftrace_set_filter(&ops[0], NULL, 0, true), -EINVAL); /* all functions: it must say which */
	no_redirect = 4;
	assert_int_equal(filter(&ops[1], "f4", false), -EOPNOTSUPP);
	assert_int_equal(called[4], 0);
	/* One that is refused was never in the list while CPUs ran, or it could have replaced a function after all. */
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(register_ftrace_function(&refused[i]), i ? -EOPNOTSUPP : -EBUSY);
		assert_ptr_equal(users_at_stop, &ops[2]);
		assert_ptr_equal(ftrace_ops_list, &ops[2]);
		assert_int_equal(refused[i].flags, flags);
		ftrace_free_filter(&refused[i]);
	}
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(unregister_ftrace_function(&ops[i]), 0);
		ftrace_free_filter(&ops[i]);
	}
}

/* The user that wants registers is called without a look at the list only while it is the only one. */
static void test_registers(void **state)
{
	struct ftrace_ops with = user(FTRACE_OPS_FL_SAVE_REGS, "f1"), without = user(0, "f2"),
			  direct = user(FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_DIRECT, "f3");

	assert_int_equal(register_ftrace_function(&without), 0);
	assert_null(ftrace_single_ops[FTRACE_SINGLE_REGS]);
	assert_int_equal(register_ftrace_function(&with), 0);
	assert_null(ftrace_single_ops[FTRACE_SINGLE_REGS]);
	assert_int_equal(called[1], FTRACE_REGS_CALLER_ADDR);
	assert_int_equal(unregister_ftrace_function(&without), 0);
	assert_ptr_equal(ftrace_single_ops[FTRACE_SINGLE_REGS], &with);
	assert_int_equal(register_ftrace_function(&direct), 0);
	assert_null(ftrace_single_ops[FTRACE_SINGLE_REGS]);
	assert_int_equal(unregister_ftrace_function(&with), 0);
	assert_null(ftrace_single_ops[FTRACE_SINGLE_REGS]);
	assert_int_equal(unregister_ftrace_function(&direct), 0);
	ftrace_free_filter(&with);
	ftrace_free_filter(&without);
	ftrace_free_filter(&direct);
}

/* A user that must not be without its calls keeps everybody from switching them off. */
static void test_permanent(void **state)
{
	struct ftrace_ops ops = user(FTRACE_OPS_FL_PERMANENT, "f8");

	assert_int_equal(register_ftrace_function(&ops), 0);
	assert_int_equal(ftrace_set_enabled(false), -EBUSY);
	assert_int_not_equal(called[8], 0);
	assert_int_equal(ftrace_set_enabled(true), 0);
	assert_int_equal(unregister_ftrace_function(&ops), 0);
	assert_int_equal(ftrace_set_enabled(false), 0);
	assert_int_equal(register_ftrace_function(&ops), -EBUSY);
	assert_int_equal(ftrace_set_enabled(true), 0);
	ftrace_free_filter(&ops);
}

/* Somebody has written to a site that was ours: it is said once, and no site is touched any more. */
static void test_foreign_write(void **state)
{
	struct ftrace_ops a = user(0, "f3*"), b = user(0, "f9");
	unsigned long before;
	u64 waits;

	assert_int_equal(register_ftrace_function(&a), 0);
	called[35] = 0xbad;
	host_log_clear();
	before = writes;
	assert_false(ftrace_is_dead());
	assert_ptr_equal(ftrace_single_ops[0], &a);
	waits = get_state_synchronize_rcu() + 1; /* that of the stop, and another one behind it */
	assert_int_equal(unregister_ftrace_function(&a), -ENODEV);
	assert_true(host_logged("f35 at "));
	assert_true(host_logged("does not hold the call it should"));
	assert_int_equal(warnings, 1);
	assert_true(ftrace_is_dead());
	assert_int_equal(called[35], 0xbad);
	/* Sites go on calling the entry that was its own, but there it is no more: its memory may be freed. */
	assert_int_equal(called[34], FTRACE_SINGLE_CALLER_ADDR(0));
	assert_ptr_not_equal(ftrace_single_ops[0], &a);
	assert_int_equal(ftrace_single_ops[0]->flags, FTRACE_OPS_FL_RECURSION);
	ftrace_single_ops[0]->func(0, 0, ftrace_single_ops[0], NULL);
	assert_true(grace_periods >= waits);
	host_log_clear();
	assert_int_equal(register_ftrace_function(&b), -ENODEV);
	assert_null(ftrace_ops_list);
	assert_int_equal(ftrace_set_enabled(false), -ENODEV);
	assert_int_equal(called[9], 0);
	assert_int_equal(writes, before);
	assert_int_equal(warnings, 1);
	assert_string_equal(host_log, "");
	/* Nothing stops the machine now, so who leaves waits for those that still go through the list of
	 * users. */
	b.flags |= FTRACE_OPS_FL_ENABLED;
	ftrace_ops_list = &b;
	waits = get_state_synchronize_rcu();
	assert_int_equal(unregister_ftrace_function(&b), -ENODEV);
	assert_true(grace_periods >= waits);
	ftrace_free_filter(&a);
	ftrace_free_filter(&b);
}

/* The same of a site that nobody has traced yet: it must hold a nop before it gets its first call. */
static void test_foreign_write_to_a_nop(void **state)
{
	struct ftrace_ops ops = user(0, "f9");

	called[9] = 0xbad;
	host_log_clear();
	assert_int_equal(register_ftrace_function(&ops), -ENODEV);
	assert_true(host_logged("f9 at "));
	assert_int_equal(called[9], 0xbad);
	assert_true(ftrace_is_dead());
	ftrace_free_filter(&ops);
}

/* A set that waits for modules still does when functions are added to it. */
static void test_waiting_set(void **state)
{
	struct ftrace_ops ops = user(0, NULL);

	assert_int_equal(ftrace_set_wait(&ops.filter, true), 0);
	assert_int_equal(ops.filter.count, 1);
	assert_int_equal(filter(&ops, "f10", false), 0);
	assert_true(ops.filter.waits);
	assert_int_equal(ops.filter.count, 2);
	assert_int_equal(ftrace_set_wait(&ops.filter, true), 0);
	assert_int_equal(ops.filter.count, 2); /* it waits already */
	assert_int_equal(ftrace_set_wait(&ops.filter, false), 0);
	assert_int_equal(ops.filter.count, 1);
	ftrace_free_filter(&ops);
}

/* By address: every site, the first one's too, and nothing between two sites. */
static void test_by_address(void **state)
{
	struct ftrace_ops ops = user(0, NULL);

	for (unsigned i = 0; i < SITES; i++) {
		unsigned long ip = (unsigned long)_text + table[i];

		if (ftrace_set_filter_ip(&ops, ip, 0, 1))
			fail_msg("the address of site %u is refused", i);
		assert_int_equal(ops.filter.count, 1);
		assert_true(test_bit(i, ops.filter.bits));
	}
	assert_int_equal(ftrace_set_filter_ip(&ops, (unsigned long)_text - 1, 0, 0), -EINVAL);
	assert_int_equal(filter(&ops, "", false), -EINVAL); /* no name is no pattern either */
	assert_int_equal(filter(&ops, "!", false), -EINVAL);
	assert_int_equal(ops.filter.count, 1);
	ftrace_free_filter(&ops);
}

/* What code of the kernel sets: a filter takes functions in, the other set takes them out, each by its own call. */
static void test_by_pattern(void **state)
{
	struct ftrace_ops ops = {.func = func};
	unsigned char some[] = "f1*", one[] = "f12", not_one[] = "!f12", unknown[] = "none", negated[] = "!";

	assert_int_equal(ftrace_set_filter(&ops, some, 3, 1), 0);
	assert_int_equal(ftrace_set_notrace(&ops, one, 3, 1), 0);
	assert_true(ops.filter.count > 10 && ops.exclude.count == 1);
	assert_int_equal(register_ftrace_function(&ops), 0);
	assert_int_equal(called[11], FTRACE_SINGLE_CALLER_ADDR(0));
	assert_true(called[12] != FTRACE_SINGLE_CALLER_ADDR(0));
	assert_int_equal(ftrace_set_notrace(&ops, not_one, 4, 0), 0);
	assert_int_equal(ops.exclude.count, 0);
	assert_int_equal(called[12], FTRACE_SINGLE_CALLER_ADDR(0));
	assert_int_equal(ftrace_set_filter(&ops, unknown, 4, 0), -EINVAL);
	assert_int_equal(ftrace_set_filter(&ops, negated, 1, 0), -EINVAL);
	assert_int_equal(ftrace_set_filter(&ops, some, 0, 0), -EINVAL);
	assert_int_equal(unregister_ftrace_function(&ops), 0);
	assert_int_equal(ftrace_set_filter(&ops, NULL, 0, 1), 0);
	assert_int_equal(ops.filter.count, 0);
	ftrace_free_filter(&ops);
}

/* Whatever needs a bitmap says so when there is no memory for it, and changes nothing. */
static void test_no_memory(void **state)
{
	struct ftrace_ops ops = user(0, NULL), full = user(0, NULL);
	struct ftrace_set copy = {.count = 3};

	assert_int_equal(filter(&full, "f1?", false), 0);
	no_memory = true;
	assert_int_equal(ftrace_set_wait(&ops.filter, true), -ENOMEM);
	assert_int_equal(filter(&ops, "f10", false), -ENOMEM);
	assert_int_equal(filter(&full, "f20", false), -ENOMEM);
	assert_int_equal(ftrace_set_filter_ip(&ops, (unsigned long)_text + table[3], 0, 0), -ENOMEM);
	assert_int_equal(ftrace_set_copy(&copy, &full.filter), -ENOMEM);
	assert_int_equal(copy.count, 0);
	assert_int_equal(ftrace_set_copy(&copy, &ops.filter), 0); /* an empty one needs none */
	assert_false(ops.filter.count || ops.filter.bits || ops.filter.waits);
	assert_int_equal(full.filter.count, 10);
	no_memory = false;
	assert_int_equal(ftrace_set_wait(&ops.filter, true), 0);
	ftrace_free_filter(&full);
	ftrace_free_filter(&ops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_records, fresh, gone),
		cmocka_unit_test_setup_teardown(test_users, fresh, gone),
		cmocka_unit_test_setup_teardown(test_ipmodify, fresh, gone),
		cmocka_unit_test_setup_teardown(test_registers, fresh, gone),
		cmocka_unit_test_setup_teardown(test_permanent, fresh, gone),
		cmocka_unit_test_setup_teardown(test_foreign_write, fresh, gone),
		cmocka_unit_test_setup_teardown(test_foreign_write_to_a_nop, fresh, gone),
		cmocka_unit_test_setup_teardown(test_waiting_set, fresh, gone),
		cmocka_unit_test_setup_teardown(test_by_address, fresh, gone),
		cmocka_unit_test_setup_teardown(test_by_pattern, fresh, gone),
		cmocka_unit_test_setup_teardown(test_no_memory, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

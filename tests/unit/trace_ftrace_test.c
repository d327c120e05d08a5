/*
 * Dynamic ftrace over a text that the test keeps: what each site calls after each change of users, held
 * against a model that asks each user for each site; users that are refused; a site that holds what nobody
 * put there.
 */
/* sources: */
/* include: tests/unit/include-trace -Itests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>

#include "../../kernel/lib/bitmap.c"
#include "../../kernel/lib/bitmap_text.c"
#include "../../kernel/lib/glob.c"
#include "../../kernel/lib/kstrto.c"
#include "../../kernel/lib/put_dec.c"
#include "../../kernel/lib/vsprintf.c"
#include "../../kernel/lib/vsprintf_pointer.c"
#include "../../trace/ftrace/ftrace.c"
#include "../../trace/ftrace/set.c"

/* ---- The text: a function every 16 to 46 bytes, so that hints stand for one, several or no site. */
#define SITES 200
#define AT(i) ((i)*16 + (i) / 3 * 30)
#define AT10(i)                                                                                                        \
	AT(i), AT((i) + 1), AT((i) + 2), AT((i) + 3), AT((i) + 4), AT((i) + 5), AT((i) + 6), AT((i) + 7), AT((i) + 8), \
		AT((i) + 9)
#define AT50(i) AT10(i), AT10((i) + 10), AT10((i) + 20), AT10((i) + 30), AT10((i) + 40)

char _text[AT(SITES)];
/* The linker says where it begins and ends. */
static const u32 table[SITES] __section("mcount_loc") __used = {AT50(0), AT50(50), AT50(100), AT50(150)};
static unsigned long called[SITES]; /* 0: a nop */
static unsigned long writes;	    /* of sites */
static bool stopped;

static unsigned site_at(unsigned long ip)
{
	for (unsigned i = 0; i < SITES; i++)
		if (ip == (unsigned long)_text + table[i])
			return i;
	fail_msg("%lx is no site", ip - (unsigned long)_text);
	return 0;
}

size_t arch_patch_verify_calls(const unsigned long *sites, size_t n, unsigned long target)
{
	size_t good = 0;

	assert_true(stopped);
	while (good < n && called[site_at(sites[good])] == target)
		good++;
	return good;
}
int arch_patch_write_calls(const unsigned long *sites, size_t n, unsigned long target)
{
	assert_true(stopped);
	for (size_t i = 0; i < n; i++)
		called[site_at(sites[i])] = target;
	writes += n;
	return 0;
}
static unsigned long callee; /* what the place in ftrace_caller calls */
int arch_patch_write(unsigned long site, unsigned long target, enum patch_kind kind)
{
	if (site == ftrace_call_site || site == ftrace_entry_call_site)
		callee = target;
	else if (site != ftrace_graph_call_site)
		called[site_at(site)] = target;
	return 0;
}
void arch_patch_begin(void)
{
}
void arch_patch_end(void)
{
}

/* ---- What it stands on */
struct mutex text_mutex;
static u64 grace_periods = 1; /* that are over; a state is the number of the one to wait for */
void text_patch_stopped(void (*fn)(void *data), void *data)
{
	assert_true(text_mutex.owner);
	stopped = true;
	fn(data);
	stopped = false;
	grace_periods++;
}
u64 get_state_synchronize_rcu(void)
{
	return grace_periods + 1;
}
void cond_synchronize_rcu(u64 state)
{
	grace_periods = max(grace_periods, state);
}
static unsigned warnings;
void __warn(const char *file, int line, const char *cond)
{
	warnings++;
}
static long no_redirect = -1;
bool arch_ftrace_can_redirect(unsigned long ip)
{
	return no_redirect < 0 || site_at(ip) != no_redirect;
}
struct ftrace_ops *ftrace_single_ops[FTRACE_SINGLE_CALLERS];
bool fgraph_was_used;
unsigned fgraph_nr_users;
static unsigned chosen;
void fgraph_choose(void)
{
	chosen++;
}
void *kzalloc(size_t n, gfp_t gfp)
{
	return calloc(1, n);
}
void *kvzalloc(size_t n, gfp_t gfp)
{
	return calloc(1, n);
}
void *kmemdup(const void *p, size_t n, gfp_t gfp)
{
	void *copy = malloc(n);

	return memcpy(copy, p, n);
}
void kfree(const void *p)
{
	free((void *)p);
}

/* Functions are called f0, f1 and so on, and begin where their sites are. */
static char names[SITES][8];
bool kallsyms_symbol(size_t i, struct ksym *sym)
{
	if (i >= SITES)
		return false;
	*sym = (struct ksym){.address = (unsigned long)_text + table[i], .name = names[i], .type = 't'};
	return true;
}
long symbol_index(unsigned long address)
{
	long i = -1;

	while (i + 1 < SITES && (unsigned long)_text + table[i + 1] <= address)
		i++;
	return i;
}

/* ---- Users */
static void func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
}

/* Begins like boot: all sites are nops and nobody uses them. */
static int fresh(void **state)
{
	ftrace_ops_list = NULL;
	ftrace_dead = false;
	ftrace_enabled = 1;
	ftrace_call_target = ftrace_graph_call_target = 0;
	memset(called, 0xff, sizeof(called));
	for (unsigned i = 0; i < SITES; i++)
		sprintf(names[i], "f%u", i);
	ftrace_init();
	no_redirect = -1;
	writes = warnings = 0;
	return 0;
}

static int gone(void **state)
{
	for (struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++) {
		kfree(map->wanted);
		kfree(map->have);
	}
	kfree(rec_hints);
	kfree(ftrace_recs);
	kfree(ftrace_enabled_map);
	kfree(ftrace_touched_map);
	kfree(ftrace_return_map);
	kfree(return_wanted);
	return 0;
}

static int edit(struct ftrace_ops *ops, bool exclude, const char *text, bool reset)
{
	return (exclude ? ftrace_set_notrace : ftrace_set_filter)(ops, (unsigned char *)text, strlen(text), reset);
}

static int filter(struct ftrace_ops *ops, const char *text, bool reset)
{
	return edit(ops, false, text, reset);
}

static struct ftrace_ops user(u32 flags, const char *glob)
{
	struct ftrace_ops ops = {.func = func, .flags = flags};

	if (glob)
		assert_int_equal(filter(&ops, glob, true), 0);
	return ops;
}

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
		assert_int_equal(ftrace_rec_at_or_after(ip + 1), i + 1);
		assert_int_equal(ftrace_location(ip), ip);
		assert_string_equal(ftrace_rec_name(&ftrace_recs[i]), names[i]);
	}
	assert_int_equal(ftrace_rec_at_or_after((unsigned long)_text - 1), 0);
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
		u32 flags = i == 2 ? FTRACE_OPS_FL_SAVE_REGS : i == 5 || i == 6 ? FTRACE_OPS_FL_CORE : 0;

		ops[i] = user(flags, globs[i]);
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
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(unregister_ftrace_function(&ops[i]), 0);
		ftrace_free_filter(&ops[i]);
	}
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
	assert_int_equal(unregister_ftrace_function(&a), -ENODEV);
	assert_true(host_logged("f35 at "));
	assert_true(host_logged("does not hold the call it should"));
	assert_int_equal(warnings, 1);
	assert_true(ftrace_is_dead());
	assert_int_equal(called[35], 0xbad);
	host_log_clear();
	assert_int_equal(register_ftrace_function(&b), -ENODEV);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_records, fresh, gone),
		cmocka_unit_test_setup_teardown(test_users, fresh, gone),
		cmocka_unit_test_setup_teardown(test_ipmodify, fresh, gone),
		cmocka_unit_test_setup_teardown(test_permanent, fresh, gone),
		cmocka_unit_test_setup_teardown(test_foreign_write, fresh, gone),
		cmocka_unit_test_setup_teardown(test_waiting_set, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

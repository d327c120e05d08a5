/*
 * Event filters: what certain texts mean, and what is said of those that mean nothing. trace_filter_host.h has the
 * fields of the one event that there is, and a parser that gets a copy of the text of exactly its size, so that ASan
 * sees a look beyond its end.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include "trace_filter_host.h"

/*
 * Texts that must be refused, with the errno, the error and the column under which Linux puts the caret. Tools and
 * tutorials show these.
 */
static void test_errors(void **state)
{
	static const struct {
		const char *text;
		int ret;
		enum filter_error error;
		unsigned column;
	} bad[] = {
		{"nosuch == 1", -EINVAL, FILT_ERR_FIELD_NOT_FOUND, 7},
		{"((s1 == 1)", -ENOENT, FILT_ERR_TOO_MANY_OPEN, 0},
		{"(s1 == 1) && (u1 == 1", -ENOENT, FILT_ERR_TOO_MANY_OPEN, 13},
		{"s1 == 1)", -EPERM, FILT_ERR_TOO_MANY_CLOSE, 7},
		{"text == \"a", -ESRCH, FILT_ERR_MISSING_QUOTE, 8},
		{"text > 1", -EINVAL, FILT_ERR_EXPECT_STRING, 8},
		{"s1 ~ \"x\"", -EINVAL, FILT_ERR_EXPECT_DIGIT, 6},
		{"s1 == \"x\"", -EINVAL, FILT_ERR_EXPECT_DIGIT, 7},
		{"s1 ~ 1", -EINVAL, FILT_ERR_ILLEGAL_FIELD_OP, 6},
		{"text < \"x\"", -EINVAL, FILT_ERR_ILLEGAL_FIELD_OP, 8},
		{"numbers == 1", -EINVAL, FILT_ERR_ILLEGAL_FIELD_OP, 12},
		{"s1 = 1", -EINVAL, FILT_ERR_INVALID_OP, 4},
		{"s1", -EINVAL, FILT_ERR_INVALID_OP, 3},
		{"s1 & & 1", -EINVAL, FILT_ERR_INVALID_VALUE, 6},
		{"text == a", -EINVAL, FILT_ERR_INVALID_VALUE, 9},
		{"s1 ==", -EINVAL, FILT_ERR_INVALID_VALUE, 6},
		{"u1 == -1", -EINVAL, FILT_ERR_ILLEGAL_INTVAL, 7},
		{"s1 == 1x", -EINVAL, FILT_ERR_ILLEGAL_INTVAL, 7},
		{"s1 == 111111111111111111111111", -EINVAL, FILT_ERR_OPERAND_TOO_LONG, 31},
		{"u1 & CPUS", -EINVAL, FILT_ERR_MISSING_BRACE_OPEN, 10},
		{"u1 & CPUS{0-1", -EINVAL, FILT_ERR_MISSING_BRACE_CLOSE, 14},
		{"u1 & CPUS{}", -EINVAL, FILT_ERR_INVALID_CPULIST, 11},
		{"u1 & CPUS{3-1}", -EINVAL, FILT_ERR_INVALID_CPULIST, 14},
		{"u1 & CPUS{64}", -EINVAL, FILT_ERR_INVALID_CPULIST, 13},
		{"u1 & CPUS{1x}", -EINVAL, FILT_ERR_INVALID_CPULIST, 13},
		{"u1 & CPUS{1-}", -EINVAL, FILT_ERR_INVALID_CPULIST, 13},
		{"u1 & CPUS{0-7:/2}", -EINVAL, FILT_ERR_INVALID_CPULIST, 17},
		{"u1 & CPUS{0-7:2}", -EINVAL, FILT_ERR_INVALID_CPULIST, 16},
		{"u1 & CPUS{0-7:2/0}", -EINVAL, FILT_ERR_INVALID_CPULIST, 18},
		{"u1 < CPUS{1}", -EINVAL, FILT_ERR_ILLEGAL_FIELD_OP, 6},
		{"text == CPUS{1}", -EINVAL, FILT_ERR_ILLEGAL_FIELD_OP, 9},
		{"cpus_loc == 1", -EINVAL, FILT_ERR_ILLEGAL_FIELD_OP, 13},
		{"cpus_loc == \"1\"", -EINVAL, FILT_ERR_EXPECT_DIGIT, 13},
		{"u8_.function == nosuch", -EINVAL, FILT_ERR_NO_FUNCTION, 17},
		{"u8_.function == 0x2000", -EINVAL, FILT_ERR_NO_FUNCTION, 17},
		{"u8_.function > vfs_open", -EINVAL, FILT_ERR_INVALID_OP, 16},
		{"u4.function == vfs_open", -EINVAL, FILT_ERR_ILLEGAL_FIELD_OP, 12},
		{"text.ustring == 'x'", -EINVAL, FILT_ERR_ILLEGAL_FIELD_OP, 13},
		{"u8_.ustring == 1", -EINVAL, FILT_ERR_EXPECT_STRING, 16},
		{"u8_.other == 1", -EINVAL, FILT_ERR_INVALID_OP, 4},
		{"s1 == 1 u1 == 1", -EPERM, FILT_ERR_TOO_MANY_PREDS, 8},
		{"s1 == 1 & u1 == 1", -EPERM, FILT_ERR_TOO_MANY_PREDS, 8},
		{"s1 == 1 &&", -EINVAL, FILT_ERR_NO_FILTER, 10},
		{"!", -EINVAL, FILT_ERR_NO_FILTER, 1},
		{"== 1", -EPERM, FILT_ERR_NONE, 0},
		{"", -EINVAL, FILT_ERR_NONE, 0},
		{"()", -EINVAL, FILT_ERR_NONE, 0},
	};
	struct filter_problem problem;

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		struct event_filter *filter = parse_exact(bad[i].text, &problem);

		if (PTR_ERR(filter) != bad[i].ret || problem.error != bad[i].error || problem.column != bad[i].column)
			fail_msg("%s: %ld, error %d at %u", bad[i].text, PTR_ERR(filter), problem.error,
				 problem.column);
	}
	assert_int_equal(allocated, 0);
}

/*
 * What certain filters say of one record: how operators bind, signs, widths, sets of CPUs, patterns, functions, texts
 * of the program. -1: the text is refused.
 */
static void test_by_hand(void **state)
{
	enum { REFUSED = -1 };
	static const struct {
		const char *text;
		int passes;
	} cases[] = {
		{"s4 == -3", true},
		{"s4 == 0xfffffffd", true},
		{"s4 < 0", true},
		{"u4 > 0x7fffffff", true},
		{"u4 & 0x80000000", true},
		{"u1 == 010", true},
		{"text ~ '!ab*'", false},
		{"text ~ \"ab[!x]*\"", true},
		{"text == abcdef", REFUSED},
		{"text == 'abcdef'", true},
		{"text == 'abcde'", false},
		{"text ~ '*ef'", true},
		{"ptr == 'x'", false},
		{"ptr != 'x'", false},
		{"loc == 'dyn'", true},
		{"rloc == 'yn'", true},
		{"rloc == 'dyn'", false},
		{"rloc ~ 'y*'", true},
		{"s4==-3||u1==0&&u1==0", true},
		{"(s4==-3||u1==0)&&u1==0", false},
		{"!s4==-3||u1==8", true},
		{"u1 & CPUS{0-3}", false},
		{"u1 & CPUS{8}", true},
		{"u1 == CPUS{8}", true},
		{"CPU & CPUS{0-7:1/2}", true},
		{"CPU & CPUS{1-7:1/2}", false},
		{"cpu == CPUS{1-3}", false},
		{"CPU != CPUS{1-3}", true},
		{"u1 & CPUS{4-N}", true},
		{"u1 & CPUS{all}", true},
		{"s4 & CPUS{all}", false},
		{"s4 != CPUS{1-2}", false},
		{"s4 != CPUS{1}", true},
		{"!(s4==-3||u1==8)", false},
		{"!!(s4==-3)", true},
		{"COMM == \"task\" && cpu == 2", true},
		{"(u8_.function==vfs_open)&&u1==8", true},
		{"u8_.function == 0x1004", true},
		{"u8_.function != vfs_open", false},
		{"s8_.ustring == 'user'", true},
		{"s8_.ustring ~ 'u*r'", true},
		{"s8_.ustring != 'user'", false},
		{"ptr.ustring != 'u'", false},
	};
	struct record r = {.s4 = -3,
			   .u4 = 0x80000000,
			   .u1 = 8,
			   .u8_ = 0x103f,
			   .s8_ = (s64) "user",
			   .loc = offsetof(struct record, data) | 4 << 16};
	struct filter_problem problem;

	r.rloc = (offsetof(struct record, data) + 1 - offsetof(struct record, rloc) - sizeof(r.rloc)) | 3 << 16;
	memcpy(r.text, "abcdef", 6);
	strcpy(r.data, "dyn");
	strcpy(host_task.comm, "task");
	host_task.cpu = 2;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_filter *filter = parse_exact(cases[i].text, &problem);

		if ((IS_ERR(filter) ? REFUSED : filter_match(filter, &r)) != cases[i].passes)
			fail_msg("not %d: %s", cases[i].passes, cases[i].text);
		if (!IS_ERR(filter))
			filter_free(filter);
	}
}

/* A function is all addresses from its first to its last byte. */
static void test_ends_of_a_function(void **state)
{
	static const u64 addresses[] = {0xfff, 0x1000, 0x103f, 0x1040};
	struct filter_problem problem;
	struct event_filter *filter = parse_exact("u8_.function == vfs_open", &problem);

	assert_false(IS_ERR(filter));
	for (unsigned i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct record r = {.u8_ = addresses[i]};

		assert_int_equal(filter_match(filter, &r), i == 1 || i == 2);
	}
	filter_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_ends_of_a_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Edit distances against known ones and against the other direction, and which names are kept, in which order: what a
 * refused write to tracefs suggests.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include "../../../kernel/lib/close_names/close_names.c"

/*
 * Known distances, each in both directions: letters that are missing, added, changed or exchanged with their
 * neighbour.
 */
static void test_distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned distance;
	} known[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"shcedule", "schedule", 1},
		{"ab", "ba", 1},
		{"kitten", "sitting", 3},
		{"schedule", "__schedule", 2},
		{"abcdef", "badcfe", 3},
		{"ca", "abc", 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		assert_int_equal(edit_distance(known[i].a, known[i].b), known[i].distance);
		assert_int_equal(edit_distance(known[i].b, known[i].a), known[i].distance);
	}
}

static void test_long_names(void **state)
{
	char name[CLOSE_NAME_SIZE + 1];

	memset(name, 'x', CLOSE_NAME_SIZE);
	name[CLOSE_NAME_SIZE] = '\0';
	assert_int_equal(edit_distance(name, "x"), CLOSE_NAMES_NO_DISTANCE);
	assert_int_equal(edit_distance("x", name), CLOSE_NAMES_NO_DISTANCE);
	name[CLOSE_NAME_SIZE - 1] = '\0';
	assert_int_equal(edit_distance(name, "x"), CLOSE_NAME_SIZE - 2);
	assert_int_equal(edit_distance("y", name), CLOSE_NAME_SIZE - 1);
}

static void offer(struct close_names *close, const char *word, const char *const *names)
{
	close_names_init(close, word);
	while (*names)
		close_names_offer(close, *names++);
}

/*
 * The names that are offered for a wrong one: the closest first, three at most, none for a word that is like nothing
 * or empty. These are what a refused write to tracefs suggests.
 */
static void test_the_closest(void **state)
{
	static const char *const names[] = {"vfs_write",	"schedule_tail", "schedules", "schedule", "do_sys_open",
					    "schedule_timeout", "shedule",	 "open",      NULL};
	struct close_names close;

	offer(&close, "shcedule", names);
	assert_int_equal(close.nr, 3);
	assert_string_equal(close.best[0].name, "schedule");
	assert_string_equal(close.best[1].name, "shedule");
	assert_string_equal(close.best[2].name, "schedules");
	offer(&close, "sys_open", names);
	assert_int_equal(close.nr, 1);
	assert_string_equal(close.best[0].name, "do_sys_open");
	offer(&close, "schedule", names); /* the parts come last, the fourth is dropped */
	assert_string_equal(close.best[0].name, "schedule");
	assert_string_equal(close.best[1].name, "schedules");
	assert_string_equal(close.best[2].name, "shedule");
	offer(&close, "xy", names);
	assert_int_equal(close.nr, 0);
	offer(&close, "", names);
	assert_int_equal(close.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distances),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_the_closest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Bit searches against a walk bit by bit, and the text forms of bitmaps there and back. Nothing stands in for
 * anything: the functions need no kernel.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"

static bool bit(const unsigned long *map, unsigned i)
{
	return map[i / 64] >> (i % 64) & 1;
}

static unsigned slow_next(const unsigned long *map, unsigned size, unsigned from, bool value)
{
	while (from < size && bit(map, from) != value)
		from++;
	return from < size ? from : size;
}

static void random_map(unsigned long *map, unsigned size)
{
	memset(map, 0, 32);
	for (unsigned i = 0, value = 0; i < size; i++) {
		value ^= host_random() % 8 == 0;
		map[i / 64] |= (unsigned long)value << (i % 64);
	}
}

/*
 * find_next_bit(), find_next_zero_bit() and the weight, from each place in random maps of any size, as a walk bit by
 * bit has them. Sizes that are no multiple of a word are where such code goes wrong.
 */
static void test_searches(void **state)
{
	unsigned long map[4];

	for (int round = 0; round < 3000; round++) {
		unsigned size = 1 + host_random() % 256, weight = 0;

		random_map(map, 256);
		for (unsigned from = 0; from <= size; from++) {
			assert_int_equal(find_next_bit(map, size, from), slow_next(map, size, from, true));
			assert_int_equal(find_next_zero_bit(map, size, from), slow_next(map, size, from, false));
			weight += from < size && bit(map, from);
		}
		assert_int_equal(bitmap_weight(map, size), weight);
	}
}

/* A map printed as /proc and tracefs print it, and read again, is the same map, with no bit set beyond its size. */
static void test_print_and_parse_back(void **state)
{
	unsigned long map[4], again[4];
	char text[80];

	for (int round = 0; round < 3000; round++) {
		unsigned size = 1 + host_random() % 256;
		int n;

		random_map(map, size);
		n = bitmap_print(text, sizeof(text), map, size);
		assert_int_equal(n, strlen(text));
		memset(again, 0xff, sizeof(again));
		assert_int_equal(bitmap_parse(text, again, size), 0);
		assert_memory_equal(map, again, BITS_TO_LONGS(size) * 8);
	}
}

/*
 * The list of ranges (0-3,8) of a random map is read again by the test itself and gives the same map; a range has at
 * least two numbers.
 */
static void test_list_says_the_same(void **state)
{
	unsigned long map[4], again[4];
	char text[1024];

	for (int round = 0; round < 3000; round++) {
		unsigned size = 1 + host_random() % 256, first, last;
		int used, n;

		random_map(map, size);
		memset(again, 0, sizeof(again));
		n = bitmap_print_list(text, sizeof(text), map, size);
		assert_int_equal(n, strlen(text));
		for (const char *p = text; *p; p += used + (p[used] == ',')) {
			assert_int_equal(sscanf(p, "%u%n", &first, &used), 1);
			last = first;
			if (p[used] == '-') {
				p += used + 1;
				assert_int_equal(sscanf(p, "%u%n", &last, &used), 1);
				assert_true(last > first);
			}
			for (unsigned i = first; i <= last; i++)
				again[i / 64] |= 1UL << (i % 64);
		}
		assert_memory_equal(map, again, sizeof(map));
	}
}

static void expect_parse(const char *text, unsigned size, int ret, unsigned long low, unsigned long high)
{
	unsigned long map[2] = {0, 0};

	assert_int_equal(bitmap_parse(text, map, size), ret);
	if (ret)
		return;
	assert_int_equal(map[0], low);
	assert_int_equal(map[1], high);
}

/*
 * What bitmap_parse() takes and refuses: words of up to eight digits with commas between, numbers beyond the map's
 * size, and texts that are none. They come from users, by /proc/irq and tracing_cpumask.
 */
static void test_parse_by_hand(void **state)
{
	expect_parse("f", 4, 0, 0xf, 0);
	expect_parse("3\n", 8, 0, 3, 0);
	expect_parse("", 8, 0, 0, 0);
	expect_parse("1,00000000,00000001", 128, 0, 1, 1);
	expect_parse("1,2,3", 128, 0, 0x200000003, 1);
	expect_parse("00000000,00000001", 8, -EOVERFLOW, 0, 0); /* a group behind the map, even an empty one */
	expect_parse("0,1,2,3,4", 128, -EOVERFLOW, 0, 0);
	expect_parse("1,2,3,4", 128, 0, 0x300000004, 0x100000002);
	expect_parse("10", 4, -EOVERFLOW, 0, 0);
	expect_parse("1,00000000", 8, -EOVERFLOW, 0, 0);
	expect_parse("123456789", 128, -EOVERFLOW, 0, 0);
	expect_parse("xyz", 8, -EINVAL, 0, 0);
	expect_parse("-1", 8, -EINVAL, 0, 0);
	expect_parse("4", 2, -EOVERFLOW, 0, 0);
	expect_parse("3", 2, 0, 3, 0);
	expect_parse("1,,2", 128, 0, 0x100000002, 0);
	expect_parse(",1", 128, 0, 1, 0);
	expect_parse("1,", 128, 0, 1, 0);
	expect_parse(" 1 2\r\n", 128, 0, 0x100000002, 0);
	expect_parse("1\nxyz", 8, 0, 1, 0);
	expect_parse("x12345678", 128, -EINVAL, 0, 0);
}

static void test_printing_into_too_little(void **state)
{
	unsigned long map[1] = {0xff0f};
	char text[6];

	assert_int_equal(bitmap_print(text, 3, map, 16), 4);
	assert_string_equal(text, "ff");
	assert_int_equal(bitmap_print_list(text, 5, map, 16), 8);
	assert_string_equal(text, "0-3,");
	assert_int_equal(bitmap_print_list(NULL, 0, map, 16), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_searches),
		cmocka_unit_test(test_print_and_parse_back),
		cmocka_unit_test(test_list_says_the_same),
		cmocka_unit_test(test_parse_by_hand),
		cmocka_unit_test(test_printing_into_too_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

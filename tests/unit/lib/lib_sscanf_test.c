/*
 * sscanf() of the kernel does what the host's does: the same variables, the same count. Each text is read by each
 * format with both, into variables that begin with the same marks, so that a variable which should not be written is
 * seen. Where Linux's kernel differs from C, the answers are given by hand.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsscanf k_vsscanf
#define sscanf	k_sscanf
#include "../../../kernel/module/api/sscanf.c"
#undef sscanf

struct values {
	signed char hh;
	short h;
	int a, b, n;
	unsigned u;
	long l;
	char word[32], chars[8];
};

/* Both read the text by the format, into variables that begin with the same marks. */
#define SAME(text, fmt, ...)                                                                                \
	do {                                                                                                \
		struct values v, ours;                                                                      \
		int mine, theirs;                                                                           \
		memset(&v, 0x5a, sizeof(v));                                                                \
		mine = k_sscanf(text, fmt, __VA_ARGS__);                                                    \
		ours = v;                                                                                   \
		memset(&v, 0x5a, sizeof(v));                                                                \
		theirs = sscanf(text, fmt, __VA_ARGS__);                                                    \
		assert_int_equal(mine, theirs < 0 ? 0 : theirs); /* the host says -1 where the text ends */ \
		assert_true(!memcmp(&ours, &v, sizeof(v)));                                                 \
	} while (0)

/*
 * Numbers in all bases, with signs, widths, other text behind them, and lengths of the variable. A wrong length would
 * write over the neighbour of a module's variable.
 */
static void test_numbers_have_signs_bases_and_widths(void **state)
{
	static const char *const texts[] = {"",	   "12",   "-12",   " \t42 9", "0x1f", "017", "08",
					    "ffz", "0Xff", "12345", "4x5",     "-",    "--1", "a",
					    "0",   "1,2",  "1 2 3", "99999",   "1 ,2"};

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		SAME(texts[i], "%d", &v.a);
		SAME(texts[i], "%i", &v.a);
		if (!strchr(texts[i], '-')) {
			SAME(texts[i], "%x", &v.u);
			SAME(texts[i], "%o", &v.u);
			SAME(texts[i], "%u", &v.u);
			SAME(texts[i], "%3x%d", &v.u, &v.b);
		}
		SAME(texts[i], "%2d%d", &v.a, &v.b);
		SAME(texts[i], "%d,%d", &v.a, &v.b);
		SAME(texts[i], "%d %d%n", &v.a, &v.b, &v.n);
		SAME(texts[i], "%*d %d", &v.b);
		SAME(texts[i], "%hd", &v.h);
		SAME(texts[i], "%ld", &v.l);
		SAME(texts[i], "%lld", (long long *)&v.l);
		SAME(texts[i], "%Ld", (long long *)&v.l);
		SAME(texts[i], "%qd", (long long *)&v.l);
		SAME(texts[i], "%zd", (ssize_t *)&v.l);
		SAME(texts[i], "%hhd", &v.hh);
	}
}

/* Words, single characters, literal text, a literal %, and conversions that store nothing. */
static void test_words_and_characters(void **state)
{
	static const char *const texts[] = {"",	      "key=5", "a b c",	   "  word", "long-word-indeed 3",
					    "100% 5", "x:y:7", "\n\nab\n", "50%off", "abc"};

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		SAME(texts[i], "%31s", v.word);
		SAME(texts[i], "%3s%31s", v.chars, v.word);
		SAME(texts[i], "%c", v.chars);
		SAME(texts[i], "%2c%31s", v.chars, v.word);
		SAME(texts[i], "key=%d", &v.a);
		SAME(texts[i], "%d%% %d", &v.a, &v.b);
		SAME(texts[i], "%*s %31s%n", v.word, &v.n);
		SAME(texts[i], "x:%c:%d", v.chars, &v.a);
		SAME(texts[i], " %c %c", v.chars, v.chars + 1);
	}
}

/* Linux's answers where C has others. */
static void test_signs_and_prefixes_as_linux(void **state)
{
	unsigned u = 9;
	int a = 9;

	assert_int_equal(k_sscanf("+7", "%d", &a), 0);
	assert_int_equal(k_sscanf("-7", "%u", &u), 0);
	assert_int_equal(k_sscanf("-7", "%x", &u), 0);
	assert_int_equal(k_sscanf("-0x10", "%i", &a), 1);
	assert_int_equal(a, -16);
	assert_int_equal(k_sscanf("0xyz", "%x", &u), 1);
	assert_int_equal(u, 0);
	assert_int_equal(k_sscanf("4294967303", "%d", &a), 1);
	assert_int_equal(a, 7);
}

/* Where the kernel ends and the host knows more. */
static void test_an_unknown_letter_ends_the_scan(void **state)
{
	int a = 1, b = 2;

	assert_int_equal(k_sscanf("5 6", "%d %f", &a, (float *)&b), 1);
	assert_int_equal(a, 5);
	assert_int_equal(b, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_have_signs_bases_and_widths),
		cmocka_unit_test(test_words_and_characters),
		cmocka_unit_test(test_signs_and_prefixes_as_linux),
		cmocka_unit_test(test_an_unknown_letter_ends_the_scan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

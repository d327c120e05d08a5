/* The parser of words: white space and zeros, words in pieces, words that are too long, and memory beyond the text. */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include "../../../trace/tracefs/words.c"

static char memory[8];
static struct word_parser parser;

/* The text, which stands in memory of its own size, so that a byte too much is seen. */
static ssize_t parse(const char *text, size_t n)
{
	char *copy = malloc(n);
	ssize_t used;

	memcpy(copy, text, n);
	used = word_parse(&parser, copy, n);
	free(copy);
	return used;
}

static void gives(const char *text, size_t n, ssize_t used, const char *word, bool cont)
{
	assert_int_equal(parse(text, n), used);
	assert_string_equal(parser.word, word);
	assert_int_equal(parser.len, strlen(word));
	assert_int_equal(parser.cont, cont);
}

static int begin(void **state)
{
	word_parser_init(&parser, memory, sizeof(memory));
	return 0;
}

static void test_what_ends_a_word(void **state)
{
	gives(" \t\r\n\v\fab cd", 11, 9, "ab", false);
	gives("ab\n", 3, 3, "ab", false);
	gives("ab\0cd", 5, 3, "ab", false);
	gives("ab\r\n", 4, 3, "ab", false);
	gives("\n", 1, 1, "", false);
	gives("  ", 2, 2, "", false);
	gives("\0ab", 3, 1, "", false);
	gives("  \0ab", 5, 3, "", false);
}

static void test_pieces(void **state)
{
	gives(" ab", 3, 3, "ab", true);
	gives("cd", 2, 2, "abcd", true);
	gives(" ef", 3, 1, "abcd", false);
	gives("ef", 2, 2, "ef", true);
	gives("\0", 1, 1, "ef", false);
	gives("gh", 2, 2, "gh", true);
	word_parser_drop(&parser);
	gives("i", 1, 1, "i", true);
}

/* A word of 7 letters fits. After one that does not, the next text begins a word. */
static void test_long_words(void **state)
{
	gives("1234567", 7, 7, "1234567", true);
	gives("\n", 1, 1, "1234567", false);
	assert_int_equal(parse("12345678", 8), -EINVAL);
	gives("ab ", 3, 3, "ab", false);
	gives("1234567", 7, 7, "1234567", true);
	assert_int_equal(parse("8", 1), -EINVAL);
	gives(" ab ", 4, 4, "ab", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_what_ends_a_word, begin),
		cmocka_unit_test_setup(test_pieces, begin),
		cmocka_unit_test_setup(test_long_words, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

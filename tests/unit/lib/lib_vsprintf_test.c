/*
 * vsnprintf against the host's, conversion by conversion, and the kernel's own pointer forms. The kernel's formatter
 * is compiled under another name, and both get the same random formats, values and sizes of the buffer; the buffer has
 * marks behind its end. A table of two symbols stands for kallsyms.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>
#include <sys/mman.h>

#define vsnprintf  k_vsnprintf
#define snprintf   k_snprintf
#define vscnprintf k_vscnprintf
#define scnprintf  k_scnprintf
#define sprintf	   k_sprintf
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/lib/bin_printf.c"
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#undef vsnprintf
#undef snprintf

const char *format_dentry_name(const struct dentry *dentry)
{
	return (const char *)dentry;
}

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	return snprintf(dst, size, "%s", src);
}

/* A symbol table of one function at 0x1000, 0x40 bytes long. */
const char *kallsyms_lookup_module(unsigned long address, unsigned long *size, unsigned long *offset, char *module,
				   char *name)
{
	*size = 0x40;
	if (address >= 0x2000 && address < 0x2040) {
		*offset = address - 0x2000;
		strcpy(module, "demo");
		return strcpy(name, "demo_init");
	}
	if (address < 0x1000 || address >= 0x1040)
		return NULL;
	*module = '\0';
	*offset = address - 0x1000;
	return strcpy(name, "schedule");
}

/* "<%...>end" with any flags, width, precision and length, and one of these letters. */
static void random_format(char *fmt, const char *lengths[], unsigned nr_lengths, const char *letters, char *letter,
			  const char **length)
{
	static const char flags[] = "-+ #0";

	*fmt++ = '<';
	*fmt++ = '%';
	for (const char *f = flags; *f; f++)
		if (host_random() % 4 == 0)
			*fmt++ = *f;
	if (host_random() % 2)
		fmt += snprintf(fmt, 8, "%u", 1 + (unsigned)(host_random() % 30));
	if (host_random() % 3 == 0)
		fmt += snprintf(fmt, 8, ".%u", (unsigned)(host_random() % 25));
	*length = lengths[host_random() % nr_lengths];
	fmt = stpcpy(fmt, *length);
	*letter = letters[host_random() % strlen(letters)];
	*fmt++ = *letter;
	strcpy(fmt, ">end");
}

static uint64_t random_value(void)
{
	return host_random() % 8 ? host_random() >> (host_random() % 64) : 0;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
/* Both formatters with one argument list: same text, same length, nothing written past the end. */
#define compare(fmt, ...)                                                                          \
	do {                                                                                       \
		char ours[128], host[128];                                                         \
		size_t size = host_random() % 4 ? sizeof(ours) : host_random() % 40;               \
		int want = snprintf(host, size, fmt, __VA_ARGS__), got;                            \
		memset(ours, '~', sizeof(ours));                                                   \
		got = k_snprintf(ours, size, fmt, __VA_ARGS__);                                    \
		if (got != want || (size && strcmp(ours, host)))                                   \
			fail_msg("%s: got '%s' (%d), want '%s' (%d)", fmt, ours, got, host, want); \
		if (size < sizeof(ours))                                                           \
			assert_int_equal(ours[size], '~');                                         \
	} while (0)

/* Integers of every length in every form. The value of a short type is cut off by both in the same way. */
static void test_integers_as_the_host(void **state)
{
	static const char *const lengths[] = {"", "hh", "h", "l", "ll", "L", "z", "t", "j"};

	for (int i = 0; i < 60000; i++) {
		char fmt[64], letter;
		const char *length;
		long value;

		random_format(fmt, (const char **)lengths, 9, "diuxXo", &letter, &length);
		value = random_value();
		if (!*length || *length == 'h')
			compare(fmt, (int)value);
		else
			compare(fmt, value);
	}
}

/* Strings and characters with any width and precision, into buffers that may be too small. */
static void test_strings_as_the_host(void **state)
{
	static const char *const lengths[] = {""};
	static const char *const texts[] = {"", "a", "hello", "twelve chars",
					    "a line of text that is longer than most"};

	for (int i = 0; i < 10000; i++) {
		char fmt[64], letter;
		const char *length, *text;

		random_format(fmt, (const char **)lengths, 1, "sc", &letter, &length);
		text = texts[host_random() % 5];
		if (letter == 's')
			compare(fmt, text);
		else
			compare(fmt, 32 + i % 90);
	}
}

static void test_widths_from_arguments(void **state)
{
	for (int width = -12; width <= 12; width++)
		for (int precision = -2; precision < 6; precision++) {
			compare("%*d|", width, 42);
			compare("%*.*d|", width, precision, 42);
			compare("%*.*s|%%", width, precision, "abcdef");
		}
}

static void expect(const char *want, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	assert_int_equal(k_vsnprintf(text, sizeof(text), fmt, args), strlen(want));
	va_end(args);
	assert_string_equal(text, want);
}

static void test_symbols(void **state)
{
	expect("schedule+0x8/0x40", "%pS", (void *)0x1008);
	expect("schedule", "%ps", (void *)0x1008);
	expect("schedule+0x40/0x40", "%pB", (void *)0x1040);
	expect("0x1040", "%pS", (void *)0x1040);
	expect("[  schedule]", "[%10ps]", (void *)0x1000);
}

static void test_addresses(void **state)
{
	expect("ffff800080001234 ffff800080001234!", "%px %p!", (void *)0xffff800080001234, (void *)0xffff800080001234);
	expect("0000000000000000", "%p", NULL);
	expect("a name", "%pd", "a name");
	expect("(null) (efault)", "%s %s", NULL, ERR_PTR(-EFAULT));
}

static void test_bytes_and_bitmaps(void **state)
{
	unsigned long map[2] = {0x8000000000000f2dUL, 0x3};
	u8 bytes[] = {0, 0x7f, 0xff, 0x10};

	expect("00 7f ff 10", "%*ph", 4, bytes);
	expect("00:7f:ff-00-7f-007fff", "%*phC-%*phD-%*phN", 3, bytes, 2, bytes, 3, bytes);
	expect("0,2-3,5,8-11,63-65", "%*pbl", 70, map);
	expect("2d.", "%*pb.", 8, map);
	expect("03,80000000,00000f2d", "%*pb", 70, map);
}

static void test_truncated_pointers(void **state)
{
	unsigned long map[1] = {0xf0f};
	char text[8] = "#######";

	assert_int_equal(k_snprintf(text, 5, "%*pbl", 64, map), 8);
	assert_string_equal(text, "0-3,");
	assert_int_equal(k_scnprintf(text, 4, "%pS", (void *)0x1000), 3);
	assert_string_equal(text, "sch");
	assert_int_equal(k_snprintf(NULL, 0, "%d %*pbl", 7, 64, map), 10);
	text[0] = '#';
	assert_int_equal(k_snprintf(text, 0, "%*pbl", 64, map), 8);
	assert_int_equal(text[0], '#'); /* a buffer of no bytes has no room for the terminator either */
}

static void test_unknown_conversion_stops(void **state)
{
	expect("1 (bad format)", "%d %k %s", 1, 2, "never read");
}

/* Through words and back; what vbin_printf says when it refuses. */
static int binary(char *buf, size_t size, unsigned room, const char *fmt, ...)
{
	u32 words[64];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vbin_printf(words, room, fmt, args);
	va_end(args);
	return n < 0 ? n : bstr_printf(buf, size, fmt, words, n);
}

/* The arguments are evaluated twice. */
#define compare_binary(size, fmt, ...)                                               \
	do {                                                                         \
		char direct[256], later[256];                                        \
		int wanted = k_scnprintf(direct, size, fmt, __VA_ARGS__);            \
		assert_int_equal(binary(later, size, 64, fmt, __VA_ARGS__), wanted); \
		assert_string_equal(later, direct);                                  \
	} while (0)

/*
 * trace_printk() keeps its arguments as words and makes the text later: that text must be the one that would have been
 * made at once, whatever the size of the buffer.
 */
static void test_words_and_back(void **state)
{
	static const char *const small[] = {"%d", "%i", "%u", "%x", "%X", "%o", "%5d", "%05u", "%.3x", "%8.4d"};
	static const char *const large[] = {"%ld", "%lu", "%llx", "%Lu", "%lli", "%zu", "%020lx", "%px", "%ps", "%p"};
	const char *volatile none = NULL;
	char fmt[64];

	for (int i = 0; i < 20000; i++) {
		const char *a = small[host_random() % 10], *b = large[host_random() % 10];
		const char *string = "some text" + host_random() % 10;
		int star = host_random() % 20, first = random_value(), last = random_value();
		unsigned long middle = random_value();
		size_t room = 1 + host_random() % 200;

		snprintf(fmt, sizeof(fmt), "<%s %%s%s%%%%%%*d %s>", a, b, small[host_random() % 10]);
		compare_binary(room, fmt, first, string, middle, star, last, first);
	}
	compare_binary(100, "%.3s|%5s|%.*s", "abcdef", "ab", 2, "abcdef");
	compare_binary(100, "%s%s%d", none, "", 7);
	compare_binary(100, "%ps", (void *)0x1010);
}

/*
 * Conversions that a reader elsewhere could not do from words alone must be refused (the caller then makes the text at
 * once), as must arguments that do not fit. A format that does not belong to its words must not read beyond them.
 */
static void test_not_as_words(void **state)
{
	char buf[64];

	assert_int_equal(binary(buf, 64, 64, "%c", 'a'), -EINVAL);
	assert_int_equal(binary(buf, 64, 64, "%-5d", 1), -EINVAL);
	assert_int_equal(binary(buf, 64, 64, "%#x", 1), -EINVAL);
	assert_int_equal(binary(buf, 64, 64, "%hd", 1), -EINVAL);
	assert_int_equal(binary(buf, 64, 64, "%pS", buf), -EINVAL);
	assert_int_equal(binary(buf, 64, 64, "%4ph", buf), -EINVAL);
	assert_int_equal(binary(buf, 64, 64, "%k", 1), -EINVAL);
	assert_int_equal(binary(buf, 64, 64, "100%", 1), -EINVAL);
	assert_int_equal(binary(buf, 64, 1, "%d", 1), 1);
	assert_int_equal(binary(buf, 64, 1, "%ld", 1L), -E2BIG);
	assert_int_equal(binary(buf, 64, 1, "%s", "abc"), 3);
	assert_int_equal(binary(buf, 64, 1, "%s", "abcd"), -E2BIG);
	/* Words that are not those of the format: no reading behind them. */
	assert_int_equal(bstr_printf(buf, 64, "%d %ld %s %*d", (u32[]){5}, 1), 6);
	assert_string_equal(buf, "5 0  0");
}

static void test_put_dec(void **state)
{
	char text[32], want[32];

	for (int i = 0; i < 20000; i++) {
		u64 v = random_value();
		int width = host_random() % 22;

		*put_dec(text, v, width, ' ') = 0;
		snprintf(want, sizeof(want), "%*lu", width, v);
		assert_string_equal(text, want);
	}
}

/* Formats and strings that end with a page, of all lengths: nothing of the next page is read. */
static void test_at_the_end_of_a_page(void **state)
{
	char *pages = mmap(NULL, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at;
	char text[200], want[200];

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + PAGE_SIZE, PAGE_SIZE, PROT_NONE), 0);
	for (size_t len = 0; len < 100; len++) {
		at = pages + PAGE_SIZE - len - 1;
		memset(at, 'x', len);
		at[len] = '\0';
		assert_int_equal(k_snprintf(text, sizeof(text), "<%s>%d", at, 7), len + 3);
		snprintf(want, sizeof(want), "<%s>%d", at, 7);
		assert_string_equal(text, want);
		if (len < 2)
			continue;
		memcpy(at, "%u", 2);
		snprintf(want, sizeof(want), at, 1234U);
		k_snprintf(text, sizeof(text), at, 1234U);
		assert_string_equal(text, want);
	}
	munmap(pages, 2 * PAGE_SIZE);
}

/* Whatever the size of the buffer: behind the text's zero it is as it was when it is small, behind its end always. */
static void test_behind_the_text(void **state)
{
	char text[256];

	for (size_t size = 1; size < 200; size++) {
		memset(text, '~', sizeof(text));
		k_snprintf(text, size, "one%stwo%dthree%lx", "-and-", -12, 0xabcUL);
		for (size_t i = size < 64 ? min(size, strlen(text) + 1) : size; i < sizeof(text); i++)
			assert_int_equal(text[i], '~');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_as_the_host),
		cmocka_unit_test(test_strings_as_the_host),
		cmocka_unit_test(test_widths_from_arguments),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_bytes_and_bitmaps),
		cmocka_unit_test(test_truncated_pointers),
		cmocka_unit_test(test_unknown_conversion_stops),
		cmocka_unit_test(test_words_and_back),
		cmocka_unit_test(test_not_as_words),
		cmocka_unit_test(test_put_dec),
		cmocka_unit_test(test_at_the_end_of_a_page),
		cmocka_unit_test(test_behind_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* vsnprintf against the host's, conversion by conversion, and the kernel's own pointer forms. */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf  k_vsnprintf
#define snprintf   k_snprintf
#define vscnprintf k_vscnprintf
#define scnprintf  k_scnprintf
#define sprintf	   k_sprintf
#include "../../kernel/lib/vsprintf.c"
#include "../../kernel/lib/put_dec.c"
#include "../../kernel/lib/vsprintf_pointer.c"
#include "../../kernel/lib/bitmap.c"
#include "../../kernel/lib/bitmap_text.c"
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
const char *kallsyms_lookup(unsigned long address, unsigned long *size, unsigned long *offset, char *name)
{
	if (address < 0x1000 || address >= 0x1040)
		return NULL;
	*size = 0x40;
	*offset = address - 0x1000;
	return strcpy(name, "schedule");
}

static void random_format(char *fmt, const char *lengths[], unsigned nr_lengths, const char *letters,
			  char *letter, const char **length)
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
	expect("ffff800080001234 ffff800080001234!", "%px %p!", (void *)0xffff800080001234,
	       (void *)0xffff800080001234);
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
}

static void test_unknown_conversion_stops(void **state)
{
	expect("1 (bad format)", "%d %k %s", 1, 2, "never read");
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
		cmocka_unit_test(test_put_dec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

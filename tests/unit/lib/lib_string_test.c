/*
 * Strings, globs, number parsing, sorting: against the host's library where it has the same. The kernel's functions
 * are compiled under other names (k_strlen), so that both can be called with the same random arguments.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>
#include <fnmatch.h>
#include <errno.h>

#define memcmp	k_memcmp
#define memchr	k_memchr
#define strlen	k_strlen
#define strnlen k_strnlen
#define strcmp	k_strcmp
#define strncmp k_strncmp
#define strchr	k_strchr
#define strrchr k_strrchr
#define strstr	k_strstr
#define strspn	k_strspn
#define strcspn k_strcspn
#define strsep	k_strsep
#define bsearch k_bsearch
#include "../../../kernel/lib/string.c"
#include "../../../kernel/lib/glob.c"
#include "../../../kernel/lib/kstrto.c"
#include "../../../kernel/lib/sort.c"
#undef memcmp
#undef memchr
#undef strlen
#undef strnlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strrchr
#undef strstr
#undef strspn
#undef strcspn
#undef strsep
#undef bsearch

static void random_text(char *text, int max, const char *letters)
{
	int n = host_random() % max;

	for (int i = 0; i < n; i++)
		text[i] = letters[host_random() % strlen(letters)];
	text[n] = '\0';
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

/*
 * Each function with the same random strings as the host's, of few letters, so that they often match; one letter has
 * its top bit set, where a comparison of signed characters would differ.
 */
static void test_strings_as_the_host(void **state)
{
	for (int i = 0; i < 20000; i++) {
		char a[12], b[5];
		int c = "ab\xe9"[host_random() % 4];
		size_t n = host_random() % 12;

		random_text(a, sizeof(a), "ab\xe9");
		random_text(b, sizeof(b), "ab\xe9");
		assert_int_equal(k_strlen(a), strlen(a));
		assert_int_equal(k_strnlen(a, n), strnlen(a, n));
		assert_int_equal(sign(k_strcmp(a, b)), sign(strcmp(a, b)));
		assert_int_equal(sign(k_strncmp(a, b, n)), sign(strncmp(a, b, n)));
		assert_ptr_equal(k_strchr(a, c), strchr(a, c));
		assert_ptr_equal(k_strrchr(a, c), strrchr(a, c));
		assert_ptr_equal(k_strstr(a, b), strstr(a, b));
		assert_int_equal(k_strspn(a, b), strspn(a, b));
		assert_int_equal(k_strcspn(a, b), strcspn(a, b));
		assert_ptr_equal(k_memchr(a, c, strlen(a)), memchr(a, c, strlen(a)));
		n = min(strlen(a), strlen(b));
		assert_int_equal(sign(k_memcmp(a, b, n)), sign(memcmp(a, b, n)));
	}
}

/*
 * What the host does not have: copies that say when they were cut, padding, trimming, splitting, and a search that
 * ends after n bytes.
 */
static void test_strscpy_and_strim(void **state)
{
	char small[4], text[] = " \t a b \n ", list[] = "one,,two", *p = list;

	assert_int_equal(strscpy(small, "abc", 4), 3);
	assert_int_equal(strscpy(small, "abcd", 4), -E2BIG);
	assert_string_equal(small, "abc");
	assert_int_equal(strscpy(small, "x", 0), -E2BIG);
	memset(small, 'o', sizeof(small));
	assert_int_equal(strscpy_pad(small, "x", sizeof(small)), 1);
	for (size_t i = 1; i < sizeof(small); i++)
		assert_int_equal(small[i], 0);
	assert_int_equal(strscpy_pad(small, "x", 0), -E2BIG);
	assert_string_equal(strim(text), "a b");
	assert_string_equal(k_strsep(&p, ","), "one");
	assert_string_equal(k_strsep(&p, ","), "");
	assert_string_equal(k_strsep(&p, ","), "two");
	assert_null(k_strsep(&p, ","));
	assert_null(strnstr("abcdef", "ef", 5));
	assert_non_null(strnstr("abcdef", "ef", 6));
}

/* Whole elements, so that every '[' has its ']': what hosts do without it differs. */
static void random_pattern(char *pat)
{
	static const char *const elements[] = {"a",    "b",	 "c",	 "-",	 "*",	 "*", "?",
					       "[ab]", "[!a-b]", "[]c]", "[a-]", "[!]]", "]"};

	*pat = '\0';
	for (int n = host_random() % 7; n; n--)
		strcat(pat, elements[host_random() % ARRAY_SIZE(elements)]);
}

/*
 * Random patterns on random names, as fnmatch() answers. Filters of functions and events are such patterns. The test
 * also sees to it that both answers come often.
 */
static void test_glob_as_fnmatch(void **state)
{
	int matches = 0;

	for (int i = 0; i < 300000; i++) {
		char pat[64], name[8];
		bool want;

		random_pattern(pat);
		random_text(name, sizeof(name), "abc]-");
		want = fnmatch(pat, name, FNM_NOESCAPE) == 0;
		matches += want;
		if (glob_match(pat, name) != want)
			fail_msg("'%s' on '%s': want %d", pat, name, want);
	}
	assert_in_range(matches, 1000, 299000);
}

static void test_glob_by_hand(void **state)
{
	assert_true(glob_match("hrtimer_*", "hrtimer_interrupt"));
	assert_false(glob_match("hrtimer_*", "do_hrtimer_x"));
	assert_true(glob_match("*a*b*c*d", "xxaxxbxxcxxcxxd"));
	assert_true(glob_match("\\*x", "*x"));
	assert_false(glob_match("\\*x", "ax"));
	assert_false(glob_match("a\\", "a\\"));
	assert_true(glob_match("[!a-c]x", "dx"));
	assert_false(glob_match("[!a-c]x", "bx"));
}

/* The host's strtoull on exactly the strings that are numbers by our rules, else an error. */
static void test_kstrtoull_as_strtoull(void **state)
{
	static const unsigned bases[] = {0, 8, 10, 16};

	for (int i = 0; i < 100000; i++) {
		unsigned base = bases[host_random() % 4];
		char text[26], *end;
		u64 want, got = 77;
		int ret;

		random_text(text, sizeof(text), i % 2 ? "0123456789" : "00123xXaf9-+ \n");
		errno = 0;
		want = strtoull(text, &end, base);
		ret = kstrtoull(text, base, &got);
		if (*end == '\n' && end > text)
			end++;
		if (end == text || *end || isspace(*text) || *text == '-')
			assert_int_equal(ret, -EINVAL);
		else if (errno == ERANGE)
			assert_int_equal(ret, -ERANGE);
		else if (ret || got != want)
			fail_msg("'%s' base %u: %d %lu, want %lu", text, base, ret, got, want);
		if (ret)
			assert_int_equal(got, 77);
	}
}

/*
 * The largest and smallest number of each type is taken, one beyond it is ERANGE, and what is no number EINVAL: signs,
 * blanks and a second newline. A value cut off to the type would set a knob to something that nobody wrote.
 */
static void test_kstrto_limits(void **state)
{
	s64 ll;
	int v;
	unsigned u;

	assert_int_equal(kstrtoll("-9223372036854775808", 10, &ll), 0);
	assert_true(ll == (s64)(1ULL << 63));
	assert_int_equal(kstrtoll("9223372036854775808", 10, &ll), -ERANGE);
	assert_int_equal(kstrtoll("-9223372036854775809", 10, &ll), -ERANGE);
	assert_int_equal(kstrtoint("-2147483648", 0, &v), 0);
	assert_int_equal(v, -2147483647 - 1);
	assert_int_equal(kstrtoint("2147483648", 0, &v), -ERANGE);
	assert_int_equal(kstrtouint("4294967295\n", 0, &u), 0);
	assert_int_equal(u, 0xffffffffu);
	assert_int_equal(kstrtouint("4294967296", 0, &u), -ERANGE);
	assert_int_equal(kstrtouint("-1", 0, &u), -EINVAL);
	assert_int_equal(kstrtoint("1\n\n", 0, &v), -EINVAL);
	assert_int_equal(kstrtoint("", 0, &v), -EINVAL);
	assert_int_equal(kstrtoint("--1", 0, &v), -EINVAL);
}

/* The words for on and off, and sizes with K, M and G, as they come on the kernel's command line. */
static void test_kstrtobool_and_memparse(void **state)
{
	static const struct {
		const char *text;
		int ret, value;
	} cases[] = {{"y", 0, 1},	{"Yes", 0, 1},	  {"1", 0, 1},	       {"on", 0, 1},
		     {"n", 0, 0},	{"0", 0, 0},	  {"OFF\n", 0, 0},     {"o", -EINVAL, 0},
		     {"2", -EINVAL, 0}, {"", -EINVAL, 0}, {"\x11", -EINVAL, 0}};
	char *end;

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		bool b;

		assert_int_equal(kstrtobool(cases[i].text, &b), cases[i].ret);
		if (!cases[i].ret)
			assert_int_equal(b, cases[i].value);
	}
	assert_int_equal(memparse("64K,x", &end), 65536);
	assert_string_equal(end, ",x");
	assert_int_equal(memparse("0x10M", NULL), 16 << 20);
	assert_int_equal(memparse("2G", NULL), 2UL << 30);
	assert_int_equal(memparse("12", &end), 12);
	assert_string_equal(end, "");
	assert_true(memparse("18446744073709551617", NULL) == U64_MAX); /* 2^64 + 1, which must not be 1 */
	assert_true(simple_strtoull("18446744073709551617 2", &end, 0) == U64_MAX);
	assert_string_equal(end, " 2");
}

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static int compare_longs(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/*
 * Arrays of any length with many equal elements, of two sizes, sorted as qsort() sorts them; then each key is found,
 * or not.
 */
static void test_sort_and_bsearch(void **state)
{
	for (int round = 0; round < 2000; round++) {
		int v[64], want[64], n = host_random() % 64;
		long w[64];

		for (int i = 0; i < n; i++)
			w[i] = v[i] = want[i] = host_random() % 50;
		sort(v, n, sizeof(*v), compare_ints);
		sort(w, n, sizeof(*w), compare_longs);
		qsort(want, n, sizeof(*want), compare_ints);
		for (int i = 0; i < n; i++) {
			assert_int_equal(v[i], want[i]);
			assert_int_equal(w[i], want[i]);
		}
		for (int key = 0; key < 50; key++) {
			int *got = k_bsearch(&key, v, n, sizeof(*v), compare_ints);

			assert_int_equal(!!got, !!bsearch(&key, v, n, sizeof(*v), compare_ints));
			if (got)
				assert_int_equal(*got, key);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings_as_the_host),	cmocka_unit_test(test_strscpy_and_strim),
		cmocka_unit_test(test_glob_as_fnmatch),		cmocka_unit_test(test_glob_by_hand),
		cmocka_unit_test(test_kstrtoull_as_strtoull),	cmocka_unit_test(test_kstrto_limits),
		cmocka_unit_test(test_kstrtobool_and_memparse), cmocka_unit_test(test_sort_and_bsearch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

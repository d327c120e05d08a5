/*
 * The kernel log: what its records say, which ones it forgets, what goes on with a line; what a reader and a console
 * are told of those that are gone. The one console keeps what it is given in a string; the clock and the task are the
 * test's.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/kstrto.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"

/* The one under test, beside the one that the host's stand-ins have. */
#undef LINE_MAX
#define printk	kernel_printk
#define vprintk kernel_vprintk
int printk(const char *fmt, ...) __printf(1, 2);
#include "../../../kernel/printk.c"
#include "../../../kernel/console.c"

int oops_in_progress;
void preempt_schedule(void)
{
}
ssize_t strscpy(char *dst, const char *src, size_t size)
{
	return k_snprintf(dst, size, "%s", src);
}

/* ---- A console that keeps what it was given. */
static char shown[1 << 16];
static void keep(struct console *con, const char *text, size_t len)
{
	if (strlen(shown) + len < sizeof(shown))
		strncat(shown, text, len);
}
static struct console console = {.name = "test", .write = keep};

static int fresh(void **state)
{
	first_seq = next_seq = text_end = 0;
	console_seq = console_done = 0;
	console_loglevel = LOGLEVEL_DEFAULT;
	consoles = NULL;
	shown[0] = '\0';
	host_now = 1234567000;
	host_task.pid = 42;
	host_task.preempt_count = 0;
	return 0;
}

/* Record `seq` as readers of /dev/kmsg get it, if it is the one that they get; and how many they miss by
 * that. */
static void reads(u64 seq, u64 got, u64 missed, const char *wanted)
{
	static char text[1200];
	u64 lost = 0;
	ssize_t n = printk_read(&seq, text, sizeof(text), &lost);

	text[n] = '\0';
	assert_string_equal(text, wanted);
	assert_int_equal(seq, got + (n > 0));
	assert_int_equal(lost, missed);
}

/* ---- Tests */

static void test_levels(void **state)
{
	printk(KERN_ERR "bad %d\n", 1);
	printk("no level\n");
	printk(KERN_INFO "two\nlines\n");
	reads(0, 0, 0, "3,0,1234567,-;bad 1\n");
	reads(1, 1, 0, "4,1,1234567,-;no level\n");
	reads(2, 2, 0, "6,2,1234567,-;two\n");
	reads(3, 3, 0, "6,3,1234567,-;lines\n");
	reads(4, 4, 0, "");
}

/* A line goes on by KERN_CONT, of the same caller, until its newline; any other message ends it. */
static void test_continued(void **state)
{
	struct log_line line;
	char text[16];
	u64 seq = 0;

	printk(KERN_INFO "a");
	assert_true(log_get(&seq, &line, text, sizeof(text)));
	assert_false(line.closed);
	printk(KERN_CONT "b");
	printk(KERN_CONT "c\n");
	assert_true(log_get(&seq, &line, text, sizeof(text)));
	assert_true(line.closed);
	printk(KERN_CONT "not of that one\n");
	reads(0, 0, 0, "6,0,1234567,-;abc\n");
	reads(1, 1, 0, "4,1,1234567,-;not of that one\n");
	printk(KERN_INFO "x");
	printk(KERN_INFO "y");
	host_task.pid = 43;
	printk(KERN_CONT "another's\n");
	reads(2, 2, 0, "6,2,1234567,-;x\n");
	reads(3, 3, 0, "6,3,1234567,-;y\n");
	reads(4, 4, 0, "4,4,1234567,-;another's\n");
}

/* The oldest records go when there are too many, and not one more; who comes late is told how many he has
 * missed. */
static void test_too_many_records(void **state)
{
	char wanted[64];

	for (unsigned i = 0; i < NR_RECORDS; i++)
		printk(KERN_INFO "%u\n", i);
	reads(0, 0, 0, "6,0,1234567,-;0\n");
	printk(KERN_INFO "one more\n");
	reads(0, 1, 1, "6,1,1234567,-;1\n");
	for (unsigned i = 0; i < 9; i++)
		printk(KERN_INFO "more\n");
	reads(3, 10, 7, "6,10,1234567,-;10\n");
	reads(10, 10, 0, "6,10,1234567,-;10\n");
	assert_int_equal(printk_next_seq() - printk_first_seq(), NR_RECORDS);
	sprintf(wanted, "6,%u,1234567,-;one more\n", NR_RECORDS);
	reads(NR_RECORDS, NR_RECORDS, 0, wanted);
}

/* Records are also dropped when their texts together are too long. Those that are left are whole. */
static void test_too_much_text(void **state)
{
	static char text[901], wanted[1000];
	struct log_line line;
	char got[900];

	for (unsigned i = 0; i < 1000; i++) {
		memset(text, 'a' + i % 26, 900);
		printk(KERN_INFO "%s\n", text);
		for (u64 seq = printk_first_seq(); seq < printk_next_seq(); seq++) {
			assert_true(log_get(&seq, &line, got, sizeof(got)));
			assert_int_equal(line.len, 900);
			if (got[0] != (char)('a' + seq % 26) || memcmp(got, got + 1, 899))
				fail_msg("record %u is damaged after %u", (unsigned)seq, i);
		}
	}
	assert_in_range(printk_next_seq() - printk_first_seq(), LOG_BUFFER_SIZE / 900 - 1, LOG_BUFFER_SIZE / 900);
	sprintf(wanted, "6,999,1234567,-;%s\n", text);
	reads(999, 999, 0, wanted);
}

/* A console gets each message once, below its level, and a line in pieces as they come. */
static void test_console(void **state)
{
	printk(KERN_INFO "before\n");
	console_register(&console);
	printk(KERN_INFO "a");
	assert_string_equal(shown, "[    1.234567] before\n[    1.234567] a");
	printk(KERN_CONT "b\n");
	console_loglevel = 6;
	printk(KERN_INFO "hidden\n");
	printk(KERN_NOTICE "shown\n");
	assert_string_equal(shown, "[    1.234567] before\n[    1.234567] ab\n[    1.234567] shown\n");
	console_unregister(&console);
}

/* While somebody else has the console, an open line on it and more come than the log keeps: the console goes
 * on behind. */
static void test_console_overrun(void **state)
{
	char text[64];

	console_register(&console);
	printk(KERN_INFO "open");
	assert_string_equal(shown, "[    1.234567] open");
	assert_true(console_trylock());
	for (unsigned i = 0; i < NR_RECORDS + 5; i++)
		printk(KERN_INFO "line %u\n", i);
	console_release();
	shown[0] = '\0';
	console_flush();
	/* Record 6 is the oldest now; and it is shown whole. */
	sprintf(text, "[    1.234567] line %u\n[    1.234567] line %u\n", 5, 6);
	if (strncmp(shown, text, strlen(text)))
		fail_msg("after an overrun the console shows '%.40s', not '%.40s'", shown, text);
	console_unregister(&console);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_levels, fresh),
		cmocka_unit_test_setup(test_continued, fresh),
		cmocka_unit_test_setup(test_too_many_records, fresh),
		cmocka_unit_test_setup(test_too_much_text, fresh),
		cmocka_unit_test_setup(test_console, fresh),
		cmocka_unit_test_setup(test_console_overrun, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

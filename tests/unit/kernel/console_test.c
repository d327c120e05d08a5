/*
 * The console lock: it is held, and waited for, with preemption off only, and no line is lost to it. The log is a
 * counter of lines, "a", "b" and so on; consoles append to strings; host_relax(), which the waiter calls, looks at the
 * preemption count and leaves the wait.
 */
/* sources: */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include "../../../kernel/console.c"

static struct task_struct task;
struct task_struct *host_current = &task;
unsigned long host_irqs_off;

static unsigned lines;	     /* in the log */
static char printed[2][256]; /* by console */
static unsigned relaxed;
static jmp_buf gave_up;

/* Nobody else can let go of the lock. */
void host_relax(void)
{
	assert_int_equal(preempt_count(), 1);
	relaxed++;
	longjmp(gave_up, 1);
}

bool log_get(u64 *seq, struct log_line *line, char *text, size_t size)
{
	if (*seq >= lines)
		return false;
	*line = (struct log_line){.len = 1, .closed = true};
	text[0] = (char)('a' + *seq);
	return true;
}

u32 log_version(void)
{
	return lines;
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	buf[0] = '>';
	return 1;
}

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	strcpy(dst, src);
	return (ssize_t)strlen(src);
}

int kstrtoint(const char *s, unsigned base, int *res)
{
	return -EINVAL;
}

void preempt_schedule(void)
{
}

static void write_text(struct console *con, const char *text, size_t len)
{
	assert_int_equal(preempt_count(), 1);
	assert_int_equal(console_locked, 1);
	strncat(con->data, text, len);
}

static struct console first = {.name = "first", .write = write_text, .data = printed[0]};
static struct console second = {.name = "second", .write = write_text, .data = printed[1]};

/*
 * Two consoles that come at different times must each get every line once and in order: a new one the lines that were
 * printed before it came, a removed one no more. Afterwards neither the lock nor preemption may be left as they were
 * inside.
 */
static void test_lines_reach_consoles(void **state)
{
	char name[16];

	lines = 2;
	console_register(&first);
	assert_string_equal(printed[0], ">a\n>b\n");
	lines = 3;
	console_register(&second); /* what the first has shown, then what it has not */
	assert_string_equal(printed[0], ">a\n>b\n>c\n");
	assert_string_equal(printed[1], ">a\n>b\n>c\n");
	assert_true(console_name(0, name, sizeof(name)));
	assert_string_equal(name, "second");
	assert_true(console_name(1, name, sizeof(name)));
	assert_false(console_name(2, name, sizeof(name)));
	console_unregister(&first);
	lines = 4;
	console_flush();
	assert_string_equal(printed[0], ">a\n>b\n>c\n");
	assert_string_equal(printed[1], ">a\n>b\n>c\n>d\n");
	assert_int_equal(preempt_count(), 0);
	assert_int_equal(console_locked, 0);
}

/* host_relax() looks at preemption while they wait. */
static void test_nobody_waits_preemptible(void **state)
{
	char name[16];

	console_locked = 1;
	if (!setjmp(gave_up))
		console_register(&first);
	task.preempt_count = 0;
	if (!setjmp(gave_up))
		console_unregister(&second);
	task.preempt_count = 0;
	if (!setjmp(gave_up))
		console_name(0, name, sizeof(name));
	task.preempt_count = 0;
	assert_int_equal(relaxed, 3);
	console_locked = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_reach_consoles),
		cmocka_unit_test(test_nobody_waits_preemptible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

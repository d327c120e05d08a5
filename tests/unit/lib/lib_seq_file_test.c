/* seq_file: reads at any position, and after an error of the file, hand out the bytes of that position. */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define sigset_t  k_sigset_t
#define timespec  k_timespec
#define timeval	  k_timeval
#define itimerval k_itimerval
#include "../../../kernel/lib/seq_file.c"
#include <host_users.h>

struct task_struct host_task;
unsigned long host_irqs_off;

/* ---- What it stands on. */
void mutex_lock(struct mutex *m)
{
	assert_int_equal(m->owner, 0);
	m->owner = 1;
}
void mutex_unlock(struct mutex *m)
{
	assert_int_equal(m->owner, 1);
	m->owner = 0;
}
static bool no_memory;
static long allocations_left = -1; /* before kmalloc() fails; -1: it never does */
static bool may_allocate(void)
{
	if (!allocations_left)
		return false;
	allocations_left--;
	return true;
}
void *kmalloc(size_t size, gfp_t gfp)
{
	return may_allocate() ? malloc(size) : NULL;
}
void *kzalloc(size_t size, gfp_t gfp)
{
	return may_allocate() ? calloc(1, size) : NULL;
}
void kfree(const void *p)
{
	free((void *)p);
}
void *kvmalloc(size_t size, gfp_t gfp)
{
	return no_memory ? NULL : malloc(size);
}
void kvfree(const void *p)
{
	free((void *)p);
}
char *put_dec(char *end, u64 v, int width, char pad)
{
	fail();
	return end;
}

/* ---- A file of ten records, "record 0\n" to "record 9\n". */
#define RECORDS 10
#define LENGTH	9

static int failing = -1; /* the record that cannot be shown */

static void *numbers_start(struct seq_file *m, loff_t *pos)
{
	return *pos < RECORDS ? (void *)(*pos + 1) : NULL;
}
static void *numbers_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return numbers_start(m, pos);
}
static void numbers_stop(struct seq_file *m, void *v)
{
}
static int numbers_show(struct seq_file *m, void *v)
{
	long n = (long)v - 1;

	if (n == failing)
		return -EIO;
	seq_printf(m, "record %ld\n", n);
	return 0;
}
static const struct seq_operations numbers = {numbers_start, numbers_stop, numbers_next, numbers_show};

static struct file file;
static char got[256];

/* n bytes at this position are there, in one read or several, and are the right ones. */
static void expect_at(loff_t at, size_t n)
{
	static const char want[] = "record 0\nrecord 1\nrecord 2\nrecord 3\nrecord 4\n"
				   "record 5\nrecord 6\nrecord 7\nrecord 8\nrecord 9\n";
	loff_t pos = at;
	ssize_t res;

	while (pos < at + (loff_t)n) {
		res = seq_read(&file, got, at + n - pos, &pos);
		assert_in_range(res, 1, n);
		assert_memory_equal(got, want + pos - res, res);
	}
	assert_int_equal(pos, at + n);
}

/* The read gives no bytes but this, and the position stays. */
static void expect_error(loff_t at, int err)
{
	loff_t pos = at;

	assert_int_equal(seq_read(&file, got, LENGTH, &pos), err);
	assert_int_equal(pos, at);
}

static void reads_anywhere(void **state)
{
	assert_int_equal(seq_open(&file, &numbers), 0);
	expect_at(0, LENGTH);
	expect_at(LENGTH, LENGTH);
	expect_at(50, 20);
	expect_at(3, 4);
	expect_at(7, 1);
	expect_error(RECORDS * LENGTH, 0); /* the end, and behind it */
	expect_error(RECORDS * LENGTH + 5, 0);
	expect_at(RECORDS * LENGTH - 1, 1);
	seq_release(NULL, &file);
}

/* An open without memory fails and leaves nothing; with all that it needs it does not. */
static void opens_need_memory(void **state)
{
	allocations_left = 0;
	assert_int_equal(seq_open(&file, &numbers), -ENOMEM);
	for (long n = 0; n < 2; n++) {
		allocations_left = n;
		assert_int_equal(single_open(&file, numbers.show, NULL), -ENOMEM);
	}
	allocations_left = 2;
	assert_int_equal(single_open(&file, numbers.show, NULL), 0);
	single_release(NULL, &file);
	allocations_left = -1;
}

/* The error is told, the position stays, and what can be read is what stands there. */
static void errors_move_nothing(void **state)
{
	assert_int_equal(seq_open(&file, &numbers), 0);
	expect_at(0, 2 * LENGTH);
	failing = 4;
	expect_error(60, -EIO);
	expect_at(2 * LENGTH, LENGTH);
	expect_at(3 * LENGTH, LENGTH);
	expect_error(4 * LENGTH, -EIO);
	failing = -1;
	expect_at(4 * LENGTH, LENGTH);
	expect_at(60, LENGTH);
	seq_release(NULL, &file);
}

static void no_memory_moves_nothing(void **state)
{
	assert_int_equal(seq_open(&file, &numbers), 0);
	no_memory = true;
	expect_error(20, -ENOMEM);
	no_memory = false;
	expect_at(20, LENGTH);
	seq_release(NULL, &file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_anywhere),
		cmocka_unit_test(opens_need_memory),
		cmocka_unit_test(errors_move_nothing),
		cmocka_unit_test(no_memory_moves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

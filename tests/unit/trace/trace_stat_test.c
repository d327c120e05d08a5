/* trace_stat/: a file shows its rows sorted, behind the header, as they were when it was opened. */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define sigset_t  k_sigset_t
#define timespec  k_timespec
#define timeval	  k_timeval
#define itimerval k_itimerval
#define scnprintf snprintf
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/seq_file.c"
#include "../../../kernel/lib/sort.c"
#include "../../../trace/trace_stat/stat.c"

struct trace_array global_trace;

#include <host_users.h>

struct task_struct host_task;
unsigned long host_irqs_off;
unsigned nr_cpu_ids = 1;

/* ---- What it stands on */
void mutex_lock(struct mutex *m)
{
}
void mutex_unlock(struct mutex *m)
{
}
static bool no_memory;
void *kmalloc(size_t size, gfp_t gfp)
{
	return malloc(size);
}
void *kzalloc(size_t size, gfp_t gfp)
{
	return calloc(1, size);
}
void kfree(const void *p)
{
	free((void *)p);
}
void *kvmalloc(size_t size, gfp_t gfp)
{
	return malloc(size);
}
void *kvzalloc(size_t size, gfp_t gfp)
{
	return no_memory ? NULL : calloc(1, size);
}
void kvfree(const void *p)
{
	free((void *)p);
}

static struct inode inode; /* of the file that create_trace_stats() makes */
struct dentry *simple_create_dir(struct dentry *parent, const char *name, mode_t mode,
				 const struct inode_operations *iop)
{
	return NULL;
}
struct dentry *simple_create_file(struct dentry *parent, const char *name, mode_t mode,
				  const struct file_operations *fops, void *data)
{
	assert_string_equal(name, "numbers");
	inode.i_private = data;
	return NULL;
}

/* ---- A table of numbers, which go down when they are asked for and up when they are shown */
static int from = 3;

static unsigned max_rows(int cpu)
{
	return 10;
}
static unsigned collect(int cpu, void *rows, unsigned max)
{
	for (int i = 0; i < from; i++)
		((int *)rows)[i] = from - i;
	return from;
}
static int cmp(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
static void header(struct seq_file *m)
{
	seq_puts(m, "numbers:");
}
static void show(struct seq_file *m, const void *row)
{
	seq_printf(m, " %d", *(const int *)row);
}
static const struct trace_stat numbers = {
	.name = "numbers",
	.row_size = sizeof(int),
	.max_rows = max_rows,
	.collect = collect,
	.cmp = cmp,
	.header = header,
	.show = show,
};
REGISTER_TRACE_STAT(numbers);

/* Without memory for the rows there is no open file. A row that comes later is for the next reader. */
static void test_rows(void **state)
{
	struct file file = {};
	char got[100];
	loff_t pos = 0;
	ssize_t n;

	assert_int_equal(create_trace_stats(NULL), 0);
	no_memory = true;
	assert_int_equal(stat_open(&inode, &file), -ENOMEM);
	no_memory = false;
	assert_int_equal(stat_open(&inode, &file), 0);
	from = 5; /* too late for this reader */
	n = seq_read(&file, got, sizeof(got), &pos);
	assert_int_equal(n, strlen("numbers: 1 2 3"));
	assert_memory_equal(got, "numbers: 1 2 3", n);
	stat_release(&inode, &file);
	kfree(inode.i_private);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

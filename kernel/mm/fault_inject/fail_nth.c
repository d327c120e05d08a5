/*
 * /proc/<pid>/fail-nth and make-it-fail, by which one task asks for allocations that fail
 * (kernel/mm/fault_inject/fault_inject.c).
 *
 * fail-nth has operations of its own. A file of the usual kind allocates the buffer for its text, and this file must
 * allocate nothing: what it counts are the allocations between a write and the next read.
 */
#include "fail_nth.h"

#include <lib/printf.h>

#include "../../procfs/internal.h"

/* The number that is left: 0 when the fault was injected, or none was asked for. */
static ssize_t fail_nth_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct task_struct *task = proc_task(f->f_inode);
	char text[16];
	int len;

	if (!task)
		return -ESRCH;
	len = snprintf(text, sizeof(text), "%u\n", READ_ONCE(task->fail_nth));
	put_task_struct(task);
	return simple_read_from_buffer(buf, n, pos, text, len);
}

/* Everything is read and looked up before the number counts, and nothing behind that allocates. Bytes, or -errno. */
static ssize_t fail_nth_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	struct task_struct *task;
	char text[16];
	unsigned nth;
	ssize_t len = copy_text_from_user(text, sizeof(text), buf, n);
	int err = len < 0 ? (int)len : kstrtouint(strim(text), 0, &nth);

	if (err)
		return err;
	task = proc_task(f->f_inode);
	if (!task)
		return -ESRCH;
	fault_injection_set_nth(task, nth);
	put_task_struct(task);
	return (ssize_t)n;
}

static int make_it_fail_show(struct seq_file *m, struct task_struct *task)
{
	seq_printf(m, "%d\n", READ_ONCE(task->make_it_fail));
	return 0;
}

/* Root's alone, unlike fail-nth: with a probability set, children inherit what is written here. */
static int make_it_fail_store(struct task_struct *task, const char *text, size_t len)
{
	char number[16];
	int value;

	if (current->euid)
		return -EPERM;
	if (strscpy(number, text, sizeof(number)) < 0 || kstrtoint(strim(number), 0, &value) || value < 0 || value > 1)
		return -EINVAL;
	WRITE_ONCE(task->make_it_fail, value);
	return 0;
}

static const struct file_operations fail_nth_fops = {
	.read = fail_nth_read, .write = fail_nth_write, .llseek = default_llseek};
static const struct proc_pid_entry fail_nth_entry = {.name = "fail-nth", .mode = 0644, .fop = &fail_nth_fops};
static const struct proc_pid_entry make_it_fail_entry = {
	.name = "make-it-fail", .mode = 0644, .show = make_it_fail_show, .store = make_it_fail_store};
REGISTER_PROC_PID(fail_nth_entry);
REGISTER_PROC_PID(make_it_fail_entry);

/*
 * One function in place of another, as live patching does it. /proc/ftrace_redirect shows what the function says;
 * echo 1 > /proc/ftrace_redirect replaces it, echo 0 takes that back.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

MODULE_LICENSE("GPL");

static int question = 41;
module_param(question, int, 0644);

/* What is replaced: not inlined, so that it has a call site. */
static noinline int answer(int number)
{
	return number + 1;
}

/* It gets the arguments of the other one, and returns to its caller. */
static int other_answer(int number)
{
	return number * 100;
}

/* At the entry of answer(): go on in the other function. */
static void notrace redirect(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			     struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)other_answer);
}

static struct ftrace_ops ops = {
	.func = redirect,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_RECURSION,
};
static DEFINE_MUTEX(lock);
static bool replaced; /* [lock] */

static int set_replaced(bool on)
{
	int err;

	if (on == replaced)
		return 0;
	err = on ? register_ftrace_function(&ops) : unregister_ftrace_function(&ops);
	if (!err)
		replaced = on;
	return err;
}

/* 1 replaces the function, 0 brings it back. -EINVAL, -EFAULT, errors of registering. */
static ssize_t redirect_write(struct file *file, const char __user *buffer, size_t length, loff_t *pos)
{
	char text[8] = "";
	bool on;
	int err;

	if (length >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buffer, length))
		return -EFAULT;
	err = kstrtobool(text, &on);
	if (err)
		return err;
	mutex_lock(&lock);
	err = set_replaced(on);
	mutex_unlock(&lock);
	return err ? err : length;
}

static int answer_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", answer(question));
	return 0;
}

static int redirect_open(struct inode *inode, struct file *file)
{
	return single_open(file, answer_show, NULL);
}

static const struct proc_ops redirect_ops = {
	.proc_open = redirect_open,
	.proc_read = seq_read,
	.proc_write = redirect_write,
	.proc_release = single_release,
};

static int __init redirect_init(void)
{
	int err = ftrace_set_filter_ip(&ops, (unsigned long)answer, 0, 1);

	if (err)
		return err;
	if (proc_create("ftrace_redirect", 0644, NULL, &redirect_ops))
		return 0;
	ftrace_free_filter(&ops);
	return -ENOMEM;
}
module_init(redirect_init);

static void __exit redirect_exit(void)
{
	remove_proc_entry("ftrace_redirect", NULL);
	set_replaced(false);
	ftrace_free_filter(&ops);
}
module_exit(redirect_exit);

/*
 * The events of <trace/events/lab.h> happen when somebody writes to debugfs's lab/step: "STEP TEXT". A person enters
 * room STEP, which has as many lights as TEXT has characters, modulo four, and leaves it.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>

#define CREATE_TRACE_POINTS
#include <trace/events/lab.h>

static noinline void lab_step(int step, const char *what)
{
	unsigned lights = strlen(what) % 4;

	trace_lab_step(step, what);
	trace_lab_enter(step, lights);
	trace_lab_enter_dark(step, lights);
	trace_lab_bytes((const unsigned char *)what, strlen(what));
	trace_lab_leave(step, lights);
}

static ssize_t step_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	char text[64], *what;
	ssize_t len = copy_text_from_user(text, sizeof(text), buf, n);
	int step, ret;

	if (len < 0)
		return len;
	what = strim(text);
	ret = kstrtoint(strsep(&what, " "), 10, &step);
	if (ret)
		return ret;
	lab_step(step, what ?: "");
	return n;
}

static const struct file_operations step_fops = { .write = step_write };
static const struct debugfs_entry step_file = { "lab", "step", 0200, &step_fops, NULL };
REGISTER_DEBUGFS(step_file);

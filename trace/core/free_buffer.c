/*
 * free_buffer: closing it gives the buffer's memory back, so that a tool that holds it open leaves no large buffer
 * behind when it is killed. With the option disable_on_free recording ends as well.
 */
#include <fs/libfs.h>
#include <lib/errno.h>
#include <sched/sched.h>

#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "tracer.h"

/* Opening is enough; this is so that `echo > free_buffer` is no error. */
static ssize_t free_buffer_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	return n;
}

/* Closing is the command, because the kernel closes the files of a program that is killed. */
static int free_buffer_release(struct inode *inode, struct file *file)
{
	struct trace_array *tr = tracefs_array(file);

	mutex_lock(&trace_types_lock);
	if (tr->trace_flags & TRACE_ITER(STOP_ON_FREE))
		tracing_set_on(tr, false);
	/*
	 * One byte becomes the smallest size that a buffer can have. An error cannot be told to a program that closes.
	 */
	tracing_resize(tr, 1, RING_BUFFER_ALL_CPUS);
	mutex_unlock(&trace_types_lock);
	return 0;
}

static const struct file_operations free_buffer_fops = {
	.read = tracefs_only_written,
	.write = free_buffer_write,
	.llseek = noop_llseek,
	.release = free_buffer_release,
};
TRACEFS_FILE(free_buffer, "free_buffer", 0200, TRACEFS_ARRAY, &free_buffer_fops);

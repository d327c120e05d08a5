/*
 * A deep call chain to order: a write to debugfs's stack_tracer/plant calls three functions inside of each other that
 * have PLANT_BYTES, 2 and 3 times as much on their stack. The innermost calls one more, for there to be an entry below.
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/errno.h>

#define PLANT_BYTES 512

/* What is on the stack is written and read, so that it is there. */
#define TOUCH(bytes) ((bytes)[0] = (bytes)[sizeof(bytes) - 1] = 1)

static noinline unsigned plant_stack_bottom(volatile unsigned char *bytes)
{
	return bytes[0];
}

static noinline unsigned plant_stack_3(void)
{
	volatile unsigned char bytes[3 * PLANT_BYTES];

	TOUCH(bytes);
	return plant_stack_bottom(bytes) + bytes[sizeof(bytes) - 1];
}

static noinline unsigned plant_stack_2(void)
{
	volatile unsigned char bytes[2 * PLANT_BYTES];

	TOUCH(bytes);
	return plant_stack_3() + bytes[0];
}

static noinline unsigned plant_stack_1(void)
{
	volatile unsigned char bytes[PLANT_BYTES];

	TOUCH(bytes);
	return plant_stack_2() + bytes[0];
}

static ssize_t plant_stack_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	return plant_stack_1() == 4 ? (ssize_t)n : -EIO;
}

static int plant_stack_show(struct seq_file *m, void *v)
{
	seq_printf(m, "write: %d, %d and %d bytes of stack\n", PLANT_BYTES, 2 * PLANT_BYTES, 3 * PLANT_BYTES);
	return 0;
}

static int plant_stack_open(struct inode *inode, struct file *file)
{
	return single_open(file, plant_stack_show, NULL);
}

static const struct file_operations plant_stack_fops = {
	.open = plant_stack_open,
	.read = seq_read,
	.write = plant_stack_write,
	.llseek = seq_lseek,
	.release = single_release,
};
static const struct debugfs_entry plant_stack_file = { "stack_tracer", "plant", 0600, &plant_stack_fops, NULL };
REGISTER_DEBUGFS(plant_stack_file);

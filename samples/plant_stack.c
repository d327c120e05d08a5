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

static int plant_stack_store(char *text, void *data)
{
	return plant_stack_1() == 4 ? 0 : -EIO;
}

static int plant_stack_show(struct seq_file *m, void *v)
{
	seq_printf(m, "write: %d, %d and %d bytes of stack\n", PLANT_BYTES, 2 * PLANT_BYTES, 3 * PLANT_BYTES);
	return 0;
}

static const struct text_file plant_stack_file = {
	.path = "stack_tracer/plant", .mode = 0600, .show = plant_stack_show, .store = plant_stack_store};
REGISTER_DEBUGFS(plant_stack_file);

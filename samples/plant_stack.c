/*
 * A deep call chain for the stack tracer to find: a write to debugfs's stack_tracer/plant calls three functions inside
 * of each other that have PLANT_BYTES, 2 and 3 times as much on their stack. The innermost calls one more, so that it
 * has an entry below it in stack_trace:
 *
 *	plant_stack_1 (512)  ->  plant_stack_2 (1024)  ->  plant_stack_3 (1536)  ->  plant_stack_bottom
 *
 * The sizes in stack_trace must be these and a little more.
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/errno.h>

#define PLANT_BYTES 512

/* Writes both ends of an array, so that the compiler must keep all of it on the stack. */
#define TOUCH(bytes) ((bytes)[0] = (bytes)[sizeof(bytes) - 1] = 1)

/*
 * noinline: each function must have a site and a frame of its own. The array is read after each call below, so that no
 * call becomes a jump, which would give the frame up before it.
 */
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

/*
 * Four bytes that are 1 are added: both ends of the innermost array, and one of each other. -EIO: the stack did not
 * keep them.
 */
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

/*
 * Recursion on demand: a number written to debugfs's fgraph/recurse makes a function call itself so many times, deeper
 * than a task's stack of hooked returns is (trace/fgraph.h). The calls that find no frame must run unhooked and return
 * to the right place: every level checks what the next one returns.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/errno.h>
#include <lib/string.h>

#define RECURSE_MAX 150 /* of these the kernel's stack has room for */

/* What is read after the call keeps it from becoming a loop. */
static unsigned noinline plant_recurse(unsigned depth)
{
	volatile unsigned level = depth;

	return depth ? plant_recurse(depth - 1) + 1 + (level - depth) : 0;
}

/* -EINVAL: no number, or too deep; -EIO: it came back wrong. Thread context. */
static int recurse_store(char *text, void *data)
{
	unsigned long depth;
	int ret = kstrtoul(text, 10, &depth);

	if (ret)
		return ret;
	if (depth > RECURSE_MAX)
		return -EINVAL;
	return plant_recurse(depth) == depth ? 0 : -EIO;
}

static int recurse_show(struct seq_file *m, void *v)
{
	seq_printf(m, "a number up to %d: so deep\n", RECURSE_MAX);
	return 0;
}

static const struct text_file recurse_file = {
	.path = "fgraph/recurse", .mode = 0600, .show = recurse_show, .store = recurse_store};
REGISTER_DEBUGFS(recurse_file);

/*
 * How much a pipe holds: F_GETPIPE_SZ and F_SETPIPE_SZ of fcntl(2). The ring has a power of two of places for pages, as
 * on Linux, so that a byte's number says its place. A new ring gets copies of the bytes: a page of the old one may hold
 * the oldest bytes and the newest, which have different places in another ring.
 *
 * Without root's rights a pipe may have the bytes of /proc/sys/fs/pipe-max-size, and its user the pages of pipe.c.
 */
#include "pipe.h"

#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/cred.h>

#define RING_PAGES_MAX (1u << 19) /* 2 GiB */

static unsigned pipe_max_size = 1 << 20; /* [a] bytes, as on Linux */

void pipe_free_pages(struct pipe_inode_info *pipe)
{
	for (unsigned i = 0; i <= pipe->mask; i++)
		free_page(pipe->pages[i]);
	if (pipe->pages != pipe->first)
		kvfree(pipe->pages);
}

long pipe_size(struct file *f)
{
	return pipe_of(f) ? (long)READ_ONCE(pipe_of(f)->size) : -EBADF;
}

/* The pages that a ring for so many bytes has; 0: no ring is so large. */
static unsigned ring_pages(unsigned long size)
{
	unsigned pages = 1;

	while (pages < RING_PAGES_MAX && (unsigned long)pages << PAGE_SHIFT < size)
		pages *= 2;
	return (unsigned long)pages << PAGE_SHIFT < size ? 0 : pages;
}

/* [l] Copy what the pipe holds into `to`, whose ring is empty. 0 or -ENOMEM; then `to` has a part. */
static int copy_ring(struct pipe_inode_info *to, struct pipe_inode_info *from)
{
	u64 at = from->tail;

	to->tail = to->head = at;
	while (at < from->head) {
		unsigned off = at & (PAGE_SIZE - 1);
		size_t part = min_t(u64, from->head - at, PAGE_SIZE - off);

		if (pipe_fill(to, *pipe_slot(from, at) + off, part, true) != part)
			return -ENOMEM;
		at += part;
	}
	return 0;
}

/*
 * [l] Another ring with the same bytes. 0, -EBUSY or -ENOMEM. An empty ring has no page, so an empty pipe begins at the
 * start of one: where the head stands in the middle of a page, pipe_give_page() relies on it that the page is there.
 */
static int resize_ring(struct pipe_inode_info *pipe, unsigned pages)
{
	struct pipe_inode_info to = {.mask = pages - 1};
	int err;

	if (pipe_used(pipe) > (u64)pages << PAGE_SHIFT)
		return -EBUSY;
	to.pages = kvzalloc(pages * sizeof(to.pages[0]), GFP_KERNEL);
	if (!to.pages)
		return -ENOMEM;
	err = copy_ring(&to, pipe);
	if (err) {
		pipe_free_pages(&to);
		return err;
	}
	pipe_free_pages(pipe);
	pipe->pages = to.pages;
	pipe->mask = to.mask;
	if (!pipe_used(pipe))
		pipe->head = pipe->tail = 0;
	WRITE_ONCE(pipe->size, pages << PAGE_SHIFT);
	return 0;
}

/* [l] 0 or -errno. Who makes a pipe smaller may always do it. */
static int set_pages(struct pipe_inode_info *pipe, unsigned pages)
{
	int more = (int)pages - (int)(pipe->size >> PAGE_SHIFT), err;

	if (more > 0 && (unsigned long)pages << PAGE_SHIFT > READ_ONCE(pipe_max_size) && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	err = pipe_charge(pipe, more) || more <= 0 ? resize_ring(pipe, pages) : -EPERM;
	if (err)
		pipe_charge(pipe, -more);
	return err;
}

/* Writers may have room now. */
long pipe_set_size(struct file *f, unsigned long size)
{
	struct pipe_inode_info *pipe = pipe_of(f);
	unsigned pages = ring_pages((unsigned)size);
	int err;

	if (!pipe)
		return -EBADF;
	if (!pages)
		return -EINVAL;
	mutex_lock(&pipe->lock);
	err = set_pages(pipe, pages);
	if (!err)
		wake_up_interruptible_all(&pipe->wr_wait);
	mutex_unlock(&pipe->lock);
	return err ? err : (long)pages << PAGE_SHIFT;
}

static int max_size_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(pipe_max_size));
	return 0;
}

static int max_size_store(char *text, void *data)
{
	unsigned n;
	int err = kstrtouint(text, 0, &n);

	if (err || !ring_pages(n))
		return -EINVAL;
	WRITE_ONCE(pipe_max_size, ring_pages(n) << PAGE_SHIFT);
	return 0;
}

static const struct text_file max_size_entry = {
	.path = "sys/fs/pipe-max-size", .mode = 0644, .show = max_size_show, .store = max_size_store};
REGISTER_PROC(max_size_entry);

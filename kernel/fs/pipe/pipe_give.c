/*
 * How a file puts what it has into a pipe (<fs/splice.h>), for its splice_read. A file that makes pages of its own
 * (trace_pipe_raw) gives them away: where the pipe stands at the start of a page, they become the pipe's as they are.
 *
 * Locks: the pipe is locked first [l] and room is waited for, so that nothing is taken from the file for which there is
 * no room.
 */
#include <fs/splice.h>
#include <lib/string.h>

#include "pipe.h"

/* pipe_sleep() lets go of the lock, so after each sleep the readers are looked at again as well as the room. */
int pipe_lock_room(struct file *f, bool nonblock)
{
	struct pipe_inode_info *pipe = pipe_of(f);
	int err = 0;

	mutex_lock(&pipe->lock);
	while (!err) {
		if (!pipe->readers) {
			send_sig(SIGPIPE, current, 0);
			err = -EPIPE;
		} else if (pipe_room(pipe) >= PAGE_SIZE) {
			return 0;
		} else {
			err = nonblock ? -EAGAIN : pipe_sleep(pipe, &pipe->wr_wait);
		}
	}
	mutex_unlock(&pipe->lock);
	return err;
}

/* The counterpart of pipe_lock_room(): wake readers if there is something to read. */
void pipe_unlock(struct file *f)
{
	struct pipe_inode_info *pipe = pipe_of(f);
	bool wake = pipe_used(pipe) && waitqueue_active(&pipe->rd_wait);

	mutex_unlock(&pipe->lock);
	if (wake)
		wake_up_interruptible(&pipe->rd_wait);
}

/*
 * [l] The head is in the middle of a page: the rest of that page takes the first part of the new one, and the new page,
 * moved up, holds the second part. The place of the second part may still have a page, whose end holds the oldest bytes
 * that are not read yet; then the second part is copied to its beginning, which is free.
 */
static void give_page_in_parts(struct pipe_inode_info *pipe, char *page, unsigned off)
{
	unsigned first = PAGE_SIZE - off;
	char **slot;

	memcpy(*pipe_slot(pipe, pipe->head) + off, page, first);
	memmove(page, page + first, off);
	slot = pipe_slot(pipe, pipe->head + first);
	if (*slot) { /* the oldest bytes that are not read yet are the end of that page */
		memcpy(*slot, page, off);
		free_page(page);
	} else {
		*slot = page;
	}
	pipe->head += PAGE_SIZE;
}

/*
 * [l] The page becomes the pipe's, without a copy if the head stands at the start of a page. The caller has made sure
 * of room for a page.
 */
void pipe_give_page(struct file *f, void *page)
{
	struct pipe_inode_info *pipe = pipe_of(f);
	unsigned off = pipe->head & (PAGE_SIZE - 1);
	char **slot = pipe_slot(pipe, pipe->head);

	if (off) {
		give_page_in_parts(pipe, page, off);
		return;
	}
	free_page(*slot); /* NULL, or a page that was kept for the next write */
	*slot = page;
	pipe->head += PAGE_SIZE;
}

ssize_t pipe_give_bytes(struct file *f, const void *data, size_t n)
{
	return pipe_fill(pipe_of(f), data, n, true);
}

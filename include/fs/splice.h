/*
 * For a file's splice_read: how it puts what it has into a pipe. The pipe is locked first, so that nothing is taken
 * from the file for which there is no room.
 */
#pragma once

#include <fs/vfs.h>

/*
 * Wait for room for a page at the writing end `pipe`. 0: the pipe is locked until pipe_unlock; -EAGAIN (only when
 * nonblock), -EPIPE (with the signal), -ERESTARTSYS. Thread context. The pipe's lock is outside i_lock and
 * trace_types_lock, which may be taken while it is held.
 */
int pipe_lock_room(struct file *pipe, bool nonblock);
/* While the pipe is locked: a page of get_free_page, full of data, becomes the pipe's. */
void pipe_give_page(struct file *pipe, void *page);
/* While the pipe is locked: n bytes, at most a page, are copied. Returns how many, or -ENOMEM. */
ssize_t pipe_give_bytes(struct file *pipe, const void *data, size_t n);
void pipe_unlock(struct file *pipe); /* unlocks, and wakes the readers if there is something to read */

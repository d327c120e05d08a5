/*
 * For a file's splice_read: how it puts what it has into a pipe. The pipe is locked first, so that nothing is taken
 * from the file for which there is no room.
 */
#pragma once

#include <fs/vfs.h>

/*
 * Room for a page at the writing end `pipe`, waited for: 0, and the pipe is locked until pipe_unlock; -EAGAIN (only
 * when nonblock), -EPIPE (with the signal), -ERESTARTSYS. Thread context; inside the lock: i_lock, trace_types_lock.
 */
int pipe_lock_room(struct file *pipe, bool nonblock);
/* Between these: a page of get_free_page changes hands, all of it data. */
void pipe_give_page(struct file *pipe, void *page);
/* Or n bytes, at most a page, are copied: how many, -ENOMEM. */
ssize_t pipe_give_bytes(struct file *pipe, const void *data, size_t n);
void pipe_unlock(struct file *pipe); /* and who waits for data is woken */

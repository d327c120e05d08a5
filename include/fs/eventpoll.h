/* epoll's interest in the end of files (kernel/fs/anon/epoll.c). */
#pragma once

struct file;

/* The last reference to this file is gone, and it has f_ep: no instance watches it any more. Thread context. */
void eventpoll_release(struct file *file);

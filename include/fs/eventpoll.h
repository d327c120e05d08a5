/* epoll's interest in the end of files, and its bound (kernel/fs/anon/epoll.c). */
#pragma once

struct file;

/* The last reference to this file is gone, and it has f_ep: no instance watches it any more. Thread context. */
void eventpoll_release(struct file *file);

/* How many files the instances of one user may watch: /proc/sys/fs/epoll/max_user_watches. [a] */
extern unsigned epoll_max_watches;

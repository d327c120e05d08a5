/* poll(2): poll_wait() and the bits of its answer. */
#pragma once

#include <fs/poll.h>
#include <linux/fs.h>
#include <linux/wait.h>

typedef struct poll_table poll_table;
#define poll_table_struct poll_table
typedef unsigned __poll_t;
#define EPOLLIN	    POLLIN
#define EPOLLOUT    POLLOUT
#define EPOLLERR    POLLERR
#define EPOLLHUP    POLLHUP
#define EPOLLRDNORM POLLRDNORM
#define EPOLLWRNORM POLLWRNORM

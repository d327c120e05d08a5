/* Waiting for several descriptors. */
#ifndef VT_POLL_H
#define VT_POLL_H

#include <signal.h>
#include <time.h>
#include <uapi/poll.h>

typedef unsigned int nfds_t;

/* Wait until one of n is ready or so many ms are over (-1: without end). How many are ready, or -1 with
 * errno. */
int poll(struct pollfd *fds, nfds_t n, int ms);
/* Likewise, for so long (NULL: without end) and with these signals blocked meanwhile (NULL: as they are). */
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit, const sigset_t *mask);

#endif

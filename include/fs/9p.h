/*
 * 9P, for those who carry its messages: a channel is a way to one server. Its driver registers it, is given messages to
 * send, and says when one is answered. kernel/fs/9p has the client and the file system.
 */
#pragma once

#include <lib/atomic.h>
#include <lib/kvec.h>
#include <lib/list.h>
#include <sched/wait.h>

struct p9_channel;
struct p9_req; /* a request; only the client looks into it */

struct p9_channel_ops {
	/*
	 * Send a request: `out` pieces of the linear map that the server reads, then `in` that it writes. They are the
	 * server's until p9_complete() is called for `req`, which may be before this returns. 0, -ENOSPC (too many are
	 * under way), -EIO. Any context but nmi; it does not sleep.
	 */
	int (*submit)(struct p9_channel *chan, const struct kvec *pieces, unsigned out, unsigned in,
		      struct p9_req *req);
};

#define P9_TAGS 128 /* requests under way to one server */

/* Locks: l lock; m p9_mutex (client.c); a atomic; I immutable once registered. */
struct p9_channel {
	const char *tag;		  /* [I] its name, the first argument of a mount */
	const struct p9_channel_ops *ops; /* [I] */
	spinlock_t lock;		  /* with interrupts off; only locks of wait queues are taken under it */
	unsigned long tags[P9_TAGS / 64]; /* [l] in use */
	struct p9_req *reqs[P9_TAGS];	  /* [l] by tag; NULL: none, or it is not made yet */
	bool broken;			  /* [l writes] it will never answer again */
	wait_queue_head_t room;		  /* tasks that wait for a tag, or for the driver to have room */
	bool mounted;			  /* [m] */
	atomic_t sessions;     /* [a] the one that is mounted, and ended ones whose requests the server still has */
	struct list_head list; /* [m] of all channels */
};

/* `tag` and `ops` are set, the rest is zero. It stays for ever. Thread context. */
void p9_register_channel(struct p9_channel *chan);
/* The server is done with a request, and has written `len` bytes. Any context but nmi. */
void p9_complete(struct p9_req *req, unsigned len);
/* It will never answer again: requests under way and later ones fail with -EIO. Any context but nmi. */
void p9_channel_broken(struct p9_channel *chan);

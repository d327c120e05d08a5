/*
 * The client of 9P2000.L: requests to a server, and the numbers (fids) by which the server knows our files. Functions
 * that wait for the server do so killably: a signal that ends the process ends the wait, and gives -ERESTARTSYS. When
 * the mount has a time limit, its end gives -EIO. Everything here runs in thread context unless it says otherwise.
 */
#pragma once

#include "message.h"

#include <fs/9p.h>
#include <lib/atomic.h>
#include <time/jiffies.h>

#define P9_MSIZE (128 * 1024 + P9_IO_HEAD) /* what we ask for: 128 KiB of data in a message */
#define P9_FIDS	 65536			   /* files that a session has at a time */

/* A session with a server. Locks: a atomic; l the channel's lock; I immutable once made. */
struct p9_client {
	atomic_t refs;		 /* [a] the mount's, and one for each request */
	struct p9_channel *chan; /* [I] */
	u32 msize;		 /* [I] the largest message, as agreed */
	unsigned long *fids;	 /* [l] P9_FIDS bits: in use */
	unsigned long *stale;	 /* [l] P9_FIDS bits: to be clunked when there is room for that */
	u32 nr_stale;		 /* [l for changes] bits that are set there */
	u32 next_fid;		 /* [l] where the search for a free one begins */
	long timeout;		 /* [I] jiffies that a task waits for the server; MAX_SCHEDULE_TIMEOUT: without end */
};

/*
 * A request and its reply. It has a reference of the task that makes it, one of the server while that may write to it,
 * and one of a Tflush that is about it. The last one frees it and its tag. Locks: a atomic; l the channel's lock; t the
 * task's until it is sent, the server's until `done`, then the task's; I immutable once sent.
 */
struct p9_req {
	atomic_t refs;		  /* [a] */
	u16 tag;		  /* [I] */
	u8 type;		  /* [I] P9_T* */
	bool done;		  /* [a] with release: the server has written the reply */
	bool abandoned;		  /* [l] no task waits for the reply */
	u32 came;		  /* [t] bytes that the server has written */
	u32 fid;		  /* [I] that it makes (walk, attach) or ends (clunk); 0: none */
	struct p9_client *client; /* [I] with a reference */
	struct p9_req *flushed;	  /* [I] of a Tflush: the request that it is about, with a reference; else NULL */
	struct p9_msg tx, rx;	  /* [t] their bytes lie behind the structure */
	void *data;		  /* [t] what TWRITE takes, or TREAD brings; NULL: none */
	u32 data_len;		  /* [I] bytes of it */
	wait_queue_head_t wait;	  /* the task */
	u8 bytes[];
};

/* A file's attributes as a server tells them. Times are ns since 1970. */
struct p9_stat {
	struct p9_qid qid;
	u32 mode, uid, gid;
	u64 nlink, rdev, size, blocks;
	u64 atime, mtime, ctime;
};

/*
 * Begin a session: find the channel by its tag, agree on version and msize. `timeout`: as in struct p9_client. ERR_PTR:
 * -ENOENT (no such tag), -EBUSY (it is mounted already), -EOPNOTSUPP (the server knows no 9P2000.L), -ENOMEM, -EIO.
 * p9_client_destroy ends it; requests that the server still has keep the memory.
 */
struct p9_client *p9_client_create(const char *tag, u32 msize, long timeout);
void p9_client_destroy(struct p9_client *c);

/* The fid of the server's root folder, which is not 0, in *fid. 0 or -errno. */
int p9_client_attach(struct p9_client *c, const char *uname, const char *aname, u32 *fid, struct p9_qid *qid);
/* The fid of `name` in the directory `from`, or (name NULL) a second one of `from` itself, when qid may be NULL. */
int p9_client_walk(struct p9_client *c, u32 from, const char *name, u32 *fid, struct p9_qid *qid);
/* The fid is not needed any more. Does not wait for the answer. */
void p9_client_clunk(struct p9_client *c, u32 fid);
int p9_client_getattr(struct p9_client *c, u32 fid, struct p9_stat *stat);
/* The text of a link, with a zero behind it, into `to`, of `size` bytes. */
int p9_client_readlink(struct p9_client *c, u32 fid, char *to, u32 size);
/*
 * Any other request: fields as for p9_msg_put(), then "|" and those of the reply as for p9_msg_get(), without strings.
 * Without "|" the reply says nothing more than that it was done. 0 or -errno.
 */
int p9_client_call(struct p9_client *c, u8 type, const char *fields, ...);

/*
 * Read at most n bytes from an open file (TREAD), or entries of an open directory (TREADDIR), at a position: as many as
 * one message carries. Returns bytes, 0 at the end, or -errno; when it is > 0 the bytes are at (*req)->data, and the
 * caller drops the request by p9_req_put().
 */
ssize_t p9_client_read(struct p9_client *c, u8 type, u32 fid, u64 pos, size_t n, struct p9_req **req);
/* Write at most n bytes, from user or kernel memory, as many as one message carries. Bytes written, or -errno. */
ssize_t p9_client_write(struct p9_client *c, u32 fid, u64 pos, const void *from, size_t n, bool kernel);

/* ---- requests.c, for client.c */

/*
 * A request with its head and a tag, room for `out` and `in` bytes of message, and one reference; it waits for a tag.
 * ERR_PTR(-ENOMEM, -EIO, -ERESTARTSYS). p9_req_put: any context.
 */
struct p9_req *p9_req_alloc(struct p9_client *c, u8 type, u32 out, u32 in);
void p9_req_put(struct p9_req *req);
/*
 * Wait on a queue until `cond`, as a task that waits for the server: 0, -ERESTARTSYS (it is killed), -EIO (the mount's
 * time is up).
 */
#define p9_wait(c, q, cond)                                                      \
	({                                                                       \
		long _time = wait_event_killable_timeout(q, cond, (c)->timeout); \
		_time < 0 ? (int)_time : _time ? 0 : -EIO;                       \
	})
/* Send the request and wait for the reply, whose head it checks. 0, the server's -errno, -EIO, -ERESTARTSYS. */
int p9_client_rpc(struct p9_req *req);
/* A fid that is free, or 0: P9_FIDS are in use. Any context. */
u32 p9_fid_alloc(struct p9_client *c);
void p9_client_put(struct p9_client *c); /* a reference less. Any context */

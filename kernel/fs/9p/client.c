/*
 * The calls of 9P2000.L, one function for each that has an answer: what goes into the request, and what comes out of
 * the reply. requests.c sends and waits. Channels and sessions are here, too.
 *
 * Locks: p9_mutex for the list of channels and for the mount that each of them has.
 */
#include "client.h"

#include <asm/uaccess.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <sched/mutex.h>

#define VERSION	      "9P2000.L"
#define MIN_MSIZE     4096 /* as QEMU's server has it */
#define LONG_MESSAGE  (PATH_BYTES + 512)
#define PATH_BYTES    4096
#define SHORT_MESSAGE (2 * (2 + P9_NAME_MAX) + 64) /* two names and some numbers */
#define SHORT_REPLY   192			   /* attributes are the longest: 160 bytes */
#define GETATTR_BASIC 0x7ffull			   /* all that stat(2) tells */

static DEFINE_MUTEX(p9_mutex);
static LIST_HEAD(channels); /* [p9_mutex] */

/* If two channels have the same tag, the one that was found first is mounted, as on Linux. */
void p9_register_channel(struct p9_channel *chan)
{
	spin_lock_init(&chan->lock);
	init_waitqueue_head(&chan->room);
	mutex_lock(&p9_mutex);
	list_add_tail(&chan->list, &channels);
	mutex_unlock(&p9_mutex);
}

/* A channel carries one session at a time. ERR_PTR(-ENOENT, -EBUSY). */
static struct p9_channel *claim_channel(const char *tag)
{
	struct p9_channel *chan, *found = ERR_PTR(-ENOENT);

	mutex_lock(&p9_mutex);
	list_for_each_entry(chan, &channels, list) {
		if (strcmp(chan->tag, tag))
			continue;
		found = ERR_PTR(-EBUSY);
		if (!chan->mounted) {
			chan->mounted = true;
			found = chan;
			break;
		}
	}
	mutex_unlock(&p9_mutex);
	return found;
}

static void release_channel(struct p9_channel *chan)
{
	mutex_lock(&p9_mutex);
	chan->mounted = false;
	mutex_unlock(&p9_mutex);
}

/*
 * Begin the session on the server, which may agree to a smaller msize than was asked for, but not to a larger one. The
 * server must first have answered the requests of an earlier session: a late answer is followed by a Tclunk, which
 * would name a fid of ours. 0 or -errno.
 */
static int p9_negotiate(struct p9_client *c)
{
	struct p9_channel *chan = c->chan;
	struct p9_str version;
	struct p9_req *req;
	u32 msize;
	int err = p9_wait(c, &chan->room, atomic_read(&chan->sessions) == 1 || READ_ONCE(chan->broken));

	req = err ? ERR_PTR(err) : p9_req_alloc(c, P9_TVERSION, SHORT_MESSAGE, SHORT_REPLY);
	if (IS_ERR(req))
		return PTR_ERR(req);
	p9_msg_put(&req->tx, "ds", c->msize, VERSION);
	err = p9_client_rpc(req) ?: p9_msg_get(&req->rx, "dS", &msize, &version);
	if (!err && (version.len != strlen(VERSION) || memcmp(version.bytes, VERSION, version.len)))
		err = -EOPNOTSUPP;
	else if (!err && (msize > c->msize || msize < MIN_MSIZE))
		err = -EIO;
	if (!err)
		c->msize = msize;
	p9_req_put(req);
	return err;
}

/* Once the channel counts the session, p9_client_destroy() undoes everything, also when p9_negotiate() has failed. */
struct p9_client *p9_client_create(const char *tag, u32 msize, long timeout)
{
	struct p9_channel *chan;
	struct p9_client *c;
	int err;

	if (msize < MIN_MSIZE)
		return ERR_PTR(-EINVAL);
	chan = claim_channel(tag);
	if (IS_ERR(chan))
		return ERR_PTR(PTR_ERR(chan));
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (c)
		c->fids = kcalloc(2 * P9_FIDS / 64, sizeof(long), GFP_KERNEL); /* and `stale` */
	if (!c || !c->fids) {
		kfree(c);
		release_channel(chan);
		return ERR_PTR(-ENOMEM);
	}
	c->stale = c->fids + P9_FIDS / 64;
	atomic_set(&c->refs, 1);
	atomic_inc(&chan->sessions);
	c->chan = chan;
	c->msize = msize;
	c->next_fid = 1;
	c->timeout = timeout;
	err = p9_negotiate(c);
	if (!err)
		return c;
	p9_client_destroy(c);
	return ERR_PTR(err);
}

/* The next session begins with a Tversion, at which the server forgets what this one has left. */
void p9_client_destroy(struct p9_client *c)
{
	release_channel(c->chan);
	p9_client_put(c);
}

/* A request that makes a fid, which settle_fid() (requests.c) looks after if it fails. ERR_PTR(-ENFILE too). */
static struct p9_req *req_with_fid(struct p9_client *c, u8 type, u32 *fid)
{
	struct p9_req *req = p9_req_alloc(c, type, SHORT_MESSAGE, SHORT_REPLY);

	if (IS_ERR(req))
		return req;
	req->fid = *fid = p9_fid_alloc(c);
	if (*fid)
		return req;
	p9_req_put(req);
	return ERR_PTR(-ENFILE);
}

/* Without authentication. The last number is the user, root, since names are not sent. */
int p9_client_attach(struct p9_client *c, const char *uname, const char *aname, u32 *fid, struct p9_qid *qid)
{
	struct p9_req *req = req_with_fid(c, P9_TATTACH, fid);
	int err;

	if (IS_ERR(req))
		return PTR_ERR(req);
	p9_msg_put(&req->tx, "ddssd", *fid, P9_NOFID, uname, aname, 0);
	err = p9_client_rpc(req) ?: p9_msg_get(&req->rx, "Q", qid);
	p9_req_put(req);
	return err;
}

/* One name at a time, so the answer is all or nothing: as many qids as names. */
int p9_client_walk(struct p9_client *c, u32 from, const char *name, u32 *fid, struct p9_qid *qid)
{
	struct p9_req *req = req_with_fid(c, P9_TWALK, fid);
	u16 count;
	int err;

	if (IS_ERR(req))
		return PTR_ERR(req);
	p9_msg_put(&req->tx, "ddw", from, *fid, name ? 1 : 0);
	if (name)
		p9_msg_put(&req->tx, "s", name);
	err = p9_client_rpc(req);
	if (!err) {
		err = p9_msg_get(&req->rx, "w", &count);
		if (!err && count != (name ? 1 : 0))
			err = -EIO;
		if (!err && name)
			err = p9_msg_get(&req->rx, "Q", qid);
		if (err)
			p9_client_clunk(c, *fid);
	}
	p9_req_put(req);
	return err;
}

/* Only the text of a link is long. */
int p9_client_call(struct p9_client *c, u8 type, const char *fields, ...)
{
	struct p9_req *req = p9_req_alloc(c, type, type == P9_TSYMLINK ? LONG_MESSAGE : SHORT_MESSAGE, SHORT_REPLY);
	const char *reply = strchr(fields, '|');
	__builtin_va_list ap;
	int err;

	if (IS_ERR(req))
		return PTR_ERR(req);
	__builtin_va_start(ap, fields);
	p9_msg_vput(&req->tx, fields, &ap);
	err = p9_client_rpc(req);
	if (!err && reply)
		err = p9_msg_vget(&req->rx, reply + 1, &ap);
	__builtin_va_end(ap);
	p9_req_put(req);
	return err;
}

/* A time before 1970 becomes 0, as the kernel's times begin there. */
static u64 time_of(u64 seconds, u64 ns)
{
	return (s64)seconds < 0 ? 0 : seconds * NSEC_PER_SEC + ns;
}

int p9_client_getattr(struct p9_client *c, u32 fid, struct p9_stat *st)
{
	u64 valid, blksize, t[6];
	int err = p9_client_call(c, P9_TGETATTR, "dq|qQdddqqqqqqqqqqq", fid, GETATTR_BASIC, &valid, &st->qid, &st->mode,
				 &st->uid, &st->gid, &st->nlink, &st->rdev, &st->size, &blksize, &st->blocks, &t[0],
				 &t[1], &t[2], &t[3], &t[4], &t[5]);

	if (err)
		return err;
	st->atime = time_of(t[0], t[1]);
	st->mtime = time_of(t[2], t[3]);
	st->ctime = time_of(t[4], t[5]);
	return (valid & GETATTR_BASIC) != GETATTR_BASIC || (s64)st->size < 0 ? -EIO : 0;
}

/* The text comes without a terminating zero, and is longer than a path may be if the server likes. */
int p9_client_readlink(struct p9_client *c, u32 fid, char *to, u32 size)
{
	struct p9_req *req = p9_req_alloc(c, P9_TREADLINK, SHORT_MESSAGE, LONG_MESSAGE);
	struct p9_str target;
	int err;

	if (IS_ERR(req))
		return PTR_ERR(req);
	p9_msg_put(&req->tx, "d", fid);
	err = p9_client_rpc(req) ?: p9_msg_get(&req->rx, "S", &target);
	if (!err && target.len >= size)
		err = -ENAMETOOLONG;
	if (!err) {
		memcpy(to, target.bytes, target.len);
		to[target.len] = '\0';
	}
	p9_req_put(req);
	return err;
}

/*
 * Memory for the data of one message, of one piece, since a piece is a descriptor of the queue. When memory is in
 * pieces that are too small, a smaller message does it. Its size is in *n then. NULL: no memory.
 */
static void *alloc_data(const struct p9_client *c, size_t *n)
{
	size_t most = c->msize - P9_IO_HEAD;
	void *data;

	*n = min(*n, most);
	while (!(data = kmalloc(*n, GFP_KERNEL | __GFP_NOWARN)) && *n > PAGE_SIZE)
		*n /= 2;
	return data;
}

/*
 * The reply's head ends where the data begins, so the data lies by itself in its own memory, and an error, which is as
 * long as that head, lies in the message. The count in the reply must be what came.
 */
ssize_t p9_client_read(struct p9_client *c, u8 type, u32 fid, u64 pos, size_t n, struct p9_req **out)
{
	struct p9_req *req = p9_req_alloc(c, type, SHORT_MESSAGE, P9_READ_HEAD);
	u32 count = 0;
	int err;

	if (IS_ERR(req))
		return PTR_ERR(req);
	req->data = alloc_data(c, &n);
	req->data_len = n;
	err = req->data ? 0 : -ENOMEM;
	if (!err) {
		p9_msg_put(&req->tx, "dqd", fid, pos, req->data_len);
		err = p9_client_rpc(req) ?: p9_msg_get(&req->rx, "d", &count);
	}
	if (!err && count != req->came - P9_READ_HEAD)
		err = -EIO;
	if (err || !count) {
		p9_req_put(req);
		return err;
	}
	*out = req;
	return count;
}

/*
 * Memory with what is to be written, as much of it as one message takes and can be read: its length is in *n.
 * ERR_PTR(-ENOMEM, -EFAULT).
 */
static void *copy_data(const struct p9_client *c, const void *from, size_t *n, bool kernel)
{
	void *data = alloc_data(c, n);

	if (!data)
		return ERR_PTR(-ENOMEM);
	if (kernel)
		memcpy(data, from, *n);
	else
		*n -= copy_from_user(data, from, *n);
	if (*n)
		return data;
	kfree(data);
	return ERR_PTR(-EFAULT);
}

/*
 * What can be read of the user's memory is written. It is copied before the request has a tag: the memory may be a file
 * of this mount, whose pages take messages, too, and tags are few. A server that says it has written more than it was
 * given is not believed.
 */
ssize_t p9_client_write(struct p9_client *c, u32 fid, u64 pos, const void *from, size_t n, bool kernel)
{
	void *data = copy_data(c, from, &n, kernel);
	struct p9_req *req;
	u32 count = 0;
	int err;

	if (IS_ERR(data))
		return PTR_ERR(data);
	req = p9_req_alloc(c, P9_TWRITE, P9_WRITE_HEAD, P9_READ_HEAD);
	if (IS_ERR(req)) {
		kfree(data);
		return PTR_ERR(req);
	}
	req->data = data;
	req->data_len = n;
	p9_msg_put(&req->tx, "dqd", fid, pos, req->data_len);
	err = p9_client_rpc(req) ?: p9_msg_get(&req->rx, "d", &count);
	if (!err && count > req->data_len)
		err = -EIO;
	p9_req_put(req);
	return err ? err : (ssize_t)count;
}

/*
 * Requests to a 9P server: tags, sending, waiting, and what happens when the waiting task gives up.
 *
 * A request's memory is written by the server at any time between submit() and p9_complete(), so the server holds a
 * reference to it. A task that is killed while it waits leaves, and so does one whose time is up: it marks the request
 * as abandoned, tells the server by a Tflush that the answer is not wanted, and drops its own reference. The memory and
 * the tag are free again when the last of three has let go: the task, the server (its answer has come), and the Tflush
 * (its answer has come; before that the server might take a new request with the same tag for the one that is to be
 * flushed).
 *
 * What an abandoned request would have made on the server must not be lost: when the answer says that a walk has made a
 * fid, p9_complete() lets go of the fid by a Tclunk whose reply is not waited for.
 *
 * Locks: the channel's lock [l], a spinlock with interrupts off. Under it a task that gives up and the interrupt that
 * brings the answer agree on which came first.
 */
#include "client.h"

#include <kernel/printk.h>
#include <lib/bitmap.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <proc/signal.h>

#define NO_TAG 0xffff

/*
 * Memory goes by kfree alone, which is allowed in an interrupt. The session ends on the server when the next one
 * begins, which may be waiting for this.
 */
void p9_client_put(struct p9_client *c)
{
	struct p9_channel *chan = c->chan;

	if (!atomic_dec_and_test(&c->refs))
		return;
	kfree(c->fids);
	kfree(c);
	atomic_dec(&chan->sessions);
	wake_up_all(&chan->room);
}

/* Fid 0 is never given out, so that 0 can say "none". */
u32 p9_fid_alloc(struct p9_client *c)
{
	unsigned long flags;
	u32 fid;

	spin_lock_irqsave(&c->chan->lock, flags);
	fid = find_next_zero_bit(c->fids, P9_FIDS, c->next_fid);
	if (fid == P9_FIDS)
		fid = find_next_zero_bit(c->fids, P9_FIDS, 1);
	if (fid < P9_FIDS) {
		c->fids[fid / 64] |= BIT(fid % 64);
		c->next_fid = fid + 1;
	}
	spin_unlock_irqrestore(&c->chan->lock, flags);
	return fid < P9_FIDS ? fid : 0;
}

/* The server has no file by this number. */
static void p9_fid_free(struct p9_client *c, u32 fid)
{
	unsigned long flags;

	spin_lock_irqsave(&c->chan->lock, flags);
	c->fids[fid / 64] &= ~BIT(fid % 64);
	spin_unlock_irqrestore(&c->chan->lock, flags);
}

/* The lowest tag that is free, or -1. */
static int p9_tag_alloc(struct p9_channel *chan)
{
	unsigned long flags;
	unsigned tag;

	spin_lock_irqsave(&chan->lock, flags);
	tag = find_first_zero_bit(chan->tags, P9_TAGS);
	if (tag < P9_TAGS)
		chan->tags[tag / 64] |= BIT(tag % 64);
	spin_unlock_irqrestore(&chan->lock, flags);
	return tag < P9_TAGS ? (int)tag : -1;
}

static void p9_tag_free(struct p9_channel *chan, u16 tag)
{
	unsigned long flags;

	spin_lock_irqsave(&chan->lock, flags);
	chan->tags[tag / 64] &= ~BIT(tag % 64);
	chan->reqs[tag] = NULL;
	spin_unlock_irqrestore(&chan->lock, flags);
	wake_up_all(&chan->room);
}

/* A session's first message has no tag, since the server may take it for the end of all that had one. */
static u16 tag_in_message(const struct p9_req *req)
{
	return req->type == P9_TVERSION ? NO_TAG : req->tag;
}

/* Without waiting. The message begins behind the structure, the room for the reply behind that. NULL: no memory. */
static struct p9_req *req_make(struct p9_client *c, u8 type, u16 tag, u32 out, u32 in, gfp_t gfp)
{
	struct p9_req *req = kmalloc(sizeof(*req) + out + in, gfp);
	unsigned long flags;

	if (!req)
		return NULL;
	*req = (struct p9_req){.tag = tag, .type = type, .client = c};
	atomic_set(&req->refs, 1);
	atomic_inc(&c->refs);
	init_waitqueue_head(&req->wait);
	req->tx = (struct p9_msg){.buf = req->bytes, .size = out};
	req->rx = (struct p9_msg){.buf = req->bytes + out, .size = in};
	p9_msg_begin(&req->tx, type, tag_in_message(req));
	spin_lock_irqsave(&c->chan->lock, flags);
	c->chan->reqs[tag] = req;
	spin_unlock_irqrestore(&c->chan->lock, flags);
	return req;
}

struct p9_req *p9_req_alloc(struct p9_client *c, u8 type, u32 out, u32 in)
{
	struct p9_channel *chan = c->chan;
	struct p9_req *req;
	int tag = -1, err;

	err = p9_wait(c, &chan->room, READ_ONCE(chan->broken) || (tag = p9_tag_alloc(chan)) >= 0);
	if (err || tag < 0)
		return ERR_PTR(err ? err : -EIO);
	req = req_make(c, type, tag, out, in, GFP_KERNEL);
	if (req)
		return req;
	p9_tag_free(chan, tag);
	return ERR_PTR(-ENOMEM);
}

/* For contexts that cannot wait: NULL when there is no tag or no memory now. */
static struct p9_req *req_alloc_nowait(struct p9_client *c, u8 type, u32 out, u32 in)
{
	int tag = p9_tag_alloc(c->chan);
	struct p9_req *req = tag < 0 ? NULL : req_make(c, type, tag, out, in, GFP_ATOMIC | __GFP_NOWARN);

	if (!req && tag >= 0)
		p9_tag_free(c->chan, tag);
	return req;
}

/* The recursion is one level deep: the request that a Tflush is about is never a Tflush. */
void p9_req_put(struct p9_req *req)
{
	if (!atomic_dec_and_test(&req->refs))
		return;
	if (req->flushed)
		p9_req_put(req->flushed);
	p9_tag_free(req->client->chan, req->tag);
	p9_client_put(req->client);
	kfree(req->data);
	kfree(req);
}

/*
 * Hand the request to the driver, and a reference to the server with it. The data of a write goes behind the message,
 * that of a read behind the head of the reply. 0, -ENOSPC, -EIO. Any context but nmi.
 */
static int req_submit(struct p9_req *req)
{
	struct p9_channel *chan = req->client->chan;
	bool writes = req->data && req->type == P9_TWRITE, reads = req->data && !writes;
	struct kvec pieces[3];
	unsigned n = 0;
	int err;

	pieces[n++] = (struct kvec){req->tx.buf, req->tx.at};
	if (writes)
		pieces[n++] = (struct kvec){req->data, req->data_len};
	pieces[n++] = (struct kvec){req->rx.buf, req->rx.size};
	if (reads)
		pieces[n++] = (struct kvec){req->data, req->data_len};
	atomic_inc(&req->refs);
	err = READ_ONCE(chan->broken) ? -EIO : chan->ops->submit(chan, pieces, 1 + writes, 1 + reads, req);
	if (err)
		p9_req_put(req);
	return err;
}

/*
 * Send a request without waiting for its reply; takes over the caller's reference. Without room it is not sent. 0 or
 * -errno.
 */
static int req_send_and_forget(struct p9_req *req)
{
	int err = p9_msg_finish(&req->tx, 0);

	req->abandoned = true;
	if (!err)
		err = req_submit(req);
	p9_req_put(req);
	return err;
}

/* There was no room for its Tclunk: the next answer that comes makes room (p9_complete). Any context. */
static void keep_stale(struct p9_client *c, u32 fid)
{
	unsigned long flags;

	spin_lock_irqsave(&c->chan->lock, flags);
	c->stale[fid / 64] |= BIT(fid % 64);
	WRITE_ONCE(c->nr_stale, c->nr_stale + 1);
	spin_unlock_irqrestore(&c->chan->lock, flags);
}

/* The number of a file that is waiting for its Tclunk, which is the caller's to send; 0: there is none. */
static u32 take_stale(struct p9_client *c)
{
	unsigned long flags;
	u32 fid;

	if (!READ_ONCE(c->nr_stale))
		return 0;
	spin_lock_irqsave(&c->chan->lock, flags);
	fid = find_first_bit(c->stale, P9_FIDS);
	if (fid < P9_FIDS) {
		c->stale[fid / 64] &= ~BIT(fid % 64);
		WRITE_ONCE(c->nr_stale, c->nr_stale - 1);
	}
	spin_unlock_irqrestore(&c->chan->lock, flags);
	return fid < P9_FIDS ? fid : 0;
}

/* A Tclunk whose reply is not waited for, now or when there is room. Any context. */
static void clunk_nowait(struct p9_client *c, u32 fid)
{
	struct p9_req *req = req_alloc_nowait(c, P9_TCLUNK, P9_HEADER + 4, P9_READ_HEAD);
	int err = -ENOSPC;

	if (req) {
		req->fid = fid;
		p9_msg_put(&req->tx, "d", fid);
		err = req_send_and_forget(req);
	}
	if (err == -ENOSPC)
		keep_stale(c, fid);
}

/*
 * Waits only for a tag and for room in the queue; a task that is killed meanwhile leaves. One that is exiting gets no
 * signal any more, so it does not wait at all. What could not be sent is sent when the server answers something else.
 */
void p9_client_clunk(struct p9_client *c, u32 fid)
{
	struct p9_req *req;
	int sent = -ENOSPC;

	if (current->flags & PF_EXITING) {
		clunk_nowait(c, fid);
		return;
	}
	req = p9_req_alloc(c, P9_TCLUNK, P9_HEADER + 4, P9_READ_HEAD);
	if (!IS_ERR(req)) {
		req->fid = fid;
		req->abandoned = true;
		p9_msg_put(&req->tx, "d", fid);
		if (!p9_msg_finish(&req->tx, 0))
			p9_wait(c, &c->chan->room, (sent = req_submit(req)) != -ENOSPC);
		p9_req_put(req);
	}
	if (sent == -ENOSPC)
		keep_stale(c, fid);
}

/*
 * The fid that a request was about, after its answer. A clunked one is free, and so is one that the server refused to
 * make. One that was made for a task that has left must go again. Any context.
 */
static void settle_fid(struct p9_req *req, int answer)
{
	if (!req->fid)
		return;
	if (req->type == P9_TCLUNK || answer < 0)
		p9_fid_free(req->client, req->fid);
	else if (req->abandoned)
		clunk_nowait(req->client, req->fid);
}

/*
 * The task gives up: tell the server, and leave. If there is no room for a Tflush, the answer that comes some day frees
 * the request instead.
 */
static void p9_flush(struct p9_req *req)
{
	struct p9_req *tflush = req_alloc_nowait(req->client, P9_TFLUSH, P9_HEADER + 2, P9_READ_HEAD);

	if (!tflush)
		return;
	atomic_inc(&req->refs);
	tflush->flushed = req;
	p9_msg_put(&tflush->tx, "w", req->tag);
	req_send_and_forget(tflush);
}

/*
 * [l] decides between a task that gives up and the answer. Release: a task that sees `done` sees what the server wrote
 * and `came`. The reference that is dropped last keeps the request while its task is woken: the task may be awake
 * already and drop its own.
 *
 * A server cancels a request that was flushed by giving it back with nothing in it, which p9_msg_reply() calls -EIO.
 */
void p9_complete(struct p9_req *req, unsigned len)
{
	struct p9_channel *chan = req->client->chan;
	unsigned long flags;
	bool abandoned;
	u32 stale;

	req->came = len;
	spin_lock_irqsave(&chan->lock, flags);
	abandoned = req->abandoned;
	smp_store_release(&req->done, true);
	spin_unlock_irqrestore(&chan->lock, flags);
	if (abandoned)
		settle_fid(req, p9_msg_reply(&req->rx, len, req->type, tag_in_message(req)));
	else
		wake_up_all(&req->wait);
	wake_up_all(&chan->room);
	stale = take_stale(req->client);
	if (stale)
		clunk_nowait(req->client, stale);
	p9_req_put(req);
}

/*
 * Wait for the answer: 0, -ERESTARTSYS when the task was killed first, -EIO when no answer will come or none has come
 * in the mount's time. A request that is given up stays what it is for the server, however late it answers.
 */
static int wait_for_reply(struct p9_req *req)
{
	struct p9_channel *chan = req->client->chan;
	unsigned long flags;
	int err = p9_wait(req->client, &req->wait, smp_load_acquire(&req->done) || READ_ONCE(chan->broken));

	spin_lock_irqsave(&chan->lock, flags);
	if (req->done)
		err = 0;
	else if (!err)
		err = -EIO;
	req->abandoned = err;
	spin_unlock_irqrestore(&chan->lock, flags);
	if (err)
		p9_flush(req);
	if (err == -EIO && !READ_ONCE(chan->broken))
		pr_warn("9p: %s: the server does not answer a request of type %u\n", chan->tag, req->type);
	return err;
}

/* A reply that makes no sense is reported in the log: the server has a fault. */
int p9_client_rpc(struct p9_req *req)
{
	struct p9_channel *chan = req->client->chan;
	u32 behind = req->type == P9_TWRITE ? req->data_len : 0;
	int err = p9_msg_finish(&req->tx, behind), sent;

	if (!err && req->tx.at + behind > req->client->msize)
		err = -ENAMETOOLONG; /* only texts are as long */
	if (!err) {
		err = p9_wait(req->client, &chan->room, (sent = req_submit(req)) != -ENOSPC);
		if (!err)
			err = sent;
	}
	if (err) {
		settle_fid(req, err);
		return err;
	}
	err = wait_for_reply(req);
	if (err)
		return err;
	err = p9_msg_reply(&req->rx, req->came, req->type, tag_in_message(req));
	if (err == -EIO && req->came != P9_READ_HEAD)
		pr_warn("9p: %s: a reply to a request of type %u makes no sense (%u bytes)\n", chan->tag, req->type,
			req->came);
	settle_fid(req, err);
	return err;
}

/*
 * The flag is set before the wake-ups: a task that goes to sleep later sees it. Under the lock a request that has a tag
 * cannot be freed, since its tag is freed before.
 */
void p9_channel_broken(struct p9_channel *chan)
{
	unsigned long flags;

	spin_lock_irqsave(&chan->lock, flags);
	WRITE_ONCE(chan->broken, true);
	for (unsigned tag = 0; tag < P9_TAGS; tag++)
		if (chan->reqs[tag])
			wake_up_all(&chan->reqs[tag]->wait);
	spin_unlock_irqrestore(&chan->lock, flags);
	wake_up_all(&chan->room);
}

/*
 * Messages of AF_UNIX sockets.
 *
 * A message is made by its sender, with its bytes and what goes with them, before any lock is taken; then it is hung on
 * the receiver's queue under unix_mutex. A stream's write becomes as many messages as it needs, and a stream's read
 * takes bytes of several.
 *
 * A reader holds read_mutex, so no other takes messages away. It leaves the message on the queue while it copies its
 * bytes to the program, which may fault and sleep, without unix_mutex.
 */
#include "unix.h"

#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <time/ktime.h>

#define STREAM_PART 16128 /* bytes of one message of a stream: with its head it fits into 16 KiB */

/* [u] What u has sent and was read, or never arrives, counts no more. */
static void unix_uncharge(struct unix_sock *u, int bytes)
{
	u->wmem -= bytes;
	sock_memory(&u->sk, u->wmem);
	if (unix_writable(u))
		wake_up_interruptible_all(&u->sk.wait);
}

/*
 * [u, released while asleep] Wait until u may send something more, and count it. 0 or -errno; -ENOBUFS: the user's
 * sockets hold too much, as on Linux when there is no memory for a message.
 */
static int charge(struct unix_sock *u, int bytes, unsigned flags)
{
	s64 left = sock_timeout(READ_ONCE(u->sk.sndtimeo), flags);
	int err;

	for (;;) {
		err = unix_take_error(u);
		if (!err && u->shutdown & SEND_SHUTDOWN)
			err = -EPIPE;
		if (err)
			return err;
		if (u->wmem < READ_ONCE(u->sk.sndbuf))
			break;
		err = unix_wait(&u->sk.wait, &left);
		if (err)
			return err;
	}
	if (!sock_memory(&u->sk, u->wmem + bytes))
		return -ENOBUFS;
	u->wmem += bytes;
	return 0;
}

void unix_msg_free(struct unix_msg *msg)
{
	scm_put_files(msg->scm.files);
	unix_put(msg->from);
	kvfree(msg);
}

/* One that was made and could not be sent. */
static void msg_cancel(struct unix_msg *msg)
{
	mutex_lock(&unix_mutex);
	unix_uncharge(msg->from, msg->charge);
	mutex_unlock(&unix_mutex);
	unix_msg_free(msg);
}

/* The next n bytes of the program as a message of u; it takes over the files. ERR_PTR. */
static struct unix_msg *msg_new(struct unix_sock *u, struct sock_io *io, size_t n)
{
	int bytes = n + sizeof(struct unix_msg), err;
	struct unix_msg *msg;

	mutex_lock(&unix_mutex);
	err = charge(u, bytes, io->flags);
	mutex_unlock(&unix_mutex);
	if (err)
		return ERR_PTR(err);
	msg = kvmalloc(bytes, GFP_KERNEL);
	if (!msg) {
		mutex_lock(&unix_mutex);
		unix_uncharge(u, bytes);
		mutex_unlock(&unix_mutex);
		return ERR_PTR(-ENOMEM);
	}
	*msg = (struct unix_msg){.from = unix_get(u), .charge = bytes, .len = n, .scm.cred = io->scm.cred};
	if (sock_io_from_user(io, msg->data, n)) {
		msg_cancel(msg);
		return ERR_PTR(-EFAULT);
	}
	msg->scm.files = io->scm.files;
	io->scm.files = NULL;
	return msg;
}

/* [u] */
static void msg_queue(struct unix_sock *to, struct unix_msg *msg)
{
	unix_count_inflight(msg->scm.files, 1);
	list_add_tail(&msg->list, &to->queue);
	to->queued++;
	wake_up_interruptible_all(&to->sk.wait);
}

void unix_msg_unlink(struct unix_sock *u, struct unix_msg *msg)
{
	bool was_full = unix_queue_full(u);
	struct unix_sock *sender;

	list_del(&msg->list);
	u->queued--;
	unix_count_inflight(msg->scm.files, -1);
	unix_uncharge(msg->from, msg->charge);
	if (!was_full || unix_queue_full(u))
		return;
	wake_up_interruptible_all(&u->space);
	list_for_each_entry(sender, &u->senders, sends_to)
		wake_up_interruptible_all(&sender->sk.wait);
}

void unix_take_queue(struct unix_sock *u, struct list_head *to)
{
	struct unix_msg *msg, *next;

	list_for_each_entry_safe(msg, next, &u->queue, list) {
		unix_msg_unlink(u, msg);
		list_add_tail(&msg->list, to);
	}
}

struct unix_sock *unix_leave_peer(struct unix_sock *u)
{
	struct unix_sock *peer = u->peer;

	list_del_init(&u->sends_to);
	u->peer = NULL;
	return peer;
}

/* ---- Sending */

static ssize_t send_broken(const struct sock_io *io)
{
	if (!(io->flags & MSG_NOSIGNAL))
		send_sig(SIGPIPE, current, 0);
	return -EPIPE;
}

/* One part of a stream, and its bytes to *sent. 0 or -errno. */
static int send_part(struct unix_sock *u, struct unix_sock *peer, struct sock_io *io, size_t *sent)
{
	size_t n = min_t(size_t, io->left, STREAM_PART);
	struct unix_msg *msg = msg_new(u, io, n);
	bool broken;

	if (IS_ERR(msg))
		return PTR_ERR(msg);
	mutex_lock(&unix_mutex);
	broken = peer->dead || peer->shutdown & RCV_SHUTDOWN;
	if (!broken)
		msg_queue(peer, msg);
	mutex_unlock(&unix_mutex);
	if (broken) {
		msg_cancel(msg);
		return -EPIPE;
	}
	*sent += n;
	return 0;
}

/*
 * An error after some bytes is not told, since they are on their way; the bytes of a part that was copied and not
 * queued are not among them. A closed direction comes before a pending error, which waits for a reader, and is told to
 * an empty write, too: as on Linux.
 */
static ssize_t stream_send(struct unix_sock *u, struct sock_io *io)
{
	struct unix_sock *peer;
	size_t sent = 0;
	bool closed;
	int err = 0;

	mutex_lock(&unix_mutex);
	peer = u->peer ? unix_get(u->peer) : NULL;
	closed = u->shutdown & SEND_SHUTDOWN;
	mutex_unlock(&unix_mutex);
	if (io->addr_len)
		err = peer ? -EISCONN : -EOPNOTSUPP;
	else if (!peer)
		err = -ENOTCONN;
	else if (closed)
		err = -EPIPE;
	while (!err && io->left)
		err = send_part(u, peer, io, &sent);
	unix_put(peer);
	if (sent)
		return sent;
	return err == -EPIPE ? send_broken(io) : err;
}

/* To whom a datagram goes, with a reference; ERR_PTR. */
static struct unix_sock *receiver_of(struct unix_sock *u, const struct sock_io *io)
{
	struct unix_sock *to;

	if (io->addr_len)
		return unix_find(&io->addr, io->addr_len, u->sk.type);
	mutex_lock(&unix_mutex);
	to = u->peer ? unix_get(u->peer) : ERR_PTR(-ENOTCONN);
	mutex_unlock(&unix_mutex);
	return to;
}

/* [u, released while asleep] Wait until the message can be queued there. 0 or -errno; *gone: a peer to be put. */
static int wait_to_queue(struct unix_sock *u, struct unix_sock *to, s64 left, struct unix_sock **gone)
{
	int err = 0;

	while (!err) {
		if (to->dead) {
			if (u->sk.type == SOCK_SEQPACKET)
				return -EPIPE;
			if (u->peer == to)
				*gone = unix_leave_peer(u);
			return -ECONNREFUSED;
		}
		if (to->peer && to->peer != u)
			return -EPERM;
		if (to->shutdown & RCV_SHUTDOWN)
			return -EPIPE;
		if (to == u || to->peer == u || !unix_queue_full(to))
			return 0;
		err = unix_wait(&to->space, &left);
	}
	return err;
}

/*
 * One datagram or packet to `to`. The message is made before the mutex is taken; when it cannot be queued it is given
 * back. n or -errno.
 */
static ssize_t unix_send_to(struct unix_sock *u, struct unix_sock *to, struct sock_io *io)
{
	size_t n = io->left;
	struct unix_msg *msg = msg_new(u, io, n);
	struct unix_sock *gone = NULL;
	int err;

	if (IS_ERR(msg))
		return PTR_ERR(msg);
	mutex_lock(&unix_mutex);
	err = wait_to_queue(u, to, sock_timeout(READ_ONCE(u->sk.sndtimeo), io->flags), &gone);
	if (!err)
		msg_queue(to, msg);
	mutex_unlock(&unix_mutex);
	unix_put(gone);
	if (!err)
		return n;
	msg_cancel(msg);
	return err;
}

/* Datagrams and packets: all of it in one message, or nothing. */
static ssize_t packet_send(struct unix_sock *u, struct sock_io *io)
{
	struct unix_sock *to;
	ssize_t res = 0;

	if (u->sk.type == SOCK_SEQPACKET) {
		if (!READ_ONCE(u->connected))
			return -ENOTCONN;
		io->addr_len = 0;
	}
	if (READ_ONCE(u->sk.passcred) && !READ_ONCE(u->addr))
		res = unix_autobind(u);
	if (res)
		return res;
	to = receiver_of(u, io);
	if (IS_ERR(to))
		return PTR_ERR(to);
	res = io->left > (size_t)(READ_ONCE(u->sk.sndbuf) - 32) ? -EMSGSIZE : unix_send_to(u, to, io);
	unix_put(to);
	return res;
}

/* The files of the message are taken over, whatever becomes of it. */
ssize_t unix_sendmsg(struct sock *sk, struct sock_io *io)
{
	struct unix_sock *u = unix_sk(sk);
	ssize_t res;

	if (io->flags & MSG_OOB)
		res = -EOPNOTSUPP;
	else
		res = sk->type == SOCK_STREAM ? stream_send(u, io) : packet_send(u, io);
	scm_put_files(io->scm.files);
	io->scm.files = NULL;
	return res;
}

/* ---- Receiving */

/*
 * [r, released while asleep] The first message, which stays on the queue. NULL: there will be none, *err is 0 or
 * -errno. Datagrams and packets come after an error that is to be told, bytes of a stream before it; and a reader of
 * datagrams that does not wait is not told of the end: as on Linux.
 */
static struct unix_msg *wait_for_message(struct unix_sock *u, s64 *left, int *err)
{
	struct unix_msg *msg;

	for (;;) {
		mutex_lock(&unix_mutex);
		msg = list_first_entry_or_null(&u->queue, struct unix_msg, list);
		*err = msg && u->sk.type == SOCK_STREAM ? 0 : unix_take_error(u);
		if (*err)
			msg = NULL;
		if (msg || *err || (u->shutdown & RCV_SHUTDOWN && (*left || u->sk.type != SOCK_DGRAM)))
			break;
		mutex_unlock(&u->read_mutex);
		*err = unix_wait(&u->sk.wait, left);
		mutex_unlock(&unix_mutex);
		mutex_lock(&u->read_mutex);
		if (*err)
			return NULL;
	}
	mutex_unlock(&unix_mutex);
	return msg;
}

/* Further references to the files of a message that stays, for who peeks. [u] NULL: no memory, or it has none. */
static struct scm_files *dup_files(const struct scm_files *files)
{
	struct scm_files *copy = files ? kmalloc(sizeof(*copy), GFP_KERNEL) : NULL;

	if (!copy)
		return NULL;
	*copy = *files;
	copy->user = get_task_user(current);
	atomic_add(copy->nr, &copy->user->sent_files);
	for (unsigned i = 0; i < copy->nr; i++)
		get_file(copy->file[i]);
	return copy;
}

/*
 * [r] The name that the sender of the bytes has now, and the files that come beside them, which are taken or (peek)
 * held once more.
 */
static void unix_take_beside(struct unix_msg *msg, struct sock_io *io, bool peek)
{
	const struct unix_addr *name;

	io->scm.cred = msg->scm.cred;
	mutex_lock(&unix_mutex);
	name = msg->from->addr;
	if (name) {
		io->addr_len = name->len;
		memcpy(&io->addr, &name->name, name->len);
	}
	if (peek) {
		io->scm.files = dup_files(msg->scm.files);
	} else {
		unix_count_inflight(msg->scm.files, -1);
		io->scm.files = msg->scm.files;
		msg->scm.files = NULL;
	}
	mutex_unlock(&unix_mutex);
}

/* [r] It was read to its end. */
static void msg_done(struct unix_sock *u, struct unix_msg *msg)
{
	mutex_lock(&unix_mutex);
	unix_msg_unlink(u, msg);
	mutex_unlock(&unix_mutex);
	unix_msg_free(msg);
}

/* [r] A packet that was copied as far as there was room. */
static ssize_t take_packet(struct unix_sock *u, struct unix_msg *msg, struct sock_io *io)
{
	size_t n = min(io->left, msg->len), all = msg->len;
	int err = sock_io_to_user(io, msg->data, n);

	if (n < all)
		io->out_flags |= MSG_TRUNC;
	if (!err)
		unix_take_beside(msg, io, io->flags & MSG_PEEK);
	if (!(io->flags & MSG_PEEK))
		msg_done(u, msg);
	return err ? err : (ssize_t)(io->flags & MSG_TRUNC ? all : n);
}

/* Datagrams and packets: one message a call. What does not fit into the buffers is lost. */
ssize_t unix_dgram_recvmsg(struct sock *sk, struct sock_io *io)
{
	struct unix_sock *u = unix_sk(sk);
	s64 left = sock_timeout(READ_ONCE(sk->rcvtimeo), io->flags);
	struct unix_msg *msg;
	ssize_t res;
	int err;

	if (io->flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (sk->type == SOCK_SEQPACKET && !READ_ONCE(u->connected))
		return -ENOTCONN;
	mutex_lock(&u->read_mutex);
	msg = wait_for_message(u, &left, &err);
	io->ended = !msg;
	res = msg ? take_packet(u, msg, io) : err;
	mutex_unlock(&u->read_mutex);
	return res;
}

/* What a read of a stream has done so far. */
struct stream_read {
	size_t done;	       /* bytes */
	struct unix_msg *last; /* peeking: the message that was looked at last */
	bool begun;	       /* io->scm is that of a message */
};

/* [r] The message to go on with: the first, or (peek) the one behind the last. NULL: there is none yet. */
static struct unix_msg *next_message(struct unix_sock *u, const struct stream_read *r)
{
	struct unix_msg *msg = NULL;

	mutex_lock(&unix_mutex);
	if (!r->last)
		msg = list_first_entry_or_null(&u->queue, struct unix_msg, list);
	else if (r->last->list.next != &u->queue)
		msg = list_next_entry(r->last, list);
	mutex_unlock(&unix_mutex);
	return msg;
}

static bool same_cred(const struct ucred *a, const struct ucred *b)
{
	return a->pid == b->pid && a->uid == b->uid && a->gid == b->gid;
}

/*
 * [r] Take bytes of a message. 1: the read may go on with the next; 0: it ends here, since files came, or because who
 * has sent the next one is to be told; or -EFAULT.
 */
static int take_bytes(struct unix_sock *u, struct unix_msg *msg, struct sock_io *io, struct stream_read *r)
{
	size_t n = min(io->left, msg->len - msg->off);
	bool peek = io->flags & MSG_PEEK, more;

	if (r->begun && READ_ONCE(u->sk.passcred) && !same_cred(&io->scm.cred, &msg->scm.cred))
		return 0;
	if (sock_io_to_user(io, msg->data + msg->off, n))
		return -EFAULT;
	if (!r->begun || msg->scm.files)
		unix_take_beside(msg, io, peek);
	r->begun = true;
	r->done += n;
	more = !io->scm.files;
	if (peek) {
		r->last = msg;
		return more;
	}
	msg->off += n;
	if (msg->off == msg->len)
		msg_done(u, msg);
	return more;
}

/* [r, released while asleep] 1, 0 or -errno as above. */
static int stream_step(struct unix_sock *u, struct sock_io *io, struct stream_read *r, s64 *left)
{
	struct unix_msg *msg = next_message(u, r);
	int err;

	if (!msg) {
		if (r->done && (!(io->flags & MSG_WAITALL) || io->flags & MSG_PEEK))
			return 0;
		msg = wait_for_message(u, left, &err);
		if (!msg)
			return err;
	}
	return take_bytes(u, msg, io, r);
}

/*
 * Bytes of as many messages as fit. It waits only while it has nothing, or with MSG_WAITALL; also where there is no
 * room for any byte, as on Linux. An error after some bytes is not told.
 */
ssize_t unix_stream_recvmsg(struct sock *sk, struct sock_io *io)
{
	struct unix_sock *u = unix_sk(sk);
	s64 left = sock_timeout(READ_ONCE(sk->rcvtimeo), io->flags);
	struct stream_read r = {};
	int more = 1;

	if (!READ_ONCE(u->connected))
		return -EINVAL;
	if (io->flags & MSG_OOB)
		return -EOPNOTSUPP;
	mutex_lock(&u->read_mutex);
	do
		more = stream_step(u, io, &r, &left);
	while (more > 0 && io->left);
	mutex_unlock(&u->read_mutex);
	return r.done || more >= 0 ? (ssize_t)r.done : more;
}

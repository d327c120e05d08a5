/*
 * AF_UNIX: sockets between programs of one machine.
 *
 *     stream, seqpacket   a listener's `backlog` has the other ends of connections that were made; accept takes one.
 *                         Two connected sockets are each other's `peer`
 *     datagram            `peer` is where messages go that name no address
 *
 * A message goes from its sender directly onto the queue of the receiving socket (unix_msg.c). What was sent and not
 * read counts for the sender, in `wmem`, up to its SO_SNDBUF.
 *
 * A socket lives as long as it has references: its file's, its peers', and one of each message for its sender. When its
 * file is gone it is dead: it is on no list, has no name, and its queue stays empty.
 */
#include "unix.h"

#include <asm/uaccess.h>
#include <fs/poll.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <sched/current.h>
#include <time/clock.h>
#include <time/ktime.h>
#include <uapi/termios.h>

DEFINE_MUTEX(unix_mutex);
LIST_HEAD(unix_all);

static const struct sock_ops *ops_of(int type)
{
	switch (type) {
	case SOCK_STREAM:
		return &unix_stream_ops;
	case SOCK_SEQPACKET:
		return &unix_seqpacket_ops;
	default:
		return &unix_dgram_ops;
	}
}

/* With one reference, on no list. NULL: no memory, or none for this user. */
static struct unix_sock *unix_alloc(int type)
{
	struct unix_sock *u = kzalloc(sizeof(*u), GFP_KERNEL);

	if (!u)
		return NULL;
	if (sock_init(&u->sk, ops_of(type), type, sizeof(*u))) {
		kfree(u);
		return NULL;
	}
	mutex_init(&u->read_mutex);
	init_waitqueue_head(&u->space);
	INIT_LIST_HEAD(&u->queue);
	INIT_LIST_HEAD(&u->senders);
	INIT_LIST_HEAD(&u->sends_to);
	INIT_LIST_HEAD(&u->backlog);
	INIT_LIST_HEAD(&u->waiting);
	return u;
}

void unix_put(struct unix_sock *u)
{
	if (!u || !atomic_dec_and_test(&u->sk.refs))
		return;
	unix_addr_put(u->addr);
	sock_end(&u->sk);
	kfree(u);
}

/* SOCK_RAW is another name for datagrams, as on Linux. */
static struct sock *unix_create(int type, int protocol)
{
	struct unix_sock *u;

	if (protocol && protocol != AF_UNIX)
		return ERR_PTR(-EPROTONOSUPPORT);
	if (type == SOCK_RAW)
		type = SOCK_DGRAM;
	if (type != SOCK_STREAM && type != SOCK_DGRAM && type != SOCK_SEQPACKET)
		return ERR_PTR(-ESOCKTNOSUPPORT);
	u = unix_alloc(type);
	if (!u)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&unix_mutex);
	list_add_tail(&u->all, &unix_all);
	mutex_unlock(&unix_mutex);
	return &u->sk;
}

/* The waiter is queued before the mutex is released, and whoever changes something has the mutex: no news is missed. */
int unix_wait(wait_queue_head_t *q, s64 *left)
{
	DEFINE_WAIT(wait);
	int err;

	if (!*left)
		return -EAGAIN;
	prepare_to_wait(q, &wait, TASK_INTERRUPTIBLE);
	mutex_unlock(&unix_mutex);
	err = sock_sleep(left);
	finish_wait(q, &wait);
	mutex_lock(&unix_mutex);
	return err;
}

int unix_take_error(struct unix_sock *u)
{
	return -__atomic_exchange_n(&u->sk.error, 0, __ATOMIC_RELAXED);
}

/* [u] The other end is gone, or refuses: nothing comes and nothing can be sent any more. */
static void hang_up(struct unix_sock *u, bool reset)
{
	u->shutdown = BOTH_SHUTDOWN;
	if (reset)
		WRITE_ONCE(u->sk.error, ECONNRESET);
	wake_up_interruptible_all(&u->sk.wait);
}

/* [u] Whoever would send to u finds it dead. */
static void wake_all(struct unix_sock *u)
{
	struct unix_sock *sender;

	wake_up_interruptible_all(&u->sk.wait);
	wake_up_interruptible_all(&u->space);
	list_for_each_entry(sender, &u->senders, sends_to)
		wake_up_interruptible_all(&sender->sk.wait);
}

/*
 * The end of a socket; `unseen`: it was never accepted. Messages that nobody has read make an error of its end for the
 * peer, as on Linux. The caller has the reference of its file, or of the backlog.
 */
static void unix_end(struct unix_sock *u, bool unseen)
{
	struct unix_sock *peer, *next;
	LIST_HEAD(unaccepted);
	LIST_HEAD(msgs);
	struct path path;

	mutex_lock(&unix_mutex);
	u->dead = true;
	u->listening = false;
	u->shutdown = BOTH_SHUTDOWN;
	if (!unseen)
		list_del_init(&u->all);
	unix_unhash(u);
	path = u->path;
	u->path = (struct path){};
	peer = unix_leave_peer(u);
	if (peer && u->sk.type != SOCK_DGRAM)
		hang_up(peer, unseen || !list_empty(&u->queue));
	unix_take_queue(u, &msgs);
	list_splice_tail_init(&u->backlog, &unaccepted);
	wake_all(u);
	mutex_unlock(&unix_mutex);
	path_put(&path);
	unix_discard(&msgs);
	list_for_each_entry_safe(u, next, &unaccepted, waiting) {
		list_del_init(&u->waiting);
		unix_end(u, true); /* such a one has no backlog itself, so this goes no deeper */
		unix_put(u);
	}
	unix_put(peer);
}

static void unix_release(struct sock *sk)
{
	unix_end(unix_sk(sk), false);
	unix_put(unix_sk(sk));
	unix_gc();
}

/*
 * A socket without a name cannot be found, so it cannot listen. A second call changes the backlog, and the
 * credentials that SO_PEERCRED shows to clients: they are those of the last caller.
 */
static int unix_listen(struct sock *sk, int backlog)
{
	struct unix_sock *u = unix_sk(sk);
	int err = -EINVAL;

	mutex_lock(&unix_mutex);
	if (u->addr && !u->connected) {
		u->max_backlog = backlog;
		u->listening = true;
		u->listener_cred = current_cred_ids();
		sk->peercred = u->listener_cred;
		wake_up_interruptible_all(&u->space); /* there may be more room */
		err = 0;
	}
	mutex_unlock(&unix_mutex);
	return err;
}

/* [u] Two sockets become each other's peer. */
static void make_peers(struct unix_sock *a, struct unix_sock *b)
{
	a->peer = unix_get(b);
	b->peer = unix_get(a);
	a->connected = b->connected = true;
}

/*
 * [u, released while asleep] Wait until there is room at the listener, and u may be connected. 0 or -errno; the
 * listener is looked at first, as on Linux.
 */
static int wait_for_room(struct unix_sock *u, struct unix_sock *listener, s64 left)
{
	int err = 0;

	while (!err) {
		if (!listener->listening || listener->shutdown & RCV_SHUTDOWN)
			return -ECONNREFUSED;
		if (listener->nr_backlog <= listener->max_backlog)
			return u->connected ? -EISCONN : u->listening ? -EINVAL : 0;
		err = unix_wait(&listener->space, &left);
	}
	return err;
}

/* `new` is the other end, which the listener will accept. */
static int connect_to(struct unix_sock *u, struct unix_sock *listener, struct unix_sock *new, s64 left)
{
	int err;

	mutex_lock(&unix_mutex);
	err = wait_for_room(u, listener, left);
	if (!err) {
		make_peers(u, new);
		new->addr = listener->addr;
		atomic_inc(&new->addr->refs);
		new->sk.peercred = current_cred_ids();
		new->sk.passcred = READ_ONCE(listener->sk.passcred);
		u->sk.peercred = listener->listener_cred;
		list_add_tail(&unix_get(new)->waiting, &listener->backlog);
		listener->nr_backlog++;
		wake_up_interruptible_all(&listener->sk.wait);
	}
	mutex_unlock(&unix_mutex);
	return err;
}

/* A sender that wants to be known by its credentials gets a name, as on Linux. */
static int name_for_credentials(struct unix_sock *u)
{
	return READ_ONCE(u->sk.passcred) && !READ_ONCE(u->addr) ? unix_autobind(u) : 0;
}

/*
 * The other end is made here and waits in the listener's backlog; accept(2) only takes it from there. So a connect
 * succeeds before anybody accepts.
 */
static int unix_stream_connect(struct sock *sk, struct sockaddr_storage *addr, int len, bool nonblock)
{
	struct unix_sock *u = unix_sk(sk), *listener, *new;
	int err = unix_valid_addr(addr, len) ? name_for_credentials(u) : -EINVAL;

	if (err)
		return err;
	listener = unix_find(addr, len, sk->type);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	new = unix_alloc(sk->type);
	err = new ? connect_to(u, listener, new, nonblock ? 0 : READ_ONCE(sk->sndtimeo)) : -ENOMEM;
	unix_put(new);
	unix_put(listener);
	return err;
}

/* [u] Messages go to `peer` from now on (NULL: to nobody); its reference is taken over. Returns the old one. */
static struct unix_sock *set_peer(struct unix_sock *u, struct unix_sock *peer)
{
	struct unix_sock *old = unix_leave_peer(u);

	u->peer = peer;
	if (peer)
		list_add_tail(&u->sends_to, &peer->senders);
	return old;
}

/*
 * [u] u does not send to `old` any more: what others have sent is dropped, and `old`, if it sends to u, gets an error
 * when something was lost.
 */
static void drop_received(struct unix_sock *u, struct unix_sock *old, struct list_head *msgs)
{
	if (list_empty(&u->queue))
		return;
	unix_take_queue(u, msgs);
	if (old->peer != u || old->dead)
		return;
	WRITE_ONCE(old->sk.error, ECONNRESET);
	wake_up_interruptible_all(&old->sk.wait);
}

/*
 * AF_UNSPEC ends the connection. What others have sent before is dropped when the peer changes, as on Linux. A reader
 * copies from a message that is still on the queue, so read_mutex keeps readers out while messages are dropped.
 */
static int unix_dgram_connect(struct sock *sk, struct sockaddr_storage *addr, int len, bool nonblock)
{
	struct unix_sock *u = unix_sk(sk), *peer = NULL;
	LIST_HEAD(msgs);
	int err = 0;

	if (len < (int)sizeof(addr->ss_family))
		return -EINVAL;
	if (addr->ss_family != AF_UNSPEC) {
		err = name_for_credentials(u);
		peer = err ? NULL : unix_find(addr, len, sk->type);
		if (IS_ERR(peer))
			return PTR_ERR(peer);
	}
	if (err)
		return err;
	mutex_lock(&u->read_mutex);
	mutex_lock(&unix_mutex);
	if (peer && peer->peer && peer->peer != u) {
		err = -EPERM;
	} else {
		peer = set_peer(u, peer);
		if (peer && peer != u->peer)
			drop_received(u, peer, &msgs);
		wake_up_interruptible_all(&sk->wait); /* the new peer may have room */
	}
	mutex_unlock(&unix_mutex);
	mutex_unlock(&u->read_mutex);
	unix_discard(&msgs);
	unix_put(peer);
	return err;
}

/* Neither was seen by others yet, and both have a file. */
static int unix_socketpair(struct sock *a, struct sock *b)
{
	struct unix_sock *ua = unix_sk(a), *ub = unix_sk(b);

	a->peercred = b->peercred = current_cred_ids();
	mutex_lock(&unix_mutex);
	make_peers(ua, ub);
	if (a->type == SOCK_DGRAM) {
		list_add_tail(&ua->sends_to, &ub->senders);
		list_add_tail(&ub->sends_to, &ua->senders);
	}
	mutex_unlock(&unix_mutex);
	return 0;
}

/*
 * The backlog's reference to the new socket becomes the caller's. unix_wait() releases the mutex, so the state of the
 * listener is looked at again after each sleep. What had come before a shutdown is still accepted.
 */
static struct sock *unix_accept(struct sock *sk, bool nonblock)
{
	struct unix_sock *u = unix_sk(sk), *new = NULL;
	s64 left = nonblock ? 0 : READ_ONCE(sk->rcvtimeo);
	int err = 0;

	mutex_lock(&unix_mutex);
	while (!err && !new) {
		if (!u->listening) {
			err = -EINVAL;
		} else if (list_empty(&u->backlog)) {
			err = left && u->shutdown & RCV_SHUTDOWN ? -EINVAL : unix_wait(&sk->wait, &left);
		} else {
			new = list_first_entry(&u->backlog, struct unix_sock, waiting);
			list_del_init(&new->waiting);
			u->nr_backlog--;
			list_add_tail(&new->all, &unix_all);
			wake_up_interruptible_all(&u->space);
		}
	}
	mutex_unlock(&unix_mutex);
	return new ? &new->sk : ERR_PTR(err);
}

/* A sender looks at SO_SNDBUF, and is queued to wait, under the mutex: so it has seen the new size, or is woken. */
static void unix_write_space(struct sock *sk)
{
	mutex_lock(&unix_mutex);
	wake_up_interruptible_all(&sk->wait);
	mutex_unlock(&unix_mutex);
}

static bool unix_listens(struct sock *sk)
{
	return READ_ONCE(unix_sk(sk)->listening);
}

/* What one side of a connection does not receive any more, the other cannot send. */
static int unix_shutdown(struct sock *sk, int how)
{
	struct unix_sock *u = unix_sk(sk);
	unsigned mode = (how + 1) & BOTH_SHUTDOWN;

	mutex_lock(&unix_mutex);
	u->shutdown |= mode;
	if (u->peer && sk->type != SOCK_DGRAM) {
		u->peer->shutdown |=
			(mode & RCV_SHUTDOWN ? SEND_SHUTDOWN : 0) | (mode & SEND_SHUTDOWN ? RCV_SHUTDOWN : 0);
		wake_up_interruptible_all(&u->peer->sk.wait);
	}
	wake_all(u);
	mutex_unlock(&unix_mutex);
	return 0;
}

/* [u] Would a datagram to its peer be queued at once? */
static bool peer_has_room(const struct unix_sock *u)
{
	return u->sk.type != SOCK_DGRAM || !u->peer || u->peer->peer == u || !unix_queue_full(u->peer);
}

/* [u] */
static unsigned poll_mask(struct unix_sock *u)
{
	unsigned mask = 0;

	if (READ_ONCE(u->sk.error))
		mask |= POLLERR;
	if (u->shutdown == BOTH_SHUTDOWN)
		mask |= POLLHUP;
	if (u->shutdown & RCV_SHUTDOWN)
		mask |= POLLRDHUP | POLLIN | POLLRDNORM;
	if (!list_empty(&u->queue) || !list_empty(&u->backlog))
		mask |= POLLIN | POLLRDNORM;
	if (u->sk.type != SOCK_DGRAM && !u->connected && !u->listening)
		mask |= POLLHUP;
	if (!u->listening && unix_writable(u) && peer_has_room(u))
		mask |= POLLOUT | POLLWRNORM | POLLWRBAND;
	return mask;
}

/* All that changes the answer wakes sk->wait with the mutex held, and the queue is joined before the look. */
static unsigned unix_poll(struct sock *sk, struct file *f, struct poll_table *pt)
{
	unsigned mask;

	poll_wait(f, &sk->wait, pt);
	mutex_lock(&unix_mutex);
	mask = poll_mask(unix_sk(sk));
	mutex_unlock(&unix_mutex);
	return mask;
}

/* [u] Bytes that wait: of datagrams the next one's, else all. */
static long bytes_queued(struct unix_sock *u)
{
	const struct unix_msg *msg;
	long n = 0;

	list_for_each_entry(msg, &u->queue, list) {
		n += msg->len - msg->off;
		if (u->sk.type == SOCK_DGRAM)
			break;
	}
	return n;
}

/* SIOCINQ: bytes that wait to be read; SIOCOUTQ: bytes that were sent and not read. */
static long unix_ioctl(struct sock *sk, unsigned cmd, unsigned long arg)
{
	struct unix_sock *u = unix_sk(sk);
	long n;

	if (cmd != SIOCINQ && cmd != SIOCOUTQ)
		return -ENOTTY;
	mutex_lock(&unix_mutex);
	n = cmd == SIOCOUTQ ? u->wmem : u->listening ? -EINVAL : bytes_queued(u);
	mutex_unlock(&unix_mutex);
	return n < 0 ? n : put_user((int)n, (int __user *)arg);
}

#define COMMON_OPS                                                                                    \
	.family = AF_UNIX, .bind = unix_bind, .socketpair = unix_socketpair, .getname = unix_getname, \
	.shutdown = unix_shutdown, .sendmsg = unix_sendmsg, .poll = unix_poll, .ioctl = unix_ioctl,   \
	.listens = unix_listens, .write_space = unix_write_space, .release = unix_release

const struct sock_ops unix_stream_ops = {
	COMMON_OPS,
	.connect = unix_stream_connect,
	.listen = unix_listen,
	.accept = unix_accept,
	.recvmsg = unix_stream_recvmsg,
};
const struct sock_ops unix_seqpacket_ops = {
	COMMON_OPS,
	.connect = unix_stream_connect,
	.listen = unix_listen,
	.accept = unix_accept,
	.recvmsg = unix_dgram_recvmsg,
};
const struct sock_ops unix_dgram_ops = {
	COMMON_OPS,
	.connect = unix_dgram_connect,
	.recvmsg = unix_dgram_recvmsg,
};

static const struct net_family unix_family = {.family = AF_UNIX, .create = unix_create};
REGISTER_NET_FAMILY(unix_family);

/* What the files of AF_UNIX share. */
#pragma once

#include <fs/vfs.h>
#include <lib/list.h>
#include <net/sock.h>
#include <sched/mutex.h>

/*
 * One mutex for all sockets of this family: their connections, their queues, what is counted. What is
 * done with it held takes a few instructions for each socket or message concerned; user memory is copied without it.
 * Two sockets are concerned by nearly everything, so locks of their own would always come in pairs. Innermost, but for
 * the locks of wait queues and of memory.
 */
extern struct mutex unix_mutex;

/* A name; several sockets may have it: those that were accepted have their listener's. */
struct unix_addr {
	atomic_t refs;
	int len; /* of `name` */
	struct sockaddr_un name;
};

/* Locks: u unix_mutex; r read_mutex; b bind_mutex; a atomic; I immutable. */
struct unix_sock {
	struct sock sk;
	struct list_head all;	   /* [u] in unix_all, while it is not dead */
	bool listening, connected; /* [u] */
	bool dead;		   /* [u] its file is gone */
	unsigned shutdown;	   /* [u] */
	struct unix_sock *peer;	   /* [u] with a reference */

	struct unix_addr *addr;	     /* [u, b; set once] NULL: it has no name */
	struct path path;	     /* [u] of a name in the file system, with references */
	struct hlist_node name_node; /* [u] in the table of names */

	struct list_head queue;	   /* [u; only who holds read_mutex takes out] messages for it, oldest first */
	unsigned queued;	   /* [u] how many */
	struct mutex read_mutex;   /* who takes messages out, one after the other; outside unix_mutex and mmap_lock */
	wait_queue_head_t space;   /* who waits for room in `queue` or `backlog`, with a reference */
	struct list_head senders;  /* [u] datagram sockets that are connected to it */
	struct list_head sends_to; /* [u] in the list of its peer */
	int wmem;		   /* [u] bytes that it has sent and that nobody has read */

	struct list_head backlog;   /* [u] a listener's: connections that wait to be accepted */
	struct list_head waiting;   /* [u] such a one, in that list */
	unsigned nr_backlog;	    /* [u] */
	unsigned max_backlog;	    /* [u] */
	struct ucred listener_cred; /* [u] */

	unsigned inflight;	  /* [u] references to its file in messages */
	unsigned gc_refs;	  /* [u] of them, those that no possible garbage holds */
	bool gc_candidate;	  /* [u] all references to its file are in messages */
	struct list_head gc_link; /* [u] while the collector runs */
};

struct unix_msg {
	struct list_head list;	/* [u] */
	struct unix_sock *from; /* [I] the sender, with a reference: it counts in its wmem */
	int charge;		/* [I] bytes of that */
	struct scm scm;		/* [u, r] */
	size_t len, off;	/* [I; r] bytes, and those of them that were read */
	char data[];
};

static inline struct unix_sock *unix_sk(struct sock *sk)
{
	return container_of(sk, struct unix_sock, sk);
}
static inline struct unix_sock *unix_get(struct unix_sock *u)
{
	atomic_inc(&u->sk.refs);
	return u;
}
void unix_put(struct unix_sock *u); /* NULL is allowed. Thread context */
extern struct list_head unix_all;   /* [u] */
extern const struct sock_ops unix_stream_ops, unix_dgram_ops, unix_seqpacket_ops;

/*
 * [u, released while asleep] Sleep on q; *left is the time that may pass yet. 0: look again; -EAGAIN: it is over; or
 * what a signal means, -ERESTARTSYS or -EINTR.
 */
int unix_wait(wait_queue_head_t *q, s64 *left);
/* [u] The error that is to be told once, as -errno, or 0. */
int unix_take_error(struct unix_sock *u);
static inline bool unix_writable(const struct unix_sock *u)
{
	return u->wmem * 4 <= READ_ONCE(u->sk.sndbuf);
}
static inline bool unix_queue_full(const struct unix_sock *u)
{
	return u->queued > READ_ONCE(sysctl_max_dgram_qlen);
}

/* unix_name.c */
void unix_addr_put(struct unix_addr *addr); /* NULL is allowed */
int unix_bind(struct sock *sk, struct sockaddr_storage *addr, int len);
int unix_autobind(struct unix_sock *u); /* a free abstract name, if it has none. 0 or -errno */
bool unix_valid_addr(const struct sockaddr_storage *addr, int len); /* may it be a name of this family? */
/* The socket of this name and type, with a reference; ERR_PTR. */
struct unix_sock *unix_find(const struct sockaddr_storage *addr, int len, int type);
void unix_unhash(struct unix_sock *u); /* [u] nobody finds it any more */
int unix_getname(struct sock *sk, struct sockaddr_storage *addr, bool peer);

/* unix_msg.c */
ssize_t unix_sendmsg(struct sock *sk, struct sock_io *io);
ssize_t unix_dgram_recvmsg(struct sock *sk, struct sock_io *io);
ssize_t unix_stream_recvmsg(struct sock *sk, struct sock_io *io);
/* Free a message that is on no queue and counts no more, with its files. No lock held. */
void unix_msg_free(struct unix_msg *msg);
void unix_msg_unlink(struct unix_sock *u, struct unix_msg *msg); /* [u] off its queue */
/* [u] Take all messages off the queue. */
void unix_take_queue(struct unix_sock *u, struct list_head *to);
/* [u] u sends to no one any more; the reference to its peer is the caller's, or NULL. */
struct unix_sock *unix_leave_peer(struct unix_sock *u);

/* unix_gc.c */
void unix_count_inflight(const struct scm_files *files, int n); /* [u] n = 1: they lie in a message now, -1: not */
void unix_discard(struct list_head *msgs); /* frees messages that are on no queue, and their files. No lock held */
void unix_gc(void);			   /* no lock held */

/*
 * Sockets. kernel/net/socket.c has what all families share: the system calls, the files, the options; a family is one
 * struct net_family, which makes sockets with its struct sock_ops.
 *
 *	file -> private_data -> struct sock, the beginning of the family's own structure (struct unix_sock)
 */
#pragma once

#include <lib/atomic.h>
#include <sched/wait.h>
#include <uapi/socket.h>

struct file;
struct poll_table;
struct sock;
struct user_struct;

/* Open files on their way in a message. */
struct scm_files {
	unsigned nr;
	struct user_struct *user;      /* the sender, whose sent_files counts them, with a reference */
	struct file *file[SCM_MAX_FD]; /* with references */
};
/* What goes with a message beside its bytes. */
struct scm {
	struct ucred cred;	 /* pid 0: there are none */
	struct scm_files *files; /* NULL: none */
	u32 source;		 /* of IP_PKTINFO: the address to send from; 0: none */
	u8 ttl;			 /* of IP_TTL; 0: none */
	int error;		 /* -errno of what was wrong for a socket of AF_INET; 0: nothing */
};

/* A control message that a family has for the program, beside those of scm.c. */
struct sock_beside {
	int level, type;
	unsigned len;
	u64 data[4];
};

/* One message on its way between a program and a socket: the arguments of sendmsg(2) or recvmsg(2). */
struct sock_io {
	const struct iovec *vec; /* the program's buffers; `kernel`: they are the kernel's */
	size_t left;		 /* bytes that they have room for, or hold, from here on */
	size_t off;		 /* bytes of vec[0] that are done */
	bool kernel;
	unsigned flags;		      /* MSG_* that were asked for; O_NONBLOCK is MSG_DONTWAIT */
	struct sockaddr_storage addr; /* of the receiver when sending, of the sender when receiving */
	int addr_len;		      /* bytes of it; 0: none */
	bool named;		      /* sendto(2) has named an address, though it may be empty */
	bool ended;		      /* no message was received: it is the end, and nothing is told beside it */
	struct scm scm;
	unsigned out_flags; /* MSG_* of what was received */
	unsigned nr_beside;
	struct sock_beside beside[5];
};
/* One more message for the program: at most 5 of 32 bytes. Only who receives. */
void sock_io_beside(struct sock_io *io, int level, int type, const void *data, unsigned len);
/* Copy n bytes from, to the buffers, and move on. 0 or -EFAULT. Thread context. */
int sock_io_from_user(struct sock_io *io, void *to, size_t n);
int sock_io_to_user(struct sock_io *io, const void *from, size_t n);

/*
 * What a kind of socket can do. Thread context, no lock held. Missing ones are -EOPNOTSUPP. 0 or -errno, if nothing
 * else is said. An address was copied from the program and is `len` bytes long, at least 2 if it is not empty.
 */
struct sock_ops {
	int family;
	int (*bind)(struct sock *sk, struct sockaddr_storage *addr, int len);
	int (*connect)(struct sock *sk, struct sockaddr_storage *addr, int len, bool nonblock);
	int (*listen)(struct sock *sk, int backlog);
	struct sock *(*accept)(struct sock *sk, bool nonblock); /* ERR_PTR */
	int (*socketpair)(struct sock *a, struct sock *b);
	int (*getname)(struct sock *sk, struct sockaddr_storage *addr, bool peer); /* its length */
	int (*shutdown)(struct sock *sk, int how);
	ssize_t (*sendmsg)(struct sock *sk, struct sock_io *io);
	ssize_t (*recvmsg)(struct sock *sk, struct sock_io *io);
	unsigned (*poll)(struct sock *sk, struct file *file, struct poll_table *pt);
	long (*ioctl)(struct sock *sk, unsigned cmd, unsigned long arg);
	bool (*listens)(struct sock *sk);
	void (*write_space)(struct sock *sk); /* never missing. SO_SNDBUF has changed: whoever waits looks again */
	/* Options of other levels than SOL_SOCKET. */
	int (*setsockopt)(struct sock *sk, int level, int optname, const void __user *optval, int optlen);
	int (*getsockopt)(struct sock *sk, int level, int optname, void __user *optval, int __user *optlen);
	void (*release)(struct sock *sk); /* the file is closed: gives back its reference */
};
struct net_family {
	int family;
	/* A socket without a file, of this type (SOCK_*); ERR_PTR. */
	struct sock *(*create)(int type, int protocol);
};
#define REGISTER_NET_FAMILY(f) REGISTER_IN(net_families, f)

/* Bits of the `shutdown` of a family's socket, and of shutdown(2)'s argument plus 1. */
#define RCV_SHUTDOWN  1u
#define SEND_SHUTDOWN 2u
#define BOTH_SHUTDOWN 3u

/* Locks: a atomic, read and written whole; I immutable. */
struct sock {
	atomic_t refs;
	const struct sock_ops *ops; /* [I] */
	int type;		    /* [I] SOCK_* */
	int protocol;		    /* [I] as SO_PROTOCOL tells it */
	struct file *file;	    /* [I once set] without a reference: goes before the socket; NULL: has none yet */
	wait_queue_head_t wait;	    /* whoever waits for anything of it */
	int error;		    /* [a] to be told once, above 0 */
	int sndbuf, rcvbuf;	    /* [a] bytes */
	s64 rcvtimeo, sndtimeo;	    /* [a] ns, KTIME_MAX: no end */
	bool passcred, reuseaddr, keepalive, broadcast, timestamp; /* [a] */
	struct ucred peercred;	  /* [written before a peer can be seen] pid 0: there is none */
	struct user_struct *user; /* [I] who made it, with a reference: its memory counts for that user */
	unsigned size;		  /* [I] bytes of its structures, which count there */
	unsigned charged;	  /* [the family's lock of what it holds] bytes that count there for what it holds */
};
/*
 * The part of a new socket that all families share, with one reference; the family's structure has `size` bytes. 0, or
 * -ENOMEM: the user's sockets have too much memory. Thread context.
 */
int sock_init(struct sock *sk, const struct sock_ops *ops, int type, unsigned size);
void sock_end(struct sock *sk); /* the last reference is gone: it counts no more. Thread context or softirq */

/* sock_memory.c. The defaults and the largest values of SO_SNDBUF and SO_RCVBUF, and other bounds: net.core.*. [a] */
extern unsigned sysctl_wmem_default, sysctl_wmem_max, sysctl_rmem_default, sysctl_rmem_max, sysctl_somaxconn;
extern unsigned sysctl_max_dgram_qlen; /* net.unix.*: datagrams that may wait in a socket of AF_UNIX. [a] */
#define SOCK_MIN_SNDBUF 4608	       /* bytes: the least that these may be, as on Linux */
#define SOCK_MIN_RCVBUF 2304
#define SOCK_QUANTUM \
	4096 /* bytes: memory is counted in such steps, so that a message that comes and goes costs little */
bool sock_count_memory(struct sock *sk, unsigned used);
/*
 * The socket holds `used` bytes from now on. False, only when that is more than before: its user would have too much.
 * The lock that guards the number is held. Thread context or softirq.
 */
static inline bool sock_memory(struct sock *sk, unsigned used)
{
	if (likely(used <= sk->charged && sk->charged - used < 2 * SOCK_QUANTUM))
		return true;
	return sock_count_memory(sk, used);
}
/* The socket of an open file, or NULL: it is none. Any context. */
struct sock *sock_of_file(const struct file *f);
struct ucred current_cred_ids(void);
u64 sock_ino(const struct sock *sk); /* 0: it has no file */

/*
 * The time that a call may wait, and what ends the wait: -ERESTARTSYS, or -EINTR where a restarted call would wait for
 * the whole time again.
 */
static inline s64 sock_timeout(s64 timeo, unsigned flags)
{
	return flags & MSG_DONTWAIT ? 0 : timeo;
}
/*
 * Sleep, after prepare_to_wait(), until something wakes the task or *left, which is not 0, has passed; it becomes what
 * is left. 0, or what a signal means. Thread context.
 */
int sock_sleep(s64 *left);

/* scm.c. Thread context, no lock held. */
int scm_send(struct scm *scm, const void __user *control, size_t len); /* 0 or -errno, with nothing held */
/*
 * Write what was received into the program's control buffer; *len becomes what was used. What cannot be written is left
 * out, and is no error, as on Linux: the message has been received. Takes the files over.
 */
void scm_receive(struct scm *scm, bool passcred, void __user *control, size_t *len, struct sock_io *io);
void scm_put_files(struct scm_files *files); /* NULL is allowed */

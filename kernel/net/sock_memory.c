/*
 * The memory of sockets: how much one may hold (SO_SNDBUF, SO_RCVBUF, within /proc/sys/net/core), and how much those
 * of a user together (user_charge_memory()). What lies in a socket belongs to no process, and stays when the socket
 * is passed on or waits to be accepted. Without the second bound a user fills memory by a thousand sockets, each
 * within the first.
 *
 * A socket counts for the user that has made it. What it holds is counted in steps of SOCK_QUANTUM, and up to two steps
 * that are empty again stay counted, so that messages that come and go cost a comparison.
 */
#include "socket.h"

#include <fs/libfs.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <proc/cred.h>
#include <sched/current.h>

#define FILE_BYTES 1024 /* what a socket has beside its structure: file, inode, dentry */

unsigned sysctl_wmem_default = 212992, sysctl_wmem_max = 212992; /* Linux's defaults */
unsigned sysctl_rmem_default = 212992, sysctl_rmem_max = 212992;
unsigned sysctl_somaxconn = SOMAXCONN, sysctl_max_dgram_qlen = 10;

int sock_begin_memory(struct sock *sk, unsigned size)
{
	sk->user = get_task_user(current);
	sk->size = size + FILE_BYTES;
	if (user_charge_memory(sk->user, sk->size))
		return 0;
	put_user_struct(sk->user);
	return -ENOMEM;
}

void sock_end(struct sock *sk)
{
	user_uncharge_memory(sk->user, sk->size + sk->charged);
	put_user_struct(sk->user);
}

bool sock_count_memory(struct sock *sk, unsigned used)
{
	unsigned want = ALIGN(used, SOCK_QUANTUM);

	if (want < sk->charged)
		user_uncharge_memory(sk->user, sk->charged - want);
	else if (!user_charge_memory(sk->user, want - sk->charged))
		return false;
	sk->charged = want;
	return true;
}

/* ---- /proc/sys/net: a number that has a least value */

struct net_limit {
	unsigned *value, least;
};

static int net_limit_show(struct seq_file *m, void *data)
{
	const struct net_limit *limit = data;

	seq_printf(m, "%u\n", READ_ONCE(*limit->value));
	return 0;
}

static int net_limit_store(char *text, void *data)
{
	const struct net_limit *limit = data;
	unsigned n;
	int err = sysctl_number(text, &n);

	if (err || n < limit->least)
		return -EINVAL;
	WRITE_ONCE(*limit->value, n);
	return 0;
}

#define NET_LIMIT(name, file, low)                                                    \
	static const struct net_limit name##_limit = {&sysctl_##name, low};           \
	static const struct text_file name##_entry = {.path = "sys/net/" file,        \
						      .mode = 0644,                   \
						      .show = net_limit_show,         \
						      .store = net_limit_store,       \
						      .data = (void *)&name##_limit}; \
	REGISTER_PROC(name##_entry)
NET_LIMIT(wmem_default, "core/wmem_default", SOCK_MIN_SNDBUF);
NET_LIMIT(wmem_max, "core/wmem_max", SOCK_MIN_SNDBUF);
NET_LIMIT(rmem_default, "core/rmem_default", SOCK_MIN_RCVBUF);
NET_LIMIT(rmem_max, "core/rmem_max", SOCK_MIN_RCVBUF);
NET_LIMIT(somaxconn, "core/somaxconn", 0);
NET_LIMIT(max_dgram_qlen, "unix/max_dgram_qlen", 0);

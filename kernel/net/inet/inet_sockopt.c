/* Options of AF_INET's own: ip(7), and the filter of raw sockets for ICMP. Each is a word of the socket's (inet.h). */
#include "inet.h"

#include <asm/uaccess.h>
#include <lib/errno.h>

/* As Linux takes them: an int, or one byte where there is no room for more. 0 or -EFAULT. */
static int value_from_user(const void __user *optval, int optlen, int *value)
{
	u8 byte = 0;

	if (optlen >= (int)sizeof(*value))
		return get_user(*value, (const int __user *)optval);
	if (optlen > 0 && get_user(byte, (const u8 __user *)optval))
		return -EFAULT;
	*value = byte;
	return 0;
}

/*
 * Each is read by the next packet that is sent or received. A TTL of -1 asks for the default. -ENOPROTOOPT: it is not
 * known, or can only be read.
 */
static int set_ip_option(struct inet_sock *inet, int optname, int value, int optlen)
{
	switch (optname) {
	case IP_TOS:
		WRITE_ONCE(inet->tos, value);
		return 0;
	case IP_TTL:
		if (optlen < 1 || (value != -1 && (value < 1 || value > 255)))
			return -EINVAL;
		WRITE_ONCE(inet->ttl, value == -1 ? 0 : value);
		return 0;
	case IP_PKTINFO:
		WRITE_ONCE(inet->pktinfo, !!value);
		return 0;
	case IP_RECVTTL:
		WRITE_ONCE(inet->recvttl, !!value);
		return 0;
	case IP_RECVTOS:
		WRITE_ONCE(inet->recvtos, !!value);
		return 0;
	case IP_RECVERR:
		WRITE_ONCE(inet->recverr, !!value);
		if (!value)
			inet_purge_errors(inet);
		return 0;
	}
	return -ENOPROTOOPT;
}

static bool has_filter(const struct inet_sock *inet)
{
	return inet->proto == &raw_proto && inet->sk.protocol == IPPROTO_ICMP;
}

/*
 * At level SOL_RAW only a raw socket for ICMP has an option, its filter; a shorter value is filled up with zeros.
 * Another raw socket answers -EOPNOTSUPP at that level, and other sockets -ENOPROTOOPT, as on Linux.
 */
int inet_setsockopt(struct sock *sk, int level, int optname, const void __user *optval, int optlen)
{
	struct inet_sock *inet = inet_sk(sk);
	u32 filter = 0;
	int value;

	if (level == SOL_RAW && has_filter(inet)) {
		if (optname != ICMP_FILTER)
			return -ENOPROTOOPT;
		if (copy_from_user(&filter, optval, min(optlen, (int)sizeof(filter))))
			return -EFAULT;
		WRITE_ONCE(inet->icmp_filter, filter);
		return 0;
	}
	if (level != SOL_IP)
		return level == SOL_RAW && inet->proto == &raw_proto ? -EOPNOTSUPP : -ENOPROTOOPT;
	if (value_from_user(optval, optlen, &value))
		return -EFAULT;
	return set_ip_option(inet, optname, value, optlen);
}

/* 0, -ENOPROTOOPT, or -ENOTCONN: the MTU is that of the way to a peer, and there is none. */
static int get_ip_option(const struct inet_sock *inet, int optname, int *value)
{
	switch (optname) {
	case IP_TOS:
		*value = READ_ONCE(inet->tos);
		return 0;
	case IP_TTL:
		*value = READ_ONCE(inet->ttl) ? READ_ONCE(inet->ttl) : IP_DEFAULT_TTL;
		return 0;
	case IP_PKTINFO:
		*value = READ_ONCE(inet->pktinfo);
		return 0;
	case IP_RECVTTL:
		*value = READ_ONCE(inet->recvttl);
		return 0;
	case IP_RECVTOS:
		*value = READ_ONCE(inet->recvtos);
		return 0;
	case IP_RECVERR:
		*value = READ_ONCE(inet->recverr);
		return 0;
	case IP_MTU:
		*value = inet_mtu();
		return READ_ONCE(inet->connected) ? 0 : -ENOTCONN;
	}
	return -ENOPROTOOPT;
}

/*
 * The value goes to the program cut to its room. A value that fits into a byte is given as one byte when the room is
 * less than an int, as on Linux: ip(7) programs pass a char.
 */
int inet_getsockopt(struct sock *sk, int level, int optname, void __user *optval, int __user *optlen)
{
	struct inet_sock *inet = inet_sk(sk);
	int room, value, err;

	if (get_user(room, optlen))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	if (level == SOL_RAW && has_filter(inet) && optname == ICMP_FILTER) {
		value = READ_ONCE(inet->icmp_filter);
	} else {
		err = level == SOL_IP ? get_ip_option(inet, optname, &value) : -ENOPROTOOPT;
		if (err)
			return level == SOL_RAW && inet->proto == &raw_proto && !has_filter(inet) ? -EOPNOTSUPP : err;
	}
	if (level == SOL_IP && room > 0 && room < (int)sizeof(value) && value >= 0 && value <= 255)
		room = 1; /* the one byte that has it */
	room = min(room, (int)sizeof(value));
	return put_user(room, optlen) || copy_to_user(optval, &value, room) ? -EFAULT : 0;
}

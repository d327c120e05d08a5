/* What tests of AF_INET share: addresses, numbers and short ways to make the calls, for both C libraries. */
#ifndef INET_H
#define INET_H

#include <sockets.h>

#ifdef __linux__
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#else
#include <uapi/in.h>
#endif

struct inet_addr {
	unsigned short family, port; /* big-endian, as the address */
	unsigned addr;
	char zero[8];
};

#define LOOPBACK 0x7f000001u
#define ANY	 0u

static inline unsigned short net16(unsigned v)
{
	return __builtin_bswap16((unsigned short)v);
}

static inline struct inet_addr inet_addr(unsigned addr, unsigned port)
{
	return (struct inet_addr){AF_INET, net16(port), __builtin_bswap32(addr), ""};
}

static inline int new_udp(void)
{
	return (int)CHECK_CALL(CALL(socket, AF_INET, SOCK_DGRAM, 0));
}

static inline long inet_call(long nr, int fd, unsigned addr, unsigned port)
{
	struct inet_addr a = inet_addr(addr, port);

	return check_syscall(nr, fd, (long)&a, sizeof(a), 0, 0, 0);
}
#define inet_bind(fd, addr, port)    inet_call(SYS_bind, fd, addr, port)
#define inet_connect(fd, addr, port) inet_call(SYS_connect, fd, addr, port)

static inline long inet_send(int fd, unsigned addr, unsigned port, const void *buf, size_t n, int flags)
{
	struct inet_addr a = inet_addr(addr, port);

	return CALL(sendto, fd, buf, n, flags, &a, sizeof(a));
}

/* Its own address, or that of its peer. */
static inline struct inet_addr inet_name(int fd, bool peer)
{
	struct inet_addr a = {0};
	int len = sizeof(a);

	CHECK_CALL(check_syscall(peer ? SYS_getpeername : SYS_getsockname, fd, (long)&a, (long)&len, 0, 0, 0));
	CHECK_EQ(len, sizeof(a));
	return a;
}

/* A socket bound to a free port of 127.0.0.1. */
static inline int bound_udp(unsigned *port)
{
	int fd = new_udp();

	CHECK_CALL(inet_bind(fd, LOOPBACK, 0));
	*port = net16(inet_name(fd, false).port);
	return fd;
}

static inline void set_option(int fd, int level, int which, int value)
{
	CHECK_CALL(CALL(setsockopt, fd, level, which, &value, sizeof(value)));
}

/* The checksum of RFC 1071. */
static inline unsigned short inet_sum(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	unsigned sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += i % 2 ? (unsigned)p[i] << 8 : p[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (unsigned short)~(sum + (sum >> 16));
}

#endif

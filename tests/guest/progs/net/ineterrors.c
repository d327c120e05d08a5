/* ineterrors: what sockets learn about packets that did not get to their receiver: errno, and IP_RECVERR's queue. */
/* also on Linux */
#include <inet.h>
#include <posix.h>

/* struct sock_extended_err: the two C libraries have it in different headers. */
struct extended_err {
	unsigned ee_errno;
	unsigned char ee_origin, ee_type, ee_code, ee_pad;
	unsigned ee_info, ee_data;
};
enum { FROM_LOCAL = 1, FROM_ICMP };

/* One read of the queue. */
struct told {
	long n; /* what recvmsg(2) has returned */
	unsigned flags;
	struct inet_addr to;
	struct extended_err ee;
	struct inet_addr offender;
	char bytes[64];
	bool pktinfo;
};

/* With `room` bytes for the packet. Everything is 0 when there is no error in the queue. */
static struct told next_error(int fd, size_t room)
{
	struct told t = {0};
	unsigned long control[32] = {0};
	struct iovec vec = {t.bytes, room};
	struct user_msghdr h = {.msg_name = &t.to, .msg_namelen = sizeof(t.to), .msg_iov = &vec, .msg_iovlen = 1};
	unsigned char *p = (unsigned char *)control;

	h.msg_control = control;
	h.msg_controllen = sizeof(control);
	t.n = CALL(recvmsg, fd, &h, MSG_ERRQUEUE);
	if (t.n < 0)
		return t;
	t.flags = h.msg_flags;
	for (size_t at = 0; at + 16 <= h.msg_controllen;) {
		size_t len = *(size_t *)(p + at);
		int type = *(int *)(p + at + 12);

		CHECK_EQ(*(int *)(p + at + 8), SOL_IP);
		t.pktinfo |= type == IP_PKTINFO;
		if (type == IP_RECVERR && CHECK_EQ(len, 16 + sizeof(t.ee) + sizeof(t.offender))) {
			memcpy(&t.ee, p + at + 16, sizeof(t.ee));
			memcpy(&t.offender, p + at + 16 + sizeof(t.ee), sizeof(t.offender));
		}
		at += (len + 7) & ~7UL;
	}
	return t;
}

/* An error that an ICMP message from 127.0.0.1 has told. */
static void check_icmp(const struct told *t, int error, int code)
{
	CHECK_EQ(t->ee.ee_errno, error);
	CHECK_EQ(t->ee.ee_origin, FROM_ICMP);
	CHECK_EQ(t->ee.ee_type, ICMP_DEST_UNREACH);
	CHECK_EQ(t->ee.ee_code, code);
	CHECK_EQ(t->ee.ee_info, 0);
	CHECK_EQ(t->ee.ee_data, 0);
	CHECK_EQ(t->offender.family, AF_INET);
	CHECK_EQ(t->offender.addr, inet_addr(LOOPBACK, 0).addr);
}

/* The errno of a packet that was just sent. Its error may be on its way still, on another CPU. */
static int errno_told(int fd)
{
	long end = check_now() + 5000 * MS;
	int error;

	do {
		error = option(fd, SO_ERROR);
	} while (!error && check_now() < end);
	return error;
}

/* The same for the queue, which is empty before. */
static struct told error_told(int fd)
{
	CHECK_EQ(ready(fd, POLLIN, 5000), POLLERR);
	return next_error(fd, 64);
}

static unsigned closed_port(void)
{
	unsigned port;

	close(bound_udp(&port));
	return port;
}

static void udp_queue(void)
{
	unsigned port = closed_port();
	int fd = new_udp(), value, len = sizeof(value);
	struct told t;
	char c;

	CHECK_CALL(CALL(getsockopt, fd, SOL_IP, IP_RECVERR, &value, &len));
	CHECK_EQ(value, 0);
	set_option(fd, SOL_IP, IP_RECVERR, 7);
	CHECK_CALL(CALL(getsockopt, fd, SOL_IP, IP_RECVERR, &value, &len));
	CHECK_EQ(value, 1);
	CHECK_ERRNO(next_error(fd, 64).n, EAGAIN);
	/* Without a connection. poll(2) shows the error while it is in the queue, and the errno goes with it. */
	CHECK_EQ(inet_send(fd, LOOPBACK, port, "abcdef", 6, 0), 6);
	t = error_told(fd);
	CHECK_EQ(t.n, 6);
	CHECK(!memcmp(t.bytes, "abcdef", 7));
	CHECK_EQ(t.flags, MSG_ERRQUEUE);
	CHECK_EQ(t.to.family, AF_INET);
	CHECK_EQ(t.to.port, net16(port));
	CHECK_EQ(t.to.addr, inet_addr(LOOPBACK, 0).addr);
	CHECK(!t.pktinfo);
	check_icmp(&t, ECONNREFUSED, 3);
	CHECK_EQ(ready(fd, POLLIN, 0), 0);
	CHECK_EQ(option(fd, SO_ERROR), 0);
	CHECK_ERRNO(next_error(fd, 64).n, EAGAIN);
	/* The errno may be fetched first: then the queue stays. */
	CHECK_EQ(inet_send(fd, LOOPBACK, port, "x", 1, 0), 1);
	CHECK_EQ(ready(fd, POLLIN, 5000), POLLERR);
	CHECK_ERRNO(CALL(recvfrom, fd, &c, 1, MSG_DONTWAIT, 0, 0), ECONNREFUSED);
	CHECK_ERRNO(CALL(recvfrom, fd, &c, 1, MSG_DONTWAIT, 0, 0), EAGAIN);
	CHECK_EQ(ready(fd, POLLIN, 0), POLLERR);
	CHECK_EQ(next_error(fd, 64).n, 1);
	CHECK_EQ(ready(fd, POLLIN, 0), 0);
}

static void several(void)
{
	unsigned port = closed_port();
	int fd = new_udp();
	struct told t;

	set_option(fd, SOL_IP, IP_RECVERR, 1);
	set_option(fd, SOL_IP, IP_PKTINFO, 1);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(inet_send(fd, LOOPBACK, port, "one\0two\0six" + 4 * i, 3, 0), 3);
		CHECK_EQ(errno_told(fd), ECONNREFUSED);
	}
	/* In order; what there is no room for is lost; and the next one in the queue is an errno again. */
	t = next_error(fd, 2);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(t.flags, MSG_ERRQUEUE | MSG_TRUNC);
	CHECK(!memcmp(t.bytes, "on", 3));
	CHECK(t.pktinfo);
	CHECK_EQ(errno_told(fd), ECONNREFUSED);
	t = next_error(fd, 64);
	CHECK_EQ(t.n, 3);
	CHECK(!memcmp(t.bytes, "two", 4));
	CHECK_ERRNO(inet_send(fd, LOOPBACK, port, "x", 1, 0), ECONNREFUSED);
	/* The option's end is the queue's. */
	set_option(fd, SOL_IP, IP_RECVERR, 0);
	CHECK_ERRNO(next_error(fd, 64).n, EAGAIN);
	CHECK_EQ(ready(fd, POLLIN, 0), 0);
}

/* Without the option there is no queue, and an errno with a connection alone. */
static void not_asked(void)
{
	unsigned port = closed_port();
	int fd = new_udp();

	CHECK_EQ(inet_send(fd, LOOPBACK, port, "x", 1, 0), 1);
	check_sleep(20 * MS);
	CHECK_ERRNO(next_error(fd, 64).n, EAGAIN);
	CHECK_EQ(option(fd, SO_ERROR), 0);
	fd = new_udp();
	CHECK_CALL(inet_connect(fd, LOOPBACK, port));
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(errno_told(fd), ECONNREFUSED);
	CHECK_ERRNO(next_error(fd, 64).n, EAGAIN);
	set_option(fd, SOL_IP, IP_RECVERR, 1);
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(error_told(fd).n, 1);
}

/* What is never sent, as it is too long, is an error of this machine's own; for errno it is that call's alone. */
static void too_long(void)
{
	static char bytes[65536];
	int fd = new_udp();
	struct told t;

	set_option(fd, SOL_IP, IP_RECVERR, 1);
	CHECK_ERRNO(inet_send(fd, LOOPBACK, 9, bytes, 65508, 0), EMSGSIZE);
	CHECK_ERRNO(inet_send(fd, LOOPBACK, 9, bytes, 65536, 0), EMSGSIZE); /* no packet of any network is so long */
	CHECK_EQ(option(fd, SO_ERROR), 0);
	CHECK_EQ(ready(fd, POLLIN, 0), POLLERR);
	t = next_error(fd, 64);
	CHECK_EQ(t.n, 0);
	CHECK_EQ(t.flags, MSG_ERRQUEUE);
	CHECK_EQ(t.to.family, AF_INET);
	CHECK_EQ(t.to.port, 0); /* that of a connection */
	CHECK_EQ(t.to.addr, inet_addr(LOOPBACK, 0).addr);
	CHECK_EQ(t.ee.ee_errno, EMSGSIZE);
	CHECK_EQ(t.ee.ee_origin, FROM_LOCAL);
	CHECK_EQ(t.ee.ee_type, 0);
	CHECK_EQ(t.ee.ee_info, 65535);
	CHECK_EQ(t.offender.family, 0);
	CHECK_EQ(t.offender.addr, 0);
	CHECK_ERRNO(next_error(fd, 64).n, EAGAIN);
	/* Reading it leaves an errno of ICMP alone. */
	CHECK_CALL(inet_connect(fd, LOOPBACK, closed_port()));
	CHECK_ERRNO(write(fd, bytes, 65508), EMSGSIZE);
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(errno_told(fd), ECONNREFUSED);
	t = next_error(fd, 64);
	CHECK_EQ(t.ee.ee_errno, EMSGSIZE);
	CHECK_EQ(t.to.port, inet_name(fd, true).port);
	CHECK_EQ(errno_told(fd), ECONNREFUSED);
	CHECK_EQ(next_error(fd, 64).n, 1);
}

/* The queue shares SO_RCVBUF with that of packets. What it has no room for is an errno alone. */
static void full_queue(void)
{
	unsigned port = closed_port(), n = 0, own;
	int fd = bound_udp(&own);

	set_option(fd, SOL_SOCKET, SO_RCVBUF, 20000);
	set_option(fd, SOL_IP, IP_RECVERR, 1);
	for (int i = 0; i < 500; i++) {
		CHECK_EQ(inet_send(fd, LOOPBACK, port, "x", 1, 0), 1);
		CHECK_EQ(errno_told(fd), ECONNREFUSED);
	}
	while (next_error(fd, 64).n == 1)
		n++;
	CHECK_RANGE(n, 10, 300);
	/* All of the room is there again, for packets too. */
	CHECK_EQ(inet_send(fd, LOOPBACK, port, "x", 1, 0), 1);
	CHECK_EQ(error_told(fd).n, 1);
	for (unsigned i = 0; i < 10; i++)
		CHECK_EQ(inet_send(fd, LOOPBACK, own, "x", 1, 0), 1);
	for (unsigned i = 0; i < 10; i++)
		CHECK_EQ(CALL(recvfrom, fd, &n, 1, 0, 0, 0), 1);
}

/* Queues that end with errors in them, by close(2) and by the option. The caller compares memory. */
static void left_behind(void)
{
	unsigned port = closed_port();

	for (int round = 0; round < 80; round++) {
		int fd = new_udp();

		set_option(fd, SOL_IP, IP_RECVERR, 1);
		for (int i = 0; i < 200; i++) {
			CHECK_EQ(inet_send(fd, LOOPBACK, port, "x", 1, 0), 1);
			CHECK_EQ(errno_told(fd), ECONNREFUSED);
		}
		if (round % 2)
			set_option(fd, SOL_IP, IP_RECVERR, 0);
		close(fd);
	}
}

/* A queue full of this machine's own errors: reading them leaves an errno of ICMP that is not in it. */
static void errno_stays(void)
{
	static char bytes[65508];
	int fd = new_udp();

	set_option(fd, SOL_SOCKET, SO_RCVBUF, 20000);
	set_option(fd, SOL_IP, IP_RECVERR, 1);
	CHECK_CALL(inet_connect(fd, LOOPBACK, closed_port()));
	for (int i = 0; i < 500; i++)
		CHECK_ERRNO(write(fd, bytes, sizeof(bytes)), EMSGSIZE);
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(errno_told(fd), ECONNREFUSED);
	CHECK_EQ(write(fd, "x", 1), 1);
	check_sleep(20 * MS);
	CHECK_EQ(next_error(fd, 64).ee.ee_errno, EMSGSIZE);
	CHECK_EQ(option(fd, SO_ERROR), ECONNREFUSED);
}

#define PROTOCOL 200 /* a number that means nothing */

/* A raw socket at another address has sent what no socket takes, and gets what it wrote back. */
static void raw_queue(void)
{
	int fd = (int)CALL(socket, AF_INET, SOCK_RAW, PROTOCOL);
	struct told t;

	if (fd < 0)
		return;
	CHECK_CALL(inet_bind(fd, 0x7f000002, 0));
	set_option(fd, SOL_IP, IP_RECVERR, 1);
	CHECK_EQ(inet_send(fd, LOOPBACK, 0, "rawbytes", 8, 0), 8);
	t = error_told(fd);
	CHECK_EQ(t.n, 8);
	CHECK(!memcmp(t.bytes, "rawbytes", 9));
	CHECK_EQ(t.to.port, 0);
	check_icmp(&t, ENOPROTOOPT, 2);
	set_option(fd, SOL_IP, IP_RECVERR, 0);
	CHECK_CALL(inet_connect(fd, LOOPBACK, 0));
	CHECK_EQ(write(fd, "rawbytes", 8), 8);
	CHECK_EQ(errno_told(fd), ENOPROTOOPT);
}

/* The errors that a program of root makes up: about an echo, which nothing else can be about here. */
static void ping_queue(void)
{
	int raw = (int)CALL(socket, AF_INET, SOCK_RAW, IPPROTO_ICMP), fd;
	unsigned char packet[40] = {ICMP_DEST_UNREACH, 3, [8] = 0x45, [17] = IPPROTO_ICMP, [28] = ICMP_ECHO};
	struct told t;

	if (raw < 0)
		return;
	fd = (int)CALL(socket, AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
	if (fd < 0) {
		CHECK_ERRNO(fd, EACCES);
		return;
	}
	CHECK_CALL(inet_bind(fd, LOOPBACK, 0x1234));
	set_option(fd, SOL_IP, IP_RECVERR, 1);
	*(unsigned *)(packet + 20) = __builtin_bswap32(LOOPBACK);
	*(unsigned *)(packet + 24) = __builtin_bswap32(0x7f000003);
	*(unsigned short *)(packet + 32) = net16(0x1234);
	packet[36] = 'p';
	*(unsigned short *)(packet + 2) = inet_sum(packet, sizeof(packet));
	CHECK_EQ(inet_send(raw, LOOPBACK, 0, packet, sizeof(packet), 0), sizeof(packet));
	t = error_told(fd);
	CHECK_EQ(t.n, 12);
	CHECK_EQ(t.bytes[0], ICMP_ECHO);
	CHECK_EQ(t.bytes[8], 'p');
	CHECK_EQ(t.to.addr, __builtin_bswap32(0x7f000003));
	CHECK_EQ(t.to.port, 0);
	check_icmp(&t, ECONNREFUSED, 3);
	/* About the answer to an echo: that is not what the socket has sent. */
	packet[28] = ICMP_ECHOREPLY;
	*(unsigned short *)(packet + 2) = 0;
	*(unsigned short *)(packet + 2) = inet_sum(packet, sizeof(packet));
	CHECK_EQ(inet_send(raw, LOOPBACK, 0, packet, sizeof(packet), 0), sizeof(packet));
	CHECK_ERRNO(next_error(fd, 64).n, EAGAIN);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"udp-queue", udp_queue},     {"several", several},	{"not-asked", not_asked},
		{"errno-stays", errno_stays}, {"too-long", too_long},	{"full-queue", full_queue},
		{"left-behind", left_behind}, {"raw-queue", raw_queue}, {"ping-queue", ping_queue},
	};

	check_seconds = 20;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

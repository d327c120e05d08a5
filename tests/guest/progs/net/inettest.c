/* inettest: sockets of AF_INET: kinds, names, options, errors; ICMP; devices. udptest sends datagrams. */
/* also on Linux */
#include <inet.h>
#include <posix.h>

static void kinds(void)
{
	int fd = new_udp(), raw = (int)CALL(socket, AF_INET, SOCK_RAW, IPPROTO_ICMP), pair[2];
	pid_t child;

	CHECK_EQ(option(fd, SO_TYPE), SOCK_DGRAM);
	CHECK_EQ(option(fd, SO_DOMAIN), AF_INET);
	CHECK_EQ(option(fd, SO_PROTOCOL), IPPROTO_UDP);
	CHECK_ERRNO(CALL(socket, AF_INET, SOCK_DGRAM, IPPROTO_TCP), EPROTONOSUPPORT);
	CHECK_ERRNO(CALL(socket, AF_INET, SOCK_RAW, 0), EPROTONOSUPPORT);
	CHECK_ERRNO(CALL(socket, AF_INET, SOCK_DGRAM, -1), EINVAL);
	CHECK_ERRNO(CALL(socket, AF_INET, SOCK_DGRAM, 263), EINVAL);
	CHECK_ERRNO(CALL(socket, AF_INET, 4, 0), ESOCKTNOSUPPORT); /* SOCK_RDM */
	CHECK_ERRNO(CALL(socket, AF_INET, 11, 0), EINVAL);
	CHECK_ERRNO(CALL(socketpair, AF_INET, SOCK_DGRAM, 0, pair), EOPNOTSUPP);
	CHECK_ERRNO(CALL(listen, fd, 1), EOPNOTSUPP);
	CHECK_ERRNO(CALL(accept, fd, 0, 0), EOPNOTSUPP);
#ifndef __linux__
	CHECK_ERRNO(CALL(socket, AF_INET, SOCK_STREAM, 0), ESOCKTNOSUPPORT); /* as Linux's code, had it no TCP */
#endif
	if (raw >= 0) {
		CHECK_EQ(option(raw, SO_PROTOCOL), IPPROTO_ICMP);
		CHECK_EQ(inet_name(raw, false).port, net16(IPPROTO_ICMP));
		child = check_fork();
		if (!child) {
			become_user(1234);
			CHECK_ERRNO(CALL(socket, AF_INET, SOCK_RAW, IPPROTO_ICMP), EPERM);
			_exit(check_failures != 0);
		}
		CHECK_EQ(check_wait(child), 0);
	}
}

static void names(void)
{
	unsigned port;
	int fd = bound_udp(&port), other = new_udp(), third = new_udp();
	struct inet_addr a = inet_addr(LOOPBACK, 0);

	CHECK_RANGE(port, 1024, 65535);
	CHECK_EQ(inet_name(fd, false).addr, a.addr);
	CHECK_ERRNO(inet_bind(fd, LOOPBACK, 0), EINVAL);
	CHECK_ERRNO(inet_bind(other, LOOPBACK, port), EADDRINUSE);
	CHECK_ERRNO(inet_bind(other, ANY, port), EADDRINUSE);
	CHECK_CALL(inet_bind(other, 0x7f000005, port)); /* another address of the same network */
	CHECK_ERRNO(inet_bind(third, 0x08080808, 0), EADDRNOTAVAIL);
	a.family = 77;
	CHECK_ERRNO(CALL(bind, third, &a, sizeof(a)), EAFNOSUPPORT);
	a.family = AF_UNSPEC;
	CHECK_ERRNO(CALL(bind, third, &a, sizeof(a)), EAFNOSUPPORT);
	CHECK_ERRNO(CALL(bind, third, &a, sizeof(a) - 1), EINVAL);
	CHECK_ERRNO(CALL(bind, third, &a, -1), EINVAL);
	CHECK_ERRNO(CALL(bind, third, &a, 129), EINVAL);
	CHECK_ERRNO(CALL(bind, third, 8, sizeof(a)), EFAULT);
	a.addr = 0;
	CHECK_CALL(CALL(bind, third, &a, sizeof(a))); /* no family and no address: any */
	CHECK_EQ(inet_name(third, false).family, AF_INET);
	CHECK_EQ(inet_name(third, false).addr, 0);
	close(other);
	other = new_udp();
	CHECK_CALL(inet_bind(other, 0x7f000005, port));
	close(fd);
	close(other);
	close(third);
}

/* Two that both allow it may have one port; what comes goes to the one that was bound last. */
static void shared_port(void)
{
	int a = new_udp(), b = new_udp();
	unsigned port;
	char c;

	set_option(a, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_CALL(inet_bind(a, LOOPBACK, 0));
	port = net16(inet_name(a, false).port);
	CHECK_ERRNO(inet_bind(b, LOOPBACK, port), EADDRINUSE);
	set_option(b, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_CALL(inet_bind(b, LOOPBACK, port));
	CHECK_EQ(inet_send(a, LOOPBACK, port, "x", 1, 0), 1);
	CHECK_EQ(CALL(recvfrom, b, &c, 1, MSG_DONTWAIT, 0, 0), 1);
	CHECK_ERRNO(CALL(recvfrom, a, &c, 1, MSG_DONTWAIT, 0, 0), EAGAIN);
	close(b);
	CHECK_EQ(inet_send(a, LOOPBACK, port, "x", 1, 0), 1);
	CHECK_EQ(CALL(recvfrom, a, &c, 1, MSG_DONTWAIT, 0, 0), 1);
}

static void connections(void)
{
	unsigned port, port2;
	int a = bound_udp(&port), b = bound_udp(&port2), c = new_udp();
	struct inet_addr addr = inet_addr(LOOPBACK, port);
	char buf[4];
	int len = sizeof(addr);

	CHECK_ERRNO(CALL(getpeername, c, &addr, &len), ENOTCONN);
	CHECK_EQ(inet_name(c, false).port, 0);
	c = new_udp();
	CHECK_ERRNO(write(c, "x", 1), EDESTADDRREQ);
	CHECK(inet_name(c, false).port != 0); /* it is to send, so it has a port, whatever becomes of that */
	c = new_udp();
	CHECK_ERRNO(CALL(connect, c, &addr, sizeof(addr) - 1), EINVAL);
	CHECK_ERRNO(CALL(connect, c, &addr, 1), EINVAL);
	CHECK_ERRNO(CALL(connect, c, 8, sizeof(addr)), EFAULT);
	addr.family = 77;
	CHECK_ERRNO(CALL(connect, c, &addr, sizeof(addr)), EAFNOSUPPORT);
	CHECK_ERRNO(write(c, "x", 1), EDESTADDRREQ);
	CHECK_CALL(inet_connect(c, LOOPBACK, port));
	CHECK_EQ(inet_name(c, true).port, net16(port));
	CHECK_EQ(inet_name(c, false).addr, addr.addr);
	CHECK_EQ(write(c, "one", 3), 3);
	CHECK_EQ(read(a, buf, 4), 3);
	/* Only its peer reaches it. */
	CHECK_EQ(inet_send(b, LOOPBACK, net16(inet_name(c, false).port), "no", 2, 0), 2);
	CHECK_ERRNO(CALL(recvfrom, c, buf, 4, MSG_DONTWAIT, 0, 0), EAGAIN);
	CHECK_EQ(inet_send(a, LOOPBACK, net16(inet_name(c, false).port), "yes", 3, 0), 3);
	CHECK_EQ(CALL(recvfrom, c, buf, 4, MSG_DONTWAIT, 0, 0), 3);
	/* A name goes before the peer. */
	CHECK_EQ(inet_send(c, LOOPBACK, port2, "two", 3, 0), 3);
	CHECK_ERRNO(CALL(recvfrom, b, buf, 4, MSG_DONTWAIT, 8, &len), EFAULT);
	CHECK_CALL(inet_connect(c, LOOPBACK, port2));
	CHECK_EQ(inet_name(c, true).port, net16(port2));
	addr.family = AF_UNSPEC;
	CHECK_CALL(CALL(connect, c, &addr, sizeof(addr)));
	CHECK_ERRNO(CALL(getpeername, c, &addr, &len), ENOTCONN);
	CHECK_EQ(inet_name(c, false).port, 0); /* nobody had asked for it */
	addr.family = AF_UNSPEC;
	close(a);
	a = new_udp();
	CHECK_CALL(inet_bind(a, LOOPBACK, port));
	CHECK_CALL(inet_connect(a, LOOPBACK, port2));
	CHECK_CALL(CALL(connect, a, &addr, 2));
	CHECK_EQ(inet_name(a, false).port, net16(port)); /* bind had named it */
	/* No address is this machine's. */
	CHECK_CALL(inet_connect(c, ANY, port));
	CHECK_EQ(inet_name(c, true).addr, inet_addr(LOOPBACK, 0).addr);
}

static void shut_down(void)
{
	unsigned port;
	int fd = bound_udp(&port), c = new_udp();
	char buf[4];

	CHECK_ERRNO(CALL(shutdown, c, 3), EINVAL);
	CHECK_CALL(inet_connect(c, LOOPBACK, port));
	CHECK_CALL(CALL(shutdown, c, SHUT_WR));
	CHECK_ERRNO(write(c, "x", 1), EPIPE);
	CHECK_EQ(ready(c, WANT_READ, 0), 0);
	CHECK_CALL(CALL(shutdown, c, SHUT_RD));
	CHECK_ERRNO(CALL(recvfrom, c, buf, 4, MSG_DONTWAIT), EAGAIN); /* only a reader that waits is told of the end */
	CHECK_EQ(read(c, buf, 4), 0);
	CHECK_EQ(ready(c, WANT_READ, 0), POLLIN | RDHUP | POLLHUP);
	CHECK_ERRNO(CALL(shutdown, fd, SHUT_RD), ENOTCONN);
	CHECK_EQ(read(fd, buf, 4), 0);
}

static int ip_option(int fd, int level, int which)
{
	int value = -7, len = sizeof(value);

	CHECK_CALL(CALL(getsockopt, fd, level, which, &value, &len));
	CHECK_EQ(len, sizeof(value));
	return value;
}

static void options(void)
{
	int fd = new_udp(), value = 300, len;
	unsigned char byte = 9;
	unsigned port;

	CHECK_EQ(ip_option(fd, SOL_IP, IP_TTL), 64);
	set_option(fd, SOL_IP, IP_TTL, 3);
	CHECK_EQ(ip_option(fd, SOL_IP, IP_TTL), 3);
	set_option(fd, SOL_IP, IP_TTL, -1);
	CHECK_EQ(ip_option(fd, SOL_IP, IP_TTL), 64);
	CHECK_ERRNO(CALL(setsockopt, fd, SOL_IP, IP_TTL, &value, sizeof(value)), EINVAL);
	value = 0;
	CHECK_ERRNO(CALL(setsockopt, fd, SOL_IP, IP_TTL, &value, sizeof(value)), EINVAL);
	CHECK_CALL(CALL(setsockopt, fd, SOL_IP, IP_TTL, &byte, 1));
	byte = 0;
	len = 1;
	CHECK_CALL(CALL(getsockopt, fd, SOL_IP, IP_TTL, &byte, &len));
	CHECK_EQ(byte, 9);
	CHECK_EQ(len, 1);
	set_option(fd, SOL_IP, IP_TOS, 0x10);
	CHECK_EQ(ip_option(fd, SOL_IP, IP_TOS), 0x10);
	set_option(fd, SOL_IP, IP_PKTINFO, 5);
	CHECK_EQ(ip_option(fd, SOL_IP, IP_PKTINFO), 1);
	len = sizeof(value);
	CHECK_ERRNO(CALL(getsockopt, fd, SOL_IP, IP_MTU, &value, &len), ENOTCONN);
	close(bound_udp(&port));
	CHECK_CALL(inet_connect(fd, LOOPBACK, port));
	CHECK_EQ(ip_option(fd, SOL_IP, IP_MTU), 65535);
	CHECK_ERRNO(CALL(setsockopt, fd, SOL_IP, 9999, &value, sizeof(value)), ENOPROTOOPT);
	CHECK_ERRNO(CALL(getsockopt, fd, SOL_IP, 9999, &value, &len), ENOPROTOOPT);
	CHECK_ERRNO(CALL(setsockopt, fd, 9999, 1, &value, sizeof(value)), ENOPROTOOPT);
	CHECK_ERRNO(CALL(setsockopt, fd, SOL_IP, IP_TTL, 8, sizeof(value)), EFAULT);
	CHECK_ERRNO(CALL(getsockopt, fd, SOL_IP, IP_TTL, 8, &len), EFAULT);
	CHECK_ERRNO(CALL(getsockopt, fd, SOL_IP, IP_TTL, &value, 8), EFAULT);
	len = -1;
	CHECK_ERRNO(CALL(getsockopt, fd, SOL_IP, IP_TTL, &value, &len), EINVAL);
	set_option(fd, SOL_SOCKET, SO_BROADCAST, 1);
	CHECK_EQ(option(fd, SO_BROADCAST), 1);
	set_option(fd, SOL_SOCKET, SO_RCVBUF, 10000);
	CHECK_EQ(option(fd, SO_RCVBUF), 20000);
}

#define FILTER_TYPES 1 /* ICMP_FILTER: headers of C libraries lack it */

/* ---- ICMP, with a socket that sees all of it */

struct echo {
	unsigned char type, code;
	unsigned short check, id, sequence;
	char data[40];
};

static struct echo new_echo(int sequence)
{
	struct echo e = {.type = ICMP_ECHO, .sequence = net16((unsigned)sequence)};

	e.id = net16((unsigned)getpid() & 0xffff);
	for (unsigned i = 0; i < sizeof(e.data); i++)
		e.data[i] = (char)(i * 3 + (unsigned)sequence);
	e.check = inet_sum(&e, sizeof(e));
	return e;
}

/* The next packet of this type with our identifier, behind a header of IP that is right. False: none for ms. */
static bool next_echo(int raw, int type, struct echo *e, int ms)
{
	struct {
		unsigned char ip[20];
		struct echo echo;
	} packet;

	while (ready(raw, POLLIN, ms) == POLLIN) {
		if (read(raw, &packet, sizeof(packet)) != sizeof(packet))
			continue;
		*e = packet.echo;
		if (e->type != type || e->id != net16((unsigned)getpid() & 0xffff))
			continue;
		CHECK_EQ(packet.ip[0], 0x45);
		CHECK_EQ(packet.ip[9], IPPROTO_ICMP);
		CHECK_EQ(packet.ip[2] * 256 + packet.ip[3], sizeof(packet));
		CHECK_EQ(inet_sum(packet.ip, sizeof(packet.ip)), 0);
		return true;
	}
	return false;
}

static void raw_echo(void)
{
	int raw = (int)CALL(socket, AF_INET, SOCK_RAW, IPPROTO_ICMP);
	struct echo e, back;

	if (raw < 0)
		return; /* on a host where we are not root */
	for (int i = 1; i <= 3; i++) {
		e = new_echo(i);
		CHECK_EQ(inet_send(raw, LOOPBACK, 0, &e, sizeof(e), 0), sizeof(e));
		CHECK(next_echo(raw, ICMP_ECHO, &back, 1000)); /* it came in, too */
		CHECK(!memcmp(&e, &back, sizeof(e)));
		CHECK(next_echo(raw, ICMP_ECHOREPLY, &back, 1000));
		CHECK_EQ(back.sequence, net16((unsigned)i));
		CHECK_EQ(inet_sum(&back, sizeof(back)), 0);
		CHECK(!memcmp(e.data, back.data, sizeof(e.data)));
	}
	/* A wrong checksum is not answered; types that are filtered are not seen. */
	e.check++;
	CHECK_EQ(inet_send(raw, LOOPBACK, 0, &e, sizeof(e), 0), sizeof(e));
	CHECK(next_echo(raw, ICMP_ECHO, &back, 1000));
	CHECK(!next_echo(raw, ICMP_ECHOREPLY, &back, 20));
	set_option(raw, SOL_RAW, FILTER_TYPES, 1 << ICMP_ECHO);
	CHECK_EQ(ip_option(raw, SOL_RAW, FILTER_TYPES), 1 << ICMP_ECHO);
	e = new_echo(9);
	CHECK_EQ(inet_send(raw, LOOPBACK, 0, &e, sizeof(e), 0), sizeof(e));
	CHECK(!next_echo(raw, ICMP_ECHO, &back, 20));
	CHECK_EQ(inet_send(raw, LOOPBACK, 0, &e, sizeof(e), 0), sizeof(e));
	CHECK(next_echo(raw, ICMP_ECHOREPLY, &back, 1000));
	/* Too short, with a right checksum: nobody answers, nothing breaks. */
	CHECK_EQ(inet_send(raw, LOOPBACK, 0, "\x08\x00\xf7\xff", 4, 0), 4);
	CHECK_ERRNO(inet_send(raw, LOOPBACK, 0, "", 0, 0), EFAULT);
	CHECK_ERRNO(inet_send(raw, LOOPBACK, 0, "x", 1, 0), EFAULT);
}

/* Errors that quote nonsense: a program of root can send them. */
static void forged_errors(void)
{
	int raw = (int)CALL(socket, AF_INET, SOCK_RAW, IPPROTO_ICMP), fd;
	unsigned char packet[64];
	unsigned port;

	if (raw < 0)
		return;
	fd = bound_udp(&port);
	CHECK_CALL(inet_connect(fd, LOOPBACK, port));
	for (unsigned n = 8; n <= sizeof(packet); n++) {
		memset(packet, 0, sizeof(packet));
		packet[0] = ICMP_DEST_UNREACH;
		packet[1] = 3;
		packet[8] = n % 2 ? 0x4f : 0x15;
		packet[17] = IPPROTO_UDP;
		*(unsigned short *)(packet + 2) = inet_sum(packet, n);
		CHECK_EQ(inet_send(raw, LOOPBACK, 0, packet, n, 0), n);
	}
	CHECK_EQ(option(fd, SO_ERROR), 0);
	/* A true one is believed. */
	memset(packet, 0, sizeof(packet));
	packet[0] = ICMP_DEST_UNREACH;
	packet[1] = 3;
	packet[8] = 0x45;
	packet[17] = IPPROTO_UDP;
	*(unsigned *)(packet + 20) = *(unsigned *)(packet + 24) = __builtin_bswap32(LOOPBACK);
	*(unsigned short *)(packet + 28) = *(unsigned short *)(packet + 30) = net16(port);
	*(unsigned short *)(packet + 2) = inet_sum(packet, 36);
	CHECK_EQ(inet_send(raw, LOOPBACK, 0, packet, 36, 0), 36);
	CHECK_EQ(option(fd, SO_ERROR), ECONNREFUSED);
	CHECK_EQ(option(fd, SO_ERROR), 0);
}

/* Echos without root's rights, where the machine's administrator lets our group send them. */
static void ping_socket(void)
{
	int fd = (int)CALL(socket, AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
	struct echo e = new_echo(7), back;
	struct inet_addr from;
	int len = sizeof(from);

	if (fd < 0) {
		CHECK_EQ(errno, EACCES);
		return;
	}
	CHECK_EQ(inet_send(fd, LOOPBACK, 0, &e, sizeof(e), 0), sizeof(e));
	CHECK_EQ(CALL(recvfrom, fd, &back, sizeof(back), 0, &from, &len), sizeof(back));
	CHECK_EQ(back.type, ICMP_ECHOREPLY);
	CHECK_EQ(back.id, inet_name(fd, false).port); /* the socket's own, whatever the program wrote */
	CHECK_EQ(back.sequence, e.sequence);
	CHECK(!memcmp(e.data, back.data, sizeof(e.data)));
	CHECK_EQ(from.addr, inet_addr(LOOPBACK, 0).addr);
	e.type = ICMP_ECHOREPLY;
	CHECK_ERRNO(inet_send(fd, LOOPBACK, 0, &e, sizeof(e), 0), EINVAL);
	CHECK_ERRNO(inet_send(fd, LOOPBACK, 0, &e, 7, 0), EINVAL);
	CHECK_ERRNO(CALL(recvfrom, fd, &back, sizeof(back), MSG_DONTWAIT, 0, 0), EAGAIN);
}

/* ---- Devices */

struct request {
	char name[16];
	union {
		struct inet_addr addr;
		short flags;
		int number;
		char room[24];
	};
};

static void devices(void)
{
	int fd = new_udp();
	struct request r = {.name = "lo"}, list[8];
	struct {
		int len, pad;
		void *list;
	} conf = {sizeof(list), 0, list};

	CHECK_CALL(CALL(ioctl, fd, 0x8913, &r)); /* SIOCGIFFLAGS */
	CHECK_EQ(r.flags & 0x49, 0x49);
	CHECK_CALL(CALL(ioctl, fd, 0x8915, &r)); /* SIOCGIFADDR */
	CHECK_EQ(r.addr.family, AF_INET);
	CHECK_EQ(r.addr.addr, inet_addr(LOOPBACK, 0).addr);
	CHECK_CALL(CALL(ioctl, fd, 0x891b, &r)); /* SIOCGIFNETMASK */
	CHECK_EQ(r.addr.addr, inet_addr(0xff000000, 0).addr);
	CHECK_CALL(CALL(ioctl, fd, 0x8921, &r)); /* SIOCGIFMTU */
	CHECK_EQ(r.number, 65536);
	CHECK_CALL(CALL(ioctl, fd, 0x8927, &r)); /* SIOCGIFHWADDR */
	CHECK_EQ(r.addr.family, 772);
	CHECK_CALL(CALL(ioctl, fd, 0x8933, &r)); /* SIOCGIFINDEX */
	CHECK_EQ(r.number, 1);
	strcpy(r.name, "?");
	CHECK_CALL(CALL(ioctl, fd, 0x8910, &r)); /* SIOCGIFNAME */
	CHECK(!strcmp(r.name, "lo"));
	r.number = 9999;
	CHECK_ERRNO(CALL(ioctl, fd, 0x8910, &r), ENODEV);
	CHECK_CALL(CALL(ioctl, fd, 0x8912, &conf)); /* SIOCGIFCONF */
	CHECK(conf.len >= (int)sizeof(r) && !strcmp(list[0].name, "lo"));
	CHECK_EQ(list[0].addr.addr, inet_addr(LOOPBACK, 0).addr);
	conf.len = sizeof(r) - 1;
	CHECK_CALL(CALL(ioctl, fd, 0x8912, &conf));
	CHECK_EQ(conf.len, 0);
	strcpy(r.name, "none0");
	CHECK_ERRNO(CALL(ioctl, fd, 0x8913, &r), ENODEV);
	CHECK_ERRNO(CALL(ioctl, fd, 0x8913, 8), EFAULT);
	CHECK_ERRNO(CALL(ioctl, fd, 0x8912, 8), EFAULT);
	CHECK_ERRNO(CALL(ioctl, fd, 0x1234, &r), ENOTTY);
#ifndef __linux__ /* the host needs its own */
	strcpy(r.name, "lo");
	r.flags = 0;
	CHECK_CALL(CALL(ioctl, fd, 0x8914, &r)); /* SIOCSIFFLAGS */
	CHECK_CALL(CALL(ioctl, fd, 0x8913, &r));
	CHECK_EQ(r.flags, 0x8);
	CHECK_ERRNO(inet_send(fd, LOOPBACK, 9, "x", 1, 0), ENETUNREACH);
	CHECK_ERRNO(inet_connect(fd, LOOPBACK, 9), ENETUNREACH);
	CHECK_ERRNO(inet_bind(new_udp(), LOOPBACK, 0), EADDRNOTAVAIL);
	r.flags = 1;
	CHECK_CALL(CALL(ioctl, fd, 0x8914, &r));
	CHECK_EQ(inet_send(fd, LOOPBACK, 9, "x", 1, 0), 1);
#endif
	become_user(1234);
	strcpy(r.name, "lo");
	r.flags = 0x49;
	CHECK_ERRNO(CALL(ioctl, fd, 0x8914, &r), EPERM);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"kinds", kinds},
		{"names", names},
		{"shared-port", shared_port},
		{"connections", connections},
		{"shut-down", shut_down},
		{"options", options},
		{"raw-echo", raw_echo},
		{"forged-errors", forged_errors},
		{"ping-socket", ping_socket},
		{"devices", devices},
	};

	check_seconds = 20;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

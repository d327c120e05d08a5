/* udptest: datagrams through lo: they arrive whole and in order, are refused, or have no room and are counted. */
/* also on Linux */
#include <inet.h>
#include <posix.h>
#include <thread.h>

#define LARGEST 65507 /* 65535 less the headers of IP and UDP */

static unsigned char data[65536], back[65536];

static void fill(unsigned char *bytes, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

/* Each size comes as it went, with the sender's address. */
static void sizes(void)
{
	static const int size[] = {0, 1, 2, 3, 17, 1471, 4096, 32769, LARGEST - 1, LARGEST};
	unsigned port, from_port;
	int fd = bound_udp(&port), from = bound_udp(&from_port), n, len;
	struct inet_addr a;

	for (unsigned i = 0; i < ARRAY_SIZE(size); i++) {
		fill(data, sizeof(data), i);
		memset(back, 0, sizeof(back));
		CHECK_EQ(inet_send(from, LOOPBACK, port, data, (size_t)size[i], 0), size[i]);
		CHECK_EQ(ready(fd, POLLIN | POLLOUT, 0), POLLIN | POLLOUT);
		CHECK_CALL(CALL(ioctl, fd, INQ, &n));
		CHECK_EQ(n, size[i]);
		len = sizeof(a);
		CHECK_EQ(CALL(recvfrom, fd, back, sizeof(back), MSG_DONTWAIT, &a, &len), size[i]);
		CHECK_EQ(len, sizeof(a));
		CHECK_EQ(a.family, AF_INET);
		CHECK_EQ(a.port, net16(from_port));
		CHECK_EQ(a.addr, inet_addr(LOOPBACK, 0).addr);
		CHECK(!memcmp(data, back, (size_t)size[i]));
	}
	CHECK_ERRNO(inet_send(from, LOOPBACK, port, data, LARGEST + 1, 0), EMSGSIZE);
	CHECK_ERRNO(inet_send(from, LOOPBACK, port, data, 65536, 0), EMSGSIZE);
	CHECK_ERRNO(CALL(recvfrom, fd, back, 1, MSG_DONTWAIT, 0, 0), EAGAIN);
	CHECK_EQ(ready(fd, POLLIN, 0), 0);
	CHECK_CALL(CALL(ioctl, fd, INQ, &n));
	CHECK_EQ(n, 0);
}

static void bad_sends(void)
{
	unsigned port;
	int fd = bound_udp(&port);
	struct inet_addr a = inet_addr(LOOPBACK, port);
	char c;

	CHECK_ERRNO(CALL(sendto, fd, "x", 1, 0, &a, sizeof(a) - 1), EINVAL);
	CHECK_ERRNO(CALL(sendto, fd, "x", 1, 0, &a, -1), EINVAL);
	CHECK_ERRNO(CALL(sendto, fd, "x", 1, 0, &a, 0), EINVAL);
	CHECK_ERRNO(CALL(sendto, fd, "x", 1, 0, &a, 129), EINVAL);
	CHECK_ERRNO(CALL(sendto, fd, "x", 1, 0, 8, sizeof(a)), EFAULT);
	CHECK_ERRNO(CALL(sendto, fd, 8, 1, 0, &a, sizeof(a)), EFAULT);
	CHECK_ERRNO(CALL(sendto, fd, "x", 1, MSG_OOB, &a, sizeof(a)), EOPNOTSUPP);
	CHECK_ERRNO(inet_send(fd, LOOPBACK, 0, "x", 1, 0), EINVAL);
	a.family = 77;
	CHECK_ERRNO(CALL(sendto, fd, "x", 1, 0, &a, sizeof(a)), EAFNOSUPPORT);
	CHECK_ERRNO(write(fd, "x", 1), EDESTADDRREQ);
	CHECK_ERRNO(inet_send(fd, 0x7fffffff, port, "x", 1, 0), EACCES);    /* to all: SO_BROADCAST is off */
	CHECK_ERRNO(CALL(recvfrom, fd, &c, 1, MSG_DONTWAIT, 0, 0), EAGAIN); /* nothing of that went out */
	a.family = AF_UNSPEC;
	CHECK_EQ(CALL(sendto, fd, "x", 1, 0, &a, sizeof(a)), 1);
	CHECK_ERRNO(CALL(recvfrom, fd, 8, 1, 0, 0, 0), EFAULT);
	CHECK_ERRNO(CALL(recvfrom, fd, &c, 1, MSG_DONTWAIT, 0, 0), EAGAIN); /* that datagram is gone */
}

static void peeks_and_cuts(void)
{
	unsigned port;
	int fd = bound_udp(&port);
	char buf[16] = "", more[4] = "";
	struct iovec vec[2] = {{buf, 3}, {more, 2}};
	struct user_msghdr h = {.msg_iov = vec, .msg_iovlen = 2};

	CHECK_EQ(inet_send(fd, LOOPBACK, port, "abcdefgh", 8, 0), 8);
	CHECK_EQ(CALL(recvfrom, fd, buf, 3, MSG_PEEK, 0, 0), 3);
	CHECK_EQ(CALL(recvfrom, fd, buf, 3, MSG_PEEK | MSG_TRUNC, 0, 0), 8);
	CHECK_EQ(CALL(recvmsg, fd, &h, MSG_PEEK), 5);
	CHECK_EQ(h.msg_flags, MSG_TRUNC);
	CHECK(!memcmp(buf, "abc", 3) && !memcmp(more, "de", 2));
	CHECK_EQ(CALL(recvmsg, fd, &h, MSG_TRUNC), 8);
	CHECK_EQ(h.msg_flags, MSG_TRUNC);
	CHECK_ERRNO(CALL(recvmsg, fd, &h, MSG_DONTWAIT), EAGAIN); /* the end that was cut off is lost */
	vec[0] = (struct iovec){"one", 3};
	vec[1] = (struct iovec){"two", 3};
	CHECK_CALL(inet_connect(fd, LOOPBACK, port));
	CHECK_EQ(CALL(sendmsg, fd, &h, 0), 6);
	CHECK_EQ(CALL(writev, fd, vec, 2), 6);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(read(fd, buf, sizeof(buf)), 6);
		CHECK(!memcmp(buf, "onetwo", 6));
	}
}

static void refused(void)
{
	int fd = new_udp(), other = new_udp();
	unsigned port;
	char c;

	close(bound_udp(&port));
	/* An error belongs to a connected socket, and is told once, by the next call or by SO_ERROR. */
	CHECK_CALL(inet_connect(fd, LOOPBACK, port));
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(ready(fd, POLLIN, 1000) & POLLERR, POLLERR);
	CHECK_ERRNO(CALL(recvfrom, fd, &c, 1, MSG_DONTWAIT, 0, 0), ECONNREFUSED);
	CHECK_ERRNO(CALL(recvfrom, fd, &c, 1, MSG_DONTWAIT, 0, 0), EAGAIN);
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_ERRNO(write(fd, "x", 1), ECONNREFUSED);
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(option(fd, SO_ERROR), ECONNREFUSED);
	CHECK_EQ(option(fd, SO_ERROR), 0);
	CHECK_EQ(inet_send(other, LOOPBACK, port, "x", 1, 0), 1);
	CHECK_EQ(inet_send(other, LOOPBACK, port, "x", 1, 0), 1);
	CHECK_ERRNO(CALL(recvfrom, other, &c, 1, MSG_DONTWAIT, 0, 0), EAGAIN);
}

/* A control message of this level and type of a datagram, and its first number; -1: it is not there. */
static int beside(struct user_msghdr *h, int level, int type, unsigned n, const unsigned char **bytes)
{
	unsigned char *p = h->msg_control;

	for (size_t at = 0; at + 16 <= h->msg_controllen;) {
		size_t len = *(size_t *)(p + at);

		if (*(int *)(p + at + 8) == level && *(int *)(p + at + 12) == type) {
			CHECK_EQ(len, 16 + n);
			*bytes = p + at + 16;
			return 0;
		}
		at += (len + 7) & ~7UL;
	}
	return -1;
}

static void told_beside(void)
{
	unsigned port;
	int fd = bound_udp(&port), from = new_udp();
	unsigned long control[32];
	const unsigned char *bytes = NULL;
	char c;
	struct iovec vec = {&c, 1};
	struct user_msghdr h = {.msg_iov = &vec, .msg_iovlen = 1, .msg_control = control};
	struct timespec now;

	h.msg_controllen = sizeof(control);
	set_option(fd, SOL_IP, IP_PKTINFO, 1);
	set_option(fd, SOL_IP, IP_RECVTTL, 1);
	set_option(fd, SOL_IP, IP_RECVTOS, 1);
	set_option(fd, SOL_SOCKET, 29, 1); /* SO_TIMESTAMP */
	set_option(from, SOL_IP, IP_TTL, 17);
	set_option(from, SOL_IP, IP_TOS, 0x20);
	CHECK_CALL(inet_bind(from, 0x7f000007, 0));
	CHECK_EQ(inet_send(from, LOOPBACK, port, "x", 1, 0), 1);
	CHECK_EQ(CALL(recvmsg, fd, &h, 0), 1);
	CHECK_EQ(h.msg_flags, 0);
	if (CHECK_EQ(beside(&h, SOL_IP, IP_PKTINFO, 12, &bytes), 0)) {
		CHECK_EQ(((const unsigned *)bytes)[0], 1);
		CHECK_EQ(((const unsigned *)bytes)[1], inet_addr(LOOPBACK, 0).addr);
		CHECK_EQ(((const unsigned *)bytes)[2], inet_addr(LOOPBACK, 0).addr);
	}
	if (CHECK_EQ(beside(&h, SOL_IP, IP_TTL, 4, &bytes), 0))
		CHECK_EQ(*(const int *)bytes, 17);
	if (CHECK_EQ(beside(&h, SOL_IP, IP_TOS, 1, &bytes), 0))
		CHECK_EQ(*bytes, 0x20);
	if (CHECK_EQ(beside(&h, SOL_SOCKET, 29, 16, &bytes), 0)) {
		clock_gettime(CLOCK_REALTIME, &now);
		CHECK_RANGE(now.tv_sec - *(const long *)bytes, 0, 5);
	}
	/* What does not fit is cut off, and said. */
	CHECK_EQ(inet_send(from, LOOPBACK, port, "x", 1, 0), 1);
	h.msg_controllen = 20;
	CHECK_EQ(CALL(recvmsg, fd, &h, 0), 1);
	CHECK_EQ(h.msg_flags, MSG_CTRUNC);
	CHECK_EQ(h.msg_controllen, 20);
}

/* One message with a control message: 16 bytes of head, then data. */
static long send_beside(int fd, unsigned port, int type, const void *bytes, size_t n)
{
	struct inet_addr a = inet_addr(LOOPBACK, port);
	char c = 'x';
	struct iovec vec = {&c, 1};
	unsigned long control[8] = {16 + n, SOL_IP | (unsigned long)type << 32};
	struct user_msghdr h = {.msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &vec, .msg_iovlen = 1};

	memcpy(control + 2, bytes, n);
	h.msg_control = control;
	h.msg_controllen = 16 + n;
	return CALL(sendmsg, fd, &h, 0);
}

static void said_beside(void)
{
	unsigned port, info[3] = {0, __builtin_bswap32(0x7f000009), 0};
	int fd = bound_udp(&port), from = new_udp(), ttl = 5, len;
	unsigned long control[8];
	const unsigned char *bytes = NULL;
	struct inet_addr a;
	char c;
	struct iovec vec = {&c, 1};
	struct user_msghdr h = {.msg_iov = &vec, .msg_iovlen = 1, .msg_control = control};

	h.msg_controllen = sizeof(control);
	CHECK_EQ(send_beside(from, port, IP_PKTINFO, info, sizeof(info)), 1);
	len = sizeof(a);
	CHECK_EQ(CALL(recvfrom, fd, &c, 1, 0, &a, &len), 1);
	CHECK_EQ(a.addr, info[1]);
	set_option(fd, SOL_IP, IP_RECVTTL, 1);
	CHECK_EQ(send_beside(from, port, IP_TTL, &ttl, sizeof(ttl)), 1);
	CHECK_EQ(CALL(recvmsg, fd, &h, 0), 1);
	if (CHECK_EQ(beside(&h, SOL_IP, IP_TTL, 4, &bytes), 0))
		CHECK_EQ(*(const int *)bytes, 5);
	ttl = 0;
	CHECK_ERRNO(send_beside(from, port, IP_TTL, &ttl, sizeof(ttl)), EINVAL);
	CHECK_ERRNO(send_beside(from, port, 77, &ttl, sizeof(ttl)), EINVAL);
	info[1] = 0x08080808;
	CHECK_ERRNO(send_beside(from, port, IP_PKTINFO, info, sizeof(info)), ENETUNREACH);
	info[0] = 7777; /* no device has this number */
	info[1] = 0;
	CHECK_ERRNO(send_beside(from, port, IP_PKTINFO, info, sizeof(info)), ENODEV);
	/* Without an address it does not matter what stands beside the bytes. */
	h.msg_controllen = 20;
	control[0] = 20;
	control[1] = SOL_IP | 77UL << 32;
	CHECK_ERRNO(CALL(sendmsg, from, &h, 0), EDESTADDRREQ);
}

/* What goes to all reaches each socket of the port that takes any address, once; and nobody answers for its absence. */
static void to_all(void)
{
	int a = new_udp(), b = new_udp(), other = new_udp(), from = new_udp();
	unsigned port;
	char buf[8];

	set_option(a, SOL_SOCKET, SO_REUSEADDR, 1);
	set_option(b, SOL_SOCKET, SO_REUSEADDR, 1);
	set_option(other, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_CALL(inet_bind(a, ANY, 0));
	port = net16(inet_name(a, false).port);
	CHECK_CALL(inet_bind(b, ANY, port));
	CHECK_CALL(inet_bind(other, LOOPBACK, port));
	set_option(from, SOL_SOCKET, SO_BROADCAST, 1);
	CHECK_EQ(inet_send(from, 0x7fffffff, port, "all", 3, 0), 3);
	CHECK_EQ(CALL(recvfrom, a, buf, sizeof(buf), MSG_DONTWAIT, 0, 0), 3);
	CHECK_EQ(CALL(recvfrom, b, buf, sizeof(buf), MSG_DONTWAIT, 0, 0), 3);
	CHECK(!memcmp(buf, "all", 3));
	CHECK_ERRNO(CALL(recvfrom, a, buf, sizeof(buf), MSG_DONTWAIT, 0, 0), EAGAIN);
	CHECK_ERRNO(CALL(recvfrom, other, buf, sizeof(buf), MSG_DONTWAIT, 0, 0), EAGAIN);
	close(a);
	close(b);
	CHECK_CALL(inet_connect(from, 0x7fffffff, port));
	CHECK_EQ(write(from, "all", 3), 3);
	CHECK_ERRNO(CALL(recvfrom, from, buf, sizeof(buf), MSG_DONTWAIT, 0, 0), EAGAIN);
}

static void time_limits(void)
{
	unsigned port;
	int fd = bound_udp(&port);
	struct timeval tv = {0, 30000};
	long start = check_now();
	char c;

	CHECK_CALL(CALL(setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	CHECK_ERRNO(read(fd, &c, 1), EAGAIN);
	CHECK_RANGE(check_now() - start, 29 * MS, 10000 * MS);
}

/* A reader that sleeps is woken by what comes; it is another process's. */
static pid_t sends_soon(unsigned port)
{
	pid_t child = check_fork();

	if (child)
		return child;
	check_sleep(30 * MS);
	inet_send(new_udp(), LOOPBACK, port, "w", 1, 0);
	_exit(check_failures != 0);
}

static void wakes_readers(void)
{
	unsigned port;
	int fd = bound_udp(&port);
	pid_t child = sends_soon(port);
	char c = 0;

	CHECK_EQ(read(fd, &c, 1), 1);
	CHECK_EQ(c, 'w');
	CHECK_EQ(check_wait(child), 0);
	child = sends_soon(port);
	CHECK_EQ(ready(fd, POLLIN, 5000), POLLIN);
	CHECK_EQ(check_wait(child), 0);
}

/* The number of the last column of a socket's line in /proc/net/udp, or -1. */
static long drops_of(unsigned port)
{
	static char text[65536];
	FILE *f = fopen("/proc/net/udp", "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	char want[16], *line, *end;

	text[n] = 0;
	if (f)
		fclose(f);
	sniprintf(want, sizeof(want), ":%04X ", port);
	line = strstr(text, want);
	end = line ? strchr(line, '\n') : NULL;
	if (!end)
		return -1;
	while (end[-1] == ' ')
		end--;
	*end = 0;
	return atol(strrchr(line, ' ') + 1);
}

/* A queue that is full takes nothing more. What is lost is counted, and what was taken is there. */
static void full_queue(void)
{
	unsigned port, n = 2000, got = 0, value, last = 0;
	int fd = bound_udp(&port), from = new_udp();

	set_option(fd, SOL_SOCKET, SO_RCVBUF, 20000);
	for (unsigned i = 1; i <= n; i++)
		CHECK_EQ(inet_send(from, LOOPBACK, port, &i, sizeof(i), 0), sizeof(i));
	while (CALL(recvfrom, fd, &value, sizeof(value), MSG_DONTWAIT, 0, 0) == sizeof(value)) {
		CHECK_EQ(value, last + 1); /* those that came first, in order */
		last = value;
		got++;
	}
	CHECK_RANGE(got, 20, 500);
	CHECK_EQ(drops_of(port), n - got);
	/* There is room again, whatever the size: one always has. */
	CHECK_EQ(inet_send(from, LOOPBACK, port, data, LARGEST, 0), LARGEST);
	CHECK_EQ(CALL(recvfrom, fd, back, sizeof(back), MSG_DONTWAIT, 0, 0), LARGEST);
}

#define SENDERS 4
#define EACH	1500

static struct storm {
	int fd, window;	     /* its own socket; what it may still send */
	unsigned port, peer; /* of the next one in the ring */
	unsigned got, bad;
} storm[SENDERS];

/*
 * Send to the next one and receive from the one before, with at most 16 on their way, so nothing may be lost. No libc
 * that keeps state.
 */
static void storm_thread(void *arg)
{
	struct storm *s = arg;
	struct inet_addr to = inet_addr(LOOPBACK, s->peer);
	unsigned message[64];

	for (unsigned i = 0; i < EACH || s->got < EACH;) {
		if (i < EACH && i < s->got + 16) {
			for (unsigned j = 0; j < ARRAY_SIZE(message); j++)
				message[j] = i * 64 + j;
			if (CALL(sendto, s->fd, message, sizeof(message), 0, &to, sizeof(to)) != sizeof(message))
				s->bad++;
			i++;
			continue;
		}
		if (CALL(recvfrom, s->fd, message, sizeof(message), 0, 0, 0) != sizeof(message))
			s->bad++;
		for (unsigned j = 0; j < ARRAY_SIZE(message); j++)
			s->bad += message[j] != s->got * 64 + j;
		s->got++;
	}
}

static void ring_of_senders(void)
{
	pid_t pids[SENDERS];
	int cpus = check_cpus();

	for (int i = 0; i < SENDERS; i++)
		storm[i].fd = bound_udp(&storm[i].port);
	for (int i = 0; i < SENDERS; i++) {
		storm[i].peer = storm[(i + 1) % SENDERS].port;
		pids[i] = thread_start(i % cpus, storm_thread, &storm[i]);
	}
	CHECK(thread_join(pids, SENDERS));
	for (int i = 0; i < SENDERS; i++) {
		CHECK_EQ(storm[i].got, EACH);
		CHECK_EQ(storm[i].bad, 0);
		CHECK_EQ(drops_of(storm[i].port), 0);
	}
}

/* Without limits, all to one: it gets what it has room for, and the others are counted. */
static void flood_thread(void *arg)
{
	struct storm *s = arg;
	struct inet_addr to = inet_addr(LOOPBACK, s->peer);

	for (unsigned i = 0; i < EACH; i++)
		if (CALL(sendto, s->fd, &i, sizeof(i), 0, &to, sizeof(to)) != sizeof(i))
			s->bad++;
}

static void flood(void)
{
	pid_t pids[SENDERS];
	unsigned port, got = 0, value;
	int fd = bound_udp(&port), cpus = check_cpus();

	set_option(fd, SOL_SOCKET, SO_RCVBUF, 5000);
	for (int i = 0; i < SENDERS; i++) {
		storm[i] = (struct storm){.fd = new_udp(), .peer = port};
		pids[i] = thread_start(i % cpus, flood_thread, &storm[i]);
	}
	while (ready(fd, POLLIN, 300) == POLLIN)
		while (CALL(recvfrom, fd, &value, sizeof(value), MSG_DONTWAIT, 0, 0) == sizeof(value))
			got++;
	CHECK(thread_join(pids, SENDERS));
	while (CALL(recvfrom, fd, &value, sizeof(value), MSG_DONTWAIT, 0, 0) == sizeof(value))
		got++;
	for (int i = 0; i < SENDERS; i++)
		CHECK_EQ(storm[i].bad, 0);
	CHECK_EQ(got + drops_of(port), SENDERS * EACH);
}

/* Sockets that come and go while others send to their ports. */
static void churn_thread(void *arg)
{
	struct storm *s = arg;
	struct inet_addr a = inet_addr(LOOPBACK, s->peer);

	for (unsigned i = 0; i < 400; i++) {
		int fd = (int)CALL(socket, AF_INET, SOCK_DGRAM, 0);

		CALL(bind, fd, &a, sizeof(a)); /* only one at a time can have it */
		CALL(connect, fd, &a, sizeof(a));
		CALL(sendto, fd, "churn", 5, MSG_DONTWAIT, &a, sizeof(a));
		CALL(close, fd);
	}
}

static void churn(void)
{
	pid_t pids[SENDERS];
	int cpus = check_cpus();
	unsigned port;

	close(bound_udp(&port));
	for (int i = 0; i < SENDERS; i++) {
		storm[i] = (struct storm){.peer = port};
		pids[i] = thread_start(i % cpus, churn_thread, &storm[i]);
	}
	CHECK(thread_join(pids, SENDERS));
	CHECK_EQ(drops_of(port), -1); /* nobody has it now */
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"sizes", sizes},
		{"bad-sends", bad_sends},
		{"peeks-and-cuts", peeks_and_cuts},
		{"refused", refused},
		{"told-beside", told_beside},
		{"said-beside", said_beside},
		{"to-all", to_all},
		{"time-limits", time_limits},
		{"wakes-readers", wakes_readers},
		{"full-queue", full_queue},
		{"ring-of-senders", ring_of_senders},
		{"flood", flood},
		{"churn", churn},
	};

	check_seconds = 60;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

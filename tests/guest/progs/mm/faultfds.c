/*
 * faultfds [-v] [STEP]...: calls about pipes, terminals, sockets and files without a name, in which each allocation
 * fails once (lib/faults.h).
 */
#include "faultcalls.h"
#include <sockets.h>
#include <sys/ioctl.h>

/* ---- Files without a name */

static long pipe_it(const struct fault_step *s)
{
	return DO(pipe2, ends, O_CLOEXEC);
}

/* More than the pipe has had so far. */
static long write_pipe(const struct fault_step *s)
{
	return DO(write, ends[1], room, 5 * PAGE);
}

static void make_pipe(const struct fault_step *s)
{
	CHECK_CALL(pipe_it(s));
	CHECK_CALL(CALL(fcntl, ends[1], 4, O_NONBLOCK));
}

static void empty_pipe(const struct fault_step *s)
{
	long n;

	CHECK_CALL(CALL(fcntl, ends[0], 4, O_NONBLOCK));
	while ((n = read(ends[0], room, sizeof(room))) > 0)
		;
	close_both(s);
}

static long pair_it(const struct fault_step *s)
{
	return DO(socketpair, AF_UNIX, SOCK_STREAM, 0, ends);
}

static long eventfd_it(const struct fault_step *s)
{
	return keep(DO(eventfd2, 3, 0));
}

static long timerfd_it(const struct fault_step *s)
{
	return keep(DO(timerfd_create, 1, 0));
}

static long signalfd_it(const struct fault_step *s)
{
	unsigned long set = 1UL << (SIGUSR1 - 1);

	return keep(DO(signalfd4, -1, &set, 8, 0));
}

static long memfd_it(const struct fault_step *s)
{
	return keep(DO(memfd_create, "faults", 1));
}

static long pidfd_it(const struct fault_step *s)
{
	return keep(DO(pidfd_open, getpid(), 0));
}

static long epoll_it(const struct fault_step *s)
{
	return keep(DO(epoll_create1, 0));
}

static struct {
	unsigned events;
	unsigned long data;
} __attribute__((packed, aligned(4))) event = {.events = 1, .data = 7};

static void make_epoll(const struct fault_step *s)
{
	CHECK_CALL(epoll_it(s));
}

static long epoll_add(const struct fault_step *s)
{
	return DO(epoll_ctl, fd, 1, pipe_fds[0], &event);
}

/* Adding it once more must find it missing. */
static void epoll_lacks(const struct fault_step *s)
{
	CHECK_ERRNO(CALL(epoll_ctl, fd, 2, pipe_fds[0], &event), ENOENT);
	close_it(s);
}

static long open_pty(const struct fault_step *s)
{
	static int unlock, number;
	char name[32];
	long slave, got = DO(openat, HERE, "/dev/ptmx", O_RDWR | O_NOCTTY);

	if (got < 0)
		return got;
	ends[0] = (int)got;
	CHECK_CALL(CALL(ioctl, ends[0], 0x40045431, &unlock));
	CHECK_CALL(CALL(ioctl, ends[0], 0x80045430, &number));
	sniprintf(name, sizeof(name), "/dev/pts/%d", number);
	slave = DO(openat, HERE, name, O_RDWR | O_NOCTTY);
	if (slave < 0) {
		close(ends[0]);
		return slave;
	}
	ends[1] = (int)slave;
	return 0;
}
/* ---- Epoll in epoll */

static int inner = -1;

static void make_nested(const struct fault_step *s)
{
	CHECK_CALL(epoll_it(s));
	inner = fd;
	CHECK_CALL(epoll_it(s));
}

static long epoll_nest(const struct fault_step *s)
{
	return DO(epoll_ctl, fd, 1, inner, &event);
}

static void close_nested(const struct fault_step *s)
{
	faults_close(&inner);
	close_it(s);
}

/* An event that is there, with a queue of waiters for it. */
static void make_waiting(const struct fault_step *s)
{
	make_epoll(s);
	event.events = 4; /* EPOLLOUT */
	CHECK_CALL(CALL(epoll_ctl, fd, 1, pipe_fds[1], &event));
	event.events = 1;
}

static long epoll_wait_it(const struct fault_step *s)
{
	return DO(epoll_pwait, fd, room, 5, 1000, 0, 8);
}

/* ---- Sockets with names, and what messages carry */

static int listener, client;

static void make_listener(const struct fault_step *s)
{
	listener = new_socket(SOCK_STREAM);
	CHECK_CALL(bind_to(listener, "@faults"));
	CHECK_CALL(CALL(listen, listener, 5));
	client = new_socket(SOCK_STREAM);
}

static void close_sockets(const struct fault_step *s)
{
	close(client);
	close(listener);
}

static long connect_it(const struct fault_step *s)
{
	return faults_result(connect_to(client, "@faults"));
}

static void make_connected(const struct fault_step *s)
{
	make_listener(s);
	CHECK_CALL(connect_it(s));
}

static long accept_it(const struct fault_step *s)
{
	return keep(DO(accept4, listener, 0, 0, 0));
}

static void close_accepted(const struct fault_step *s)
{
	close_it(s);
	close_sockets(s);
}

static void make_socket(const struct fault_step *s)
{
	fd = new_socket(SOCK_STREAM);
}

static long bind_it(const struct fault_step *s)
{
	return faults_result(bind_to(fd, s->a));
}

static void close_bound(const struct fault_step *s)
{
	close_it(s);
	if (s->a[0] != '@')
		CHECK_CALL(CALL(unlinkat, HERE, s->a, 0));
}

static void close_unbound(const struct fault_step *s)
{
	close_it(s);
	CHECK(s->a[0] == '@' || !exists(s->a));
}

static struct {
	struct cmsghdr head;
	int fds[4];
} rights;
static char byte = 'x';
static struct iovec one = {&byte, 1};

static void make_pair(const struct fault_step *s)
{
	CHECK_CALL(pair_it(s));
}

static long send_rights(const struct fault_step *s)
{
	struct user_msghdr h = {
		.msg_iov = &one, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof(rights)};

	rights.head = (struct cmsghdr){.cmsg_len = sizeof(rights), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	for (int i = 0; i < 4; i++)
		rights.fds[i] = old_fd;
	return DO(sendmsg, ends[0], &h, 0);
}

static void nothing_came(const struct fault_step *s)
{
	CHECK_ERRNO(CALL(recvfrom, ends[1], room, 1, MSG_DONTWAIT, 0, 0), EAGAIN);
	close_both(s);
}

static void make_sent(const struct fault_step *s)
{
	make_pair(s);
	CHECK_EQ(send_rights(s), 1);
}

static long receive_rights(const struct fault_step *s)
{
	struct user_msghdr h = {
		.msg_iov = &one, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof(rights)};

	return DO(recvmsg, ends[1], &h, 0);
}

static void close_received(const struct fault_step *s)
{
	for (int i = 0; i < (int)(rights.head.cmsg_len - 16) / 4; i++)
		close(rights.fds[i]);
	close_both(s);
}

static void make_datagrams(const struct fault_step *s)
{
	CHECK_CALL(CALL(socketpair, AF_UNIX, SOCK_DGRAM, 0, ends));
}

static long send_large(const struct fault_step *s)
{
	return DO(sendto, ends[0], room, 40000, 0, 0, 0);
}

/* A stream may have taken some of it, as a pipe may. */
static long send_stream(const struct fault_step *s)
{
	return DO(sendto, ends[0], room, 60000, MSG_DONTWAIT, 0, 0);
}

static long get_credentials(const struct fault_step *s)
{
	int len = 12;

	return DO(getsockopt, ends[0], SOL_SOCKET, SO_PEERCRED, room, &len);
}

static const struct fault_step steps[] = {
	STEP("pipe2", pipe_it, NULL, close_both, NULL, .also = ENFILE),
	STEP("write, a pipe", write_pipe, make_pipe, empty_pipe, empty_pipe),
	STEP("socketpair", pair_it, NULL, close_both, NULL, .also = ENFILE),
	STEP("eventfd2", eventfd_it, NULL, close_it, NULL),
	STEP("timerfd_create", timerfd_it, NULL, close_it, NULL),
	STEP("signalfd4", signalfd_it, NULL, close_it, NULL),
	STEP("memfd_create", memfd_it, NULL, close_it, NULL),
	STEP("pidfd_open", pidfd_it, NULL, close_it, NULL),
	STEP("epoll_create1", epoll_it, NULL, close_it, NULL),
	STEP("epoll_ctl", epoll_add, make_epoll, close_it, epoll_lacks),
	STEP("a pseudo terminal", open_pty, NULL, close_both, NULL),
	STEP("epoll_ctl, nested", epoll_nest, make_nested, close_nested, close_nested),
	STEP("epoll_pwait", epoll_wait_it, make_waiting, close_it, close_it),
	STEP("bind, an abstract name", bind_it, make_socket, close_bound, close_unbound, .a = "@faults-bind"),
	STEP("bind, a file", bind_it, make_socket, close_bound, close_unbound, .a = "socket"),
	STEP("connect", connect_it, make_listener, close_sockets, close_sockets),
	STEP("accept4", accept_it, make_connected, close_accepted, close_sockets, .also = ENFILE),
	STEP("sendmsg, SCM_RIGHTS", send_rights, make_pair, close_both, nothing_came, .also = ENOBUFS),
	STEP("recvmsg, SCM_RIGHTS", receive_rights, make_sent, close_received, close_both),
	STEP("sendto, a datagram", send_large, make_datagrams, close_both, nothing_came, .also = ENOBUFS),
	STEP("sendto, a stream", send_stream, make_pair, close_both, nothing_came, .also = ENOBUFS),
	STEP("getsockopt", get_credentials, make_pair, close_both, close_both),
};

int main(int argc, char **argv)
{
	fault_calls_prepare();
	return faults_main(argc, argv, steps, sizeof(steps) / sizeof(*steps));
}

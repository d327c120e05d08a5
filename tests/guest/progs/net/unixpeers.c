/* unixpeers: sockets of AF_UNIX: peers that change while others wait or read; memory that is not there. */
/* also on Linux */
#include <posix.h>
#include <sockets.h>
#include <sys/mman.h>
#include <thread.h>

/* Where memory ends within a write, what the call says is what the reader gets: a part, or nothing. */
static void unreadable_data(void)
{
	static char back[25 * 4096];
	char *data = mmap(NULL, 26 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *end;
	long sent;
	int fd[2];

	end = data + 24 * 4096;
	CHECK_CALL(munmap(end, 4096));
	new_pair(SOCK_STREAM | SOCK_NONBLOCK, fd);
	sent = CHECK_CALL(write(fd[0], data, 25 * 4096));
	CHECK_RANGE(sent, 1, 24 * 4096);
	CHECK_EQ(CALL(recvfrom, fd[1], back, sizeof(back)), sent);
	CHECK_ERRNO(write(fd[0], end - 100, 200), EFAULT);
	CHECK_ERRNO(read(fd[1], back, 1), EAGAIN);
}

/* One of two that are connected to each other goes elsewhere: what it has not read is lost, and the other is told. */
static void partings(void)
{
	int fd[2], other = new_socket(SOCK_DGRAM), len;
	struct sockaddr_un from;
	char buf[4], name[64], back[64];

	strcpy(name, abstract("elsewhere"));
	strcpy(back, abstract("back"));
	CHECK_CALL(bind_to(other, name));
	for (int lost = 0; lost < 2; lost++) {
		new_pair(SOCK_DGRAM | SOCK_NONBLOCK, fd);
		if (lost)
			CHECK_EQ(write(fd[0], "x", 1), 1);
		CHECK_CALL(connect_to(fd[1], name));
		CHECK_ERRNO(read(fd[1], buf, 1), EAGAIN);
		CHECK_EQ(ready(fd[0], WANT_READ, 0), lost ? POLLERR : 0);
		CHECK_ERRNO(read(fd[0], buf, 1), lost ? ECONNRESET : EAGAIN);
		CHECK_ERRNO(write(fd[0], "x", 1), EPERM);
	}
	/* One that was not connected in turn is told nothing. */
	CHECK_CALL(bind_to(fd[1], back));
	CHECK_EQ(send_to(other, back, "x", 1, 0), 1);
	from.sun_family = AF_UNSPEC;
	CHECK_CALL(CALL(connect, fd[1], &from, 2));
	CHECK_EQ(option(other, SO_ERROR), 0);
	/* A sender is known by the name that it has when its message is read. */
	CHECK_EQ(send_to(fd[0], name, "x", 1, 0), 1);
	CHECK_CALL(bind_to(fd[0], abstract("late")));
	len = sizeof(from);
	CHECK_EQ(CALL(recvfrom, other, buf, 1, 0, &from, &len), 1);
	CHECK_EQ(len, 2 + strlen(own_name));
	/* A reader that does not wait is not told of the end. */
	new_pair(SOCK_DGRAM, fd);
	CHECK_CALL(CALL(shutdown, fd[1], SHUT_RD));
	CHECK_ERRNO(CALL(recvfrom, fd[1], buf, 1, MSG_DONTWAIT), EAGAIN);
	CHECK_EQ(read(fd[1], buf, 1), 0);
}

static pid_t waiter;
static int waits_at;

/* What a sender waits for comes also by a larger buffer, and by another receiver. */
static void woken_senders(void)
{
	int fd[2], one = new_socket(SOCK_DGRAM), two = new_socket(SOCK_DGRAM), size = 4608;
	char first[64];

	new_pair(SOCK_STREAM, fd);
	CHECK_CALL(CALL(setsockopt, fd[0], SOL_SOCKET, SO_SNDBUF, &size, 4));
	while (CALL(sendto, fd[0], first, sizeof(first), MSG_DONTWAIT) > 0)
		;
	CHECK_EQ(errno, EAGAIN);
	waiter = check_fork();
	if (waiter == 0)
		_exit(write(fd[0], "x", 1) == 1 ? 0 : 1);
	process_gets(waiter, 'S');
	size = 200000;
	CHECK_CALL(CALL(setsockopt, fd[0], SOL_SOCKET, SO_SNDBUF, &size, 4));
	CHECK_EQ(check_wait(waiter), 0);

	strcpy(first, abstract("one"));
	CHECK_CALL(bind_to(one, first));
	CHECK_CALL(bind_to(two, abstract("two")));
	waits_at = new_socket(SOCK_DGRAM | SOCK_NONBLOCK);
	CHECK_CALL(connect_to(waits_at, first));
	while (write(waits_at, "x", 1) == 1)
		;
	CHECK_EQ(errno, EAGAIN);
	waiter = check_fork();
	if (waiter == 0) {
		struct pollfd p = {.fd = waits_at, .events = POLLOUT};

		_exit(poll(&p, 1, -1) == 1 && p.revents == POLLOUT ? 0 : 1);
	}
	process_gets(waiter, 'S');
	CHECK_CALL(connect_to(waits_at, own_name));
	CHECK_EQ(check_wait(waiter), 0);
}

/* Datagrams to this name until there is no room for one more, also of a sender that has none on its way. */
static void fill_queue(const char *name)
{
	int n;

	do {
		int fd = new_socket(SOCK_DGRAM | SOCK_NONBLOCK);

		for (n = 0; send_to(fd, name, "x", 1, 0) == 1; n++)
			;
		CHECK_EQ(errno, EAGAIN);
		CHECK_CALL(close(fd));
	} while (n);
}

/* A sender that waits for room goes on when the receiver has read a datagram. */
static void reader_makes_room(void)
{
	int fd = new_socket(SOCK_DGRAM), status = -1;
	char byte;

	CHECK_CALL(bind_to(fd, abstract("room")));
	fill_queue(own_name);
	waiter = check_fork();
	if (waiter == 0)
		_exit(send_to(new_socket(SOCK_DGRAM), own_name, "y", 1, 0) == 1 ? 0 : 1);
	process_gets(waiter, 'S');
	CHECK_EQ(read(fd, &byte, 1), 1);
	CHECK_EQ(news_of(waiter, &status, 0), waiter);
	CHECK_EQ(status, 0);
}

/* A message whose sender's address has no room that makes sense is not taken. */
static void bad_room_for_names(void)
{
	struct sockaddr_un from;
	char buf[4];
	struct iovec vec = {buf, sizeof(buf)};
	struct user_msghdr h = {.msg_iov = &vec, .msg_iovlen = 1, .msg_name = &from};
	int fd[2], len = -1;

	new_pair(SOCK_DGRAM | SOCK_NONBLOCK, fd);
	CHECK_EQ(write(fd[0], "abc", 3), 3);
	h.msg_namelen = len;
	CHECK_ERRNO(CALL(recvmsg, fd[1], &h, 0), EINVAL);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 3);
	CHECK_EQ(write(fd[0], "abc", 3), 3);
	CHECK_ERRNO(CALL(recvfrom, fd[1], buf, sizeof(buf), 0, &from, &len), EINVAL);
	CHECK_ERRNO(read(fd[1], buf, sizeof(buf)), EAGAIN); /* here it was found out too late */
	h.msg_name = NULL;
	CHECK_EQ(write(fd[0], "abc", 3), 3);
	CHECK_EQ(CALL(recvmsg, fd[1], &h, 0), 3);
	h.msg_controllen = 64; /* of no buffer */
	CHECK_ERRNO(CALL(sendmsg, fd[0], &h, 0), EFAULT);
}

/*
 * A reader copies from a message while another thread connects the socket elsewhere, which drops its messages. What is
 * copied to comes page by page, so the copy takes its time: there are two messages, and when the first has been read
 * the reader is at the second.
 */
#define LARGE	 150000
#define CONNECTS 50
static int large_reader;
static volatile int large_received;

static void large_receives(void *buf)
{
	for (;;) {
		vt_syscall(SYS_madvise, (long)buf, LARGE, MADV_DONTNEED, 0, 0, 0);
		if (vt_syscall(SYS_recvfrom, large_reader, (long)buf, LARGE, 0, 0, 0) == LARGE)
			large_received++;
	}
}

static void reader_and_connect(void)
{
	char *buf = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char data[LARGE];
	struct sockaddr_un names[2];
	int len[2], from[2], before;

	large_reader = new_socket(SOCK_DGRAM);
	CHECK_CALL(bind_to(large_reader, abstract("large")));
	for (int i = 0; i < 2; i++) {
		from[i] = new_socket(SOCK_DGRAM);
		CHECK_CALL(connect_to(from[i], own_name));
	}
	for (int i = 0; i < 2; i++) {
		len[i] = name_of(&names[i], abstract(i ? "large-1" : "large-0"));
		CHECK_CALL(CALL(bind, from[i], &names[i], len[i]));
	}
	thread_start_in_group(large_receives, buf);
	for (int i = 0; i < CONNECTS; i++) {
		CHECK_CALL(CALL(connect, large_reader, &names[i % 2], len[i % 2]));
		option(from[i % 2], SO_ERROR); /* that something was lost: it is told once */
		before = large_received;
		CHECK_EQ(write(from[i % 2], data, LARGE), LARGE);
		CHECK_EQ(write(from[i % 2], data, LARGE), LARGE);
		while (large_received == before)
			CHECK_CALL(CALL(sched_yield, 0));
	}
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"unreadable-data", unreadable_data},	    {"partings", partings},
		{"woken-senders", woken_senders},	    {"reader-makes-room", reader_makes_room},
		{"bad-room-for-names", bad_room_for_names}, {"reader-and-connect", reader_and_connect},
	};

	check_seconds = 60;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

/* unixfiles: what messages of AF_UNIX sockets carry: open files, credentials; sockets that only messages hold. */
/* also on Linux */
#include <posix.h>
#include <sockets.h>
#include <sys/mman.h>

/* A message with n descriptors. */
union control {
	struct cmsghdr head;
	char room[16 + 4 * 300 + 64];
};

static long send_fds(int fd, const char *text, const int *fds, int n)
{
	struct iovec vec = {(void *)text, strlen(text)};
	union control c = {.head = {16 + 4 * (unsigned)n, SOL_SOCKET, SCM_RIGHTS}};
	struct user_msghdr h = {.msg_iov = &vec, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = 16 + 4 * n};

	memcpy(c.room + 16, fds, 4 * n);
	return CALL(sendmsg, fd, &h, MSG_NOSIGNAL);
}

/* The text and up to n descriptors; how many came, into *fds. `room`: for so many. */
static long take_fds(int fd, char *text, size_t size, int *fds, int *n, int room, int flags, unsigned *got)
{
	struct iovec vec = {text, size};
	union control c;
	struct user_msghdr h = {.msg_iov = &vec, .msg_iovlen = 1, .msg_control = &c};
	long res;

	h.msg_controllen = room ? 16 + 4 * room : 0;
	memset(&c, 0, sizeof(c));
	res = CALL(recvmsg, fd, &h, flags);
	*n = 0;
	if (res >= 0 && h.msg_controllen >= 16 && c.head.cmsg_type == SCM_RIGHTS) {
		*n = (int)(c.head.cmsg_len - 16) / 4;
		memcpy(fds, c.room + 16, 4 * *n);
	}
	*got = h.msg_flags;
	return res;
}

static int count_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 200; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void passed_files(void)
{
	int fd[2], p[2], fds[20], n, before;
	char buf[16];
	unsigned flags;

	new_pair(SOCK_STREAM, fd);
	CHECK_CALL(pipe(p));
	before = count_fds();
	CHECK_EQ(send_fds(fd[0], "one", (int[]){p[1], p[0]}, 2), 3);
	CHECK_EQ(write(fd[0], "two", 3), 3);
	CHECK_EQ(take_fds(fd[1], buf, sizeof(buf), fds, &n, 20, MSG_PEEK, &flags), 3); /* copies of its own */
	CHECK_EQ(n, 2);
	close(fds[0]);
	close(fds[1]);
	CHECK_EQ(take_fds(fd[1], buf, sizeof(buf), fds, &n, 20, MSG_CMSG_CLOEXEC, &flags), 3); /* files end a read */
	CHECK_EQ(n, 2);
	CHECK_EQ(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
	CHECK_EQ(write(fds[0], "!", 1), 1);
	CHECK_EQ(read(p[0], buf, 1), 1);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 3);
	close(fds[0]);
	close(fds[1]);
	/* A list without files counts as no list. */
	CHECK_EQ(send_fds(fd[0], "a", p, 0), 1);
	CHECK_EQ(write(fd[0], "b", 1), 1);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 2);
	/* No room: they are closed, and that is told. */
	CHECK_EQ(send_fds(fd[0], "x", p, 2), 1);
	CHECK_EQ(take_fds(fd[1], buf, sizeof(buf), fds, &n, 1, 0, &flags), 1);
	CHECK_EQ(n, 1);
	CHECK_EQ(flags, MSG_CTRUNC);
	close(fds[0]);
	CHECK_EQ(send_fds(fd[0], "x", p, 2), 1);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 1);
	CHECK_ERRNO(send_fds(fd[0], "x", (int[]){999}, 1), EBADF);
	CHECK_ERRNO(send_fds(fd[0], "x", (int[]){-1}, 1), EBADF);
	CHECK_EQ(count_fds(), before);
	/* A file that lies in a message stays open, and goes with it. */
	CHECK_EQ(send_fds(fd[0], "x", &p[1], 1), 1);
	CHECK_CALL(close(p[1]));
	CHECK_CALL(fcntl(p[0], F_SETFL, NONBLOCK));
	CHECK_ERRNO(read(p[0], buf, 1), EAGAIN);
	CHECK_CALL(close(fd[1]));
	CHECK_EQ(read(p[0], buf, 1), 0);
}

static void credentials(void)
{
	int fd[2], one = 1;
	char buf[64];
	struct iovec vec = {buf, 16};
	struct {
		struct cmsghdr head;
		struct ucred cred;
		int pad;
	} c = {{28, SOL_SOCKET, SCM_CREDENTIALS}, {getpid(), getuid(), getgid()}, 0};
	struct user_msghdr h = {.msg_iov = &vec, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)};
	pid_t pid;

	new_pair(SOCK_STREAM, fd);
	CHECK_CALL(CALL(setsockopt, fd[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)));
	CHECK_EQ(option(fd[1], SO_PASSCRED), 1);
	CHECK_EQ(CALL(sendmsg, fd[0], &h, 0), 16);
	vec.iov_len = sizeof(buf); /* there is room for both */
	pid = check_fork();
	if (pid == 0)
		_exit(write(fd[0], "child", 5) == 5 ? 0 : 1);
	CHECK_EQ(check_wait(pid), 0);
	for (int i = 0; i < 2; i++) { /* what two have sent is not read as one */
		memset(&c, 0, sizeof(c));
		h.msg_controllen = sizeof(c);
		CHECK_EQ(CALL(recvmsg, fd[1], &h, 0), i ? 5 : 16);
		CHECK_EQ(c.head.cmsg_len, 28);
		CHECK_EQ(c.head.cmsg_type, SCM_CREDENTIALS);
		CHECK_EQ(c.cred.pid, i ? pid : getpid());
		CHECK_EQ(c.cred.uid, getuid());
	}
	c.head.cmsg_len = 27;
	h.msg_controllen = sizeof(c);
	CHECK_ERRNO(CALL(sendmsg, fd[0], &h, 0), EINVAL);
	c.head.cmsg_len = 1000;
	CHECK_ERRNO(CALL(sendmsg, fd[0], &h, 0), EINVAL);
	c.head.cmsg_level = 12345; /* a message of a level that a socket knows nothing of must end in the buffer, too */
	CHECK_ERRNO(CALL(sendmsg, fd[0], &h, 0), EINVAL);
	c.head.cmsg_len = sizeof(c);
	CHECK_EQ(CALL(sendmsg, fd[0], &h, 0), sizeof(buf));
}

/* One after the other, by a user with few rights: each file is received, or closed because there is no room, or closed
 * with the socket. */
static void send_many(int limit)
{
	struct rlimit few = {limit, limit};
	int fd[2], p[2], got[1], n;
	unsigned flags;
	char c;

	if (getuid() == 0)
		CHECK_CALL(CALL(setresuid, 1000, 1000, 1000));
	CHECK_CALL(setrlimit(RLIMIT_NOFILE, &few));
	CHECK_CALL(pipe(p));
	for (int i = 0; i < 4 * limit; i++) {
		new_pair(SOCK_STREAM, fd);
		CHECK_EQ(send_fds(fd[0], "x", p, 1), 1);
		if (i % 3 == 0) {
			CHECK_EQ(take_fds(fd[1], &c, 1, got, &n, 1, 0, &flags), 1);
			CHECK_EQ(n, 1);
			CHECK_CALL(close(got[0]));
		} else if (i % 3 == 1) {
			CHECK_EQ(read(fd[1], &c, 1), 1);
		}
		CHECK_CALL(close(fd[0]));
		CHECK_CALL(close(fd[1]));
	}
}

/* Files count for the user who sends them only while they are on their way (else ETOOMANYREFS, from a limit on). */
static void counted_on_their_way(void)
{
	pid_t pid = check_fork();

	if (pid == 0) {
		send_many(16);
		fflush(stdout);
		_exit(check_failures ? 1 : 0);
	}
	CHECK_EQ(check_wait(pid), 0);
}

/* A control buffer that ends where memory does, `room` bytes before it: what is received, and how much is told of. */
static unsigned long told_at_the_end(int fd, char *end, int room)
{
	char buf[4];
	struct iovec vec = {buf, sizeof(buf)};
	struct user_msghdr h = {.msg_iov = &vec, .msg_iovlen = 1, .msg_control = end - room, .msg_controllen = 64};

	CHECK_EQ(CALL(recvmsg, fd, &h, 0), 3);
	CHECK_EQ(h.msg_flags, 0);
	return h.msg_controllen;
}

/* What cannot be written there is left out, and the message has come all the same. */
static void unwritable_control(void)
{
	char *end = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd[2], one = 1;

	CHECK_CALL(munmap(end += 4096, 4096));
	new_pair(SOCK_DGRAM, fd);
	CHECK_CALL(CALL(setsockopt, fd[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)));
	for (int i = 0; i < 3; i++)
		CHECK_EQ(write(fd[0], "abc", 3), 3);
	CHECK_EQ(told_at_the_end(fd[1], end, 0), 0);
	CHECK_EQ(told_at_the_end(fd[1], end, 16), 0);
	CHECK_EQ(told_at_the_end(fd[1], end, 64), 32);
}

/* Sockets that only their own messages hold: they are gone, with what they hold, when the last descriptor is. */
static void garbage(void)
{
	int p[2], a[2], b[2], own, listener, client;
	char buf[4], name[64];

	for (int kind = 0; kind < 4; kind++) {
		listener = client = -1;
		CHECK_CALL(pipe(p));
		CHECK_CALL(fcntl(p[0], F_SETFL, NONBLOCK));
		new_pair(SOCK_STREAM, a);
		new_pair(SOCK_DGRAM, b);
		if (kind == 0) { /* one end in its own queue */
			CHECK_EQ(send_fds(a[1], "x", (int[]){a[0], p[1]}, 2), 1);
		} else if (kind == 1) { /* two, in each other's */
			CHECK_EQ(send_fds(a[1], "x", (int[]){b[0], b[1], p[1]}, 3), 1);
			CHECK_EQ(send_fds(b[1], "x", (int[]){a[0], a[1]}, 2), 1);
		} else if (kind == 2) { /* a chain that leads to such a one */
			CHECK_EQ(send_fds(a[1], "x", (int[]){a[0], b[0]}, 2), 1);
			CHECK_EQ(send_fds(b[1], "x", (int[]){p[1]}, 1), 1);
		} else { /* a listener in a connection that it never accepts */
			strcpy(name, abstract("garbage"));
			listener = new_socket(SOCK_STREAM);
			client = new_socket(SOCK_STREAM);
			CHECK_CALL(bind_to(listener, name));
			CHECK_CALL(CALL(listen, listener, 1));
			CHECK_CALL(connect_to(client, name));
			CHECK_EQ(send_fds(client, "x", (int[]){listener, p[1]}, 2), 1);
		}
		CHECK_CALL(close(p[1]));
		CHECK_ERRNO(read(p[0], buf, 1), EAGAIN);
		for (int i = 0; i < 2; i++) {
			close(a[i]);
			close(b[i]);
		}
		close(listener);
		close(client);
		own = new_socket(SOCK_STREAM); /* a close like any other */
		close(own);
		for (int ms = 0; ms < 30000 && read(p[0], buf, 1) != 0; ms++)
			check_sleep(MS);
		CHECK_EQ(read(p[0], buf, 1), 0);
		CHECK_CALL(close(p[0]));
	}
	/* What can still be reached is no garbage. */
	new_pair(SOCK_STREAM, a);
	new_pair(SOCK_STREAM, b);
	CHECK_EQ(send_fds(a[0], "x", b, 1), 1);
	CHECK_EQ(write(b[1], "kept", 4), 4);
	CHECK_CALL(close(b[0]));
	close(new_socket(SOCK_STREAM));
	{
		int fds[4], n;
		unsigned flags;

		CHECK_EQ(take_fds(a[1], buf, sizeof(buf), fds, &n, 4, 0, &flags), 1);
		CHECK_EQ(n, 1);
		CHECK_EQ(read(fds[0], buf, 4), 4);
	}
}

/* A long chain of sockets in sockets ends without a long stack. */
static void long_chain(void)
{
	int last = -1, p[2], a[2];
	char c;

	CHECK_CALL(pipe(p));
	CHECK_CALL(fcntl(p[0], F_SETFL, NONBLOCK));
	last = p[1];
	for (int i = 0; i < 300; i++) {
		new_pair(SOCK_STREAM, a);
		if (send_fds(a[0], "x", &last, 1) != 1) { /* this user may not send so many */
			CHECK_EQ(errno, ETOOMANYREFS);
			close(a[0]);
			close(a[1]);
			break;
		}
		close(a[0]);
		close(last);
		last = a[1];
	}
	CHECK_ERRNO(read(p[0], &c, 1), EAGAIN);
	CHECK_CALL(close(last));
	for (int ms = 0; ms < 30000 && read(p[0], &c, 1) != 0; ms++)
		check_sleep(MS);
	CHECK_EQ(read(p[0], &c, 1), 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"passed-files", passed_files},
		{"credentials", credentials},
		{"counted-on-their-way", counted_on_their_way},
		{"unwritable-control", unwritable_control},
		{"garbage", garbage},
		{"long-chain", long_chain},
	};

	check_seconds = 20;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

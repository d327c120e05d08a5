/*
 * unixtest: sockets of AF_UNIX: streams, datagrams, packets, names. unixfiles tests what their messages carry,
 * unixpeers tests peers that change while others wait or read.
 */
/* also on Linux */
#include <posix.h>
#include <sockets.h>
#include <thread.h>

static void pair_of_streams(void)
{
	int fd[2], n = 0;
	char buf[64] = "";
	struct stat st;
	struct iovec vec[3] = {{"one", 3}, {"", 0}, {"two", 3}};

	new_pair(SOCK_STREAM, fd);
	CHECK_EQ(write(fd[0], "hello", 5), 5);
	CHECK_EQ(write(fd[0], " world", 6), 6);
	CHECK_CALL(CALL(ioctl, fd[1], INQ, &n));
	CHECK_EQ(n, 11);
	CHECK_EQ(CALL(recvfrom, fd[1], buf, 3, MSG_PEEK), 3);
	CHECK_EQ(CALL(recvfrom, fd[1], buf, sizeof(buf), MSG_PEEK), 11);
	CHECK_EQ(read(fd[1], buf, 4), 4);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 7);
	CHECK(!memcmp(buf, "o world", 7));
	CHECK_EQ(CALL(writev, fd[1], vec, 3), 6);
	CHECK_EQ(read(fd[0], buf, sizeof(buf)), 6);
	CHECK(!memcmp(buf, "onetwo", 6));
	CHECK_ERRNO(CALL(recvfrom, fd[0], buf, 1, MSG_DONTWAIT), EAGAIN);
	CHECK_ERRNO(CALL(recvfrom, fd[0], buf, 0, MSG_DONTWAIT), EAGAIN); /* a read of no bytes waits, too */
	CHECK_EQ(option(fd[0], SO_TYPE), SOCK_STREAM);
	CHECK_EQ(option(fd[0], SO_DOMAIN), AF_UNIX);
	CHECK_EQ(option(fd[0], SO_ERROR), 0);
	CHECK_CALL(fstat(fd[0], &st));
	CHECK_EQ(st.st_mode & S_IFMT, S_IFSOCK);
	CHECK_ERRNO(lseek(fd[0], 0, SEEK_SET), ESPIPE);
	CHECK_EQ(ready(fd[0], WANT_READ | POLLOUT, 0), POLLOUT);
	/* Each direction ends by itself. */
	CHECK_EQ(write(fd[0], "x", 1), 1);
	CHECK_CALL(CALL(shutdown, fd[0], SHUT_WR));
	CHECK_EQ(ready(fd[1], WANT_READ, 0), POLLIN | RDHUP);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 1);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 0);
	signal(SIGPIPE, SIG_IGN);
	CHECK_ERRNO(write(fd[0], "y", 1), EPIPE);
	CHECK_EQ(write(fd[1], "z", 1), 1);
	CHECK_EQ(read(fd[0], buf, sizeof(buf)), 1);
	CHECK_CALL(close(fd[1]));
	CHECK_EQ(read(fd[0], buf, sizeof(buf)), 0);
	CHECK_EQ(ready(fd[0], WANT_READ, 0), POLLIN | RDHUP | POLLHUP);
	CHECK_CALL(close(fd[0]));
}

static volatile sig_atomic_t broken;

static void on_pipe(int sig, siginfo_t *info, void *context)
{
	broken++;
}

/* Who writes to a closed stream gets SIGPIPE; bytes that nobody has read are an error of the other end. */
static void broken_streams(void)
{
	int fd[2];
	char buf[8];

	handle_with(SIGPIPE, on_pipe, 0, NULL);
	new_pair(SOCK_STREAM, fd);
	CHECK_CALL(close(fd[1]));
	CHECK_ERRNO(write(fd[0], "x", 1), EPIPE);
	CHECK_EQ(broken, 1);
	CHECK_ERRNO(CALL(sendto, fd[0], "x", 1, MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(broken, 1);
	CHECK_ERRNO(CALL(sendto, fd[0], "", 0, 0), EPIPE);
	CHECK_EQ(broken, 2);
	CHECK_CALL(close(fd[0]));
	new_pair(SOCK_STREAM, fd);
	CHECK_EQ(write(fd[0], "x", 1), 1);
	CHECK_CALL(close(fd[1]));
	CHECK_ERRNO(write(fd[0], "y", 1), EPIPE);
	CHECK_EQ(broken, 3);
	CHECK_ERRNO(read(fd[0], buf, 1), ECONNRESET);
	CHECK_EQ(read(fd[0], buf, 1), 0);
	CHECK_CALL(close(fd[0]));
}

/* As much as there is room for; then a reader makes room. */
static void full_stream(void)
{
	static char data[65536], back[65536];
	int fd[2], n = 0;
	long sent = 0, got = 0, res;
	unsigned long sum = 0, back_sum = 0;

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + i / 256);
	new_pair(SOCK_STREAM | SOCK_NONBLOCK, fd);
	while ((res = write(fd[0], data, sizeof(data))) > 0)
		sent += res;
	CHECK_EQ(errno, EAGAIN);
	CHECK_RANGE(sent, 100000, 1000000);
	CHECK_EQ(ready(fd[0], POLLOUT, 0), 0);
	CHECK_CALL(CALL(ioctl, fd[0], OUTQ, &n));
	CHECK(n >= sent);
	while ((res = read(fd[1], back, 5000)) > 0) {
		for (long i = 0; i < res; i++)
			back_sum = back_sum * 31 + (unsigned char)back[i];
		got += res;
	}
	for (long at = 0; at < sent; at++) /* only the last block may be cut */
		sum = sum * 31 + (unsigned char)data[at % (long)sizeof(data)];
	CHECK_EQ(got, sent);
	CHECK(sum == back_sum);
	CHECK_EQ(ready(fd[0], POLLOUT, 0), POLLOUT);
	CHECK_CALL(CALL(ioctl, fd[0], OUTQ, &n));
	CHECK_EQ(n, 0);
}

static void connections(void)
{
	int listener = new_socket(SOCK_STREAM), a = new_socket(SOCK_STREAM), b = new_socket(SOCK_STREAM), c, last = -1,
	    len;
	struct sockaddr_un addr;
	struct ucred cred;
	char name[64], buf[16];

	strcpy(name, abstract("stream"));
	CHECK_ERRNO(CALL(listen, listener, 5), EINVAL);
	CHECK_ERRNO(connect_to(a, name), ECONNREFUSED);
	CHECK_CALL(bind_to(listener, name));
	CHECK_ERRNO(bind_to(listener, "@other"), EINVAL);
	CHECK_ERRNO(bind_to(b, name), EADDRINUSE);
	CHECK_ERRNO(connect_to(a, name), ECONNREFUSED); /* it does not listen yet */
	CHECK_ERRNO(CALL(accept, listener, 0, 0), EINVAL);
	CHECK_EQ(option(listener, SO_ACCEPTCONN), 0);
	CHECK_CALL(CALL(listen, listener, 1));
	CHECK_EQ(option(listener, SO_ACCEPTCONN), 1);
	CHECK_EQ(ready(listener, POLLIN | POLLOUT, 0), 0);
	CHECK_ERRNO(CALL(getpeername, a, &addr, &len), ENOTCONN);
	CHECK_ERRNO(write(a, "x", 1), ENOTCONN);
	CHECK_ERRNO(read(a, buf, 1), EINVAL);
	CHECK_EQ(ready(a, WANT_READ | POLLOUT, 0), POLLOUT | POLLHUP);
	CHECK_CALL(connect_to(a, name));
	CHECK_ERRNO(connect_to(a, name), EISCONN);
	CHECK_ERRNO(connect_to(listener, name), EINVAL);
	CHECK_CALL(bind_to(b, abstract("deaf")));
	CHECK_ERRNO(connect_to(a, own_name), ECONNREFUSED); /* the other's answer comes first */
	CHECK_ERRNO(connect_to(listener, own_name), ECONNREFUSED);
	CHECK_EQ(write(a, "early", 5), 5);
	CHECK_EQ(ready(listener, POLLIN, 0), POLLIN);
	len = sizeof(addr);
	c = (int)CHECK_CALL(CALL(accept4, listener, &addr, &len, SOCK_CLOEXEC | SOCK_NONBLOCK));
	CHECK_EQ(len, 2);
	CHECK_EQ(addr.sun_family, AF_UNIX);
	CHECK_EQ(fcntl(c, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(read(c, buf, sizeof(buf)), 5);
	CHECK_ERRNO(read(c, buf, 1), EAGAIN);
	len = sizeof(addr);
	CHECK_CALL(CALL(getpeername, a, &addr, &len));
	CHECK_EQ(len, 2 + strlen(name));
	CHECK(!addr.sun_path[0] && !memcmp(addr.sun_path + 1, name + 1, strlen(name) - 1));
	len = 4; /* cut, but the whole length is told */
	CHECK_CALL(CALL(getsockname, c, &addr, &len));
	CHECK_EQ(len, 2 + strlen(name));
	len = sizeof(cred);
	CHECK_CALL(CALL(getsockopt, c, SOL_SOCKET, SO_PEERCRED, &cred, &len));
	CHECK_EQ(cred.pid, getpid());
	CHECK_EQ(cred.uid, geteuid());
	/* The backlog takes one more than was asked for. */
	CHECK_CALL(fcntl(b, F_SETFL, NONBLOCK));
	CHECK_CALL(connect_to(b, name));
	for (int i = 0; i < 2; i++) {
		int more = new_socket(SOCK_STREAM | SOCK_NONBLOCK);

		if (i == 0)
			CHECK_CALL(connect_to(last = more, name));
		else
			CHECK_ERRNO(connect_to(more, name), EAGAIN);
	}
	/* What came before a shutdown is accepted. */
	CHECK_CALL(CALL(shutdown, listener, SHUT_RD));
	CHECK_ERRNO(connect_to(new_socket(SOCK_STREAM), name), ECONNREFUSED);
	CHECK_CALL(fcntl(listener, F_SETFL, NONBLOCK));
	len = sizeof(addr);
	CHECK_CALL(close((int)CHECK_CALL(CALL(accept, listener, &addr, &len)))); /* b */
	CHECK_EQ(read(b, buf, 1), 0);
	CHECK_CALL(close(listener));
	CHECK_ERRNO(read(last, buf, 1), ECONNRESET); /* it was never accepted */
	listener = new_socket(SOCK_STREAM);
	CHECK_CALL(bind_to(listener, name));
	CHECK_CALL(CALL(listen, listener, 1));
	CHECK_CALL(CALL(shutdown, listener, SHUT_RD));
	CHECK_ERRNO(CALL(accept, listener, 0, 0), EINVAL);
	CHECK_CALL(fcntl(listener, F_SETFL, NONBLOCK));
	CHECK_ERRNO(CALL(accept, listener, 0, 0), EAGAIN);
	CHECK_CALL(close(listener));
	CHECK_ERRNO(connect_to(new_socket(SOCK_STREAM), name), ECONNREFUSED);
	CHECK_EQ(write(c, "still", 5), 5);
	CHECK_EQ(read(a, buf, sizeof(buf)), 5);
}

static void names_in_the_file_system(void)
{
	int fd = new_socket(SOCK_DGRAM), other = new_socket(SOCK_DGRAM), stream = new_socket(SOCK_STREAM), len;
	struct sockaddr_un addr;
	char path[32];
	struct stat st;

	sniprintf(path, sizeof(path), "unixtest-%d", (int)getpid());
	umask(022);
	CHECK_CALL(bind_to(fd, path));
	CHECK_CALL(stat(path, &st));
	CHECK_EQ(st.st_mode, S_IFSOCK | 0755);
	CHECK_ERRNO(bind_to(other, path), EADDRINUSE);
	CHECK_ERRNO(open(path, O_RDONLY), ENXIO);
	len = sizeof(addr);
	CHECK_CALL(CALL(getsockname, fd, &addr, &len));
	CHECK_EQ(len, 2 + strlen(path) + 1);
	CHECK(!strcmp(addr.sun_path, path));
	CHECK_EQ(send_to(other, path, "hi", 2, 0), 2);
	CHECK_ERRNO(connect_to(stream, path), EPROTOTYPE);
	CHECK_CALL(close(fd));
	CHECK_ERRNO(send_to(other, path, "hi", 2, 0), ECONNREFUSED);
	CHECK_CALL(unlink(path));
	CHECK_ERRNO(send_to(other, path, "hi", 2, 0), ENOENT);
	CHECK_ERRNO(send_to(other, "/dev/null", "hi", 2, 0), ECONNREFUSED);
	CHECK_ERRNO(bind_to(other, "no/such/directory"), ENOENT);
	CHECK_ERRNO(CALL(bind, other, &addr, 1), EINVAL);
	CHECK_ERRNO(CALL(bind, other, &addr, 200), EINVAL);
	CHECK_ERRNO(CALL(bind, other, 8, 20), EFAULT);
	addr.sun_family = 77;
	CHECK_ERRNO(CALL(bind, other, &addr, len), EINVAL);
	addr.sun_family = AF_UNIX;
	CHECK_CALL(CALL(bind, other, &addr, 2)); /* the kernel chooses */
	len = sizeof(addr);
	CHECK_CALL(CALL(getsockname, other, &addr, &len));
	CHECK_EQ(len, 8);
	CHECK(!addr.sun_path[0]);
}

static void datagrams(void)
{
	int server = new_socket(SOCK_DGRAM), a = new_socket(SOCK_DGRAM), b = new_socket(SOCK_DGRAM | SOCK_NONBLOCK),
	    n = 0;
	char name[64], buf[64] = "";
	struct sockaddr_un from;
	struct iovec vec[2] = {{buf, 2}, {buf + 32, 3}};
	struct user_msghdr h = {.msg_iov = vec, .msg_iovlen = 2, .msg_name = &from, .msg_namelen = sizeof(from)};
	int len = sizeof(from);

	strcpy(name, abstract("dgram"));
	CHECK_CALL(bind_to(server, name));
	CHECK_CALL(bind_to(a, abstract("client")));
	CHECK_EQ(send_to(a, name, "first", 5, 0), 5);
	CHECK_EQ(send_to(a, name, "", 0, 0), 0);
	CHECK_EQ(send_to(a, name, "second", 6, 0), 6);
	CHECK_CALL(CALL(ioctl, server, INQ, &n));
	CHECK_EQ(n, 5);
	CHECK_EQ(CALL(recvfrom, server, buf, 2, MSG_PEEK | MSG_TRUNC), 5);
	CHECK_EQ(CALL(recvfrom, server, buf, 2, 0, &from, &len), 2); /* the rest is lost */
	CHECK_EQ(len, 2 + strlen(own_name));
	CHECK(!memcmp(from.sun_path + 1, own_name + 1, strlen(own_name) - 1));
	CHECK_EQ(read(server, buf, sizeof(buf)), 0);
	CHECK_EQ(CALL(recvmsg, server, &h, 0), 5);
	CHECK_EQ(h.msg_flags, MSG_TRUNC);
	CHECK(!memcmp(buf, "se", 2) && !memcmp(buf + 32, "con", 3));
	CHECK_EQ(h.msg_namelen, 2 + strlen(own_name));
	CHECK_ERRNO(write(b, "x", 1), ENOTCONN);
	CHECK_CALL(connect_to(b, name));
	CHECK_CALL(connect_to(server, own_name)); /* now it hears only that one */
	CHECK_ERRNO(write(b, "x", 1), EPERM);
	CHECK_ERRNO(CALL(listen, server, 1), EOPNOTSUPP);
	CHECK_ERRNO(CALL(accept, server, 0, 0), EOPNOTSUPP);
	from.sun_family = AF_UNSPEC;
	CHECK_CALL(CALL(connect, server, &from, 2));
	/* A full queue, seen by poll. */
	for (n = 0; write(b, "x", 1) == 1; n++)
		;
	CHECK_EQ(errno, EAGAIN);
	CHECK_EQ(ready(b, POLLOUT, 0), 0);
	CHECK_EQ(read(server, buf, 1), 1);
	CHECK_EQ(ready(b, POLLOUT, 1000), POLLOUT);
	CHECK_EQ(write(b, "x", 1), 1);
	CHECK_ERRNO(send_to(a, name, buf, 1L << 20, 0), EMSGSIZE);
	CHECK_CALL(close(server));
	CHECK_ERRNO(write(b, "x", 1), ECONNREFUSED);
	CHECK_ERRNO(write(b, "x", 1), ENOTCONN);
}

static void packets(void)
{
	static char large[300000];
	int fd[2], one = 1, n = 0, len = sizeof(struct sockaddr_un);
	struct sockaddr_un addr;
	char buf[16], control[64];
	struct iovec vec = {buf, sizeof(buf)};
	struct user_msghdr h = {
		.msg_iov = &vec, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};

	new_pair(SOCK_SEQPACKET, fd);
	CHECK_EQ(write(fd[0], "abc", 3), 3);
	CHECK_EQ(write(fd[0], "defg", 4), 4);
	CHECK_CALL(CALL(ioctl, fd[1], INQ, &n));
	CHECK_EQ(n, 7); /* of all, unlike for datagrams */
	CHECK_EQ(read(fd[1], buf, 2), 2);
	CHECK_EQ(read(fd[1], buf, sizeof(buf)), 4);
	CHECK_ERRNO(write(fd[0], large, sizeof(large)), EMSGSIZE);
	CHECK_EQ(write(fd[0], large, 150000), 150000);
	CHECK_EQ(read(fd[1], large, sizeof(large)), 150000);
	CHECK_CALL(close(fd[1]));
	CHECK_EQ(read(fd[0], buf, 1), 0);
	CHECK_ERRNO(CALL(sendto, fd[0], buf, 1, MSG_NOSIGNAL), EPIPE);
	/* A socket with SO_PASSCRED gets a name when it sends, but not when the address is no address. */
	new_pair(SOCK_SEQPACKET, fd);
	CHECK_CALL(CALL(setsockopt, fd[0], SOL_SOCKET, SO_PASSCRED, &one, 4));
	addr.sun_family = AF_UNSPEC;
	CHECK_ERRNO(CALL(connect, fd[0], &addr, 2), EINVAL);
	CHECK_CALL(CALL(getsockname, fd[0], &addr, &len));
	CHECK_EQ(len, 2);
	CHECK_EQ(write(fd[0], "abc", 3), 3);
	len = sizeof(addr);
	CHECK_CALL(CALL(getsockname, fd[0], &addr, &len));
	CHECK_EQ(len, 8);
	/* The end has no sender. */
	CHECK_CALL(close(fd[1]));
	CHECK_ERRNO(read(fd[0], buf, 1), ECONNRESET);
	CHECK_EQ(CALL(recvmsg, fd[0], &h, 0), 0);
	CHECK_EQ(h.msg_controllen, 0);
	/* An error comes before what has arrived earlier. */
	new_pair(SOCK_SEQPACKET, fd);
	CHECK_EQ(write(fd[0], "lost", 4), 4);
	CHECK_EQ(write(fd[1], "kept", 4), 4);
	CHECK_CALL(close(fd[1]));
	CHECK_ERRNO(read(fd[0], buf, sizeof(buf)), ECONNRESET);
	CHECK_EQ(read(fd[0], buf, sizeof(buf)), 4);
	CHECK_EQ(read(fd[0], buf, sizeof(buf)), 0);
}

static pid_t waiter;
static int waits_at;

static void time_limits(void)
{
	int fd[2], listener = new_socket(SOCK_STREAM), one = 100;
	long limit[2] = {0, 50000}, start;
	char buf[4];

	new_pair(SOCK_DGRAM, fd);
	CHECK_CALL(CALL(setsockopt, fd[0], SOL_SOCKET, SO_RCVTIMEO, limit, sizeof(limit)));
	start = check_now();
	CHECK_ERRNO(read(fd[0], buf, 1), EAGAIN);
	CHECK_RANGE(check_now() - start, 50 * MS, 3000 * MS);
	CHECK_CALL(bind_to(listener, abstract("times")));
	CHECK_CALL(CALL(listen, listener, 1));
	CHECK_CALL(CALL(setsockopt, listener, SOL_SOCKET, SO_RCVTIMEO, limit, sizeof(limit)));
	CHECK_ERRNO(CALL(accept, listener, 0, 0), EAGAIN);
	CHECK_ERRNO(CALL(setsockopt, listener, SOL_SOCKET, SO_TYPE, &one, 4), ENOPROTOOPT);
	CHECK_ERRNO(CALL(setsockopt, listener, SOL_SOCKET, SO_SNDBUF, &one, 3), EINVAL);
	CHECK_CALL(CALL(setsockopt, listener, SOL_SOCKET, SO_SNDBUF, &one, 4));
	CHECK_EQ(option(listener, SO_SNDBUF), 4608);
	CHECK_CALL(CALL(setsockopt, listener, SOL_SOCKET, SO_RCVBUF, &one, 4));
	CHECK_EQ(option(listener, SO_RCVBUF), 2304);
	limit[1] = 1000000;
	CHECK_ERRNO(CALL(setsockopt, listener, SOL_SOCKET, SO_RCVTIMEO, limit, sizeof(limit)), EDOM);
	/* A reader that sleeps is woken by a message, and by the end. */
	waits_at = fd[1];
	for (int i = 0; i < 2; i++) {
		waiter = check_fork();
		if (waiter == 0) {
			struct pollfd p = {.fd = waits_at, .events = POLLIN};

			_exit(poll(&p, 1, 5000) == 1 && read(waits_at, buf, 4) == 2 ? 0 : 1);
		}
		process_gets(waiter, 'S');
		CHECK_EQ(write(fd[0], "ab", 2), 2);
		CHECK_EQ(check_wait(waiter), 0);
	}
}

static void refused(void)
{
	int fd = new_socket(SOCK_STREAM), pair[2];
	int len = 4, value;

	CHECK_ERRNO(CALL(socket, 60, SOCK_STREAM, 0), EAFNOSUPPORT);
	CHECK_ERRNO(CALL(socket, AF_UNIX, 9, 0), ESOCKTNOSUPPORT);
	CHECK_ERRNO(CALL(socket, AF_UNIX, 15, 0), EINVAL);
	CHECK_ERRNO(CALL(socket, AF_UNIX, SOCK_STREAM | 0x100, 0), EINVAL);
	CHECK_ERRNO(CALL(socket, AF_UNIX, SOCK_STREAM, 5), EPROTONOSUPPORT);
	CHECK_ERRNO(CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, 8), EFAULT);
	CHECK_ERRNO(CALL(listen, 999, 1), EBADF);
	CHECK_CALL(pipe(pair));
	CHECK_ERRNO(CALL(listen, pair[0], 1), ENOTSOCK);
	CHECK_ERRNO(CALL(sendto, pair[1], "x", 1), ENOTSOCK);
	CHECK_ERRNO(CALL(getsockopt, fd, SOL_SOCKET, 9999, &value, &len), ENOPROTOOPT);
	CHECK_ERRNO(CALL(getsockopt, fd, 6, 1, &value, &len), EOPNOTSUPP);
	CHECK_ERRNO(CALL(shutdown, fd, 3), EINVAL);
	CHECK_ERRNO(CALL(accept4, fd, 0, 0, 1), EINVAL);
	len = -1;
	CHECK_ERRNO(CALL(getsockname, fd, &value, &len), EINVAL);
	CHECK_ERRNO(CALL(getsockname, fd, &value, 8), EFAULT);
}

static void shown_in_proc(void)
{
	static char text[65536];
	int fd = new_socket(SOCK_SEQPACKET), proc, n, size = 0;
	const char *name = abstract("proc");
	char link[64] = "", path[32], *line, wanted[128];
	struct stat st;

	CHECK_CALL(bind_to(fd, name));
	CHECK_CALL(CALL(listen, fd, 1));
	CHECK_CALL(fstat(fd, &st));
	sniprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	sniprintf(wanted, sizeof(wanted), "socket:[%ld]", (long)st.st_ino);
	CHECK(readlink(path, link, sizeof(link) - 1) > 0);
	CHECK(!strcmp(link, wanted));
	proc = (int)CHECK_CALL(open("/proc/net/unix", O_RDONLY));
	while ((n = (int)read(proc, text + size, sizeof(text) - 1 - size)) > 0)
		size += n;
	CHECK(!strncmp(text, "Num       RefCount Protocol Flags    Type St Inode Path\n", 56));
	line = strstr(text, name);
	CHECK(line != NULL);
	if (!line)
		return;
	sniprintf(wanted, sizeof(wanted), " 00000000 00010000 0005 01 %5ld %s", (long)st.st_ino, name);
	while (line > text && line[-1] != '\n')
		line--;
	CHECK(!strncmp(line + 26, wanted, strlen(wanted))); /* behind the address and the count of references */
}

/* Many who send to one, and connect to one, at the same time. */
#define SENDERS 3
#define EACH	400
static volatile int sent_all;
static char storm_name[64];

static void storm_sender(void *arg)
{
	struct sockaddr_un addr;
	int len = name_of(&addr, storm_name), fd;

	for (int i = 0; i < EACH; i++) {
		fd = (int)vt_syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0, 0, 0);
		if (vt_syscall(SYS_connect, fd, (long)&addr, len, 0, 0, 0) == 0)
			vt_syscall(SYS_write, fd, (long)&i, 4, 0, 0, 0);
		vt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	__atomic_add_fetch(&sent_all, 1, __ATOMIC_SEQ_CST);
}

static void storm(void)
{
	int listener = new_socket(SOCK_STREAM), value;
	long sum = 0;

	strcpy(storm_name, abstract("storm"));
	CHECK_CALL(bind_to(listener, storm_name));
	CHECK_CALL(CALL(listen, listener, 4));
	for (int i = 0; i < SENDERS; i++)
		thread_start_in_group(storm_sender, NULL);
	for (int i = 0; i < SENDERS * EACH; i++) {
		int fd = (int)CHECK_CALL(CALL(accept, listener, 0, 0));

		CHECK_EQ(CALL(recvfrom, fd, &value, 4, MSG_WAITALL), 4);
		sum += value;
		CHECK_EQ(read(fd, &value, 4), 0);
		close(fd);
	}
	CHECK_EQ(sum, SENDERS * (EACH * (EACH - 1) / 2));
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"pair-of-streams", pair_of_streams},
		{"broken-streams", broken_streams},
		{"full-stream", full_stream},
		{"connections", connections},
		{"names-in-the-file-system", names_in_the_file_system},
		{"datagrams", datagrams},
		{"packets", packets},
		{"time-limits", time_limits},
		{"refused", refused},
		{"shown-in-proc", shown_in_proc},
		{"storm", storm},
	};

	check_seconds = 20;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

/* What tests of sockets share: the structures of sockets for both C libraries, and short ways to make the calls. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include <callnumbers.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#define user_msghdr msghdr
#else
#include <uapi/socket.h>
#endif

#define NONBLOCK  04000
#define INQ	  0x541B
#define OUTQ	  0x5411
#define RDHUP	  0x2000
#define WANT_READ (POLLIN | RDHUP)

static inline int new_socket(int type)
{
	return (int)CHECK_CALL(CALL(socket, AF_UNIX, type, 0));
}

static inline void new_pair(int type, int fd[2])
{
	CHECK_CALL(CALL(socketpair, AF_UNIX, type, 0, fd));
}

/* Length of the address; a name that begins with @ is abstract. */
static inline int name_of(struct sockaddr_un *addr, const char *name)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	strcpy(addr->sun_path, name);
	if (*name != '@')
		return (int)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + 1);
	addr->sun_path[0] = 0;
	return (int)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
}

static inline long bind_to(int fd, const char *name)
{
	struct sockaddr_un addr;
	int len = name_of(&addr, name);

	return CALL(bind, fd, &addr, len);
}

static inline long connect_to(int fd, const char *name)
{
	struct sockaddr_un addr;
	int len = name_of(&addr, name);

	return CALL(connect, fd, &addr, len);
}

static inline long send_to(int fd, const char *name, const void *buf, size_t n, int flags)
{
	struct sockaddr_un addr;
	int len = name_of(&addr, name);

	return CALL(sendto, fd, buf, n, flags, &addr, len);
}

/* An abstract name that no other run of this program has. */
static char own_name[64];
static inline const char *abstract(const char *what)
{
	sniprintf(own_name, sizeof(own_name), "@unixtest-%s-%d", what, (int)getpid());
	return own_name;
}

static inline int option(int fd, int which)
{
	int value = -1, len = sizeof(value);

	CHECK_CALL(CALL(getsockopt, fd, SOL_SOCKET, which, &value, &len));
	CHECK_EQ(len, sizeof(value));
	return value;
}

static inline int ready(int fd, int events, int ms)
{
	struct pollfd p = {.fd = fd, .events = (short)events};

	CHECK_CALL(poll(&p, 1, ms));
	return p.revents;
}

#endif

/*
 * netevents KIND N BYTES: N packets through lo and nothing else, for tests that count events.
 *
 *	datagrams   of UDP, each read before the next is sent
 *	refused     of UDP, to a port that nobody has
 *	full        of UDP, to a socket that never reads and then closes; prints how many it had taken
 *	echo        of ICMP, with the answers
 */
#include <inet.h>
#include <posix.h>

static char data[65536];

static void datagrams(int n, size_t bytes)
{
	unsigned port;
	int fd = bound_udp(&port);

	for (int i = 0; i < n; i++) {
		CHECK_EQ(inet_send(fd, LOOPBACK, port, data, bytes, 0), bytes);
		CHECK_EQ(CALL(recvfrom, fd, data, sizeof(data), MSG_DONTWAIT, 0, 0), bytes);
	}
}

static void refused(int n, size_t bytes)
{
	unsigned port;
	int fd = bound_udp(&port);

	close(fd);
	fd = new_udp();
	for (int i = 0; i < n; i++)
		CHECK_EQ(inet_send(fd, LOOPBACK, port, data, bytes, 0), bytes);
}

static void full(int n, size_t bytes)
{
	unsigned port;
	int fd = bound_udp(&port), from = new_udp(), taken = 0;

	set_option(fd, SOL_SOCKET, SO_RCVBUF, 5000);
	for (int i = 0; i < n; i++) {
		CHECK_EQ(inet_send(from, LOOPBACK, port, data, bytes, 0), bytes);
		taken += ready(fd, POLLIN, 0) == POLLIN;
	}
	close(fd);
	printf("%d\n", taken);
}

static void echo(int n, size_t bytes)
{
	int raw = (int)CHECK_CALL(CALL(socket, AF_INET, SOCK_RAW, IPPROTO_ICMP));

	for (int i = 0; i < n; i++) {
		memset(data, 0, sizeof(data));
		data[0] = ICMP_ECHO;
		*(unsigned short *)(data + 2) = inet_sum(data, bytes);
		CHECK_EQ(inet_send(raw, LOOPBACK, 0, data, bytes, 0), bytes);
		CHECK_EQ(CALL(recvfrom, raw, data, sizeof(data), 0, 0, 0), bytes + 20); /* it, and the answer */
		CHECK_EQ(CALL(recvfrom, raw, data, sizeof(data), 0, 0, 0), bytes + 20);
		CHECK_EQ(data[20], ICMP_ECHOREPLY);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int n, size_t bytes);
	} kinds[] = {{"datagrams", datagrams}, {"refused", refused}, {"full", full}, {"echo", echo}};

	for (unsigned i = 0; argc == 4 && i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].run(atoi(argv[2]), (size_t)atoi(argv[3]));
			return check_failures != 0;
		}
	}
	vt_die(2, "usage: netevents datagrams|refused|full|echo N BYTES");
}

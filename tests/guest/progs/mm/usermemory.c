/*
 * usermemory KIND: as a user without rights, with the limits that a user has at first, makes kernel memory of one kind
 * until it is refused or the process is killed. When it is refused it adds a line to /tmp/full and sleeps. Its process
 * group is its own, so that all of it can be killed at once. `usermemory options` tries bounds that root can set.
 * tests/guest/mm/user_memory.sh looks meanwhile how root fares.
 */
#include <inet.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define USER	  1000
#define NOFILE	  7  /* RLIMIT_NOFILE */
#define SIGQUEUES 11 /* RLIMIT_SIGPENDING */
#define PAGE	  4096L
#define TABLE	  (2L << 20) /* bytes that one leaf table maps */
#define MOST	  100000     /* of anything: a loop that comes so far has met no bound */
#define MFD	  "usermemory"
#define SETLK	  6	/* F_SETLK */
#define IN_EVENTS 0x300 /* IN_CREATE, IN_DELETE */

static char bytes[1 << 16];

/* Send until there is no more room. True: it is the socket's own that has ended, and not the user's. */
static bool fill_socket(int fd)
{
	while (CALL(sendto, fd, bytes, 16000, MSG_DONTWAIT, 0, 0) > 0)
		;
	return errno == EAGAIN;
}

/* Both directions of pairs. */
static void fill_pairs(void)
{
	int fd[2];

	for (int i = 0; i < MOST; i++) {
		new_pair(SOCK_STREAM, fd);
		if (!fill_socket(fd[0]) || !fill_socket(fd[1]))
			break;
	}
	CHECK_EQ(errno, ENOBUFS);
}

/* Connections that nobody accepts, and whose other ends are closed: no descriptor leads to what they hold. */
static void fill_backlogs(void)
{
	char name[32];

	for (int i = 0; i < MOST; i++) {
		int client = (int)CALL(socket, AF_UNIX, SOCK_STREAM | NONBLOCK, 0);

		if (client < 0)
			break;
		snprintf(name, sizeof(name), "@backlog%d", i / 1000);
		if (i % 1000 == 0) {
			int listener = new_socket(SOCK_STREAM);

			CHECK_CALL(bind_to(listener, name));
			CHECK_CALL(CALL(listen, listener, 4096));
		}
		if (connect_to(client, name) || !fill_socket(client))
			break;
		close(client);
	}
	CHECK(errno == ENOBUFS || errno == ENOMEM);
}

/* Packets that nobody reads. The sender is told nothing; the queue ends where the user's memory does. */
static void fill_udp(void)
{
	for (int i = 0; i < 1000; i++) {
		int fd = (int)CALL(socket, AF_INET, SOCK_DGRAM, 0);

		if (fd < 0)
			break;
		CHECK_CALL(inet_bind(fd, LOOPBACK, 0));
		for (int n = 0; n < 5; n++)
			inet_send(fd, LOOPBACK, __builtin_bswap16(inet_name(fd, false).port), bytes, 60000,
				  MSG_DONTWAIT);
	}
}

/* A memfd of this size, or of less (*less, with errno). */
static int new_memfd(long size, bool *less)
{
	int fd = (int)CALL(memfd_create, MFD, 0);
	long n;

	for (long done = 0; fd >= 0 && done < size && !*less; done += n) {
		n = write(fd, bytes, sizeof(bytes));
		*less = n < 0;
	}
	return fd;
}

static void fill_memfds(void)
{
	bool full = false;

	for (int i = 0; i < 1000 && !full; i++)
		new_memfd(1 << 20, &full);
	CHECK_EQ(errno, ENOSPC);
}

/* One descriptor in a message. */
static long send_descriptor(int over, int fd)
{
	struct {
		struct cmsghdr head;
		int fd;
	} control = {{sizeof(control.head) + sizeof(int), SOL_SOCKET, SCM_RIGHTS}, fd};
	struct iovec vec = {bytes, 1};
	struct user_msghdr msg = {.msg_iov = &vec, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = 24};

	return CALL(sendmsg, over, &msg, MSG_DONTWAIT);
}

/* Memfds of which no process has a descriptor: they are in messages. */
static void fill_messages(void)
{
	bool full = false;
	int pair[2];

	for (int i = 0; i < MOST && !full; i++) {
		int fd = new_memfd(256 << 10, &full);

		if (i % 100 == 0)
			new_pair(SOCK_STREAM, pair);
		if (fd < 0 || full || send_descriptor(pair[0], fd) != 1)
			break;
		close(fd);
	}
	CHECK(errno == ENOSPC || errno == ETOOMANYREFS);
}

/* Pages that no table maps any more. There is no bound, so the process is killed. */
static void fill_shared(void)
{
	for (int i = 0; i < MOST; i++) {
		char *p = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			break;
		for (long at = 0; at < 4 << 20; at += PAGE)
			p[at] = 1;
		CALL(madvise, p, 4 << 20, 4); /* MADV_DONTNEED */
	}
}

/* Tables for the common page of zeroes. */
static void fill_tables(void)
{
	long size = 200L << 30;
	char *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char seen;

	CHECK(p != MAP_FAILED);
	for (long at = 0; at < size; at += TABLE)
		seen = p[at];
	(void)seen;
}

/* Areas of one page each, as many as a process may have or `most`; how many. */
static long many_areas(long most)
{
	char *p = mmap(NULL, 2 * most * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long n = 0;

	while (n < most && !CALL(mprotect, p + 2 * n * PAGE, PAGE, PROT_READ))
		n++;
	return n;
}

/* Children: each does f() and sleeps. */
static void fill_children(void (*f)(void), int most)
{
	for (int i = 0; i < most; i++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid)
			continue;
		f();
		for (;;)
			check_sleep(1000000000L);
	}
}

static void touch_pages(void)
{
	static char pages[100 * PAGE];

	for (long at = 0; at < (long)sizeof(pages); at += PAGE)
		pages[at] = 1;
}

static void fill_forks(void)
{
	fill_children(touch_pages, 1000);
}

static void nothing(void)
{
}

static void fill_areas(void)
{
	CHECK_EQ(many_areas(32000), 32000);
	fill_children(nothing, 40);
}

/* A long text of /proc that is begun and not read to its end. */
static long begin_text(void)
{
	int fd = CHECK_CALL(open("/proc/self/maps", O_RDONLY));
	char first;

	return read(fd, &first, 1);
}

/* It has no more than what sockets have left. */
static void fill_texts(void)
{
	CHECK_EQ(many_areas(1000), 1000);
	CHECK_EQ(begin_text(), 1);
	fill_pairs();
	CHECK_ERRNO(begin_text(), ENOMEM);
}

/* Events of all instances that the user may have, of the longest names. */
static void fill_events(void)
{
	char name[256];

	memset(name, 'n', sizeof(name));
	name[255] = 0;
	CHECK_CALL(chdir("/tmp/usermemory"));
	for (int i = 0; i < 128; i++)
		CHECK_CALL(CALL(inotify_add_watch, CHECK_CALL(CALL(inotify_init1, 0)), ".", IN_EVENTS));
	CHECK_ERRNO(CALL(inotify_init1, 0), EMFILE);
	for (int i = 0; i < 1000; i++) {
		close(open(name, O_CREAT | O_WRONLY, 0600));
		unlink(name);
	}
}

/* How often the call succeeds, up to MOST times, before it fails with this errno. */
#define TIMES(call, error)                           \
	({                                           \
		int times_ = 0;                      \
		while (times_ < MOST && (call) >= 0) \
			times_++;                    \
		CHECK_EQ(errno, error);              \
		times_;                              \
	})

/* A byte of a file is locked for each call, none beside another. */
static long lock_next(int fd)
{
	static struct {
		short type, whence;
		long start, len;
		int pid;
	} lock = {1, 0, 0, 1, 0};

	lock.start += 2;
	return CALL(fcntl, fd, SETLK, &lock);
}

static long watch_next(int epoll)
{
	static int events[4];
	int fd = (int)CALL(eventfd2, 0, 0);

	return fd < 0 ? fd : CALL(epoll_ctl, epoll, 1, fd, events);
}

/* What a number bounds: signals and timers, record locks, terminals, files. */
static void fill_small(void)
{
	unsigned long pending[2];
	unsigned long long blocked = ~0ULL;
	int info[32] = {40, 0, -1};
	int timer, file, epoll;

	CHECK_CALL(CALL(prlimit64, 0, SIGQUEUES, 0, pending));
	CHECK_CALL(CALL(rt_sigprocmask, 2, &blocked, 0, 8));
	CHECK_EQ(TIMES(CALL(timer_create, 0, 0, &timer), EAGAIN), pending[0]);
	for (int i = 0; i < 10; i++)
		CHECK_CALL(CALL(timer_delete, i));
	CHECK_EQ(TIMES(CALL(rt_sigqueueinfo, getpid(), 40, info), EAGAIN), 10);
	file = CHECK_CALL(open("/tmp/usermemory/locked", O_CREAT | O_RDWR, 0600));
	CHECK_RANGE(TIMES(lock_next(file), ENOLCK), 8000, 8192);
	CHECK_RANGE(TIMES(open("/dev/ptmx", O_RDWR), ENOSPC), 60, 64);
	epoll = (int)CHECK_CALL(CALL(epoll_create1, 0));
	CHECK_RANGE(TIMES(watch_next(epoll), EMFILE), 3900, 4096);
}

/* Root: what the files of /proc/sys say is what happens. They have their old values afterwards. */
static void options(void)
{
	static const int small = 8192, large = 100000;
	int from = new_socket(SOCK_DGRAM), fd[2];

	check_put("/proc/sys/net/core/wmem_max", "8192");
	check_put("/proc/sys/net/core/rmem_max", "5000");
	check_put("/proc/sys/net/core/rmem_default", "2304");
	check_put("/proc/sys/net/unix/max_dgram_qlen", "2");
	new_pair(SOCK_DGRAM, fd);
	CHECK_EQ(option(fd[0], SO_RCVBUF), 2304);
	CHECK_CALL(CALL(setsockopt, fd[0], SOL_SOCKET, SO_SNDBUF, &large, sizeof(large)));
	CHECK_EQ(option(fd[0], SO_SNDBUF), 2 * small);
	CHECK_CALL(CALL(setsockopt, fd[0], SOL_SOCKET, SO_RCVBUF, &large, sizeof(large)));
	CHECK_EQ(option(fd[0], SO_RCVBUF), 10000);
	CHECK_CALL(bind_to(new_socket(SOCK_DGRAM), "@usermemory"));
	CHECK_EQ(TIMES(send_to(from, "@usermemory", bytes, 1, MSG_DONTWAIT), EAGAIN), 3);
	check_put("/proc/sys/net/core/wmem_max", "212992");
	check_put("/proc/sys/net/core/rmem_max", "212992");
	check_put("/proc/sys/net/core/rmem_default", "212992");
	check_put("/proc/sys/net/unix/max_dgram_qlen", "10");
	check_put("/proc/sys/kernel/pty/max", "2");
	CHECK_EQ(TIMES(open("/dev/ptmx", O_RDWR), ENOSPC), 2);
	CHECK(check_holds("/proc/sys/kernel/pty/nr", "2\n"));
	check_put("/proc/sys/kernel/pty/max", "64");
}

static const struct check_case kinds[] = {
	{"pairs", fill_pairs},	     {"backlogs", fill_backlogs}, {"udp", fill_udp},	   {"memfds", fill_memfds},
	{"messages", fill_messages}, {"shared", fill_shared},	  {"tables", fill_tables}, {"forks", fill_forks},
	{"areas", fill_areas},	     {"texts", fill_texts},	  {"events", fill_events}, {"small", fill_small},
};

int main(int argc, char **argv)
{
	unsigned long files[2] = {4096, 4096};
	int full;

	if (argc == 2 && !strcmp(argv[1], "options")) {
		options();
		return !!check_failures;
	}
	full = CHECK_CALL(open("/tmp/full", O_WRONLY | O_CREAT | O_APPEND, 0600));

	setpgid(0, 0);
	become_user(USER);
	CHECK_CALL(CALL(prlimit64, 0, NOFILE, files, 0));
	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			kinds[i].run();
	if (write(full, check_failures ? "bad\n" : "full\n", 4 + !check_failures) < 4)
		return 2;
	for (;;)
		check_sleep(1000000000L);
}

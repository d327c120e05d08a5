/* eventtest: eventfd and epoll. */
/* also on Linux */
#include <thread.h>
#include <posix.h>
#include <fcntl.h>

enum { ADD = 1, DEL, MOD };
#define IN	  1u
#define OUT	  4u
#define HUP	  0x10u
#define ERR	  8u
#define EXCLUSIVE (1u << 28)
#define ONESHOT	  (1u << 30)
#define ET	  (1u << 31)
#define NONBLOCK  04000
#define CLOEXEC	  02000000

struct ep_event {
	unsigned events;
	unsigned long data;
}
#ifndef __aarch64__
__attribute__((packed))
#endif
;

static int new_eventfd(unsigned count, int flags)
{
	return (int)CHECK_CALL(check_syscall(SYS_eventfd2, count, flags, 0, 0, 0, 0));
}

static int new_epoll(void)
{
	return (int)CHECK_CALL(check_syscall(SYS_epoll_create1, 0, 0, 0, 0, 0, 0));
}

static long ctl(int ep, int op, int fd, unsigned events)
{
	struct ep_event e = {events, (unsigned long)fd};

	return check_syscall(SYS_epoll_ctl, ep, op, fd, (long)&e, 0, 0);
}

/* Events in `got`: how many, or -1. */
static struct ep_event got[8];
static long wait_for(int ep, int max, int ms)
{
	memset(got, 0, sizeof(got));
	return check_syscall(SYS_epoll_pwait, ep, (long)got, max, ms, 0, 8);
}

/* The next wait tells of this descriptor alone, at once; 0: of nothing. */
static void tells(int ep, int fd, unsigned events)
{
	long n = wait_for(ep, 8, 0);

	CHECK_EQ(n, events ? 1 : 0);
	CHECK_EQ(got[0].events, events);
	CHECK_EQ(got[0].data, events ? fd : 0);
}

static void add(int fd, unsigned long v)
{
	CHECK_EQ(write(fd, &v, 8), 8);
}

static long take(int fd)
{
	long v = -1;

	CHECK_EQ(read(fd, &v, 8), 8);
	return v;
}

/* --- eventfd --- */

static void counters(void)
{
	int fd = new_eventfd(3, NONBLOCK), sem = new_eventfd(2, NONBLOCK | 1);
	unsigned long v = -1UL;

	CHECK_EQ(take(fd), 3);
	CHECK_ERRNO(read(fd, &v, 8), EAGAIN);
	add(fd, 5);
	add(fd, 6);
	CHECK_EQ(take(fd), 11);
	CHECK_EQ(take(sem), 1);
	CHECK_EQ(take(sem), 1);
	CHECK_ERRNO(read(sem, &v, 8), EAGAIN);
	v = -1UL;
	CHECK_ERRNO(write(fd, &v, 8), EINVAL);
	add(fd, -2UL);
	v = 1;
	CHECK_ERRNO(write(fd, &v, 8), EAGAIN);
	v = 0;
	CHECK_EQ(write(fd, &v, 8), 8);
	CHECK_EQ(take(fd), -2);
	CHECK_ERRNO(read(fd, &v, 7), EINVAL);
	CHECK_ERRNO(write(fd, &v, 7), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_read, fd, 8, 8, 0, 0, 0), EAGAIN);
	add(fd, 1);
	CHECK_ERRNO(check_syscall(SYS_read, fd, 8, 8, 0, 0, 0), EFAULT);
	CHECK_ERRNO(check_syscall(SYS_write, fd, 8, 8, 0, 0, 0), EFAULT);
	CHECK_ERRNO(check_syscall(SYS_eventfd2, 0, 2, 0, 0, 0, 0), EINVAL);
}

static int shared_fd;

static void adds_later(void *arg)
{
	unsigned long v = 9;

	check_sleep(20 * MS);
	vt_syscall(SYS_write, shared_fd, (long)&v, 8, 0, 0, 0);
}

static void counter_waits(void)
{
	pid_t thread;

	shared_fd = new_eventfd(0, 0);
	thread = thread_start(-1, adds_later, NULL);
	CHECK_EQ(take(shared_fd), 9);
	CHECK(thread_join(&thread, 1));
}

/* --- epoll --- */

static void levels_and_edges(void)
{
	int ep = new_epoll(), level = new_eventfd(0, 0), edge = new_eventfd(0, 0), once = new_eventfd(0, 0);
	int ends[2];

	CHECK_EQ(ctl(ep, ADD, level, IN), 0);
	tells(ep, level, 0);
	add(level, 1);
	tells(ep, level, IN);
	tells(ep, level, IN);
	take(level);
	tells(ep, level, 0);
	CHECK_EQ(ctl(ep, ADD, edge, IN | ET), 0);
	add(edge, 1);
	tells(ep, edge, IN);
	tells(ep, edge, 0);
	add(edge, 1);
	tells(ep, edge, IN);
	tells(ep, edge, 0);
	CHECK_CALL(pipe(ends));
	CHECK_EQ(ctl(ep, ADD, ends[0], IN | ET), 0);
	for (int i = 0; i < 3; i++) { /* each write, also to a pipe that is not empty */
		CHECK_EQ(write(ends[1], "x", 1), 1);
		tells(ep, ends[0], IN);
		tells(ep, ends[0], 0);
	}
	CHECK_EQ(ctl(ep, DEL, ends[0], 0), 0);
	close(ends[0]);
	close(ends[1]);
	CHECK_EQ(ctl(ep, MOD, edge, IN | OUT | ET), 0);
	tells(ep, edge, IN | OUT);
	CHECK_EQ(ctl(ep, DEL, edge, 0), 0);
	CHECK_EQ(ctl(ep, ADD, once, IN | ONESHOT), 0);
	add(once, 1);
	tells(ep, once, IN);
	add(once, 1);
	tells(ep, once, 0);
	CHECK_EQ(ctl(ep, MOD, once, IN | ONESHOT), 0);
	tells(ep, once, IN);
	tells(ep, once, 0);
}

/* A one-shot item that has fired does not wake a task that waits for others, which sleeps once. */
static void fired_item_wakes_nobody(void)
{
	int ep = new_epoll(), fired = new_eventfd(0, 0), end = new_eventfd(0, 0);
	struct rusage before, after;
	pid_t child;

	CHECK_EQ(ctl(ep, ADD, end, IN), 0);
	CHECK_EQ(ctl(ep, ADD, fired, IN | ONESHOT), 0);
	add(fired, 1);
	tells(ep, fired, IN);
	child = check_fork();
	if (child == 0) {
		CHECK_CALL(getrusage(RUSAGE_SELF, &before));
		CHECK_EQ(wait_for(ep, 8, -1), 1);
		CHECK_CALL(getrusage(RUSAGE_SELF, &after));
		CHECK_EQ(got[0].data, end);
		CHECK_RANGE(after.ru_nvcsw - before.ru_nvcsw, 1, 10);
		exit(check_failures ? 1 : 0);
	}
	for (int i = 0; i < 50; i++) {
		process_gets(child, 'S');
		add(fired, 1);
	}
	process_gets(child, 'S');
	add(end, 1);
	CHECK_EQ(check_wait(child), 0);
}

static void many(void)
{
	int ep = new_epoll(), fd[5], seen = 0;

	for (int i = 0; i < 5; i++) {
		fd[i] = new_eventfd(1, 0);
		CHECK_EQ(ctl(ep, ADD, fd[i], IN), 0);
	}
	for (int i = 0; i < 5; i++) { /* each has its turn */
		CHECK_EQ(wait_for(ep, 1, 0), 1);
		for (int j = 0; j < 5; j++)
			if (got[0].data == (unsigned long)fd[j])
				seen |= 1 << j;
	}
	CHECK_EQ(seen, 31);
	CHECK_EQ(wait_for(ep, 8, 0), 5);
	CHECK_CALL(close(fd[0])); /* an item goes with its file */
	CHECK_EQ(wait_for(ep, 8, 0), 4);
	CHECK_ERRNO(ctl(ep, DEL, fd[0], 0), EBADF);
	fd[0] = dup(fd[1]);
	CHECK_CALL(close(fd[1])); /* but not before the last descriptor */
	CHECK_EQ(wait_for(ep, 8, 0), 4);
	CHECK_EQ(ctl(ep, ADD, fd[0], IN), 0); /* another pair of descriptor and file */
	CHECK_EQ(wait_for(ep, 8, 0), 5);
	CHECK_CALL(close(fd[0]));
	CHECK_EQ(wait_for(ep, 8, 0), 3);
	CHECK_CALL(close(ep));
}

/* One wait tells of all that are ready, if the program has room for them, and of each once. */
static void very_many(void)
{
	static struct ep_event all[300];
	static char times[1024];
	int ep = new_epoll();

	CHECK_EQ(ctl(ep, ADD, new_eventfd(0, 0), IN), 0);
	for (int i = 0; i < 200; i++)
		CHECK_EQ(ctl(ep, ADD, new_eventfd(1, 0), IN), 0);
	CHECK_EQ(check_syscall(SYS_epoll_pwait, ep, (long)all, 300, 0, 0, 8), 200);
	for (int i = 0; i < 200; i++)
		CHECK_EQ(times[all[i].data % 1024]++, 0);
	CHECK_EQ(check_syscall(SYS_epoll_pwait, ep, (long)all, 150, 0, 0, 8), 150);
	CHECK_ERRNO(check_syscall(SYS_epoll_pwait, ep, 8, 150, 0, 0, 8), EFAULT);
}

static void pipes(void)
{
	int ep = new_epoll(), ends[2];
	char c = 0;

	CHECK_CALL(pipe(ends));
	CHECK_EQ(ctl(ep, ADD, ends[0], IN), 0);
	CHECK_EQ(ctl(ep, ADD, ends[1], OUT | ET), 0);
	tells(ep, ends[1], OUT);
	CHECK_EQ(write(ends[1], &c, 1), 1);
	CHECK_EQ(read(ends[0], &c, 1), 1);
	CHECK_CALL(close(ends[1]));
	tells(ep, ends[0], HUP);
}

static void errors(void)
{
	int ep = new_epoll(), fd = new_eventfd(0, 0), file = open("/proc/self/exe", O_RDONLY);
	char name[64];

	CHECK_ERRNO(ctl(ep, ADD, file, IN), EPERM);
	CHECK_ERRNO(ctl(ep, ADD, 999, IN), EBADF);
	CHECK_ERRNO(ctl(999, ADD, fd, IN), EBADF);
	CHECK_ERRNO(ctl(fd, ADD, ep, IN), EINVAL);
	CHECK_ERRNO(ctl(ep, ADD, ep, IN), EINVAL);
	CHECK_ERRNO(ctl(ep, MOD, fd, IN), ENOENT);
	CHECK_ERRNO(ctl(ep, DEL, fd, IN), ENOENT);
	CHECK_ERRNO(ctl(ep, 9, fd, IN), EINVAL);
	CHECK_EQ(ctl(ep, ADD, fd, IN), 0);
	CHECK_ERRNO(ctl(ep, ADD, fd, IN), EEXIST);
	CHECK_ERRNO(ctl(ep, MOD, fd, IN | EXCLUSIVE), EINVAL);
	CHECK_EQ(ctl(ep, DEL, fd, 0), 0);
	CHECK_ERRNO(ctl(ep, ADD, fd, IN | EXCLUSIVE | ONESHOT), EINVAL);
	CHECK_EQ(ctl(ep, ADD, fd, IN | EXCLUSIVE), 0);
	CHECK_ERRNO(ctl(ep, MOD, fd, IN), EINVAL);
	CHECK_ERRNO(wait_for(fd, 1, 0), EINVAL);
	CHECK_ERRNO(wait_for(ep, 0, 0), EINVAL);
	CHECK_ERRNO(wait_for(ep, -1, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_epoll_ctl, ep, ADD, fd, 8, 0, 0), EFAULT);
	add(fd, 1);
	CHECK_ERRNO(check_syscall(SYS_epoll_pwait, ep, 8, 1, 0, 0, 8), EFAULT);
	tells(ep, fd, IN); /* and is not lost */
	CHECK_ERRNO(check_syscall(SYS_epoll_create1, 1, 0, 0, 0, 0, 0), EINVAL);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd); /* it cannot be opened once more */
	CHECK_ERRNO(open(name, O_RDONLY), ENXIO);
}

static void nested(void)
{
	int fd = new_eventfd(0, 0), ep[7], other;

	for (int i = 0; i < 7; i++)
		ep[i] = new_epoll();
	CHECK_EQ(ctl(ep[0], ADD, fd, IN), 0);
	for (int i = 1; i < 5; i++)
		CHECK_EQ(ctl(ep[i], ADD, ep[i - 1], IN), 0);
	tells(ep[4], ep[3], 0);
	add(fd, 1);
	tells(ep[4], ep[3], IN);
	tells(ep[0], fd, IN);
	take(fd);
	tells(ep[4], ep[3], 0);
	CHECK_ERRNO(ctl(ep[5], ADD, ep[4], IN), ELOOP); /* too deep */
	CHECK_ERRNO(ctl(ep[0], ADD, ep[4], IN), ELOOP); /* a circle */
	CHECK_ERRNO(ctl(ep[0], ADD, ep[1], IN), ELOOP);
	CHECK_EQ(ctl(ep[5], ADD, ep[6], IN), 0);
	CHECK_ERRNO(ctl(ep[6], ADD, ep[5], IN), ELOOP);
	other = new_epoll();
	for (int i = 0; i < 4; i++)
		CHECK_EQ(ctl(other, ADD, ep[i], IN), 0);
	CHECK_CALL(close(ep[2])); /* out of the middle */
	add(fd, 1);
	tells(ep[4], ep[3], 0);
	CHECK_EQ(wait_for(other, 8, 0), 2);
}

/* A child that waits for an event of this end alone, and ends with the first. */
static pid_t exclusive_waiter(int end)
{
	pid_t pid = check_fork();
	int ep;

	if (pid == 0) {
		ep = new_epoll();
		CHECK_EQ(ctl(ep, ADD, end, IN | ET | EXCLUSIVE), 0);
		CHECK_EQ(wait_for(ep, 1, 30000), 1);
		_exit(check_failures);
	}
	process_gets(pid, 'S');
	return pid;
}

/* A write wakes one of those that wait with EPOLLEXCLUSIVE, and the others sleep on. */
static void one_of_many(void)
{
	pid_t pids[4];
	int ends[2], asleep = 0;

	CHECK_CALL(pipe(ends));
	for (int i = 0; i < 4; i++)
		pids[i] = exclusive_waiter(ends[0]);
	CHECK_EQ(write(ends[1], "x", 1), 1);
	for (int i = 0; i < 4; i++)
		asleep += thread_state(pids[i], pids[i]) == 'S';
	CHECK_EQ(asleep, 3);
	for (int i = 0; i < 4; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < 4; i++)
		check_wait(pids[i]);
}

static void wakes_up(void)
{
	int ep = new_epoll();
	pid_t thread;
	long begin = check_now();

	shared_fd = new_eventfd(0, 0);
	CHECK_EQ(wait_for(ep, 1, 20), 0);
	CHECK(check_now() - begin >= 20 * MS);
	CHECK_EQ(ctl(ep, ADD, shared_fd, IN), 0);
	thread = thread_start(-1, adds_later, NULL);
	CHECK_EQ(wait_for(ep, 1, -1), 1);
	CHECK_EQ(got[0].data, shared_fd);
	CHECK(thread_join(&thread, 1));
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	alarms++;
}

/* A signal ends the wait, and the mask is in force for its time alone. */
static void masks(void)
{
	int ep = new_epoll();
	sigset_t none;
	struct timespec t = {10, 0};

	sigemptyset(&none);
	handle_with(SIGUSR1, on_alarm, SA_RESTART, NULL);
	BLOCK(SIGUSR1);
	kill(getpid(), SIGUSR1);
	CHECK_EQ(alarms, 0);
	CHECK_ERRNO(check_syscall(SYS_epoll_pwait, ep, (long)got, 1, -1, (long)&none, 8), EINTR);
	CHECK_EQ(alarms, 1);
	CHECK(blocked(SIGUSR1));
	kill(getpid(), SIGUSR1);
	CHECK_ERRNO(check_syscall(SYS_epoll_pwait2, ep, (long)got, 1, (long)&t, (long)&none, 8), EINTR);
	t = (struct timespec){0, 1000};
	CHECK_EQ(check_syscall(SYS_epoll_pwait2, ep, (long)got, 1, (long)&t, 0, 0), 0);
	t.tv_nsec = -1;
	CHECK_ERRNO(check_syscall(SYS_epoll_pwait2, ep, (long)got, 1, (long)&t, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_epoll_pwait, ep, (long)got, 1, 0, (long)&none, 4), EINVAL);
}

static int storm_ep, storm_fd[4];
static volatile int storm_ends;

static void waits(void *arg)
{
	struct ep_event e[4];

	while (!storm_ends)
		vt_syscall(SYS_epoll_pwait, storm_ep, (long)e, 4, 1, 0, 8);
}

/* Items and files come and go while others wait, wake and ask. */
static void storm(void)
{
	pid_t threads[3];

	storm_ep = new_epoll();
	for (int i = 0; i < 3; i++)
		threads[i] = thread_start(-1, waits, NULL);
	for (int round = 0; round < 300; round++) {
		int inner = new_epoll();

		for (int i = 0; i < 4; i++) {
			storm_fd[i] = new_eventfd(1, NONBLOCK);
			CHECK_EQ(ctl(storm_ep, ADD, storm_fd[i], IN | (i & 1 ? ET : 0)), 0);
			CHECK_EQ(ctl(inner, ADD, storm_fd[i], IN), 0);
		}
		CHECK_EQ(ctl(storm_ep, ADD, inner, IN), 0);
		add(storm_fd[0], 1);
		CHECK_EQ(ctl(storm_ep, MOD, storm_fd[2], IN | OUT), 0);
		CHECK_EQ(ctl(storm_ep, DEL, storm_fd[3], 0), 0);
		close(round & 1 ? inner : storm_fd[1]);
		for (int i = 0; i < 4; i++)
			if (i != 1 || round & 1)
				close(storm_fd[i]);
		if (!(round & 1))
			close(inner);
	}
	storm_ends = 1;
	CHECK(thread_join(threads, 3));
	CHECK_EQ(wait_for(storm_ep, 1, 0), 0);
}

/* Instances that watch each other may not multiply the ways of a wake-up: 30 times 30 are too many. */
static void many_ways(void)
{
	int fd = new_eventfd(0, 0), below = new_epoll(), middle[30], above[30], n = 0;
	bool refused = false;

	CHECK_EQ(ctl(below, ADD, fd, IN), 0);
	for (int i = 0; i < 30; i++) {
		middle[i] = new_epoll();
		above[i] = new_epoll();
		CHECK_EQ(ctl(middle[i], ADD, below, IN), 0);
	}
	for (int i = 0; i < 900 && !refused; i++) {
		refused = ctl(above[i / 30], ADD, middle[i % 30], IN) != 0;
		n += !refused;
	}
	CHECK(refused && errno == EINVAL);
	CHECK_RANGE(n, 60, 600);
	add(fd, 1);
	CHECK_EQ(wait_for(above[0], 8, 0), 8);
	CHECK_CALL(close(middle[29]));
	CHECK_EQ(ctl(above[29], ADD, fd, IN), 0);
	tells(above[29], fd, IN);
}

#ifndef __linux__ /* there it would be the host's own limit */
static int max_watches;

static void set_max_watches(const char *number)
{
	CHECK_EQ(write(max_watches, number, strlen(number)), strlen(number));
}

/* A limit for each user: of two files that are watched, one has to go before a third. */
static void user_watches(void)
{
	int ep = new_epoll(), fd[3];
	char before[16] = "";

	max_watches = (int)CHECK_CALL(open("/proc/sys/fs/epoll/max_user_watches", O_RDWR));
	CHECK(read(max_watches, before, sizeof(before) - 1) > 0);
	CHECK_RANGE(strtol(before, NULL, 10), 10000, 100000000);
	CHECK_ERRNO(write(max_watches, "7x", 2), EINVAL);
	for (int i = 0; i < 3; i++)
		fd[i] = new_eventfd(0, 0);
	set_max_watches("2");
	CHECK_EQ(ctl(ep, ADD, fd[0], IN), 0);
	CHECK_EQ(ctl(ep, ADD, fd[1], IN), 0);
	CHECK_ERRNO(ctl(ep, ADD, fd[2], IN), ENOSPC);
	CHECK_EQ(ctl(ep, DEL, fd[1], IN), 0);
	CHECK_EQ(ctl(ep, ADD, fd[2], IN), 0);
	CHECK_ERRNO(ctl(ep, ADD, fd[1], IN), ENOSPC);
	CHECK_CALL(close(fd[0])); /* its item goes with it */
	CHECK_EQ(ctl(ep, ADD, fd[1], IN), 0);
	CHECK_CALL(close(ep)); /* and all of them with their instance */
	ep = new_epoll();
	CHECK_EQ(ctl(ep, ADD, fd[1], IN), 0);
	CHECK_EQ(ctl(ep, ADD, fd[2], IN), 0);
	set_max_watches(before);
}
#endif

static volatile int adding_ends;

static void adds_on_and_on(void *arg)
{
	unsigned long v = 1;

	while (!adding_ends)
		vt_syscall(SYS_write, shared_fd, (long)&v, 8, 0, 0, 0);
}

/* A file that is woken for while it is asked is in the answer once all the same. */
static void once_in_an_answer(void)
{
	int ep = new_epoll();
	pid_t thread;
	long n = 1;

	shared_fd = new_eventfd(1, 0);
	CHECK_EQ(ctl(ep, ADD, shared_fd, IN), 0);
	thread = thread_start(-1, adds_on_and_on, NULL);
	for (long end = check_now() + 1500 * MS; n == 1 && check_now() < end;)
		n = wait_for(ep, 8, 0);
	CHECK_EQ(n, 1);
	adding_ends = 1;
	CHECK(thread_join(&thread, 1));
}

static const struct check_case cases[] = {
	{"counters", counters},
	{"counter_waits", counter_waits},
	{"levels_and_edges", levels_and_edges},
	{"fired_item_wakes_nobody", fired_item_wakes_nobody},
	{"many", many},
	{"very_many", very_many},
	{"pipes", pipes},
	{"errors", errors},
	{"nested", nested},
	{"many_ways", many_ways},
#ifndef __linux__
	{"user_watches", user_watches},
#endif
	{"one_of_many", one_of_many},
	{"wakes_up", wakes_up},
	{"masks", masks},
	{"storm", storm},
	{"once_in_an_answer", once_in_an_answer},
};

int main(int argc, char **argv)
{
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

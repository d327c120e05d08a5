/*
 * faultcalls: system calls in which each allocation fails once (lib/faults.h).
 */
#include <faults.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sockets.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <thread.h>
#include <tracee.h>

#define PAGE	 4096L
#define POPULATE 0x8000

static int fd = -1, ends[2] = {-1, -1}, old_fd, pipe_fds[2];
static char *area, room[64 * 1024];
static const char content[] = "what stood here before\n";

static void close_it(const struct fault_step *s)
{
	faults_close(&fd);
}

static void close_both(const struct fault_step *s)
{
	faults_close(&ends[0]);
	faults_close(&ends[1]);
}

static long keep(long result)
{
	if (result >= 0)
		fd = (int)result;
	return result;
}

/* ---- Files */

static bool exists(const char *name)
{
	return CALL(faccessat, HERE, name, 0) == 0;
}

static void put_old(const struct fault_step *s)
{
	CALL(unlinkat, HERE, "new", 0);
	CALL(unlinkat, HERE, "new", 0x200);
	check_put("old", content);
}

static void old_holds(const struct fault_step *s)
{
	CHECK(check_holds("old", content));
}

static void not_new(const struct fault_step *s)
{
	CHECK(!exists("new"));
	old_holds(s);
}

static void unlink_new(const struct fault_step *s)
{
	CHECK_CALL(CALL(unlinkat, HERE, "new", 0));
}

static void rmdir_new(const struct fault_step *s)
{
	CHECK_CALL(CALL(unlinkat, HERE, "new", 0x200));
}

static long open_new(const struct fault_step *s)
{
	return keep(DO(openat, HERE, "new", O_CREAT | O_EXCL | O_RDWR, 0644));
}

static void unlink_it(const struct fault_step *s)
{
	close_it(s);
	unlink_new(s);
}

static long open_a(const struct fault_step *s)
{
	return keep(DO(openat, HERE, s->a, O_RDONLY | O_NONBLOCK | O_NOCTTY));
}

/* Open, read to the end, close. */
static long read_a(const struct fault_step *s)
{
	long n, got = DO(openat, HERE, s->a, O_RDONLY);
	int in = (int)got;

	if (got < 0)
		return got;
	do
		n = DO(read, in, room, sizeof(room));
	while (n > 0);
	close(in);
	return n;
}

static long list_a(const struct fault_step *s)
{
	long n, got = DO(openat, HERE, s->a, O_RDONLY);
	int in = (int)got;

	if (got < 0)
		return got;
	do
		n = DO(getdents64, in, room, sizeof(room));
	while (n > 0);
	close(in);
	return n;
}

static long stat_a(const struct fault_step *s)
{
	return DO(newfstatat, HERE, s->a, room, 0);
}

static long readlink_a(const struct fault_step *s)
{
	return DO(readlinkat, HERE, s->a, room, sizeof(room));
}

static long mkdir_new(const struct fault_step *s)
{
	return DO(mkdirat, HERE, "new", 0755);
}

static long symlink_new(const struct fault_step *s)
{
	return DO(symlinkat, "a target that is longer than what an inode holds by itself, as some file systems do",
		  HERE, "new");
}

static long link_new(const struct fault_step *s)
{
	return DO(linkat, HERE, "old", HERE, "new", 0);
}

static long mkfifo_new(const struct fault_step *s)
{
	return DO(mknodat, HERE, "new", 0010644, 0);
}

static long rename_to(const struct fault_step *s)
{
	return DO(renameat2, HERE, "old", HERE, s->a, 0);
}

static void rename_back(const struct fault_step *s)
{
	CHECK_CALL(CALL(renameat2, HERE, s->a, HERE, "old", 0));
}

static void put_victim(const struct fault_step *s)
{
	put_old(s);
	check_put("victim", "of the renaming\n");
}

static void victim_holds(const struct fault_step *s)
{
	old_holds(s);
	CHECK(check_holds("victim", "of the renaming\n"));
}

static long write_long(const struct fault_step *s)
{
	long n = DO(pwrite64, old_fd, room, 20 * PAGE / 2, PAGE);

	return n < 0 || n == 20 * PAGE / 2 ? n : -ENOMEM; /* some of it, as POSIX allows */
}

static void cut_old(const struct fault_step *s)
{
	CHECK_CALL(CALL(ftruncate, old_fd, sizeof(content) - 1));
}

static void old_begins(const struct fault_step *s)
{
	cut_old(s);
	old_holds(s);
}

static long truncate_old(const struct fault_step *s)
{
	return DO(ftruncate, old_fd, 5 * PAGE + 7);
}

static long chdir_a(const struct fault_step *s)
{
	return DO(chdir, s->a);
}

static void chdir_back(const struct fault_step *s)
{
	CHECK_CALL(CALL(chdir, "/tmp/faults"));
}

static long getcwd_(const struct fault_step *s)
{
	return DO(getcwd, room, sizeof(room));
}

static long unlink_old(const struct fault_step *s)
{
	return DO(unlinkat, HERE, "old", 0);
}

static long flock_old(const struct fault_step *s)
{
	return DO(flock, old_fd, 2);
}

static void flock_none(const struct fault_step *s)
{
	CHECK_CALL(CALL(flock, old_fd, 8));
}

static long dup_high(const struct fault_step *s)
{
	return keep(DO(dup3, old_fd, 700, 0));
}

static long mount_a(const struct fault_step *s)
{
	return DO(mount, s->a, "mnt", s->a, 0, 0);
}

static void umount_it(const struct fault_step *s)
{
	CHECK_CALL(CALL(umount, "mnt", 0));
}

static long splice_it(const struct fault_step *s)
{
	long at = 0, n = DO(splice, old_fd, &at, pipe_fds[1], 0, PAGE, 0);

	if (n > 0)
		CHECK_EQ(CALL(read, pipe_fds[0], room, n), n);
	return n;
}

static long sendfile_it(const struct fault_step *s)
{
	long at = 0, n = DO(sendfile64, pipe_fds[1], old_fd, &at, PAGE);

	if (n > 0)
		CHECK_EQ(CALL(read, pipe_fds[0], room, n), n);
	return n;
}

static long poll_many(const struct fault_step *s)
{
	static struct pollfd polls[100];

	for (int i = 0; i < 100; i++)
		polls[i] = (struct pollfd){.fd = pipe_fds[1], .events = POLLOUT};
	return DO(ppoll, polls, 100, 0, 0, 0);
}

static long writev_many(const struct fault_step *s)
{
	static struct {
		const void *base;
		unsigned long len;
	} vec[60];
	long n;

	for (int i = 0; i < 60; i++) {
		vec[i].base = content;
		vec[i].len = 10;
	}
	n = DO(writev, pipe_fds[1], vec, 60);
	if (n > 0)
		CHECK_EQ(CALL(read, pipe_fds[0], room, 600), n);
	return n;
}

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

/* ---- Epoll in epoll, names of all kinds */

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

static long statx_a(const struct fault_step *s)
{
	return DO(statx, HERE, s->a, 0, 0x7ff, room);
}

static long statfs_a(const struct fault_step *s)
{
	return DO(statfs, s->a, room);
}

static long chmod_old(const struct fault_step *s)
{
	return DO(fchmodat, HERE, "old", 0600);
}

static long times_old(const struct fault_step *s)
{
	return DO(utimensat, HERE, "old", 0, 0);
}

static long access_a(const struct fault_step *s)
{
	return DO(faccessat, HERE, s->a, 4);
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

/* ---- Memory */

static void unmap(const struct fault_step *s)
{
	CHECK_CALL(CALL(munmap, area, 16 * PAGE));
}

static void map(const struct fault_step *s)
{
	area = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(area, 1, 16 * PAGE);
}

static long map_with(int file, long flags)
{
	long at = DO(mmap, 0, 16 * PAGE, PROT_READ, flags, file, 0);

	area = (char *)at;
	return at;
}

static long map_private(const struct fault_step *s)
{
	return map_with(-1, MAP_PRIVATE | MAP_ANONYMOUS);
}

static long map_shared(const struct fault_step *s)
{
	return map_with(-1, MAP_SHARED | MAP_ANONYMOUS);
}

static long map_file(const struct fault_step *s)
{
	return map_with(old_fd, MAP_SHARED);
}

static long protect(const struct fault_step *s)
{
	return DO(mprotect, area + 4 * PAGE, 2 * PAGE, PROT_READ);
}

static long unmap_middle(const struct fault_step *s)
{
	return DO(munmap, area + 4 * PAGE, 2 * PAGE);
}

static long remap(const struct fault_step *s)
{
	long at = DO(mremap, area, 16 * PAGE, 600 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, area - (1L << 31));

	if (at > 0)
		area = (char *)at;
	return at;
}

static void unmap_large(const struct fault_step *s)
{
	CHECK_EQ(area[0], 1);
	CHECK_EQ(area[16 * PAGE - 1], 1);
	CHECK_CALL(CALL(munmap, area, 600 * PAGE));
}

/* What a failed call has left: all of it, as it was filled. */
static void filled(const struct fault_step *s)
{
	for (long i = 0; i < 16 * PAGE; i += 512) {
		area[i]++;
		CHECK_EQ(area[i], 2);
		area[i]--;
	}
	unmap(s);
}

static void map_untouched(const struct fault_step *s)
{
	area = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Page faults of the kernel and of the program are repeated until there is a page. */
static long touch(const struct fault_step *s)
{
	area[PAGE] = 1;
	return DO(pread64, old_fd, area, 1, 0);
}

/* ---- Processes */

static void reap(pid_t pid)
{
	CHECK_EQ(check_wait(pid), 0);
}

static pid_t child;

static long fork_it(const struct fault_step *s)
{
	long pid = DO(clone, SIGCHLD, 0);

	if (pid == 0)
		CALL(exit_group, 0);
	child = (pid_t)pid;
	return pid;
}

static long vfork_it(const struct fault_step *s)
{
	long pid = DO(clone, SIGCHLD | 0x4000, 0); /* CLONE_VFORK with memory of its own */

	if (pid == 0)
		CALL(exit_group, 0);
	child = (pid_t)pid;
	return pid;
}

static long pidfd_fork(const struct fault_step *s)
{
	long pid = DO(clone, SIGCHLD | 0x1000, 0, &fd);

	if (pid == 0)
		CALL(exit_group, 0);
	child = (pid_t)pid;
	return pid;
}

static void no_child(const struct fault_step *s)
{
	CHECK_ERRNO(waitpid(-1, NULL, WNOHANG), ECHILD);
}

static void reap_and_unmap(const struct fault_step *s)
{
	unmap(s);
	reap(child);
}

static void no_child_and_unmap(const struct fault_step *s)
{
	filled(s);
	no_child(s);
}

static void reap_it(const struct fault_step *s)
{
	reap(child);
}

static void reap_pidfd(const struct fault_step *s)
{
	reap(child);
	close_it(s);
}

static void thread_body(void *arg)
{
}

static long thread_it(const struct fault_step *s)
{
	long tid = thread_try_in_group(thread_body, NULL);

	child = (pid_t)tid;
	return tid;
}

static void thread_ends(const struct fault_step *s)
{
	for (int i = 0; i < 5000 && thread_state(getpid(), child); i++)
		check_sleep(MS);
}

/*
 * The child counts for itself: 0, it fails and says so; what the program behind it ends with tells whether there was
 * a fault. From the point of no return on it is killed, as on Linux.
 */
#define WAS_REFUSED 40
#define NO_FAULT    41
#define WAS_FAULT   42
#define WRONG	    43
static long exec_it(const struct fault_step *s)
{
	static char *argv[] = {"faultcalls", "after-exec", "a word", NULL}, *envp[] = {"A=B", NULL};
	long pid = DO(clone, SIGCHLD, 0);
	long result;
	int status;

	if (pid == 0) {
		char number[16];
		int len = sniprintf(number, sizeof(number), "%u", faults_nth());
		int nth = open("/proc/self/fail-nth", O_RDWR);

		if (CALL(pwrite64, nth, number, len, 0) != len)
			_exit(WRONG);
		result = DO(execve, s->a, argv, envp);
		_exit(result == -ENOMEM ? WAS_REFUSED : (int)(64 - result));
	}
	if (pid < 0)
		return pid;
	status = check_wait((pid_t)pid);
	if (status >> 8 >= WRONG || (status & 0x7f && status != SIGKILL && status != SIGSEGV)) {
		check_failures++;
		printf("  fault %u: the child has ended with %#x\n", faults_nth(), status);
	}
	faults_left(status == NO_FAULT << 8);
	return 0;
}

static int after_exec(void)
{
	char number[16] = "";
	int nth = open("/proc/self/fail-nth", O_RDONLY);

	CALL(pread64, nth, number, sizeof(number) - 1, 0);
	return atol(number) ? NO_FAULT : WAS_FAULT;
}

/* A child with the files of its parent, and nothing else of it. */
static long clone_files(const struct fault_step *s)
{
	long pid = DO(clone, SIGCHLD | 0x400 | 0x200, 0);

	if (pid == 0)
		CALL(exit_group, 0);
	child = (pid_t)pid;
	return pid;
}

static long affinity(const struct fault_step *s)
{
	unsigned long mask = 1;

	return DO(sched_setaffinity, 0, 8, &mask);
}

static long policy_it(const struct fault_step *s)
{
	int priority = 5;

	return DO(sched_setscheduler, 0, 1, &priority);
}

static void policy_back(const struct fault_step *s)
{
	int priority = 0;

	CHECK_CALL(CALL(sched_setscheduler, 0, 0, &priority));
}

static void policy_same(const struct fault_step *s)
{
	CHECK_EQ(CALL(sched_getscheduler, 0), 0);
}

static void start_child(const struct fault_step *s)
{
	child = sleeper();
}

static void end_child(const struct fault_step *s)
{
	finish(child);
}

static long seize(const struct fault_step *s)
{
	return faults_result(pt(PT_SEIZE, child, 0, 0));
}

static long peek(const struct fault_step *s)
{
	struct iov to = {room, 64}, from = {room, 64};

	return DO(process_vm_readv, child, &to, 1, &from, 1, 0);
}

static long queue_signal(const struct fault_step *s)
{
	long info[16] = {SIGUSR1, (unsigned)-1};

	return DO(rt_sigqueueinfo, getpid(), SIGUSR1, info);
}

static void take_signal(const struct fault_step *s)
{
	unsigned long set = 1UL << (SIGUSR1 - 1);
	long soon[2] = {1, 0};

	CHECK_EQ(CALL(rt_sigtimedwait, &set, 0, soon, 8), SIGUSR1);
}

static void no_signal(const struct fault_step *s)
{
	CHECK(!pending(SIGUSR1));
}

static long kill_it(const struct fault_step *s)
{
	return DO(kill, getpid(), SIGUSR1);
}

static long futex_it(const struct fault_step *s)
{
	static unsigned word = 1;
	long soon[2] = {0, 1000000}, got = DO(futex, &word, 0, 1, soon);

	return got == -ETIMEDOUT ? 0 : got;
}

static int timer_id;

static long timer_it(const struct fault_step *s)
{
	return DO(timer_create, 1, 0, &timer_id);
}

static void delete_timer(const struct fault_step *s)
{
	CHECK_CALL(CALL(timer_delete, timer_id));
}

static long groups_it(const struct fault_step *s)
{
	static unsigned groups[300];

	for (unsigned i = 0; i < 300; i++)
		groups[i] = i;
	return DO(setgroups, 300, groups);
}

static void groups_none(const struct fault_step *s)
{
	CHECK_CALL(CALL(setgroups, 0, 0));
}

static void groups_same(const struct fault_step *s)
{
	CHECK_EQ(CALL(getgroups, 0, 0), 0);
}

static long setsid_child(const struct fault_step *s)
{
	return DO(setpgid, child, child);
}

static long setuid_it(const struct fault_step *s)
{
	return DO(setresuid, 1234, 0, 0);
}

static void setuid_back(const struct fault_step *s)
{
	CHECK_CALL(CALL(setresuid, 0, 0, 0));
}

static const struct fault_step steps[] = {
	STEP("openat, a new file", open_new, put_old, unlink_it, not_new),
	STEP("openat, an old file", open_a, put_old, close_it, old_holds, .a = "old"),
	STEP("openat, a directory", open_a, NULL, close_it, NULL, .a = "/tmp"),
	STEP("openat, a terminal", open_a, NULL, close_it, NULL, .a = "/dev/console"),
	STEP("openat, /proc/self/mem", open_a, NULL, close_it, NULL, .a = "/proc/self/mem"),
	STEP("openat, a fifo", open_a, NULL, close_it, NULL, .a = "fifo"),
	STEP("openat, through a link", open_a, NULL, close_it, NULL, .a = "/proc/self/root/tmp/faults/link"),
	STEP("getdents64, /tmp", list_a, NULL, NULL, NULL, .a = "/tmp"),
	STEP("getdents64, /proc", list_a, NULL, NULL, NULL, .a = "/proc"),
	STEP("getdents64, /proc/self/fd", list_a, NULL, NULL, NULL, .a = "/proc/self/fd"),
	STEP("getdents64, /proc/self/task", list_a, NULL, NULL, NULL, .a = "/proc/self/task"),
	STEP("getdents64, /dev/pts", list_a, NULL, NULL, NULL, .a = "/dev/pts"),
	STEP("newfstatat, /proc", stat_a, NULL, NULL, NULL, .a = "/proc/1/task/1/fd/../stat"),
	STEP("readlinkat", readlink_a, NULL, NULL, NULL, .a = "link"),
	STEP("readlinkat, /proc", readlink_a, NULL, NULL, NULL, .a = "/proc/self/exe"),
	STEP("mkdirat", mkdir_new, put_old, rmdir_new, not_new),
	STEP("symlinkat", symlink_new, put_old, unlink_new, not_new),
	STEP("linkat", link_new, put_old, unlink_new, not_new),
	STEP("mknodat", mkfifo_new, put_old, unlink_new, not_new),
	STEP("renameat2", rename_to, put_old, rename_back, not_new, .a = "new"),
	STEP("renameat2, to a directory", rename_to, put_old, rename_back, old_holds, .a = "dir/new"),
	STEP("renameat2, onto a file", rename_to, put_victim, rename_back, victim_holds, .a = "victim"),
	STEP("unlinkat", unlink_old, put_old, put_old, old_holds),
	STEP("pwrite64", write_long, cut_old, cut_old, old_begins),
	STEP("ftruncate", truncate_old, cut_old, cut_old, old_holds),
	STEP("chdir", chdir_a, NULL, chdir_back, NULL, .a = "dir/../dir"),
	STEP("getcwd", getcwd_, NULL, NULL, NULL),
	STEP("flock", flock_old, NULL, flock_none, flock_none),
	STEP("dup3", dup_high, NULL, close_it, NULL),
	STEP("mount, ramfs", mount_a, NULL, umount_it, NULL, .a = "ramfs"),
	STEP("mount, proc", mount_a, NULL, umount_it, NULL, .a = "proc"),
	STEP("mount, sysfs", mount_a, NULL, umount_it, NULL, .a = "sysfs"),
	STEP("mount, tracefs", mount_a, NULL, umount_it, NULL, .a = "tracefs"),
	STEP("mount, debugfs", mount_a, NULL, umount_it, NULL, .a = "debugfs"),
	STEP("mount, devpts", mount_a, NULL, umount_it, NULL, .a = "devpts"),
	STEP("splice", splice_it, put_old, NULL, old_holds),
	STEP("sendfile64", sendfile_it, put_old, NULL, old_holds),
	STEP("ppoll", poll_many, NULL, NULL, NULL),
	STEP("writev", writev_many, NULL, NULL, NULL),
	STEP("pipe2", pipe_it, NULL, close_both, NULL),
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
	STEP("statx", statx_a, NULL, NULL, NULL, .a = "/proc/self/task"),
	STEP("statfs", statfs_a, NULL, NULL, NULL, .a = "/sys/kernel/tracing"),
	STEP("fchmodat", chmod_old, put_old, NULL, old_holds),
	STEP("utimensat", times_old, put_old, NULL, old_holds),
	STEP("faccessat", access_a, NULL, NULL, NULL, .a = "/sys/kernel/tracing/events/sched/sched_switch/id"),
	STEP("bind, an abstract name", bind_it, make_socket, close_bound, close_unbound, .a = "@faults-bind"),
	STEP("bind, a file", bind_it, make_socket, close_bound, close_unbound, .a = "socket"),
	STEP("connect", connect_it, make_listener, close_sockets, close_sockets),
	STEP("accept4", accept_it, make_connected, close_accepted, close_sockets, .also = ENFILE),
	STEP("sendmsg, SCM_RIGHTS", send_rights, make_pair, close_both, nothing_came, .also = ENOBUFS),
	STEP("recvmsg, SCM_RIGHTS", receive_rights, make_sent, close_received, close_both),
	STEP("sendto, a datagram", send_large, make_datagrams, close_both, nothing_came, .also = ENOBUFS),
	STEP("sendto, a stream", send_stream, make_pair, close_both, nothing_came, .also = ENOBUFS),
	STEP("getsockopt", get_credentials, make_pair, close_both, close_both),
	STEP("mmap, private", map_private, NULL, unmap, NULL),
	STEP("mmap, shared", map_shared, NULL, unmap, NULL),
	STEP("mmap, a file", map_file, NULL, unmap, NULL),
	STEP("mprotect", protect, map, unmap, filled),
	STEP("munmap", unmap_middle, map, unmap, filled),
	STEP("mremap", remap, map, unmap_large, filled),
	STEP("page faults", touch, map_untouched, unmap, NULL, .survives = true),
	STEP("fork", fork_it, map, reap_and_unmap, no_child_and_unmap),
	STEP("vfork", vfork_it, NULL, reap_it, no_child),
	STEP("fork with a pidfd", pidfd_fork, NULL, reap_pidfd, no_child),
	STEP("fork with shared files", clone_files, NULL, reap_it, no_child),
	STEP("sched_setaffinity", affinity, NULL, NULL, NULL),
	STEP("sched_setscheduler", policy_it, NULL, policy_back, policy_same),
	STEP("a thread", thread_it, NULL, thread_ends, no_child),
	STEP("execve", exec_it, NULL, NULL, no_child, .a = "/bin/faultcalls"),
	STEP("execve, a script", exec_it, NULL, NULL, no_child, .a = "script"),
	STEP("ptrace", seize, start_child, end_child, end_child),
	STEP("process_vm_readv", peek, start_child, end_child, end_child),
	STEP("setpgid", setsid_child, start_child, end_child, end_child),
	STEP("rt_sigqueueinfo", queue_signal, NULL, take_signal, no_signal, .also = EAGAIN),
	STEP("kill", kill_it, NULL, take_signal, NULL, .survives = true),
	STEP("futex", futex_it, NULL, NULL, NULL),
	STEP("timer_create", timer_it, NULL, delete_timer, NULL, .also = EAGAIN),
	STEP("setgroups", groups_it, NULL, groups_none, groups_same),
	STEP("setresuid", setuid_it, NULL, setuid_back, NULL, .also = EAGAIN),
#define READ(path)                                   \
	{                                            \
		"reading " path, read_a, .a = (path) \
	}
	READ("/proc/self/status"),
	READ("/proc/self/maps"),
	READ("/proc/self/smaps"),
	READ("/proc/self/mountinfo"),
	READ("/proc/self/stat"),
	READ("/proc/self/auxv"),
	READ("/proc/self/environ"),
	READ("/proc/self/fdinfo/0"),
	READ("/proc/meminfo"),
	READ("/proc/slabinfo"),
	READ("/proc/interrupts"),
	READ("/proc/timer_list"),
	READ("/proc/config.gz"),
	READ("/proc/net/unix"),
	READ("/proc/modules"),
	READ("/proc/sys/kernel/hostname"),
	READ("/sys/devices/system/cpu/online"),
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "after-exec"))
		return after_exec();
	mkdir("/tmp/faults", 0755);
	CHECK_CALL(CALL(chdir, "/tmp/faults"));
	mkdir("mnt", 0755);
	mkdir("dir", 0755);
	CALL(mknodat, HERE, "fifo", 0010644, 0);
	CALL(symlinkat, "old", HERE, "link");
	check_put("old", content);
	check_put("script", "#!/bin/faultcalls after-exec\n");
	CALL(fchmodat, HERE, "script", 0755);
	old_fd = open("old", O_RDWR | O_CLOEXEC);
	CHECK_CALL(pipe(pipe_fds));
	BLOCK(SIGUSR1);
	memset(room, 'r', sizeof(room)); /* so that its pages are there */
	return faults_main(argc, argv, steps, sizeof(steps) / sizeof(*steps));
}

/* Every pointer of every system call: a row each, with the call's other arguments good. */
#include <rows/userptr.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define HERE  (-100) /* AT_FDCWD */
#define SET   8	     /* bytes of the kernel's sigset_t */
#define BYTES 64

/* nr, name and the pointer's name; then the arguments. MORE has what else a row says, in parentheses. */
#define ROW(call_, what_, ...)                                                         \
	{                                                                              \
		.call = #call_, .nr = SYS_##call_, .what = what_, .a = { __VA_ARGS__ } \
	}
#define MORE(call_, what_, more, ...)                                                             \
	{                                                                                         \
		.call = #call_, .nr = SYS_##call_, .what = what_, .a = {__VA_ARGS__}, UNPACK more \
	}
#define UNPACK(...) __VA_ARGS__
/* A good pointer, as an argument. */
#define P(p) ((long)(p))

static char room[8192], path[] = "userptr-file", link_path[] = "userptr-link", new_path[] = "userptr-new";
static char *vector[] = {"/bin/true", NULL};
static void *hole_vector[] = {room, NULL, NULL}; /* its second is the bad one */
static long pair[4];				 /* a time, or two, that are good */
static long soon[] = {0, 1000000}, nap[] = {10, 0}, stopped[4];

/* --- structures with pointers in them, and the same as they are to be read at the bad address --- */

struct vec {
	void *base;
	unsigned long size;
};
static struct vec vec[2], good_vec[2] = {{room, BYTES}, {room, BYTES}};
static struct {
	void *set;
	unsigned long size;
} sigset_arg = {NULL, SET}, good_sigset_arg;
static unsigned long all_zero[16];
#define SETS_PARENT (0x00100000 | SIGCHLD)
#define SETS_CHILD  (0x01000000 | SIGCHLD)
static struct clone_args {
	unsigned long flags, pidfd, child_tid, parent_tid, exit_signal, rest[6];
} words_args = {.flags = 0x01100000, .exit_signal = SIGCHLD}, good_clone_args = {.exit_signal = 1000}; /* EINVAL */

static unsigned cap_header[2] = {0x20080522};
static long open_how[3];
static pid_t debugged; /* stands still for us */
static int file, pipe_in, pipe_out, tty, zero, directory, null, full, trace_marker, stat_file, pagemap, kmsg, comm,
	tracer, inotify, epoll, event_fd, timer_fd, self_fd, timer_id, sock[2], dgram, listener;

/* --- what goes before and behind a call --- */

static void make_zombie(void)
{
	int ends[2];
	char c;
	pid_t pid;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	if (pipe(ends))
		vt_die_errno(2, "pipe");
	pid = check_fork();
	if (pid == 0)
		_exit(0);
	close(ends[1]);
	while (read(ends[0], &c, 1) > 0) /* its end is the child's end */
		;
	close(ends[0]);
}

static long usr2_info[16] = {SIGURG}; /* a siginfo with this number */

static void make_event_files(void)
{
	struct {
		unsigned events;
		unsigned long data;
	} event = {1, 0};

	epoll = (int)CALL(epoll_create1, 0);
	event_fd = (int)CALL(eventfd2, 1, 04000);
	timer_fd = (int)CALL(timerfd_create, 1, 04000);
	inotify = (int)CALL(inotify_init1, 04000);
	CHECK_CALL(CALL(inotify_add_watch, inotify, ".", 0x100));
	self_fd = (int)CALL(pidfd_open, getpid(), 0);
	CHECK_CALL(CALL(timer_create, 1, 0, &timer_id));
	CHECK_CALL(CALL(epoll_ctl, epoll, 1, event_fd, &event));
}

/* For a read of inotify's events. */
static void happen(void)
{
	unlink(new_path);
	close(open(new_path, O_RDWR | O_CREAT, 0600));
}

/* Connected streams that have names, a datagram socket, and a listener. */
static const struct {
	unsigned short family;
	char name[10];
} unix_name = {1, "\0userptr"}, unix_unnamed = {1, ""};
static long unix_length;
static struct {
	void *name;
	int name_length;
	void *vec;
	unsigned long n;
	void *control;
	unsigned long control_length;
	unsigned flags;
} message, good_message;

static int udp;
static char lo_request[40] = "lo";

static void make_sockets(void)
{
	udp = (int)CHECK_CALL(CALL(socket, 2, 2, 0));
	CHECK_CALL(CALL(socketpair, 1, 1, 0, sock));
	CHECK_CALL(CALL(bind, sock[0], &unix_unnamed, 2));
	CHECK_CALL(CALL(bind, sock[1], &unix_unnamed, 2));
	dgram = (int)CALL(socket, 1, 2, 0);
	listener = (int)CALL(socket, 1, 1, 0);
	CHECK_CALL(CALL(bind, listener, &unix_name, 10));
	CHECK_CALL(CALL(listen, listener, 100));
}

/* Something to be received, a connection to be accepted. */
static void send_some(void)
{
	unix_length = BYTES;
	message.name = room, message.name_length = BYTES, message.vec = good_vec, message.n = 1;
	message.control = NULL, message.control_length = 0;
	while (CALL(recvfrom, sock[0], room, sizeof(room), 0x40) > 0)
		;
	CHECK_EQ(write(sock[1], "abcdefgh", 8), 8);
}

static void send_to_none(void)
{
	send_some();
	message.name = NULL, message.name_length = 0;
}

static void send_control(void)
{
	send_to_none();
	message.control_length = 32;
}

static void knock(void)
{
	int fd = (int)CALL(socket, 1, 1, 0);

	unix_length = BYTES;
	CHECK_CALL(CALL(connect, fd, &unix_name, 10));
	close(fd);
}

/* The timer has fired, the counter counts. */
static void fire(void)
{
	struct pollfd p = {.fd = timer_fd, .events = POLLIN};
	long soon_once[] = {0, 0, 0, 1}, one = 1;

	CHECK_CALL(CALL(timerfd_settime, timer_fd, 0, soon_once, 0));
	CHECK_EQ(poll(&p, 1, 1000), 1);
	CHECK_EQ(write(event_fd, &one, 8), 8);
}

/* A task for ptrace(2), which ends when we do. */
static void make_tracee(void)
{
	debugged = check_fork();
	if (debugged == 0) {
		CALL(ptrace, 0, 0, 0, 0);
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	CHECK_EQ(waitpid(debugged, NULL, 0), debugged);
}

static void collect(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* A timer that ends a sleep, so that the rest of it is to be told. */
static void on_alarm(int sig)
{
}

static void disturb(void)
{
	struct sigaction act = {.sa_handler = on_alarm};
	long timer[] = {0, 3000, 0, 3000}; /* again and again: the first may come before the call */

	sigaction(SIGALRM, &act, NULL);
	CHECK_CALL(CALL(setitimer, 0, timer, 0));
}

/* The timer goes first: a signal that came by the default action would end the process. */
static void quiet(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};

	CHECK_CALL(CALL(setitimer, 0, stopped, 0));
	sigaction(SIGALRM, &act, NULL);
}

static void pend(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR2);
}

/* A record that could not be told is gone, as on Linux. */
static void rewind_log(void)
{
	CHECK_EQ(lseek(kmsg, 0, SEEK_SET), 0);
}

/* The pipe holds as much as before, though a reader was to get it; the file is as long and as far. */
static void pipe_is_whole(void)
{
	int n = -1;

	CHECK_CALL(CALL(ioctl, pipe_in, 0x541b, &n));
	CHECK_EQ(n, BYTES);
}

static void file_is_whole(void)
{
	struct stat st = {0};

	CHECK_EQ(lseek(file, 0, SEEK_CUR), 0);
	CHECK_CALL(fstat(file, &st));
	CHECK_EQ(st.st_size, sizeof(room));
}

/* The child of a clone() whose pointers do not stop it. */
static void end_child(void)
{
	pid_t pid = waitpid(-1, NULL, 0);

	CHECK(pid > 0);
}

/* --- what the calls work on --- */

static int opened(const char *name, int flags)
{
	int fd = open(name, flags, 0600);

	if (fd < 0)
		vt_die_errno(2, name);
	return fd;
}

static void open_all(void)
{
	static const unsigned groups[] = {1, 2};
	int ends[2];

	memset(room, 'r', sizeof(room));
	room[sizeof(room) - 1] = '\0';
	file = opened(path, O_RDWR | O_CREAT | O_TRUNC);
	CHECK_EQ(write(file, room, sizeof(room)), sizeof(room));
	CHECK_EQ(lseek(file, 0, SEEK_SET), 0);
	CHECK_CALL(symlink("/some/where", link_path));
	CHECK_CALL(pipe(ends));
	pipe_in = ends[0];
	pipe_out = ends[1];
	CHECK_EQ(write(pipe_out, room, BYTES), BYTES);
	tty = opened("/dev/console", O_RDWR | O_NOCTTY | O_NONBLOCK);
	zero = opened("/dev/zero", O_RDWR);
	null = opened("/dev/null", O_RDWR);
	full = opened("/dev/urandom", O_RDONLY);
	directory = opened("/", O_RDONLY | O_DIRECTORY);
	stat_file = opened("/proc/self/stat", O_RDONLY);
	pagemap = opened("/proc/self/pagemap", O_RDONLY);
	comm = opened("/proc/self/comm", O_RDWR);
	kmsg = opened("/dev/kmsg", O_RDWR | O_NONBLOCK);
	trace_marker = opened("/sys/kernel/tracing/trace_marker", O_WRONLY);
	tracer = opened("/sys/kernel/tracing/current_tracer", O_RDWR);
	CHECK_CALL(CALL(setgroups, 2, groups));
	pair[1] = 1000;
	pair[3] = 1000;
	good_sigset_arg = (__typeof__(good_sigset_arg)){room, SET};
}

/* A path of a call: the file's name, wherever it stands. */
#define PATHS                                                                                                          \
	ROW(openat2, "path", HERE, X, P(open_how), 24), ROW(openat2, "how", HERE, P(path), X, 24),                     \
		ROW(pivot_root, "new", X, P("/")), ROW(pivot_root, "old", P("/"), X), ROW(chdir, "path", X),           \
		ROW(chroot, "path", X), ROW(truncate, "path", X, 0), ROW(openat, "path", HERE, X, 0, 0),               \
		ROW(mkdirat, "path", HERE, X, 0700), ROW(mknodat, "path", HERE, X, 0100600, 0),                        \
		ROW(fchmodat, "path", HERE, X, 0600), ROW(fchownat, "path", HERE, X, 0, 0, 0),                         \
		ROW(fchmodat2, "path", HERE, X, 0600, 0), ROW(faccessat, "path", HERE, X, 0),                          \
		ROW(faccessat2, "path", HERE, X, 0, 0), ROW(unlinkat, "path", HERE, X, 0),                             \
		ROW(symlinkat, "target", X, HERE, P(new_path)), ROW(symlinkat, "path", P(path), HERE, X),              \
		ROW(linkat, "old path", HERE, X, HERE, P(new_path), 0),                                                \
		ROW(linkat, "new path", HERE, P(path), HERE, X, 0),                                                    \
		ROW(renameat2, "old path", HERE, X, HERE, P(new_path), 0),                                             \
		ROW(renameat2, "new path", HERE, P(path), HERE, X, 0),                                                 \
		ROW(readlinkat, "path", HERE, X, P(room), BYTES),                                                      \
		ROW(readlinkat, "buffer", HERE, P(link_path), X, BYTES), ROW(newfstatat, "path", HERE, X, P(room), 0), \
		ROW(newfstatat, "stat", HERE, P(path), X, 0), ROW(newfstat, "stat", file, X),                          \
		ROW(statx, "path", HERE, X, 0, 0x7ff, P(room)), ROW(statx, "statx", HERE, P(path), 0, 0x7ff, X),       \
		ROW(statfs, "path", X, P(room)), ROW(statfs, "statfs", P(path), X), ROW(fstatfs, "statfs", file, X),   \
		ROW(utimensat, "path", HERE, X, P(pair), 0), ROW(utimensat, "times", HERE, P(path), X, 0),             \
		ROW(utimensat, "times of a descriptor", file, 0, X, 0), ROW(umount, "path", X, 0),                     \
		ROW(mount, "target", P(path), X, P("tmpfs"), 0, 0), ROW(mount, "source", X, P("/"), P("tmpfs"), 0, 0), \
		ROW(mount, "type", P(path), P("/"), X, 0, 0), ROW(init_module, "file", X, 4096, P("")),                \
		ROW(init_module, "parameters", P(room), BYTES, X), ROW(finit_module, "parameters", file, X, 0),        \
		ROW(delete_module, "name", X, 0)

#define XATTRS                                                                                                       \
	ROW(setxattr, "path", X, P("user.a"), P(room), 8, 0), ROW(setxattr, "name", P(path), X, P(room), 8, 0),      \
		ROW(setxattr, "value", P(path), P("user.a"), X, 8, 0),                                               \
		ROW(lsetxattr, "path", X, P("user.a"), P(room), 8, 0),                                               \
		ROW(lsetxattr, "name", P(path), X, P(room), 8, 0),                                                   \
		ROW(lsetxattr, "value", P(path), P("user.a"), X, 8, 0),                                              \
		ROW(fsetxattr, "name", file, X, P(room), 8, 0), ROW(fsetxattr, "value", file, P("user.a"), X, 8, 0), \
		ROW(getxattr, "path", X, P("user.a"), P(room), 8), ROW(getxattr, "name", P(path), X, P(room), 8),    \
		ROW(lgetxattr, "path", X, P("user.a"), P(room), 8), ROW(lgetxattr, "name", P(path), X, P(room), 8),  \
		ROW(fgetxattr, "name", file, X, P(room), 8), ROW(listxattr, "path", X, P(room), 8),                  \
		ROW(llistxattr, "path", X, P(room), 8),                                                              \
		MORE(flistxattr, "list, of which there is nothing", (.succeeds = true), file, X, BYTES),             \
		ROW(removexattr, "path", X, P("user.a")), ROW(removexattr, "name", P(path), X),                      \
		ROW(lremovexattr, "path", X, P("user.a")), ROW(lremovexattr, "name", P(path), X),                    \
		ROW(fremovexattr, "name", file, X)

#define READS                                                                                                        \
	MORE(read, "buffer (file)", (.after = file_is_whole), file, X, BYTES),                                       \
		MORE(read, "buffer (pipe)", (.after = pipe_is_whole), pipe_in, X, BYTES),                            \
		ROW(read, "buffer (/dev/zero)", zero, X, BYTES), ROW(read, "buffer (/dev/urandom)", full, X, BYTES), \
		ROW(read, "buffer (/proc)", stat_file, X, BYTES), ROW(read, "buffer (pagemap)", pagemap, X, BYTES),  \
		MORE(read, "buffer (tracefs)", (.few = true), tracer, X, BYTES),                                     \
		MORE(read, "buffer (kmsg)", (.before = rewind_log), kmsg, X, 4096),                                  \
		ROW(pread64, "buffer", file, X, BYTES, 0),                                                           \
		MORE(readv, "iovec", (.good = good_vec, .good_size = sizeof(good_vec)), zero, X, 2),                 \
		MORE(readv, "iov_base", (.slot = &vec[0].base, .after = file_is_whole), file, P(vec), 1),            \
		MORE(readv, "iov_base (pipe)", (.slot = &vec[0].base, .after = pipe_is_whole), pipe_in, P(vec), 1),  \
		MORE(preadv, "iovec", (.good = good_vec, .good_size = sizeof(good_vec)), zero, X, 2, 0),             \
		MORE(preadv, "iov_base", (.slot = &vec[0].base), file, P(vec), 1, 0),                                \
		MORE(write, "buffer (file)", (.after = file_is_whole), file, X, BYTES),                              \
		MORE(write, "buffer (pipe)", (.after = pipe_is_whole), pipe_out, X, BYTES),                          \
		ROW(write, "buffer (tty)", tty, X, BYTES),                                                           \
		ROW(write, "buffer (trace_marker)", trace_marker, X, BYTES),                                         \
		ROW(write, "buffer (tracefs)", tracer, X, 4), ROW(write, "buffer (kmsg)", kmsg, X, BYTES),           \
		ROW(write, "buffer (/proc)", comm, X, BYTES),                                                        \
		MORE(pwrite64, "buffer", (.after = file_is_whole), file, X, BYTES, 0),                               \
		MORE(writev, "iovec", (.good = good_vec, .good_size = sizeof(good_vec)), null, X, 2),                \
		MORE(writev, "iov_base", (.slot = &vec[0].base, .after = file_is_whole), file, P(vec), 1),           \
		MORE(pwritev, "iovec", (.good = good_vec, .good_size = sizeof(good_vec)), null, X, 2, 0),            \
		MORE(pwritev, "iov_base", (.slot = &vec[0].base, .after = file_is_whole), file, P(vec), 1, 0),       \
		ROW(getdents64, "buffer", directory, X, 4096), ROW(getcwd, "buffer", X, BYTES),                      \
		ROW(pipe2, "descriptors", X, 0), ROW(sendfile64, "offset", null, file, X, BYTES),                    \
		MORE(splice, "offset in", (.after = pipe_is_whole), file, X, pipe_out, 0, BYTES, 0),                 \
		MORE(splice, "offset out", (.after = pipe_is_whole), pipe_in, 0, file, X, BYTES, 0),                 \
		ROW(copy_file_range, "offset in", file, X, file, 0, 0, 0),                                           \
		ROW(copy_file_range, "offset out", file, 0, file, X, 0, 0), ROW(getrandom, "buffer", X, BYTES, 0),   \
		ROW(syslog, "buffer", 3, X, BYTES)

#define TERMINAL                                                                                            \
	ROW(ioctl, "TCGETS", tty, 0x5401, X), ROW(ioctl, "TCSETS", tty, 0x5402, X),                         \
		ROW(ioctl, "TCGETA", tty, 0x5405, X), ROW(ioctl, "TCSETA", tty, 0x5406, X),                 \
		ROW(ioctl, "TCSETAW", tty, 0x5407, X), ROW(ioctl, "TCSETAF", tty, 0x5408, X),               \
		ROW(ioctl, "TIOCGLCKTRMIOS", tty, 0x5456, X), ROW(ioctl, "TIOCSLCKTRMIOS", tty, 0x5457, X), \
		ROW(ioctl, "TCSETSW", tty, 0x5403, X), ROW(ioctl, "TCSETSF", tty, 0x5404, X),               \
		ROW(ioctl, "TIOCGWINSZ", tty, 0x5413, X), ROW(ioctl, "TIOCSWINSZ", tty, 0x5414, X),         \
		ROW(ioctl, "FIONREAD", tty, 0x541b, X), ROW(ioctl, "FIONREAD (pipe)", pipe_in, 0x541b, X),  \
		ROW(ioctl, "TIOCOUTQ", tty, 0x5411, X), MORE(ioctl, "TIOCSTI", (.one_byte = true), tty, 0x5412, X)

#define WAITS                                                                                                          \
	ROW(ppoll, "descriptors", X, 2, P(soon), 0, SET), ROW(ppoll, "time", 0, 0, X, 0, SET),                         \
		ROW(ppoll, "mask", 0, 0, P(soon), X, SET), ROW(pselect6, "readable", 8, X, 0, 0, P(soon), 0),          \
		ROW(pselect6, "writable", 8, 0, X, 0, P(soon), 0),                                                     \
		ROW(pselect6, "exceptions", 8, 0, 0, X, P(soon), 0), ROW(pselect6, "time", 0, 0, 0, 0, X, 0),          \
		MORE(pselect6, "mask and size", (.good = &good_sigset_arg, .good_size = sizeof(good_sigset_arg)), 0,   \
		     0, 0, 0, P(soon), X),                                                                             \
		MORE(pselect6, "mask", (.slot = &sigset_arg.set), 0, 0, 0, 0, P(soon), P(&sigset_arg)),                \
		ROW(nanosleep, "time", X, 0), MORE(nanosleep, "rest", (.before = disturb, .after = quiet), P(nap), X), \
		ROW(clock_nanosleep, "time", 1, 0, X, 0),                                                              \
		MORE(clock_nanosleep, "rest", (.before = disturb, .after = quiet), 1, 0, P(nap), X),                   \
		MORE(wait4, "status", (.before = make_zombie, .after = collect), -1, X, 0, 0),                         \
		MORE(wait4, "usage", (.before = make_zombie, .after = collect), -1, 0, 0, X),                          \
		MORE(waitid, "info", (.before = make_zombie, .after = collect), 0, 0, X, 4, 0),                        \
		MORE(waitid, "usage", (.before = make_zombie, .after = collect), 0, 0, 0, 4, X),                       \
		MORE(futex, "word of a wait", (.align = 4), X, 0, 0, P(soon), 0, 0),                                   \
		MORE(futex, "word of a private wait", (.align = 4), X, 128, 0, P(soon), 0, 0),                         \
		MORE(futex, "word of a wake", (.align = 4), X, 1, 1, 0, 0, 0),                                         \
		MORE(futex, "word of a private wake", (.align = 4, .kernel_only = true), X, 129, 1, 0, 0, 0),          \
		ROW(futex, "time", P(room), 0, 0x72727272, X, 0, 0),                                                   \
		ROW(futex, "time of a bitset wait", P(room), 9, 0x72727272, X, 0, 1),                                  \
		MORE(futex, "first of a requeue", (.align = 4), X, 4, 1, 1, P(room), 0x72727272),                      \
		MORE(futex, "second of a requeue", (.align = 4), P(room), 3, 1, 1, X, 0)

#define SIGNALS                                                                                                     \
	ROW(rt_sigaction, "new", SIGUSR2, X, 0, SET), ROW(rt_sigaction, "old", SIGUSR2, 0, X, SET),                 \
		ROW(rt_sigprocmask, "new", SIG_BLOCK, X, 0, SET), ROW(rt_sigprocmask, "old", SIG_BLOCK, 0, X, SET), \
		ROW(rt_sigpending, "set", X, SET), ROW(rt_sigsuspend, "mask", X, SET),                              \
		ROW(rt_sigtimedwait, "set", X, 0, P(soon), SET),                                                    \
		MORE(rt_sigtimedwait, "info", (.before = pend), P(&usr2), X, P(soon), SET),                         \
		ROW(rt_sigtimedwait, "time", P(all_zero), 0, X, SET), ROW(rt_sigqueueinfo, "info", me, SIGURG, X),  \
		ROW(rt_tgsigqueueinfo, "info", me, me, SIGURG, X), ROW(sigaltstack, "new", X, 0),                   \
		ROW(sigaltstack, "old", 0, X)

#define TASKS                                                                                                          \
	ROW(execve, "path", X, P(vector), P(vector)),                                                                  \
		MORE(execve, "argv", (.good = vector, .good_size = sizeof(vector)), P("/bin/true"), X, 0),             \
		MORE(execve, "envp", (.good = vector, .good_size = sizeof(vector)), P("/bin/true"), P(vector), X),     \
		MORE(execve, "argv[1]", (.slot = &hole_vector[1]), P("/bin/true"), P(hole_vector), 0),                 \
		MORE(execve, "envp[1]", (.slot = &hole_vector[1]), P("/bin/true"), P(vector), P(hole_vector)),         \
		ROW(execveat, "path", HERE, X, P(vector), P(vector), 0),                                               \
		MORE(execveat, "argv", (.good = vector, .good_size = sizeof(vector)), HERE, P("/bin/true"), X, 0, 0),  \
		MORE(execveat, "argv[1]", (.slot = &hole_vector[1]), HERE, P("/bin/true"), P(hole_vector), 0, 0),      \
		MORE(execveat, "envp", (.good = vector, .good_size = sizeof(vector)), HERE, P("/bin/true"), P(vector), \
		     X, 0),                                                                                            \
		MORE(clone3, "arguments", (.good = &good_clone_args, .good_size = sizeof(good_clone_args)), X, 88),    \
		MORE(clone, "parent's word", (.succeeds = true, .after = end_child), SETS_PARENT, 0, X, 0, 0),         \
		MORE(clone, "child's word", (.succeeds = true, .after = end_child), SETS_CHILD, 0, 0, X, X),           \
		MORE(clone3, "parent's word",                                                                          \
		     (.succeeds = true, .after = end_child, .slot = (void **)&words_args.parent_tid), P(&words_args),  \
		     88),                                                                                              \
		MORE(clone3, "child's word",                                                                           \
		     (.succeeds = true, .after = end_child, .slot = (void **)&words_args.child_tid), P(&words_args),   \
		     88),                                                                                              \
		ROW(sched_setaffinity, "mask", 0, 8, X), ROW(sched_getaffinity, "mask", 0, 128, X),                    \
		ROW(sched_setscheduler, "parameter", 0, 1, X), ROW(sched_setparam, "parameter", 0, X),                 \
		ROW(sched_getparam, "parameter", 0, X), ROW(sched_setattr, "attributes", 0, X, 0),                     \
		ROW(sched_getattr, "attributes", 0, X, 48, 0), ROW(sched_rr_get_interval, "time", 0, X),               \
		ROW(prctl, "PR_GET_PDEATHSIG", 2, X), ROW(prctl, "PR_SET_NAME", 15, X),                                \
		ROW(prctl, "PR_GET_NAME", 16, X)

#define VM(call)                                                                                                       \
	MORE(call, "local iovec", (.good = good_vec, .good_size = sizeof(good_vec)), me, X, 2, P(good_vec), 2, 0),     \
		MORE(call, "remote iovec", (.good = good_vec, .good_size = sizeof(good_vec)), me, P(good_vec), 2, X,   \
		     2, 0),                                                                                            \
		MORE(call, "local iov_base", (.slot = &vec[0].base), me, P(vec), 1, P(good_vec), 1, 0),                \
		MORE(call, "remote iov_base", (.slot = &vec[0].base, .one_byte = true), me, P(good_vec), 1, P(vec), 1, \
		     0)

#define DEBUGGERS                                                                                                      \
	ROW(ptrace, "PTRACE_PEEKDATA", 2, debugged, P(room), X), ROW(ptrace, "GETEVENTMSG", 0x4201, debugged, 0, X),   \
		ROW(ptrace, "GETSIGINFO", 0x4202, debugged, 0, X), ROW(ptrace, "SETSIGINFO", 0x4203, debugged, 0, X),  \
		MORE(ptrace, "GETREGSET", (.good = good_vec, .good_size = sizeof(*good_vec)), 0x4204, debugged, 1, X), \
		MORE(ptrace, "GETREGSET's base", (.slot = &vec[0].base), 0x4204, debugged, 1, P(vec)),                 \
		MORE(ptrace, "SETREGSET", (.good = good_vec, .good_size = sizeof(*good_vec)), 0x4205, debugged, 1, X), \
		MORE(ptrace, "SETREGSET's base", (.slot = &vec[0].base), 0x4205, debugged, 1, P(vec)),                 \
		ROW(ptrace, "GETSIGMASK", 0x420a, debugged, SET, X),                                                   \
		ROW(ptrace, "SETSIGMASK", 0x420b, debugged, SET, X),                                                   \
		ROW(ptrace, "GET_SYSCALL_INFO", 0x420e, debugged, 24, X), VM(process_vm_readv), VM(process_vm_writev)

#define EVENT_FILES                                                                                                   \
	ROW(epoll_ctl, "event", epoll, 3, event_fd, X), ROW(fcntl, "SETOWN_EX", event_fd, 15, X),                     \
		ROW(fcntl, "GETOWN_EX", event_fd, 16, X), ROW(ioctl, "FIOASYNC", event_fd, 0x5452, X),                \
		ROW(get_robust_list, "head", 0, X, P(room)), ROW(get_robust_list, "length", 0, P(room), X),           \
		MORE(epoll_pwait, "events", (.before = fire), epoll, X, 1, 0, 0, SET),                                \
		ROW(epoll_pwait, "mask", epoll, P(room), 1, 0, X, SET),                                               \
		MORE(epoll_pwait2, "events", (.before = fire), epoll, X, 1, P(all_zero), 0, SET),                     \
		ROW(epoll_pwait2, "time", epoll, P(room), 1, X, 0, SET),                                              \
		ROW(epoll_pwait2, "mask", epoll, P(room), 1, P(all_zero), X, SET),                                    \
		ROW(timerfd_settime, "new", timer_fd, 0, X, 0),                                                       \
		ROW(timerfd_settime, "old", timer_fd, 0, P(all_zero), X), ROW(timerfd_gettime, "time", timer_fd, X),  \
		MORE(read, "buffer (timerfd)", (.before = fire), timer_fd, X, 8),                                     \
		MORE(read, "buffer (eventfd)", (.before = fire), event_fd, X, 8),                                     \
		ROW(write, "buffer (eventfd)", event_fd, X, 8), ROW(signalfd4, "mask", -1, X, SET, 0),                \
		ROW(memfd_create, "name", X, 0),                                                                      \
		MORE(pidfd_send_signal, "info", (.good = usr2_info, .good_size = sizeof(usr2_info)), self_fd, SIGURG, \
		     X, 0),                                                                                           \
		ROW(clone, "pidfd", 0x1000 | SIGCHLD, 0, X, 0, 0), ROW(timer_create, "event", 1, X, P(room)),         \
		ROW(timer_create, "number", 1, 0, X), ROW(timer_settime, "new", timer_id, 0, X, 0),                   \
		ROW(timer_settime, "old", timer_id, 0, P(all_zero), X), ROW(timer_gettime, "time", timer_id, X),      \
		ROW(capget, "header", X, P(room)), ROW(capget, "data", P(cap_header), X),                             \
		ROW(capset, "header", X, P(room)), ROW(capset, "data", P(cap_header), X),                             \
		ROW(inotify_add_watch, "path", inotify, X, 1),                                                        \
		MORE(read, "buffer (inotify)", (.before = happen), inotify, X, 32), ROW(adjtimex, "time", X),         \
		ROW(clock_adjtime, "time", 0, X)

#define SOCKETS                                                                                                        \
	ROW(socketpair, "pair", 1, 1, 0, X), ROW(bind, "address", dgram, X, 20),                                       \
		ROW(connect, "address", dgram, X, 20),                                                                 \
		MORE(accept, "address", (.before = knock), listener, X, P(&unix_length)),                              \
		MORE(accept, "length", (.before = knock), listener, P(room), X),                                       \
		MORE(accept4, "address", (.before = knock), listener, X, P(&unix_length), 0),                          \
		MORE(accept4, "length", (.before = knock), listener, P(room), X, 0),                                   \
		MORE(getsockname, "address", (.before = send_some), sock[0], X, P(&unix_length)),                      \
		ROW(getsockname, "length", sock[0], P(room), X),                                                       \
		MORE(getpeername, "address", (.before = send_some), sock[0], X, P(&unix_length)),                      \
		ROW(getpeername, "length", sock[0], P(room), X), ROW(sendto, "buffer", sock[0], X, 8, 0, 0, 0),        \
		ROW(sendto, "address", dgram, P(room), 8, 0, X, 20),                                                   \
		MORE(recvfrom, "buffer", (.before = send_some), sock[0], X, 8, 0, 0, 0),                               \
		MORE(recvfrom, "address", (.before = send_some), sock[0], P(room), 8, 0, X, P(&unix_length)),          \
		MORE(recvfrom, "length", (.before = send_some), sock[0], P(room), 8, 0, P(room), X),                   \
		MORE(read, "buffer (socket)", (.before = send_some), sock[0], X, 8),                                   \
		ROW(write, "buffer (socket)", sock[0], X, 8), ROW(setsockopt, "value", dgram, 1, 16, X, 4),            \
		MORE(getsockopt, "value", (.before = send_some), dgram, 1, 16, X, P(&unix_length)),                    \
		ROW(setsockopt, "value (IP)", udp, 0, 8, X, 4),                                                        \
		MORE(getsockopt, "value (IP)", (.before = send_some), udp, 0, 2, X, P(&unix_length)),                  \
		ROW(getsockopt, "length (IP)", udp, 0, 2, P(room), X),                                                 \
		MORE(ioctl, "device", (.good = lo_request, .good_size = sizeof(lo_request)), udp, 0x8913, X),          \
		ROW(getsockopt, "length", dgram, 1, 16, P(room), X), ROW(sendmsg, "message", sock[0], X, 0),           \
		MORE(sendmsg, "buffers", (.before = send_to_none, .slot = &message.vec), sock[0], P(&message), 0),     \
		MORE(sendmsg, "address", (.before = send_some, .slot = &message.name), dgram, P(&message), 0),         \
		MORE(sendmsg, "control", (.before = send_control, .slot = &message.control), sock[0], P(&message), 0), \
		MORE(recvmsg, "message",                                                                               \
		     (.before = send_some, .good = &good_message, .good_size = sizeof(good_message)), sock[0], X, 0),  \
		MORE(recvmsg, "buffers", (.before = send_some, .slot = &message.vec), sock[0], P(&message), 0),        \
		MORE(recvmsg, "address", (.before = send_some, .slot = &message.name), sock[0], P(&message), 0)

#define KNOWLEDGE                                                                                                    \
	ROW(newuname, "names", X), ROW(sethostname, "name", X, 8), ROW(setdomainname, "name", X, 8),                 \
		ROW(sysinfo, "info", X), ROW(getcpu, "cpu", X, 0, 0), ROW(getcpu, "node", 0, X, 0),                  \
		ROW(getgroups, "list", 2, X), ROW(setgroups, "list", 4, X),                                          \
		ROW(getresuid, "real", X, P(room), P(room)), ROW(getresuid, "effective", P(room), X, P(room)),       \
		ROW(getresuid, "saved", P(room), P(room), X), ROW(getresgid, "real", X, P(room), P(room)),           \
		ROW(getresgid, "effective", P(room), X, P(room)), ROW(getresgid, "saved", P(room), P(room), X),      \
		ROW(getrusage, "usage", 0, X), ROW(getrlimit, "limit", 7, X), ROW(setrlimit, "limit", 7, X),         \
		ROW(prlimit64, "new", 0, 7, X, 0), ROW(prlimit64, "old", 0, 7, 0, X), ROW(times, "times", X),        \
		ROW(clock_gettime, "time", 1, X), ROW(clock_getres, "time", 1, X), ROW(clock_settime, "time", 0, X), \
		ROW(gettimeofday, "time", X, 0), ROW(gettimeofday, "zone", 0, X), ROW(settimeofday, "time", X, 0),   \
		ROW(settimeofday, "zone", 0, X), ROW(getitimer, "value", 0, X), ROW(setitimer, "new", 0, X, 0),      \
		ROW(setitimer, "old", 0, P(stopped), X)

/* Ranges of memory. Nothing is read there, but they must not be taken for the caller's. */
#define RANGE(call, errno_, ...) \
	MORE(call, "address", (.wanted = errno_, .align = 4096, .kernel_only = true), __VA_ARGS__)
#define RANGES                                                                                   \
	ROW(mincore, "vector", P(room_page), 8192, X), RANGE(mincore, ENOMEM, X, 4096, P(room)), \
		RANGE(mmap, ENOMEM, X, 4096, 3, 0x32, -1, 0), RANGE(munmap, EINVAL, X, 4096),    \
		RANGE(mprotect, ENOMEM, X, 4096, 3), RANGE(mremap, EFAULT, X, 4096, 8192, 1, 0), \
		RANGE(msync, ENOMEM, X, 4096, 4), RANGE(madvise, ENOMEM, X, 4096, 4)

#ifdef __aarch64__
#define OLD_CALLS \
	ROW(renameat, "old path", HERE, X, HERE, P(new_path)), ROW(renameat, "new path", HERE, P(path), HERE, X)
#else
#define OLD_CALLS                                                                                                  \
	ROW(renameat, "old path", HERE, X, HERE, P(new_path)), ROW(renameat, "new path", HERE, P(path), HERE, X),  \
		MORE(epoll_wait, "events", (.before = fire), epoll, X, 1, 0), ROW(signalfd, "mask", -1, X, SET),   \
		ROW(open, "path", X, 0, 0), ROW(creat, "path", X, 0600), ROW(newstat, "path", X, P(room)),         \
		ROW(newstat, "stat", P(path), X), ROW(newlstat, "path", X, P(room)),                               \
		ROW(newlstat, "stat", P(path), X), ROW(access, "path", X, 0), ROW(pipe, "descriptors", X),         \
		ROW(poll, "descriptors", X, 2, 1), ROW(select, "readable", 8, X, 0, 0, P(pair)),                   \
		ROW(select, "writable", 8, 0, X, 0, P(pair)), ROW(select, "exceptions", 8, 0, 0, X, P(pair)),      \
		ROW(select, "time", 0, 0, 0, 0, X), ROW(getdents, "buffer", directory, X, 4096),                   \
		ROW(rename, "old path", X, P(new_path)), ROW(rename, "new path", P(path), X),                      \
		ROW(mkdir, "path", X, 0700), ROW(rmdir, "path", X), ROW(link, "old path", X, P(new_path)),         \
		ROW(link, "new path", P(path), X), ROW(unlink, "path", X), ROW(symlink, "target", X, P(new_path)), \
		ROW(symlink, "path", P(path), X), ROW(readlink, "path", X, P(room), BYTES),                        \
		ROW(readlink, "buffer", P(link_path), X, BYTES), ROW(chmod, "path", X, 0600),                      \
		ROW(chown, "path", X, 0, 0), ROW(lchown, "path", X, 0, 0), ROW(mknod, "path", X, 0100600, 0),      \
		ROW(utime, "path", X, P(pair)), ROW(utime, "times", P(path), X), ROW(utimes, "path", X, P(pair)),  \
		ROW(utimes, "times", P(path), X), ROW(time, "time", X), ROW(futimesat, "path", HERE, X, P(pair)),  \
		ROW(futimesat, "times", HERE, P(path), X), ROW(arch_prctl, "ARCH_GET_FS", 0x1003, X),              \
		ROW(arch_prctl, "ARCH_GET_GS", 0x1004, X), ROW(ptrace, "PEEKUSR", 3, debugged, 0, X),              \
		ROW(ptrace, "GETREGS", 12, debugged, 0, X), ROW(ptrace, "SETREGS", 13, debugged, 0, X),            \
		ROW(ptrace, "GETFPREGS", 14, debugged, 0, X), ROW(ptrace, "SETFPREGS", 15, debugged, 0, X),        \
		ROW(ptrace, "ARCH_PRCTL", 30, debugged, X, 0x1003),                                                \
		MORE(arch_prctl, "ARCH_SET_FS", (.wanted = EPERM, .kernel_only = true), 0x1002, X),                \
		MORE(arch_prctl, "ARCH_SET_GS", (.wanted = EPERM, .kernel_only = true), 0x1001, X)
#endif

struct row *userptr_rows(size_t *n)
{
	static struct row rows[ROWS];
	static unsigned long usr2 = 1UL << (SIGUSR2 - 1);
	void *room_page = (void *)((unsigned long)room & -4096UL);
	long me = getpid();

	open_all();
	make_tracee();
	make_event_files();
	make_sockets();
	vec[0].size = BYTES;
	{
		const struct row all[] = {PATHS,     XATTRS,	  READS,   TERMINAL,  WAITS,  SIGNALS,	TASKS,
					  DEBUGGERS, EVENT_FILES, SOCKETS, KNOWLEDGE, RANGES, OLD_CALLS};

		_Static_assert(sizeof(all) <= sizeof(rows), "more rows than room");
		memcpy(rows, all, sizeof(all));
		*n = ARRAY_SIZE(all);
	}
	return rows;
}

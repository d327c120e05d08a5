/* filelocks: record locks of fcntl(2), of processes and of open files, and what /proc/locks tells of locks. */
/* also on Linux */
#include <thread.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { RD, WR, UN };
enum { GETLK = 5, SETLK, SETLKW, OFD_GETLK = 36, OFD_SETLK, OFD_SETLKW };
#define NAME "filelocks-file"

struct range {
	short type, whence;
	int pad;
	long start, len;
	int pid, pad2;
};

static bool same_text(const char *got, const char *want, int line)
{
	if (strcmp(got, want))
		printf("got \"%s\"\n", got);
	return check_true(!strcmp(got, want), want, __FILE__, line);
}

#define CHECK_STR(got, want) same_text(got, want, __LINE__)

static long lock_of(int fd, int cmd, int type, long start, long len)
{
	struct range r = {.type = (short)type, .start = start, .len = len};

	return check_syscall(SYS_fcntl, fd, cmd, (long)&r, 0, 0, 0);
}

/* What a lock that `fd` asks for would wait for: "1 100+10 by 7", or "2" for nothing. */
static const char *found(int fd, int cmd, int type, long start, long len)
{
	static char text[80];
	struct range r = {.type = (short)type, .start = start, .len = len, .whence = 0};

	CHECK_EQ(check_syscall(SYS_fcntl, fd, cmd, (long)&r, 0, 0, 0), 0);
	if (r.type == UN)
		snprintf(text, sizeof(text), "%s", r.start == start && r.len == len && !r.pid ? "2" : "2, changed");
	else
		snprintf(text, sizeof(text), "%d %ld+%ld by %d", r.type, r.start, r.len, r.pid);
	return text;
}

#define CHECK_FOUND(fd, cmd, type, start, len, ...)                 \
	do {                                                        \
		char _want[80];                                     \
		snprintf(_want, sizeof(_want), __VA_ARGS__);        \
		CHECK_STR(found(fd, cmd, type, start, len), _want); \
	} while (0)

static int open_it(int flags)
{
	return (int)CHECK_CALL(open(NAME, flags | O_CREAT, 0600));
}

/* A child that does as it is told: the function in another process, which then waits until it is ended. */
static pid_t child(void (*function)(int), int out)
{
	pid_t pid = check_fork();

	if (pid == 0) {
		function(out);
		check_give(out, 7);
		sleep_on();
	}
	return pid;
}

static int ends[2];

static void asks_for_other_locks(int out)
{
	int fd = open_it(O_RDWR), parent = getppid();

	CHECK_FOUND(fd, GETLK, RD, 0, 0, "1 100+10 by %d", parent);
	CHECK_FOUND(fd, GETLK, RD, 0, 100, "2");
	CHECK_FOUND(fd, GETLK, WR, 200, 50, "0 200+0 by %d", parent);
	CHECK_FOUND(fd, GETLK, RD, 200, 50, "2");
	CHECK_ERRNO(lock_of(fd, SETLK, WR, 109, 1), EAGAIN);
	CHECK_ERRNO(lock_of(fd, SETLK, WR, 0, 0), EAGAIN);
	CHECK_EQ(lock_of(fd, SETLK, WR, 110, 90), 0);
	CHECK_ERRNO(lock_of(fd, SETLK, WR, 110, 91), EAGAIN);
	CHECK_EQ(lock_of(fd, SETLK, RD, 250, 1), 0);
}

/* A process has locks on bytes; one that it has forked has not, and finds them. */
static void two_processes(void)
{
	int fd = open_it(O_RDWR);
	pid_t pid;

	CHECK_CALL(pipe(ends));
	CHECK_EQ(lock_of(fd, SETLK, WR, 100, 10), 0);
	CHECK_EQ(lock_of(fd, SETLK, RD, 200, 0), 0);
	CHECK_FOUND(fd, GETLK, WR, 0, 0, "2"); /* its own do not count */
	pid = child(asks_for_other_locks, ends[1]);
	CHECK_EQ(check_take(ends[0]), 7);
	CHECK_FOUND(fd, GETLK, RD, 0, 0, "1 110+90 by %d", pid);
	CHECK_FOUND(fd, GETLK, WR, 200, 0, "0 250+1 by %d", pid);
	finish(pid);
	CHECK_FOUND(fd, GETLK, WR, 0, 0, "2");
	CHECK_CALL(unlink(NAME));
}

/* The locks of this process on the bytes from 0 to 19, as another open file finds them that wants to write each. */
static const char *bytes(int other)
{
	static char text[21];

	for (int i = 0; i < 20; i++)
		text[i] = "rw."[found(other, OFD_GETLK, WR, i, 1)[0] - '0'];
	return text;
}

/* Locks of one owner are cut, joined and replaced. */
static void pieces(void)
{
	int fd = open_it(O_RDWR), other = open_it(O_RDWR);
	pid_t me = getpid();

	CHECK_EQ(lock_of(fd, SETLK, WR, 2, 10), 0);
	CHECK_EQ(lock_of(fd, SETLK, UN, 5, 2), 0);
	CHECK_STR(bytes(other), "..www..wwwww........");
	CHECK_EQ(lock_of(fd, SETLK, RD, 8, 2), 0);
	CHECK_STR(bytes(other), "..www..wrrww........");
	CHECK_EQ(lock_of(fd, SETLK, RD, 1, 2), 0);
	CHECK_STR(bytes(other), ".rrww..wrrww........");
	CHECK_EQ(lock_of(fd, SETLK, WR, 3, 5), 0);
	CHECK_STR(bytes(other), ".rrwwwwwrrww........");
	CHECK_FOUND(other, OFD_GETLK, WR, 4, 1, "1 3+5 by %d", me);
	CHECK_EQ(lock_of(fd, SETLK, RD, 0, 9), 0); /* joins 8 and 9 */
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "0 0+10 by %d", me);
	CHECK_EQ(lock_of(fd, SETLK, RD, 10, 2), 0); /* and touches them from behind */
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "0 0+12 by %d", me);
	CHECK_EQ(lock_of(fd, SETLK, UN, 4, 0), 0);
	CHECK_STR(bytes(other), "rrrr................");
	CHECK_EQ(lock_of(fd, SETLK, WR, 10, -3), 0); /* the bytes before it */
	CHECK_STR(bytes(other), "rrrr...www..........");
	CHECK_EQ(lock_of(fd, SETLK, UN, 0, 0), 0);
	CHECK_STR(bytes(other), "....................");
	CHECK_CALL(unlink(NAME));
}

static void ranges(void)
{
	int fd = open_it(O_RDWR), reads = open_it(O_RDONLY), writes = open_it(O_WRONLY), other = open_it(O_RDWR);
	long most = 0x7fffffffffffffff;
	struct range r = {.type = WR, .whence = 2, .start = -5, .len = 2};

	CHECK_EQ(write(fd, "0123456789", 10), 10);
	CHECK_EQ(check_syscall(SYS_fcntl, fd, SETLK, (long)&r, 0, 0, 0), 0);
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "1 5+2 by %d", getpid());
	CHECK_EQ(lseek(fd, 3, SEEK_SET), 3);
	r = (struct range){.type = RD, .whence = 1, .start = -1, .len = 1};
	CHECK_EQ(check_syscall(SYS_fcntl, fd, SETLK, (long)&r, 0, 0, 0), 0);
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "0 2+1 by %d", getpid());
	r = (struct range){.type = RD, .whence = 3};
	CHECK_ERRNO(check_syscall(SYS_fcntl, fd, SETLK, (long)&r, 0, 0, 0), EINVAL);
	r = (struct range){.type = RD, .whence = 2, .start = most - 9};
	CHECK_ERRNO(check_syscall(SYS_fcntl, fd, SETLK, (long)&r, 0, 0, 0), EOVERFLOW);
	CHECK_ERRNO(lock_of(fd, SETLK, 3, 0, 0), EINVAL);
	CHECK_ERRNO(lock_of(fd, SETLK, WR, -1, 0), EINVAL);
	CHECK_ERRNO(lock_of(fd, SETLK, WR, 3, -4), EINVAL);
	CHECK_EQ(lock_of(fd, SETLK, WR, 3, -3), 0);
	CHECK_EQ(lock_of(fd, SETLK, WR, most, 1), 0);
	CHECK_ERRNO(lock_of(fd, SETLK, WR, most, 2), EOVERFLOW);
	CHECK_ERRNO(lock_of(fd, SETLK, 9, most, 2), EOVERFLOW); /* the bytes before the type */
	CHECK_ERRNO(lock_of(fd, GETLK, UN, 0, 0), EINVAL);
	CHECK_ERRNO(lock_of(reads, SETLK, WR, 0, 0), EBADF);
	CHECK_ERRNO(lock_of(writes, SETLK, RD, 0, 0), EBADF);
	CHECK_EQ(lock_of(reads, SETLK, RD, 0, 0), 0);
	CHECK_EQ(lock_of(reads, SETLK, UN, 0, 0), 0);
	CHECK_FOUND(writes, GETLK, RD, 0, 0, "2"); /* to ask needs no right */
	CHECK_ERRNO(lock_of(999, SETLK, RD, 0, 0), EBADF);
	CHECK_ERRNO(lock_of((int)CHECK_CALL(open(NAME, O_PATH)), GETLK, RD, 0, 0), EBADF);
	CHECK_ERRNO(check_syscall(SYS_fcntl, fd, SETLK, 8, 0, 0, 0), EFAULT);
	CHECK_ERRNO(check_syscall(SYS_fcntl, fd, GETLK, 8, 0, 0, 0), EFAULT);
	CHECK_CALL(unlink(NAME));
}

/* A request of type F_UNLCK asks what the open file itself has. */
static void what_it_has(void)
{
	int fd = open_it(O_RDWR), other = open_it(O_RDWR);

	CHECK_EQ(lock_of(fd, OFD_SETLK, RD, 5, 3), 0);
	CHECK_EQ(lock_of(fd, OFD_SETLK, WR, 10, 2), 0);
	CHECK_FOUND(other, OFD_GETLK, RD, 5, 1, "2");
	CHECK_FOUND(other, OFD_GETLK, WR, 5, 1, "0 5+3 by -1");
	CHECK_FOUND(fd, OFD_GETLK, UN, 5, 1, "0 5+3 by -1");
	CHECK_FOUND(fd, OFD_GETLK, UN, 0, 0, "0 5+3 by -1"); /* the first of them */
	CHECK_FOUND(fd, OFD_GETLK, UN, 8, 0, "1 10+2 by -1");
	CHECK_FOUND(fd, OFD_GETLK, UN, 8, 2, "2");
	CHECK_FOUND(other, OFD_GETLK, UN, 0, 0, "2");
	CHECK_EQ(lock_of(other, SETLK, RD, 20, 5), 0); /* the process's is none of its own */
	CHECK_FOUND(fd, OFD_GETLK, UN, 20, 1, "2");
	CHECK_FOUND(other, OFD_GETLK, UN, 20, 1, "2");
	CHECK_CALL(unlink(NAME));
}

/* Any descriptor of the file that a process closes takes the process's locks, those of open files stay. */
static void closing(void)
{
	int fd = open_it(O_RDWR), again = open_it(O_RDONLY), other = open_it(O_RDWR), copy, path;

	CHECK_EQ(lock_of(fd, SETLK, WR, 0, 10), 0);
	path = (int)CHECK_CALL(open(NAME, O_PATH));
	CHECK_CALL(close(path)); /* which is none */
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "1 0+10 by %d", getpid());
	CHECK_CALL(close(again));
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "2");
	CHECK_EQ(lock_of(fd, SETLK, WR, 0, 10), 0);
	CHECK_CALL(close(dup(fd)));
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "2");
	CHECK_EQ(lock_of(fd, SETLK, WR, 0, 10), 0);
	CHECK_EQ(dup2(other, fd), fd);
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "2");
	CHECK_CALL(close(fd));
	fd = open_it(O_RDWR);
	CHECK_EQ(lock_of(fd, OFD_SETLK, WR, 0, 10), 0);
	copy = dup(fd);
	CHECK_CALL(close(fd));
	CHECK_CALL(close(open_it(O_RDWR)));
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "1 0+10 by -1");
	CHECK_CALL(close(copy));
	CHECK_FOUND(other, OFD_GETLK, WR, 0, 0, "2");
	CHECK_CALL(unlink(NAME));
}

static void open_files(void)
{
	int a = open_it(O_RDWR), b = open_it(O_RDWR);
	struct range r = {.type = WR, .pid = 1};

	CHECK_EQ(lock_of(a, OFD_SETLK, RD, 0, 10), 0);
	CHECK_EQ(lock_of(b, OFD_SETLK, RD, 5, 10), 0);
	CHECK_ERRNO(lock_of(b, OFD_SETLK, WR, 0, 5), EAGAIN);
	CHECK_EQ(lock_of(dup(a), OFD_SETLK, WR, 0, 5), 0);
	CHECK_FOUND(b, OFD_GETLK, RD, 0, 0, "1 0+5 by -1");
	CHECK_FOUND(b, OFD_GETLK, UN, 0, 0, "0 5+10 by -1"); /* its own */
	CHECK_FOUND(a, GETLK, WR, 10, 0, "0 5+10 by -1");    /* a process is another owner */
	CHECK_ERRNO(lock_of(a, SETLK, WR, 0, 0), EAGAIN);
	CHECK_ERRNO(check_syscall(SYS_fcntl, a, OFD_SETLK, (long)&r, 0, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_fcntl, a, OFD_GETLK, (long)&r, 0, 0, 0), EINVAL);
	CHECK_EQ(check_syscall(SYS_flock, a, 2 | 4, 0, 0, 0, 0), 0); /* flock(2) knows nothing of them */
	CHECK_CALL(unlink(NAME));
}

static void gets_all(int out)
{
	int fd = open_it(O_RDWR);

	check_give(out, 1);
	CHECK_EQ(lock_of(fd, SETLKW, WR, 0, 0), 0);
}

static void on_signal(int sig)
{
}

static void waits(void)
{
	int fd = open_it(O_RDWR);
	struct sigaction act = {.sa_handler = on_signal};
	pid_t pid, holder;

	CHECK_CALL(pipe(ends));
	CHECK_EQ(lock_of(fd, SETLK, RD, 0, 10), 0);
	CHECK_EQ(lock_of(fd, SETLK, WR, 20, 10), 0);
	pid = child(gets_all, ends[1]);
	CHECK_EQ(check_take(ends[0]), 1);
	process_gets(pid, 'S');
	CHECK_EQ(lock_of(fd, SETLK, UN, 0, 10), 0); /* not all that it waits for */
	process_gets(pid, 'S');
	CHECK_EQ(lock_of(fd, SETLK, RD, 20, 10), 0);
	process_gets(pid, 'S');
	CHECK_EQ(lock_of(fd, SETLK, UN, 25, 1), 0);
	CHECK_EQ(lock_of(fd, SETLK, UN, 20, 10), 0);
	CHECK_EQ(check_take(ends[0]), 7);
	CHECK_FOUND(fd, GETLK, RD, 0, 0, "1 0+0 by %d", pid);
	holder = pid;
	/* A signal ends a wait, and the one behind it gets what it wants all the same. */
	CHECK_CALL(sigaction(SIGALRM, &act, NULL));
	alarm(1);
	CHECK_ERRNO(lock_of(fd, SETLKW, WR, 0, 0), EINTR);
	pid = child(gets_all, ends[1]);
	CHECK_EQ(check_take(ends[0]), 1);
	process_gets(pid, 'S');
	finish(holder);
	CHECK_EQ(check_take(ends[0]), 7);
	finish(pid);
	CHECK_CALL(unlink(NAME));
}

static void takes_1_waits_for_0(int out)
{
	int fd = open_it(O_RDWR);

	CHECK_EQ(lock_of(fd, SETLK, WR, 1, 1), 0);
	check_give(out, 1);
	CHECK_EQ(lock_of(fd, SETLKW, WR, 0, 1), 0);
}

static void takes_2_waits_for_1(int out)
{
	int fd = open_it(O_RDWR);

	CHECK_EQ(lock_of(fd, SETLK, WR, 2, 1), 0);
	check_give(out, 1);
	CHECK_EQ(lock_of(fd, SETLKW, WR, 1, 1), 0);
}

/* Two and three processes that would wait for each other; the last one is told. */
static void deadlocks(void)
{
	int fd = open_it(O_RDWR);
	pid_t first, second;

	CHECK_CALL(pipe(ends));
	CHECK_EQ(lock_of(fd, SETLK, WR, 0, 1), 0);
	first = child(takes_1_waits_for_0, ends[1]);
	CHECK_EQ(check_take(ends[0]), 1);
	process_gets(first, 'S');
	CHECK_ERRNO(lock_of(fd, SETLKW, RD, 1, 1), EDEADLK);
	CHECK_ERRNO(lock_of(fd, SETLK, RD, 1, 1), EAGAIN);
	second = child(takes_2_waits_for_1, ends[1]);
	CHECK_EQ(check_take(ends[0]), 1);
	process_gets(second, 'S');
	CHECK_ERRNO(lock_of(fd, SETLKW, WR, 2, 1), EDEADLK);
	CHECK_EQ(lock_of(fd, SETLKW, WR, 3, 1), 0);
	CHECK_EQ(lock_of(fd, SETLK, UN, 0, 1), 0);
	CHECK_EQ(check_take(ends[0]), 7);
	finish(first);
	CHECK_EQ(check_take(ends[0]), 7);
	finish(second);
	CHECK_CALL(unlink(NAME));
}

/* The lines of /proc/locks about this inode, without their numbers. */
static const char *lines_of(unsigned long ino)
{
	static char text[4096], out[1024];
	char inode[32], *line, *rest = text;
	int fd = (int)CHECK_CALL(open("/proc/locks", O_RDONLY));
	long n = CHECK_CALL(read(fd, text, sizeof(text) - 1));

	text[n] = 0;
	CHECK(!n || !strncmp(text, "1: ", 3));
	out[0] = 0;
	CHECK_CALL(close(fd));
	snprintf(inode, sizeof(inode), ":%lu ", ino);
	while ((line = strsep(&rest, "\n")) && *line)
		if (strstr(line, inode))
			snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s\n", strchr(line, ':') + 2);
	return out;
}

static void waits_for_5(int out)
{
	check_give(out, 1);
	lock_of(open_it(O_RDWR), SETLKW, WR, 5, 1);
}

/* Newest first; what waits stands below what it waits for. */
static void proc_locks(void)
{
	int fd = open_it(O_RDWR), ofd = open_it(O_RDWR);
	char want[512], place[64];
	struct stat st;
	pid_t one, two, me = getpid();

	CHECK_CALL(pipe(ends));
	CHECK_CALL(fstat(fd, &st));
	snprintf(place, sizeof(place), "%02x:%02x:%lu", (unsigned)(st.st_dev >> 8 & 0xfff),
		 (unsigned)(st.st_dev & 0xff), (unsigned long)st.st_ino);
	CHECK_EQ(lock_of(fd, SETLK, WR, 5, 15), 0);
	CHECK_EQ(lock_of(ofd, OFD_SETLK, RD, 100, 0), 0);
	CHECK_EQ(check_syscall(SYS_flock, fd, 1, 0, 0, 0, 0), 0);
	one = child(waits_for_5, ends[1]);
	CHECK_EQ(check_take(ends[0]), 1);
	process_gets(one, 'S');
	two = child(waits_for_5, ends[1]);
	CHECK_EQ(check_take(ends[0]), 1);
	process_gets(two, 'S');
	snprintf(want, sizeof(want),
		 "FLOCK  ADVISORY  READ %d %s 0 EOF\n"
		 "OFDLCK ADVISORY  READ -1 %s 100 EOF\n"
		 "POSIX  ADVISORY  WRITE %d %s 5 19\n"
		 "-> POSIX  ADVISORY  WRITE %d %s 5 5\n"
		 " -> POSIX  ADVISORY  WRITE %d %s 5 5\n",
		 me, place, place, me, place, one, place, two, place);
	CHECK_STR(lines_of(st.st_ino), want);
	finish(one);
	process_gets(two, 'S');
	CHECK(strstr(lines_of(st.st_ino), "\n-> POSIX"));
	finish(two);
	CHECK_CALL(close(ofd)); /* and with it the locks of the process */
	snprintf(want, sizeof(want), "FLOCK  ADVISORY  READ %d %s 0 EOF\n", me, place);
	CHECK_STR(lines_of(st.st_ino), want);
	CHECK_CALL(unlink(NAME));
}

static int to_lock;

static void locks_and_leaves(void *arg)
{
	struct range r = {.type = WR, .len = 1};

	if (vt_syscall(SYS_fcntl, to_lock, SETLK, (long)&r, 0, 0, 0))
		vt_syscall(SYS_exit, 1, 0, 0, 0, 0, 0);
}

/* Tasks with one table of files are one owner, and each may release what another one has locked. */
static void threads(void)
{
	int other = open_it(O_RDWR);
	pid_t thread;

	to_lock = open_it(O_RDWR);
	thread = thread_start(-1, locks_and_leaves, NULL);
	CHECK(thread_join(&thread, 1));
	CHECK_EQ(found(other, OFD_GETLK, RD, 0, 0)[0], '0' + WR);
	CHECK_FOUND(to_lock, GETLK, RD, 0, 0, "2");
	CHECK_EQ(lock_of(to_lock, SETLK, UN, 0, 1), 0);
	CHECK_FOUND(other, OFD_GETLK, RD, 0, 0, "2");
	CHECK_CALL(unlink(NAME));
}

#ifndef __linux__
/* A user may have so many, and no more memory of the kernel. */
static void many(void)
{
	int fd = open_it(O_RDWR), n = 0;

	while (n < 10000 && vt_syscall(SYS_fcntl, fd, SETLK,
				       (long)&(struct range){.type = WR, .start = 2L * n, .len = 1}, 0, 0, 0) == 0)
		n++;
	CHECK_RANGE(n, 8180, 8191); /* a request takes room for two */
	CHECK_ERRNO(lock_of(fd, SETLK, WR, 1000001, 1), ENOLCK);
	CHECK_EQ(lock_of(fd, SETLK, UN, 0, 0), 0);
	CHECK_EQ(lock_of(fd, SETLK, WR, 1000001, 1), 0);
	CHECK_CALL(unlink(NAME));
}
#endif

static const struct check_case cases[] = {
	{"two_processes", two_processes},
	{"pieces", pieces},
	{"ranges", ranges},
	{"what_it_has", what_it_has},
	{"closing", closing},
	{"open_files", open_files},
	{"waits", waits},
	{"deadlocks", deadlocks},
	{"proc_locks", proc_locks},
	{"threads", threads},
#ifndef __linux__
	{"many", many},
#endif
};

int main(int argc, char **argv)
{
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

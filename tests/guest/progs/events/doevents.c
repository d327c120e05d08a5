/*
 * doevents: what a shell cannot do, for the events of it. It prints what the records must have.
 *
 *     doevents locks FILE    locks of flock(2) and fcntl(2): granted, refused, changed, closed
 *     doevents inherit       a lock with priority inheritance, which a task of SCHED_FIFO waits for
 *     doevents rseq          a restartable sequence that a signal interrupts
 */
#include <thread.h>
#include <posix.h>
#include <fcntl.h>
#include <string.h>

enum { LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4, OFD_SETLK = 37, FUTEX_LOCK_PI = 6, FUTEX_UNLOCK_PI = 7, PRIVATE = 128 };

static int flock_of(int fd, int what)
{
	return vt_syscall(SYS_flock, fd, what, 0, 0, 0, 0);
}

static long record_lock(int fd, int cmd, short type, long start, long len)
{
	struct flock fl = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};

	return vt_syscall(SYS_fcntl, fd, cmd, (long)&fl, 0, 0, 0);
}

static void locks(const char *path)
{
	int one = CHECK_CALL(open(path, O_RDWR | O_CREAT, 0600)), two = CHECK_CALL(open(path, O_RDWR));

	CHECK_EQ(flock_of(one, LOCK_EX), 0);
	CHECK_EQ(flock_of(one, LOCK_EX | LOCK_NB), 0);
	CHECK_EQ(flock_of(two, LOCK_SH | LOCK_NB), -EAGAIN);
	CHECK_EQ(flock_of(one, LOCK_SH), 0);
	close(one);
	CHECK_EQ(record_lock(two, F_SETLK, F_WRLCK, 10, 10), 0);
	CHECK_EQ(record_lock(two, OFD_SETLK, F_RDLCK, 15, 1), -EAGAIN);
	close(two);
}

static volatile unsigned futex;

static void waits_for_lock(void *unused)
{
	int prio = 10;

	vt_syscall(SYS_sched_setscheduler, 0, 1, (long)&prio, 0, 0, 0);
	vt_syscall(SYS_futex, (long)&futex, FUTEX_LOCK_PI | PRIVATE, 0, 0, 0, 0);
	vt_syscall(SYS_futex, (long)&futex, FUTEX_UNLOCK_PI | PRIVATE, 0, 0, 0, 0);
}

static void inherit(void)
{
	pid_t pid;

	vt_syscall(SYS_futex, (long)&futex, FUTEX_LOCK_PI | PRIVATE, 0, 0, 0, 0);
	pid = thread_start(-1, waits_for_lock, NULL);
	CHECK(process_gets(pid, 'S'));
	vt_syscall(SYS_futex, (long)&futex, FUTEX_UNLOCK_PI | PRIVATE, 0, 0, 0, 0);
	CHECK(thread_join(&pid, 1));
	printf("comm=doevents pid=%d\n", (int)getpid());
}

/* Linux's uapi linux/rseq.h. */
static volatile struct {
	unsigned cpu_id_start, cpu_id;
	unsigned long rseq_cs;
	unsigned flags, node_id, mm_cid, pad;
} __attribute__((aligned(32))) area;

static struct {
	unsigned version, flags;
	unsigned long start_ip, post_commit_offset, abort_ip;
} __attribute__((aligned(32))) sequence;

#define SEQUENCE_BYTES 32 /* the loop of spin() */

/* The abort handler. It is jumped to, so it has no caller to return to. */
static __attribute__((noinline)) void aborted(void)
{
	_exit(0);
}

static volatile sig_atomic_t never;

static __attribute__((noinline)) void spin(void)
{
	while (!never)
		;
	__asm__ volatile(".skip 64"); /* never run: the next function must not lie within the sequence */
}

static void on_alarm(int sig)
{
}

/* The signature is the word that happens to stand before the abort handler. */
static void rseq(void)
{
	void (*volatile handler)(void) = aborted; /* volatile: the compiler need not know what lies there */
	struct itimerval soon = {.it_value = {0, 5000}};

	sequence.start_ip = (unsigned long)spin;
	sequence.post_commit_offset = SEQUENCE_BYTES;
	sequence.abort_ip = (unsigned long)handler;
	CHECK(sequence.abort_ip - sequence.start_ip >= SEQUENCE_BYTES);
	CHECK_EQ(vt_syscall(SYS_rseq, (long)&area, sizeof(area), 0, *(unsigned *)(sequence.abort_ip - 4), 0, 0), 0);
	printf("start_ip=0x%lx post_commit_offset=%d abort_ip=0x%lx\n", sequence.start_ip, SEQUENCE_BYTES,
	       sequence.abort_ip);
	fflush(stdout);
	signal(SIGALRM, on_alarm);
	CHECK_CALL(setitimer(ITIMER_REAL, &soon, NULL));
	area.rseq_cs = (unsigned long)&sequence;
	spin();
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "locks"))
		locks(argv[2]);
	else if (argc == 2 && !strcmp(argv[1], "inherit"))
		inherit();
	else if (argc == 2 && !strcmp(argv[1], "rseq"))
		rseq();
	else
		return 2;
	return check_failures != 0;
}

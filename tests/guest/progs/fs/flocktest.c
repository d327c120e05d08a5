/* flocktest: locks of flock(2), and files of memfd_create(2). */
/* also on Linux */
#include <thread.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { SH = 1, EX = 2, NB = 4, UN = 8 };

static long flock_of(int fd, int op)
{
	return check_syscall(SYS_flock, fd, op, 0, 0, 0, 0);
}

static int open_it(void)
{
	return (int)CHECK_CALL(open("flocktest-file", O_RDWR | O_CREAT, 0600));
}

static void kinds(void)
{
	int a = open_it(), b = open_it(), c = dup(a);

	CHECK_EQ(flock_of(a, SH), 0);
	CHECK_EQ(flock_of(b, SH), 0);
	CHECK_ERRNO(flock_of(b, EX | NB), EAGAIN); /* which has cost it its own lock */
	CHECK_EQ(flock_of(a, EX | NB), 0);
	CHECK_EQ(flock_of(c, EX | NB), 0); /* the same open file */
	CHECK_ERRNO(flock_of(b, SH | NB), EAGAIN);
	CHECK_EQ(flock_of(c, UN), 0);
	CHECK_EQ(flock_of(b, EX | NB), 0);
	CHECK_ERRNO(flock_of(a, SH | NB), EAGAIN);
	CHECK_CALL(close(b)); /* it goes with its file */
	CHECK_EQ(flock_of(a, EX | NB), 0);
	CHECK_CALL(close(a));
	b = open_it();
	CHECK_ERRNO(flock_of(b, SH | NB), EAGAIN); /* c is open still */
	CHECK_CALL(close(c));
	CHECK_EQ(flock_of(b, SH | NB), 0);
	CHECK_EQ(flock_of(b, UN), 0);
	CHECK_EQ(flock_of(b, UN), 0);
	CHECK_ERRNO(flock_of(b, 0), EINVAL);
	CHECK_ERRNO(flock_of(b, SH | EX), EINVAL);
	CHECK_ERRNO(flock_of(999, SH), EBADF);
	CHECK_CALL(unlink("flocktest-file"));
}

static void waits(void)
{
	int fd = open_it(), ends[2];
	pid_t pid;

	CHECK_CALL(pipe(ends));
	CHECK_EQ(flock_of(fd, EX), 0);
	pid = check_fork();
	if (pid == 0) {
		int own = open_it();

		check_give(ends[1], 1);
		CHECK_EQ(flock_of(own, EX), 0);
		check_give(ends[1], 2);
		sleep_on();
	}
	check_take(ends[0]);
	process_gets(pid, 'S');
	CHECK_EQ(flock_of(fd, UN), 0);
	CHECK_EQ(check_take(ends[0]), 2);
	CHECK_ERRNO(flock_of(fd, SH | NB), EAGAIN);
	finish(pid); /* a lock goes with its process's files */
	CHECK_EQ(flock_of(fd, SH | NB), 0);
	CHECK_CALL(unlink("flocktest-file"));
}

static int shared_fd;

static void locks_shared_fd(void *arg)
{
	if (vt_syscall(SYS_flock, shared_fd, *(int *)arg, 0, 0, 0, 0))
		vt_syscall(SYS_exit, 1, 0, 0, 0, 0, 0);
}

/* Two threads wait with one open file: it gets one lock for both, which goes with the file. */
static void one_lock_for_a_file(void)
{
	int kind[] = {EX, SH}, other = open_it();
	pid_t threads[2];

	for (int i = 0; i < 2; i++) {
		shared_fd = open_it();
		CHECK_EQ(flock_of(other, EX | NB), 0);
		for (int t = 0; t < 2; t++) {
			threads[t] = thread_start(-1, locks_shared_fd, &kind[i]);
			process_gets(threads[t], 'S');
		}
		CHECK_EQ(flock_of(other, UN), 0);
		CHECK(thread_join(threads, 2));
		CHECK_ERRNO(flock_of(other, EX | NB), EAGAIN);
		CHECK_CALL(close(shared_fd));
	}
	CHECK_EQ(flock_of(other, EX | NB), 0);
	CHECK_CALL(unlink("flocktest-file"));
}

/* --- memfd --- */

static void memory_files(void)
{
	char text[64] = "", link[64] = "", long_name[260];
	int fd = (int)CHECK_CALL(check_syscall(SYS_memfd_create, (long)"a name", 1, 0, 0, 0, 0)), other;
	struct stat st;

	CHECK_EQ(fcntl(fd, F_GETFD), 1);
	CHECK_EQ(write(fd, "contents", 8), 8);
	CHECK_CALL(fstat(fd, &st));
	CHECK_EQ(st.st_size, 8);
	CHECK_EQ(st.st_nlink, 0);
	CHECK(S_ISREG(st.st_mode));
	CHECK_EQ(lseek(fd, 3, SEEK_SET), 3);
	CHECK_EQ(read(fd, text, 64), 5);
	CHECK(!strcmp(text, "tents"));
	CHECK_CALL(ftruncate(fd, 4));
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	CHECK(readlink(text, link, sizeof(link)) > 0);
	CHECK(!strcmp(link, "/memfd:a name (deleted)"));
	other = open(text, O_RDONLY);
	CHECK_EQ(read(other, text, 64), 4);
	CHECK(!memcmp(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0), "cont", 5));
	memset(long_name, 'n', sizeof(long_name));
	long_name[249] = 0;
	CHECK_CALL(check_syscall(SYS_memfd_create, (long)long_name, 0, 0, 0, 0, 0));
	long_name[249] = 'n';
	long_name[250] = 0;
	CHECK_ERRNO(check_syscall(SYS_memfd_create, (long)long_name, 0, 0, 0, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_memfd_create, (long)"", 0x100, 0, 0, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_memfd_create, 8, 0, 0, 0, 0, 0), EFAULT);
	CHECK_CALL(check_syscall(SYS_memfd_create, (long)"", 0, 0, 0, 0, 0));
}

static const struct check_case cases[] = {
	{"kinds", kinds},
	{"waits", waits},
	{"one_lock_for_a_file", one_lock_for_a_file},
	{"memory_files", memory_files},
};

int main(int argc, char **argv)
{
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

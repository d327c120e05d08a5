/* splicetest: splice between pipes and files: nothing lost, nothing doubled, whatever the sizes and alignments. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <watch.h>

#define BYTES 300000

static unsigned char sent[BYTES], got[BYTES];

static void fill_with_numbers(void)
{
	unsigned long state = 1;

	for (size_t i = 0; i < BYTES; i++)
		sent[i] = (unsigned char)watch_random(&state);
}

static int make_file(const char *name, bool full)
{
	int fd = (int)CHECK_CALL(open(name, O_RDWR | O_CREAT | O_TRUNC, 0600));

	if (full)
		CHECK_EQ(write(fd, sent, BYTES), BYTES);
	CHECK_CALL(lseek(fd, 0, SEEK_SET));
	return fd;
}

static void refused(void)
{
	int a[2], b[2], file = make_file("/tmp/splice.a", true), append, text;
	off_t off = 0;

	CHECK_CALL(pipe(a));
	CHECK_CALL(pipe(b));
	CHECK_EQ(splice(99, NULL, 98, NULL, 0, 0), 0);
	CHECK_ERRNO(splice(99, NULL, a[1], NULL, 1, 0), EBADF);
	CHECK_ERRNO(splice(file, NULL, 99, NULL, 1, 0), EBADF);
	CHECK_ERRNO(splice(file, NULL, a[1], NULL, 1, 16), EINVAL);
	CHECK_ERRNO(splice(file, NULL, file, NULL, 1, 0), EINVAL);
	CHECK_ERRNO(splice(a[0], NULL, a[1], NULL, 1, 0), EINVAL);
	CHECK_ERRNO(splice(a[1], NULL, file, NULL, 1, 0), EBADF);
	CHECK_ERRNO(splice(file, NULL, a[0], NULL, 1, 0), EBADF);
	CHECK_ERRNO(splice(file, NULL, a[1], &off, 1, 0), ESPIPE);
	CHECK_ERRNO(splice(a[0], &off, file, NULL, 1, 0), ESPIPE);
	CHECK_ERRNO(splice(a[0], &off, b[1], NULL, 1, 0), ESPIPE);
	CHECK_ERRNO(splice(file, (off_t *)8, a[1], NULL, 1, 0), EFAULT);
	off = -1;
	CHECK_ERRNO(splice(file, &off, a[1], NULL, 1, 0), EINVAL);
	text = (int)CHECK_CALL(open("/proc/uptime", O_RDONLY));
	CHECK_ERRNO(splice(text, NULL, a[1], NULL, 1, 0), EINVAL);
	append = (int)CHECK_CALL(open("/tmp/splice.a", O_WRONLY | O_APPEND));
	CHECK_EQ(write(a[1], "x", 1), 1);
	CHECK_ERRNO(splice(a[0], NULL, append, NULL, 1, 0), EINVAL);
	CHECK_EQ(splice(a[0], NULL, b[1], NULL, 10, 0), 1);
	CHECK_ERRNO(splice(a[0], NULL, b[1], NULL, 1, SPLICE_F_NONBLOCK), EAGAIN);
	close(a[1]);
	CHECK_EQ(splice(a[0], NULL, b[1], NULL, 1, 0), 0);
	close(b[0]);
	signal(SIGPIPE, SIG_IGN);
	CHECK_ERRNO(splice(file, NULL, b[1], NULL, 1, 0), EPIPE);
	CHECK_EQ(lseek(file, 0, SEEK_CUR), 0);
}

/* The pipe has 16 pages: what does not fit stays in the file. */
static void full_pipe(void)
{
	int ends[2], file = make_file("/tmp/splice.a", true);
	off_t off = 5;

	CHECK_CALL(pipe(ends));
	CHECK_RANGE(splice(file, &off, ends[1], NULL, BYTES, 0), 15 * 4096, 16 * 4096);
	CHECK_RANGE(off, 5 + 15 * 4096, 5 + 16 * 4096);
	CHECK_EQ(lseek(file, 0, SEEK_CUR), 0);
	CHECK_ERRNO(splice(file, NULL, ends[1], NULL, 1, SPLICE_F_NONBLOCK), EAGAIN);
	CHECK_EQ(read(ends[0], got, 70000), off - 5);
	CHECK(!memcmp(got, sent + 5, off - 5));
	off = BYTES - 3;
	CHECK_EQ(splice(file, &off, ends[1], NULL, 100, 0), 3);
	CHECK_EQ(splice(file, &off, ends[1], NULL, 100, 0), 0);
}

/* Up to `most` bytes a time. */
static void feed(int from, int to, unsigned long seed, unsigned long most)
{
	ssize_t n;

	while ((n = CHECK_CALL(splice(from, NULL, to, NULL, 1 + watch_random(&seed) % most, 0))) > 0)
		;
	_exit(check_failures != 0);
}

/* file -> pipe -> pipe -> file, three processes. */
static void through(unsigned long seed, unsigned long most)
{
	int from = make_file("/tmp/splice.a", true), to = make_file("/tmp/splice.b", false), a[2], b[2];
	pid_t first, second;

	CHECK_CALL(pipe(a));
	CHECK_CALL(pipe(b));
	first = check_fork();
	if (!first)
		feed(from, a[1], seed, most);
	close(a[1]);
	second = check_fork();
	if (!second)
		feed(a[0], b[1], seed + 1, most);
	close(b[1]);
	while (CHECK_CALL(splice(b[0], NULL, to, NULL, 1 + watch_random(&seed) % most, 0)) > 0)
		;
	CHECK_EQ(check_wait(first), 0);
	CHECK_EQ(check_wait(second), 0);
	CHECK_EQ(lseek(to, 0, SEEK_CUR), BYTES);
	CHECK_CALL(lseek(to, 0, SEEK_SET));
	CHECK_EQ(read(to, got, BYTES), BYTES);
	CHECK(!memcmp(sent, got, BYTES));
	close(a[0]);
	close(b[0]);
	close(from);
	close(to);
}

static void all_sizes(void)
{
	static const unsigned long most[] = {100, 4097, 20000, 100000};

	for (size_t i = 0; i < ARRAY_SIZE(most); i++)
		for (unsigned long seed = 1; seed < 4; seed++)
			through(seed, most[i]);
}

static const struct check_case cases[] = {
	{"refused", refused},
	{"full_pipe", full_pipe},
	{"all_sizes", all_sizes},
};

int main(int argc, char **argv)
{
	fill_with_numbers();
	check_seconds = 15; /* a splice that waits for room when it has moved something waits for ever */
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

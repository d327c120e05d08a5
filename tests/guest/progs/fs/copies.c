/* copies: bytes that go between files and between pipes inside the kernel: copy_file_range(2), tee(2). */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>

#define NAME  "copies-from"
#define OTHER "copies-to"
#define BYTES 200000

static char sent[BYTES], got[BYTES];

static int filled(const char *name, long n)
{
	int fd = (int)CHECK_CALL(open(name, O_RDWR | O_CREAT | O_TRUNC, 0600));

	for (int i = 0; i < BYTES; i++)
		sent[i] = (char)(i * 7 + i / 251);
	CHECK_EQ(write(fd, sent, (size_t)n), n);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static long copy(int in, long *at_in, int out, long *at_out, unsigned long n)
{
	return CALL(copy_file_range, in, at_in, out, at_out, n, 0);
}

static void copied(void)
{
	int in = filled(NAME, BYTES), out = filled(OTHER, 0);
	long from = 5000, to = 3, done = 0;

	while (done < 100000) {
		long n = CHECK_CALL(copy(in, &from, out, &to, (unsigned long)(100000 - done)));

		if (n <= 0)
			break;
		done += n;
		CHECK_EQ(from, 5000 + done);
		CHECK_EQ(to, 3 + done);
	}
	CHECK_EQ(CALL(pread64, out, got, BYTES, 0), 100003);
	CHECK(!memcmp(got, "\0\0\0", 3) && !memcmp(got + 3, sent + 5000, 100000));
	CHECK_EQ(lseek(in, 0, SEEK_CUR), 0); /* the files' own positions stay */
	CHECK_EQ(lseek(out, 0, SEEK_CUR), 0);
	CHECK_EQ(copy(in, NULL, out, NULL, 10), 10);
	CHECK_EQ(lseek(in, 0, SEEK_CUR), 10);
	CHECK_EQ(lseek(out, 0, SEEK_CUR), 10);
	from = BYTES - 4;
	CHECK_EQ(copy(in, &from, out, NULL, 100), 4); /* up to the end */
	CHECK_EQ(copy(in, &from, out, NULL, 100), 0);
	CHECK_EQ(copy(in, NULL, out, NULL, 0), 0);
	from = 0;
	to = 100;
	CHECK_EQ(copy(in, &from, in, &to, 100), 100); /* within one file, beside each other */
	CHECK_EQ(CALL(pread64, in, got, 100, 100), 100);
	CHECK(!memcmp(got, sent, 100));
	CHECK_CALL(unlink(NAME));
	CHECK_CALL(unlink(OTHER));
}

static void not_copied(void)
{
	int in = filled(NAME, 100), out = filled(OTHER, 0), dir = (int)CHECK_CALL(open(".", O_RDONLY)), ends[2];
	int append = (int)CHECK_CALL(open(OTHER, O_WRONLY | O_APPEND)), write_only = (int)open(NAME, O_WRONLY);
	int read_only = (int)CHECK_CALL(open(OTHER, O_RDONLY)), null = (int)open("/dev/null", O_RDWR);
	long at = 10, minus = -1, most = 0x7fffffffffffffff;

	CHECK_CALL(pipe(ends));
	CHECK_ERRNO(copy(999, NULL, out, NULL, 1), EBADF);
	CHECK_ERRNO(copy(in, NULL, 999, NULL, 1), EBADF);
	CHECK_ERRNO(copy(write_only, NULL, out, NULL, 1), EBADF);
	CHECK_ERRNO(copy(in, NULL, read_only, NULL, 1), EBADF);
	CHECK_ERRNO(copy(in, NULL, append, NULL, 1), EBADF);
	CHECK_ERRNO(copy(dir, NULL, out, NULL, 1), EISDIR);
	CHECK_ERRNO(copy(in, NULL, dir, NULL, 1), EISDIR);
	CHECK_ERRNO(copy(ends[0], NULL, out, NULL, 1), EINVAL);
	CHECK_ERRNO(copy(in, NULL, null, NULL, 1), EINVAL);
	CHECK_ERRNO(copy(in, NULL, in, &at, 20), EINVAL); /* they overlap */
	CHECK_ERRNO(CALL(copy_file_range, in, 0, out, 0, 1, 1), EINVAL);
	CHECK_ERRNO(copy(in, &minus, out, NULL, 1), EOVERFLOW); /* as a number without a sign it wraps */
	CHECK_ERRNO(copy(in, NULL, out, &minus, 1), EOVERFLOW);
	CHECK_ERRNO(copy(in, &at, out, NULL, ~0UL), EOVERFLOW);
	CHECK_ERRNO(copy(in, NULL, out, &most, 1), EFBIG);
	CHECK_ERRNO(copy(in, (long *)8, out, NULL, 1), EFAULT);
	CHECK_ERRNO(copy(in, NULL, out, (long *)8, 1), EFAULT);
	CHECK_ERRNO(copy((int)CHECK_CALL(open("/proc/self/stat", O_RDONLY)), NULL, out, NULL, 1), EXDEV);
	CHECK_EQ(lseek(out, 0, SEEK_END), 0);
	CHECK_CALL(unlink(NAME));
	CHECK_CALL(unlink(OTHER));
}

/* --- tee(2) --- */

static void teed(void)
{
	int a[2], b[2], c[2], file = filled(NAME, 100);

	CHECK_CALL(pipe(a));
	CHECK_CALL(pipe(b));
	CHECK_CALL(pipe(c));
	CHECK_EQ(write(a[1], sent, 10000), 10000);
	CHECK_EQ(read(a[0], got, 100), 100);
	CHECK_EQ(CALL(tee, a[0], b[1], 5000, 0), 5000);
	CHECK_EQ(CALL(tee, a[0], c[1], 99999, 0), 9900); /* all that there is */
	CHECK_EQ(read(b[0], got, BYTES), 5000);
	CHECK(!memcmp(got, sent + 100, 5000));
	CHECK_EQ(read(c[0], got, BYTES), 9900);
	CHECK(!memcmp(got, sent + 100, 9900));
	CHECK_EQ(read(a[0], got, BYTES), 9900); /* nothing is gone */
	CHECK(!memcmp(got, sent + 100, 9900));
	CHECK_ERRNO(CALL(tee, a[0], b[1], 1, 2), EAGAIN); /* SPLICE_F_NONBLOCK */
	CHECK_EQ(write(a[1], "x", 1), 1);
	CHECK_ERRNO(CALL(tee, a[0], b[1], 1, 16), EINVAL);
	CHECK_ERRNO(CALL(tee, a[0], a[1], 1, 0), EINVAL);
	CHECK_ERRNO(CALL(tee, a[0], file, 1, 0), EINVAL);
	CHECK_ERRNO(CALL(tee, file, b[1], 1, 0), EINVAL);
	CHECK_ERRNO(CALL(tee, a[1], b[1], 1, 0), EBADF);
	CHECK_ERRNO(CALL(tee, a[0], b[0], 1, 0), EBADF);
	CHECK_ERRNO(CALL(tee, 999, b[1], 1, 0), EBADF);
	CHECK_EQ(CALL(tee, 999, 998, 0, 0), 0);
	CHECK_CALL(close(a[1]));
	CHECK_EQ(CALL(tee, a[0], b[1], 9, 0), 1);
	CHECK_EQ(read(a[0], got, BYTES), 1);
	CHECK_EQ(CALL(tee, a[0], b[1], 9, 0), 0); /* no writer is left */
	signal(SIGPIPE, SIG_IGN);
	CHECK_CALL(close(c[0]));
	CHECK_EQ(CALL(tee, b[0], c[1], 1, 0), -1);
	CHECK_EQ(errno, EPIPE);
	CHECK_CALL(unlink(NAME));
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"copied", copied},
		{"not_copied", not_copied},
		{"teed", teed},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}

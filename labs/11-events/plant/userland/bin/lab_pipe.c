/*
 * lab_pipe WHAT NUMBERS...: what lab events' pipes are graded with. It prints `lab: INODE BYTES`, what went in.
 *
 *	steps SEED N	N reads and writes at random on a pipe that does not block, some of them with a bad address
 *	stream SEED N	N writes at random, of up to 100,000 bytes, and a child that reads all of it
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vt.h>

#define MOST 100000

static int fd[2];
static char bytes[MOST];
static unsigned long long number;

static unsigned rnd(unsigned n)
{
	number = number * 6364136223846793005ull + 1442695040888963407ull;
	return (number >> 33) % n;
}

static void make(int flags)
{
	if (pipe2(fd, flags))
		vt_die(1, "pipe: %s", strerror(errno));
}

/* Where nothing is mapped. */
static char *nowhere(void)
{
	return (char *)8;
}

static unsigned long steps(long n)
{
	unsigned long in = 0;

	make(O_NONBLOCK);
	for (long i = 0; i < n; i++) {
		unsigned what = rnd(16), size = rnd(4) ? rnd(3000) : rnd(MOST);
		ssize_t done;

		if (what == 0)
			write(fd[1], nowhere(), size);
		else if (what == 1)
			read(fd[0], nowhere(), size);
		else if (what < 9)
			in += (done = write(fd[1], bytes, size)) > 0 ? done : 0;
		else
			read(fd[0], bytes, size);
	}
	return in;
}

static unsigned long stream(long n)
{
	unsigned long in = 0;

	make(0);
	if (!fork()) {
		close(fd[1]);
		while (read(fd[0], bytes, 1 + rnd(70000)) > 0)
			;
		_exit(0);
	}
	close(fd[0]);
	for (long i = 0; i < n; i++) {
		ssize_t done = write(fd[1], bytes, 1 + (rnd(3) ? rnd(5000) : rnd(MOST)));

		in += done > 0 ? done : 0;
	}
	return in;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "lab_pipe WHAT SEED N", .options = "", .bad_status = 1};
	unsigned long in;
	struct stat st;
	long n;

	while (vt_option(&o, argc, argv) != -1)
		;
	if (argc - o.index != 3)
		vt_die(1, "lab_pipe WHAT SEED N");
	number = vt_number_or_die(1, argv[o.index + 1], 0, 1L << 40);
	n = vt_number_or_die(1, argv[o.index + 2], 0, 1L << 20);
	in = strcmp(argv[o.index], "steps") ? stream(n) : steps(n);
	fstat(fd[1], &st);
	close(fd[1]);
	while (wait(NULL) > 0)
		;
	printf("lab: %lu %lu\n", (unsigned long)st.st_ino, in);
	return 0;
}

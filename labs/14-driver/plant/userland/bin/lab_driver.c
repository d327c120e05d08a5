/*
 * lab_driver WHAT NUMBERS...: what lab driver is graded with. It prints lines `lab: ...` of bytes from /dev/hwrng, or
 * of errors.
 *
 *	read SIZE...	one read(2) of each size: what it returned, and the bytes
 *	many N SIZE	N processes, each of which reads 20 times SIZE bytes
 *	nonblock SIZE	one read with O_NONBLOCK; then a pause of a second, and another one. As long as that finds
 *			nothing it is tried again, some times: under icount a second of sleep takes the host no time,
 *			and the device's answer comes from the host
 *	bad SIZE	a read to an address that is not mapped, then a good one
 *	wait SEED	a child that reads, and is killed when a second has gone by: microseconds of CPU time that it
 *			has used; 00: it was still waiting; and a receipt
 *	cost SIZE SEED	nanoseconds of CPU time of 10 reads of so many bytes, and a receipt; their sum
 *
 * A receipt follows from the seed, and says that the program came to its end.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <vt.h>

#define MOST 8192

static int fd;
static unsigned char bytes[MOST];

static void open_it(int flags)
{
	fd = open("/dev/hwrng", O_RDONLY | flags);
	if (fd < 0)
		vt_die(1, "/dev/hwrng: %s", strerror(errno));
}

/* One line in one write, so that lines of several processes do not mix. */
static void show(long got)
{
	static char line[2 * MOST + 64];
	int n = got < 0 ? sprintf(line, "lab: %d", -errno) : sprintf(line, "lab: %ld ", got);

	for (long i = 0; i < got; i++)
		n += sprintf(line + n, "%02x", bytes[i]);
	line[n++] = '\n';
	write(1, line, n);
}

static void many(long n, long size)
{
	for (long i = 0; i < n; i++) {
		if (!fork()) {
			for (int j = 0; j < 20; j++)
				show(read(fd, bytes, size));
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void nonblock(long size)
{
	long got;

	show(read(fd, bytes, size));
	for (int i = 0; i < 20; i++) {
		sleep(1);
		got = read(fd, bytes, size);
		if (got >= 0 || errno != EAGAIN)
			break;
	}
	show(got);
}

static unsigned receipt(unsigned long seed)
{
	return (seed * 6364136223846793005UL + 1442695040888963407UL) >> 33;
}

static void wait_for_it(unsigned long seed)
{
	struct rusage usage;
	pid_t child = fork();
	int status;

	if (!child) {
		read(fd, bytes, MOST);
		_exit(0);
	}
	sleep(1);
	kill(child, SIGTERM);
	wait(&status);
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("lab: %ld %s%08x\n",
	       (long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
		       usage.ru_stime.tv_usec,
	       WIFSIGNALED(status) ? "00" : "01", receipt(seed));
}

static void cost(long size, unsigned long seed)
{
	struct timespec a, b;
	long sum = 0;

	read(fd, bytes, size);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (int i = 0; i < 10; i++)
		sum += read(fd, bytes, size);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("lab: %ld %08x\nlab: %ld\n", (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec, receipt(seed),
	       sum);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long first = argc > 2 ? vt_number_or_die(1, argv[2], 0, 1 << 30) : 0;
	long second = argc > 3 ? vt_number_or_die(1, argv[3], 0, 1 << 30) : 0;

	open_it(strcmp(what, "nonblock") ? 0 : O_NONBLOCK);
	if (!strcmp(what, "read")) {
		for (int i = 2; i < argc; i++)
			show(read(fd, bytes, vt_number_or_die(1, argv[i], 0, MOST)));
	} else if (!strcmp(what, "wait")) {
		wait_for_it(first);
	} else if (first > MOST) {
		vt_die(1, "lab_driver: %ld is more than %d", first, MOST);
	} else if (!strcmp(what, "many") && second <= MOST) {
		many(first, second);
	} else if (!strcmp(what, "nonblock")) {
		nonblock(first);
	} else if (!strcmp(what, "bad")) {
		show(read(fd, (void *)8, first));
		show(read(fd, bytes, first));
	} else if (!strcmp(what, "cost")) {
		cost(first, second);
	} else {
		vt_die(2, "lab_driver: what is '%s'?", what);
	}
	return vt_finish(0);
}

/*
 * timerlat_user CPU PERIODS [fork]: a program in the place of timerlat's thread. It pins itself to a CPU, opens
 * osnoise/per_cpu/cpuN/timerlat_fd and waits for so many periods; PERIODS 0: until it is killed. With `fork`, a child
 * reads as well, which is refused. Prints how many periods it has seen, or the error of the open. The environment:
 * UNPINNED, it does not pin itself; PIN=N, to another CPU than the file's; MOVE=N, at the end it goes there and reads.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void pin(int cpu)
{
	cpu_set_t set;

	memset(&set, 0, sizeof(set));
	set.bits[0] = 1UL << cpu;
	CHECK_CALL(sched_setaffinity(0, sizeof(set), &set));
}

static void child_is_refused(int fd)
{
	char c;
	pid_t child = check_fork();

	if (!child) {
		CHECK_EQ(read(fd, &c, 1), -1);
		CHECK_EQ(errno, EINVAL);
		_exit(0);
	}
	CHECK_EQ(check_wait(child), 0);
}

int main(int argc, char **argv)
{
	char name[80], c;
	int cpu, periods, fd;

	if (argc < 3)
		return 2;
	cpu = atoi(argv[1]);
	periods = atoi(argv[2]);
	if (!getenv("UNPINNED"))
		pin(getenv("PIN") ? atoi(getenv("PIN")) : cpu);
	snprintf(name, sizeof(name), "/sys/kernel/tracing/osnoise/per_cpu/cpu%d/timerlat_fd", cpu);
	fd = open(name, O_RDONLY);
	if (fd < 0) {
		printf("%s\n", strerror(errno));
		return 1;
	}
	if (argc > 3)
		child_is_refused(fd);
	for (int n = 0; !periods || n < periods; n++)
		CHECK_EQ(read(fd, &c, 1), 0);
	if (getenv("MOVE")) {
		pin(atoi(getenv("MOVE")));
		CHECK_EQ(read(fd, &c, 1), -1);
		CHECK_EQ(errno, EINVAL);
	}
	printf("%d periods\n", periods);
	return 0;
}

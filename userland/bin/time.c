/* time: how long a command takes. */
#include <vt.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static bool posix;

static void show(const char *what, int64_t us)
{
	if (posix) {
		fprintf(stderr, "%s %ld.%02ld\n", what, (long)(us / 1000000), (long)(us / 10000 % 100));
		return;
	}
	fprintf(stderr, "%s\t%ldm%ld.%03lds\n", what, (long)(us / 60000000), (long)(us / 1000000 % 60),
		(long)(us / 1000 % 1000));
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "time [-p] COMMAND [ARG...]", .options = "p", .bad_status = 125};
	struct timespec start, end;
	struct rusage ru;
	int status;
	pid_t pid;

	while (vt_option(&o, argc, argv) != -1)
		posix = true;
	if (o.index >= argc)
		vt_usage(&o);
	if (clock_gettime(CLOCK_MONOTONIC, &start) < 0 || (pid = fork()) < 0)
		vt_die_errno(125, "time");
	if (pid == 0) {
		execvp(argv[o.index], argv + o.index);
		vt_die_errno(errno == ENOENT ? 127 : 126, argv[o.index]);
	}
	if (wait4(pid, &status, 0, &ru) < 0 || clock_gettime(CLOCK_MONOTONIC, &end) < 0)
		vt_die_errno(125, "time");
	show("real", (end.tv_sec - start.tv_sec) * 1000000 + (end.tv_nsec - start.tv_nsec) / 1000);
	show("user", (int64_t)ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec);
	show("sys", (int64_t)ru.ru_stime.tv_sec * 1000000 + ru.ru_stime.tv_usec);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

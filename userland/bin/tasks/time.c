/*
 * time [-p] COMMAND [ARG...]: how long a command takes.
 *
 * For `time` as the shell has it, which takes whole pipelines, see sh/exec.c. Left out: -f, -o, -v.
 * The status is the command's.
 */
#include <vt.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage = "time [-p] COMMAND [ARG...]", .options = "p", .in_order = true, .bad_status = 125};
	struct timespec start, end;
	struct rusage ru;
	bool posix = false;
	int status;
	pid_t pid;

	while (vt_option(&o, argc, argv) != -1)
		posix = true;
	if (o.index >= argc)
		vt_usage(&o);
	if (clock_gettime(CLOCK_MONOTONIC, &start) < 0 || (pid = fork()) < 0)
		vt_die_errno(125, "time");
	if (pid == 0)
		vt_exec(argv + o.index);
	/* The usage is of this child only, and of what it has waited for. */
	if (wait4(pid, &status, 0, &ru) < 0 || clock_gettime(CLOCK_MONOTONIC, &end) < 0)
		vt_die_errno(125, "time");
	vt_print_times(posix, vt_elapsed(&start, &end), vt_microseconds(&ru.ru_utime), vt_microseconds(&ru.ru_stime));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

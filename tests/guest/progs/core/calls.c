/* calls: make the kernel run sys_getppid exactly as often as is asked, from several CPUs at once. */
#include <check.h>
#include <numbers.h>

static void make_calls(long n)
{
	pid_t parent = (pid_t)vt_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);

	while (--n > 0)
		if (vt_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0) != parent)
			vt_die(1, "getppid gave another answer");
}

/* All wait for the one byte each that says go: then all are there, each on its CPU. */
int main(int argc, char **argv)
{
	long total = argc > 1 ? vt_number_or_die(2, argv[1], 1, 1000000000) : 0;
	long tasks = argc > 2 ? vt_number_or_die(2, argv[2], 1, 1000) : 1;
	int go[2], ready[2], cpus = check_cpus(), bad = 0;

	if (!total || total % tasks)
		vt_die(2, "usage: calls TOTAL TASKS (a divisor)");
	if (pipe(go) || pipe(ready))
		vt_die_errno(2, "pipe");
	for (long i = 0; i < tasks; i++)
		if (check_fork() == 0) {
			check_pin((int)(i % cpus));
			check_give(ready[1], 'r');
			check_take(go[0]);
			make_calls(total / tasks);
			_exit(0);
		}
	for (long i = 0; i < tasks; i++)
		check_take(ready[0]);
	for (long i = 0; i < tasks; i++)
		check_give(go[1], 'g');
	for (long i = 0; i < tasks; i++) {
		int status;

		if (wait(&status) < 0 || status)
			bad = 1;
	}
	return bad;
}

/*
 * nproc [--all] [--ignore=N]: how many CPUs this process may run on; with --all, how many are online. --ignore
 * leaves out N of them, but never the last one.
 */
#include <vt.h>
#include <limits.h>
#include <sched.h>

/* The CPUs of this process's mask, which taskset makes smaller: `make -j$(nproc)` wants these. */
static long allowed(void)
{
	cpu_set_t set;
	long n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		vt_die_errno(1, "sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		n += CPU_ISSET(cpu, &set);
	return n;
}

/* The CPUs that the kernel runs on, whatever this process may use. */
static long online(void)
{
	cpu_set_t set = {{0}};
	long n = vt_cpus_online(&set);

	if (!n)
		vt_die_errno(1, "/proc/cpuinfo");
	return n;
}

int main(int argc, char **argv)
{
	static const struct vt_long_option longs[] = {{"all", '\1'}, {"ignore", '\2'}, {NULL, 0}};
	struct vt_options o = {
		.usage = "nproc [--all] [--ignore=N]", .options = "\1\2:", .longs = longs, .bad_status = 1};
	long n, ignore = 0;
	bool all = false;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == '\1')
			all = true;
		else
			ignore = vt_number_or_die(1, o.arg, 0, LONG_MAX);
	}
	if (o.index < argc)
		vt_usage(&o);
	n = all ? online() : allowed();
	printf("%ld\n", n > ignore ? n - ignore : 1);
	return vt_finish(0);
}

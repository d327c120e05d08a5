/*
 * trace-show [-ps] [-c CPU] [-B NAME]: what is in the trace buffer now, as text; with -p as it comes,
 * until ^C.
 *
 *     trace        reading leaves the records where they are       per_cpu/cpuN/trace: those of one CPU
 *     trace_pipe   reading takes them out, and waits for more
 *     snapshot     a second buffer, swapped with the first at some moment
 */
#include <vt_trace.h>
#include <limits.h>

static const char help[] = "  -p       what comes, taking it out of the buffer (trace_pipe), until ^C\n"
			   "  -s       the snapshot\n"
			   "  -c CPU   of this CPU only\n"
			   "  -B NAME  of this instance\n";

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage = "trace-show [-ps] [-c CPU] [-B NAME]", .options = "psc:B:", .help = help, .bad_status = 1};
	const char *file = "trace", *instance = NULL;
	char name[64], *path;
	long cpu = -1;
	int c, fd, ret;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'p')
			file = "trace_pipe";
		else if (c == 's')
			file = "snapshot";
		else if (c == 'c')
			cpu = vt_number_or_die(1, o.arg, 0, INT_MAX);
		else
			instance = o.arg;
	}
	if (o.index < argc)
		vt_usage(&o);
	vt_tracefs_check();
	if (cpu >= vt_tracefs_cpus())
		vt_die(1, "no CPU %ld", cpu);
	/* The same three files exist at the top and in the folder of each CPU. */
	if (cpu < 0)
		snprintf(name, sizeof(name), "%s", file);
	else
		snprintf(name, sizeof(name), "per_cpu/cpu%ld/%s", cpu, file);
	path = vt_tracefs_path(instance, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		vt_die_errno(1, path);
	/* trace_pipe has no end, so this returns only on an error or by a signal. */
	ret = vt_copy(fd, STDOUT_FILENO);
	if (ret)
		vt_die_errno(1, ret == -1 ? path : "write error");
	return 0;
}

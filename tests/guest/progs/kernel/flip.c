/* flip: switch the tracer to function and back to nop so many times, rewriting the filters between. */
#include <vt.h>

#define TRACING "/sys/kernel/tracing/"

static void write_file(const char *name, const char *text)
{
	size_t n = strlen(text);
	int fd = open(name, O_WRONLY | O_TRUNC);

	if (fd < 0)
		vt_die_errno(1, name);
	/* The filter files take one name a write. */
	while (n) {
		ssize_t done = write(fd, text, n);

		if (done <= 0)
			vt_die_errno(1, name);
		text += done;
		n -= (size_t)done;
	}
	if (close(fd))
		vt_die_errno(1, name);
}

/* Filters of different sizes: all functions, one, a few, many. The last leaves the file empty again. */
static const char *const filters[] = {"schedule\n", "vfs_*\n", "*alloc*\n", "sys_* schedule __schedule\n", "\n"};
static const char *const notraces[] = {"*lock*\n", "\n"};

int main(int argc, char **argv)
{
	long times = argc > 1 ? vt_number_or_die(2, argv[1], 1, 100000000) : 1;

	for (long i = 0; i < times; i++) {
		if (i % 5 == 4)
			write_file(TRACING "set_ftrace_filter", filters[i / 5 % ARRAY_SIZE(filters)]);
		write_file(TRACING "current_tracer", "function\n");
		if (i % 7 == 3)
			write_file(TRACING "set_ftrace_filter", filters[i / 7 % ARRAY_SIZE(filters)]);
		if (i % 11 == 6)
			write_file(TRACING "set_ftrace_notrace", notraces[i / 11 % ARRAY_SIZE(notraces)]);
		write_file(TRACING "current_tracer", "nop\n");
	}
	write_file(TRACING "set_ftrace_filter", "\n");
	write_file(TRACING "set_ftrace_notrace", "\n");
	return 0;
}

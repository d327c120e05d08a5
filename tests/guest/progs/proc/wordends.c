/*
 * What ends a word, for each file of tracefs that takes words: docs/words.md has the table that this prints, and the
 * same program was run on Linux 6.12. A cell says what became of one way of writing the row's text:
 *
 *	yes     no error, and the file shows the text
 *	EINVAL  a write had this error; the file does not show the text
 *	EINVAL+ a write had this error; the file shows the text all the same
 *	other   no error, and the file shows something else
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct row {
	const char *file, *text;
	const char *shown; /* what the file then contains; NULL: anything else than after `reset` */
	const char *reset;
	const char *wrong; /* a text that the file refuses */
};

static const struct row rows[] = {
	{"set_ftrace_filter", "vfs_read", "vfs_read", "", "nosuch"},
	{"set_ftrace_notrace", "vfs_read", "vfs_read", "", "nosuch"},
	{"set_graph_function", "vfs_read", "vfs_read", "", "nosuch"},
	{"set_graph_notrace", "vfs_read", "vfs_read", "", "nosuch"},
	{"stack_trace_filter", "vfs_read", "vfs_read", "", "nosuch"},
	{"set_event", "sched_waking", "sched_waking", "", "nosuch"},
	{"set_event_pid", "12", "12\n", "", "x"},
	{"set_event_notrace_pid", "12", "12\n", "", "x"},
	{"set_ftrace_pid", "12", "12\n", "", "x"},
	{"set_ftrace_notrace_pid", "12", "12\n", "", "x"},
	{"current_tracer", "function", "function\n", "nop", "nosuch"},
	{"trace_clock", "global", "[global]", "local", "nosuch"},
	{"trace_options", "noirq-info", "noirq-info", "irq-info", "nosuch"},
	{"events/sched/sched_waking/filter", "pid==9", "pid==9", "0", "nosuch"},
	{"events/sched/sched_waking/trigger", "traceoff:3", "traceoff:count=3", "!traceoff", "nosuch"},
	{"hwlat_detector/mode", "per-cpu", "[per-cpu]", "none", "nosuch"},
	{"osnoise/options", "PANIC_ON_STOP", NULL, "NO_PANIC_ON_STOP", "nosuch"},
	{"osnoise/cpus", "00", "0\n", "0-1", "x"},
	{"tracing_cpumask", "01", "1\n", "3", "x"},
	{"tracing_on", "00", "0\n", "1", "x"},
	{"options/irq-info", "00", "0\n", "1", "x"},
	{"events/sched/sched_waking/enable", "01", "1\n", "0", "x"},
	{"events/sched/enable", "01", "1\n", "0", "x"},
	{"events/enable", "01", "1\n", "0", "x"},
	{"snapshot", "01", NULL, "0", "x"},
	{"buffer_size_kb", "64", "67\n", "1408", "x"},
	{"per_cpu/cpu0/buffer_size_kb", "64", "67\n", "1408", "x"},
	{"buffer_percent", "37", "37\n", "50", "x"},
	{"buffer_subbuf_size_kb", "16", "16\n", "4", "x"},
	{"saved_cmdlines_size", "999", "999\n", "128", "x"},
	{"tracing_thresh", "12", "12\n", "0", "x"},
	{"max_graph_depth", "12", "12\n", "0", "x"},
	{"stack_max_size", "12", "12\n", "0", "x"},
	{"tracing_max_latency", "12", "12\n", "0", "x"},
	{"function_profile_enabled", "01", "1\n", "0", "x"},
	{"hwlat_detector/width", "98", "98\n", "500000", "x"},
	{"osnoise/stop_tracing_us", "98", "98\n", "0", "x"},
	{"kprobe_events", "p:wz vfs_read", "/wz ", "", "nosuch"},
	{"uprobe_events", "p:wz /bin/sh:0x100", "/wz ", "", "nosuch"},
	{"synthetic_events", "wz u64 a", "wz\t", "", "no such"},
	{"dynamic_events", "p:wz vfs_read", "/wz ", "", "nosuch"},
	{"tracing_enabled", "00", "0\n", "1", "x"},
	{"workqueue_profile_enabled", "01", "1\n", "0", "x"},
	{"sysprof_sample_period", "98", NULL, "1000", "x"},
	{"hw_branch_window", "98", "98\n", "0", "x"},
};

/* All of the text, as a C library writes it: after a short count again with the rest. 0, or the errno. */
static int put(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(fd, text, n);

		if (done <= 0)
			return done ? errno : EIO;
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

static int put_pieces(const char *file, const char *text, size_t n, size_t first)
{
	int fd = open(file, O_WRONLY | O_TRUNC), error;

	if (fd < 0)
		return errno;
	error = put(fd, text, first);
	if (!error)
		error = put(fd, text + first, n - first);
	close(fd);
	return error;
}

/* The beginning of what the file shows. */
static const char *content(const char *file, char *buf, size_t size)
{
	int fd = open(file, O_RDONLY);
	size_t n = 0;
	ssize_t got;

	while (fd >= 0 && n < size - 1 && (got = read(fd, buf + n, size - 1 - n)) > 0)
		n += (size_t)got;
	if (fd >= 0)
		close(fd);
	buf[n] = '\0';
	return buf;
}

static const char *error_name(int error)
{
	static char number[16];

	switch (error) {
	case EINVAL:
		return "EINVAL";
	case EOVERFLOW:
		return "EOVERFLOW";
	case ENOENT:
		return "ENOENT";
	default:
		snprintf(number, sizeof(number), "errno %d", error);
		return number;
	}
}

/* The text, with `n` bytes, is written to the row's file, the first `first` of them by a write of their own. */
static void cell(const struct row *row, const char *text, size_t n, size_t first)
{
	static char before[16384], after[16384];
	int error;
	bool shown;

	if (access(row->file, F_OK)) {
		printf(" | -");
		return;
	}
	put_pieces(row->file, row->reset, strlen(row->reset), 0);
	content(row->file, before, sizeof(before));
	error = put_pieces(row->file, text, n, first);
	content(row->file, after, sizeof(after));
	shown = row->shown ? strstr(after, row->shown) != NULL : strcmp(before, after) != 0;
	if (error)
		printf(" | %s%s", error_name(error), shown ? "+" : "");
	else
		printf(" | %s", shown ? "yes" : "other");
	put_pieces(row->file, row->reset, strlen(row->reset), 0);
}

static void print_row(const struct row *row)
{
	size_t n = strlen(row->text);
	char text[64];

	printf("| `%s`", row->file);
	cell(row, text, (size_t)sprintf(text, " %s ", row->text), 0);
	cell(row, text, (size_t)sprintf(text, "%s\n", row->text), 0);
	cell(row, text, (size_t)sprintf(text, "%s", row->text) + 1, 0); /* with the zero */
	cell(row, row->text, n, 0);
	cell(row, row->text, n, n / 2);
	cell(row, text, (size_t)sprintf(text, "%s\r\n", row->text), 0);
	cell(row, text, (size_t)sprintf(text, "%s%c%s", row->text, '\0', row->wrong), 0);
	printf(" |\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (chdir(argc > 1 ? argv[1] : "/sys/kernel/tracing")) {
		printf("no tracefs\n");
		return 1;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		print_row(&rows[i]);
	return 0;
}

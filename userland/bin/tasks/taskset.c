/*
 * taskset [-c] MASK COMMAND [ARG...] | taskset [-c] -p [MASK] PID: show or set the CPUs of a
 * process, or of a command.
 *
 * MASK is hexadecimal, or with -c a list such as 0,2-5. Left out: -a (all threads), strides in
 * lists (0-8:2).
 *
 *     taskset 5 COMMAND      mask 101: CPUs 0 and 2       taskset -c 0,2 COMMAND      the same
 *
 * The mask of a process is kept over exec, so a command is set up by setting this process's own mask.
 */
#include <vt.h>
#include <ctype.h>
#include <limits.h>
#include <sched.h>

/* Read a hexadecimal mask, from its last digit, which is CPUs 0 to 3. Returns whether text is one. */
static bool parse_mask(const char *text, cpu_set_t *set)
{
	size_t n;

	if (!strncmp(text, "0x", 2))
		text += 2;
	n = strlen(text);
	if (!n || n > CPU_SETSIZE / 4)
		return false;
	for (size_t i = 0; i < n; i++) {
		int c = tolower((unsigned char)text[n - 1 - i]);

		if (!isxdigit(c))
			return false;
		c = isdigit(c) ? c - '0' : c - 'a' + 10;
		set->bits[i / 16] |= (unsigned long)c << (i % 16 * 4);
	}
	return true;
}

/* Print a mask in hexadecimal without leading zeros, at least one digit. */
static void print_mask(const cpu_set_t *set)
{
	bool started = false;

	for (int i = CPU_SETSIZE / 4 - 1; i >= 0; i--) {
		int digit = (int)(set->bits[i / 16] >> (i % 16 * 4)) & 15;

		started |= digit != 0 || i == 0;
		if (started)
			printf("%x", (unsigned int)digit);
	}
	printf("\n");
}

static void print_list(const cpu_set_t *set)
{
	char *text = vt_cpu_text(set);

	printf("%s\n", text);
	free(text);
}

/* Print the CPUs of a process in the words of util-linux, which scripts look for. */
static void show(int pid, const char *which, bool list)
{
	cpu_set_t set;

	if (sched_getaffinity(pid, sizeof(set), &set) < 0)
		vt_die(1, "failed to get pid %d's affinity: %s", pid, strerror(errno));
	printf("pid %d's %s affinity %s: ", pid, which, list ? "list" : "mask");
	if (list)
		print_list(&set);
	else
		print_mask(&set);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "taskset [-c] MASK COMMAND [ARG...] | taskset [-c] -p [MASK] PID",
			       .options = "cp",
			       .in_order = true,
			       .bad_status = 1};
	bool list = false, process = false;
	cpu_set_t set = {{0}};
	int c, pid = 0;

	while ((c = vt_option(&o, argc, argv)) != -1)
		*(c == 'c' ? &list : &process) = true;
	if (argc - o.index < (process ? 1 : 2))
		vt_usage(&o);
	/* The old mask is shown as well when a new one is set. */
	if (process) {
		pid = (int)vt_number_or_die(1, argv[argc - 1], 0, INT_MAX);
		show(pid, "current", list);
		if (argc - o.index == 1)
			return vt_finish(0);
	}
	if (!(list ? vt_cpu_list : parse_mask)(argv[o.index], &set))
		vt_die(1, "failed to parse CPU %s: %s", list ? "list" : "mask", argv[o.index]);
	/* The kernel drops CPUs that do not exist; EINVAL when none is left. */
	if (sched_setaffinity(pid, sizeof(set), &set) < 0)
		vt_die(1, "failed to set pid %d's affinity: %s", pid, strerror(errno));
	if (process) {
		show(pid, "new", list);
		return vt_finish(0);
	}
	vt_exec(argv + o.index + 1);
}

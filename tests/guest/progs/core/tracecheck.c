/*
 * tracecheck: read a trace of the function tracer from standard input, look at every line's form, at the
 * order of time on each CPU and at every name, and print what was there.
 */
#include <vt.h>
#include <ctype.h>

#define MAX_CPUS  64
#define MAX_NAMES 16384

static char *names[MAX_NAMES]; /* sorted */
static int nr_names;
static long bad, lines, lost;
static long count[MAX_CPUS];
static unsigned long last[MAX_CPUS]; /* microseconds */

static const char *only_pid, *only_function;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_names(void)
{
	struct vt_lines in;
	char *line;

	vt_lines_open(&in, open("/sys/kernel/tracing/available_filter_functions", O_RDONLY));
	while (vt_line(&in, &line, NULL) && nr_names < MAX_NAMES)
		names[nr_names++] = vt_strdup(line);
	vt_lines_free(&in);
	if (!nr_names)
		vt_die(2, "available_filter_functions cannot be read");
	qsort(names, (size_t)nr_names, sizeof(*names), by_name);
}

static bool known(const char *name)
{
	return bsearch(&name, names, (size_t)nr_names, sizeof(*names), by_name);
}

static void complain(const char *what, const char *line)
{
	if (bad++ < 10)
		printf("%s: '%s'\n", what, line);
}

/* Digits at *p: their value, and *p behind them. -1 when there are none. */
static long digits(const char **p)
{
	char *end;
	long n = isdigit((unsigned char)**p) ? strtol(*p, &end, 10) : -1;

	if (n >= 0)
		*p = end;
	return n;
}

/* "[003] d.h1.  1234.567890: ": the CPU, or -1; *p behind it, *us the time. */
static long columns(const char **p, unsigned long *us)
{
	long cpu, seconds, fraction;
	const char *flags;

	if (*(*p)++ != '[')
		return -1;
	cpu = digits(p);
	if (cpu < 0 || cpu >= MAX_CPUS || strncmp(*p, "] ", 2))
		return -1;
	flags = *p += 2;
	if (strspn(flags, "dDbnNp.HhsZz0123456789abcdef") != 5)
		return -1;
	for (*p += 5; **p == ' ';)
		++*p;
	seconds = digits(p);
	if (seconds < 0 || *(*p)++ != '.')
		return -1;
	fraction = digits(p);
	if (fraction < 0 || strncmp(*p, ": ", 2))
		return -1;
	*p += 2;
	*us = (unsigned long)seconds * 1000000 + (unsigned long)fraction;
	return cpu;
}

static void look_at(char *line)
{
	char *dash = strlen(line) > 24 ? memchr(line + 16, '-', 1) : NULL, *arrow, name[128];
	const char *p = dash ? dash + 1 : line;
	unsigned long us = 0;
	long pid = digits(&p), cpu;

	p += strspn(p, " ");
	cpu = dash && pid >= 0 ? columns(&p, &us) : -1;
	arrow = cpu >= 0 ? strstr(p, " <-") : NULL;
	if (!arrow || arrow - p >= (long)sizeof(name)) {
		complain("no line of the function tracer", line);
		return;
	}
	memcpy(name, p, (size_t)(arrow - p));
	name[arrow - p] = '\0';
	if (!known(name))
		complain("not in available_filter_functions", name);
	if (us < last[cpu])
		complain("time went back on this CPU", line);
	if (only_pid && pid != atol(only_pid))
		complain("another task", line);
	if (only_function && strcmp(only_function, name))
		complain("another function", line);
	last[cpu] = us;
	count[cpu]++;
	lines++;
}

/* "CPU:1 [LOST 23 EVENTS]" */
static void count_lost(const char *line)
{
	const char *number = strstr(line, "[LOST ");

	lost += number ? atol(number + 6) : 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage = "tracecheck [-p PID] [-f FUNCTION] < trace", .options = "p:f:", .bad_status = 2};
	struct vt_lines in;
	char *line;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1)
		*(c == 'p' ? &only_pid : &only_function) = o.arg;
	read_names();
	vt_lines_open(&in, STDIN_FILENO);
	while (vt_line(&in, &line, NULL)) {
		if (!strncmp(line, "CPU:", 4))
			count_lost(line);
		else if (*line != '#')
			look_at(line);
	}
	printf("lines %ld lost %ld", lines, lost);
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		if (count[cpu])
			printf(" cpu%d %ld", cpu, count[cpu]);
	printf("\n");
	return vt_finish(bad || in.error ? 1 : 0);
}

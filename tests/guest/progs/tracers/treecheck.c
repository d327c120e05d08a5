/*
 * treecheck: read the records of function_graph, as the option raw shows them, from standard input, and build each
 * task's calls from them: a call begins in the innermost open one, a return ends it, and depths say so. The records
 * must begin with the tracer and have no gap. Prints how many there were; status 1 when one was out of its place.
 */
#include <vt.h>

#define MAX_TASKS 32768
#define MAX_CPUS  64
#define MAX_DEPTH 256

struct task {
	unsigned long calls[MAX_DEPTH]; /* the sites of those that are open */
	long depth;
};

static struct task *tasks[MAX_TASKS], *idle[MAX_CPUS]; /* those of pid 0 are one a CPU */
static long calls, returns, bad;

static void complain(const char *what, const char *line)
{
	if (bad++ < 10)
		printf("%s: '%s'\n", what, line);
}

static struct task *find_task(long pid, long cpu)
{
	struct task **place = pid ? &tasks[pid] : &idle[cpu];

	if (!*place)
		*place = calloc(1, sizeof(**place));
	if (!*place)
		vt_die(2, "no memory");
	return *place;
}

static void begin(struct task *t, unsigned long func, long depth, const char *line)
{
	calls++;
	if (depth != t->depth || depth >= MAX_DEPTH) {
		complain("a call at another depth than it is in", line);
		return;
	}
	t->calls[t->depth++] = func;
}

static void end(struct task *t, unsigned long func, long depth, const char *line)
{
	returns++;
	if (!t->depth || depth != t->depth - 1 || func != t->calls[depth])
		complain("a return that is not the innermost call's", line);
	else
		t->depth = depth;
}

/* "pid cpu time func depth", of a return "pid cpu time func value depth overrun began ended" */
static void look_at(const char *line)
{
	const char *word[9];
	unsigned long pid, cpu, func;
	struct task *t;
	int n = 0;

	for (const char *p = line; p && n < 9; p = strchr(p, ' '))
		word[n++] = p += *p == ' ';
	pid = n ? strtoul(word[0], NULL, 10) : MAX_TASKS;
	cpu = n > 1 ? strtoul(word[1], NULL, 10) : MAX_CPUS;
	if ((n != 5 && n != 9) || pid >= MAX_TASKS || cpu >= MAX_CPUS) {
		complain("no record of a call", line);
		return;
	}
	t = find_task((long)pid, (long)cpu);
	func = strtoul(word[3], NULL, 16);
	if (n == 5)
		begin(t, func, strtol(word[4], NULL, 10), line);
	else
		end(t, func, strtol(word[5], NULL, 10), line);
	if (n == 9 && strtoul(word[8], NULL, 10) < strtoul(word[7], NULL, 10))
		complain("it ends before it begins", line);
}

static long still_open(void)
{
	long open = 0;

	for (int i = 0; i < MAX_TASKS; i++)
		open += tasks[i] ? tasks[i]->depth : 0;
	for (int i = 0; i < MAX_CPUS; i++)
		open += idle[i] ? idle[i]->depth : 0;
	return open;
}

int main(void)
{
	struct vt_lines in;
	char *line;

	vt_lines_open(&in, 0);
	while (vt_line(&in, &line, NULL))
		if (*line != '#')
			look_at(line);
	vt_lines_free(&in);
	printf("calls: %ld\nreturns: %ld\nopen: %ld\n", calls, returns, still_open());
	if (!bad && calls - returns != still_open())
		complain("calls and returns", "do not match");
	return bad ? 1 : 0;
}

/*
 * snaptest: does a snapshot lose or double a record?
 *
 * On each CPU a writer calls getppid, which the function tracer records, and writes its next number to
 * trace_marker, again and again. A collector takes snapshots, of all CPUs or one by one, and reads them: on each CPU
 * call and number must alternate, and no number be missing or come twice. Readers of `trace` and `snapshot` look on
 * meanwhile. Writers wait when the collector is far behind, as an overwritten record could not be told from a lost one.
 *
 * The filter is sys_getppid, the tracer function, the working directory tracefs.
 */
#include <check.h>
#include <ctype.h>
#include <numbers.h>
#include <sched.h>
#include <sys/mman.h>
#include <watch.h>

#define MAX_CPUS 8
#define AHEAD	 400 /* numbers that a writer may be ahead: some 30 KiB */

static struct shared {
	volatile int stop, readers_stop;
	volatile unsigned long reads; /* by the lookers-on */
	struct {
		volatile unsigned long written, collected;
	} cpu[MAX_CPUS];
} * shared;

/* What is to come next on each CPU. */
struct expect {
	unsigned long next[MAX_CPUS];
	bool called[MAX_CPUS];
	bool known[MAX_CPUS]; /* false: whatever comes first is right */
};

static int cpus;

/* ---- Writers */

static int writer(int cpu)
{
	int fd = (int)CHECK_CALL(open("trace_marker", O_WRONLY));
	unsigned long seq = 0;
	char text[32];

	check_pin(cpu);
	while (!shared->stop) {
		if (seq - shared->cpu[cpu].collected > AHEAD) {
			sched_yield();
			continue;
		}
		check_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
		snprintf(text, sizeof(text), "seq %lu\n", seq);
		if (!CHECK_EQ(write(fd, text, strlen(text)), (long)strlen(text)))
			break;
		shared->cpu[cpu].written = ++seq;
	}
	return vt_finish(check_failures != 0);
}

/* ---- Reading */

/* "...[001] .....     1.234567: TEXT": the CPU, its time in *us and the text; -1: not a record. */
static int parse(char *line, unsigned long *us, char **text)
{
	char *at = strchr(line, '['), *dot, *end;
	int cpu;

	if (line[0] == '#' || !at)
		return -1;
	cpu = (int)strtol(at + 1, &at, 10);
	dot = strchr(at + 8, '.');
	end = strstr(at, ": ");
	if (!CHECK(cpu < cpus && dot && end))
		return -1;
	while (isdigit((unsigned char)dot[-1]))
		dot--;
	*us = strtoul(dot, &dot, 10) * 1000000;
	*us += strtoul(dot + 1, NULL, 10);
	*text = end + 2;
	return cpu;
}

static bool wrong(const char *file, const char *what, int cpu, unsigned long got, unsigned long wanted)
{
	printf("%s: %s on CPU %d: %lu, %lu was due\n", file, what, cpu, got, wanted);
	check_failures++;
	return false;
}

/* One record of the file; false: this is enough. */
static bool feed(const char *file, struct expect *e, int cpu, const char *text)
{
	const char *number = strstr(text, "seq ");
	unsigned long seq;

	if (!number) {
		if (!CHECK(strstr(text, "sys_getppid")))
			return false;
		if (e->known[cpu] && e->called[cpu])
			return wrong(file, "a call twice", cpu, e->next[cpu], e->next[cpu]);
		e->called[cpu] = true;
		return true;
	}
	seq = strtoul(number + 4, NULL, 10);
	if (e->known[cpu] && (seq != e->next[cpu] || !e->called[cpu]))
		return wrong(file, e->called[cpu] ? "number" : "no call before number", cpu, seq, e->next[cpu]);
	e->next[cpu] = seq + 1;
	e->called[cpu] = false;
	e->known[cpu] = true;
	return true;
}

/* Records may be missing before this one: a later number is right too, calls are not looked at. False: it is one. */
static bool allow_gap(struct expect *e, int cpu, const char *text)
{
	const char *number = strstr(text, "seq ");

	if (!number)
		return false;
	if (strtoul(number + 4, NULL, 10) > e->next[cpu])
		e->known[cpu] = false;
	e->called[cpu] = true;
	return true;
}

/*
 * Whole file. `gaps`: others exchange it while we read, so that records may be missing; their order must be right.
 */
static void read_file(const char *file, struct expect *e, bool gaps)
{
	unsigned long us, last = 0;
	struct vt_lines in;
	char *line, *text;
	int cpu;

	vt_lines_open(&in, (int)CHECK_CALL(open(file, O_RDONLY)));
	while (vt_line(&in, &line, NULL) && check_failures < 5) {
		cpu = parse(line, &us, &text);
		if (cpu < 0)
			continue;
		if (us < last)
			wrong(file, "time", cpu, us, last);
		last = us;
		if (gaps && !allow_gap(e, cpu, text))
			continue;
		if (!feed(file, e, cpu, text))
			break;
	}
	CHECK_EQ(in.error, 0);
	vt_lines_free(&in);
	close(in.fd);
}

static int looker_on(const char *file)
{
	while (!shared->readers_stop && !check_failures) {
		struct expect e = {};

		read_file(file, &e, true);
		__atomic_fetch_add(&shared->reads, 1, __ATOMIC_RELAXED);
		check_sleep(10000000);
	}
	return vt_finish(check_failures != 0);
}

/* ---- The collector */

static void collect_all(struct expect *e, bool trace_too)
{
	check_put("snapshot", "1");
	read_file("snapshot", e, false);
	if (trace_too) {
		/* What came after it is in the other buffer, from the first record on. */
		struct expect rest = *e;

		read_file("trace", &rest, false);
	}
}

static void collect_each(struct expect *e)
{
	char file[48];

	for (int cpu = 0; cpu < cpus; cpu++) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/snapshot", cpu);
		check_put(file, "1");
		read_file(file, e, false);
	}
}

static void collect(struct expect *e, unsigned long random)
{
	if (random % 3)
		collect_all(e, random % 8 == 0);
	else
		collect_each(e);
	for (int cpu = 0; cpu < cpus; cpu++)
		shared->cpu[cpu].collected = e->next[cpu];
	/* All of it was read: it may go. */
	if (random / 8 % 4 == 0)
		check_put("snapshot", "2");
	if (random / 8 % 4 == 1)
		check_put("snapshot", "0");
}

static void begin(pid_t *pids)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		pids[cpu] = check_fork();
		if (pids[cpu] == 0)
			_exit(writer(cpu));
	}
	for (int i = 0; i < 2; i++) {
		pids[cpus + i] = check_fork();
		if (pids[cpus + i] == 0)
			_exit(looker_on(i ? "snapshot" : "trace"));
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? vt_number_or_die(2, argv[1], 1, 1000000) : 20;
	unsigned long random = 88172645463325252UL, total = 0;
	pid_t pids[MAX_CPUS + 2];
	struct expect e = {};

	cpus = check_cpus() < MAX_CPUS ? check_cpus() : MAX_CPUS;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		vt_die_errno(2, "mmap");
	for (int cpu = 0; cpu < cpus; cpu++)
		e.known[cpu] = true;
	begin(pids);
	for (long i = 0; i < rounds && !check_failures; i++)
		collect(&e, watch_random(&random));
	shared->stop = 1;
	for (int cpu = 0; cpu < cpus; cpu++)
		CHECK_EQ(check_wait(pids[cpu]), 0);
	collect_all(&e, false);
	shared->readers_stop = 1;
	for (int i = 0; i < 2; i++)
		CHECK_EQ(check_wait(pids[cpus + i]), 0);
	for (int cpu = 0; cpu < cpus; cpu++) {
		CHECK_EQ(e.next[cpu], shared->cpu[cpu].written);
		total += e.next[cpu];
	}
	printf("snaptest: %ld snapshots, %lu numbers on %d CPUs, %lu reads beside\n", rounds, total, cpus,
	       shared->reads);
	return vt_finish(check_failures != 0);
}

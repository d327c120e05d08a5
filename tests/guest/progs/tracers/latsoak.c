/*
 * latsoak TRACER MILLISECONDS: is every trace that a latency tracer shows whole?
 *
 * Two readers read `trace` again and again, one more a CPU's; tracing_max_latency is reset at random times, so that
 * new maxima come all the time; what makes them is the caller's. Each trace read: the header's count is that of its
 * lines; the first line has interrupts or preemption off (a wake-up's: the wake-up); the last is the tracer's own, when
 * they came on (the wake-up's: the task is switched to); times do not go back; one CPU, the header's (a wake-up's
 * second one at most); no section's latency is more than what lies between the first line and the last.
 *
 * The tracer is selected by the caller, the working directory tracefs, the options as the tracer sets them.
 */
#include <check.h>
#include <ctype.h>
#include <sys/mman.h>
#include <watch.h>

#define LINE_MAX_KEPT 160

static struct shared {
	volatile int stop;
	volatile unsigned long read, shown, resets; /* traces read, those that had a maximum */
} * shared;

static bool wakeup;
static const char *tracer;

/* One trace as it is read. */
struct trace {
	long latency, said, lines; /* us; records that the header tells of; records found */
	int cpu, cpus_seen;	   /* the header's; a bit each */
	long first_us, last_us;
	char first[LINE_MAX_KEPT], last[LINE_MAX_KEPT]; /* records but for the stack */
	bool stack, started, ended;
};

static bool torn(const struct trace *t, const char *what)
{
	printf("torn: %s: latency %ld us, CPU %d, %ld records, header says %ld\n  first: %s\n  last: %s\n", what,
	       t->latency, t->cpu, t->lines, t->said, t->first, t->last);
	check_failures++;
	return false;
}

static void header(struct trace *t, const char *line)
{
	const char *at;

	if (!strncmp(line, "# latency: ", 11)) {
		t->latency = strtol(line + 11, NULL, 10);
		at = strchr(line, '/');
		t->said = at ? strtol(at + 1, NULL, 10) : -1;
		at = strstr(line, "CPU#");
		t->cpu = at ? (int)strtol(at + 4, NULL, 10) : -1;
	}
	t->started |= !strncmp(line, "#  => started at: ", 18);
	t->ended |= !strncmp(line, "#  => ended at: ", 16);
}

/* "    sh-21        1d..1.    3us+: TEXT": where the CPU's digits end, or NULL. */
static char *flags_of(char *line, int *cpu, long *us)
{
	char *at = strchr(line, '-'), *time = strstr(line, "us");
	char *end;

	/* A name may have a dash too; the pid is what spaces follow. */
	while (at && !isdigit((unsigned char)at[1]))
		at = strchr(at + 1, '-');
	if (!at || !time)
		return NULL;
	strtol(at + 1, &at, 10);
	*cpu = (int)strtol(at, &end, 10);
	while (time > line && isdigit((unsigned char)time[-1]))
		time--;
	*us = strtol(time, NULL, 10);
	return end == at ? NULL : end;
}

static bool record(struct trace *t, char *line)
{
	char *flags;
	int cpu;
	long us;

	flags = flags_of(line, &cpu, &us);
	if (!flags)
		return torn(t, line);
	if (t->lines && us < t->last_us)
		return torn(t, "time goes back");
	t->cpus_seen |= 1 << cpu;
	t->last_us = us;
	if (!t->lines) {
		t->first_us = us;
		snprintf(t->first, sizeof(t->first), "%s", line);
	}
	t->lines++;
	t->stack = strstr(line, "<stack trace>");
	if (!t->stack)
		snprintf(t->last, sizeof(t->last), "%s", line);
	return true;
}

/* irqsoff, preemptoff, preemptirqsoff: the state at the first line, and who wrote the last. */
static bool critical_is_whole(struct trace *t)
{
	long us;
	int cpu;
	char *flags = flags_of(t->first, &cpu, &us);
	/* In an interrupt preemption is off too; the depth is told without that. */
	bool irqs = flags[0] == 'd' || flags[0] == 'D', preempt = flags[2] != '.' || flags[3] != '.';

	if (!strcmp(tracer, "irqsoff") ? !irqs : !strcmp(tracer, "preemptoff") ? !preempt : !irqs && !preempt)
		return torn(t, "nothing is off at the first line");
	if (!strstr(t->last, "tracer_hardirqs_on") && !strstr(t->last, "tracer_preempt_on"))
		return torn(t, "the last line is not the end");
	if (!t->started || !t->ended)
		return torn(t, "no ends in the header");
	return t->cpus_seen == 1 << t->cpu ? true : torn(t, "another CPU's record");
}

/* "pid:prio:S   + [cpu]  pid:prio:S" begins it, "==>" ends it. */
static bool wakeup_is_whole(struct trace *t)
{
	if (!strstr(t->first, " + ["))
		return torn(t, "the first line is not the wake-up");
	if (!strstr(t->last, " ==> ["))
		return torn(t, "the last line is not the switch");
	return t->cpus_seen & (1 << t->cpu) ? true : torn(t, "nothing on the CPU that it ended on");
}

static bool check_trace(struct trace *t)
{
	if (!t->lines)
		return t->said < 0 ? true : torn(t, "a header and no record");
	if (t->said != t->lines)
		return torn(t, "records are missing");
	/* A wake-up begins before its first record: with the wait for the runqueue's lock. */
	if (wakeup)
		return wakeup_is_whole(t);
	/* Each is rounded by itself. */
	if (t->latency > t->last_us - t->first_us + 1)
		return torn(t, "the latency is more than what is shown");
	return critical_is_whole(t);
}

/* `slow`: a line, then a while, so that other maxima come between. */
static void read_trace(const char *file, bool slow)
{
	struct trace t = {.said = -1, .latency = -1};
	struct vt_lines in;
	bool ok = true;
	char *line;

	vt_lines_open(&in, (int)CHECK_CALL(open(file, O_RDONLY)));
	while (ok && vt_line(&in, &line, NULL)) {
		if (line[0] == '#')
			header(&t, line);
		else if (strncmp(line, " => ", 4) && line[0])
			ok = record(&t, line);
		if (slow && t.lines % 64 == 0)
			check_sleep(1000000);
	}
	CHECK_EQ(in.error, 0);
	vt_lines_free(&in);
	close(in.fd);
	if (ok)
		check_trace(&t);
	__atomic_fetch_add(&shared->read, 1, __ATOMIC_RELAXED);
	if (t.lines)
		__atomic_fetch_add(&shared->shown, 1, __ATOMIC_RELAXED);
}

static int reader(int nr)
{
	while (!shared->stop && !check_failures)
		read_trace(nr == 2 ? "latency_trace" : "trace", nr == 1);
	if (check_failures)
		shared->stop = 1;
	return vt_finish(check_failures != 0);
}

static void reset_maximum(void)
{
	int fd = (int)CHECK_CALL(open("tracing_max_latency", O_WRONLY));

	CHECK_EQ(write(fd, "0", 1), 1);
	close(fd);
	shared->resets++;
}

int main(int argc, char **argv)
{
	unsigned long random = 2463534242UL;
	pid_t pids[3];
	long milliseconds;
	long end;

	if (argc != 3)
		vt_die(2, "usage: latsoak TRACER MILLISECONDS");
	tracer = argv[1];
	wakeup = !strncmp(tracer, "wakeup", 6);
	milliseconds = vt_number_or_die(2, argv[2], 1, 100000000);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		vt_die_errno(2, "mmap");
	for (int i = 0; i < 3; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0)
			_exit(reader(i));
	}
	/* The time is a minimum: on a slow host there must have been something to see. */
	end = check_now() + milliseconds * 1000000L;
	while (!shared->stop && (check_now() < end || shared->shown < 20)) {
		check_sleep((long)(watch_random(&random) % 50000000));
		reset_maximum();
	}
	shared->stop = 1;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(check_wait(pids[i]), 0);
	printf("latsoak: %s: %lu traces read, %lu of a maximum, %lu resets\n", tracer, shared->read, shared->shown,
	       shared->resets);
	return vt_finish(check_failures != 0);
}

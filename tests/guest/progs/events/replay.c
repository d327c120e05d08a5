/*
 * replay: live through the events of a trace from standard input, and look for what cannot have happened: a task on
 * two CPUs, a switch from who did not run, a task that runs unwoken or where it was not moved to, an interrupt without
 * an end. Where events were lost nothing is known, and what seemed wrong meanwhile does not count.
 *
 * -t: tasks were charged what they ran, too. That needs --icount: the clock that is charged by is read before the one
 * of the switch's record, and a host may take its time in between.
 */
#include <vt.h>

#define MAX_CPUS   16
#define MAX_PIDS   32768
#define MAX_NESTED 8
#define MAX_WRONG  64
#define MAX_VEC	   32
#define SETTLE	   1000 /* microseconds until all CPUs have seen that recording is on */

static struct task {
	bool asleep; /* it has been switched out to sleep, and not in again */
	bool woken;  /* since then */
	bool gone;   /* it has been switched out for ever */
	int on;	     /* CPU it runs on + 1; 0: none, or not known */
	int cpu;     /* CPU it belongs to + 1; 0: not known */
} tasks[MAX_PIDS];

static struct cpu {
	int current;		/* pid, -1: not known */
	int waking;		/* pid of the wake-up that has begun, -1: none */
	int nested[MAX_NESTED]; /* interrupts that run, the innermost last: number, softirqs as ~number */
	int depth;		/* of them, -1: not known */
	int raised[MAX_VEC];	/* entries that each softirq may still have, -1: not known */
	long since, at;		/* ns: of the last switch, of the last event */
	long ran, charged;	/* ns: by switches, by sched_stat_runtime since the first of them */
	long charged_at, stints;
	bool seen;
} cpus[MAX_CPUS];

/* What is wrong, until it turns out that events were lost just then. */
static struct wrong {
	long at;
	char text[200];
} wrong[MAX_WRONG];

static long nr_events, nr_lost, nr_wrong, nr_switches, nr_wakeups, nr_irqs, begin = -1;
static const char *line; /* that is looked at */
static long now;	 /* its time, ns */

static void complain(const char *what)
{
	struct wrong *w = &wrong[nr_wrong % MAX_WRONG];

	nr_wrong++;
	w->at = now;
	snprintf(w->text, sizeof(w->text), "%s: %s", what, line);
}

static void check(bool ok, const char *what)
{
	if (!ok)
		complain(what);
}

/* The number behind "name=" in the text, -1 when there is none. */
static long number(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *p = text;

	while ((p = strstr(p, name))) {
		if ((p == text || p[-1] == ' ') && p[len] == '=')
			return atol(p + len + 1);
		p++;
	}
	return -1;
}

static struct task *task(long pid)
{
	static struct task nobody;

	if (pid > 0 && pid < MAX_PIDS)
		return &tasks[pid];
	complain("no such pid");
	return &nobody;
}

static void forget_cpu(struct cpu *c)
{
	c->current = c->waking = c->depth = -1;
	for (int vec = 0; vec < MAX_VEC; vec++)
		c->raised[vec] = -1;
	c->since = 0;
}

/* ---- The events */

static void switched_out(struct cpu *c, int cpu, const char *text)
{
	long pid = number(text, "prev_pid");
	const char *state = strstr(text, "prev_state=");
	struct task *t;

	check(c->current < 0 || c->current == pid, "another task ran");
	if (c->since && pid && c->current == pid) {
		c->ran += now - c->since;
		c->stints++;
	}
	if (!pid || !state)
		return;
	t = task(pid);
	check(!t->on || t->on == cpu + 1, "it ran on another CPU");
	check(!t->cpu || t->cpu == cpu + 1, "it belonged to another CPU");
	*t = (struct task){.cpu = cpu + 1, .asleep = state[11] != 'R', .gone = state[11] == 'X'};
}

static void switched_in(struct cpu *c, int cpu, const char *text)
{
	long pid = number(text, "next_pid");
	struct task *t;

	c->current = pid;
	c->since = now;
	if (!pid)
		return;
	t = task(pid);
	check(!t->on, "it runs already");
	check(!t->gone, "it has ended");
	check(!t->asleep || t->woken, "nobody has woken it");
	check(!t->cpu || t->cpu == cpu + 1, "it belongs to another CPU");
	*t = (struct task){.cpu = cpu + 1, .on = cpu + 1};
}

static void sched_switch(int cpu, const char *text)
{
	struct cpu *c = &cpus[cpu];

	nr_switches++;
	check(c->depth <= 0, "switched inside an interrupt");
	c->depth = 0;
	switched_out(c, cpu, text);
	switched_in(c, cpu, text);
}

static void sched_waking(int cpu, const char *text)
{
	long pid = number(text, "pid"), target = number(text, "target_cpu");
	struct task *t = task(pid);

	cpus[cpu].waking = pid;
	check(!t->cpu || t->cpu == target + 1, "it slept on another CPU");
}

static void sched_wakeup(int cpu, const char *text)
{
	long pid = number(text, "pid"), target = number(text, "target_cpu");
	struct task *t = task(pid);

	nr_wakeups++;
	check(cpus[cpu].waking < 0 || cpus[cpu].waking == pid, "another wake-up had begun");
	check(!t->cpu || t->cpu == target + 1, "woken where it is not");
	t->woken = true;
	t->cpu = target + 1;
	cpus[cpu].waking = 0; /* none: the next must begin first */
}

static void sched_wakeup_new(int cpu, const char *text)
{
	long target = number(text, "target_cpu");

	*task(number(text, "pid")) = (struct task){.cpu = target + 1, .asleep = true, .woken = true};
}

static void sched_migrate_task(int cpu, const char *text)
{
	struct task *t = task(number(text, "pid"));
	long from = number(text, "orig_cpu"), to = number(text, "dest_cpu");

	check(from != to, "moved to where it was");
	check(!t->on, "moved while it runs");
	check(!t->cpu || t->cpu == from + 1, "moved from where it was not");
	t->cpu = to + 1;
}

/* Also by another CPU, which looks at the run queue of the task's. */
static void sched_stat_runtime(int cpu, const char *text)
{
	struct task *t = task(number(text, "pid"));

	if (!t->on)
		return;
	cpus[t->on - 1].charged += number(text, "runtime");
	cpus[t->on - 1].charged_at = now;
}

static void nest(int cpu, int what)
{
	struct cpu *c = &cpus[cpu];

	nr_irqs++;
	if (c->depth < 0)
		return;
	check(c->depth < MAX_NESTED, "interrupts are nested too deep");
	if (c->depth < MAX_NESTED)
		c->nested[c->depth++] = what;
}

static void unnest(int cpu, int what)
{
	struct cpu *c = &cpus[cpu];

	if (c->depth < 0)
		return;
	check(c->depth > 0 && c->nested[c->depth - 1] == what, "it had not begun");
	if (c->depth > 0)
		c->depth--;
}

static void irq_handler_entry(int cpu, const char *text)
{
	nest(cpu, number(text, "irq"));
}

static void irq_handler_exit(int cpu, const char *text)
{
	unnest(cpu, number(text, "irq"));
}

/* The softirq that a record names: an index. */
static unsigned softirq(const char *text)
{
	return (unsigned)number(text, "vec") % MAX_VEC;
}

/*
 * Softirqs that are raised while one is pending are served together. But a round takes what is pending before it
 * tells of the first entry, and an interrupt in between raises again: two raises in a row can be followed by two
 * entries, never more.
 */
static void softirq_raise(int cpu, const char *text)
{
	int *raised = &cpus[cpu].raised[softirq(text)];

	if (*raised >= 0 && *raised < 2)
		++*raised;
}

static void softirq_entry(int cpu, const char *text)
{
	int *raised = &cpus[cpu].raised[softirq(text)];

	check(*raised, "nobody has raised it");
	if (*raised)
		*raised = *raised < 0 ? 1 : *raised - 1;
	nest(cpu, ~number(text, "vec"));
}

static void softirq_exit(int cpu, const char *text)
{
	unnest(cpu, ~number(text, "vec"));
}

#define EVENT(name)              \
	{                        \
#name ": ", name \
	}
static const struct event {
	const char *name;
	void (*happens)(int cpu, const char *text);
} events[] = {
	EVENT(sched_switch),	   EVENT(sched_waking),	      EVENT(sched_wakeup),	EVENT(sched_wakeup_new),
	EVENT(sched_migrate_task), EVENT(sched_stat_runtime), EVENT(irq_handler_entry), EVENT(irq_handler_exit),
	EVENT(softirq_raise),	   EVENT(softirq_entry),      EVENT(softirq_exit),
};

/* ---- The lines */

/* What was concluded since then is void. */
static void withdraw(long since)
{
	long kept = 0;

	for (long i = 0; i < nr_wrong && i < MAX_WRONG; i++)
		if (wrong[i].at < since)
			wrong[kept++] = wrong[i];
	nr_wrong = kept;
}

/* Events of this CPU are missing between its last one and the next. */
static void lost(int cpu, const char *text)
{
	const char *count = strstr(text, "[LOST ");

	nr_lost += count ? atol(count + 6) : 0;
	withdraw(cpus[cpu].at);
	memset(tasks, 0, sizeof(tasks));
	for (int i = 0; i < MAX_CPUS; i++)
		forget_cpu(&cpus[i]);
}

/* " [003] d.h1.  1234.567890: event: text": the CPU, or -1; the event's text in *text. */
static int columns(const char **text)
{
	const char *p = strstr(line, " [");
	long cpu, seconds;
	char *end;

	if (!p)
		return -1;
	cpu = strtol(p + 2, &end, 10);
	if (cpu < 0 || cpu >= MAX_CPUS || strncmp(end, "] ", 2) || strlen(end) < 8)
		return -1;
	seconds = strtol(end + 8, &end, 10);
	now = (seconds * 1000000 + strtol(end + 1, &end, 10)) * 1000;
	*text = end + 2;
	return cpu;
}

static void look_at(void)
{
	const char *text;
	int cpu = columns(&text);

	if (cpu < 0) {
		complain("no event");
		return;
	}
	nr_events++;
	begin = begin < 0 ? now : begin;
	check(now >= cpus[cpu].at, "time went back");
	cpus[cpu].at = now;
	cpus[cpu].seen = true;
	for (size_t i = 0; now >= begin + SETTLE * 1000 && i < ARRAY_SIZE(events); i++) {
		size_t len = strlen(events[i].name);

		if (!strncmp(text, events[i].name, len))
			events[i].happens(cpu, text + len);
	}
}

/* What tasks were charged is what they ran. The text's times are microseconds; each stint may be one off. */
static void check_times(bool exact)
{
	line = "";
	for (int i = 0; i < MAX_CPUS; i++) {
		struct cpu *c = &cpus[i];
		long off;

		if (!c->seen)
			continue;
		if (c->current > 0 && c->charged_at > c->since)
			c->ran += c->charged_at - c->since;
		off = c->charged - c->ran;
		printf("cpu%d: ran %ld us, charged %ld us\n", i, c->ran / 1000, c->charged / 1000);
		if (exact && labs(off) > c->stints * 1000)
			complain("charged is not what ran");
	}
}

/* When events were lost, there may be more of that behind the last that was read of a CPU. */
static void withdraw_end(void)
{
	for (int i = 0; nr_lost && i < MAX_CPUS; i++)
		if (cpus[i].seen)
			withdraw(cpus[i].at);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "replay [-t] < trace", .options = "t", .bad_status = 2};
	bool exact = vt_option(&o, argc, argv) == 't';
	struct vt_lines in;
	char *got;

	for (int i = 0; i < MAX_CPUS; i++)
		forget_cpu(&cpus[i]);
	vt_lines_open(&in, STDIN_FILENO);
	while (vt_line(&in, &got, NULL)) {
		line = got;
		if (!strncmp(line, "CPU:", 4))
			lost(atoi(line + 4), line);
		else if (*line != '#')
			look_at();
	}
	check_times(exact);
	withdraw_end();
	for (long i = 0; i < nr_wrong && i < 10; i++)
		printf("%s\n", wrong[i].text);
	printf("events: %ld\nlost: %ld\nswitches: %ld\nwakeups: %ld\ninterrupts: %ld\ncontradictions: %ld\n", nr_events,
	       nr_lost, nr_switches, nr_wakeups, nr_irqs, nr_wrong);
	return vt_finish(nr_wrong || in.error ? 1 : 0);
}

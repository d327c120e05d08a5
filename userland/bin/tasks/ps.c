/*
 * ps [-l | -f | u] [-p PID,...]: processes. All of them unless -p says which: there is one user.
 *
 * -l adds class, real-time priority, CPU and memory in KiB. "ps -ef" and "ps aux" have the columns of procps
 * in its order, as scripts take the second one for the process id. Left out: choosing by name (-C) and
 * columns (-o), threads.
 *
 * There is no system call for this: everything comes from the texts in /proc (lib/procs.c).
 */
#include <vt.h>
#include <time.h>
#include <sys/stat.h>

static enum { BRIEF, LONG, FULL, USER } form;

static const char *wanted; /* -p: numbers with commas or blanks between; NULL: all processes */
static bool any;	   /* one has been shown */

static unsigned long mem_total; /* FULL and USER: KiB */
static unsigned long up;	/* likewise: since boot, in 1/100 s */

/*
 * The scheduling policy in procps's letters: TS is SCHED_OTHER, FF fifo, RR round robin, B batch, IDL
 * idle, DLN deadline.
 */
static const char *class_name(int policy)
{
	static const char *const names[] = {"TS", "FF", "RR", "B", "?", "IDL", "DLN"};

	return policy >= 0 && policy < (int)ARRAY_SIZE(names) ? names[policy] : "?";
}

/*
 * The terminal by its number, from Linux's Documentation/admin-guide/devices.txt: the files in /dev are not
 * searched, so a terminal of another driver is shown as its numbers.
 */
static const char *tty_name(unsigned int tty)
{
	static char text[24];
	unsigned int high = major(tty), low = minor(tty);

	if (!tty)
		return "?";
	if (high == 5 && low == 1)
		return "console";
	if (high == 4)
		sprintf(text, low < 64 ? "tty%u" : "ttyS%u", low < 64 ? low : low - 64);
	else if (high == 204 && low >= 64)
		sprintf(text, "ttyAMA%u", low - 64);
	else if (high >= 136 && high < 144) /* each of these has 256 of them */
		sprintf(text, "pts/%u", (high - 136) * 256 + low);
	else
		sprintf(text, "%u,%u", high, low);
	return text;
}

/*
 * A line of -f or u. `seconds` is the processor time used. The share of a processor is over all of the
 * process's life, as procps has it: it says little about now.
 */
static void show_owned(const struct vt_proc *p, unsigned long seconds)
{
	unsigned long lived = up > p->start ? up - p->start : 0, began;
	unsigned long share = 0, memory = mem_total ? 4000 * (unsigned long)p->rss / mem_total : 0; /* in 1/1000 */
	char path[32], owner[VT_NAME_SIZE], start[24];
	struct timespec now = {0};
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", p->pid);
	if (stat(path, &st) < 0)
		return; /* it has ended meanwhile */
	vt_user_text(st.st_uid, owner);
	if (lived)
		share = 1000 * (p->utime + p->stime) / lived;
	if (share > 999)
		share = 999;
	clock_gettime(CLOCK_REALTIME, &now);
	began = (unsigned long)now.tv_sec - lived / 100;
	snprintf(start, sizeof(start), "%02lu:%02lu", began / 3600 % 24, began / 60 % 60);
	if (form == FULL)
		printf("%-8s %5d %5d %2lu %s %-8s %02lu:%02lu:%02lu %s\n", owner, p->pid, p->ppid, share / 10, start,
		       tty_name(p->tty), seconds / 3600, seconds / 60 % 60, seconds % 60, p->args);
	else
		printf("%-8s %5d %2lu.%lu %2lu.%lu %6lu %6ld %-8s %c    %s %3lu:%02lu %s\n", owner, p->pid, share / 10,
		       share % 10, memory / 10, memory % 10, p->vsize / 1024, p->rss * 4, tty_name(p->tty), p->state,
		       start, seconds / 60, seconds % 60, p->args);
}

/* Read what the shares are shares of: all memory, and the time since the machine was booted. */
static void read_totals(void)
{
	char *memory = vt_read_file("/proc/meminfo", NULL), *text = vt_read_file("/proc/uptime", NULL), *end;

	if (memory && !strncmp(memory, "MemTotal:", 9))
		mem_total = strtoul(memory + 9, NULL, 10);
	if (text) {
		up = 100 * strtoul(text, &end, 10);
		if (*end == '.')
			up += strtoul(end + 1, NULL, 10);
	}
	free(memory);
	free(text);
}

/* Whether -p wants a process. A word that is no number ends the program. */
static bool is_wanted(int pid)
{
	bool found = !wanted;
	char *end;

	for (const char *at = wanted; at && *at; at = end + (*end != '\0')) {
		found |= strtol(at, &end, 10) == pid;
		if (end == at || *at == '-' || (*end && !strchr(", ", *end)))
			vt_die(1, "process ID list syntax error: '%s'", wanted);
	}
	return found;
}

static void choose(int letter)
{
	if (letter == 'l')
		form = LONG;
	else if (letter == 'f')
		form = FULL;
	else if (letter == 'u')
		form = USER;
}

/* For vt_each_proc(). Times are in minutes and seconds of processor time. */
static void show(const struct vt_proc *p, void *arg)
{
	/* USER_HZ, the unit of /proc, is 100 whatever the kernel's own tick. */
	unsigned long seconds = (p->utime + p->stime) / 100;
	char rt[12] = "-";

	if (!is_wanted(p->pid))
		return;
	any = true;
	if (form >= FULL) {
		show_owned(p, seconds);
		return;
	}
	if (form == LONG) {
		if (p->rt_priority)
			sprintf(rt, "%d", p->rt_priority);
		printf("%5d %5d %c %-3s %3s %3d %3d %7lu %6ld ", p->pid, p->ppid, p->state, class_name(p->policy), rt,
		       p->nice, p->cpu, p->vsize / 1024, p->rss * 4);
	} else {
		/* 60 is added so that no real-time task has a negative number, as procps has it: nice 0
		 * is 80. */
		printf("%5d %5d %-8s %c %3d %3d ", p->pid, p->ppid, tty_name(p->tty), p->state, p->priority + 60,
		       p->nice);
	}
	printf("%02lu:%02lu %s\n", seconds / 60, seconds % 60, p->args);
}

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage = "ps [-l | -f | u] [-p PID,...] (-l: class, priorities, CPU, memory in KiB; -f, u: as procps)",
		.options = "lAaexfuwp:",
		.bad_status = 1};
	static const char *const heads[] = {
		[BRIEF] = "  PID  PPID TTY      S PRI  NI TIME  COMMAND",
		[LONG] = "  PID  PPID S CLS RTP  NI CPU     VSZ    RSS TIME  COMMAND",
		[FULL] = "UID        PID  PPID  C STIME TTY          TIME CMD",
		[USER] = "USER       PID %CPU %MEM    VSZ    RSS TTY      STAT START   TIME COMMAND"};
	int c;

	/* The other letters ask for all processes (-e, -A, -a, -x) or wide lines (w). "ps aux" has no dash. */
	if (argc == 2 && argv[1][0] != '-' && strspn(argv[1], "lAaexfuw") == strlen(argv[1])) {
		for (const char *letter = argv[1]; *letter; letter++)
			choose(*letter);
		argc = 1;
	}
	while ((c = vt_option(&o, argc, argv)) != -1) {
		choose(c);
		wanted = c == 'p' ? o.arg : wanted;
	}
	if (o.index < argc)
		vt_usage(&o);
	is_wanted(0); /* a mistake is told before the head */
	if (form >= FULL)
		read_totals();
	printf("%s\n", heads[form]);
	if (vt_each_proc(show, NULL) < 0)
		vt_die_errno(1, "/proc");
	return vt_finish(!any);
}

/*
 * ps [-l]: processes. All of them, always: there is one user.
 *
 * -l (or -f, -u) adds class, real-time priority, CPU and memory in KiB. "ps -ef" and "ps aux" are
 * understood. Left out: choosing processes and columns (-p, -C, -o), start times, threads.
 */
#include <vt.h>
#include <sys/stat.h>

/* -l */
static bool opt_full;

/* As ps shows them: TS FF RR B IDL, DLN for deadline. */
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

/* For vt_each_proc(). Times are in minutes and seconds of processor time. */
static void show(const struct vt_proc *p, void *arg)
{
	/* USER_HZ, the unit of /proc, is 100 whatever the kernel's own tick. */
	unsigned long seconds = (p->utime + p->stime) / 100;
	char rt[12] = "-";

	if (opt_full) {
		if (p->rt_priority)
			sprintf(rt, "%d", p->rt_priority);
		printf("%5d %5d %c %-3s %3s %3d %3d %7lu %6ld ", p->pid, p->ppid, p->state,
		       class_name(p->policy), rt, p->nice, p->cpu, p->vsize / 1024, p->rss * 4);
	} else {
		/* 60 is added so that no real-time task has a negative number, as procps has it: nice 0
		 * is 80. */
		printf("%5d %5d %-8s %c %3d %3d ", p->pid, p->ppid, tty_name(p->tty), p->state,
		       p->priority + 60, p->nice);
	}
	printf("%02lu:%02lu %s\n", seconds / 60, seconds % 60, p->args);
}

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage = "ps [-l] (all processes; -l: parent, class, priorities, CPU, memory in KiB)",
		.options = "laexfu",
		.bad_status = 1};
	int c;

	/* The other letters ask for all processes (-e, -a, -x) or all columns (-f, -u). "ps aux" has no dash.
	 */
	if (argc == 2 && argv[1][0] != '-' && strspn(argv[1], "laexfuw") == strlen(argv[1])) {
		opt_full = strpbrk(argv[1], "luf") != NULL;
		argc = 1;
	}
	while ((c = vt_option(&o, argc, argv)) != -1)
		opt_full |= c == 'l' || c == 'f' || c == 'u';
	if (o.index < argc)
		vt_usage(&o);
	printf(opt_full ? "  PID  PPID S CLS RTP  NI CPU     VSZ    RSS TIME  COMMAND\n"
			: "  PID  PPID TTY      S PRI  NI TIME  COMMAND\n");
	if (vt_each_proc(show, NULL) < 0)
		vt_die_errno(1, "/proc");
	return vt_finish(0);
}

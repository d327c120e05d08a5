/* ps: processes. */
#include <vt.h>
#include <sched.h>

static bool opt_full;

/* As ps shows them: TS FF RR B IDL, DLN for deadline. */
static const char *class_name(int policy)
{
	static const char *const names[] = {"TS", "FF", "RR", "B", "?", "IDL", "DLN"};

	return policy >= 0 && policy < (int)ARRAY_SIZE(names) ? names[policy] : "?";
}

static void show(const struct vt_proc *p, void *arg)
{
	unsigned long seconds = (p->utime + p->stime) / 100;
	char rt[12] = "-";

	if (opt_full) {
		if (p->rt_priority)
			sprintf(rt, "%d", p->rt_priority);
		printf("%5d %5d %c %-3s %3s %3d %3d %7lu %6ld ", p->pid, p->ppid, p->state,
		       class_name(p->policy), rt, p->nice, p->cpu, p->vsize / 1024, p->rss * 4);
	} else {
		printf("%5d %c ", p->pid, p->state);
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
			: "  PID S TIME  COMMAND\n");
	if (vt_each_proc(show, NULL) < 0)
		vt_die_errno(1, "/proc");
	return vt_finish(0);
}

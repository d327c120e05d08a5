/*
 * chrt [-f|-r|-o|-b|-i] PRIORITY COMMAND [ARG...] | chrt [-f...] -p [PRIORITY] PID | chrt -m: show
 * or set a scheduling policy, of a process or for a command.
 *
 * Left out: -a (all threads), -d (deadline), -R, and getting away without PRIORITY for -o, -b and
 * -i: give 0.
 */
#include <vt.h>
#include <limits.h>
#include <sched.h>

static const struct {
	char letter;
	int policy;
	const char *name;
} policies[] = {
	{'o', SCHED_OTHER, "SCHED_OTHER"}, {'f', SCHED_FIFO, "SCHED_FIFO"}, {'r', SCHED_RR, "SCHED_RR"},
	{'b', SCHED_BATCH, "SCHED_BATCH"}, {'i', SCHED_IDLE, "SCHED_IDLE"},
};

static void show(int pid)
{
	struct sched_param param;
	int policy = sched_getscheduler(pid);
	const char *name = "unknown";

	if (policy < 0 || sched_getparam(pid, &param) < 0)
		vt_die(1, "failed to get pid %d's policy: %s", pid, strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		/* The kernel tells of reset-on-fork by a bit in the policy. */
		if (policies[i].policy == (policy & ~SCHED_RESET_ON_FORK))
			name = policies[i].name;
	}
	printf("pid %d's current scheduling policy: %s\n", pid, name);
	printf("pid %d's current scheduling priority: %d\n", pid, param.sched_priority);
}

/* The lowest and highest priority of each policy. */
static void show_limits(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		int min = sched_get_priority_min(policies[i].policy),
		    max = sched_get_priority_max(policies[i].policy);

		/* A kernel may lack a policy; the others are shown all the same. */
		if (min < 0 || max < 0)
			printf("%s not supported?\n", policies[i].name);
		else
			printf("%s min/max priority\t: %d/%d\n", policies[i].name, min, max);
	}
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "chrt [-f|-r|-o|-b|-i] PRIORITY COMMAND [ARG...] | chrt [-f...] -p "
					"[PRIORITY] PID | chrt -m",
			       .options = "ofrbipm",
			       .bad_status = 1};
	struct sched_param param;
	int policy = SCHED_RR, left, c; /* the real one's default too */
	bool process = false;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'm') {
			show_limits();
			return vt_finish(0);
		}
		process |= c == 'p';
		for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
			if (policies[i].letter == c)
				policy = policies[i].policy;
		}
	}
	left = argc - o.index;
	if (process && left == 1) {
		show((int)vt_number_or_die(1, argv[o.index], 0, INT_MAX));
		return vt_finish(0);
	}
	if (left < 2)
		vt_usage(&o);
	param.sched_priority = (int)vt_number_or_die(1, argv[o.index], 0, 99);
	c = process ? (int)vt_number_or_die(1, argv[o.index + 1], 0, INT_MAX) : 0;
	if (sched_setscheduler(c, policy, &param) < 0)
		vt_die(1, "failed to set pid %d's policy: %s", c, strerror(errno));
	if (process)
		return 0;
	vt_exec(argv + o.index + 1);
}

/* /proc/PID/timerslack_ns: how late the sleeps of a task may end (<sched/timerslack.h>), which prctl(2) sets, too. */
#include "internal.h"

#include <lib/string.h>
#include <proc/capability.h>
#include <sched/timerslack.h>

/* That of another process is for CAP_SYS_NICE, to read it, too. */
static bool may_see_slack(const struct task_struct *p)
{
	return p == current || capable(CAP_SYS_NICE);
}

static int timerslack_show(struct seq_file *m, struct task_struct *p)
{
	if (!may_see_slack(p))
		return -EPERM;
	seq_printf(m, "%llu\n", (unsigned long long)READ_ONCE(p->timer_slack_ns));
	return 0;
}

static int timerslack_store(struct task_struct *p, const char *text, size_t len)
{
	u64 ns;
	int err = kstrtoull(text, 10, &ns);

	if (err)
		return err;
	if (!may_see_slack(p))
		return -EPERM;
	set_timer_slack(p, ns);
	return 0;
}

static const struct proc_pid_entry timerslack_entry = {
	.name = "timerslack_ns", .mode = 0666, .show = timerslack_show, .store = timerslack_store, .process = true};
REGISTER_PROC_PID(timerslack_entry);

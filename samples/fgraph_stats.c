/*
 * For tests, in debugfs's fgraph/: `stats` shows what is hooked now, and numbers that should never be other than 0
 * (mismatches: a return whose frame was not the expected one); `tasks` shows pid and number of frames of the tasks that
 * have any.
 *
 * A test calls hooked functions, reads these files, and so sees that no frame was left behind. All is read while the
 * tasks run, so the numbers are a guess for tasks that are not asleep.
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <sched/sched.h>

#include "../trace/ftrace/fgraph_internal.h"

/*
 * Sums over all tasks: how many there are, how many have a shadow stack, frames in use, calls that found the stack
 * full.
 */
struct fgraph_stats {
	unsigned long tasks, stacks, frames, overruns;
};

/* For fgraph_with_all_tasks(), which keeps the task while this looks at it. True: go on. */
static bool count_task(struct task_struct *task, void *data)
{
	const struct fgraph_stack *stack = READ_ONCE(task->ret_stack);
	struct fgraph_stats *stats = data;

	stats->tasks++;
	if (stack) {
		stats->stacks++;
		stats->frames += fgraph_nr_frames(stack);
		stats->overruns += READ_ONCE(stack->overrun);
	}
	return true;
}

static int stats_show(struct seq_file *m, void *v)
{
	struct fgraph_stats stats = {};

	fgraph_with_all_tasks(count_task, &stats);
	seq_printf(m, "users: %u\n", READ_ONCE(fgraph_nr_users));
	seq_printf(m, "tasks: %lu\n", stats.tasks);
	seq_printf(m, "stacks: %lu\n", stats.stacks);
	seq_printf(m, "frames: %lu\n", stats.frames);
	seq_printf(m, "overruns: %lu\n", stats.overruns);
	seq_printf(m, "mismatches: %llu\n", (unsigned long long)READ_ONCE(fgraph_mismatches));
	return 0;
}

static const struct text_file stats_file = {.path = "fgraph/stats", .mode = 0400, .show = stats_show};
REGISTER_DEBUGFS(stats_file);

/* One line for a task in the middle of hooked calls: a sleeper, mostly. */
static bool show_task(struct task_struct *task, void *data)
{
	const struct fgraph_stack *stack = READ_ONCE(task->ret_stack);

	if (stack && fgraph_nr_frames(stack))
		seq_printf(data, "%d %u\n", task->pid, fgraph_nr_frames(stack));
	return true;
}

static int tasks_show(struct seq_file *m, void *v)
{
	fgraph_with_all_tasks(show_task, m);
	return 0;
}

static const struct text_file tasks_file = {.path = "fgraph/tasks", .mode = 0400, .show = tasks_show};
REGISTER_DEBUGFS(tasks_file);

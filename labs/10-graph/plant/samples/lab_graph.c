/*
 * What lab graph is graded with: a tree of calls that follows from a number, and what it knows of itself: a sum that
 * each call has a part in, and for each call two times, one taken inside of it and one around it. A command is written
 * to debugfs's lab/graph, and the file then shows what came of it:
 *
 *	tree SEED	the tree
 *	park SEED	a thread walks one branch of the tree to a leaf, and sleeps there
 *	wake		it goes on to its end
 *	jump DEPTH	calls inside of each other; the innermost jumps to the outermost, and the others never return
 *	loop N		so many calls of one function
 */
#include <arch/ftrace.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <sched/sched.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/jiffies.h>
#include <trace/fgraph.h>

#define NR_NODES   6
#define TREE_DEPTH 4
#define MOST	   128
#define noipa	   __attribute__((noipa)) /* neither inlined nor changed for its callers */

static struct lab_call {
	u64 inside, around; /* ns */
} lab_calls[MOST];
static unsigned lab_nr_calls;
static unsigned long lab_sum, lab_ns;

/* ---- The tree. What a call does follows from the number that it gets. */

typedef unsigned long lab_node_t(unsigned depth, unsigned long state, bool sleeps);
static lab_node_t *const lab_nodes[NR_NODES];

static struct task_struct *lab_parked;
static int lab_pid;
static bool lab_go;
static DECLARE_WAIT_QUEUE_HEAD(lab_queue);
static DECLARE_COMPLETION(lab_woken);

static __always_inline unsigned long lab_next(unsigned long state, unsigned nr)
{
	return (state + nr) * 6364136223846793005UL + 1442695040888963407UL;
}

static __always_inline unsigned long lab_call(unsigned depth, unsigned long state, bool sleeps)
{
	unsigned nr = lab_nr_calls++ % MOST;
	u64 begin = sched_clock();
	unsigned long sum = lab_nodes[(state >> 33) % NR_NODES](depth, state, sleeps);

	lab_calls[nr].around = sched_clock() - begin;
	return sum;
}

static __always_inline unsigned long lab_body(unsigned me, unsigned depth, unsigned long state, bool sleeps)
{
	unsigned nr = (lab_nr_calls - 1) % MOST, children = depth ? 1 + (state >> 40) % 3 : 0;
	unsigned long sum = me + 1;
	u64 begin = sched_clock();

	for (unsigned i = 0; i < (state >> 50 & 255); i++)
		barrier();
	if (sleeps && !depth)
		wait_event(&lab_queue, lab_go);
	for (unsigned i = 0; i < (sleeps && children ? 1 : children); i++)
		sum = sum * 33 + lab_call(depth - 1, lab_next(state, i), sleeps);
	lab_calls[nr].inside = sched_clock() - begin;
	return sum;
}

#define NODE(n)                                                                                   \
	static noipa unsigned long lab_node_##n(unsigned depth, unsigned long state, bool sleeps) \
	{                                                                                         \
		return lab_body(n, depth, state, sleeps);                                         \
	}
NODE(0)
NODE(1)
NODE(2)
NODE(3)
NODE(4)
NODE(5)
static lab_node_t *const lab_nodes[NR_NODES] = {lab_node_0, lab_node_1, lab_node_2, lab_node_3, lab_node_4, lab_node_5};

/* ---- A thread that sleeps in the middle of it */

static int lab_sleeper(void *data)
{
	lab_sum = lab_call(TREE_DEPTH, (unsigned long)data, true);
	kthread_complete_and_exit(&lab_woken, 0);
}

static int lab_park(unsigned long seed)
{
	lab_go = false;
	lab_parked = kthread_run(lab_sleeper, (void *)seed, "lab_sleeper");
	if (IS_ERR(lab_parked))
		return PTR_ERR(lab_parked);
	lab_pid = lab_parked->pid;
	/* One that says it sleeps may be preempted before it does: it is still on its queue then. */
	while (READ_ONCE(lab_parked->on_rq) || READ_ONCE(lab_parked->on_cpu))
		msleep(1);
	return 0;
}

/* ---- Calls that are left by a jump */

static void *lab_buf[5];

static noipa unsigned long lab_leave(unsigned depth)
{
	unsigned long result;

	if (!depth)
		__builtin_longjmp(lab_buf, 1);
	result = lab_leave(depth - 1) + depth;
	barrier();
	return result;
}

static noipa unsigned long lab_land(unsigned depth)
{
	volatile unsigned long here = depth * 3 + 1;

	if (!__builtin_setjmp(lab_buf))
		lab_leave(depth);
	return here;
}

static noipa unsigned long lab_jump(unsigned depth)
{
	unsigned long sum = lab_land(depth) * 2;

	barrier();
	return sum + 1;
}

/* ---- Many calls */

static noipa void lab_leaf(void)
{
	barrier();
}

static void lab_loop(unsigned long n)
{
	u64 begin = sched_clock();

	for (unsigned long i = 0; i < n; i++)
		lab_leaf();
	lab_ns = sched_clock() - begin;
}

/* ---- The file */

static int lab_store(char *text, void *data)
{
	char *word = strsep(&text, " ");
	unsigned long number = 0;

	if (text && kstrtoul(text, 0, &number))
		return -EINVAL;
	lab_nr_calls = 0;
	switch (word[0]) {
	case 't':
		lab_sum = lab_call(TREE_DEPTH, number, false);
		return 0;
	case 'p':
		return lab_park(number);
	case 'w':
		lab_go = true;
		wake_up(&lab_queue);
		wait_for_completion(&lab_woken);
		return 0;
	case 'j':
		lab_sum = lab_jump(number);
		return 0;
	case 'l':
		lab_loop(number);
		return 0;
	}
	return -EINVAL;
}

static int lab_show(struct seq_file *m, void *data)
{
	seq_printf(m, "sum: %lu\nns: %lu\npid: %d\n", lab_sum, lab_ns, lab_pid);
	seq_printf(m, "frames: %lu\ntimes:", (unsigned long)FTRACE_RETFUNC_DEPTH);
	for (unsigned i = 0; i < lab_nr_calls; i++)
		seq_printf(m, " %lu-%lu", lab_calls[i].inside, lab_calls[i].around);
	seq_printf(m, "\n");
	return 0;
}

static const struct text_file lab_file = {.path = "lab/graph", .mode = 0600, .show = lab_show, .store = lab_store};
REGISTER_DEBUGFS(lab_file);
